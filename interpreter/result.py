"""What a prediction says: frozen data, no text. `esp.output` turns it into profiles, JSON, CSV.

All times are arrays of shape (S,), one value for each what-if scenario (S = 1 for a plain run). Times of lines,
AAUs and totals are means over processors, so parts add up to lines and lines to `time_s` (Def 4); beside them
stand the largest value over processors and its processor.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.diagnostics import Span

Array = NDArray[np.float64]


class Parts(Struct, frozen=True, kw_only=True):
    """The four categories (Def 2), each (S,), in seconds, means over processors."""

    computation_s: Array
    communication_s: Array
    overhead_s: Array
    waiting_s: Array

    @property
    def time_s(self) -> Array:
        """The sum of the four."""
        return self.computation_s + self.communication_s + self.overhead_s + self.waiting_s


class MessageSummary(Struct, frozen=True, kw_only=True):
    """What one Comm or SyncSeq AAU did: for the why-line and `esp explain`.

    `pattern`: overlap_shift, multicast, reduction, ...; `executions`: how often the AAU ran; `messages`, `bytes`:
    in total over all processors and executions; `sizes`: (bytes of a message, how many in one typical execution)
    of the commonest sizes, largest first, where typical is the first that sends anything; `varies`: what is different
    in other executions, nothing, the "sizes" of messages alone, or their number, too ("messages"); `hops`: largest
    number of hops of a message; `contended`: some message waited for a link.
    """

    array: str
    pattern: str
    executions: int
    messages: int
    bytes: int
    sizes: tuple[tuple[int, int], ...]
    varies: Literal["", "sizes", "messages"] = ""
    hops: int
    contended: bool


class AauMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of one AAU, the AAUs inside it not included (`parts`) and included (`total_s`).

    `max_s` (S,) is the largest total of a processor, `max_processor` that processor in scenario 0; both are None
    where processors x AAUs is too large to keep them (D9). `clock_s` is the largest clock when it last ended.
    """

    id: int
    kind: str
    label: str
    span: Span
    parent: int | None
    parts: Parts
    total_s: Array
    max_s: Array | None
    max_processor: int | None
    clock_s: Array
    executions: int
    comm: MessageSummary | None
    misses: float
    """Cache lines missed, total over processors and executions (scenario 0)."""


class LineMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of one source line (Def 4)."""

    file: str
    line: int
    parts: Parts
    max_s: Array | None
    max_processor: int | None
    messages: int
    bytes: int
    aaus: tuple[int, ...]

    @property
    def time_s(self) -> Array:
        """The sum of the parts."""
        return self.parts.time_s


class PerProcessor(Struct, frozen=True, kw_only=True):
    """Per processor, shape (S, P): the clock at its own end and the four categories (they add up to time_s)."""

    end_s: Array
    computation_s: Array
    communication_s: Array
    overhead_s: Array
    waiting_s: Array


class Assumption(Struct, frozen=True, kw_only=True):
    """Something the prediction rests on that neither source nor machine description settles."""

    code: str
    text: str
    span: Span | None = None


class Prediction(Struct, frozen=True, kw_only=True):
    """The result of interpreting a program on a machine."""

    program: str
    file: str
    lines_text: tuple[str, ...]
    system: str
    processors: int
    grid: tuple[int, ...]
    scenarios: int
    constants: Mapping[str, object]
    """PARAMETER values used."""
    time_s: Array
    timed_s: Array | None
    load_s: Array
    parts: Parts
    io_s: Array
    messages: int
    bytes: int
    lines: tuple[LineMetrics, ...]
    aaus: tuple[AauMetrics, ...]
    per_processor: PerProcessor
    imbalance: Array
    """Largest / mean computation over processors (1 is perfect balance)."""
    memory_bytes: int
    """The most that a processor needs for its data, overlap areas not included."""
    memory_usable_bytes: float | None
    estimated_share: Array
    """Share of time_s that rests on figures which are only estimated (Def 19), between 0 and 1."""
    iterations: int
    """Iterations of synchronised loops the program makes."""
    iterations_walked: int
    """How many of them the engine walked (the others were added in closed form, D5)."""
    assumptions: tuple[Assumption, ...]
    complete: bool
