"""A session made by hand, whose engine answers what it is told, and one with the real engine."""

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def _module(name, path):
    """A module of the tests by its path: test folders are no packages."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def build():
    """Predictions with round figures."""
    return _module("esp_tests_output_build", HERE.parent / "output" / "build.py")


@pytest.fixture(scope="session")
def made(build):
    """Sessions with round figures."""
    return _module("esp_tests_tui_made", HERE / "made.py").Made(build)


@pytest.fixture(scope="session")
def driving():
    """Runs the app without a terminal."""
    return _module("esp_tests_tui_driving", HERE / "driving.py")


@pytest.fixture(scope="session")
def real():
    """Opens programs with the real engine."""
    return _module("esp_tests_tui_driving", HERE / "driving.py").real
