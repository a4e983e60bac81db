"""How long reading takes."""

import statistics
import subprocess
import sys
import time

import pytest

from aag.source.read import read_program
from tests.aag.source.reading import read_file


@pytest.mark.bench
def test_a_short_program(root):
    path = root / "benchmarks_hpf" / "laplace_bb.hpf"
    read_file(path)
    times = []
    for _ in range(9):
        start = time.process_time()
        read_file(path)
        times.append(time.process_time() - start)
    assert statistics.median(times) < 0.025


@pytest.mark.bench
def test_five_thousand_lines():
    loop = "do i=2,99\ndo j=2,99\na(i,j)=0.25*(b(i-1,j)+b(i+1,j)+b(i,j-1)+b(i,j+1))\nend do\nend do\n"
    start = time.process_time()
    program = read_program("real a(100,100),b(100,100)\n" + loop * 1000 + "end\n", "x.f90")
    assert time.process_time() - start < 10
    assert len(program.main.body) == 1000


def test_reading_loads_no_heavy_library(root):
    code = "import sys, aag.source.stages; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "networkx", "rich", "textual", "yaml", "sympy", "scipy", "matplotlib", "difflib"}
