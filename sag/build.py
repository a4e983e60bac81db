"""Outline to System: every key against the schema, every value to SI, every figure to its source."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from types import MappingProxyType

from sag.document import Findings
from sag.errors import MachinePlace, nearest
from sag.joint import used_fit
from sag.outline import REMOVED, MachineOutline, RawFigure, RawPart, RawUnit
from sag.quantities import QuantityError, parse_quantity, parse_range
from sag.schema import COMPILER, MOST_PROCESSORS, NAMED, PARTS, Key, Keys, NamedGroups, keys_of, plain_word
from sag.unit import (
    CERTAINTIES,
    COMPONENTS,
    LETTERS,
    ROLES,
    VOID,
    Choice,
    Component,
    Compound,
    Figure,
    Parameter,
    Simple,
    System,
    SystemUnit,
)


def build_system(outline: MachineOutline) -> System:
    """The machine that an outline describes.

    Raises:
        MachineError: with every key that is unknown, missing or wrong.
    """
    findings = Findings()
    root = _unit(outline.root, outline, findings)
    default = _count(outline, "default", findings)
    largest = _count(outline, "largest_built", findings)
    for name in ("name", "title"):
        if name not in outline.words:
            findings.add("M104", f"the key '{name}' is missing", outline.place)
    _refuse_twice("role", ((role, raw.place) for role, raw in _roles(outline.root)), findings)
    compiler = _known(outline.compiler, COMPILER, "'compiler'", outline, findings)[0]
    fit = None if outline.fit is None else used_fit(outline.fit, _groups(root), outline.place.file, findings)
    findings.raise_any()
    return System(
        name=outline.words["name"].text,
        title=outline.words["title"].text,
        root=root,
        default_processors=default,
        largest_built=largest,
        sources=MappingProxyType({key: text.text for key, text in outline.sources.items() if text.text != REMOVED}),
        notes=outline.notes,
        compiler=MappingProxyType(compiler),
        fit=fit,
        file=outline.place.file,
    )


def _roles(unit: RawUnit) -> Iterable[tuple[str, RawUnit]]:
    role = unit.words.get("role")
    if role is not None and role.text != "group":
        yield role.text, unit
    for child in unit.children.values():
        yield from _roles(child)


def _groups(root: SystemUnit) -> set[str]:
    """The groups of figures."""
    figures = (
        each
        for _, unit in root.walk()
        for content in unit.components.values()
        if isinstance(content, Simple)
        for each in content.figures.values()
    )
    return {each.group for each in figures if isinstance(each, Figure) and each.group}


def _refuse_twice(what: str, named: Iterable[tuple[str, MachinePlace]], findings: Findings) -> None:
    seen: set[str] = set()
    for name, place in named:
        if name in seen:
            findings.add("M110", f"a second unit has the {what} '{name}'", place, "a machine has one of each")
        seen.add(name)


def _count(outline: MachineOutline, name: str, findings: Findings) -> int:
    word = outline.processors.get(name)
    if word is None:
        message = f"the key 'processors.{name}' is missing"
        findings.add("M104", message, outline.place, "write 'processors: {default: 8, largest_built: 128}'")
        return 1
    try:
        count = int(parse_quantity(word.text, "count"))
    except QuantityError as error:
        findings.add("M106", error.message, word.place, error.hint)
        return 1
    if not 1 <= count <= MOST_PROCESSORS:
        findings.add("M107", f"'{name}' must be between 1 and {MOST_PROCESSORS}", word.place)
    return count


def _unit(raw: RawUnit, outline: MachineOutline, findings: Findings) -> SystemUnit:
    role = _role(raw, findings)
    children = tuple(_unit(child, outline, findings) for child in raw.children.values() if _used(child, raw, findings))
    components = {}
    for name in COMPONENTS:
        part = raw.parts.get(name)
        components[name] = _component(name, part, role, outline, findings) if part else VOID
        if part is not None:
            _check_refinement(name, part, raw.children, findings)
    return SystemUnit(
        id=raw.words["id"].text if "id" in raw.words else raw.name,
        name=raw.name,
        title=raw.words["title"].text if "title" in raw.words else "",
        role=role,
        components=MappingProxyType(components),
        children=children,
    )


def _used(child: RawUnit, parent: RawUnit, findings: Findings) -> bool:
    """Whether a unit has a role, or is named above: otherwise nothing reads its figures."""
    named = sorted({each.text for part in parent.parts.values() for each in part.refined_by})
    if child.name in named or "role" in child.words:
        return True
    message = f"the unit '{child.name}' has no effect: it has no role, and no component of '{parent.name}' names it"
    findings.add("M110", message, child.place, nearest(child.name, named))
    return False


def _role(raw: RawUnit, findings: Findings) -> str:
    word = raw.words.get("role")
    if word is None:
        return "group"
    if word.text not in ROLES:
        hint = nearest(word.text, ROLES)
        findings.add("M107", f"'{word.text}' is not the role of a unit", word.place, hint)
    return word.text


def _check_refinement(component: str, part: RawPart, children: Mapping[str, RawUnit], findings: Findings) -> None:
    for name in part.refined_by:
        child = children.get(name.text)
        if child is None:
            message = f"'{component}' is refined by '{name.text}', which is not a unit below"
            findings.add("M110", message, name.place, nearest(name.text, children))
            continue
        below = child.parts.get(component)
        if below is None or not (below.figures or below.refined_by):
            message = f"'{component}' is refined by '{name.text}', whose own {LETTERS[component]} is void"
            findings.add("M110", message, name.place)


def _component(name: str, part: RawPart, role: str, outline: MachineOutline, findings: Findings) -> Component:
    if part.refined_by:
        return Compound(tuple(each.text for each in part.refined_by))
    if not part.figures:
        return VOID
    if role in ROLES and (role, name) not in PARTS:
        homes = [home for home, component in PARTS if component == name]
        message = f"a unit of role '{role}' has no figures for '{name}'"
        findings.add("M110", message, part.place, f"they belong to a unit of role {' or '.join(homes)}")
        return VOID
    if groups := NAMED.get((role, name)):
        _check_names(part, groups, findings)
    known = keys_of(role, name, tuple(each.text for each in part.named))
    figures, blamed = _known(part, known, f"'{name}' of a {role}", outline, findings)
    for path, key in known.items():
        if key.required and path not in part.figures and not path.startswith(blamed):
            message = f"the key '{path}' is missing in '{name}' ({key.about})"
            findings.add("M104", message, _place_of_group(path, part))
    if (role, name) == ("network", "network"):
        _check_ranges(part, figures, findings)
    if (role, name) == ("node", "memory"):
        _check_caches(part, figures, findings)
    return Simple(MappingProxyType(figures))


def _check_names(part: RawPart, groups: NamedGroups, findings: Findings) -> None:
    for each in part.named:
        if each.text in groups.reserved or not each.text.isidentifier():
            findings.add("M107", f"'{each.text}' cannot name a {groups.noun}", each.place, "choose another name")
    for each in part.dropped:
        findings.add("M107", f"there is no {groups.noun} '{each.text}' to leave out", each.place)


def _known(
    part: RawPart, known: Keys, where: str, outline: MachineOutline, findings: Findings
) -> tuple[dict[str, Parameter], tuple[str, ...]]:
    """The figures of a part whose keys are known, and the keys that were probably meant by the others: a mistyped key
    is one mistake, not also a missing one."""
    figures: dict[str, Parameter] = {}
    meant = set()
    for path, raw in part.figures.items():
        if path in known:
            parameter = _parameter(raw, known[path], outline, findings)
            if parameter is not None:
                figures[path] = parameter
        else:
            meant.add(_unknown(raw, known, where, [each.text for each in part.named], findings))
    return figures, tuple(meant - {""})


def _place_of_group(path: str, part: RawPart) -> MachinePlace:
    """Where a missing key should have stood: its group if there is one, else the component."""
    for raw in part.figures.values():
        if len(raw.keys) > 1 and path.startswith(raw.keys[0].text + "."):
            return raw.keys[0].place
    return next((each.place for each in part.named if path.startswith(each.text + ".")), part.place)


def _unknown(raw: RawFigure, known: Keys, where: str, named: Sequence[str], findings: Findings) -> str:
    """Blame the first key of the chain that leads nowhere; the path that was probably meant is returned."""
    prefix = ""
    for key in raw.keys:
        below = {path[len(prefix) :].split(".")[0] for path in known if path.startswith(prefix)}
        if prefix[:-1] in known:
            findings.add("M105", f"'{prefix[:-1]}' is one value, not a group", key.place)
            return prefix[:-1]
        if key.text not in below:
            group = f" in '{prefix[:-1]}'" if prefix else ""
            within = [each for each in named if not prefix and f"{each}.{key.text}" in known]
            hint = nearest(key.text, sorted(below)) or nearest(key.text, sorted(known))
            if len(within) > 1:  # one of them alone would be a machine that nobody meant
                hint = f"write it in each of {', '.join(within)}; to leave one out write '{within[0]}: void'"
            findings.add("M103", f"unknown key '{key.text}'{group} in {where}", key.place, hint)
            return next((prefix + name for name in below if f"'{name}'?" in hint), "")
        prefix += key.text + "."
    deeper = next(path for path in known if path.startswith(prefix))
    findings.add("M105", f"'{raw.path}' is a group, not a value", raw.value.place, f"it contains '{deeper}'")
    return prefix


def _parameter(raw: RawFigure, key: Key, outline: MachineOutline, findings: Findings) -> Parameter | None:
    source, certainty = _attribution(raw, outline, findings)
    text = raw.value.text.strip()
    if not text:
        findings.add("M105", f"'{raw.path}' has no value", raw.value.place)
        return None
    if key.words:
        word = plain_word(text, key)
        if word not in key.words:
            message = f"'{text}' is not allowed for '{raw.path}' ({key.about})"
            findings.add("M107", message, raw.value.place, nearest(text, key.words))
            return None
        return Choice(
            value=word, allowed=key.words, source=source, certainty=certainty, remark=raw.remark, place=raw.value.place
        )
    try:
        value = parse_quantity(text, key.dimension)
    except QuantityError as error:
        findings.add("M106", f"'{raw.path}': {error.message}", raw.value.place, error.hint)
        return None
    if value < key.least or value > key.most:
        bound = f"at least {key.least:g}" if value < key.least else f"at most {key.most:g}"
        findings.add("M107", f"'{raw.path}' is {text}; it must be {bound}", raw.value.place)
        return None
    return Figure(
        value=value,
        dimension=key.dimension,
        text=text,
        source=source,
        certainty=certainty,
        span=_span(raw, key, value, findings),
        group=raw.group.text if raw.group else "",
        remark=raw.remark,
        place=raw.value.place,
    )


def _span(raw: RawFigure, key: Key, value: float, findings: Findings) -> tuple[float, float] | None:
    """The range of a figure; whatever is wrong with it is noted."""
    given = raw.range
    if given is None and raw.certainty is not None and raw.certainty.text == "estimated" and value > 0 and key.swept:
        given = raw.general
    if given is None:
        return None
    try:
        low, high = parse_range(given.text, key.dimension, value)
    except QuantityError as error:
        findings.add("M106", f"the range of '{raw.path}': {error.message}", given.place, error.hint)
        return None
    if not max(key.least, 0.0) <= low <= value <= high <= key.most or low <= 0:
        message = f"the range of '{raw.path}' is {given.text}, its value {raw.value.text.strip()}"
        findings.add("M107", message, given.place, "a range must begin above 0 and contain the value")
        return None
    return low, high


def _attribution(raw: RawFigure, outline: MachineOutline, findings: Findings) -> tuple[str, str]:
    given = {"source": raw.source, "certainty": raw.certainty}
    lacking = [name for name, each in given.items() if each is None]
    if lacking:
        message = f"'{raw.path}' has no {' and no '.join(lacking)}, here or above"
        hint = (
            f"add {' and '.join(map('{}: ...'.format, lacking))} to the figure, or to its component for all its figures"
        )
        findings.add("M108", message, raw.keys[-1].place, hint)
    named = None if raw.source is None else outline.sources.get(raw.source.text)
    if raw.source is not None and named is not None and named.text == REMOVED:
        message = f"source '{raw.source.text}' is removed, but '{raw.path}' still has it"
        findings.add("M108", message, named.place, "give all its figures another source, or do not remove it")
    elif raw.source is not None and named is None:
        message = f"'{raw.source.text}' is not one of the sources of this file"
        findings.add(
            "M108", message, raw.source.place, nearest(raw.source.text, outline.sources) or "add it to sources"
        )
    if raw.certainty is not None and raw.certainty.text not in CERTAINTIES:
        message = f"'{raw.certainty.text}' is not a certainty"
        findings.add("M108", message, raw.certainty.place, nearest(raw.certainty.text, CERTAINTIES))
    return (raw.source.text if raw.source else "", raw.certainty.text if raw.certainty else "")


def _check_ranges(part: RawPart, figures: dict[str, Parameter], findings: Findings) -> None:
    """At each distance exactly one range takes messages of any size and no two end at the same size, and some ranges
    take messages over any distance."""
    if not part.named:
        findings.add("M104", "'network' has no message ranges", part.place, "write 'ranges: {all: {...}}'")
        return

    def limit(name: str, key: str) -> float:
        found = figures.get(f"{name}.{key}")
        return found.value if isinstance(found, Figure) else inf

    ends: dict[float, dict[float, str]] = {}
    for each in part.named:
        level, end = ends.setdefault(limit(each.text, "within"), {}), limit(each.text, "upto")
        if end in level:
            what = "have no 'upto'" if end == inf else "end at the same size"
            message = f"the message ranges '{level[end]}' and '{each.text}' {what}"
            hint = f"write another 'upto' for one, or leave it out ('{level[end]}: void' in a file that extends others)"
            findings.add("M107", message, each.place, hint)
        level[end] = each.text
    for level in (level for level in ends.values() if inf not in level):
        place = next(each.place for each in part.named if each.text == level[max(level)])
        findings.add("M107", "the largest messages have no range", place, "leave out its 'upto'")
    if inf not in ends:
        place = next(each.place for each in part.named if each.text in ends[max(ends)].values())
        findings.add("M107", "the farthest messages have no range", place, "leave out its 'within'")


def _check_caches(part: RawPart, figures: dict[str, Parameter], findings: Findings) -> None:
    """Each further cache is larger than the nearer ones."""

    def size(prefix: str) -> float:
        found = figures.get(f"{prefix}cache_size")
        return found.value if isinstance(found, Figure) else inf

    sizes = {"": size("")}
    for each in sorted(part.named, key=lambda name: size(f"{name.text}.")):
        own = size(f"{each.text}.")
        if own in sizes.values() or own < sizes[""]:
            message = f"the cache '{each.text}' is not larger than a nearer one"
            findings.add("M107", message, each.place, "the keys of the nearest cache are those of 'memory' itself")
        sizes[each.text] = own
