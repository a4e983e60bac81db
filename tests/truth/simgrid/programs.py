"""What the node programs do and take: the names and defaults of their parameters.

All programs also take the parameters of `EVERYWHERE`: one rank that computes longer, before its first
iteration or before each. `repeat` counts iterations, `bytes` the payload of a message, `work_s` and `*_s`
are seconds. "sequential" means csend, then crecv, one pair after the other; "concurrent" means that all
sends are isend and come before all receives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Value = int | float | str
Distribution = Literal["bb", "bx", "xb"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A node program: what it is, and its parameters with their defaults (None: must be given)."""

    meaning: str
    parameters: Mapping[str, Value | None]


EVERYWHERE: Mapping[str, Value | None] = MappingProxyType({"slow_rank": -1, "slow_s": 0.0, "slow_when": "first"})
"""`slow_rank` (-1: none) charges `slow_s` before its iteration 1 (`slow_when` = first) or before every one
(all)."""

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        "shift": Program(
            meaning=(
                "`repeat` times: send `bytes` to rank + `by`, receive from rank - `by`, compute "
                "`work_s`. Not periodic: ranks at the ends send or receive nothing."
            ),
            parameters={"bytes": None, "by": 1, "repeat": 1, "periodic": "no", "exchange": "sequential", "work_s": 0.0},
        ),
        "bcast": Program(
            meaning=(
                "`repeat` times: binomial broadcast of `bytes` from `root`, compute `work_s`. "
                "`tree` = shift works on (rank - root) mod P, xor on rank xor root (P a power of "
                "two). The root sends across the largest power of two first."
            ),
            parameters={"bytes": None, "root": 0, "repeat": 1, "tree": "shift", "work_s": 0.0},
        ),
        "allreduce": Program(
            meaning=(
                "`repeat` times: recursive doubling reduction of `bytes`, lowest bit first, "
                "`combine_s` charged for each operand received; compute `work_s`. With P not 2^k "
                "the last P - 2^k ranks first send to rank - 2^k and get the result back at the "
                "end (Def 8)."
            ),
            parameters={"bytes": 8, "repeat": 1, "combine_s": 0.0, "work_s": 0.0},
        ),
        "laplace": Program(
            meaning=(
                "`repeat` iterations of the four-point stencil a(i,j) <- b(i-1,j), b(i+1,j), "
                "b(i,j-1), b(i,j+1) for i, j = 2..n-1 with BLOCK distributions of 8-byte reals on "
                "a p1 x p2 grid (runner: `grid`, or `distribution` bb, bx, xb): overlap exchange "
                "as Def 7 (for dimension 1, 2: data move up, then down), then `point_s` for each "
                "point the rank computes, then (`reduce` = yes) an 8-byte allreduce over all "
                "ranks. Messages hold what the receiver's points read, so no corners. A rank "
                "without points exchanges nothing. A boundary line that is a whole block by "
                "itself is sent in every iteration although it never changes."
            ),
            parameters={
                "n": None,
                "repeat": 1,
                "p1": None,
                "p2": None,
                "exchange": "sequential",
                "reduce": "no",
                "point_s": 0.0,
            },
        ),
        "gauss": Program(
            meaning=(
                "Elimination without pivoting on n columns, `columns` = cyclic or block: for k = "
                "1..n-1 the owner of column k charges (n-k) `divide_s` and broadcasts 8 (n-k) "
                "bytes to all (as `bcast`), then every rank charges (n-k) `update_s` for each of "
                "its columns after k. `slow_when` = first is k = 1."
            ),
            parameters={"n": None, "columns": "cyclic", "tree": "shift", "divide_s": 0.0, "update_s": 0.0},
        ),
        "transpose": Program(
            meaning=(
                "`repeat` times: `bytes` from each rank to each other one in P-1 steps, partner "
                "rank xor step (`order` = xor, P a power of two) or to rank + step, from rank - "
                "step (ring); compute `work_s`."
            ),
            parameters={"bytes": None, "repeat": 1, "order": "xor", "exchange": "sequential", "work_s": 0.0},
        ),
        "pipeline": Program(
            meaning=(
                "`repeat` times: receive `bytes` from rank - 1, charge `point_s` for each of the "
                "rank's elements of a BLOCK distribution of n, send to rank + 1. Ranks without "
                "elements take no part."
            ),
            parameters={"n": None, "repeat": 1, "bytes": 8, "point_s": 0.0},
        ),
        "cube": Program(
            meaning=(
                "`repeat` times the collective `what` (allreduce, bcast, concatenate) of a hypercube's own library, "
                "whose partners are nodes that differ in one bit, in each line of a p1 x p2 grid along its dimension "
                "`along` (0: of all ranks). `root`: a place on the line; `combine_s` as for allreduce."
            ),
            parameters={
                "what": None,
                "bytes": None,
                "root": 0,
                "repeat": 1,
                "combine_s": 0.0,
                "p1": 1,
                "p2": 1,
                "along": 0,
            },
        ),
        "script": Program(
            meaning="Any program written down as `steps` of `simulate_script`.", parameters={"steps": None}
        ),
    }
)


def words(program: str, given: Mapping[str, Value]) -> dict[str, Value]:
    """All parameters of `program` with defaults filled in; ValueError for an unknown or a missing one."""
    if program not in PROGRAMS:
        raise ValueError(f"there is no node program {program!r}; there are {', '.join(PROGRAMS)}")
    known = {**EVERYWHERE, **PROGRAMS[program].parameters}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"{program} takes no {', '.join(unknown)}; it takes {', '.join(known)}")
    missing: list[str] = []
    result: dict[str, Value] = {}
    for name, default in known.items():
        value = given.get(name, default)
        if value is None:
            missing.append(name)
        else:
            result[name] = value
    if missing:
        raise ValueError(f"{program} needs {', '.join(missing)}")
    return result
