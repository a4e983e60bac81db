"""Measure everything and print the table; names on the command line choose: ``python -m benchmarks process walk``."""

import sys
from collections.abc import Callable, Iterator, Mapping

from benchmarks import (
    bench_advise,
    bench_choices,
    bench_emit,
    bench_large,
    bench_length,
    bench_process,
    bench_tui,
    bench_walk,
)
from benchmarks.measure import Figure

ALL: Mapping[str, Callable[[], Iterator[Figure]]] = {
    "process": bench_process.figures,
    "walk": bench_walk.figures,
    "large": bench_large.figures,
    "length": bench_length.figures,
    "tui": bench_tui.figures,
    "choices": bench_choices.figures,
    "emit": bench_emit.figures,
    "advise": bench_advise.figures,
}


def main() -> int:
    """Print each figure as soon as it is there; the exit code says only whether all could be measured."""
    chosen = sys.argv[1:] or list(ALL)
    strangers = [name for name in chosen if name not in ALL]
    if strangers:
        print(f"there is no benchmark {strangers[0]}: {', '.join(ALL)}", file=sys.stderr)
        return 2
    print(f"{'processor time, medians':58} {'measured':>9} {'':3} {'bound':>9}")
    for name in chosen:
        for figure in ALL[name]():
            print(figure, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
