"""fparser's executable statements to aag.ir.statements."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.directives import Independent
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import calls_used, names_in
from aag.source.allocations import allocation, nullified, with_assignments, with_nullified
from aag.source.cases import case_values, chosen
from aag.source.classify import after_group
from aag.source.concurrent import ConcurrentHead, Head
from aag.source.declarations import Declarations
from aag.source.expressions import Locator, Reader
from aag.source.jumping import GO_TO, arithmetic, astray, computed
from aag.source.jumps import structured
from aag.source.outline import Outline, Row
from aag.source.parsing import NOT_UNDERSTOOD, UNFORESEEN
from aag.source.redefined import redefined
from aag.source.resolving import resolve, resolve_remap
from aag.source.substrings import whole_value

IoKind = Literal["open", "close", "inquire", "rewind", "backspace", "flush"]
_IO: dict[str, IoKind] = {
    "Open_Stmt": "open",
    "Close_Stmt": "close",
    "Inquire_Stmt": "inquire",
    "Rewind_Stmt": "rewind",
    "Backspace_Stmt": "backspace",
    "Flush_Stmt": "flush",
}
_WITHOUT_LABELS = "return an INTEGER argument instead, and test it behind the call"
_WHOLE = "let it point to a whole array, with the bounds of that"
_PROCEDURE = "make {} a procedure of its own: declarations, and the statements behind ENTRY"
_NOT_MODELLED = {"Goto_Stmt": GO_TO}


class _At(Struct, frozen=True):
    """Where a statement stands: its row, its place, and its text. One behind a logical IF has no label."""

    row: int
    span: Span
    label: str
    text: str

    @property
    def place(self) -> dict[str, Any]:
        """What every statement of the ir has."""
        return {"span": self.span, "label": self.label}


class BodyReader:
    """Reads the execution part of one unit. `seen` collects the rows that came out of the tree."""

    def __init__(
        self,
        outline: Outline,
        rows: tuple[Row, ...],
        names: Declarations,
        formats: dict[str, str],
        cuts: dict[str, e.Expr],
        seen: set[int],
    ) -> None:
        self._outline = outline
        self._rows = rows
        self._names = names
        self._formats = formats
        self._cuts = cuts
        self._seen = seen

    # --- rows ---

    def _row(self, node: Any) -> int:
        index = int(node.item.span[0]) - 1
        self._seen.add(index)
        return index

    def _reader(self, index: int) -> Reader:
        at = Locator(self._rows[index].statement.text)
        return Reader(at, self._names, self._cuts)

    def _place(self, index: int) -> dict[str, Any]:
        row = self._rows[index]
        return {"span": row.span, "label": row.label}

    # --- bodies ---

    def body(self, nodes: Iterable[Any]) -> tuple[s.Stmt, ...]:
        """The statements that `nodes` stand for."""
        found: list[s.Stmt] = []
        for node in nodes:
            stmt = self.statement(node)
            if stmt is not None:
                found.append(stmt)
        return tuple(found)

    def unit_body(self, nodes: Iterable[Any]) -> tuple[s.Stmt, ...]:
        """The execution part of a unit. Statement functions stand at its beginning and are taken out."""
        found: list[s.Stmt] = []
        for node in nodes:
            stmt = self.statement(node)
            if stmt is None or (not found and self._defines_function(stmt)):
                continue
            found.append(stmt)
        found = list(with_nullified(with_assignments(found)))
        self._names.made |= names_in(found)
        self._names.diagnostics += [*astray(found), *redefined(found)]
        return structured(tuple(found), self._names.fresh, self._names.declare_integer)

    def _defines_function(self, stmt: s.Stmt) -> bool:
        """``f(x, y) = expression``, where f is no array and x and y are names."""
        if not isinstance(stmt, s.Assign) or not isinstance(stmt.target, e.Call) or stmt.target.keywords:
            return False
        dummies = [each.name for each in stmt.target.args if isinstance(each, e.Var)]
        if len(dummies) != len(stmt.target.args) or not dummies:
            return False
        self._names.statement_functions[stmt.target.name] = (tuple(dummies), stmt.value)
        return True

    def statement(self, node: Any) -> s.Stmt | None:
        """One statement or construct; None for what only declares (FORMAT, DATA)."""
        kind = type(node).__name__
        construct = _CONSTRUCTS.get(kind)
        if construct is not None:
            return construct(self, node)
        if kind in ("Format_Stmt", "Data_Stmt", "Comment", "Namelist_Stmt"):
            self._row(node)
            return None
        index = self._row(node)
        row = self._rows[index]
        at = _At(index, row.span, row.label, row.statement.text.text)
        if row.remap is not None:
            return s.Remap(directive=resolve_remap(row.remap, self._names), **at.place)
        if row.opaque:
            return self._opaque(at, row.opaque, row.reason)
        try:
            return self._action(node, at, self._reader(index))
        except UNFORESEEN:
            return self._opaque(at, at.text, NOT_UNDERSTOOD)

    def _opaque(self, at: _At, text: str, reason: str, hint: str = "") -> s.Opaque:
        return s.Opaque(text=text, reason=reason, hint=hint, **at.place)

    def _action(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        """A simple statement."""
        kind = type(node).__name__
        action = _ACTIONS.get(kind)
        if action is not None:
            return action(self, node, at, reader)
        if kind == "Nullify_Stmt":
            return nullified(node, reader, at.place)
        if kind in _IO:
            return s.Io(kind=_IO[kind], items=(), control=_inside(node), **at.place)
        return self._opaque(at, at.text, _NOT_MODELLED.get(kind, f"{_words(kind)} is not modelled"))

    def _inner(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        """The statement behind IF (...), FORALL (...) or WHERE (...). Its place is that of the whole, whose
        first line its time belongs to (Def 4)."""
        text = at.text[after_group(at.text, at.text.index("(")) :].strip()
        return self._action(node, _At(at.row, at.span, "", text), reader)

    # --- simple statements ---

    def _assign(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        target = reader.read(node.items[0])
        if isinstance(target, e.IntLit):  # an element of a named constant, which lowering refuses by its name
            target = e.Var(str(node.items[0]).partition("(")[0].strip().lower(), span=target.span)
        value = reader.read(node.items[2])
        if isinstance(target, e.Substring):
            whole = whole_value(target, value, lambda name: self._names.type_of(name).bytes, self._names.constants)
            if whole is None:
                return self._opaque(at, at.text, f"an assignment to a part of {target.base.name} is not modelled")
            target, value = target.base, whole
        return s.Assign(target=target, value=value, **at.place)

    def _call(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        name = str(node.items[0]).lower()
        reader.at.find("call")
        reader.at.find(name)
        if not name.isidentifier():
            return self._opaque(at, at.text, "type-bound procedures are not modelled")
        if any(type(each).__name__ == "Alt_Return_Spec" for each in getattr(node.items[1], "items", ())):
            return self._opaque(at, at.text, f"the alternate returns of {name} are not modelled", _WITHOUT_LABELS)
        args, keywords = reader.arguments(node.items[1])
        return s.CallStmt(name=self._names.callee(name), args=args, keywords=keywords, **at.place)

    def _if_stmt(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        reader.at.find("if")
        condition = reader.read(node.items[0])
        inner = self._inner(node.items[1], at, reader)
        return s.guarded(condition, (inner,), **at.place)

    def _forall_stmt(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        reader.at.find("forall")
        indices, mask = self._forall_header(node.items[0], reader)
        inner = self._inner(node.items[1], at, reader)
        return s.Forall(indices=indices, mask=mask, body=(inner,), independent=self._independent(at.row), **at.place)

    def _where_stmt(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        reader.at.find("where")
        mask = reader.read(node.items[0])
        inner = self._inner(node.items[1], at, reader)
        branch = s.WhereBranch(mask=mask, body=(inner,), span=at.span)
        return s.Where(branches=(branch,), **at.place)

    def _computed_goto(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        labels, index = node.items
        reader.at.group("to")
        reader.at.find(")")
        return computed([str(each) for each in getattr(labels, "items", (labels,))], reader.read(index), at.place)

    def _arithmetic_if(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        value, *labels = node.items
        reader.at.find("if")
        tested = reader.read(value)
        if any(each not in INTRINSICS for each in calls_used(tested)):
            return self._opaque(at, at.text, "arithmetic IF of a function is not modelled")
        return arithmetic(tested, [str(each) for each in labels], at.place)

    def _print(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        control = self._format(str(node.items[0]))
        return s.Io(kind="print", items=self._items(node.items[1], reader), control=control, **at.place)

    def _write(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        reader.at.group("write")
        control = self._control(node.items[0])
        return s.Io(kind="write", items=self._items(node.items[1], reader), control=control, **at.place)

    def _read(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        specs, form, items = node.items
        control = self._control(specs) if specs is not None else self._format(str(form))
        if specs is None:
            control = "*, " + control
        return s.Io(kind="read", items=self._items(items, reader), control=control, **at.place)

    def _items(self, node: Any, reader: Reader) -> tuple[e.Expr, ...]:
        if node is None:
            return ()
        items = node.items if type(node).__name__.endswith("_List") else (node,)
        return tuple(reader.read(each) for each in items)

    def _control(self, specs: Any) -> str:
        parts: list[str] = []
        for position, spec in enumerate(specs.items):
            key, value = (spec.items[0], spec.items[1]) if hasattr(spec, "items") else (None, spec)
            text = str(value)
            if (position == 1 and key is None) or (key is not None and str(key).upper() == "FMT"):
                text = self._format(text)
            parts.append(text if key is None else f"{str(key).lower()}={text}")
        return ", ".join(parts)

    def _format(self, text: str) -> str:
        """A FORMAT label becomes the format itself, so that the statement can stand alone."""
        found = self._formats.get(text)
        return text if found is None else "'" + found.replace("'", "''") + "'"

    def _allocate(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        return allocation(node, reader, at.place)

    def _point(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        pointer, bounds, target = node.items
        if bounds is not None:
            return self._opaque(at, at.text, f"bounds of the pointer {pointer} are not modelled", _WHOLE)
        place = reader.read(pointer)
        null = type(target).__name__ == "Intrinsic_Function_Reference" and str(target.items[0]).lower() == "null"
        return s.Point(pointer=place, target=None if null else reader.read(target), **at.place)

    def _exit(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del reader
        name = _name(node.items[1])
        if any(each.what.name == name and each.what.kind != "do" for each in self._rows if name):
            return self._opaque(at, at.text, "EXIT from a block is not modelled")
        return s.Exit(name=name, **at.place)

    def _cycle(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del reader
        return s.Cycle(name=_name(node.items[1]), **at.place)

    def _stop(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del node, reader
        return s.Stop(**at.place)

    def _return(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del reader
        if node.items[-1] is not None:
            return self._opaque(at, at.text, f"the alternate return {node.items[-1]} is not modelled", _WITHOUT_LABELS)
        return s.Return(**at.place)

    def _entry(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del reader
        name = str(node.items[0]).lower()
        self._names.entries.append(name)
        found = self._opaque(at, at.text, f"ENTRY {name} is not modelled", _PROCEDURE.format(name))
        return replace(found, entry=name)

    def _continue(self, node: Any, at: _At, reader: Reader) -> s.Stmt:
        del node, reader
        return s.Continue(**at.place)

    # --- constructs ---

    def _independent(self, index: int) -> Independent | None:
        found = self._outline.independent.get(index)
        if found is None or found.home is None:
            return found
        return replace(found, home=resolve(found.home, self._names))

    def _do(self, node: Any) -> s.Stmt:
        first, *inner, last = node.content
        index = self._row(first)
        row = self._rows[index]
        reader = self._reader(index)
        reader.at.find("do")
        name = row.what.name
        control = first.items[1] if len(first.items) > 1 else None
        body = self.body(inner)
        end = self._rows[self._row(last)].span
        if control is None:
            return s.DoWhile(condition=None, body=body, name=name, end=end, **self._place(index))
        condition, counted = control.items[0], control.items[1]
        if condition is not None:
            read = reader.read(condition)
            return s.DoWhile(condition=read, body=body, name=name, end=end, **self._place(index))
        if counted is None:
            return self._concurrent(control, body, index, end, reader)
        variable, bounds = counted
        var = str(variable).lower()
        reader.at.find(var)
        lower, upper = reader.read(bounds[0]), reader.read(bounds[1])
        step = reader.read(bounds[2]) if len(bounds) > 2 else None
        return s.Do(
            var=var,
            lower=lower,
            upper=upper,
            step=step,
            body=body,
            independent=self._independent(index),
            name=name,
            end=end,
            **self._place(index),
        )

    def _concurrent(self, control: Any, body: tuple[s.Stmt, ...], index: int, end: Span, reader: Reader) -> s.Stmt:
        """DO CONCURRENT is a nest of loops that somebody has promised to be independent. Its name is that of the
        innermost, as CYCLE ends one iteration of all."""
        header = next(part for part in reversed(control.items) if part is not None)
        indices, mask = self._forall_header(header, reader)
        row = self._rows[index]
        place = self._place(index)
        if mask is not None:
            body = (s.guarded(mask, body, row.span),)
        every = tuple(each.name for each in indices)
        self._names.opened[row.span] = ConcurrentHead(row.head or Head(controls=""), every, mask is not None)
        names = every if len(indices) > 1 else ()
        promise = self._independent(index) or Independent(span=row.span)
        promise = replace(promise, indices=promise.indices or names, concurrent=True)
        for each in reversed(indices):
            outermost = each is indices[0]
            loop = s.Do(
                var=each.name,
                lower=each.lower,
                upper=each.upper,
                step=each.step,
                body=body,
                independent=promise if outermost else None,
                name=row.what.name if each is indices[-1] else "",
                end=end,
                **(place if outermost else {"span": row.span}),
            )
            body = (loop,)
        return body[0]

    def _if(self, node: Any) -> s.Stmt:
        parts = self._split(node, ("Else_If_Stmt", "Else_Stmt"))
        branches = []
        for index, opening, inner in parts:
            reader = self._reader(index)
            reader.at.find("if")
            condition = None if type(opening).__name__ == "Else_Stmt" else reader.read(opening.items[0])
            branches.append(s.Branch(condition=condition, body=self.body(inner), span=self._rows[index].span))
        return s.If(branches=tuple(branches), **self._place(parts[0][0]))

    def _where(self, node: Any) -> s.Stmt:
        parts = self._split(node, ("Masked_Elsewhere_Stmt", "Elsewhere_Stmt"))
        branches = []
        for index, opening, inner in parts:
            reader = self._reader(index)
            mask = None if type(opening).__name__ == "Elsewhere_Stmt" else reader.read(opening.items[0])
            branches.append(s.WhereBranch(mask=mask, body=self.body(inner), span=self._rows[index].span))
        return s.Where(branches=tuple(branches), **self._place(parts[0][0]))

    def _select(self, node: Any) -> s.Stmt:
        parts = self._split(node, ("Case_Stmt",))
        index, opening, _ = parts[0]
        reader = self._reader(index)
        selector = reader.read(opening.items[0])
        cases = []
        for at, case, inner in parts[1:]:
            values = case_values(case.items[0], self._reader(at))
            cases.append(s.Case(values=values, body=self.body(inner), span=self._rows[at].span))
        listed = [each for case in cases for each in case.values or ()]
        if listed and all(isinstance(each, e.LogicalLit) for each in listed):
            return chosen(selector, cases, self._place(index))
        return s.SelectCase(selector=selector, cases=tuple(cases), **self._place(index))

    def _split(self, node: Any, separators: tuple[str, ...]) -> list[tuple[int, Any, list[Any]]]:
        """A construct as (row, opening or separating statement, statements below it)."""
        first, *inner, last = node.content
        self._row(last)
        parts: list[tuple[int, Any, list[Any]]] = [(self._row(first), first, [])]
        for each in inner:
            if type(each).__name__ in separators:
                parts.append((self._row(each), each, []))
            else:
                parts[-1][2].append(each)
        return parts

    def _forall(self, node: Any) -> s.Stmt:
        first, *inner, last = node.content
        index = self._row(first)
        self._row(last)
        reader = self._reader(index)
        reader.at.find("forall")
        indices, mask = self._forall_header(first.items[1], reader)
        return s.Forall(
            indices=indices,
            mask=mask,
            body=self.body(inner),
            independent=self._independent(index),
            **self._place(index),
        )

    def _forall_header(self, node: Any, reader: Reader) -> tuple[tuple[s.ForallIndex, ...], e.Expr | None]:
        triplets, mask = node.items
        specs = triplets.items if type(triplets).__name__.endswith("_List") else (triplets,)
        indices: list[s.ForallIndex] = []
        for spec in specs:
            name, lower, upper, step = spec.items
            reader.at.find(str(name))
            low, high = reader.read(lower), reader.read(upper)
            indices.append(s.ForallIndex(name=str(name).lower(), lower=low, upper=high, step=reader.read_or_none(step)))
        return tuple(indices), reader.read_or_none(mask)


def _name(node: Any) -> str:
    return "" if node is None else str(node).lower()


def _words(kind: str) -> str:
    return kind.removesuffix("_Stmt").removesuffix("_Construct").replace("_", " ").upper()


def _inside(node: Any) -> str:
    """The text between the outer parentheses of an I/O statement."""
    text = str(node)
    first, last = text.find("("), text.rfind(")")
    return text[first + 1 : last] if first >= 0 else text.partition(" ")[2]


_ACTIONS: dict[str, Callable[[BodyReader, Any, _At, Reader], s.Stmt]] = {
    "Assignment_Stmt": BodyReader._assign,
    "Call_Stmt": BodyReader._call,
    "If_Stmt": BodyReader._if_stmt,
    "Computed_Goto_Stmt": BodyReader._computed_goto,
    "Arithmetic_If_Stmt": BodyReader._arithmetic_if,
    "Forall_Stmt": BodyReader._forall_stmt,
    "Where_Stmt": BodyReader._where_stmt,
    "Print_Stmt": BodyReader._print,
    "Write_Stmt": BodyReader._write,
    "Read_Stmt": BodyReader._read,
    "Allocate_Stmt": BodyReader._allocate,
    "Deallocate_Stmt": BodyReader._allocate,
    "Exit_Stmt": BodyReader._exit,
    "Cycle_Stmt": BodyReader._cycle,
    "Stop_Stmt": BodyReader._stop,
    "Error_Stop_Stmt": BodyReader._stop,
    "Return_Stmt": BodyReader._return,
    "Continue_Stmt": BodyReader._continue,
    "Pointer_Assignment_Stmt": BodyReader._point,
    "Entry_Stmt": BodyReader._entry,
}
_CONSTRUCTS: dict[str, Callable[[BodyReader, Any], s.Stmt | None]] = {
    "Block_Nonlabel_Do_Construct": BodyReader._do,
    "If_Construct": BodyReader._if,
    "Where_Construct": BodyReader._where,
    "Case_Construct": BodyReader._select,
    "Forall_Construct": BodyReader._forall,
}
