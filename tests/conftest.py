"""What all tests share: the same random programs, the same width and the same MPI on every machine."""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

# Set at import, so that command lines started by a test inherit them.
os.environ.update(
    COLUMNS="80",
    LINES="24",
    NO_COLOR="1",
    # Open MPI refuses root and more ranks than cores unless told; a container has both.
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
)
os.environ.pop("FORCE_COLOR", None)
# Else every command that a test starts compiles all of esp anew, which is half of what it does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Under nohup and in the background of a shell these are ignored, and so they would be by what a test starts and kills.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# `ci` finds the same examples on every run; `explore` looks for new ones (ESP_HYPOTHESIS=explore).
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, database=None, max_examples=50)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("ESP_HYPOTHESIS", "ci"))


SAMPLED = 3
"""Of so many cases of a `sampled` test `make test` runs one."""


def pytest_configure(config):
    """Node programs are compiled without optimisation, which takes a quarter of the time; `make truth` keeps it."""
    if config.option.markexpr not in ("truth", "bench"):
        os.environ["MAKEFLAGS"] = r"FFLAGS=-O0\ -ffp-contract=off"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of `sampled` tests every third case, the others are left to the thorough profile. Long tests come first, so that
    at the end no process waits for another."""
    seen = Counter()
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            function = item.nodeid.partition("[")[0]
            if seen[function] % SAMPLED:
                item.add_marker(pytest.mark.truth)
            seen[function] += 1
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish():
    """Look for cyclic garbage seldom, as `esp` does: otherwise that takes a tenth of the time."""
    gc.freeze()
    gc.set_threshold(200_000)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent
