"""The benchmark programs as plain Fortran: clean, repeatable, and computing what they claim.

gfortran reads the directives as comments, so its result is the meaning of the program. The expected values
are those of `expected` and `expected_solvers`.
"""

import math
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tests.benchmarks import expected, expected_solvers
from tests.benchmarks.expected import Values

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks_hpf"
FORTRAN = (
    "gfortran",
    "-x",
    "f95",
    "-ffree-form",
    "-std=f95",
    "-pedantic",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-fcheck=all",
)
LIMIT_S = 20  # a default run takes a few hundredths of a second; this only ends a hang

# The sizes besides the default ones: small, odd, and not multiples of any processor count in use.
LINE = ({"n": 1}, {"n": 257, "reps": 3})
PLATE = ({"n": 7, "k": 5}, {"n": 34, "k": 12})
SIZES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "cholesky": ({"n": 1}, {"n": 37}),
    "finance": ({"n": 2, "k": 1}, {"n": 33, "k": 9}),
    "floyd": ({"n": 2}, {"n": 31}),
    "gauss": ({"n": 2}, {"n": 37}),
    "gausspivot_array": ({"n": 2}, {"n": 29}),
    "gausspivot_do": ({"n": 2}, {"n": 29}),
    "laplace": ({"n": 7}, {"n": 34, "k": 12}),
    "laplace_bb": PLATE,
    "laplace_bx": PLATE,
    "laplace_xb": PLATE,
    "lfk01": LINE,
    "lfk02": ({"n": 2, "reps": 1}, {"n": 37, "reps": 3}),
    "lfk03": LINE,
    "lfk09": LINE,
    "lfk22": LINE,
    "lu": ({"n": 2}, {"n": 37}),
    "oddeven": ({"n": 2}, {"n": 101}),
    "pbs1": ({"n": 3}, {"n": 1001}),
    "pbs2": ({"n": 16, "m": 16}, {"n": 5, "m": 31}),
    "pbs3": ({"n": 16, "m": 16}, {"n": 5, "m": 31}),
    "pbs4": ({"n": 1}, {"n": 1001}),
    "pi": ({"n": 1}, {"n": 1001}),
    "pipeline": ({"n": 2}, {"n": 1001}),
    "lfk14": ({"n": 1, "m": 5, "reps": 1}, {"n": 61, "m": 40, "reps": 3}),
    "nbody": ({"n": 2}, {"n": 22}),
    "redblack": PLATE,
    "sor": ({"n": 3, "k": 2}, {"n": 26, "k": 7}),
    "adi": ({"n": 2, "k": 1}, {"n": 33, "k": 3}),
    "thomas": ({"n": 2, "k": 1}, {"n": 33, "k": 3}),
    "trisolve": ({"n": 1}, {"n": 37}),
    "cg": ({"n": 3, "k": 2}, {"n": 37, "k": 9}),
    "cg_sparse": ({"n": 7, "w": 3, "k": 2}, {"n": 57, "w": 8, "k": 7}),
    "fft3d": ({"k": 1}, {"k": 3}),
    "fft_transpose": ({"k": 1}, {"k": 4}),
    "givens": ({"n": 1}, {"n": 37}),
    "heat_sub": ({"n": 3, "k": 1}, {"n": 33, "k": 4}),
    "householder": ({"n": 1}, {"n": 37}),
    "implicit": ({"n": 4, "k": 1}, {"n": 33, "k": 4}),
    "life": ({"n": 4, "k": 3}, {"n": 33, "k": 7}),
    "matmul": ({"n": 1}, {"n": 33}),
    "multigrid": ({"k": 2, "reps": 1}, {"k": 4, "reps": 2}),
    "pdd": ({"n": 33, "m": 1, "q": 1}, {"n": 250, "m": 5, "q": 7}),
    "pt": ({"n": 3, "m": 1}, {"n": 37, "m": 9}),
    "particle": ({"n": 9, "m": 5, "k": 2}, {"n": 101, "m": 17, "k": 6}),
    "qr": ({"n": 1}, {"n": 37}),
    "shallow": ({"n": 4, "k": 2}, {"n": 23, "k": 5}),
    "shallow_do": ({"n": 4, "k": 2}, {"n": 23, "k": 5}),
}
CASES = [(name, size) for name, sizes in SIZES.items() for size in ({}, *sizes)]


def case_id(case: tuple[str, dict[str, int]]) -> str:
    name, size = case
    return f"{name}-" + (",".join(f"{key}={value}" for key, value in size.items()) or "default")


# ---- running a program -------------------------------------------------------------------------------------


def parameters(source: str) -> dict[str, float]:
    """The PARAMETERs of a program text that are literal numbers, one or several to a line."""
    found: dict[str, float] = {}
    for line in re.findall(r"^ *(?:integer|double precision), parameter :: (.*)$", source, re.MULTILINE):
        for name, literal in re.findall(r"(\w+) = ([-+.\w]+)(?=,|$)", line):
            found[name] = float(literal.replace("d", "e")) if "." in literal else int(literal)
    return found


def with_parameters(source: str, size: Mapping[str, int]) -> str:
    """The same text with other PARAMETER values; a name that is no PARAMETER is an error."""
    for name, value in size.items():
        pattern = rf"^( *integer, parameter :: {name} = )\d+$"
        source, count = re.subn(pattern, rf"\g<1>{value}", source, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"{name} is set {count} times, expected once")
    return source


def source_of(name: str) -> str:
    return (FOLDER / f"{name}.hpf").read_text(encoding="ascii")


@cache
def runs(source: str) -> tuple[str, str]:
    """What two runs of one compilation print. Warnings of the compiler and messages at run time fail here."""
    with TemporaryDirectory() as folder:
        program = Path(folder, "program.hpf")
        program.write_text(source, encoding="ascii")
        built = subprocess.run(
            [*FORTRAN, "-o", "program", program.name],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
        outputs = []
        for _ in range(2):
            ran = subprocess.run(
                ["./program"], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
            assert (ran.returncode, ran.stderr) == (0, "")
            outputs.append(ran.stdout)
    return outputs[0], outputs[1]


def printed(name: str, size: Mapping[str, int]) -> dict[str, float]:
    """The printed results by their label."""
    text = runs(with_parameters(source_of(name), size))[0]
    return {label: float(value) for label, value in (line.split() for line in text.splitlines())}


def dumped(name: str, array: str, size: Mapping[str, int]) -> np.ndarray:
    """All elements of one array at the end of a run, in Fortran order."""
    source, count = re.subn(
        r"^(end program)",
        rf"  print *, 'dump', {array}\n\1",
        with_parameters(source_of(name), size),
        flags=re.MULTILINE,
    )
    assert count == 1
    return np.array(runs(source)[0].split("dump")[1].split(), dtype=float)


EXPECTED: dict[str, Callable[[Values], np.ndarray]] = {
    "cholesky": expected.root,
    "finance": expected.options,
    "floyd": expected.distances,
    "gauss": expected.factors,
    "gausspivot_array": expected.pivoted,
    "gausspivot_do": expected.pivoted,
    "laplace": lambda p: expected.jacobi_until(p)[0],
    "laplace_bb": expected.jacobi_sweeps,
    "laplace_bx": expected.jacobi_sweeps,
    "laplace_xb": expected.jacobi_sweeps,
    "lfk01": expected.hydro_fragment,
    "lfk02": expected.tree,
    "lfk03": expected.inner_product,
    "lfk09": expected.predictors,
    "lfk22": expected.planckian,
    "lu": lambda p: np.abs(expected.factors(p)),
    "oddeven": expected.weighted,
    "pbs1": expected.trapezoids,
    "pbs2": expected.formula_products,
    "pbs3": expected.matrix_products,
    "pbs4": lambda p: 1 / np.arange(1, p["n"] + 1),
    "pi": lambda p: 4 / (1 + ((np.arange(p["n"]) + 0.5) / p["n"]) ** 2) / p["n"],
    "pipeline": expected.filtered,
    "lfk14": expected.charges,
    "nbody": expected.forces,
    "redblack": expected.red_black,
    "sor": expected.relaxed,
    "adi": expected.alternated,
    "thomas": expected.alternated,
    "trisolve": expected.substituted,
    "cg": expected_solvers.dense_gradients,
    "cg_sparse": expected_solvers.sparse_gradients,
    "fft3d": expected_solvers.transform3d,
    "fft_transpose": expected_solvers.transform2d,
    "givens": expected_solvers.triangle,
    "heat_sub": expected_solvers.cooled,
    "householder": expected_solvers.triangle,
    "implicit": expected_solvers.faded,
    "life": expected_solvers.living,
    "matmul": expected_solvers.products,
    "multigrid": expected_solvers.cycled,
    "pdd": expected_solvers.periodic,
    "pt": expected_solvers.periodic,
    "particle": expected_solvers.plasma,
    "qr": expected_solvers.orthogonal,
    "shallow": expected_solvers.water,
    "shallow_do": expected_solvers.water,
}


# ---- tests -------------------------------------------------------------------------------------------------


def test_every_program_is_tested_and_described():
    programs = sorted(path.stem for path in FOLDER.glob("*.hpf"))
    rows = re.findall(r"^\| (\w+)\.hpf \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(SIZES) == programs == sorted(EXPECTED)
    assert sorted(rows) == programs


@pytest.mark.sampled
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case_id(case), marks=() if at % 3 == at // 3 % 3 else pytest.mark.truth)
        for at, case in enumerate(CASES)
    ],
)
def test_runs_cleanly_and_prints_the_checksum(case):
    name, size = case
    first, second = runs(with_parameters(source_of(name), size))
    assert first == second
    assert first.splitlines()[-1].split()[0] == "checksum"
    terms = EXPECTED[name](parameters(source_of(name)) | size)
    total, magnitude = math.fsum(terms.flat), math.fsum(np.abs(terms).flat)
    assert printed(name, size)["checksum"] == pytest.approx(total, rel=0, abs=1e-12 * magnitude)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("laplace", "a"),
        ("laplace_bb", "a"),
        ("laplace_bx", "a"),
        ("laplace_xb", "a"),
        ("redblack", "u"),
        ("sor", "u"),
        ("adi", "u"),
        ("thomas", "u"),
        ("trisolve", "b"),
        ("floyd", "d"),
        ("cg_sparse", "x"),
        ("pdd", "d"),
        ("pt", "d"),
        ("lfk01", "x"),
        ("lfk09", "px"),
        ("lfk22", "w"),
        ("pbs2", "p"),
        ("pbs3", "p"),
        ("pipeline", "x"),
    ],
)
def test_every_element(name, array):
    size = SIZES[name][1]
    terms = EXPECTED[name](parameters(source_of(name)) | size)
    np.testing.assert_allclose(dumped(name, array, size), terms.ravel(order="F"), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [{}, *SIZES["laplace"]], ids=str)
def test_laplace_stops_where_the_change_is_small(size):
    p = parameters(source_of("laplace")) | size
    assert printed("laplace", size)["iterations"] == expected.jacobi_until(p)[1]


def test_laplace_meets_both_ends_of_its_loop():
    assert printed("laplace", {"n": 7})["iterations"] < 50  # converged
    assert printed("laplace", {})["iterations"] == 50  # the bound


def test_gauss_factors_give_the_matrix_back():
    n = 37
    a = dumped("gauss", "a", {"n": n}).reshape((n, n), order="F")
    rebuilt = (np.tril(a, -1) + np.eye(n)) @ np.triu(a)
    np.testing.assert_allclose(rebuilt, expected.dominant_matrix(n), rtol=0, atol=1e-12 * n)


@pytest.mark.parametrize("name", ["shallow", "shallow_do"])
def test_water_is_neither_made_nor_lost(name):
    assert printed(name, {"n": 23, "k": 5})["mass"] == pytest.approx(23 * 23 * 5e4, rel=1e-13)


def test_particles_do_not_push_themselves():
    """Momentum stays: deposit and push weigh alike, and the field is antisymmetric."""
    size = {"n": 100, "m": 17, "k": 6}  # half of the particles start with speed 2, and the wave adds nothing to the sum
    assert printed("particle", size)["momentum"] == pytest.approx(100, abs=1e-11)


def test_gradients_reach_the_solution():
    n = 37
    i = np.arange(1, n + 1)
    matrix = 1 / (1 + np.abs(i[:, None] - i[None, :])) + np.diag(3 + i % 5)
    right = matrix @ dumped("cg", "x", {"n": n, "k": 30})
    np.testing.assert_allclose(right, 1 + 7 * i % 10 / 8, rtol=1e-10)
    assert printed("cg", {"n": n, "k": 30})["iterations"] < 30


@pytest.mark.parametrize("name", ["givens", "householder"])
def test_triangle_solves_regularised_least_squares(name):
    """R**T R x = A**T b, beside (A**T A + alpha I) x = A**T b by LAPACK."""
    n = 37
    p = parameters(source_of(name)) | {"n": n}
    upper = np.triu(dumped(name, "a", {"n": n}).reshape((2 * n, n), order="F")[:n])
    matrix = expected_solvers.least_squares_matrix(p)[:n]
    right = matrix.T @ (1 + np.arange(n) % 4)
    wanted = np.linalg.solve(matrix.T @ matrix + p["alpha"] * np.eye(n), right)
    np.testing.assert_allclose(np.linalg.solve(upper, np.linalg.solve(upper.T, right)), wanted, rtol=1e-10, atol=1e-10)


def test_neglected_ends_of_blocks_fade():
    """The error of the parallel diagonal dominant algorithm shrinks with the blocks' size, to nothing."""
    size = {"n": 0, "m": 2, "q": 4}
    errors = []
    for length in (4, 8, 16, 32):
        size["n"] = 4 * length
        p = parameters(source_of("pdd")) | size
        wanted = expected_solvers.periodic(p).ravel(order="F")
        errors.append(np.abs(dumped("pdd", "d", size) - wanted).max())
    assert errors[0] > 30 * errors[1] > 30**2 * errors[2] > 0
    assert errors[3] < 1e-14


def test_cycles_of_multigrid_shrink_the_residual():
    """By a factor that does not depend on the size: four sweeps of damped Jacobi smooth by 0.6 each."""
    for k in (3, 6):
        first, second = (printed("multigrid", {"k": k, "reps": reps})["residual"] for reps in (3, 4))
        assert second < 1.2 * 0.6**4 * first, k


@pytest.mark.parametrize("n", [1, 1001, 4096])
def test_pi_within_the_error_of_the_midpoint_rule(n):
    # h**2 / 24 times the largest second derivative of 4 / (1 + x**2), which is 8
    assert abs(printed("pi", {"n": n})["checksum"] - math.pi) <= 8 / (24 * n**2) + 1e-13


@pytest.mark.parametrize("n", [3, 1001, 4096])
def test_pbs1_within_the_error_of_the_trapezoidal_rule(n):
    # h**2 / 12 times the largest second derivative of x * exp(x), which is 4 exp(2)
    error = printed("pbs1", {"n": n})["checksum"] - math.exp(2)
    assert abs(error) <= 4 * math.exp(2) / (12 * (n - 1) ** 2) + 1e-12


def test_pbs4_is_the_harmonic_number():
    n, gamma = 4096, 0.5772156649015329
    harmonic = math.log(n) + gamma + 1 / (2 * n) - 1 / (12 * n**2)  # the next term is below 1e-16
    assert printed("pbs4", {"n": n})["checksum"] == pytest.approx(harmonic, rel=1e-13)


@pytest.mark.parametrize("name", sorted(SIZES))
def test_form_of_the_file(name):
    lines = source_of(name).splitlines()
    code = [line for line in lines if not line.lstrip().startswith("!")]
    assert lines[0].startswith(f"! {name}.hpf: ")
    for heading in ("! Computes ", "! Kernel ", "! Mapping ", "! Expect "):
        assert sum(line.startswith(heading) for line in lines) == 1
    assert sum(line.strip() == "implicit none" for line in code) == 1
    assert [line.strip() for line in code if "system_clock" in line] == [
        "call system_clock(start)",
        "call system_clock(finish)",
    ]
    assert [line for line in code if line != line.lower()] == []
    directives = [line for line in lines if line.startswith("!HPF$")]
    assert any("DISTRIBUTE" in line for line in directives)
    assert [line for line in directives if line != line.upper()] == []
    assert max(map(len, lines)) <= 100


def test_a_misspelt_parameter_is_refused():
    with pytest.raises(ValueError, match="nn is set 0 times"):
        with_parameters(source_of("pi"), {"nn": 3})
