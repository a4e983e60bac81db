"""The module HPF_LIBRARY for the serial program, as no serial compiler has it: what its functions mean.

Only functions that a program names are written, for the types and ranks that a generic name may have. Elements count in
array element order; of several that COPY_SCATTER sends to one place, the last wins.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product

from aag.ir.units import Program

MODULE = "hpf_library"
_KINDS = {
    "i4": "integer",
    "i8": "integer(8)",
    "r4": "real",
    "r8": "double precision",
    "c8": "complex",
    "c16": "complex(8)",
    "l4": "logical",
}
_NUMBERS = ("i4", "i8", "r4", "r8")
_OPERATIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "sum": ((*_NUMBERS, "c8", "c16"), "0", "one + other"),
    "product": ((*_NUMBERS, "c8", "c16"), "1", "one * other"),
    "maxval": (_NUMBERS, "", "max(one, other)"),
    "minval": (_NUMBERS, "", "min(one, other)"),
    "iall": (("i4", "i8"), "not(zero)", "iand(one, other)"),
    "iany": (("i4", "i8"), "0", "ior(one, other)"),
    "iparity": (("i4", "i8"), "0", "ieor(one, other)"),
    "all": (("l4",), ".true.", "one .and. other"),
    "any": (("l4",), ".false.", "one .or. other"),
    "parity": (("l4",), ".false.", "one .neqv. other"),
    "count": (("l4",), "0", "one + merge(1, 0, other)"),
    "copy": ((*_NUMBERS, "c8", "c16", "l4"), "zero", "other"),
}
"""The types of what is combined, what changes nothing, and how two values are combined."""
_RANKS = (1, 2, 3)
_NAMED = re.compile(rf"\b({'|'.join(_OPERATIONS)})_(prefix|suffix|scatter)\s*\(", re.IGNORECASE)
_WITHOUT_MASK = ("all", "any", "parity", "count")


def is_used(program: Program) -> bool:
    """Whether a unit of a program uses the module, and has none of its own of this name."""
    own = any(unit.kind == "module" and unit.name == MODULE for unit in program.units)
    return not own and any(MODULE in unit.uses for unit in program.units)


def module(texts: Iterable[str]) -> str:
    """Free-form text of the module with the functions that some texts name."""
    named = sorted({(op.lower(), how.lower()) for text in texts for op, how in _NAMED.findall(text)})
    interfaces, procedures = list[str](), list[str]()
    for op, how in named:
        found = list(_scatters(op) if how == "scatter" else _scans(op, how))
        specific = (f"    module procedure {name}" for name, _ in found)
        interfaces += [f"  interface {op}_{how}", *specific, "  end interface"]
        procedures += [text for _, text in found]
    inside = ["contains", *procedures] if procedures else []
    return "\n".join([f"module {MODULE}", "  implicit none", *interfaces, *inside, f"end module {MODULE}", ""])


def _of_result(op: str, kind: str) -> str:
    return "integer" if op == "count" else _KINDS[kind]


def _start(op: str, kind: str) -> str:
    """What changes nothing: of MAXVAL and MINVAL, the least or greatest number."""
    if op == "minval":
        return "huge(zero)"
    if op == "maxval":
        return "-huge(zero) - 1" if kind in ("i4", "i8") else "-huge(zero)"
    return _OPERATIONS[op][1]


def _colons(rank: int) -> str:
    return f"({', '.join(':' * rank)})"


def _sizes(name: str, rank: int) -> str:
    return ", ".join(f"size({name}, {dim})" for dim in range(1, rank + 1))


def _scans(op: str, how: str) -> Iterator[tuple[str, str]]:
    """Procedures of a scan: their names and texts."""
    first = "mask" if op in _WITHOUT_MASK else "array"
    rest = [first, "dim", *([] if op in (*_WITHOUT_MASK, "copy") else ["mask"]), "segment"]
    rest += [] if op == "copy" else ["exclusive"]
    combined = _OPERATIONS[op][2].replace("one", "carry").replace("other", "a(at)")
    along = "n - 1 - along" if how == "suffix" else "along"
    for kind, rank in product(_OPERATIONS[op][0], _RANKS):
        name, of = f"{op}_{how}_{kind}_{rank}", _of_result(op, kind)
        masked = "mask" in rest and first != "mask"
        step = f"carry = {combined}"
        if op == "copy":
            step = "if (begins) carry = a(at)"
        yield (
            name,
            f"""
  function {name}({", ".join(rest)}) result(r)
    {_KINDS[kind]}, intent(in) :: {first}{_colons(rank)}
    integer, intent(in), optional :: dim
    logical, intent(in), optional :: segment{_colons(rank)}{f", mask{_colons(rank)}" if masked else ""}
    {"" if op == "copy" else "logical, intent(in), optional :: exclusive"}
    {of} :: r({_sizes(first, rank)}), carry, zero
    {_KINDS[kind]}, allocatable :: a(:)
    {of}, allocatable :: b(:)
    logical, allocatable :: taken(:), parts(:)
    logical :: before, begins
    integer :: n, stride, outer, inner, along, at, last, dims({rank})
    dims = shape({first})
    zero = {".false." if of == "logical" else "0"}
    a = reshape({first}, (/ size({first}) /))
    allocate(b(size(a)), taken(size(a)), parts(size(a)))
    taken = .true.
    parts = .true.
    {"if (present(mask)) taken = reshape(mask, (/ size(mask) /))" if masked else ""}
    if (present(segment)) parts = reshape(segment, (/ size(segment) /))
    before = .false.
    {"" if op == "copy" else "if (present(exclusive)) before = exclusive"}
    n = size(a)
    stride = 1
    if (present(dim)) n = dims(dim)
    if (present(dim)) stride = product(dims(:dim - 1))
    if (size(a) > 0) then
      do outer = 0, size(a) / (n * stride) - 1
        do inner = 0, stride - 1
          last = 0
          do along = 0, n - 1
            at = outer * n * stride + inner + stride * ({along}) + 1
            begins = last == 0
            if (last > 0) begins = parts(at) .neqv. parts(last)
            if (begins) carry = {_start(op, kind)}
            if (before) b(at) = carry
            if (taken(at)) then
              {step}
            end if
            if (.not. before) b(at) = carry
            last = at
          end do
        end do
      end do
    end if
    r = reshape(b, dims)
  end function {name}""",
        )


def _scatters(op: str) -> Iterator[tuple[str, str]]:
    """Procedures of a scatter: their names and texts."""
    first = "mask" if op in _WITHOUT_MASK else "array"
    for kind, rank, into in product(_OPERATIONS[op][0], _RANKS, _RANKS):
        name, of = f"{op}_scatter_{kind}_{rank}_{into}", _of_result(op, kind)
        places = [f"indx{at}" for at in range(1, into + 1)]
        rest = [first, "base", *places, *([] if first == "mask" else ["mask"])]
        flat = [f"i{at}" for at in range(1, into + 1)]
        target = f"r({', '.join(f'{each}(at)' for each in flat)})"
        combined = _OPERATIONS[op][2].replace("one", target).replace("other", "a(at)")
        made = "\n".join(
            f"    {one} = reshape({other}, (/ size({other}) /))" for one, other in zip(flat, places, strict=True)
        )
        masked = "" if first == "mask" else f"logical, intent(in), optional :: mask{_colons(rank)}"
        yield (
            name,
            f"""
  function {name}({", ".join(rest)}) result(r)
    {_KINDS[kind]}, intent(in) :: {first}{_colons(rank)}
    {of}, intent(in) :: base{_colons(into)}
    integer, intent(in), dimension{_colons(rank)} :: {", ".join(places)}
    {masked}
    {of} :: r({_sizes("base", into)})
    {_KINDS[kind]}, allocatable :: a(:)
    integer, allocatable, dimension(:) :: {", ".join(flat)}
    logical, allocatable :: taken(:)
    integer :: at
    r = base
    a = reshape({first}, (/ size({first}) /))
{made}
    allocate(taken(size(a)))
    taken = .true.
    {"if (present(mask)) taken = reshape(mask, (/ size(mask) /))" if masked else ""}
    do at = 1, size(a)
      if (taken(at)) {target} = {combined}
    end do
  end function {name}""",
        )
