"""ALIGN as arithmetic: which template cell each element of an array lies in."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.directives import Align, Star
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Binary, Expr, Section, Unary, Var
from aag.mapping.report import Report, place
from aag.mapping.scope import LARGEST_EXTENT, Bounds
from aag.wording import is_name, plural

_DUMMIES = "ijklmno"
"""Indices of an example, one for each dimension."""


class Cell(Struct, frozen=True, kw_only=True):
    """One dimension of the align target, seen from the array.

    ``dim``: the index is stride * (index of array dimension `dim`) + offset; ``fixed``: it is `offset`;
    ``replicated``: the array has a copy at every index.
    """

    role: Literal["dim", "fixed", "replicated"]
    dim: int = -1
    stride: int = 1
    offset: int = 0


class Placement(Struct, frozen=True, kw_only=True):
    """An array in its ultimate align target `root`: one cell for each dimension of it."""

    root: str
    cells: tuple[Cell, ...]


def itself(name: str, rank: int) -> Placement:
    """A template or array that is its own root."""
    return Placement(root=name, cells=tuple(Cell(role="dim", dim=dim) for dim in range(rank)))


def compose(inner: tuple[Cell, ...], outer: Placement) -> Placement:
    """An array with cells `inner` in a target that is itself placed by `outer`."""
    return Placement(root=outer.root, cells=tuple(_through(inner, cell) for cell in outer.cells))


def _through(inner: tuple[Cell, ...], cell: Cell) -> Cell:
    if cell.role != "dim":
        return cell
    first = inner[cell.dim]
    offset = cell.stride * first.offset + cell.offset
    match first.role:
        case "dim":
            return Cell(role="dim", dim=first.dim, stride=cell.stride * first.stride, offset=offset)
        case "fixed":
            return Cell(role="fixed", offset=offset)
        case "replicated":
            return first


def cells_of(
    align: Align, own: Bounds, target: Bounds, env: Mapping[str, Value], report: Report
) -> tuple[Cell, ...] | None:
    """The cells of one ALIGN directive in its target; None after a report. `own`: bounds of the alignee."""
    return _Reader(align, own, target, env, report).cells()


class _NotAffineError(Exception):
    """The text says why a subscript cannot be used."""


class _Reader:
    """Reads one ALIGN directive."""

    def __init__(self, align: Align, own: Bounds, target: Bounds, env: Mapping[str, Value], report: Report) -> None:
        self._align = align
        self._own = own
        self._target = target
        self._report = report
        self._axes = align.axes if align.axes is not None else (":",) * len(own)
        self._dummies = {axis: dim for dim, axis in enumerate(self._axes) if axis not in (":", "*")}
        self._env = {name: value for name, value in env.items() if name not in self._dummies}
        whole = Section(None, None, None)
        self._subscripts = align.subscripts if align.subscripts is not None else (whole,) * len(target)

    def cells(self) -> tuple[Cell, ...] | None:
        if not self._ranks_agree():
            return None
        colons = iter(self._colons())
        cells = [
            self._cell(subscript, at, next(colons) if isinstance(subscript, Section) else -1)
            for at, subscript in enumerate(self._subscripts)
        ]
        whole = tuple(cell for cell in cells if cell is not None)
        if len(whole) < len(cells) or not self._each_dim_once(whole):
            return None
        if any(last < first for first, last in self._own):  # no elements: none lies outside
            return tuple(map(_without_elements, whole))
        inside = [self._inside(cell, at) for at, cell in enumerate(whole)]
        return tuple(map(self._small, whole)) if all(inside) else None

    def _small(self, cell: Cell) -> Cell:
        """The same cell without a huge stride, which only a dimension of one index can have."""
        if cell.role != "dim" or abs(cell.stride) <= LARGEST_EXTENT:
            return cell
        only = self._own[cell.dim][0]
        return replace(cell, stride=1, offset=cell.stride * only + cell.offset - only)

    def _colons(self) -> list[int]:
        """The dimensions matched with triplets, in order; a target without subscripts takes dummies too."""
        if self._align.subscripts is None:
            return [dim for dim, axis in enumerate(self._axes) if axis != "*"]
        return [dim for dim, axis in enumerate(self._axes) if axis == ":"]

    def _ranks_agree(self) -> bool:
        align, triplets = self._align, sum(isinstance(each, Section) for each in self._subscripts)
        if len(self._axes) != len(self._own):
            return self._disagree(
                f"names {plural(len(self._axes), 'dimension')}, but {align.alignee} has {len(self._own)}",
                f"write one entry for each dimension of {align.alignee}",
            )
        if len(self._subscripts) != len(self._target):
            return self._disagree(
                f"gives {plural(len(self._subscripts), 'subscript')} for {align.target}, which has "
                f"{plural(len(self._target), 'dimension')}",
                f"write one subscript for each dimension of {align.target}",
            )
        if align.axes is None and align.subscripts is not None and not triplets:
            dummies = ",".join(_DUMMIES[: len(self._own)])
            return self._disagree(
                f"gives subscripts for {align.target} and no indices for {align.alignee}",
                f"write {align.alignee}({dummies}) on the left, or no subscripts on the right",
            )
        if len(self._colons()) != triplets:
            return self._disagree(
                f"matches {plural(len(self._colons()), 'dimension')} of {align.alignee} with "
                f"{plural(triplets, 'dimension')} of {align.target}",
                "each : on the left matches one : or triplet on the right; * collapses or replicates",
            )
        if len(self._dummies) < sum(axis not in (":", "*") for axis in self._axes):
            return self._disagree(f"uses an index twice for {align.alignee}", "give each dimension its own index")
        return True

    def _indices(self) -> str:
        names = [each for each in self._align.axes or () if each not in (":", "*")]
        return f"its {'indices are' if len(names) > 1 else 'index is'} {', '.join(names)}" if names else "declare it"

    def _disagree(self, what: str, hint: str) -> bool:
        self._report.add("E302", f"ALIGN {self._align.alignee} {what}", self._align.span, hint)
        return False

    def _cell(self, subscript: Expr | Star, at: int, colon: int) -> Cell | None:
        try:
            match subscript:
                case Star():
                    return Cell(role="replicated")
                case Section():
                    return self._triplet(subscript, at, colon)
                case _:
                    name, stride, offset = self._affine(subscript)
        except _NotAffineError as error:
            self._report.add(
                "E306",
                f"ALIGN {self._align.alignee} WITH {self._align.target}, subscript {at + 1}: {error}",
                place(subscript.span if isinstance(subscript, Expr) else self._align.span, self._align.span),
                "write a*i + b with one index i and constants a and b, a constant, a triplet or *",
            )
            return None
        except Unknown as error:
            what = f"ALIGN {self._align.alignee} WITH {self._align.target}, subscript {at + 1}"
            if is_name(error.name) and not self._report.declares(error.name):
                told = f"{what}: {error.name} is no index of {self._align.alignee}, and not declared"
                self._report.add("E306", told, self._align.span, self._indices())
            else:
                self._report.unknown_value(what, error, self._align.span)
            return None
        if name is None or stride == 0:
            return Cell(role="fixed", offset=offset)
        return Cell(role="dim", dim=self._dummies[name], stride=stride, offset=offset)

    def _triplet(self, section: Section, at: int, dim: int) -> Cell:
        lower, upper = self._target[at]
        lower = lower if section.lower is None else self._constant(section.lower)
        upper = upper if section.upper is None else self._constant(section.upper)
        step = 1 if section.step is None else self._constant(section.step)
        if step == 0:
            raise _NotAffineError("the stride of the triplet is zero")
        first, last = self._own[dim]
        given, size = max(0, last - first + 1), max(0, (upper - lower + step) // step)
        if size != given:
            self._report.add(
                "W304",
                f"ALIGN {self._align.alignee}: dimension {dim + 1} has {given} elements, its target in "
                f"{self._align.target} has {size}: matching them from the first on",
                self._align.span,
            )
        return Cell(role="dim", dim=dim, stride=step, offset=lower - step * first)

    def _affine(self, expr: Expr) -> tuple[str | None, int, int]:
        """`expr` as (index or None, factor, summand)."""
        match expr:
            case Var(name=name) if name in self._dummies:
                return name, 1, 0
            case Unary(op="-", operand=operand):
                index, stride, offset = self._affine(operand)
                return index, -stride, -offset
            case Unary(op="+", operand=operand):
                return self._affine(operand)
            case Binary(op="+" | "-" as op, left=left, right=right):
                (one, s1, o1), (two, s2, o2) = self._affine(left), self._affine(right)
                if one is not None and two is not None and one != two:
                    raise _NotAffineError(f"it mixes the indices {one} and {two}")
                sign = 1 if op == "+" else -1
                return one if two is None else two, s1 + sign * s2, o1 + sign * o2
            case Binary(op="*", left=left, right=right):
                (one, s1, o1), (two, s2, o2) = self._affine(left), self._affine(right)
                if one is not None and two is not None:
                    raise _NotAffineError("it multiplies indices")
                return (one, s1 * o2, o1 * o2) if one is not None else (two, o1 * s2, o1 * o2)
            case _:
                return None, 0, self._constant(expr)

    def _constant(self, expr: Expr) -> int:
        try:
            return evaluate_int(expr, self._env)
        except Unknown as error:
            if error.name in self._dummies:
                raise _NotAffineError(f"it is not affine in {error.name}") from error
            raise

    def _each_dim_once(self, cells: Iterable[Cell]) -> bool:
        dims = [cell.dim for cell in cells if cell.role == "dim"]
        if len(set(dims)) == len(dims):
            return True
        self._report.add(
            "E306",
            f"ALIGN {self._align.alignee} uses an index in two subscripts of {self._align.target}",
            self._align.span,
            "use each index in one subscript only",
        )
        return False

    def _inside(self, cell: Cell, at: int) -> bool:
        """Whether all elements lie in the target."""
        lower, upper = self._target[at]
        if cell.role == "replicated":
            return True
        ends = (0,) if cell.role == "fixed" else self._own[cell.dim]
        stride = 0 if cell.role == "fixed" else cell.stride
        for index in ends:
            reached = stride * index + cell.offset
            if not lower <= reached <= upper:
                which = "" if cell.role == "fixed" else f" of index {index} in dimension {cell.dim + 1}"
                self._report.add(
                    "E305",
                    f"ALIGN puts elements{which} of {self._align.alignee} at subscript {at + 1} = {reached} "
                    f"of {self._align.target}, which goes from {lower} to {upper}",
                    self._align.span,
                    f"enlarge {self._align.target} or change the subscript",
                )
                return False
        return True


def _without_elements(cell: Cell) -> Cell:
    """The same cell unless its numbers are too large to compute with."""
    return cell if max(abs(cell.stride), abs(cell.offset)) <= LARGEST_EXTENT else Cell(role="replicated")
