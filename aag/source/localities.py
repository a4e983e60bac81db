"""DO CONCURRENT as loops: its indices and the variables in LOCAL and LOCAL_INIT are variables of their own.

    do concurrent (i = 1:n) local(t) local_init(w) reduce(+: s)        !hpf$ independent, new(t_1, w_1), reduction(s)
      w(1) = w(1) + a(i)                                               do i_1 = 1, n
      t = w(1)                                                           w_1 = w
      s = s + t                                                          w_1(1) = w_1(1) + a(i_1)
    end do                                                               ...

A variable keeps its name where nothing else in its scope has it. A variable without locality that each iteration
assigns before it reads it is as one in LOCAL, as it has no value after the loop.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import statements as s
from aag.ir.directives import Align, Directive, Distribute
from aag.ir.expressions import Var
from aag.ir.liveness import Liveness
from aag.ir.trips import runs
from aag.ir.units import Concurrent, Entity, Type
from aag.ir.visitors import Body, mapped
from aag.source.concurrent import RULE, ConcurrentHead, Head, Named
from aag.source.declarations import INTEGER, Declarations, Known
from aag.source.iterations import assigned_alike, conflicting, leaving, wrong_updates
from aag.source.mentions import free_names, mentions_of, renamed, renamed_expression

_LOCALITY = "E681"
_REDUCE = "E682"
_NOT_MODELLED = {"pointer": "a POINTER", "assumed_size": "an array of assumed size"}
_NOT_ALLOWED = {
    "allocatable": "an ALLOCATABLE variable",
    "intent(in)": "an argument of INTENT(IN)",
    "optional": "an OPTIONAL argument",
    "parameter": "a constant",
}


class Surroundings(Struct, frozen=True):
    """What a unit's loops see. `outer`: the declarations of the host and of modules; `elsewhere`: names that procedures
    inside the unit use; `visible`: names whose values the caller or other units see; `directives`: of the unit."""

    names: Declarations
    outer: Sequence[Declarations]
    elsewhere: frozenset[str]
    visible: frozenset[str]
    directives: Sequence[Directive]


def with_localities(body: Body, around: Surroundings) -> tuple[Body, tuple[Concurrent, ...]]:
    """A unit's statements with the localities of DO CONCURRENT, and what is for compilers that do not read those.
    Findings are added to the names of the unit."""
    if not around.names.opened:
        return body, ()
    free = free_names(body, around.names.opened)
    rewriter = _Rewriter(around, Liveness(body), free | around.elsewhere | around.visible)
    return rewriter.body(body, frozenset()), tuple(rewriter.made)


class _Found(Exception):
    """Why a construct is not modelled."""


class _Rewriter(Struct):
    around: Surroundings
    live: Liveness
    """Of the statements of the unit."""
    taken: frozenset[str]
    """Names that mean something outside of the constructs that have them as their own."""
    made: list[Concurrent] = field(default_factory=list)
    depth: int = 0
    """How many constructs are around."""
    indices: dict[tuple[str, Type, int], str] = field(default_factory=dict)
    """New names of indices, which constructs one after the other share."""

    def body(self, body: Iterable[s.Stmt], bound: frozenset[str]) -> Body:
        """Statements inside of constructs that have the names `bound` as their own."""
        return tuple(self._statement(each, bound) for each in body)

    def _statement(self, stmt: s.Stmt, bound: frozenset[str]) -> s.Stmt:
        if isinstance(stmt, s.Do) and stmt.independent is not None and stmt.independent.concurrent:
            opened = self.around.names.opened[stmt.span]
            try:
                return self._construct(stmt, opened, bound)
            except _Found as found:
                text = f"do concurrent {opened.head.controls}"
                return s.Opaque(text=text, reason=str(found), span=stmt.span, label=stmt.label)
        return mapped(stmt, lambda inner: self.body(inner, bound))

    def _construct(self, stmt: s.Do, opened: ConcurrentHead, bound: frozenset[str]) -> s.Stmt:
        assert stmt.independent is not None
        head = opened.head
        loops = _nest(stmt, len(opened.indices))
        guard: s.If | None = None
        inner = loops[-1].body
        if opened.masked:
            (masked,) = inner
            assert isinstance(masked, s.If)
            guard, inner = masked, masked.branches[0].body
        own = frozenset((*opened.indices, *(each.name for each in (*head.local, *head.initial))))
        self.depth += 1
        inner = self.body(inner, bound | own)
        self.depth -= 1
        self._check_head(stmt, opened, loops, inner)
        reason = "" if guard is None else conflicting(guard.branches[0].condition, inner, opened.indices)
        if reason:
            raise _Found(reason)
        private = [] if head.no_default else self._private(stmt, loops, inner, head, guard)
        indices = {each: self._index(each, opened, bound, stmt.span) for each in opened.indices}
        locals_ = {each.name: self._local(each, bound, copied=False) for each in head.local}
        copies = {each.name: self._local(each, bound, copied=True) for each in head.initial}
        inner = renamed(inner, {**indices, **locals_, **copies})
        starts = (s.Assign(target=Var(new), value=Var(old), span=stmt.span) for old, new in copies.items())
        inner = (*starts, *inner)
        claim = stmt.independent
        new = dict.fromkeys((*claim.new, *locals_.values(), *copies.values(), *private))
        sums = dict.fromkeys((*claim.reductions, *(one.name for part in head.reduced for one in part.names)))
        listed = tuple(indices.get(each, each) for each in claim.indices)
        home = None if claim.home is None else renamed_expression(claim.home, indices)
        claim = replace(claim, indices=listed, new=tuple(new), reductions=tuple(sums), home=home)
        if guard is not None:
            branch = replace(guard.branches[0], body=inner)
            inner = renamed((replace(guard, branches=(branch,)),), indices, deep=False)
        for loop in reversed(loops):
            outermost = loop is stmt
            made = replace(loop, var=indices[loop.var], body=inner, independent=claim if outermost else None)
            inner = (made,)
        if not head.is_plain:
            self.made.append(self._for_compilers(stmt, opened))
        return inner[0]

    def _private(self, stmt: s.Do, loops: Sequence[s.Do], inner: Body, head: Head, guard: s.If | None) -> list[str]:
        """Variables that are each iteration's own. One that a single iteration defines keeps its value (Fortran 2018,
        11.1.7.5)."""
        constants = self.around.names.constants
        found = frozenset(assigned_alike(inner, [each.var for each in loops], self._shared(head, guard), constants))
        several = any(runs(each, constants, 2) for each in loops) and all(runs(each, constants) for each in loops)
        if guard is not None or not several:
            found -= self.live.wanted_after(stmt, found)
        return sorted(found)

    # --- names ---

    def _known(self, name: str) -> Known | None:
        for each in (self.around.names, *self.around.outer):
            if name in each.names and name not in each.procedures:
                return each.names[name]
        return None

    def _type(self, name: str) -> Type:
        known = self._known(name)
        return self.around.names.type_of(name) if known is None or known.type is None else known.type

    def _is_taken(self, name: str, bound: frozenset[str]) -> bool:
        names = self.around.names.names
        return name in self.taken | bound or (name not in names and self._known(name) is not None)

    def _fresh(self, name: str, span: Span, of: Type, known: Known | None) -> str:
        names = self.around.names
        fresh = names.fresh(name)
        names.names[fresh] = Known(fresh, span, of, None if known is None else known.shape)
        return fresh

    def _index(self, name: str, opened: ConcurrentHead, bound: frozenset[str], span: Span) -> str:
        known = self._known(name)
        if not opened.head.type:
            return self._fresh_index(name, span, self._type(name)) if self._is_taken(name, bound) else name
        kind = opened.head.kind
        of = Type(base="integer", bytes=self.around.names.kind_bytes(kind) or 4) if kind else INTEGER
        if known is None and name not in self.taken | bound:
            self.around.names.names[name] = Known(name, span, of)
            return name
        if self._is_taken(name, bound) or known is None or known.type != of or known.shape is not None:
            return self._fresh_index(name, span, of)
        return name

    def _fresh_index(self, name: str, span: Span, of: Type) -> str:
        key = (name, of, self.depth)
        if key not in self.indices:
            self.indices[key] = self._fresh(name, span, of, None)
        return self.indices[key]

    def _local(self, variable: Named, bound: frozenset[str], *, copied: bool) -> str:
        """The name of a variable in LOCAL or LOCAL_INIT."""
        name, known = variable.name, self._known(variable.name)
        if known is not None and not known.attributes & _NOT_ALLOWED.keys():
            word = "LOCAL_INIT" if copied else "LOCAL"
            for attribute, what in _NOT_MODELLED.items():
                if attribute in known.attributes:
                    raise _Found(f"{word} of {name}, {what}, is not modelled")
            if any(bound.upper is None for bound in known.shape or ()):
                raise _Found(f"{word} of {name}, an array of assumed shape, is not modelled")
        if copied or self._is_taken(name, bound):
            return self._fresh(name, variable.span, self._type(name), known)
        return name

    def _shared(self, head: Head, guard: s.If | None) -> frozenset[str]:
        """Variables that are certainly not each iteration's own."""
        listed = {each.name for each in head.listed}
        masked = frozenset[str]() if guard is None else mentions_of(guard)
        return self._mapped() | listed | masked | self.around.visible | self._held()

    def _held(self) -> frozenset[str]:
        """Variables of the host and of modules."""
        return frozenset(name for each in self.around.outer for name in each.names)

    # --- rules ---

    def _report(self, code: str, message: str, span: Span, hint: str) -> None:
        self.around.names.diagnostics.append(Diagnostic(code=code, message=message, span=span, hint=hint))

    def _check_head(self, stmt: s.Do, opened: ConcurrentHead, loops: Sequence[s.Do], inner: Body) -> None:
        head, indices = opened.head, frozenset(opened.indices)
        for loop in loops:
            used = sorted(indices & mentions_of(replace(loop, body=(), var="", independent=None)))
            if used:
                message = f"the bounds of {loop.var} use {used[0]}, an index of the same DO CONCURRENT"
                hint = f"compare with {used[0]} in the mask, or write a DO CONCURRENT inside the other"
                self._report(RULE, message, stmt.span, hint)
        for each in leaving(inner, stmt, loops[-1].name):
            word = type(each).__name__.upper()
            message = f"{word} leaves a DO CONCURRENT, whose iterations come in any order"
            self._report(RULE, message, each.span, "use CYCLE or IF, or write DO in place of DO CONCURRENT")
        seen: set[str] = set()
        for named in head.listed:
            for problem, hint in self._problems(named, opened, seen):
                self._report(_LOCALITY, problem, named.span, hint)
            seen.add(named.name)
        if head.no_default is not None:
            self._check_default(head.no_default, {*seen, *indices}, inner)
        for part in head.reduced:
            for named in part.names:
                for at, wrong in wrong_updates(inner, named.name, part.operation):
                    message = f"REDUCE({part.operation.upper()}: {named.name}) does not fit this statement: {wrong}"
                    hint = f"each use must be an update such as {_example(named.name, part.operation)}"
                    self._report(_REDUCE, message, at, hint)

    def _problems(self, named: Named, opened: ConcurrentHead, seen: set[str]) -> Iterator[tuple[str, str]]:
        name, known = named.name, self._known(named.name)
        if name in seen:
            yield f"{name} has two localities", "name it once"
        elif name in opened.indices:
            yield f"{name} is an index of the DO CONCURRENT, which needs no locality", f"remove {name}"
        elif known is None:
            if self.around.names.implicit_none and not self.around.names.open:
                yield f"{name} is not declared", f"declare {name}"
        elif named in (*opened.head.local, *opened.head.initial):
            what = next((what for attribute, what in _NOT_ALLOWED.items() if attribute in known.attributes), "")
            if what:
                yield f"{name} is {what}, which cannot be LOCAL", "copy it to another variable"
            elif name in self._mapped():
                yield f"{name} is mapped by directives and cannot be LOCAL", "use an array without directives"

    def _mapped(self) -> frozenset[str]:
        found = {each.alignee for each in self.around.directives if isinstance(each, Align)}
        return frozenset(found | {each.distributee for each in self.around.directives if isinstance(each, Distribute)})

    def _check_default(self, span: Span, known: set[str], inner: Body) -> None:
        names = self.around.names
        used = free_names(inner, names.opened) - known - names.constants.keys() - names.procedures
        used -= {each for each in used if (found := self._known(each)) and "parameter" in found.attributes}
        missing = sorted(each for each in used if each in names.names or self._known(each) is not None)
        if missing:
            message = f"DEFAULT(NONE) needs a locality of {', '.join(missing)}"
            self._report(_LOCALITY, message, span, f"add SHARED({', '.join(missing)})")

    # --- for compilers ---

    def _for_compilers(self, stmt: s.Do, opened: ConcurrentHead) -> Concurrent:
        head = opened.head
        typed = Type(base="integer", bytes=self.around.names.kind_bytes(head.kind) or 4) if head.kind else INTEGER
        return Concurrent(
            head=stmt.span,
            end=stmt.end,
            controls=head.controls,
            typed=tuple(_entity(each, typed, None, stmt.span) for each in opened.indices if head.type),
            local=tuple(self._entity(each) for each in head.local),
            initial=tuple(self._entity(each) for each in head.initial),
        )

    def _entity(self, named: Named) -> Entity:
        return _entity(named.name, self._type(named.name), self._known(named.name), named.span)


def _entity(name: str, of: Type, known: Known | None, span: Span) -> Entity:
    shape = None if known is None else known.shape
    return Entity(name=name, shown=name, type=of, shape=shape, attributes=frozenset(), initial=None, span=span)


def _nest(stmt: s.Do, depth: int) -> list[s.Do]:
    """The loops of a construct with that many indices."""
    found = [stmt]
    while len(found) < depth:
        (inner,) = found[-1].body
        assert isinstance(inner, s.Do)
        found.append(inner)
    return found


def _example(name: str, operation: str) -> str:
    plain = operation in ("+", "*") or operation.startswith(".")
    return f"{name} = {name} {operation} ..." if plain else f"{name} = {operation}({name}, ...)"
