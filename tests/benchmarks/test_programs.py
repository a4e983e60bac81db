"""The benchmark programs as plain Fortran: clean, repeatable, and computing what they claim.

gfortran reads the directives as comments, so its result is the meaning of the program. The expected values
are computed here with NumPy from the formula in each file's header, not from the Fortran text.
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

Values = Mapping[str, float]

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
}
CASES = [(name, size) for name, sizes in SIZES.items() for size in ({}, *sizes)]


def case_id(case: tuple[str, dict[str, int]]) -> str:
    name, size = case
    return f"{name}-" + (",".join(f"{key}={value}" for key, value in size.items()) or "default")


# ---- running a program -------------------------------------------------------------------------------------


def parameters(source: str) -> dict[str, float]:
    """The PARAMETERs of a program text, all of them literal numbers, one or several to a line."""
    found: dict[str, float] = {}
    for line in re.findall(r"^ *(?:integer|double precision), parameter :: (.*)$", source, re.MULTILINE):
        for name, literal in re.findall(r"(\w+) = ([-+.\w]+)", line):
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


# ---- the expected values: each function returns the numbers that the checksum adds up ----------------------


def plate(n: int) -> np.ndarray:
    """The heated plate all four solvers start from, first subscript = row."""
    ramp = np.arange(n) / (n - 1)
    a = np.zeros((n, n))
    a[0, :] = ramp
    a[:, -1] = ramp[::-1]
    return a


def jacobi(a: np.ndarray) -> np.ndarray:
    b = a.copy()
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return b


def jacobi_until(p: Values) -> tuple[np.ndarray, int]:
    a = plate(int(p["n"]))
    for sweep in range(1, int(p["k"]) + 1):
        before, a = a, jacobi(a)
        if np.abs(a - before).max() <= p["tol"]:
            return a, sweep
    return a, int(p["k"])


def jacobi_sweeps(p: Values) -> np.ndarray:
    a = plate(int(p["n"]))
    for _ in range(int(p["k"])):
        a = jacobi(a)
    return a


def red_black(p: Values) -> np.ndarray:
    """Point by colour with masks, where the program goes by strides."""
    u = plate(int(p["n"]))
    rows, columns = np.indices(u.shape)
    inner = np.zeros(u.shape, dtype=bool)
    inner[1:-1, 1:-1] = True
    for _ in range(int(p["k"])):
        for colour in (0, 1):
            mask = inner & ((rows + columns) % 2 == colour)
            u = np.where(mask, (1 - p["omega"]) * u + p["omega"] * jacobi(u), u)
    return u


def hydro_fragment(p: Values) -> np.ndarray:
    n = int(p["n"])
    k = np.arange(1, n + 1)
    z = np.arange(n + 12) / (n + 11)  # z[i] is the Fortran z(i); the cell 0 is not used
    return p["q"] + (1 + k % 7 / 8) * (p["r"] * z[k + 10] + p["t"] * z[k + 11])


def inner_product(p: Values) -> np.ndarray:
    k = np.arange(1, p["n"] + 1)
    return (1 + k % 5 / 4) / k


def predictors(p: Values) -> np.ndarray:
    n = int(p["n"])
    row, column = np.arange(1, 26)[:, None], np.arange(1, n + 1)[None, :]
    px = row / 25 + column / n
    weight = {
        13: p["dm28"],
        12: p["dm27"],
        11: p["dm26"],
        10: p["dm25"],
        9: p["dm24"],
        8: p["dm23"],
        7: p["dm22"],
        5: p["c0"],
        6: p["c0"],
        3: 1.0,
    }
    px[0] = sum(w * px[i - 1] for i, w in weight.items())
    return px


def planckian(p: Values) -> np.ndarray:
    k = np.arange(1, int(p["n"]) + 1)
    return (1 + k % 11 / 16) / np.expm1((0.5 + k / p["n"]) / (1 + k % 3 / 2))


def trapezoids(p: Values) -> np.ndarray:
    x = np.linspace(1, 2, int(p["n"]))
    f = x * np.exp(x)
    return (f[1:] + f[:-1]) / 2 * np.diff(x)


def formula_products(p: Values) -> np.ndarray:
    i, j = np.arange(1, p["n"] + 1)[:, None], np.arange(1, p["m"] + 1)[None, :]
    return np.prod(1 + 0.5 / (np.abs(i - j) + 0.001), axis=1)


def matrix_products(p: Values) -> np.ndarray:
    i, j = np.arange(1, p["n"] + 1)[:, None], np.arange(1, p["m"] + 1)[None, :]
    return np.prod(1 + ((i + 2 * j) % 7 - 3) / (4 * p["m"]), axis=1)


def filtered(p: Values) -> np.ndarray:
    """The recurrence unrolled: the sum of all earlier inputs, faded by powers of c."""
    i = np.arange(1, int(p["n"]) + 1)
    y = 1 + i % 9 / 8
    faded = p["c"] ** np.arange(len(i))
    return np.convolve(y, faded)[: len(i)]


def dominant_matrix(n: int) -> np.ndarray:
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    return (2 * n + i - j) / (1 + 4 * (i - j) ** 2)


def factors(p: Values) -> np.ndarray:
    """L and U in one array by Doolittle's order: row k of U, then column k of L, each from inner products."""
    a = dominant_matrix(int(p["n"]))
    lower, upper = np.eye(len(a)), np.zeros_like(a)
    for k in range(len(a)):
        upper[k, k:] = a[k, k:] - lower[k, :k] @ upper[:k, k:]
        lower[k + 1 :, k] = (a[k + 1 :, k] - lower[k + 1 :, :k] @ upper[:k, k]) / upper[k, k]
    return lower - np.eye(len(a)) + upper


def pivoted(p: Values) -> np.ndarray:
    """L and U in one array: the first of the largest numbers of a column becomes the pivot."""
    n = int(p["n"])
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    a = (1 + (7 * i * i + 3 * j * j + i * j) % 23) / 23 + n * (i + j == n + 1)
    for k in range(n - 1):
        row = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, row]] = a[[row, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.abs(a)


def root(p: Values) -> np.ndarray:
    """The Cholesky factor, by LAPACK."""
    at = np.arange(int(p["n"]))
    return np.linalg.cholesky(4 * p["n"] / (1 + 4 * (at[:, None] - at[None, :]) ** 2))


def substituted(p: Values) -> np.ndarray:
    n = int(p["n"])
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    lower = np.tril((1 + (i + 2 * j) % 5) / (4 * n), -1) + 2 * np.eye(n)
    return np.linalg.solve(lower, 1 + np.arange(1, n + 1) % 7)


def alternated(p: Values) -> np.ndarray:
    """Both kinds of systems as dense ones."""
    n = int(p["n"])
    u = 1.0 + (3 * np.arange(1, n + 1)[:, None] + 5 * np.arange(1, n + 1)[None, :]) % 11
    system = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    for _ in range(int(p["k"])):
        u = np.linalg.solve(system, u)
        u = np.linalg.solve(system, u.T).T
    return u


def distances(p: Values) -> np.ndarray:
    """Shortest paths by squaring in the algebra of minimum and sum."""
    n = int(p["n"])
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    d = 1 + (7 * i + 11 * j * j + i * j) % 97
    np.fill_diagonal(d, 0)
    for _ in range(n.bit_length()):
        d = (d[:, :, None] + d[None, :, :]).min(axis=1)
    return d


def weighted(p: Values) -> np.ndarray:
    i = np.arange(1, int(p["n"]) + 1)
    return i * np.sort((37 * i * i + 11 * i) % 1009)


def relaxed(p: Values) -> np.ndarray:
    u = np.zeros((int(p["n"]), int(p["n"])))
    u[:, 0] = 100
    for _ in range(int(p["k"])):
        for j in range(1, len(u) - 1):
            for i in range(1, len(u) - 1):
                mean = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
                u[i, j] += p["omega"] * (mean - u[i, j])
    return u


def tree(p: Values) -> np.ndarray:
    n = int(p["n"])
    k = np.arange(2 * n + 3)  # element 0 is not used
    x, v = 1 + k % 13 / 16, 0.25 + k % 7 / 64
    x[0] = 0
    for _ in range(int(p["reps"])):
        end, many = 0, n
        while many > 1:
            begin, end, many = end, end + many, many // 2
            old = x.copy()
            for at in range(begin + 2, end + 1, 2):
                x[end + 1 + (at - begin) // 2] = old[at] - v[at] * old[at - 1] - v[at + 1] * old[at + 1]
    return x


def charges(p: Values) -> np.ndarray:
    n, m = int(p["n"]), int(p["m"])
    k, cell = np.arange(1, n + 1), np.arange(m + 1)
    field, slope = cell % 17 / 32, cell % 5 / 64
    place, speed, charge = 1 + k * 31 % (m - 4) + k % 8 / 16, k % 9 / 8, np.zeros(m + 2)
    for _ in range(int(p["reps"])):
        here = place.astype(int)
        speed = speed + field[here] + (place - here) * slope[here]
        place = place + speed * 0.001
        there = place.astype(int)
        rest = place - there
        there = there % m + 1
        place = rest + there
        np.add.at(charge, there, 1 - rest)
        np.add.at(charge, there + 1, rest)
        place = np.minimum(place, m - 0.5)
    return np.concatenate([place, speed, charge])


def forces(p: Values) -> np.ndarray:
    i = np.arange(1, int(p["n"]) + 1)
    r = np.array([7 * i % 101 / 10, 11 * i % 89 / 10 + i / 1024, 13 * i % 97 / 10])
    apart = r[:, None, :] - r[:, :, None]
    mass = 1 + i % 3
    size = mass[:, None] * mass[None, :] / ((apart**2).sum(axis=0) + 0.01) ** 1.5
    return np.abs((size * apart).sum(axis=2))


def options(p: Values) -> np.ndarray:
    n, u = int(p["n"]), 1.01
    s = 40 + 20 * np.arange(1, n + 1) / n
    for _ in range(int(p["k"])):
        s = (u * np.concatenate([s[:1], s[:-1]]) + s / u) / 2
    return np.concatenate([s, np.maximum(s - 50, 0) * math.exp(-0.05) + np.sqrt(s) / 1.0005**8])


EXPECTED: dict[str, Callable[[Values], np.ndarray]] = {
    "cholesky": root,
    "finance": options,
    "floyd": distances,
    "gauss": factors,
    "gausspivot_array": pivoted,
    "gausspivot_do": pivoted,
    "laplace": lambda p: jacobi_until(p)[0],
    "laplace_bb": jacobi_sweeps,
    "laplace_bx": jacobi_sweeps,
    "laplace_xb": jacobi_sweeps,
    "lfk01": hydro_fragment,
    "lfk02": tree,
    "lfk03": inner_product,
    "lfk09": predictors,
    "lfk22": planckian,
    "lu": lambda p: np.abs(factors(p)),
    "oddeven": weighted,
    "pbs1": trapezoids,
    "pbs2": formula_products,
    "pbs3": matrix_products,
    "pbs4": lambda p: 1 / np.arange(1, p["n"] + 1),
    "pi": lambda p: 4 / (1 + ((np.arange(p["n"]) + 0.5) / p["n"]) ** 2) / p["n"],
    "pipeline": filtered,
    "lfk14": charges,
    "nbody": forces,
    "redblack": red_black,
    "sor": relaxed,
    "adi": alternated,
    "thomas": alternated,
    "trisolve": substituted,
}


# ---- tests -------------------------------------------------------------------------------------------------


def test_every_program_is_tested_and_described():
    programs = sorted(path.stem for path in FOLDER.glob("*.hpf"))
    rows = re.findall(r"^\| (\w+)\.hpf \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(SIZES) == programs == sorted(EXPECTED)
    assert sorted(rows) == programs


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
    expected, magnitude = math.fsum(terms.flat), math.fsum(np.abs(terms).flat)
    assert printed(name, size)["checksum"] == pytest.approx(expected, rel=0, abs=1e-12 * magnitude)


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
    assert printed("laplace", size)["iterations"] == jacobi_until(p)[1]


def test_laplace_meets_both_ends_of_its_loop():
    assert printed("laplace", {"n": 7})["iterations"] < 50  # converged
    assert printed("laplace", {})["iterations"] == 50  # the bound


def test_gauss_factors_give_the_matrix_back():
    n = 37
    a = dumped("gauss", "a", {"n": n}).reshape((n, n), order="F")
    rebuilt = (np.tril(a, -1) + np.eye(n)) @ np.triu(a)
    np.testing.assert_allclose(rebuilt, dominant_matrix(n), rtol=0, atol=1e-12 * n)


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
