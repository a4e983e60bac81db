"""The table of intrinsic functions: every row has a price, and gfortran agrees about arguments, types and values."""

import itertools
import subprocess

import pytest

from aag.diagnostics import SourceError
from aag.ir.evaluate import evaluate
from aag.ir.expressions import Call, ComplexLit, Constructor, IntLit, LogicalLit, RealLit, StringLit
from aag.ir.intrinsics import INTRINSICS, REDUCTIONS, charged
from aag.ir.result_types import DOUBLE, INTEGER, REAL, result_of
from aag.ir.spelling import spell
from aag.ir.units import Type
from aag.source.expression_parser import Parser
from aag.source.joining import Text
from aag.source.read import read_program

WITHOUT_NEST = ("elemental", "scalar", "type", "bounds")


def test_every_function_has_a_price():
    priced = [each for each in INTRINSICS.values() if each.form in WITHOUT_NEST]
    assert [each.name for each in priced if each.charge is None] == []
    assert [each.name for each in INTRINSICS.values() if each.form not in WITHOUT_NEST and each.charge] == []


def test_names_are_in_one_row():
    assert len({each.name for each in INTRINSICS.values()}) == len(INTRINSICS)
    assert {each.reduction.op for each in INTRINSICS.values() if each.reduction} == REDUCTIONS.keys()


@pytest.mark.parametrize(
    ("name", "arguments", "result", "expected"),
    [
        ("dsqrt", [DOUBLE], DOUBLE, {"r8.sqrt": 1}),
        ("modulo", [REAL, REAL], REAL, {"r4.div": 1, "r4.mul": 1, "r4.add": 1}),
        ("modulo", [INTEGER, INTEGER], INTEGER, {"int.div": 1}),
        ("amax1", [REAL, REAL, REAL], REAL, {"r4.cmp": 2}),
        ("nint", [DOUBLE], INTEGER, {"r8.add": 1, "convert": 1}),
        ("anint", [DOUBLE], DOUBLE, {"convert": 2}),
        ("floor", [REAL], INTEGER, {"r4.cmp": 1, "convert": 1}),
        ("dim", [DOUBLE, DOUBLE], DOUBLE, {"r8.add": 1, "r8.cmp": 1}),
        ("shiftl", [INTEGER, INTEGER], INTEGER, {"logical": 1}),
        ("abs", [Type(base="complex", bytes=16)], DOUBLE, {"r8.mul": 2, "r8.add": 1, "r8.sqrt": 1}),
        ("epsilon", [DOUBLE], DOUBLE, {}),
        ("theirs", [DOUBLE], DOUBLE, {"call": 1}),
    ],
)
def test_prices(name, arguments, result, expected):
    assert {key: value for key, value in charged(name, arguments, result).items() if value} == expected


# --- against gfortran -------------------------------------------------------------------------------------------

VALUES = {
    Type(base="integer", bytes=4): IntLit(3),
    Type(base="real", bytes=4): RealLit(0.5, "0.5"),
    Type(base="real", bytes=8): RealLit(0.5, "0.5d0", double=True),
    Type(base="complex", bytes=8): ComplexLit(RealLit(1.0, "1.0"), RealLit(2.0, "2.0")),
    Type(base="complex", bytes=16): Call("cmplx", (IntLit(1), IntLit(2), IntLit(8))),
    Type(base="logical", bytes=4): LogicalLit(True),
    Type(base="character", bytes=1): StringLit("x"),
}
ABSENT = frozenset(
    "dfloti dclock secnds etime dtime mpi_wtime cpu_time system_clock mvbits null c_loc c_sizeof this_image num_images"
    " grade_up grade_down global_alignment hpf_alignment active_num_procs ilen number_of_processors processors_shape"
    " mclock second time iargc rand irand ran allocated associated present new_line transfer findloc".split()
)
"""Functions that gfortran lacks, that are no functions, that take something else than values, or (FINDLOC) whose size
crashes gfortran 12."""

ARRAYS = ("reduction", "location", "expanded", "shift", "transpose", "matmul", "spread", "reshape", "bounds", "")


def patterns(row):
    """Calls with all required arguments by keyword, of all types; arrays where the function wants them."""
    names = row.arguments[: row.required]
    for kinds in itertools.product(VALUES, repeat=len(names)):
        given = [VALUES[each] for each in kinds]
        if row.form in ARRAYS:
            whole = [Constructor((each,)) for each in given]
            if row.form in ("matmul", "transpose"):
                whole = [Call("spread", (each, IntLit(1), IntLit(1))) for each in whole]
            scalars = {"dim": IntLit(1), "shift": IntLit(1), "ncopies": IntLit(1), "shape": Constructor((IntLit(1),))}
            given = [scalars.get(name, each) for name, each in zip(names, whole, strict=True)]
        yield kinds, Call(row.name, (), tuple(zip(names, given, strict=True)))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """All functions, the calls that gfortran accepts with the bits of their results, and those that it refuses."""
    folder = tmp_path_factory.mktemp("intrinsics")
    rows = [
        each
        for each in INTRINSICS.values()
        if "$" not in each.name
        and each.name not in ABSENT
        and not each.name.endswith(("_prefix", "_suffix", "_scatter"))
    ]
    asked = [(row, kinds, call) for row in rows for kinds, call in patterns(row)]
    tried = "".join(f"print *, storage_size({spell(call)})\n" for _, _, call in asked)
    (folder / "x.f90").write_text(tried + "end\n")
    words = ["gfortran", "-fsyntax-only", "-w", "-fmax-errors=0", "-fno-range-check", "x.f90"]
    errors = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stderr
    wrong = {int(line.split(":")[1]) for line in errors.splitlines() if line.startswith("x.f90:")}
    good = [each for at, each in enumerate(asked, start=1) if at not in wrong]
    chosen = "".join(f"print *, storage_size({spell(call)})\n" for _, _, call in good)
    (folder / "y.f90").write_text(chosen + "end\n")
    subprocess.run(["gfortran", "-w", "-fno-range-check", "y.f90", "-o", "y"], cwd=folder, check=True)
    bits = subprocess.run([folder / "y"], capture_output=True, text=True, check=True).stdout.split()
    refused = [each for at, each in enumerate(asked, start=1) if at in wrong]
    return rows, [(*each, int(size)) for each, size in zip(good, bits, strict=True)], refused


def test_arguments_have_the_names_of_gfortran(accepted):
    rows, found, _ = accepted
    modelled = {each.name for each in rows if each.arguments and each.form}
    assert modelled - {row.name for row, *_ in found} == set()


def test_results_have_the_sizes_of_gfortran(accepted):
    _, found, _ = accepted
    wrong = [
        (spell(call), bits)
        for row, kinds, call, bits in found
        if row.form
        and row.name not in ("merge", "repeat", "matmul")
        and 8 * result_of(row.type, kinds or [REAL], 0).bytes != bits
    ]
    assert wrong == []


INQUIRIES = [
    f"{name}({of})"
    for names, values in (
        ("kind digits huge range radix bit_size storage_size", ("1", "int(1, 8)", "int(1, 2)")),
        ("kind digits maxexponent minexponent precision radix range storage_size", ("1.0", "1.0d0", "real(1, 16)")),
        ("huge tiny epsilon", ("1.0", "1.0d0")),
    )
    for name in names.split()
    for of in values
]
OTHERS = (
    """
dim(3, 5);dim(5, 3);dim(2.5d0, 0.5d0);anint(2.5d0);anint(-0.4d0);aint(-2.7d0);floor(-0.5d0);ceiling(-0.5d0);nint(-2.5d0)
modulo(-7, 3);modulo(7, -3);modulo(-0.5d0, 0.2d0);shiftl(5, 3);shiftr(20, 2);shifta(-9, 1);ishft(3, 4);ishft(48, -4)
iand(12, 10);ior(12, 10);ieor(12, 10);not(5);mod(a=-7, p=3);int(3.7d0, 8);nint(3.7, kind=8);sign(a=2.5d0, b=-1.0d0)
dsqrt(2.0d0);dabs(-2.0d0);max0(3, 4);selected_int_kind(9);selected_int_kind(12);selected_real_kind(10)
selected_real_kind(r=100);selected_real_kind(p=5);max(1, 2, 3);min(2.5d0, 1.5d0);atan(2.0d0, -3.0d0)
""".replace("\n", ";")
    .strip(";")
    .split(";")
)


def printed(asked, folder):
    """What gfortran prints for each expression."""
    (folder / "x.f90").write_text("".join(f"print *, {each}\n" for each in asked) + "end\n")
    subprocess.run(["gfortran", "-w", "x.f90", "-o", "x"], cwd=folder, check=True)
    return subprocess.run([folder / "x"], capture_output=True, text=True, check=True).stdout.split()


def test_values_are_those_of_gfortran(tmp_path):
    asked = [*INQUIRIES, *OTHERS]
    for text, expected in zip(asked, printed(asked, tmp_path), strict=True):
        assert evaluate(Parser(Text(text, ((0, "x", 1, 1),))).expression(), {}) == pytest.approx(
            float(expected), rel=1e-7
        ), text


def test_every_value_is_that_of_gfortran(accepted, tmp_path):
    """Every elemental function that has a value, of the arguments in `VALUES`."""
    _, found, _ = accepted
    numbers = [
        Call(row.name, tuple(each for _, each in call.keywords))
        for row, kinds, call, _ in found
        if row.value and row.form == "elemental" and all(each.base in ("integer", "real") for each in kinds)
    ]
    assert len(numbers) > 80
    for call, expected in zip(numbers, printed(map(spell, numbers), tmp_path), strict=True):
        value = evaluate(call, {})
        if isinstance(value, bool):
            assert expected == ("T" if value else "F"), spell(call)
        else:
            assert value == pytest.approx(float(expected), rel=1e-6), spell(call)


def test_types_that_gfortran_accepts_are_accepted(accepted):
    _, found, _ = accepted
    text = "".join(f"print *, {spell(call)}\n" for _, _, call, _ in found) + "end\n"
    assert len(found) > 400
    assert [each.source_line for each in read_program(text, "x.f90").diagnostics if each.code == "E136"] == []


@pytest.mark.truth
def test_types_that_gfortran_refuses_are_refused(accepted):
    """Calls whose arguments gfortran refuses in all kinds, ACOSH(0.5) apart, whose value is out of range."""
    _, found, refused = accepted

    def bases(row, kinds):
        return row.name, *(each.base for each in kinds)

    good = {bases(row, kinds) for row, kinds, *_ in found}
    wrong = [call for row, kinds, call in refused if bases(row, kinds) not in good | {("acosh", "real")}]
    text = "".join(f"print *, {spell(call)}\n" for call in wrong) + "end\n"
    assert len(wrong) > 3000
    with pytest.raises(SourceError) as caught:
        read_program(text, "x.f90")
    lines = {each.span.line for each in caught.value.diagnostics if each.code == "E136"}
    assert [spell(call) for at, call in enumerate(wrong, start=1) if at not in lines] == []


def test_a_call_with_all_arguments_is_read():
    """The parser accepts as many arguments as the table has."""
    rows = [each for each in INTRINSICS.values() if each.arguments and "$" not in each.name]
    calls = [f"{each.name}({', '.join('x' * len(each.arguments))})" for each in rows]
    program = read_program(
        "type t\nreal r\nend type t\ntype(t) x\n" + "".join(f"print *, {each}\n" for each in calls) + "end\n", "x.f90"
    )
    assert [each.source_line for each in program.diagnostics if each.is_error] == []
