"""Times that were measured on a real machine and published, against predictions that were not fitted to them."""

import pytest

from esp.api import predict
from tests.truth.predicted import PROGRAMS

pytestmark = pytest.mark.truth


@pytest.mark.parametrize("published", [618.79, 623.16], ids=["Fortran 90D", "by hand"])
def test_the_elimination_on_one_node(published, elimination):
    assert elimination == pytest.approx(published, rel=0.15)


@pytest.fixture(scope="module")
def elimination():
    found = predict(PROGRAMS / "published_elimination.hpf", system="ipsc860-f90d", procs=1, io=False)
    return found.timed_s
