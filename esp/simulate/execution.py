"""Programs that are built with counters, and run on a simulated machine."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.errors import PredictionError
from esp.simulate.instrument import Piece
from esp.tools import call, tool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RUNTIME = Path(__file__).with_name("esp_counting.f90")


class ProcessorRecord(Struct, frozen=True, kw_only=True, eq=False):
    """What a processor counted. `sent` (M, 2): receiver and bytes of each message."""

    end_s: float
    often: Ints
    packed_bytes: int
    copied_bytes: int
    combined: Ints
    sent: Ints


class SimulatedRun(Struct, frozen=True, kw_only=True, eq=False):
    """A run of a program on a simulated machine."""

    answer: str
    """What it printed."""
    records: tuple[ProcessorRecord, ...]
    """By rank."""

    @property
    def time_s(self) -> float:
        """When the last processor ended."""
        return max(each.end_s for each in self.records)

    @property
    def messages(self) -> Ints:
        """(M, 3) sender, receiver and bytes of each message."""
        parts = [np.c_[np.full(len(each.sent), rank), each.sent] for rank, each in enumerate(self.records)]
        return np.concatenate(parts).astype(np.int64)


def executed(
    executable: Path,
    procs: int,
    figures: str,
    platform: str,
    hosts: str,
    options: Sequence[str],
    limit_s: float = 0.0,
    text: str = "",
) -> SimulatedRun:
    """Run an executable under SimGrid.

    Args:
        executable: with counters.
        procs: how many processors.
        figures: the file of figures.
        platform: the file that describes the machine to SimGrid.
        hosts: the host of each rank, line by line.
        options: of smpirun.
        limit_s: how long the simulation may take; 0: as long as it takes.
        text: what the program reads.

    Raises:
        PredictionError: a tool is missing, or the run fails.
    """
    folder = executable.parent
    files = {name: folder / name for name in ("platform.xml", "hosts", "figures", "records")}
    files["platform.xml"].write_text(platform)
    files["hosts"].write_text(hosts)
    files["figures"].write_text(figures)
    files["records"].unlink(missing_ok=True)
    words = [tool("smpirun"), "-np", str(procs), "-platform", str(files["platform.xml"])]
    words += ["-hostfile", str(files["hosts"]), "--log=root.thresh:critical", *options, str(executable)]
    told = {f"ESP_{name.upper()}": str(files[name]) for name in ("figures", "records")}
    answer = call(words, "the simulation fails", folder, environment=told, limit_s=limit_s, text=text)
    records = _records(files["records"])
    if len(records) != procs:
        raise PredictionError(f"the simulation ends early on {procs} processors.", why=answer[-500:])
    return SimulatedRun(answer=answer, records=tuple(records[rank] for rank in range(procs)))


def _records(file: Path) -> dict[int, ProcessorRecord]:
    data = np.fromfile(file, "<i8") if file.exists() else np.zeros(0, "<i8")
    found: dict[int, ProcessorRecord] = {}
    at = 0
    while at < data.size:
        rank, end_s = int(data[at]), float(data[at + 1 : at + 2].view("<f8")[0])
        often, at = _list(data, at + 2)
        packed, copied = int(data[at]), int(data[at + 1])
        combined, at = _list(data, at + 2)
        number = int(data[at])
        sent = data[at + 1 : at + 1 + 2 * number].reshape(-1, 2)
        at += 1 + 2 * number
        found[rank] = ProcessorRecord(
            end_s=end_s, often=often, packed_bytes=packed, copied_bytes=copied, combined=combined, sent=sent
        )
    return found


def _list(data: Ints, at: int) -> tuple[Ints, int]:
    number = int(data[at])
    return data[at + 1 : at + 1 + number], at + 1 + number


def counts_of(pieces: Sequence[Piece], record: ProcessorRecord, line_of: Sequence[int]) -> Mapping[int, Counter[str]]:
    """Operations of a processor by line of the source. `line_of`: the source line of each line of the text."""
    found: dict[int, Counter[str]] = {}
    for piece, times in zip(pieces, record.often.tolist(), strict=True):
        for at, does in piece.does.items():
            counter = found.setdefault(line_of[at - 1], Counter())
            for name, number in does.items():
                counter[name] += number * times
    return found
