"""All predictions of the benchmarks, and what differs between two versions of esp.

python -m tests.end_to_end.predictions write FILE [PROGRAM...]
python -m tests.end_to_end.predictions compare FILE FILE

Messages, bytes, misses, executions and the order of the distributions must be the same, times to 1e-9 of `time_s`.
"""

import json
import sys
from pathlib import Path

import numpy as np

from esp.api import Prediction, predict
from esp.explore.compare import compare
from esp.locate import program_names, system_names

SYSTEMS = system_names()
RANKED_ON = "ipsc860"
"""Where distributions are compared."""
PROCS = (1, 3, 4, 16)
COMPARED = (4, 6)
TOLERANCE = 1e-9
VALUES = {"gausspivot_array": {"row": 7}, "gausspivot_do": {"row": 7}}
"""What data decide, by program."""


def told(found: Prediction) -> dict[str, object]:
    """What a prediction says, as far as it must not change by itself."""
    return {
        "time_s": np.atleast_1d(found.time_s).tolist(),
        "counts": [found.messages, found.bytes, found.iterations, found.memory_bytes, found.complete],
        "assumed": sorted(each.text for each in found.assumptions),
        "aaus": {
            f"{each.id} {each.kind} line {each.span.line}": {
                "counts": [each.executions, each.misses, *((each.comm.messages, each.comm.bytes) if each.comm else ())],
                "parts_s": [
                    np.atleast_1d(each.parts.computation_s).tolist(),
                    np.atleast_1d(each.parts.communication_s).tolist(),
                    np.atleast_1d(each.parts.overhead_s).tolist(),
                    np.atleast_1d(each.parts.waiting_s).tolist(),
                ],
            }
            for each in found.aaus
        },
    }


def predictions(programs: list[str]) -> dict[str, object]:
    """Predictions by program, system and processors, and the order of the distributions."""
    result: dict[str, object] = {}
    for program in programs:
        print(program, file=sys.stderr, flush=True)
        values = VALUES.get(program, {})
        for system in SYSTEMS:
            for procs in PROCS:
                result[f"{program} on {system} x {procs}"] = told(predict(program, system, procs, set=values))
        for procs in COMPARED:
            ranked = compare(program, RANKED_ON, procs=procs, size="none", set=values)
            for each in ranked.ranked:
                result[f"{program} {each.shown} {each.grid} on {RANKED_ON} x {procs}"] = told(each.prediction)
            result[f"order of {program} x {procs}"] = [f"{each.shown} {each.grid}" for each in ranked.ranked]
    return result


def differences(one: object, other: object, scale: float, path: str) -> list[str]:
    """Where two results differ. `scale`: the time that differences of seconds are held against."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = [f"{path}: only in one: {key}" for key in one.keys() ^ other.keys()]
        if "time_s" in one:
            scale = max(one["time_s"])
        for key in one.keys() & other.keys():
            found += differences(one[key], other[key], scale, f"{path} / {key}")
        return found
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            each
            for at, (mine, theirs) in enumerate(zip(one, other, strict=True))
            for each in differences(mine, theirs, scale, f"{path}[{at}]")
        ]
    if isinstance(one, float) and isinstance(other, float):
        allowed = TOLERANCE * (scale if "_s" in path else max(abs(one), 1.0))
        return [] if abs(one - other) <= allowed else [f"{path}: {one!r} -> {other!r}"]
    return [] if one == other else [f"{path}: {one!r} -> {other!r}"]


def main(words: list[str]) -> int:
    """The command."""
    match words:
        case ["write", file, *programs]:
            Path(file).write_text(json.dumps(predictions(programs or sorted(program_names())), indent=1))
            return 0
        case ["compare", before, after]:
            first, second = (json.loads(Path(each).read_text()) for each in (before, after))
            found = differences(first, second, 0.0, "")
            print("\n".join(found[:200]))
            print(f"{len(found)} differences in {len(second)} results")
            return 3 if found else 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
