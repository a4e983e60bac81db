"""What the benchmark solvers and transforms compute: NumPy's own solvers and transforms, closed forms, other data
structures than those of the programs. See `expected`.
"""

import numpy as np

from tests.benchmarks.expected import Values, dominant_matrix


def products(p: Values) -> np.ndarray:
    i, j = np.arange(1, p["n"] + 1)[:, None], np.arange(1, p["n"] + 1)[None, :]
    a, b = (3 * i + 5 * j) % 11 / 8, (i * j % 7 - 3) / 4
    return np.abs([a @ b, b @ a])


def water(p: Values) -> np.ndarray:
    """Shallow water on a torus, cell by cell as neighbours of flat numbers."""
    n, dx = int(p["n"]), p["dx"]
    turn, size = 2 * np.pi / n, 1e6 / dx
    x, y = (each.ravel() for each in np.indices((n, n)))
    at = {(a, b): (x + a) % n * n + (y + b) % n for a in (-1, 0, 1) for b in (-1, 0, 1)}
    west, east, south, north = at[-1, 0], at[1, 0], at[0, -1], at[0, 1]
    i, j = x + 1, y + 1
    u = -size * np.sin(turn * i) * (np.cos(turn * (j + 1)) - np.cos(turn * j))
    v = size * (np.sin(turn * (i + 1)) - np.sin(turn * i)) * np.cos(turn * j)
    depth = p["depth"] + 500 * (np.cos(2 * turn * i) + np.cos(2 * turn * j))
    now = np.array([u, v, depth])
    old, span = now.copy(), p["dt"]
    for _ in range(int(p["k"])):
        u, v, depth = now
        flux_x, flux_y = (depth + depth[west]) / 2 * u, (depth + depth[south]) / 2 * v
        corner = (depth + depth[west] + depth[south] + depth[at[-1, -1]]) / 4
        vorticity = (v - v[west] - u + u[south]) / dx / corner
        energy = depth + (u**2 + u[east] ** 2 + v**2 + v[north] ** 2) / 4
        change = np.array(
            [
                (vorticity + vorticity[north]) / 2 * (flux_y + flux_y[north] + flux_y[west] + flux_y[at[-1, 1]]) / 4
                - (energy - energy[west]) / dx,
                -(vorticity + vorticity[east]) / 2 * (flux_x + flux_x[east] + flux_x[south] + flux_x[at[1, -1]]) / 4
                - (energy - energy[south]) / dx,
                (flux_x - flux_x[east] + flux_y - flux_y[north]) / dx,
            ]
        )
        new = old + span * change
        old, now = now + p["alpha"] * (new - 2 * now + old), new
        span = 2 * p["dt"]
    return np.abs(now - [[0], [0], [p["depth"]]])


def krylov(matrix: np.ndarray, right: np.ndarray, steps: int) -> np.ndarray:
    """The best solution in the span of b, a b, a a b, ...: what so many steps of conjugate gradients give."""
    basis = np.empty((len(right), 0))
    for _ in range(min(steps, len(right))):
        new = matrix @ basis[:, -1] if basis.size else right
        for _ in range(2):  # twice is enough
            new = new - basis @ (basis.T @ new)
        basis = np.column_stack([basis, new / np.linalg.norm(new)])
    return basis @ np.linalg.solve(basis.T @ matrix @ basis, basis.T @ right)


def right_side(n: int) -> np.ndarray:
    return 1 + 7 * np.arange(1, n + 1) % 10 / 8


def dense_gradients(p: Values) -> np.ndarray:
    n = int(p["n"])
    i = np.arange(1, n + 1)
    matrix = 1 / (1 + np.abs(i[:, None] - i[None, :]))
    np.fill_diagonal(matrix, 4 + i % 5)
    return krylov(matrix, right_side(n), int(p["k"]))


def sparse_gradients(p: Values) -> np.ndarray:
    n, w = int(p["n"]), int(p["w"])
    matrix = 4.25 * np.eye(n)
    for apart in (1, w):
        matrix -= np.eye(n, k=apart) + np.eye(n, k=-apart)
    return krylov(matrix, right_side(n), int(p["k"]))


def transform2d(p: Values) -> np.ndarray:
    i = np.arange(1, 2 ** int(p["k"]) + 1)
    found = np.fft.fft2((3 * i[:, None] ** 2 + 5 * i[None, :]) % 17 / 16)
    return np.abs([found.real, found.imag])


def transform3d(p: Values) -> np.ndarray:
    """As the program leaves it: the third frequency first."""
    at = np.arange(1, 2 ** int(p["k"]) + 1)
    i, j, l = at[:, None, None], at[None, :, None], at[None, None, :]
    found = np.fft.fftn((3 * i * i + 5 * j + 7 * l * i) % 17 / 16).transpose(2, 0, 1)
    return np.abs([found.real, found.imag])


def living(p: Values) -> np.ndarray:
    """The set of living cells; numbers are 1 + x + n (1 + y)."""
    n = int(p["n"])
    alive = {
        (x, y) for x in range(n) for y in range(n) if ((x + 1) ** 2 + 3 * (y + 1) ** 2 + (x + 1) * (y + 1)) % 7 < 3
    }
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    for _ in range(int(p["k"])):
        around: dict[tuple[int, int], int] = {}
        for x, y in alive:
            for a, b in steps:
                cell = (x + a) % n, (y + b) % n
                around[cell] = around.get(cell, 0) + 1
        alive = {cell for cell, many in around.items() if many == 3 or (many == 2 and cell in alive)}
    return np.array([x + 1 + n * (y + 1) for x, y in sorted(alive)], dtype=float)


def cooled(p: Values) -> np.ndarray:
    """Explicit steps as powers of a matrix in each direction: (1 + c (D x 1 + 1 x D)) u."""
    n = int(p["n"])
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    u = 1.0 + (3 * i + 5 * j) % 11
    u[[0, -1], :] = u[:, [0, -1]] = 0
    inner = np.eye(n)
    inner[0, 0] = inner[-1, -1] = 0
    second = inner @ (np.eye(n, k=1) - 2 * np.eye(n) + np.eye(n, k=-1))
    left = np.zeros(n)
    for _ in range(int(p["k"])):
        u = u + 0.2 * (second @ u @ inner + inner @ u @ second.T)
        left += u.sum(axis=1)
    return np.concatenate([u.ravel(), left])


def orthogonal(p: Values) -> np.ndarray:
    """Both factors by LAPACK, with positive diagonal."""
    q, r = np.linalg.qr(dominant_matrix(int(p["n"])))
    return np.abs([q, r])


def cycled(p: Values) -> np.ndarray:
    """V-cycles as matrices: each level is a Kronecker product of matrices in one dimension."""
    last = 2 ** int(p["k"])
    at = np.arange(1, last)
    f = ((3 * at[:, None] + 5 * at[None, :]) % 11 - 5.0).ravel()
    u = np.zeros(f.size)
    for _ in range(int(p["reps"])):
        u = u + v_cycle(last, f - laplacian(last) @ u, p["damping"])
    return u


def laplacian(last: int) -> np.ndarray:
    line = last**2 * (2 * np.eye(last - 1) - np.eye(last - 1, k=1) - np.eye(last - 1, k=-1))
    return np.kron(line, np.eye(last - 1)) + np.kron(np.eye(last - 1), line)


def v_cycle(last: int, f: np.ndarray, damping: float) -> np.ndarray:
    """The correction that one cycle makes of a residual."""
    matrix = laplacian(last)
    if last == 2:
        return np.linalg.solve(matrix, f)
    u = np.zeros(f.size)
    for _ in range(2):
        u = u + damping / matrix[0, 0] * (f - matrix @ u)
    line = np.zeros((last - 1, last // 2 - 1))
    for coarse in range(line.shape[1]):
        line[2 * coarse : 2 * coarse + 3, coarse] = 0.5, 1, 0.5
    prolong = np.kron(line, line)
    u = u + prolong @ v_cycle(last // 2, prolong.T @ (f - matrix @ u) / 4, damping)
    for _ in range(2):
        u = u + damping / matrix[0, 0] * (f - matrix @ u)
    return u


def faded(p: Values) -> np.ndarray:
    """Each wave is an eigenvector of all steps."""
    n, half = int(p["n"]), p["ratio"] / 2
    turn = np.pi / (n + 1)
    at = np.arange(n + 2)
    u = np.zeros((n + 2, n + 2))
    for size, down, across in ((1.0, 1, 2), (0.5, 3, 1)):
        values = [4 * half * np.sin(wave * turn / 2) ** 2 for wave in (down, across)]
        factor = np.prod([(1 - value) / (1 + value) for value in values]) ** int(p["k"])
        u += size * factor * np.outer(np.sin(down * turn * at), np.sin(across * turn * at))
    return np.abs(u)


def plasma(p: Values) -> np.ndarray:
    n, m = int(p["n"]), int(p["m"])
    x = m * (np.arange(1, n + 1) - 0.5) / n
    v = np.where(np.arange(1, n + 1) % 2, 0, 2) + 0.25 * np.sin(2 * np.pi * x / m)
    for _ in range(int(p["k"])):
        cell = np.floor(x).astype(int)
        part = x - cell
        charge = np.bincount(cell, 1 - part, m) + np.bincount((cell + 1) % m, part, m)
        charge = charge * m / n - 1
        field = np.concatenate([[0], np.cumsum((charge[1:] + charge[:-1]) / 2)])
        field -= field.mean()
        v = v + p["dt"] * np.interp(x, np.arange(m + 1), np.append(field, field[0]))
        x = (x + p["dt"] * v) % m
    return np.concatenate([x, np.abs(v)])


def least_squares_matrix(p: Values) -> np.ndarray:
    """The matrix of Hilbert above a multiple of the unit matrix."""
    at = np.arange(1, p["n"] + 1)
    return np.vstack([1 / (at[:, None] + at[None, :] - 1), np.sqrt(p["alpha"]) * np.eye(len(at))])


def triangle(p: Values) -> np.ndarray:
    """R by LAPACK, without its signs."""
    return np.abs(np.linalg.qr(least_squares_matrix(p), mode="r"))


def periodic_matrix(order: int) -> np.ndarray:
    """Tridiagonal with two more elements in its corners, dense."""
    at = np.arange(1, order + 1)
    matrix = np.diag(4 + at % 5 / 4)
    for i in range(order):
        matrix[i, i - 1] += -1 - at[i] % 3 / 8
        matrix[i, (i + 1) % order] += -1 + at[i] % 7 / 16
    return matrix


def periodic(p: Values) -> np.ndarray:
    """(m, order) the solutions of periodic systems, as dense ones; with q blocks all blocks have the same size."""
    order = -(-int(p["n"]) // int(p.get("q", 1))) * int(p.get("q", 1))
    at, side = np.arange(1, order + 1), np.arange(1, int(p["m"]) + 1)
    return np.linalg.solve(periodic_matrix(order), 1 + (3 * at[:, None] + 5 * side[None, :]) % 11).T
