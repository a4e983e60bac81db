import pytest

from tests.processes.watching import Watched


@pytest.fixture
def watched(tmp_path):
    """Start a command of Python's whose processes and files are watched."""
    started = []

    def start(*words, **environment):
        started.append(Watched(words, tmp_path, **environment))
        return started[-1]

    yield start
    for each in started:
        each.close()
