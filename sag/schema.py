"""The format of machine files: every key, its dimension, and whether it must be there.

Written by hand, so that a mistake in a file can be answered with its line and the nearest key. `PARTS` holds
one table for each kind of component; keys are dotted as in paths.
"""

from collections.abc import Mapping

from msgspec import Struct

from sag.topology import EMBEDDINGS, KINDS

FORMAT = 1
"""Version of the format; raised when a file of an older version would be read wrongly."""

MOST_PROCESSORS = 2**20
"""Def 14: any size up to this is accepted."""

KINDS_OF_NUMBER = ("int", "r4", "r8")

OPERATIONS = (
    *(f"{kind}.{name}" for kind in KINDS_OF_NUMBER for name in ("add", "mul", "div", "pow", "cmp")),
    *(f"{kind}.{name}" for kind in ("r4", "r8") for name in ("sqrt", "exp", "log", "sin")),
    *("convert", "logical", "load", "store", "index.1d", "index.2d"),
    *("loop.setup", "loop.iteration", "call", "assign", "guard"),
)
"""The operation classes that P prices.

``add`` is also subtraction and negation; ``cmp`` compares and branches and also prices ABS, MIN, MAX, SIGN
and MERGE; ``div`` of integers also MOD; ``sin`` stands for all other trigonometric and hyperbolic functions,
``log`` for LOG10; ``pow`` is a power that is not a small whole number (those are multiplications). ``load``
and ``store`` are cache hits (misses are M's), ``index.2d`` an index computation of rank 2 or more that is not
stepped by an induction variable, ``assign`` a scalar assignment, ``guard`` one ownership test. Complex
arithmetic is counted in real operations (`aag.ir.operations`).
"""

COLLECTIVES: Mapping[str, tuple[str, ...]] = {
    "broadcast": ("auto", "binomial", "linear"),
    "reduction": ("auto", "recursive_doubling", "binomial", "linear"),
    "concatenation": ("auto", "recursive_doubling", "binomial", "ring"),
    "transpose": ("auto", "pairwise", "ring"),
    "gather": ("auto", "binomial", "linear"),
    "scatter": ("auto", "binomial", "linear"),
    "barrier": ("auto", "recursive_doubling", "binomial", "linear"),
}
"""Collective -> the algorithms that it may be built by (Def 8); ``auto`` is the one that suits the topology."""

NOT_CALLED = frozenset(("barrier",))
"""Collectives that no node program calls; what a file says of them is there for the reader."""

FLAG = ("true", "false")


class Key(Struct, frozen=True, kw_only=True):
    """One key: a number of `dimension`, or one of the words of `words`.

    A key that is not `swept` shapes the machine (a size, a policy): one walk of the engine knows one value.
    """

    about: str
    dimension: str = ""
    words: tuple[str, ...] = ()
    required: bool = True
    default: str = ""
    """What holds where a file leaves it out."""
    swept: bool = True
    exported: bool = True
    """Whether a prediction can depend on it; what is not exported is there for the reader."""
    least: float = 0.0
    most: float = 1e18
    """Beyond any machine, but so far from the largest number that sums stay finite."""


Keys = Mapping[str, Key]


def _word(words: tuple[str, ...], about: str, *, default: str = "", required: bool = True) -> Key:
    return Key(words=words, about=about, required=required and not default, default=default, swept=False)


def _time(about: str, *, default: str = "") -> Key:
    return Key(dimension="time", about=about, required=not default, default=default)


def _shape(dimension: str, about: str, *, default: str = "", least: float = 1.0) -> Key:
    most = MOST_PROCESSORS if dimension == "count" else 2.0**60
    return Key(
        dimension=dimension, about=about, required=not default, default=default, swept=False, least=least, most=most
    )


def _clock(about: str, *, required: bool) -> Key:
    return Key(dimension="frequency", about=about, required=required, exported=False, least=1.0)


def _algorithm(collective: str, words: tuple[str, ...]) -> Key:
    return Key(words=words, about="how it is built, Def 8", swept=False, exported=collective not in NOT_CALLED)


def _software(collective: str) -> Key:
    about = "run-time software of each participant in a stage"
    return Key(dimension="time", about=about, exported=collective not in NOT_CALLED)


def _noted(dimension: str, about: str) -> Key:
    return Key(dimension=dimension, about=about, required=False, exported=False)


NODE_PROCESSOR: Keys = {
    "clock": _clock("processor clock, which a processor speed with unit is relative to", required=True),
    "peak_r4": _noted("rate", "peak rate, REAL*4"),
    "peak_r8": _noted("rate", "peak rate, REAL*8"),
} | {name: _time(f"one {name}") for name in OPERATIONS}

CACHE: Keys = {
    "cache_size": _shape("size", "data cache", least=1.0),
    "line": _shape("size", "cache line"),
    "associativity": _shape("count", "lines in a set"),
    "replacement": _word(("lru", "random"), "which line of a set is evicted"),
    "write_allocate": _word(FLAG, "whether a store that misses brings its line in"),
    "read_miss": _time("filling a line"),
    "write_miss": _time("a store that misses: per store, or per line where the cache allocates on writes"),
    "writeback": _time("evicting a dirty line, on top of the fill"),
}
"""The keys of one data cache. The memory itself has those of the nearest cache. Keys of a further cache follow its name
(``l2.read_miss``); the cost of a miss there is added to that of the misses of nearer caches."""

NODE_MEMORY: Keys = {
    **CACHE,
    "size": Key(dimension="size", about="main memory of a node", swept=False, exported=False, least=1.0),
    "usable": _shape("size", "what of it a program can use"),
    "page": _shape("size", "page of virtual memory"),
    "pack": Key(dimension="per_byte", about="gathering a strided section into a message buffer"),
    "copy": Key(dimension="per_byte", about="copying a contiguous section into a message buffer"),
    "instruction_cache": _noted("size", "instruction cache"),
    "tlb_entries": _shape("count", "pages whose translation is kept", default="no translation misses"),
    "tlb_associativity": _noted("count", "translations in a set"),
    "tlb_miss": _time("looking up a translation that is not kept", default="no translation misses"),
    "bandwidth": _noted("bandwidth", "peak bandwidth of main memory"),
}

NODE_IO: Keys = {"format_item": _time("formatting one item of a PRINT or READ list")}

NETWORK: Keys = (
    {
        "topology.kind": _word(KINDS, "how nodes are joined"),
        "topology.dimensions": _shape("count", "dimensions of a mesh or torus", default="2"),
        "topology.arity": _shape("count", "downward ports of a switch of a fat tree", default="2", least=2),
        "topology.taper": _shape("count", "downward per upward cable of a fat tree", default="1"),
        "embedding": _word(EMBEDDINGS, "on which node each rank runs (Def 14)", default="gray"),
        "send_model": _word(("blocking", "startup"), "how long a send keeps its processor busy (Def 6)"),
        "duplex": _word(("full", "half"), "one message per link and direction, or one per link"),
        "switching": _word(("circuit", "none"), "whether a message holds its route; none: no contention"),
        "exchange": _word(("sequential", "concurrent"), "directions of an exchange: in turn or together (Def 7)"),
        "exchange_factor": Key(dimension="number", about="a two-way exchange in units of a one-way message"),
        "overlap": Key(dimension="fraction", about="overlap factor f (Def 6)", most=1.0),
        "load": Key(dimension="fraction", about="load l of the network (Def 11)", most=1.0),
        "link_bandwidth": _noted("bandwidth", "hardware rate of a link and direction"),
    }
    | {f"collectives.{name}.algorithm": _algorithm(name, words) for name, words in COLLECTIVES.items()}
    | {f"collectives.{name}.stage_software": _software(name) for name in COLLECTIVES}
)

RANGE: Keys = {
    "upto": _shape("size", "largest message of the range", default="no limit: the last range"),
    "within": _shape("count", "most links of the route of a message of the range", default="no limit"),
    "startup": _time("start-up of the law: everything that does not depend on bytes or hops"),
    "call_overhead": _time("the part of the start-up that the sender computes", default="all of it"),
    "per_byte": Key(dimension="per_byte", about="transmission of a byte"),
    "per_hop": _time("each link of the route"),
    "receive_overhead": _time("what the receiving processor is busy with"),
}
"""The law of one range of message sizes and distances; its keys follow the name of the range (``long.startup``). A
machine that extends another leaves a range of that one out by ``short: void``."""

LINK: Keys = {
    "startup": _time("one message to or from the host"),
    "per_byte": Key(dimension="per_byte", about="transmission of a byte to or from the host"),
}

HOST_PROCESSOR: Keys = {"clock": _clock("clock of the host", required=False)}

HOST_MEMORY: Keys = {"size": _noted("size", "main memory of the host")}

HOST_IO: Keys = {
    "load": _time("allocating the machine and loading the node program (Def 1: never inside time_s)"),
    "file_rate": _noted("bandwidth", "rate of one I/O node"),
    "file_block": _noted("time", "one random block of a file"),
}

PARTS: Mapping[tuple[str, str], Keys] = {
    ("node", "processor"): NODE_PROCESSOR,
    ("node", "memory"): NODE_MEMORY,
    ("node", "io"): NODE_IO,
    ("network", "network"): NETWORK,
    ("link", "network"): LINK,
    ("host", "processor"): HOST_PROCESSOR,
    ("host", "memory"): HOST_MEMORY,
    ("host", "io"): HOST_IO,
}
"""(role of the unit, component) -> its keys. Any other component can only be compound or void."""

TOP_KEYS = ("format", "name", "title", "extends", "processors", "sources", "notes", "compiler", "fit", "system")
PROCESSORS_KEYS = ("default", "largest_built")
UNIT_KEYS = ("id", "title", "role", "processor", "memory", "network", "io", "units")
FIGURE_KEYS = ("value", "range", "group", "source", "certainty", "remark")
"""Keys of a figure written as a mapping; `source`, `certainty` and `group` may also stand above, for all
below, and `range` as factors, for the estimated figures below that have none of their own."""


def _reserved(keys: Keys) -> frozenset[str]:
    return frozenset(key.split(".")[0] for key in keys) | {"ranges", "caches", *FIGURE_KEYS}


class NamedGroups(Struct, frozen=True, kw_only=True):
    """Groups of a component that have names of their own, such as message ranges: below which key they stand, what one
    is called, its keys, and the one of these that every group has and the component has nowhere else below a name."""

    below: str
    noun: str
    keys: Keys
    mark: str
    reserved: frozenset[str]
    """Names that are not allowed, because the component has keys of these names."""


NAMED: Mapping[tuple[str, str], NamedGroups] = {
    ("network", "network"): NamedGroups(
        below="ranges", noun="message range", keys=RANGE, mark="startup", reserved=_reserved(NETWORK)
    ),
    ("node", "memory"): NamedGroups(
        below="caches", noun="cache", keys=CACHE, mark="read_miss", reserved=_reserved(NODE_MEMORY)
    ),
}
"""(role of the unit, component) -> its named groups."""

BELOW = frozenset(each.below for each in NAMED.values())
"""The keys below which named groups stand; paths leave them out."""


def keys_of(role: str, component: str, names: tuple[str, ...] = ()) -> Keys:
    """The keys of one component, those of its named groups included; empty where none can stand."""
    keys = dict(PARTS.get((role, component), {}))
    if groups := NAMED.get((role, component)):
        keys |= {f"{name}.{key}": spec for name in names for key, spec in groups.keys.items()}
    return keys


def plain_word(text: str, key: Key) -> str:
    """A word as the schema spells it: where a flag is wanted, yes and on are true, no and off false."""
    if key.words != FLAG:
        return text
    return {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(text, text)


STANCES = ("yes", "no", "undecided")
"""What a machine file can say of a transformation: undecided where no source tells."""

COMPILER: Keys = {
    "hoist": _word(STANCES, "moving communication out of loops", required=False),
    "coalesce": _word(STANCES, "one message for all references to an array", required=False),
    "redundant": _word(STANCES, "leaving out messages whose data have not changed", required=False),
    "reductions": _word(STANCES, "recognising reductions in DO loops without REDUCTION", required=False),
    "remaps": _word(STANCES, "not moving values at REALIGN and REDISTRIBUTE that are not needed", required=False),
    "interchange": _word(STANCES, "ordering the loops of parallel constructs for stride 1", required=False),
    "masks": _word(
        STANCES, "testing a mask in the loops whose indices it depends on, which then go outside", required=False
    ),
    "invariant": _word(STANCES, "moving invariant operations out of loops", required=False),
    "strength": _word(
        STANCES, "stepping addresses by induction variables instead of computing them anew", required=False
    ),
    "library": _word(
        STANCES, "reductions by a run-time library, which computes addresses from descriptors", required=False
    ),
    "pack": _word(STANCES, "copying contiguous sections to a message buffer, too", required=False),
    "fuse": _word(("no",), "joining loops, which is not modelled", required=False),
    "inline": _word(("no",), "putting procedures in the place of their calls, which is not modelled", required=False),
}
"""What the compiler of the machine does to a program: names of optimisations, which a user may switch. What is not
given, or undecided, is done for hoist, coalesce, redundant, reductions, remaps, interchange and invariant, and not done
for the others."""
