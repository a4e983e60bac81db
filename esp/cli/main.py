"""`esp`: runs what is typed, and turns whatever happens into an exit code (Def 20).

What it needs it imports where Ctrl-C is waited for: Python itself would answer that with a traceback.
"""

import gc
import os
import sys

from esp.version import __version__

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""

PIPE_CLOSED = 141
"""What a shell reports for a command whose reader went away."""


NUMPY = {"OPENBLAS_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}
"""Environment of NumPy: starting threads for products of small matrices costs more than they save, and handing out and
taking back huge pages costs a prediction for a million processors as much system time as all else."""

FREED_BYTES = 1 << 28
"""Freed memory that stays with the process for its next arrays: giving back those of a replay of the cache and asking
for them again, page by page, took a tenth of a comparison."""

OBJECTS = 2_000_000
"""New objects between two searches for cyclic garbage: far more than a prediction makes."""


def main(argv: list[str] | None = None) -> int:
    """Run the command; the result is its exit code.

    Without `argv` the process is ours and ends here: looking for cyclic garbage, which takes a fifth of the time of a
    small prediction, is left to the operating system. NumPy is told what suits us, unless the user has told it already.
    """
    try:
        if argv is not None:
            return _guarded(list(argv))
        for name, value in NUMPY.items():
            os.environ.setdefault(name, value)
        gc.set_threshold(OBJECTS)
        from esp.cli.leaving import leave_in_order, left

        leave_in_order()
        if len(sys.argv) > 2:  # there is something to work on
            _keep_freed_memory()
        try:
            return _guarded(sys.argv[1:])
        finally:
            left()
            gc.freeze()
    except KeyboardInterrupt:  # wherever it comes: while modules are imported, or while an error is told
        sys.stderr.write("\n")
        return INTERRUPTED


def _keep_freed_memory() -> None:
    """Tell the allocator so (mallopt(3)), where it is that of the GNU C library."""
    import ctypes

    trim_threshold, mmap_threshold = -1, -3
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(trim_threshold, FREED_BYTES)
        mallopt(mmap_threshold, 1 << 25)  # the highest there is: smaller arrays come from what was freed


def _guarded(words: list[str]) -> int:
    """Run the command and turn whatever happens, but for Ctrl-C, into an exit code."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:  # a stream that the shell has closed (>&-)
        import io

        sys.stdin = sys.stdin or io.StringIO()
        sys.stdout = sys.stdout or io.StringIO()
        sys.stderr = sys.stderr or io.StringIO()
    try:
        code = _run(words)
        sys.stdout.flush()
    except SystemExit as end:  # argparse after --help and --version
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BrokenPipeError:
        # The interpreter flushes once more at its end; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (whatever it is, a user gets a paragraph and not a traceback)
        from esp.cli.failure import report

        return report(error, words)
    return code


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"esp {__version__}\n")
        return 0
    from esp.cli.parser import run

    return run(words)
