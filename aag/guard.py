"""The process between esp and a program of others: it ends that program and all it has started, with esp or before.

    python -I -S guard.py PIPES SECONDS BYTES ENVIRONMENT [WORD...]

PIPES are file descriptors with commas between them. The first is read only for its end: when nobody holds its other
end any more, since esp closes it, dies or is killed, this process ends the program. The second takes one line: `folder
NAME`, `ended CODE`, `time` or `memory`. The rest are kept open by this
process, such as other guards' first pipes.

SECONDS bounds the time of the program, BYTES the memory of all its processes together (0: no bound). ENVIRONMENT is
`bare` for an empty one, else `full`. The program's temporary files go to a folder that is removed at the end. Without
any WORD it runs no program: it makes the folder and keeps it until the first pipe ends.

On Linux nothing escapes, not even what moves to another session: a process that loses its parent becomes a child of
this one. Elsewhere the program's process group is ended, and memory has no bound.

This file runs by itself and imports only what starts fast.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence

GRACE_S = 3.0
"""How long a program may take to end what it has started, as mpirun its processes, before all of it is killed."""
LOOK_S = 0.1
"""Between two looks at memory."""
SUBREAPER, PARENT_DEATH_SIGNAL = 36, 1
"""prctl(2)."""
NOT_FOUND = 127
"""What a shell reports for a program that cannot be started."""


class Guard:
    """One program, or none, and one temporary folder."""

    def __init__(self, pipes: Sequence[int], limit_s: float, limit_bytes: int) -> None:
        self.control, self.report = pipes[:2]
        self.limit_s = limit_s
        self.limit_bytes = limit_bytes
        self.woken, wake = os.pipe()
        for each in (self.woken, wake):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        self.poll.register(self.woken, select.POLLIN)

    def keep(self) -> None:
        """Wait until nobody holds the first pipe."""
        while not self._is_left(None):
            pass

    def run(self, words: Sequence[str], environment: dict[str, str]) -> str:
        """Run a program until it ends or must end, and leave nothing of it."""
        child = _start(words, environment)
        verdict = self._watch(child)
        if verdict in ("time", "left"):
            _signal_group(child, signal.SIGTERM)
            self._wait(child, GRACE_S)
        if not verdict.startswith("ended"):
            _signal_group(child, signal.SIGKILL)
        while self._is_any_left():
            for each in descendants():
                _signal(each, signal.SIGKILL)
            self._rest(LOOK_S)
        return verdict

    def _wait(self, child: int, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while _ended(child) is None and (left := deadline - time.monotonic()) > 0:
            self._rest(left)

    def _watch(self, child: int) -> str:
        deadline = time.monotonic() + self.limit_s if self.limit_s else float("inf")
        while True:
            code = _ended(child)
            if code is not None:
                return f"ended {code}"
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if self.limit_bytes and memory_bytes() > self.limit_bytes:
                return "memory"
            if self._is_left(min(left, LOOK_S if self.limit_bytes else left)):
                return "left"

    def _is_left(self, wait_s: float | None) -> bool:
        """Wait for news; whether it is that the first pipe has ended."""
        wait_ms = None if wait_s is None or wait_s == float("inf") else 1000 * wait_s
        ready = {each for each, _ in self.poll.poll(wait_ms)}
        if self.woken in ready:
            os.read(self.woken, 4096)
        return self.control in ready and not os.read(self.control, 4096)

    def _rest(self, limit_s: float) -> None:
        """Wait until a child ends, though not longer than this."""
        if select.select([self.woken], [], [], limit_s)[0]:
            os.read(self.woken, 4096)

    @staticmethod
    def _is_any_left() -> bool:
        """Whether some children still run."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return False
        return True


def _ended(child: int) -> int | None:
    """Ask for the end of all children that have ended; the exit code of this one, if it is among them."""
    code = None
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == child:
                code = os.waitstatus_to_exitcode(found[1])
    except ChildProcessError:
        pass
    return code


def _start(words: Sequence[str], environment: dict[str, str]) -> int:
    """Start a program in a process group of its own; it does not outlive this process."""
    parent = os.getpid()
    child = os.fork()
    if not child:
        _become(words, environment, parent)
    return child


def _become(words: Sequence[str], environment: dict[str, str], parent: int) -> None:
    """Replace this process, a child of `parent`, by a program; without return."""
    try:
        os.setpgid(0, 0)
        end_with_parent()
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(each, signal.SIG_DFL)
        if os.getppid() == parent:
            os.execvpe(words[0], list(words), environment)  # noqa: S606 (no shell is wanted)
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_FOUND)


def descendants() -> Iterator[int]:
    """All processes below this one, on Linux."""
    waiting = [os.getpid()]
    while waiting:
        each = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{each}/task")  # noqa: PTH208 (pathlib starts slowly)
        except OSError:  # it has ended, or this is not Linux
            continue
        for thread in threads:
            below = [int(word) for word in _text(f"/proc/{each}/task/{thread}/children").split()]
            yield from below
            waiting += below


def memory_bytes() -> int:
    """What all processes below this one hold together, without what they share, on Linux."""
    pages = 0
    for each in descendants():
        counts = _text(f"/proc/{each}/statm").split()
        if counts:
            pages += int(counts[1]) - int(counts[2])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _text(path: str) -> str:
    """The text of a file; empty where there is none."""
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 (pathlib starts slowly)
            return file.read()
    except OSError:
        return ""


def _signal(process: int, which: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, which)


def _signal_group(group: int, which: int) -> None:
    try:
        os.killpg(group, which)
    except OSError:  # it has ended, or has not made its group yet
        _signal(group, which)


def end_with_parent() -> None:
    """Have the system end this process with the one that started it, even if that is killed; on Linux."""
    prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def temporary() -> str:
    """A new folder for temporary files that nobody else can read.

    Raises:
        OSError: no folder for temporary files is writable.
    """
    wanted = (os.environ.get("TMPDIR"), "/tmp", "/var/tmp")  # noqa: S108 (what is made there is new and ours alone)
    places = [each for each in wanted if each and os.access(each, os.W_OK)]
    path = f"{(places or ['.'])[0]}/esp-{os.getpid()}-{time.time_ns():x}"
    os.mkdir(path, 0o700)  # noqa: PTH102 (pathlib starts slowly; it fails where something has this name)
    return os.path.realpath(path)


def main(words: Sequence[str]) -> int:
    """Do what the first lines of this file say."""
    pipes = [int(each) for each in words[0].split(",")]
    for each in pipes:
        os.set_inheritable(each, False)
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(each, signal.SIG_IGN)  # the first pipe says when this process ends
    prctl(SUBREAPER, 1)
    guard = Guard(pipes, float(words[1]), int(words[2]))
    folder = temporary()
    try:
        if words[4:]:
            environment = {} if words[3] == "bare" else {**os.environ, "TMPDIR": folder}
            said = guard.run(words[4:], environment)
            shutil.rmtree(folder, ignore_errors=True)
            _say(guard.report, said)
        else:
            _say(guard.report, f"folder {folder}")
            guard.keep()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _say(report: int, line: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(report, line.encode("utf-8", "surrogateescape"))
    os.close(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
