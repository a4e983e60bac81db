"""Clement's equation of Gaussian elimination on the nCUBE 3200, with the coefficients that he fitted to runs.

Source: M. Clement, Analytical Performance Prediction of Data-Parallel Programs, dissertation, Oregon State University
(1994): the counts of section 4.2 and Table 5.1, R^2 = 0.9978 over 58 runs of three programs. Table 6.1 has an average
error of 12 % over 115 runs on this machine, and over 90 % of all runs are within 40 %.

The printed count of start-ups, 2 N + 2 N log2 P, is a misprint: his own terms, ComStart(BC) = ComStart(RE) = log2 P in
2 N ComStart(BC) + N (ComStart(BC) + ComStart(RE)), add up to 4 N log2 P, as in his equation of the time.
"""

from math import log2

OPERATION_S, LOOP_S, STARTUP_S, BYTE_S = 0.6001e-6, 15.2648e-6, 367.8870e-6, 2.3690e-6
"""Table 5.1: an operation, a loop over virtual processors, a message, a byte."""

AVERAGE_ERROR, MOST_ERRORS = 0.12, 0.40
"""Of his model: the mean on this machine, and the bound of 90 % of the runs."""

SIZES, PROCS = (32, 64, 128), (1, 2, 4, 8, 16, 32)
"""What is compared."""


def communication_s(n: int, procs: int, *, startup_s: float = STARTUP_S, byte_s: float = BYTE_S) -> float:
    """Seconds for the messages of one processor: 4 N log2 P start-ups and (8 N^2 + 36 N) log2 P bytes."""
    return log2(procs) * (4 * n * startup_s + (8 * n**2 + 36 * n) * byte_s)


def computation_s(n: int, procs: int, *, operation_s: float = OPERATION_S, loop_s: float = LOOP_S) -> float:
    """Seconds for the operations of one processor and its loops, of constant overhead."""
    return (12 * n + (121.84 * n**2 + 16 * n**3) / procs) * operation_s + 6 * n * loop_s


def elimination_s(n: int, procs: int) -> float:
    """Seconds for the elimination of an N x N matrix in double precision, and the back substitution."""
    return computation_s(n, procs) + communication_s(n, procs)
