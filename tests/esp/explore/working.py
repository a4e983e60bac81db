"""Functions for processes of their own, which import them by this name."""

import os
import signal
import time


def where(number):
    """A square, and the process that computed it."""
    if number < 0:
        raise ValueError(f"{number} has no root")
    time.sleep(0.05)  # so that no process can do all before the other begins
    return number * number, os.getpid()


def mortal(parent, number):
    """The number; but 1 kills any process but the parent."""
    if number == 1 and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def slow(number):
    """The number after as many times ten minutes."""
    time.sleep(600 * number)
    return number


def unsendable(number):
    """A function, which no process can send to another."""
    return lambda: number
