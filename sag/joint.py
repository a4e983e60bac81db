"""What a fit says of several groups of figures at once: how they vary together (the key `fit` of a machine file)."""

from collections.abc import Collection

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sag.document import Findings, Listing, Node, Scalar, YamlTable
from sag.errors import MachinePlace, nearest

Array = NDArray[np.float64]

KEYS = ("groups", "covariance", "error")

MOST_GROUPS = 100

_ROUNDING = 1e-6
"""By how much a printed covariance may be off, relative to its largest entry."""


class JointFit(Struct, frozen=True, kw_only=True, eq=False):
    """Groups of figures that one fit gives.

    Attributes:
        groups: Their names.
        covariance: (G, G) of their relative changes.
        error: Standard deviation of the relative error that the fit leaves of a time.
    """

    groups: tuple[str, ...]
    covariance: Array
    error: float
    place: MachinePlace

    @property
    def root(self) -> Array:
        """(G, G) a matrix whose product with independent standard normal numbers has the covariance."""
        values, vectors = np.linalg.eigh(self.covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def joint_fit(node: Node | None, findings: Findings) -> JointFit | None:
    """What a file says under `fit`; whatever is wrong with it is noted."""
    if node is None:
        return None
    if not isinstance(node, YamlTable):
        findings.add("M105", "'fit' must be a mapping", node.place, "write its groups, covariance and error")
        return None
    for key, _ in node:
        if key.text not in KEYS:
            findings.add("M103", f"unknown key '{key.text}' in 'fit'", key.place, nearest(key.text, KEYS))
    for name in KEYS:
        if node.get(name) is None:
            findings.add("M104", f"the key 'fit.{name}' is missing", node.place)
            return None
    groups, rows, error = _words(node.get("groups")), _rows(node.get("covariance")), node.get("error")
    if groups is None or len(set(groups)) < len(groups) or not 1 <= len(groups) <= MOST_GROUPS:
        findings.add("M105", f"'fit.groups' must be a list of 1 to {MOST_GROUPS} different names", node.place)
        return None
    size = len(groups)
    if rows is None or len(rows) != size or any(len(row) != size for row in rows):
        findings.add("M105", f"'fit.covariance' must have {size} rows of {size} numbers", node.place)
        return None
    matrix = np.array(rows)
    if not _is_covariance(matrix):
        findings.add("M107", "'fit.covariance' is not symmetric and positive", node.place)
        return None
    value = _number(error) if isinstance(error, Scalar) else None
    if value is None or not 0 <= value < 1:
        place = node.place if error is None else error.place
        findings.add("M107", "'fit.error' must be a share from 0 to below 1", place)
        return None
    return JointFit(groups=groups, covariance=matrix, error=value, place=node.place)


def used_fit(fit: JointFit, known: Collection[str], file: str, findings: Findings) -> JointFit | None:
    """The fit without groups that no figure belongs to any more; where `file` itself says it, they are noted."""
    lacking = [each for each in fit.groups if each not in known]
    if fit.place.file == file:
        for each in lacking:
            findings.add("M107", f"no figure has the group '{each}' of 'fit'", fit.place, nearest(each, known))
    kept = [at for at, each in enumerate(fit.groups) if each in known]
    if not kept:
        return None
    groups = tuple(fit.groups[at] for at in kept)
    return JointFit(groups=groups, covariance=fit.covariance[np.ix_(kept, kept)], error=fit.error, place=fit.place)


def _words(node: Node | None) -> tuple[str, ...] | None:
    if not isinstance(node, Listing) or not all(isinstance(each, Scalar) for each in node.items):
        return None
    return tuple(each.text for each in node.items if isinstance(each, Scalar))


def _rows(node: Node | None) -> list[list[float]] | None:
    if not isinstance(node, Listing):
        return None
    rows: list[list[float]] = []
    for each in node.items:
        if not isinstance(each, Listing):
            return None
        row = [_number(cell) for cell in each.items if isinstance(cell, Scalar)]
        numbers = [cell for cell in row if cell is not None]
        if len(numbers) < len(each.items):
            return None
        rows.append(numbers)
    return rows


def _number(of: Scalar) -> float | None:
    text = of.text.strip()
    try:
        value = float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and abs(value) < 1e6 else None


def _is_covariance(matrix: Array) -> bool:
    largest = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > _ROUNDING * largest:
        return False
    return bool(np.linalg.eigvalsh((matrix + matrix.T) / 2.0).min() >= -_ROUNDING * largest)


def normal_scores(quantiles: Array) -> Array:
    """The standard normal numbers of quantiles, which lie strictly between 0 and 1."""
    from statistics import NormalDist

    normal = NormalDist()
    return np.array([normal.inv_cdf(float(each)) for each in quantiles])
