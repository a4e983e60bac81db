"""All intrinsic functions, one row each: its arguments, what it makes of arrays, its type, price and value.

Every stage reads this table. A new function is a row; where it is new in kind, its price is a function in
`aag.ir.operations`, its value one in `aag.ir.values`, and its form one in `aag.spmd.elementwise`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from aag.ir import operations as o
from aag.ir import values as v
from aag.ir.expressions import Binary, Call, Expr, IntLit, LogicalLit, Unary
from aag.ir.operations import Charge
from aag.ir.units import Type

Form = Literal[
    "",
    "elemental",
    "reduction",
    "location",
    "expanded",
    "shift",
    "transpose",
    "matmul",
    "spread",
    "reshape",
    "prefix",
    "bounds",
    "type",
    "scalar",
]
"""What a function makes of arrays. Empty: not modelled; `prefix`: a scan of one dimension, as the whole value that is
assigned. `expanded`: rewritten with other functions; `bounds`: what the
declaration of an array says; `type`: a constant that depends on the type only; `scalar`: there are no arrays."""

Typing = Literal[
    "first",
    "second",
    "common",
    "part",
    "integer",
    "real",
    "double",
    "logical",
    "complex",
    "double complex",
    "character",
    "kind",
]
"""The type of a result (`aag.ir.result_types.result_of`). `first`, `second`: the type of that argument; `common`: the
type of the product of the first two; `part`: the type of a part of a complex number; `kind`: real, of the size of a
part of a complex argument; all others name a type. An argument KIND= changes its size."""

CALL = o.fixed(call=1)
"""The price of a function of which nothing is known."""
CALLED = "called$"
"""A function at the price of a call and of no value: in a loop, it stands for the call of a procedure that follows."""
SERIAL = "serial$"
"""The variable of the loop of one iteration that stands for an HPF_SERIAL procedure, and what the names of the arrays
begin with that only the processor of this iteration has."""
FREE = o.fixed()
"""The price of what the compiler or the descriptor of an array says."""


_LETTERS = {"i": "integer", "r": "real", "z": "complex", "l": "logical", "c": "character"}
"""Base types by the letters that rows have for them."""
_ARGUMENT = re.compile(r"(\w+)(\??)(?::(\w+)|([=~])(\w+))?")


class Reduction(Struct, frozen=True, kw_only=True):
    """How values are combined.

    `op` is the name in nodes, `sent` the operation that combines partial results. `operator` or `function` combines two
    values at the price of the operation class `step`; `first` changes nothing when it is combined (None: the least or
    greatest value of the type). `bases` are the types that can be combined; `located` reductions combine pairs of a
    value and its place.
    """

    op: str
    bases: tuple[str, ...]
    sent: str = ""
    operator: str = ""
    function: str = ""
    step: str = "cmp"
    first: Expr | None = None
    located: bool = False

    def start(self, into: Expr, of: Type, *, some: bool) -> Expr:
        """What changes nothing when it is combined, into a variable of a type: an integer may
        stand for its value. `some`: there is a value to combine it
        with, else MAXVAL and MINVAL return the greatest finite value, with its sign or without."""
        if self.first is not None:
            return self.first
        if self.located:
            return Call(of.derived, (IntLit(0), IntLit(0)))
        if of.base == "character":
            return Call("repeat", (Call("achar", (IntLit(0 if self.op == "max" else 255),)), IntLit(of.bytes)))
        infinite = some and of.base == "real" and of.bytes in (4, 8)
        most = Call("infinity$", (into, IntLit(of.bytes))) if infinite else Call("huge", (into,))
        if self.op == "min":
            return most
        return Binary("-", Unary("-", most), IntLit(1)) if of.base == "integer" else Unary("-", most)

    def combined(self, left: Expr, right: Expr) -> Expr:
        """The combination of two values."""
        return Binary(self.operator, left, right) if self.operator else Call(self.function, (left, right))

    def accumulated(self, result: Expr, element: Expr) -> Expr:
        """What `result` is after one more element."""
        if self.op == "count":
            return Call("merge", (Binary("+", result, IntLit(1)), result, element))
        return self.combined(result, element)

    def step_class(self, of: Type) -> str:
        """The operation class of combining two values of a type."""
        return self.step if self.step == "logical" else f"{of.operation_kind}.{self.step}"


class Argument(Struct, frozen=True):
    """An argument of a function. `types`: the base types that it may have; empty: all. `follows`: an argument whose
    base type it shares; where not `exactly`, any number goes with any number."""

    name: str
    optional: bool = False
    types: tuple[str, ...] = ()
    follows: str = ""
    exactly: bool = True


class Intrinsic(Struct, frozen=True, kw_only=True):
    """One row. `accepts`: the arguments with their types; `required`: how many of them must be there, which come
    first; `charge`: the price of a call, None where a nest takes its place; `value`: the function that computes it for
    scalars, which gets the required arguments by position and the others by name (for the form `type`: the base and
    bytes of a type); `expansion`: for the form `expanded`, the expression that replaces a call whose first argument has
    the given type."""

    name: str
    arguments: tuple[str, ...]
    accepts: tuple[Argument, ...]
    required: int
    form: Form
    type: Typing
    charge: Charge | None = None
    value: Callable[..., v.Value] | None = None
    reduction: Reduction | None = None
    expansion: Callable[[Call, Type], Expr] | None = None

    @property
    def is_pure(self) -> bool:
        """Whether a call does nothing but compute its value, at a price that is known."""
        return self.charge is not None and self.charge is not CALL

    def bound(self, call: Call) -> dict[str, Expr]:
        """The arguments of a call by name; further ones, of MAX and MIN, by number."""
        names = self.arguments
        given = {names[at] if at < len(names) else str(at): each for at, each in enumerate(call.args)}
        return given | dict(call.keywords)


REDUCTIONS: Mapping[str, Reduction] = {
    each.op: each
    for each in (
        Reduction(
            op="sum", sent="add", operator="+", step="add", first=IntLit(0), bases=("real", "integer", "complex")
        ),
        Reduction(
            op="product", sent="mul", operator="*", step="mul", first=IntLit(1), bases=("real", "integer", "complex")
        ),
        Reduction(op="max", function="max", bases=("real", "integer", "character")),
        Reduction(op="min", function="min", bases=("real", "integer", "character")),
        Reduction(op="count", sent="add", operator="+", step="add", first=IntLit(0), bases=()),
        Reduction(op="all", sent="and", operator=".and.", step="logical", first=LogicalLit(True), bases=("logical",)),
        Reduction(op="any", sent="or", operator=".or.", step="logical", first=LogicalLit(False), bases=("logical",)),
        Reduction(op="parity", operator=".neqv.", step="logical", first=LogicalLit(False), bases=("logical",)),
        Reduction(op="iall", function="iand", step="logical", first=Unary("-", IntLit(1)), bases=("integer",)),
        Reduction(op="iany", function="ior", step="logical", first=IntLit(0), bases=("integer",)),
        Reduction(op="iparity", function="ieor", step="logical", first=IntLit(0), bases=("integer",)),
        Reduction(op="maxloc", function="maxloc", bases=("derived",), located=True),
        Reduction(op="minloc", function="minloc", bases=("derived",), located=True),
    )
}
"""Reductions by the name that nodes have for them."""

SENT: Mapping[str, str] = {each.sent or op: op for op, each in REDUCTIONS.items() if op != "count"}
"""The reduction behind the name of a combination."""


def _norm2(call: Call, _: Type) -> Expr:
    array, *rest = call.args
    squares = Binary("**", array, IntLit(2))
    return Call("sqrt", (Call("sum", (squares, *rest), call.keywords, span=call.span),), span=call.span)


def _dot_product(call: Call, first: Type) -> Expr:
    left, right = call.args
    if first.base == "logical":
        return Call("any", (Binary(".and.", left, right),), span=call.span)
    left = Call("conjg", (left,)) if first.base == "complex" else left
    return Call("sum", (Binary("*", left, right),), span=call.span)


def _findloc(call: Call, first: Type) -> Expr:
    """FINDLOC as MAXLOC of a comparison: the first place where it holds is that of its first largest value."""
    array, value, *dim = call.args
    found: Expr = Binary(".eqv." if first.base == "logical" else "==", array, value)
    keywords = dict(call.keywords)
    if "mask" in keywords:
        found = Binary(".and.", found, keywords["mask"])
    return Call("maxloc", (array, *dim), tuple((keywords | {"mask": found}).items()), span=call.span)


def _row(
    names: str,
    arguments: str = "",
    form: Form = "elemental",
    type: Typing = "first",  # noqa: A002 (the name of the column)
    charge: Charge | None = None,
    value: Callable[..., v.Value] | None = None,
    *,
    reduction: str = "",
    expansion: Callable[[Call, Type], Expr] | None = None,
) -> Iterator[Intrinsic]:
    """One row for each of `names`.

    An argument is written ``name:irzlc`` or ``name?:irzlc``: a question mark if it is optional, then the letters of the
    types that it may have (`_LETTERS`; without them all types). ``b=a``: `b` has the type of `a`. ``b~a``: the same,
    but numbers of all types go together. A letter after the name of a function (``csqrt:z``) is the type of its first
    argument instead. A function without listed arguments accepts any.
    """
    for text in names.split():
        name, _, own = text.partition(":")
        accepts = tuple(_listed(arguments, own))
        yield Intrinsic(
            name=name,
            arguments=tuple(each.name for each in accepts),
            accepts=accepts,
            required=sum(not each.optional for each in accepts),
            form=form,
            type=type,
            charge=charge,
            value=value,
            reduction=REDUCTIONS[reduction] if reduction else None,
            expansion=expansion,
        )


def _listed(words: str, own: str) -> Iterator[Argument]:
    """The arguments that a row lists. `own`: letters in place of those of the first argument."""
    types: dict[str, tuple[str, ...]] = {"": ()}
    for name, optional, letters, mark, follows in _ARGUMENT.findall(words):
        chosen = own if own and len(types) == 1 else letters
        types[name] = tuple(_LETTERS[each] for each in chosen) or types[follows]
        yield Argument(name, bool(optional), types[name], follows, mark != "~")


_SINE = o.on_result("sin")
_LOG = o.on_result("log")
_BITS = o.fixed(logical=1)
_OF_NUMBERS = "array:irz dim?:i mask?:l"
_OF_ORDERED = "array:irc dim?:i mask?:l"
_OF_BITS = "array:i dim?:i mask?:l"
_OF_LOGICAL = "mask:l dim?:i"
_PLACE = f"{_OF_ORDERED} kind?:i back?:l"
_SCANS = "sum maxval minval product all any iall iany iparity parity".split()
_TESTS = frozenset(("all", "any", "parity"))
_PLACED = "indx1 indx2? indx3? indx4? indx5? indx6? indx7?"
_SCANNED = {"maxval": "max", "minval": "min"}

_ROWS = (
    # numbers
    *_row("abs cabs:z cdabs:z zabs:z", "a:irz", "elemental", "part", o.size, v.absolute),
    *_row("dabs:r iabs:i", "a:ir", charge=o.size, value=v.absolute),
    *_row("max amax1:r dmax1:r max0:i", "a1:irc a2=a1", type="common", charge=o.extreme, value=v.largest),
    *_row("min amin1:r dmin1:r min0:i", "a1:irc a2=a1", type="common", charge=o.extreme, value=v.least),
    *_row("amax0 amin0", "a1:i a2=a1", type="real", charge=o.extreme),
    *_row("max1 min1", "a1:r a2=a1", type="integer", charge=o.extreme),
    *_row("mod amod:r dmod:r", "a:ir p=a", type="common", charge=o.remainder, value=v.mod),
    *_row("modulo", "a:ir p=a", type="common", charge=o.remainder, value=v.modulo),
    *_row("sign dsign:r isign:i", "a:ir b=a", charge=o.on_first(cmp=1), value=v.sign),
    *_row("dim ddim:r idim:i", "x:ir y=x", type="common", charge=o.on_first(add=1, cmp=1), value=v.dim),
    *_row("aint dint", "a:r kind?:i", charge=o.fixed(convert=2), value=lambda x: float(int(v.real(x)))),
    *_row("anint dnint", "a:r kind?:i", charge=o.fixed(convert=2), value=lambda x: float(v.nint(x))),
    *_row("int ifix:r idint:r", "a:irz kind?:i", type="integer", charge=o.rounding(), value=lambda x: int(v.real(x))),
    *_row("nint idnint", "a:r kind?:i", type="integer", charge=o.rounding(add=1), value=v.nint),
    *_row("floor", "a:r kind?:i", type="integer", charge=o.rounding(cmp=1), value=lambda x: math.floor(v.real(x))),
    *_row("ceiling", "a:r kind?:i", type="integer", charge=o.rounding(cmp=1), value=lambda x: math.ceil(v.real(x))),
    *_row("real", "a:irz kind?:i", type="kind", charge=o.conversion, value=v.real),
    *_row("float:i sngl:r", "a:ir", type="real", charge=o.conversion, value=v.real),
    *_row("dble dfloat:i dreal:z", "a:irz", type="double", charge=o.conversion, value=v.real),
    *_row("cmplx", "x:irz y?:ir kind?:i", type="complex", charge=o.conversion),
    *_row("dcmplx", "x:irz y?:ir", type="double complex", charge=o.conversion),
    *_row("logical", "l:l kind?:i", type="logical", charge=o.conversion),
    *_row("aimag dimag imagpart imag", "z:z", type="part", charge=FREE),
    *_row("realpart", "a:z", type="part", charge=FREE),
    *_row("conjg dconjg", "z:z", charge=o.on_first(add=1)),
    *_row("dprod", "x:r y=x", type="double", charge=o.on_result("mul")),
    # mathematics
    *_row("sqrt csqrt:z cdsqrt:z zsqrt:z dsqrt:r", "x:rz", charge=o.on_result("sqrt"), value=v.elementary(math.sqrt)),
    *_row("exp cexp:z cdexp:z zexp:z dexp:r", "x:rz", charge=o.on_result("exp"), value=v.elementary(math.exp)),
    *_row("log alog:r clog:z cdlog:z zlog:z dlog:r", "x:rz", charge=_LOG, value=v.elementary(math.log)),
    *_row("log10 alog10 dlog10", "x:r", charge=_LOG, value=v.elementary(math.log10)),
    *_row("sin csin:z cdsin:z zsin:z dsin:r", "x:rz", charge=_SINE, value=v.elementary(math.sin)),
    *_row("cos ccos:z cdcos:z zcos:z dcos:r", "x:rz", charge=_SINE, value=v.elementary(math.cos)),
    *_row("tan dtan:r", "x:rz", charge=_SINE, value=v.elementary(math.tan)),
    *_row("asin dasin:r", "x:rz", charge=_SINE, value=v.elementary(math.asin)),
    *_row("acos dacos:r", "x:rz", charge=_SINE, value=v.elementary(math.acos)),
    *_row("atan", "x:rz y?=x", charge=_SINE, value=v.arctangent),
    *_row("datan", "x:r", charge=_SINE, value=v.arctangent),
    *_row("atan2 datan2", "y:r x=y", type="common", charge=_SINE, value=lambda y, x: math.atan2(v.real(y), v.real(x))),
    *_row("sinh cosh tanh dsinh:r dcosh:r dtanh:r", "x:rz", charge=_SINE),
    *_row("asinh acosh atanh", "x:rz", charge=CALL),
    *_row("derf derfc dgamma sind cosd tand dsind dcosd dtand", "x:r", charge=CALL),
    *_row("erf erfc erfc_scaled gamma log_gamma bessel_j0 bessel_j1 bessel_y0 bessel_y1", "x:r", charge=CALL),
    *_row("hypot", "x:r y=x", charge=CALL),
    # bits
    *_row("iand", "i:i j=i", charge=_BITS, value=lambda i, j: v.whole(i) & v.whole(j)),
    *_row("ior", "i:i j=i", charge=_BITS, value=lambda i, j: v.whole(i) | v.whole(j)),
    *_row("ieor", "i:i j=i", charge=_BITS, value=lambda i, j: v.whole(i) ^ v.whole(j)),
    *_row("and or xor", "i:il j=i", charge=_BITS),
    *_row("not", "i:i", charge=_BITS, value=lambda i: ~v.whole(i)),
    *_row("ishft", "i:i shift:i", charge=_BITS, value=v.shifted),
    *_row("shiftl lshift", "i:i shift:i", charge=_BITS, value=v.shifted),
    *_row("shiftr", "i:i shift:i", charge=_BITS, value=lambda i, shift: v.shifted(i, -v.whole(shift))),
    *_row("shifta rshift", "i:i shift:i", charge=_BITS, value=lambda i, shift: v.whole(i) >> v.whole(shift)),
    *_row("ishftc", "i:i shift:i size?:i", charge=_BITS),
    *_row("ibset ibclr", "i:i pos:i", charge=_BITS),
    *_row("ibits", "i:i pos:i len:i", charge=_BITS),
    *_row("btest", "i:i pos:i", type="logical", charge=_BITS),
    *_row("bge bgt ble blt", "i:i j:i", type="logical", charge=_BITS),
    *_row("maskl maskr", "i:i kind?:i", type="integer", charge=_BITS),
    *_row("dshiftl dshiftr", "i:i j=i shift:i", charge=o.fixed(logical=3)),
    *_row("bessel_jn bessel_yn", "n:i x:r", type="second", charge=CALL),
    *_row("merge_bits", "i:i j=i mask=i", charge=o.fixed(logical=3)),
    *_row("popcnt poppar leadz trailz", "i:i", type="integer", charge=CALL),
    *_row(
        "merge", "tsource fsource=tsource mask:l", charge=_BITS, value=lambda one, other, mask: one if mask else other
    ),
    # the parts of a real
    *_row("exponent", "x:r", type="integer", charge=CALL),
    *_row("fraction rrspacing spacing", "x:r", charge=CALL),
    *_row("nearest", "x:r s:r", charge=CALL),
    *_row("scale set_exponent", "x:r i:i", charge=CALL),
    # characters
    *_row("adjustl adjustr", "string:c", charge=CALL),
    *_row("achar char", "i:i kind?:i", type="character", charge=FREE),
    *_row("iachar ichar", "c:c kind?:i", type="integer", charge=FREE),
    *_row("index", "string:c substring:c back?:l kind?:i", type="integer", charge=CALL),
    *_row("scan", "string:c set:c back?:l kind?:i", type="integer", charge=CALL),
    *_row("verify", "string:c set:c back?:l kind?:i", type="integer", charge=CALL),
    *_row("len_trim", "string:c kind?:i", type="integer", charge=CALL),
    *_row("lge lgt lle llt", "string_a:c string_b:c", type="logical", charge=CALL),
    *_row("repeat", "string:c ncopies:i", "scalar", charge=CALL),
    *_row("trim", "string:c", "scalar", charge=CALL),
    *_row("new_line", "a:c", "scalar", charge=CALL),
    # what is asked about a type
    *_row("kind", "x", "type", "integer", FREE, v.kind),
    *_row("digits", "x:ir", "type", "integer", FREE, v.digits),
    *_row("huge", "x:ir", "type", "first", FREE, v.huge),
    *_row("tiny", "x:r", "type", "first", FREE, v.tiny),
    *_row("epsilon", "x:r", "type", "first", FREE, v.epsilon),
    *_row("maxexponent", "x:r", "type", "integer", FREE, v.max_exponent),
    *_row("minexponent", "x:r", "type", "integer", FREE, v.min_exponent),
    *_row("precision", "x:rz", "type", "integer", FREE, v.precision),
    *_row("radix", "x:ir", "type", "integer", FREE, lambda *_: 2),
    *_row("range", "x:irz", "type", "integer", FREE, v.decimal_range),
    *_row("bit_size", "i:i", "type", "first", FREE, v.bits),
    *_row("storage_size", "a kind?:i", "type", "integer", FREE, v.bits),
    *_row("len", "string:c kind?:i", "type", "integer", FREE),
    *_row("selected_int_kind", "r:i", "scalar", "integer", FREE, lambda r: 4 if v.whole(r) <= 9 else 8),
    *_row("selected_real_kind", "p?:i r?:i", "scalar", "integer", FREE, v.real_kind),
    # what is asked about an array
    *_row("size lbound ubound", "array dim?:i kind?:i", "bounds", "integer", FREE),
    *_row("shape", "source kind?:i", "bounds", "integer", FREE),
    *_row("allocated associated present", "a b?", "scalar", "logical", FREE),
    # reductions
    *_row("sum", _OF_NUMBERS, "reduction", reduction="sum"),
    *_row("product", _OF_NUMBERS, "reduction", reduction="product"),
    *_row("maxval", _OF_ORDERED, "reduction", reduction="max"),
    *_row("minval", _OF_ORDERED, "reduction", reduction="min"),
    *_row("iall", _OF_BITS, "reduction", reduction="iall"),
    *_row("iany", _OF_BITS, "reduction", reduction="iany"),
    *_row("iparity", _OF_BITS, "reduction", reduction="iparity"),
    *_row("all", _OF_LOGICAL, "reduction", "logical", reduction="all"),
    *_row("any", _OF_LOGICAL, "reduction", "logical", reduction="any"),
    *_row("parity", _OF_LOGICAL, "reduction", "logical", reduction="parity"),
    *_row("count", "mask:l dim?:i kind?:i", "reduction", "integer", reduction="count"),
    *_row("maxloc", _PLACE, "location", "integer", reduction="maxloc"),
    *_row("minloc", _PLACE, "location", "integer", reduction="minloc"),
    *_row("findloc", "array value~array dim?:i mask?:l kind?:i back?:l", "expanded", "integer", expansion=_findloc),
    *_row("norm2", "x:r dim?:i", "expanded", expansion=_norm2),
    *_row("dot_product", "vector_a:irzl vector_b~vector_a", "expanded", "common", expansion=_dot_product),
    # other functions of arrays
    *_row("matmul", "matrix_a:irzl matrix_b~matrix_a", "matmul", "common"),
    *_row("transpose", "matrix", "transpose"),
    *_row("cshift", "array shift:i dim?:i", "shift"),
    *_row("eoshift", "array shift:i boundary?=array dim?:i", "shift"),
    *_row("spread", "source dim:i ncopies:i", "spread"),
    *_row("reshape", "source shape:i pad?=source order?:i", "reshape"),
    *_row("pack", "array mask:l vector?=array", ""),
    *_row("unpack", "vector mask:l field=vector", ""),
    *_row("transfer", "source mold size?:i", "scalar", "second", FREE),
    *_row("grade_up grade_down", "array dim?:i", "", "integer"),
    *(
        row
        for each in _SCANS
        for row in _row(
            f"{each}_prefix {each}_suffix",
            f"{_OF_LOGICAL if each in _TESTS else 'array dim?:i mask?:l'} segment?:l exclusive?:l",
            "prefix",
            reduction=_SCANNED.get(each, each),
        )
    ),
    *_row("count_prefix count_suffix", f"{_OF_LOGICAL} segment?:l exclusive?:l", "", "integer"),
    *_row("copy_prefix copy_suffix", "array dim?:i segment?:l", ""),
    *_row(" ".join(f"{each}_scatter" for each in (*_SCANS, "copy")), f"array base {_PLACED} mask?", "", "second"),
    *_row("count_scatter", f"mask base {_PLACED}", "", "second"),
    *_row("global_alignment hpf_alignment", "", "scalar", charge=CALL),
    # the machine
    *_row("number_of_processors", "dim?:i", "scalar", "integer", FREE),
    *_row("processors_shape", "", "scalar", "integer", FREE),
    *_row("active_num_procs ilen this_image num_images iargc mclock", "", "scalar", "integer", charge=CALL),
    *_row(
        "second secnds etime dtime mpi_wtime dclock rand irand ran cpu_time system_clock",
        "",
        "scalar",
        "real",
        charge=CALL,
    ),
    *_row("time", "", "scalar", "integer", charge=CALL),
    *_row("null c_loc c_sizeof mvbits dfloti", "", "scalar", charge=CALL),
    # what lowering makes of functions of arrays
    *_row("cshift$ eoshift$", "i shift lower upper", charge=o.fixed(**{"int.add": 1})),
    *_row("merge$eoshift", "value boundary place lower upper", charge=o.fixed(**{"int.add": 1})),
    *_row("pair$", "value place", charge=FREE),
    *_row("infinity$", "x bytes", charge=FREE),
    *_row("masked$", "value mask", charge=FREE),
    *_row("count$", "mask index lower upper", type="integer", charge=FREE),
)

INTRINSICS: Mapping[str, Intrinsic] = MappingProxyType({each.name: each for each in _ROWS})
"""The table, by name."""


def charged(name: str, arguments: Sequence[Type], result: Type) -> "Counter[str]":
    """The operations of one call of a function; one of the user is a call."""
    found = INTRINSICS.get(name)
    charge = CALL if found is None or found.charge is None else found.charge
    return charge(arguments, result)
