"""GO TO as blocks: IF, loops, EXIT and CYCLE that do the same.

    if (c) go to 20           if (.not. (c)) then        10 ...                    do
      ...                       ...                         ...                      ...
    20 ...                    end if                        if (c) go to 10          if (.not. (c)) exit
                              20 ...                                               end do

A label is in the body of the jump or in one around it, so each body is put in order by itself, the innermost first.
Jumps back to a label make a loop from it to the last of them. Then all others go forward: out of the loop before the
label they are EXIT; over statements they are IF; where branches meet elsewhere they are EXIT of a loop that runs once,
from the first jump to the label. Loops are grown to the end and these blocks to the front until they are nested. One
thing remains, a jump into the middle of a loop: it goes to the beginning, with a number that says where to go on.
"""

from collections.abc import Callable

from msgspec.structs import replace

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.visitors import mapped
from aag.source.jumping import (
    Body,
    alive,
    ends,
    has_jumps,
    jump,
    leave,
    named,
    never_falls,
    replaced,
    settled,
    target,
    targets,
    unnamed,
)

Items = list[s.Stmt]
Declare = Callable[[str], None]
"""Makes a name an integer."""


def structured(body: Body, fresh: Callable[[str], str], declare: Declare) -> Body:
    """The body of a unit with blocks in the place of jumps; a jump to no label that it can reach stays as it is.

    `fresh` gives a name that begins as it is told and that nothing else has.
    """
    body = settled(body)
    if not has_jumps(body):
        return body
    builder = _Builder(fresh, declare)
    found = builder.body(named(body, builder.loop_name), "")
    return unnamed((*builder.initial, *found), frozenset(builder.made))


class _Builder:
    """Puts bodies in order. `made`: the names of loops that are new; `initial`: what the unit begins with."""

    def __init__(self, fresh: Callable[[str], str], declare: Declare) -> None:
        self._fresh = fresh
        self._declare = declare
        self.made: set[str] = set()
        self.initial: Items = []

    def loop_name(self, prefix: str) -> str:
        """A name for a loop."""
        name = self._fresh(prefix)
        self.made.add(name)
        return name

    def body(self, body: Body, loop: str) -> Body:
        """A body without jumps to its own labels. `loop`: the name of the loop whose body it is, if it is one's."""
        items = alive([self._inside(stmt) for stmt in body])
        if not targets(items).keys() & {each.label for each in items}:
            return tuple(items)
        return self._ordered(_moved(_threaded(items)), loop)

    def _inside(self, stmt: s.Stmt) -> s.Stmt:
        name = stmt.name if isinstance(stmt, s.Do | s.DoWhile) else ""
        return mapped(stmt, lambda inner: self.body(inner, name))

    def _ordered(self, items: Items, loop: str) -> Body:
        return tuple(self._forward(self._loops(alive(items)), loop))

    # --- backwards ---

    def _loops(self, items: Items) -> Items:
        """Loops for all jumps backwards, the first label first."""
        while True:
            places = _places(items)
            back = [
                (places[label], at)
                for at, each in enumerate(items)
                for label in targets((each,))
                if places.get(label, len(items)) <= at
            ]
            if not back:
                return items
            first = min(label for label, _ in back)
            last = first
            while (further := max(at for label, at in back if first <= label <= last)) > last:
                last = further
            inner = {label for label, at in places.items() if first < at <= last}
            entered = sorted(targets(items[:first]).keys() & inner)
            if entered:
                items = self._by_the_front(items, first, entered)
            else:
                items = [*items[:first], self._loop(items[first : last + 1]), *items[last + 1 :]]

    def _loop(self, region: Items) -> s.Stmt:
        """The loop of a region to whose first statement jumps go back."""
        name = self.loop_name("loop")
        head, tail = region[0], region[-1]
        label = head.label
        if target(tail) == label:
            region = region[:-1]
        elif (condition := _condition(tail, label)) is not None:
            leaving = s.Exit(span=tail.span, name=name)
            region = [*region[:-1], s.guarded(_negated(condition), (leaving,), tail.span)]
        elif not ends(tail):
            region = [*region, s.Exit(span=tail.span, name=name)]
        if region:
            region[0] = replace(region[0], label="")
        body = replaced(region, label, leave(s.Cycle, name))
        return s.DoWhile(
            condition=None, body=self._ordered(list(body), name), name=name, end=tail.span, span=head.span, label=label
        )

    def _by_the_front(self, items: Items, first: int, entered: list[str]) -> Items:
        """Jumps into the middle of a loop go to its beginning instead."""
        head = items[first]
        place = self._fresh("place")
        self._declare(place)
        self.initial.append(_assign(place, 0, head))
        before: Body = tuple(items[:first])
        choices: Items = []
        for number, label in enumerate(entered, 1):
            before = replaced(
                before,
                label,
                lambda old, number=number: (  # type: ignore[misc]  # a default binds it
                    _assign(place, number, old, old.label),
                    jump(head.label, old.span),
                ),
            )
            chosen = e.Binary("==", e.Var(place, span=head.span), e.IntLit(number, span=head.span), span=head.span)
            choices.append(s.guarded(chosen, (_assign(place, 0, head), jump(label, head.span)), head.span))
        choices[0] = replace(choices[0], label=head.label)
        return [*before, *choices, replace(head, label=""), *items[first + 1 :]]

    # --- forwards ---

    def _forward(self, items: Items, loop: str) -> Items:
        """No jumps to labels of `items`, all of which go forward; the nearest label first."""
        at = 0
        while at < len(items):
            label = items[at].label
            before = items[:at]
            if label and label in targets(before):
                before = self._leaving(before, label, items[at:], loop)
            items[:at] = before
            at = len(before) + 1
        return items

    def _leaving(self, before: Items, label: str, rest: Items, loop: str) -> Items:
        last = before[-1]
        if isinstance(last, s.Do | s.DoWhile):
            before = [*before[:-1], *replaced((last,), label, leave(s.Exit, last.name))]
        start = next((at for at, each in enumerate(before) if label in targets((each,))), -1)
        if start < 0:
            return before
        over = _skipping(before[start:], label)
        if over is not None:
            return [*before[:start], *over]
        if loop and all(isinstance(each, s.Continue) for each in rest):
            return [*replaced(before, label, leave(s.Cycle, loop))]
        return [*before[:start], self._once(before[start:], label)]

    def _once(self, region: Items, label: str) -> s.Stmt:
        """A loop that runs once, and that jumps to what follows leave."""
        name = self.loop_name("block")
        head, tail = region[0], region[-1]
        end = () if ends(tail) else (s.Exit(span=tail.span, name=name),)
        body = replaced((replace(head, label=""), *region[1:]), label, leave(s.Exit, name))
        return s.DoWhile(condition=None, body=(*body, *end), name=name, end=tail.span, span=head.span, label=head.label)


def _skipping(items: Items, label: str) -> Items | None:
    """`items` without jumps to what follows them, by putting what is jumped over into the other branches; None where
    it would have to be there twice, or where a jump leaves a loop."""
    at = next((at for at, each in enumerate(items) if label in targets((each,))), -1)
    if at < 0:
        return items
    stmt, rest = items[at], items[at + 1 :]
    if target(stmt) == label:
        return items[:at]
    if isinstance(stmt, s.If):
        branches = list(stmt.branches)
        if branches[-1].condition is not None:
            branches.append(s.Branch(condition=None, body=(), span=stmt.span))
        inner = _shared([each.body for each in branches], rest, label)
        if inner is None:
            return None
        parts = [replace(each, body=body) for each, body in zip(branches, inner, strict=True)]
        return [*items[:at], *_simplified(replace(stmt, branches=tuple(parts)))]
    if isinstance(stmt, s.SelectCase):
        cases = list(stmt.cases)
        if not any(each.values is None for each in cases):
            cases.append(s.Case(values=None, body=(), span=stmt.span))
        inner = _shared([each.body for each in cases], rest, label)
        if inner is None:
            return None
        kept = [replace(each, body=body) for each, body in zip(cases, inner, strict=True)]
        return [*items[:at], replace(stmt, cases=tuple(kept))]
    return None


def _shared(alternatives: list[Body], rest: Items, label: str) -> list[Body] | None:
    """Alternatives with `rest` behind the one that goes on with it, all without jumps to the label."""
    if rest and sum(not never_falls(each) for each in alternatives) > 1:
        return None
    found: list[Body] = []
    for each in alternatives:
        whole = _skipping([*each] if never_falls(each) else [*each, *rest], label)
        if whole is None:
            return None
        found.append(tuple(whole))
    return found


def _simplified(stmt: s.If) -> Items:
    """An IF without the branches that do nothing, if these are the first or the last, and without needless .NOT."""
    branches = stmt.branches
    if branches[-1].condition is None and not branches[-1].body:
        branches = branches[:-1]
    if len(branches) == 2 and branches[1].condition is None and not branches[0].body and branches[0].condition:
        return [s.guarded(_negated(branches[0].condition), branches[1].body, stmt.span, stmt.label)]
    if len(branches) == 2 and branches[1].condition is None:
        first, second = branches
        match first.condition:
            case e.Unary(op=".not.", operand=condition):
                branches = (replace(second, condition=condition), replace(first, condition=None))
    return [replace(stmt, branches=branches)] if branches else []


# --- shorter ways ---


def _threaded(items: Items) -> Items:
    """Jumps to a statement that only goes elsewhere do that themselves."""
    for label, at in _places(items).items():
        goal = next((each for each in items[at:] if not isinstance(each, s.Continue)), None)
        if isinstance(goal, s.Stop | s.Return | s.Exit | s.Cycle) or (goal and target(goal) not in ("", label)):
            items = list(replaced(items, label, _like(goal)))
    return alive(items)


def _like(goal: s.Stmt) -> Callable[[s.Stmt], Body]:
    return lambda old: (replace(goal, span=old.span, label=old.label),)


def _moved(items: Items) -> Items:
    """Statements that only one jump leads to, and that do not go on with what follows, stand where the jump is."""
    moved = True
    while moved:
        moved = False
        count = targets(items)
        for label, at in _places(items).items():
            if count[label] != 1 or not (at and ends(items[at - 1])):
                continue
            end = next((end for end in range(at, len(items)) if ends(items[end])), -1)
            if end < 0:
                continue
            segment, others = items[at : end + 1], [*items[:at], *items[end + 1 :]]
            if targets(segment)[label] or count.keys() & {each.label for each in segment[1:]}:
                continue
            whole = (replace(segment[0], label=""), *segment[1:])
            items = alive(list(replaced(others, label, lambda _, whole=whole: whole)))  # type: ignore[misc]  # as above
            moved = True
            break
    return items


# --- statements ---


def _places(items: Items) -> dict[str, int]:
    return {each.label: at for at, each in enumerate(items) if each.label}


def _condition(stmt: s.Stmt, label: str) -> e.Expr | None:
    """The condition of ``IF (c) GO TO label``."""
    if isinstance(stmt, s.If) and len(stmt.branches) == 1 and len(stmt.branches[0].body) == 1:
        return stmt.branches[0].condition if target(stmt.branches[0].body[0]) == label else None
    return None


def _negated(condition: e.Expr) -> e.Expr:
    if isinstance(condition, e.Unary) and condition.op == ".not.":
        return condition.operand
    return e.Unary(".not.", condition, span=condition.span)


def _assign(name: str, value: int, at: s.Stmt, label: str = "") -> s.Stmt:
    return s.Assign(target=e.Var(name, span=at.span), value=e.IntLit(value, span=at.span), span=at.span, label=label)
