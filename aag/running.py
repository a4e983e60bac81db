"""Programs of others: the one place that starts them, with bounds, and leaves nothing of them behind.

Between esp and each program stands a process of `guard.py`. It ends the program and whatever that has started at the
time limit, at the memory limit, and as soon as esp ends, in whatever way: on an error, on Ctrl-C, on SIGTERM, SIGHUP
or SIGKILL. It also removes temporary files, those of the program and those of `scratch`.
"""

import contextlib
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

GUARD = Path(__file__).with_name("guard.py")

_held: list[int] = []
"""File descriptors that guards of programs keep, too, such as pipes of the folders of `scratch`: programs end first."""


class Limits(Struct, frozen=True, kw_only=True):
    """How far a program may go; 0: as far as it likes."""

    seconds: float = 600.0
    memory_bytes: int = 0
    """Of all its processes together; 0: three quarters of what this computer has."""
    output_bytes: int = 1 << 28
    """On each of its two output channels."""


class Ended(Struct, frozen=True, kw_only=True):
    """What became of a program."""

    code: int
    """Its exit code; negative: the signal that ended it."""
    output: str
    errors: str
    beyond: str = ""
    """The limit at which it was ended: `time`, `memory` or `output`."""


def run(
    words: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    text: str = "",
    limits: Limits | None = None,
    bare: bool = False,
) -> Ended:
    """Run a program to its end.

    Args:
        words: the program and its arguments.
        folder: where it runs.
        environment: set besides what is set already.
        text: its standard input.
        limits: where it is ended; those of `Limits` unless given.
        bare: whether it gets an empty environment.
    """
    limits = limits or Limits()
    memory = limits.memory_bytes or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 * 3
    with _guarded((str(limits.seconds), str(memory), "bare" if bare else "full", *words), folder, environment) as guard:
        output, errors, full = _spoken(guard.process, text, limits.output_bytes)
        if full:
            guard.release()
        guard.process.wait()
        word, _, code = guard.said().partition(" ")
    beyond = "output" if full else "" if word == "ended" else word
    return Ended(code=int(code) if code else -1, output=output, errors=errors, beyond=beyond)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A new folder for temporary files. It is removed at the end of the context, or with the end of this process and
    the programs that it runs.

    Raises:
        OSError: no folder for temporary files is writable.
    """
    with _guarded(("0", "0", "full"), None, None) as guard:
        word, _, name = guard.said().partition(" ")
        if word != "folder":
            raise OSError(None, "cannot create a folder for temporary files: set TMPDIR to a writable one")
        with held(guard.control):
            yield Path(name)


@contextlib.contextmanager
def held(descriptor: int) -> Iterator[None]:
    """Keep a file descriptor open in the guards of programs started meanwhile, so until these programs have ended."""
    _held.append(descriptor)
    try:
        yield
    finally:
        _held.remove(descriptor)


class _Guard:
    """A process of `guard.py` with our ends of its first two pipes."""

    def __init__(self, process: "subprocess.Popen[bytes]", control: int, report: int) -> None:
        self.process = process
        self.control = control
        self._report = report
        self._released = False

    def release(self) -> None:
        """Let it end its program, and itself."""
        if not self._released:
            self._released = True
            os.close(self.control)

    def said(self) -> str:
        """Its one line."""
        found = b""
        while part := os.read(self._report, 4096):
            found += part
        return found.decode("utf-8", "surrogateescape").strip()

    def close(self) -> None:
        """Release it and wait for its end."""
        self.release()
        os.close(self._report)
        for each in (self.process.stdin, self.process.stdout, self.process.stderr):
            if each is not None:
                with contextlib.suppress(BrokenPipeError):
                    each.close()
        self.process.wait()


@contextlib.contextmanager
def _guarded(words: Sequence[str], folder: Path | None, environment: Mapping[str, str] | None) -> Iterator[_Guard]:
    theirs, control = os.pipe()
    report, reported = os.pipe()
    pipes = (theirs, reported, *_held)
    command = [sys.executable, "-I", "-S", str(GUARD), ",".join(map(str, pipes)), *words]
    try:
        process = subprocess.Popen(  # noqa: S603 (no shell; what it runs is the caller's choice)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            pass_fds=pipes,
            start_new_session=True,
        )
    except BaseException:
        os.close(control)
        os.close(report)
        raise
    finally:
        os.close(theirs)
        os.close(reported)
    guard = _Guard(process, control, report)
    try:
        yield guard
    finally:
        guard.close()


def _spoken(process: "subprocess.Popen[bytes]", text: str, most: int) -> tuple[str, str, bool]:
    """Give a program its input and read what it prints; whether that became more than `most` bytes."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    pending, said = memoryview(text.encode()), {process.stdout: bytearray(), process.stderr: bytearray()}
    full = False
    with selectors.DefaultSelector() as selector:
        for each in said:
            selector.register(each, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map() and not full:
            for key, _ in selector.select():
                if key.fileobj is process.stdin:
                    pending = _give(key.fd, pending)
                    if not pending:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                part = os.read(key.fd, 1 << 16)
                if not part:
                    selector.unregister(key.fileobj)
                which = said[process.stdout if key.fileobj is process.stdout else process.stderr]
                which += part
                full = full or len(which) > most
    output, errors = (bytes(each).decode("utf-8", "replace") for each in said.values())
    return output, errors, full


def _give(channel: int, pending: memoryview) -> memoryview:
    """Write what a pipe takes; what is left. Nothing, when nobody reads any more."""
    try:
        return pending[os.write(channel, pending[: 1 << 16]) :]
    except BlockingIOError:
        return pending
    except BrokenPipeError:
        return pending[:0]
