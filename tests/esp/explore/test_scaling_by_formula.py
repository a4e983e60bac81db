"""Isospeed scalability by the formula in size and processors, against brute force and against predictions."""

import numpy as np
import pytest

import esp
from esp.cli.main import main
from esp.explore.scaling_by_formula import LASTING

CASES = [("pi.hpf", (4, 64, 131072), "4*n", 4), ("laplace_bb.hpf", (16, 1024, 65536), "", 16)]


def work_of(name, n):
    """Flops on one processor."""
    return sum(esp.predict(name, procs=1, n=n).counts.flops().values())


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "procs", "work", "first"), CASES, ids=["given work", "counted work"])
def test_sizes_are_the_smallest_that_keep_the_speed(name, procs, work, first):
    found, formula = esp.scalability(name, procs=procs, work=work, by="formula"), esp.scaling_formula(name, procs=first)
    assert [each.processors for each in found.runs] == list(procs)
    assert (found.by, found.missing, found.rate, found.tol) == ("formula", (), None, None)
    rank = formula.names.rank
    flops = np.polynomial.Polynomial.fit(*zip(*[(n, work_of(name, n)) for n in (32, 64, 96, 128)], strict=True), 2)
    for each in found.runs:
        extent = round(each.processors ** (1 / rank))
        sizes = np.arange(formula.cells, 3 * each.size // extent + LASTING + 2) * extent
        done = 4.0 * sizes if work else flops(sizes)
        speeds = done / (each.processors * formula.evaluate(sizes, each.processors))
        keeps = speeds >= found.speed * (1 - 1e-9)
        lasting = [at for at in range(sizes.size - LASTING) if keeps[at : at + LASTING + 1].all()]
        assert sizes[lasting[0]] == each.size
        assert each.speed == pytest.approx(speeds[lasting[0]], rel=1e-6)
        assert each.psi == pytest.approx(each.processors * found.runs[0].work / (procs[0] * each.work))
        assert each.fits is None


def test_where_nothing_waits_and_no_cache_is_missed_times_are_predicted_ones():
    """One sum over all processors, no message but the sum's: the predicted time of the size found keeps the speed."""
    options = {"by": "formula", "procs": (4, 16, 64), "work": "4*n"}
    free = {f"cube.node.memory.{each}": "0 s" for each in ("read_miss", "write_miss", "writeback")}
    found = esp.scalability("pi.hpf", system_set=free, **options)
    for each in found.runs:
        predicted = esp.predict("pi.hpf", procs=each.processors, n=each.size, system_set=free)
        assert predicted.time_s <= each.time_s * (1 + 1e-9)  # exchanges in both directions hide a part of it
        assert predicted.time_s == pytest.approx(each.time_s, rel=0.1)


@pytest.mark.truth
def test_what_cannot_be_is_said(capsys):
    assert main(["scalability", "pi.hpf", "--procs", "4,12", "--by", "formula"]) == 2
    assert "does not hold for 12. Write powers of two from 4 on" in " ".join(capsys.readouterr().err.split())
    assert main(["scalability", "laplace_bb.hpf", "--procs", "16,32", "--by", "formula"]) == 2
    assert "--procs 16,64,256,1024" in " ".join(capsys.readouterr().err.split())
    assert main(["scalability", "pi.hpf", "--procs", "4,8", "--by", "formula", "--timed"]) == 2
    assert "time of the whole program" in capsys.readouterr().err
    assert main(["scalability", "pi.hpf", "--procs", "4,8", "--by", "formula", "--tol", "2%"]) == 2
    assert "no sizes by equation 2" in capsys.readouterr().err
    with pytest.raises(esp.UsageError, match="gives no times"):
        esp.scalability("pi.hpf", procs=(4, 8), by="guess")
    with pytest.raises(esp.PredictionError, match="not a polynomial in n"):
        esp.scalability("lfk02.hpf", procs=(4, 8), by="formula")


def test_the_table_says_what_its_times_are(capsys):
    assert main(["scalability", "pi.hpf", "--procs", "4,4096", "--by", "formula"]) == 0
    out = capsys.readouterr().out
    assert "without waiting and cache misses" in " ".join(out.split())
    assert "eq. 2" not in out
