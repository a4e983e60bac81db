"""How to interpret: what the user may choose beside the program and the machine."""

from collections.abc import Mapping

from msgspec import Struct, field

from aag.budget import STEPS
from aag.functional.tables import LoopTrips
from aag.ir.evaluate import Value

SHARE_PARTS = 1 << 20
"""Shares of masks are whole numbers of such parts: their products with counts are exact, as formulas need them."""


class Setting(Struct, frozen=True, kw_only=True):
    """Options of an interpretation.

    `values` holds what the user gave for variables that cannot be computed; the name
    ``trips_LINE`` gives the trip count of the while loop at that line. `branches`: line of an IF -> weights of its
    branches, where its condition cannot be resolved (without: equal weights, announced). `masks`: name of the mask of a
    nest (`interpreter.models.asking`) -> share of the iterations for which it holds (without: half).
    """

    io: bool = True
    """Whether formatting and the host link are charged (Def 2)."""
    contention: bool = True
    """Whether messages wait for busy links; the machine's switching must ask for it, too."""
    events: bool = False
    """Whether messages of every operation are followed one by one, also where none of them can meet another."""
    memory: bool = True
    """Whether cache misses are charged."""
    addresses: Mapping[str, int] = field(default_factory=dict)
    """Array -> byte address of its part, on every processor. An array of unknown address starts a line, and no
    conflicts between arrays in sets of the cache are assumed."""
    overlap: float | None = None
    """The overlap factor f for all scenarios; None: the machine's (Def 6)."""
    force_unroll: bool = False
    """Walk every iteration of every loop with communication (D5)."""
    timed: bool = False
    """Keep metrics only between the first and the last reading of the clock (Def 5)."""
    values: Mapping[str, Value] = field(default_factory=dict)
    unsteady: frozenset[str] = frozenset()
    """Names of `values` that hold in bounds and subscripts, but not in conditions."""
    trips: Mapping[int, LoopTrips] = field(default_factory=dict)
    """Line of a loop that data end -> its computed trip count, where `values` has none."""
    asks_trips: bool = False
    """Whether `UnresolvedError` asks for the trip counts of loops whose EXITs depend on data, where `trips` and
    `uncomputed` have none; otherwise an EXIT is assumed to be never taken."""
    uncomputed: Mapping[int, str] = field(default_factory=dict)
    """Line of a loop whose trip count cannot be computed -> why."""
    branches: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    masks: Mapping[str, float] = field(default_factory=dict)
    asks_shares: bool = False
    """Whether `UnresolvedError` asks in the end for the shares of conditions that data decide, where neither `branches`
    and `masks` nor `unshared` have them."""
    given_shares: frozenset[str] = frozenset()
    """Names of conditions whose shares rest on what the user gave."""
    left_shares: frozenset[str] = frozenset()
    """Those of them that have only what the given shares leave."""
    unshared: frozenset[str] = frozenset()
    """Names of conditions for which no share can be found."""
    partial: bool = True
    """Whether an incomplete result is wanted; if not, loops end soon once something is left out (`PARTIAL`)."""
    longest_period: int = 16
    """Largest number of iterations after which a loop may repeat itself (D5)."""
    loop_bytes: int = 256_000_000
    """Memory for what is kept of the latest iterations while a period is sought."""
    detail_cells: int = 1_000_000
    """Processors x AAUs up to which metrics are kept for each AAU and processor (D9)."""
    detail_bytes: int = 256_000_000
    """The same bound in bytes, which also counts scenarios."""
    contention_messages: int = 131_072
    """Messages in flight at once up to which links are followed; beyond it none waits, which is announced."""
    walked_iterations: int = 200_000
    """Iterations that may be walked in all, one for each 4096 clocks; beyond it the program is refused."""
    scalar_steps: int = 2 * STEPS
    """Statements that may be carried out to know the scalars that decide the flow (D8)."""
    while_iterations: int = 100_000
    """Iterations after which a while loop is taken to be endless."""
