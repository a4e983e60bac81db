"""`esp advise` against predicting every choice: predictions that bounds save, and the time that is left."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from benchmarks.measure import Figure, calls
from esp import api
from esp.explore.advise import advise_source, candidates_of, request_for
from esp.prediction import first
from sag.unit import System

PROGRAMS: Mapping[str, Mapping[str, int]] = {"laplace": {}, "redblack": {}, "gauss": {"n": 64}}
"""Program -> values; gauss is walked iteration by iteration, so a smaller one says as much."""

SEARCHES = ((8,), (4, 8, 16, 32, 64))


RUNS = 3


def _all(source: api.Source, system: System, wanted: Sequence[api.Request]) -> list[float]:
    """Every choice predicted."""
    return [first(api.predict_source(source, system, each).time_s) for each in wanted]


def figures() -> Iterator[Figure]:
    """For each program and search: the share of the predictions that are made, and of the time that all would take."""
    system = api.load_machine("ipsc860")
    for program, values in PROGRAMS.items():
        source, request = api.read_source(program), api.requested(set=values)
        for numbers in SEARCHES:
            if program == "gauss" and len(numbers) > 1:
                continue
            candidates, _ = candidates_of(source, system, request, numbers)
            wanted = [request_for(each, request) for each in candidates]
            found = advise_source(source, system, request, numbers)
            if found.best.time_s != min(_all(source, system, wanted)):
                raise RuntimeError(f"{program}: the search has lost the optimum")
            searched, everything = calls(
                RUNS, partial(advise_source, source, system, request, numbers), partial(_all, source, system, wanted)
            )
            on = f"{program}, {len(candidates)} choices, P = {numbers[0]}" + (f"..{numbers[-1]}" * (len(numbers) > 1))
            yield Figure(f"{on}: predictions made", len(found.ranked), "")
            yield Figure(f"{on}: share of predictions", len(found.ranked) / len(candidates), "", 0.5)
            yield Figure(f"{on}: share of the time of all", searched / everything, "", 1.0)
