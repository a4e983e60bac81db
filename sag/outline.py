"""The shape of a machine file: units, components and figures with their places; no meaning is checked yet.

A file may lay itself over another (``extends``): units meet by name, figures by key. Sources and certainties
that stand above a group are pushed down to each figure first, so that an overlaid figure keeps its own.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from sag.document import Findings, Listing, Node, Scalar, YamlTable
from sag.errors import MachinePlace, nearest
from sag.joint import JointFit, joint_fit
from sag.schema import BELOW, FIGURE_KEYS, FORMAT, PROCESSORS_KEYS, TOP_KEYS, UNIT_KEYS
from sag.unit import COMPONENTS

_EXAMPLES = {
    "processor": "{clock: 40 MHz}",
    "memory": "{size: 16 MB}",
    "network": "{short: {startup: 75 us}}",
    "io": "{format_item: 300 ns}",
}
"""Figures of each component, for hints."""


class RawFigure(Struct, frozen=True, kw_only=True):
    """One value with the keys that lead to it from its component."""

    keys: tuple[Scalar, ...]
    value: Scalar
    source: Scalar | None = None
    certainty: Scalar | None = None
    range: Scalar | None = None
    general: Scalar | None = None
    """The range that stands above, for estimated figures without one of their own."""
    group: Scalar | None = None
    remark: str = ""

    @property
    def path(self) -> str:
        """Dotted key; what named groups stand below is left out."""
        return ".".join(key.text for key in self.keys)


class Above(Struct, frozen=True, kw_only=True):
    """What a group of figures says for all below it."""

    source: Scalar | None = None
    certainty: Scalar | None = None
    range: Scalar | None = None
    group: Scalar | None = None


class RawPart(Struct, frozen=True, kw_only=True):
    """One component: figures, or the names of the children that refine it, or neither (void).

    `named` are its named groups, such as message ranges; `dropped` those of the machine below that this one does not
    have (``short: void``).
    """

    place: MachinePlace
    figures: Mapping[str, RawFigure] = field(default_factory=dict)
    named: tuple[Scalar, ...] = ()
    dropped: tuple[Scalar, ...] = ()
    refined_by: tuple[Scalar, ...] = ()


class RawUnit(Struct, frozen=True, kw_only=True):
    """One SAU as written."""

    name: str
    place: MachinePlace
    words: Mapping[str, Scalar] = field(default_factory=dict)
    parts: Mapping[str, RawPart] = field(default_factory=dict)
    children: Mapping[str, "RawUnit"] = field(default_factory=dict)


class MachineOutline(Struct, frozen=True, kw_only=True):
    """One machine file as written."""

    place: MachinePlace
    words: Mapping[str, Scalar]
    processors: Mapping[str, Scalar]
    sources: Mapping[str, Scalar]
    notes: tuple[str, ...]
    extends: Scalar | None
    compiler: RawPart
    fit: JointFit | None
    root: RawUnit


def outline_of(document: YamlTable, findings: Findings) -> MachineOutline:
    """The outline of one file; whatever has the wrong shape is noted."""
    _refuse_unknown(document, TOP_KEYS, "a machine file", findings)
    words = {name: word for name in ("format", "name", "title") if (word := _word(document, name, findings))}
    version = words.get("format")
    if version is None:
        findings.add("M104", "the key 'format' is missing", document.place, f"begin with 'format: {FORMAT}'")
    elif version.text != str(FORMAT):
        message = f"format {version.text} is not known to this version"
        findings.add("M107", message, version.place, f"this version reads format {FORMAT}")
    system = document.get("system")
    root = RawUnit(name="system", place=document.place)
    if isinstance(system, YamlTable):
        root = _unit("system", system, system.place, findings)
    elif system is not None:
        findings.add("M105", "'system' must be a mapping that describes a unit", system.place)
    return MachineOutline(
        place=document.place,
        words=words,
        processors=_words_of(document, "processors", PROCESSORS_KEYS, findings),
        sources=_sources(document, findings),
        notes=_notes(document.get("notes"), findings),
        extends=_word(document, "extends", findings),
        compiler=_compiler(document, findings),
        fit=joint_fit(document.get("fit"), findings),
        root=root,
    )


REMOVED = "void"
"""In place of a source."""


def merge(base: MachineOutline, over: MachineOutline) -> MachineOutline:
    """`over` laid over `base`: what it says wins, what it leaves out stays."""
    return MachineOutline(
        place=over.place,
        words={**base.words, **over.words},
        processors={**base.processors, **over.processors},
        sources={**base.sources, **over.sources},
        notes=base.notes + over.notes,
        extends=None,
        compiler=replace(over.compiler, figures={**base.compiler.figures, **over.compiler.figures}),
        fit=over.fit or base.fit,
        root=_merge_units(base.root, over.root),
    )


def _compiler(document: YamlTable, findings: Findings) -> RawPart:
    """What the file says of the compiler."""
    node = document.get("compiler")
    figures: dict[str, RawFigure] = {}
    if isinstance(node, YamlTable):
        _figures(node, (), Above(), figures, findings)
    elif node is not None:
        findings.add("M105", "'compiler' must be a mapping from transformations to yes, no or undecided", node.place)
    return RawPart(place=document.place if node is None else node.place, figures=figures)


def _merge_units(base: RawUnit, over: RawUnit) -> RawUnit:
    children = dict(base.children)
    for name, child in over.children.items():
        children[name] = _merge_units(children[name], child) if name in children else child
    parts = dict(base.parts)
    for name, part in over.parts.items():
        parts[name] = _merge_parts(parts[name], part) if name in parts else part
    return RawUnit(name=base.name, place=over.place, words={**base.words, **over.words}, parts=parts, children=children)


def _merge_parts(base: RawPart, over: RawPart) -> RawPart:
    if not (base.figures and (over.figures or over.dropped)):
        return over
    here = {each.text for each in base.named}
    gone = {each.text for each in over.dropped} & here
    kept = {path: raw for path, raw in base.figures.items() if path.split(".")[0] not in gone}
    named = tuple(each for each in base.named if each.text not in gone)
    named += tuple(each for each in over.named if each.text not in here)
    dropped = tuple(each for each in over.dropped if each.text not in gone)
    return replace(over, figures={**kept, **over.figures}, named=named, dropped=dropped)


def _unit(name: str, table: YamlTable, place: MachinePlace, findings: Findings) -> RawUnit:
    _refuse_unknown(table, UNIT_KEYS, f"the unit '{name}'", findings)
    children: dict[str, RawUnit] = {}
    units = table.get("units")
    if isinstance(units, YamlTable):
        for key, value in units:
            if not key.text.isidentifier():
                findings.add("M107", f"'{key.text}' cannot name a unit", key.place, "use letters, digits and _")
            elif isinstance(value, YamlTable):
                children[key.text] = _unit(key.text, value, key.place, findings)
            else:
                hint = f"write '{key.text}:', and its keys below"
                findings.add("M105", f"the unit '{key.text}' must be a mapping", value.place, hint)
    elif units is not None:
        findings.add(
            "M105", "'units' must be a mapping from names to units", units.place, "write 'cube:' and its keys below"
        )
    parts = {key.text: _part(key, value, findings) for key, value in table if key.text in COMPONENTS}
    words = {key: word for key in ("id", "title", "role") if (word := _word(table, key, findings))}
    return RawUnit(name=name, place=place, words=words, parts=parts, children=children)


def _part(key: Scalar, node: Node, findings: Findings) -> RawPart:
    if isinstance(node, YamlTable):
        figures: dict[str, RawFigure] = {}
        named = _figures(node, (), Above(), figures, findings)
        return RawPart(place=key.place, figures=figures, named=named, dropped=_dropped(node))
    if isinstance(node, Listing) and all(isinstance(item, Scalar) and item.text.isidentifier() for item in node.items):
        return RawPart(place=key.place, refined_by=tuple(n for n in node.items if isinstance(n, Scalar)))
    if not (isinstance(node, Scalar) and node.text == "void"):
        message = f"'{key.text}' must contain figures, a list of the units that refine it, or 'void'"
        findings.add("M105", message, node.place, f"write for example '{key.text}: {_EXAMPLES[key.text]}'")
    return RawPart(place=key.place)


def _dropped(table: YamlTable) -> tuple[Scalar, ...]:
    """The named groups that are void."""
    groups = (table.get(below) for below in sorted(BELOW))
    return tuple(name for each in groups if isinstance(each, YamlTable) for name, value in each if _is_void(value))


def _is_void(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text == "void"


def _figures(
    table: YamlTable, keys: tuple[Scalar, ...], above: Above, into: dict[str, RawFigure], findings: Findings
) -> tuple[Scalar, ...]:
    """Collect the figures of a group and those below it; the names of named groups are returned."""
    above = _above(table, above, findings)
    named: tuple[Scalar, ...] = ()
    for key, node in table:
        chain = (*keys, key)
        if key.text in FIGURE_KEYS:
            continue
        if isinstance(node, Listing):
            hint = f"write '{key.text}: 10 us' for one value, '{key.text}:' and its keys below for a group"
            findings.add("M105", f"'{key.text}' must be one value or a group of them, not a list", node.place, hint)
        elif isinstance(node, Scalar):
            into[".".join(each.text for each in chain)] = RawFigure(
                keys=chain,
                value=node,
                source=above.source,
                certainty=above.certainty,
                general=above.range,
                group=above.group,
            )
        elif node.get("value") is not None:
            raw = _figure(node, chain, above, findings)
            into[raw.path] = raw
        elif not keys and key.text in BELOW:
            given = tuple((name, value) for name, value in node if not _is_void(value))
            named += tuple(name for name, _ in given)
            _figures(replace(node, entries=given), (), above, into, findings)
        else:
            _figures(node, chain, above, into, findings)
    return named


def _above(table: YamlTable, above: Above, findings: Findings) -> Above:
    """What stands above the figures of a group."""
    return Above(
        source=_word(table, "source", findings) or above.source,
        certainty=_word(table, "certainty", findings) or above.certainty,
        range=_word(table, "range", findings) or above.range,
        group=_word(table, "group", findings) or above.group,
    )


def _figure(table: YamlTable, keys: tuple[Scalar, ...], above: Above, findings: Findings) -> RawFigure:
    _refuse_unknown(table, FIGURE_KEYS, f"the figure '{keys[-1].text}'", findings)
    remark = _word(table, "remark", findings)
    general, above = above.range, _above(table, above, findings)
    return RawFigure(
        keys=keys,
        value=_word(table, "value", findings) or Scalar("", table.place),
        source=above.source,
        certainty=above.certainty,
        range=_word(table, "range", findings),
        general=general,
        group=above.group,
        remark=remark.text if remark else "",
    )


def _word(table: YamlTable, name: str, findings: Findings) -> Scalar | None:
    node = table.get(name)
    if node is None or isinstance(node, Scalar):
        return node
    findings.add("M105", f"'{name}' must be one word or text", node.place)
    return None


def _words_of(document: YamlTable, name: str, known: tuple[str, ...] | None, findings: Findings) -> dict[str, Scalar]:
    node = document.get(name)
    if node is None:
        return {}
    if not isinstance(node, YamlTable):
        findings.add("M105", f"'{name}' must be a mapping", node.place, f"write '{name}:', and its keys below")
        return {}
    if known is not None:
        _refuse_unknown(node, known, f"'{name}'", findings)
    return {key.text: word for key, _ in node if (word := _word(node, key.text, findings))}


def _sources(document: YamlTable, findings: Findings) -> dict[str, Scalar]:
    """The sources of figures; `REMOVED` is one of the extended machine that this one does not use."""
    found = _words_of(document, "sources", None, findings)
    for key, text in found.items():
        if not any(map(str.isalpha, text.text)):
            message = f"source '{key}' is '{text.text}', which names no source"
            findings.add("M105", message, text.place, "write where the figures come from")
    return found


def _notes(node: Node | None, findings: Findings) -> tuple[str, ...]:
    if node is None:
        return ()
    if isinstance(node, Listing):
        return tuple(item.text for item in node.items if isinstance(item, Scalar))
    findings.add("M105", "'notes' must be a list of texts", node.place)
    return ()


def _refuse_unknown(table: YamlTable, known: tuple[str, ...], where: str, findings: Findings) -> None:
    for key, _ in table:
        if key.text not in known:
            hint = nearest(key.text, known)
            if known == TOP_KEYS and key.text in UNIT_KEYS:
                hint = f"'{key.text}' belongs to a unit, below 'system' and 'units'"
            findings.add("M103", f"unknown key '{key.text}' in {where}", key.place, hint)
