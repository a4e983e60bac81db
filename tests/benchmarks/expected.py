"""What the benchmark programs compute, with NumPy from the formula in each file's header, not from the Fortran text.

Each function takes the PARAMETERs and returns the numbers that the checksum adds up.
"""

import math
from collections.abc import Mapping

import numpy as np

Values = Mapping[str, float]


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
