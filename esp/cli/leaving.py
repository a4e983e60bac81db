"""The end of the process by a signal, in order: files that are half written are removed.

The handler raises SystemExit. That can be lost: in a callback of the garbage collector, of which importing modules has
many, Python only reports exceptions, and libraries swallow some. So it is raised again until it is on its way, when it
is what the running code handles, in a FINALLY clause or at the end of a context.
"""

import signal
import sys
from functools import partial
from types import FrameType

AGAIN_S = 0.1
"""How long after the signal, and how often, is looked whether the process is on its way out."""


def leave_in_order() -> None:
    """Let SIGTERM and SIGHUP end this process as an exception does."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) == signal.SIG_DFL:  # nohup, for example, has SIGHUP ignored
            signal.signal(each, _leave)


def left() -> None:
    """The process is on its way out: nothing is raised any more."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def _leave(number: int, _: FrameType | None) -> None:
    end = SystemExit(128 + number)
    signal.signal(signal.SIGALRM, partial(_insist, end))
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
    raise end


def _insist(end: SystemExit, _: int, __: FrameType | None) -> None:
    handled = sys.exception()
    while handled is not None and handled is not end:
        handled = handled.__context__
    if handled is None:
        raise end
