"""Is a machine description plausible? Nothing here prevents a prediction; it says what to look at again."""

from collections.abc import Iterator
from itertools import pairwise

from sag.errors import NOWHERE, Finding, MachinePlace
from sag.scenario import export
from sag.unit import COMPONENTS, LETTERS, Choice, Figure, Parameter, Simple, System, SystemUnit

JUMP = 2.0
"""A protocol switch that more than doubles the time of a message is worth a second look."""


def check(system: System) -> tuple[Finding, ...]:
    """Doubts (``M2xx``) and notes (``M3xx``) about a description, in the order of the file."""
    found = [
        *_components(system),
        *_law(system),
        *_geometry(system),
        *_prices(system),
        *_processors(system),
        *_guesses(system),
    ]
    return tuple(sorted(found, key=lambda each: (each.code[:2], each.line, each.column)))


def _doubt(code: str, message: str, place: MachinePlace = NOWHERE, hint: str = "") -> Finding:
    return Finding(code=code, message=message, place=place, hint=hint)


def _components(system: System) -> Iterator[Finding]:
    """What a prediction could not charge."""
    wanted = (("node", "processor"), ("node", "memory"), ("node", "io"), ("network", "network"))
    for role, component in (*wanted, ("link", "network"), ("host", "io")):
        found = system.find(role)
        if found is None or not isinstance(found[1].components[component], Simple):
            message = f"no unit of role '{role}' describes {LETTERS[component]}: it will not be charged"
            yield _doubt("M201", message, MachinePlace(system.file))


def _figures(system: System, role: str, component: str) -> dict[str, Parameter]:
    found = system.find(role)
    content = found[1].components[component] if found else None
    return dict(content.figures) if isinstance(content, Simple) else {}


def _value(figures: dict[str, Parameter], key: str) -> float | None:
    figure = figures.get(key)
    return figure.value if isinstance(figure, Figure) else None


def _place(figures: dict[str, Parameter], key: str) -> MachinePlace:
    return figures[key].place if key in figures else NOWHERE


def _law(system: System) -> Iterator[Finding]:
    """Larger and farther messages take longer, also across protocols; no range beats the wire."""
    network = export(system).network
    if network is None:
        return
    figures = _figures(system, "network", "network")
    for before, after in pairwise(network.ranges):
        if before.upto_hops != after.upto_hops:
            continue
        size = before.upto_bytes
        name = next((key for key in figures if key.endswith(".upto") and _value(figures, key) == size), "")
        below, above = (
            float(law.call_overhead_s[0] + law.startup_s[0] + law.receive_overhead_s[0] + law.per_hop_s[0])
            + float(law.per_byte_s[0]) * size
            for law in (before, after)
        )
        if above < below:
            message = f"a message of {size + 1:g} B is faster than one of {size:g} B"
            yield _doubt("M202", message, _place(figures, name), "check 'upto' and the start-ups")
        elif above > JUMP * below:
            one = f"one of {size:g} B"
            longer = f"{above / below:.1f} times as long as {one}" if below else f"some time, {one} none"
            message = f"a message of {size + 1:g} B takes {longer}"
            yield _doubt("M203", message, _place(figures, name), "is the protocol switch really that large?")
    wire = _value(figures, "link_bandwidth")
    for key in (key for key in figures if key.endswith(".per_byte")):
        per_byte = _value(figures, key)
        if per_byte is not None and (per_byte == 0 or (wire is not None and 1 / per_byte > wire * 1.0001)):
            yield _doubt("M204", f"'{key}' is faster than the link", _place(figures, key))


def _geometry(system: System) -> Iterator[Finding]:
    """Caches and pages come in powers of two, and sets are whole."""
    memory = _figures(system, "node", "memory")
    for key in (key for key in memory if key.rpartition(".")[2] in ("cache_size", "line", "page")):
        value = _value(memory, key)
        if value is not None and (value != int(value) or int(value) & (int(value) - 1)):
            yield _doubt("M205", f"'{key}' is {value:.12g} B, which is not a power of two", _place(memory, key))
    for prefix in (key.removesuffix("cache_size") for key in memory if key.endswith("cache_size")):
        size, line, ways = (_value(memory, prefix + key) for key in ("cache_size", "line", "associativity"))
        if size and line and ways and size % (line * ways):
            message = f"{size:.12g} B do not divide into sets of {ways:g} lines of {line:g} B"
            yield _doubt("M205", message, _place(memory, f"{prefix}cache_size"))
    usable, whole = _value(memory, "usable"), _value(memory, "size")
    if usable is not None and whole is not None and usable > whole:
        yield _doubt("M206", "the usable memory exceeds the memory", _place(memory, "usable"))


def _prices(system: System) -> Iterator[Finding]:
    """Orders that hold on every processor built so far."""
    processor = _figures(system, "node", "processor")
    for kind in ("int", "r4", "r8"):
        for cheap, dear in (("add", "div"), ("mul", "div"), ("mul", "pow")):
            low, high = _value(processor, f"{kind}.{cheap}"), _value(processor, f"{kind}.{dear}")
            if low is not None and high is not None and high < low:
                message = f"{kind}.{dear} is cheaper than {kind}.{cheap}"
                yield _doubt("M207", message, _place(processor, f"{kind}.{dear}"))
    load, miss = _value(processor, "load"), _value(_figures(system, "node", "memory"), "read_miss")
    if load is not None and miss is not None and miss < load:
        place = _place(_figures(system, "node", "memory"), "read_miss")
        yield _doubt("M207", "filling a cache line is cheaper than a hit", place)


def _processors(system: System) -> Iterator[Finding]:
    if system.default_processors > system.largest_built:
        message = f"the default of {system.default_processors} processors exceeds the largest machine built"
        yield _doubt("M208", message, MachinePlace(system.file))


def _guesses(system: System) -> Iterator[Finding]:
    """How much of each component is only estimated."""
    for path, unit in system.root.walk():
        for component in COMPONENTS:
            content = unit.components[component]
            if isinstance(content, Simple):
                yield from _guesses_of(".".join(path) or unit.name, unit, component, content)


def _guesses_of(path: str, unit: SystemUnit, component: str, content: Simple) -> Iterator[Finding]:
    numbers = [each for each in content.figures.values() if not isinstance(each, Choice)]
    guessed = [each for each in numbers if each.estimated]
    if guessed:
        message = f"{len(guessed)} of {len(numbers)} figures of {path} {LETTERS[component]} are only estimated"
        hint = "measure some of them first" if len(guessed) == len(numbers) and unit.role == "node" else ""
        yield _doubt("M301", message, guessed[0].place, hint)
