"""Two predictions as one tree: what corresponds stands side by side, the rest on one side only.

Both sides are what `esp run --json` says (docs/json.md), so that a saved file and a fresh prediction are the same. With
AAUs in both the tree is that of the AAUs, else it is the list of lines. What corresponds is found level by level: equal
kind and label in equal order first, then what is left by kind, in order.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from msgspec import Struct

from esp.prediction import CATEGORIES

_COUNTERS = re.compile(r"\$\d+")
"""Numbers of the loop indices that lowering invents; they shift when anything before them changes."""


_ROUNDING = 1e-12
"""Share of the longer of two times below which their difference is none."""


def change(a_s: float, b_s: float) -> float:
    """How much longer B takes; what rounding left of equal times is nothing."""
    return 0.0 if abs(b_s - a_s) <= _ROUNDING * max(abs(a_s), abs(b_s)) else b_s - a_s


class TreeNode(Struct, frozen=True, kw_only=True):
    """A part of a prediction: times in seconds, mean over processors, `own` by category without the parts inside."""

    kind: str
    label: str
    line: int
    time_s: float
    own_s: tuple[float, ...]
    messages: int
    bytes: int
    inside: tuple["TreeNode", ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What corresponds has equal keys."""
        return self.kind, _COUNTERS.sub("$", self.label)


class Pair(Struct, frozen=True, kw_only=True):
    """What corresponds in A and B; None: there is nothing on that side."""

    a: TreeNode | None
    b: TreeNode | None
    inside: tuple["Pair", ...] = ()

    @property
    def change_s(self) -> float:
        """How much longer it takes in B."""
        return change(0.0 if self.a is None else self.a.time_s, 0.0 if self.b is None else self.b.time_s)

    def by_category(self) -> tuple[float, ...]:
        """The same for each category, parts inside included."""
        own = [change(_own(self.a, at), _own(self.b, at)) for at in range(len(CATEGORIES))]
        for each in self.inside:
            own = [mine + theirs for mine, theirs in zip(own, each.by_category(), strict=True)]
        return tuple(own)


def _own(node: TreeNode | None, at: int) -> float:
    return 0.0 if node is None else node.own_s[at]


class Difference(Struct, frozen=True, kw_only=True):
    """The answer of `difference`. `a`, `b`: the two predictions as JSON has them; `by`: ``aaus`` or ``lines``."""

    a: Mapping[str, Any]
    b: Mapping[str, Any]
    by: str
    pairs: tuple[Pair, ...]


def difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> Difference:
    """Where two predictions differ. Both are objects of docs/json.md."""
    by = "aaus" if a.get("aaus") and b.get("aaus") else "lines"
    build = _of_aaus if by == "aaus" else _of_lines
    return Difference(a=a, b=b, by=by, pairs=tuple(_matched(build(a), build(b))))


def _of_lines(said: Mapping[str, Any]) -> tuple[TreeNode, ...]:
    return tuple(
        TreeNode(
            kind="line",
            label=" ".join(each["source"].split()) or f"{each['file']}:{each['line']}",
            line=each["line"],
            time_s=each["time_s"],
            own_s=_parts(each),
            messages=each["messages"],
            bytes=each["bytes"],
        )
        for each in said["lines"]
    )


def _of_aaus(said: Mapping[str, Any]) -> tuple[TreeNode, ...]:
    below: dict[int | None, list[Mapping[str, Any]]] = {}
    for each in said["aaus"]:
        below.setdefault(each["parent"], []).append(each)
    return tuple(_aau(each, below) for each in below.get(None, ()))


def _aau(said: Mapping[str, Any], below: Mapping[int | None, Sequence[Mapping[str, Any]]]) -> TreeNode:
    moved = said["communication"] or {"messages": 0, "bytes": 0}
    return TreeNode(
        kind=said["kind"],
        label=said["label"],
        line=said["line"] or 0,
        time_s=said["total_s"],
        own_s=_parts(said),
        messages=moved["messages"],
        bytes=moved["bytes"],
        inside=tuple(_aau(each, below) for each in below.get(said["id"], ())),
    )


def _parts(said: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(said[f"{name}_s"] for name in CATEGORIES)


def _matched(a: Sequence[TreeNode], b: Sequence[TreeNode]) -> Iterator[Pair]:
    matcher = SequenceMatcher(None, [each.key for each in a], [each.key for each in b], autojunk=False)
    for tag, start_a, end_a, start_b, end_b in matcher.get_opcodes():
        if tag == "equal":
            for mine, theirs in zip(a[start_a:end_a], b[start_b:end_b], strict=True):
                yield _pair(mine, theirs)
        else:
            yield from _by_kind(a[start_a:end_a], b[start_b:end_b])


def _by_kind(a: Sequence[TreeNode], b: Sequence[TreeNode]) -> Iterator[Pair]:
    """Pairs of equal kind in order; a line that has changed altogether is one that went and one that came."""
    matcher = SequenceMatcher(None, [_kind(each) for each in a], [_kind(each) for each in b], autojunk=False)
    for tag, start_a, end_a, start_b, end_b in matcher.get_opcodes():
        if tag == "equal":
            for mine, theirs in zip(a[start_a:end_a], b[start_b:end_b], strict=True):
                yield _pair(mine, theirs)
            continue
        yield from (_pair(each, None) for each in a[start_a:end_a])
        yield from (_pair(None, each) for each in b[start_b:end_b])


def _kind(node: TreeNode) -> tuple[str, str]:
    """The kind, for a line the name that it assigns to or its first word."""
    return node.kind, re.split(r"\W", node.label, maxsplit=1)[0] if node.kind == "line" else ""


def _pair(a: TreeNode | None, b: TreeNode | None) -> Pair:
    inside = _matched(a.inside if a is not None else (), b.inside if b is not None else ())
    return Pair(a=a, b=b, inside=tuple(inside))


def as_json(found: Difference) -> Mapping[str, object]:
    """What `--json` says; docs/inspect.md describes the fields."""
    return {
        "a": _side(found.a),
        "b": _side(found.b),
        "by": found.by,
        "change_s": change(found.a["time_s"], found.b["time_s"]),
        "changes_s": {name: change(found.a[f"{name}_s"], found.b[f"{name}_s"]) for name in CATEGORIES},
        "tree": [_branch(each) for each in found.pairs],
    }


def _side(said: Mapping[str, Any]) -> Mapping[str, object]:
    return {name: said[name] for name in ("file", "system", "processors", "grid", "time_s", "messages", "bytes")}


def _branch(pair: Pair) -> Mapping[str, object]:
    one = pair.a or pair.b
    assert one is not None
    return {
        "kind": one.kind,
        "label_a": pair.a and pair.a.label,
        "label_b": pair.b and pair.b.label,
        "line_a": pair.a and pair.a.line,
        "line_b": pair.b and pair.b.line,
        "time_a_s": pair.a and pair.a.time_s,
        "time_b_s": pair.b and pair.b.time_s,
        "change_s": pair.change_s,
        "changes_s": dict(zip(CATEGORIES, pair.by_category(), strict=True)),
        "messages_a": pair.a and pair.a.messages,
        "messages_b": pair.b and pair.b.messages,
        "bytes_a": pair.a and pair.a.bytes,
        "bytes_b": pair.b and pair.b.bytes,
        "inside": [_branch(each) for each in pair.inside],
    }


def rows(pairs: Sequence[Pair], depth: int = 0) -> Iterator[Mapping[str, object]]:
    """The tree as rows, each followed by what is inside of it; `depth` says how deep that is."""
    for each in pairs:
        yield {"depth": depth, **{name: value for name, value in _branch(each).items() if name != "inside"}}
        yield from rows(each.inside, depth + 1)
