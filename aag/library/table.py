"""The cost of well-known library procedures, by name and position of their arguments.

Only arithmetic is counted, at the machine's times for additions, multiplications and so on; loads and stores only where
a procedure does nothing else. So a cost is what a tuned library takes while its operands are in registers.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

LAWN41 = "LAPACK Working Note 41"
"""Susan Blackford and Jack Dongarra, Installation Guide for LAPACK, appendix C, and the functions DOPBL2, DOPBL3 and
DOPLA of the timing programs of LAPACK 3.0, whose formulas these are."""
BLAS1 = "one operation for each element, as in the reference BLAS"
"""Lawson, Hanson, Kincaid and Krogh, Basic Linear Algebra Subprograms for Fortran Usage, ACM TOMS 5 (1979)."""
LINPACK = "LINPACK Users' Guide, with the counts of LAPACK Working Note 41"
FFT = "the convention of benchFFT"
"""By Frigo and Johnson: 5 n log2 n operations for n complex numbers, half of that for real
ones. Two fifths are multiplications, as in the butterflies of radix 2. Transforms of FFTPACK leave the tables in their
work arrays as they are; the rest of these is scratch."""
RANDOM = "the minimal standard generator, a convention"
"""Park and Miller, Random Number Generators: Good Ones Are Hard to Find, CACM 31 (1988), with Schrage's method."""
TIMER = "a call"


class LibraryRow(Struct, frozen=True):
    """One procedure: its arguments, those that it changes, and its cost as text."""

    arguments: tuple[str, ...]
    changes: tuple[str, ...]
    text: str
    source: str
    kind: str = ""


_KINDS = {"s": "r4", "d": "r8", "c": "c8", "z": "c16"}
_CLASS = re.compile(r"\[(\w+)\](\w+)")

_GETRF_ADDS = "{k}*(m*n - (m + n)*({k} + 1)/2 + ({k} + 1)*(2*{k} + 1)/6)".replace("{k}", "min(m, n)")
_GETRF_MULTS = f"{_GETRF_ADDS} + min(m, n)*(m - (min(m, n) + 1)/2)"
_SQUARE = re.compile(r"min\(m, n\)|\bm\b")
_LU_ADDS, _LU_MULTS = (_SQUARE.sub("n", each) for each in (_GETRF_ADDS, _GETRF_MULTS))
_CHOLESKY_MULTS, _CHOLESKY_ADDS = "n*(1/3 + n*(1/2 + n/6))", "n*(n**2 - 1)/6"
_SIDED = "merge(m, n, side == 'l')"
_QR = (
    "merge(n*(23/6 + m + n/2 + n*(m - n/3)), m*(23/6 + 2*n - m/2 + m*(n - m/3)), m >= n)",
    "merge(n*(5/6 + n*(1/2 + m - n/3)), m*(5/6 + n - m/2 + m*(n - m/3)), m >= n)",
)
_LQ = (
    "merge(n*(29/6 + m + n/2 + n*(m - n/3)), m*(29/6 + 2*n - m/2 + m*(n - m/3)), m >= n)",
    "merge(n*(5/6 + m + n*(m - n/3 - 1/2)), m*(5/6 + m/2 + m*(n - m/3)), m >= n)",
)
_BD = (
    "merge(n*(20/3 + n*(2 + 2*m - 2*n/3)), m*(20/3 + m*(2 + 2*n - 2*m/3)), m >= n)",
    "merge(n*(5/3 + n - m + n*(2*m - 2*n/3)), m*(5/3 + m - n + m*(2*n - 2*m/3)), m >= n)",
)
_MQR = (
    "merge(k*n*(2*m + 2 - k), k*(m*(2*n - k) + m + n + (1 - k)/2), side == 'l')",
    "merge(k*n*(2*m + 1 - k), k*m*(2*n + 1 - k), side == 'l')",
)
_GQR = ("k*(2*n - k - 5/3 + 2*m*n + k*(2*k/3 - m - n))", "k*(1/3 + n - m + 2*m*n + k*(2*k/3 - m - n))")
_TB = "n*(n + 1)/2 - (n - k - 1)*(n - k)/2", "n*(n - 1)/2 - (n - k - 1)*(n - k)/2"
_WIDE = "min(kl, n - 1)", "min(kl + ku, n - 1)"
_GBTRS = (
    "nrhs*(n*({l} + 1 + {u}) - ({l}*({l} + 1) + {u}*({u} + 1))/2)".replace("{l}", _WIDE[0]).replace("{u}", _WIDE[1]),
    "nrhs*(n*({l} + {u}) - ({l}*({l} + 1) + {u}*({u} + 1))/2)".replace("{l}", _WIDE[0]).replace("{u}", _WIDE[1]),
)
_PBTRF = ("kd*(-2/3 + kd*(-1 - kd/3)) + n*(1 + kd*(3/2 + kd/2))", "kd*(-1/6 + kd*(-1/2 - kd/3)) + n*(kd/2*(1 + kd))")


def _fft(n: str, part: float, kind: str) -> str:
    """The cost of a transform of n numbers; `part`: 1 where they are complex, else 0.5."""
    each = f"{n}*log2(max({n}, 1)) {kind}"
    return f"{2 * part:g}*{each}.mul + {3 * part:g}*{each}.add".removeprefix("1*")


_COUNTED: tuple[tuple[str, str, str, str, str], ...] = (
    # names, arguments, those that are changed, multiplications, additions
    ("[sdcz]gemv", "trans m n alpha a lda x incx beta y incy", "y", "m*(n + 1)", "m*n"),
    (
        "[sdcz]gbmv",
        "trans m n kl ku alpha a lda x incx beta y incy",
        "y",
        "m*(n + 1) - (m - 1 - kl)*(m - kl)/2 - (n - 1 - ku)*(n - ku)/2",
        "m*(n + 1) - (m - 1 - kl)*(m - kl)/2 - (n - 1 - ku)*(n - ku)/2",
    ),
    ("[sd]symv [cz]hemv", "uplo n alpha a lda x incx beta y incy", "y", "n*(n + 1)", "n**2"),
    ("[sd]spmv [cz]hpmv", "uplo n alpha ap x incx beta y incy", "y", "n*(n + 1)", "n**2"),
    (
        "[sd]sbmv [cz]hbmv",
        "uplo n k alpha a lda x incx beta y incy",
        "y",
        "n*(n + 1) - (n - 1 - k)*(n - k)",
        "n**2 - (n - 1 - k)*(n - k)",
    ),
    ("[sdcz]trmv [sdcz]trsv", "uplo trans diag n a lda x incx", "x", "n*(n + 1)/2", "n*(n - 1)/2"),
    ("[sdcz]tpmv [sdcz]tpsv", "uplo trans diag n ap x incx", "x", "n*(n + 1)/2", "n*(n - 1)/2"),
    ("[sdcz]tbmv [sdcz]tbsv", "uplo trans diag n k a lda x incx", "x", *_TB),
    ("[sd]ger [cz]geru [cz]gerc", "m n alpha x incx y incy a lda", "a", "m*n + min(m, n)", "m*n"),
    ("[sd]syr [cz]her", "uplo n alpha x incx a lda", "a", "n*(n + 1)/2 + n", "n*(n + 1)/2"),
    ("[sd]spr [cz]hpr", "uplo n alpha x incx ap", "ap", "n*(n + 1)/2 + n", "n*(n + 1)/2"),
    ("[sd]syr2 [cz]her2", "uplo n alpha x incx y incy a lda", "a", "n*(n + 1) + 2*n", "n*(n + 1)"),
    ("[sd]spr2 [cz]hpr2", "uplo n alpha x incx y incy ap", "ap", "n*(n + 1) + 2*n", "n*(n + 1)"),
    ("[sdcz]gemm", "transa transb m n k alpha a lda b ldb beta c ldc", "c", "m*n*k", "m*n*k"),
    ("[sdcz]symm [cz]hemm", "side uplo m n alpha a lda b ldb beta c ldc", "c", f"m*n*{_SIDED}", f"m*n*{_SIDED}"),
    ("[sdcz]syrk [cz]herk", "uplo trans n k alpha a lda beta c ldc", "c", "k*n*(n + 1)/2", "k*n*(n + 1)/2"),
    ("[sdcz]syr2k [cz]her2k", "uplo trans n k alpha a lda b ldb beta c ldc", "c", "k*n**2", "k*n**2 + n"),
    (
        "[sdcz]trmm [sdcz]trsm",
        "side uplo transa diag m n alpha a lda b ldb",
        "b",
        f"m*n*({_SIDED} + 1)/2",
        f"m*n*({_SIDED} - 1)/2",
    ),
    ("[sdcz]getrf [sdcz]getf2", "m n a lda ipiv info", "a ipiv info", _GETRF_MULTS, _GETRF_ADDS),
    ("[sdcz]getrs", "trans n nrhs a lda ipiv b ldb info", "b info", "nrhs*n**2", "nrhs*n*(n - 1)"),
    (
        "[sdcz]getri",
        "n a lda ipiv work lwork info",
        "a work info",
        "n*(5/6 + n*(1/2 + 2*n/3))",
        "n*(5/6 + n*(2*n/3 - 3/2))",
    ),
    (
        "[sdcz]gesv",
        "n nrhs a lda ipiv b ldb info",
        "a ipiv b info",
        f"{_LU_MULTS} + nrhs*n**2",
        f"{_LU_ADDS} + nrhs*n*(n - 1)",
    ),
    (
        "[sdcz]gbtrf",
        "m n kl ku ab ldab ipiv info",
        "ab ipiv info",
        "min(m, n)*kl*(1 + kl + ku)",
        "min(m, n)*kl*(kl + ku)",
    ),
    ("[sdcz]gbtrs", "trans n kl ku nrhs ab ldab ipiv b ldb info", "b info", *_GBTRS),
    (
        "[sdcz]gbsv",
        "n kl ku nrhs ab ldab ipiv b ldb info",
        "ab ipiv b info",
        f"n*kl*(1 + kl + ku) + {_GBTRS[0]}",
        f"n*kl*(kl + ku) + {_GBTRS[1]}",
    ),
    ("[sdcz]potrf [sdcz]potf2", "uplo n a lda info", "a info", _CHOLESKY_MULTS, _CHOLESKY_ADDS),
    ("[sdcz]pptrf", "uplo n ap info", "ap info", _CHOLESKY_MULTS, _CHOLESKY_ADDS),
    ("[sdcz]potrs", "uplo n nrhs a lda b ldb info", "b info", "nrhs*n*(n + 1)", "nrhs*n*(n - 1)"),
    ("[sdcz]pptrs", "uplo n nrhs ap b ldb info", "b info", "nrhs*n*(n + 1)", "nrhs*n*(n - 1)"),
    ("[sdcz]potri", "uplo n a lda info", "a info", "n*(2/3 + n*(1 + n/3))", "n*(1/6 + n*(n/3 - 1/2))"),
    (
        "[sdcz]posv",
        "uplo n nrhs a lda b ldb info",
        "a b info",
        f"{_CHOLESKY_MULTS} + nrhs*n*(n + 1)",
        f"{_CHOLESKY_ADDS} + nrhs*n*(n - 1)",
    ),
    ("[sdcz]pbtrf", "uplo n kd ab ldab info", "ab info", *_PBTRF),
    (
        "[sdcz]pbtrs",
        "uplo n kd nrhs ab ldab b ldb info",
        "b info",
        "nrhs*(2*n - kd)*(kd + 1)",
        "nrhs*kd*(2*n - (kd + 1))",
    ),
    ("[sd]pttrf", "n d e info", "d e info", "2*(n - 1)", "n - 1"),
    ("[sd]pttrs", "n nrhs d e b ldb info", "b info", "nrhs*(3*n - 2)", "nrhs*2*(n - 1)"),
    ("[sd]ptsv", "n nrhs d e b ldb info", "d e b info", "2*(n - 1) + nrhs*(3*n - 2)", "n - 1 + nrhs*2*(n - 1)"),
    (
        "[sdcz]sytrf [cz]hetrf",
        "uplo n a lda ipiv work lwork info",
        "a ipiv work info",
        "n*(10/3 + n*(1/2 + n/6))",
        "n/6*(n**2 - 1)",
    ),
    ("[sdcz]sytrs [cz]hetrs", "uplo n nrhs a lda ipiv b ldb info", "b info", "nrhs*n**2", "nrhs*n*(n - 1)"),
    (
        "[sd]sytrd [cz]hetrd",
        "uplo n a lda d e tau work lwork info",
        "a d e tau work info",
        "max(0, n*(n*(5/2 + 2*n/3) - 1/6) - 15)",
        "max(0, n*(n*(1 + 2*n/3) - 8/3) - 4)",
    ),
    ("[sdcz]gebrd", "m n a lda d e tauq taup work lwork info", "a d e tauq taup work info", *_BD),
    (
        "[sdcz]gehrd",
        "n ilo ihi a lda tau work lwork info",
        "a tau work info",
        "max(0, n*(n*(1/2 + 5*n/3) - 7/6) - 13)",
        "max(0, n*(n*(5*n/3 - 1) - 2/3) - 8)",
    ),
    ("[sdcz]geqrf [sdcz]geqlf", "m n a lda tau work lwork info", "a tau work info", *_QR),
    ("[sdcz]geqr2 [sdcz]geql2", "m n a lda tau work info", "a tau work info", *_QR),
    ("[sdcz]gelqf [sdcz]gerqf", "m n a lda tau work lwork info", "a tau work info", *_LQ),
    ("[sd]ormqr [cz]unmqr", "side trans m n k a lda tau c ldc work lwork info", "c work info", *_MQR),
    ("[sd]orgqr [cz]ungqr", "m n k a lda tau work lwork info", "a work info", *_GQR),
    ("[sdcz]trtrs", "uplo trans diag n nrhs a lda b ldb info", "b info", "nrhs*n*(n + 1)/2", "nrhs*n*(n - 1)/2"),
    ("[sdcz]trtri", "uplo diag n a lda info", "a info", "n*(1/3 + n*(1/2 + n/6))", "n*(1/3 + n*(n/6 - 1/2))"),
)

_SOLVERS_OF_LINPACK: tuple[tuple[str, str, str, str, str], ...] = (
    ("[sdcz]gefa", "a lda n ipvt info", "a ipvt info", _LU_MULTS, _LU_ADDS),
    ("[sdcz]gesl", "a lda n ipvt b job", "b", "n**2", "n*(n - 1)"),
    ("[sdcz]pofa", "a lda n info", "a info", _CHOLESKY_MULTS, _CHOLESKY_ADDS),
    ("[sdcz]posl", "a lda n b", "b", "n*(n + 1)", "n*(n - 1)"),
)

_OTHERS: tuple[tuple[str, str, str, str, str], ...] = (
    # names, arguments, those that are changed, cost, source
    ("[sdcz]axpy", "n a x incx y incy", "y", "n mul + n add", BLAS1),
    ("[sd]dot [cz]dotu [cz]dotc", "n x incx y incy", "", "n mul + n add", BLAS1),
    ("[sd]nrm2", "n x incx", "", "n mul + n add + 1 sqrt", BLAS1),
    ("[sd]asum", "n x incx", "", "n add + n cmp", BLAS1),
    ("[sdcz]scal", "n a x incx", "x", "n mul", BLAS1),
    ("[sd]rot", "n x incx y incy c s", "x y", "4*n mul + 2*n add", BLAS1),
    ("[sd]copy", "n x incx y incy", "y", "n load + n store", BLAS1),
    ("[sd]swap", "n x incx y incy", "x y", "2*n load + 2*n store", BLAS1),
    ("[cz]copy", "n x incx y incy", "y", "2*n load + 2*n store", BLAS1),
    ("[cz]swap", "n x incx y incy", "x y", "4*n load + 4*n store", BLAS1),
    ("isamax", "n x incx", "", "2*n r4.cmp", BLAS1),
    ("idamax", "n x incx", "", "2*n r8.cmp", BLAS1),
    ("icamax", "n x incx", "", "3*n r4.cmp + n r4.add", BLAS1),
    ("izamax", "n x incx", "", "3*n r8.cmp + n r8.add", BLAS1),
    ("scnrm2", "n x incx", "", "2*n r4.mul + 2*n r4.add + 1 r4.sqrt", BLAS1),
    ("dznrm2", "n x incx", "", "2*n r8.mul + 2*n r8.add + 1 r8.sqrt", BLAS1),
    ("scasum", "n x incx", "", "2*n r4.add + 2*n r4.cmp", BLAS1),
    ("dzasum", "n x incx", "", "2*n r8.add + 2*n r8.cmp", BLAS1),
    ("csscal", "n a x incx", "x", "2*n r4.mul", BLAS1),
    ("zdscal", "n a x incx", "x", "2*n r8.mul", BLAS1),
    *(
        (names, arguments, changes, _fft(n, part, kind), FFT)
        for names, arguments, changes, n, part, kind in (
            ("cfftf cfftb", "n c wsave", "c", "n", 1, "r4"),
            ("zfftf zfftb", "n c wsave", "c", "n", 1, "r8"),
            ("rfftf rfftb sint cost", "n r wsave", "r", "n", 0.5, "r4"),
            ("dfftf dfftb dsint dcost", "n r wsave", "r", "n", 0.5, "r8"),
            ("four1", "data nn isign", "data", "nn", 1, "r4"),
            ("dfour1", "data nn isign", "data", "nn", 1, "r8"),
            ("realft", "data n isign", "data", "n", 0.5, "r4"),
            ("drealft", "data n isign", "data", "n", 0.5, "r8"),
        )
    ),
    ("cffti rffti sinti costi", "n wsave", "wsave", "2*n r4.sin", "two values of a table for each number"),
    ("zffti dffti dsinti dcosti", "n wsave", "wsave", "2*n r8.sin", "two values of a table for each number"),
    (
        "ran0 ran1 ran2 ran3",
        "idum",
        "idum",
        "1 int.div + 3 int.mul + 2 int.add + 1 int.cmp + 1 convert + 1 r4.mul",
        RANDOM,
    ),
    ("ranf drand48 drand dran", "", "", "1 int.div + 3 int.mul + 2 int.add + 1 int.cmp + 1 convert + 1 r8.mul", RANDOM),
    ("srand srand48 ranset ranget", "seed", "seed", "1 assign", RANDOM),
    ("getarg getenv", "which value", "value", "1 call", TIMER),
    ("fdate", "date", "date", "1 call", TIMER),
    ("sleep system", "what", "", "1 call", TIMER),
    ("omp_get_wtime timef rtc wtime irtc", "", "", "0 call", TIMER),
)


def row(name: str) -> LibraryRow | None:
    """The row of a procedure, or None."""
    return _rows().get(name)


def names() -> tuple[str, ...]:
    """All procedures of the table, sorted."""
    return tuple(sorted(_rows()))


@cache
def _rows() -> Mapping[str, LibraryRow]:
    found: dict[str, LibraryRow] = {}
    for rows, source in ((_COUNTED, LAWN41), (_SOLVERS_OF_LINPACK, LINPACK)):
        for listed, arguments, changes, mults, adds in rows:
            text = f"{mults} mul + {adds} add"
            found |= {
                each: LibraryRow(tuple(arguments.split()), tuple(changes.split()), text, source, kind)
                for each, kind in _names(listed)
            }
    for listed, arguments, changes, text, source in _OTHERS:
        found |= {
            each: LibraryRow(tuple(arguments.split()), tuple(changes.split()), text, source, kind)
            for each, kind in _names(listed)
        }
    return found


def _names(listed: str) -> Iterator[tuple[str, str]]:
    """``[sd]axpy`` is saxpy and daxpy; each with the kind of its numbers, where the first letter says it."""
    for each in listed.split():
        match = _CLASS.fullmatch(each)
        if match is None:
            yield each, ""
        else:
            yield from ((letter + match[2], _KINDS[letter]) for letter in match[1])
