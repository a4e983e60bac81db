"""Intrinsic functions as Python text."""

from collections.abc import Mapping

from aag.functional.tables import NotComputable
from aag.functional.terms import PythonTerm, Terms, cost_of, dtype
from aag.ir import expressions as e
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.intrinsics import INTRINSICS, Intrinsic
from aag.ir.result_types import INTEGER, LOGICAL, result_of, wider
from aag.ir.units import Type

_GENERIC: Mapping[str, str] = {
    **dict.fromkeys(("dabs", "iabs"), "abs"),
    **dict.fromkeys(("amax1", "dmax1", "max0", "amax0", "max1"), "max"),
    **dict.fromkeys(("amin1", "dmin1", "min0", "amin0", "min1"), "min"),
    **dict.fromkeys(("amod", "dmod"), "mod"),
    **dict.fromkeys(("dsign", "isign"), "sign"),
    **dict.fromkeys(("ddim", "idim"), "dim"),
    **dict.fromkeys(("ifix", "idint"), "int"),
    **dict.fromkeys(("float", "sngl", "dble", "dfloat", "dreal"), "real"),
    "dint": "aint",
    "dnint": "anint",
    "idnint": "nint",
    "alog": "log",
    "alog10": "log10",
    "datan2": "atan2",
    **{"d" + each: each for each in "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh".split()},
}
_MATHEMATICS = frozenset(
    "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc gamma".split()
)
_IN_NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_ROUNDED = {"floor": ("math.floor", "np.floor"), "ceiling": ("math.ceil", "np.ceil")}
_TESTS = frozenset(("any", "all", "count", "parity"))
_REDUCED = {
    "sum": "add",
    "product": "mul",
    "maxval": "max",
    "minval": "min",
    "iall": "and",
    "iany": "or",
    "iparity": "xor",
}
_ARRAYS = frozenset(("cshift", "eoshift", "transpose", "matmul", "spread", "reshape", "pack", "shape"))


class Functions(Terms):
    """Writes expressions with intrinsic functions."""

    def call(self, call: e.Call) -> PythonTerm:
        """The text of a function reference."""
        found = INTRINSICS.get(call.name)
        if found is None:
            raise NotComputable(f"{call.name} is not interpreted")
        given = found.bound(call)
        match found.form:
            case "type":
                return self._of_type(found, next(iter(given.values())))
            case "elemental":
                return self._elemental(call, found, given)
            case "expanded":
                assert found.expansion is not None
                return self.term(found.expansion(call, self.term(call.args[0]).type))
        if self.many is not None and self._has_arrays(call):
            raise NotComputable("a function of arrays in a loop")
        return self._transformed(call, found, given)

    def _has_arrays(self, call: e.Call) -> bool:
        return any(self.is_array(each) for each in (*call.args, *(value for _, value in call.keywords)))

    def call_is_array(self, call: e.Call) -> bool:
        """Whether a function of arrays returns one."""
        found = INTRINSICS.get(call.name)
        if found is None:
            return True
        given = self._arguments(call, found)
        match found.form:
            case "elemental" | "shift" | "transpose" | "spread" | "prefix":
                return True
            case "reduction":
                return "dim" in given and self._rank(call.args[0]) > 1
            case "location":
                return "dim" not in given or self._rank(call.args[0]) > 1
            case "bounds":
                return call.name == "shape" or (call.name != "size" and "dim" not in given)
            case "expanded":
                assert found.expansion is not None
                return self.is_array(found.expansion(call, INTEGER))
            case _:
                return call.name in _ARRAYS

    def _rank(self, expr: e.Expr) -> int:
        """The number of dimensions, as far as declarations show it."""
        match expr:
            case e.Var(name=name) if name in self.arrays:
                return len(self.arrays[name].lower)
            case e.Element(subscripts=subscripts):
                return sum(isinstance(each, e.Section) or self.is_array(each) for each in subscripts)
            case e.Unary(operand=operand):
                return self._rank(operand)
            case e.Binary(left=left, right=right):
                return max(self._rank(left), self._rank(right))
            case e.Call(args=args) if args:
                dims = -1 if INTRINSICS[expr.name].form in ("reduction", "location") else 0
                return max(map(self._rank, args)) + dims + (expr.name == "spread")
            case e.Constructor():
                return 1
            case _:
                return 0

    def _of_type(self, found: Intrinsic, expr: e.Expr) -> PythonTerm:
        kind = self.term(expr).type
        if found.value is None:
            raise NotComputable(f"{found.name.upper()} is not followed")
        try:
            value = found.value(kind.base, kind.bytes)
        except (KeyError, TypeError) as error:
            raise NotComputable(f"{found.name.upper()} is not followed") from error
        return self.literal(value, kind if found.type == "first" else INTEGER)

    def _kind(self, given: dict[str, e.Expr]) -> int:
        """The argument KIND, which is taken away; 0: there is none."""
        expr = given.pop("kind", None)
        try:
            return 0 if expr is None else evaluate_int(expr, self.constants)
        except Unknown as unknown:
            raise NotComputable("a kind is not known") from unknown

    # --- by element ---

    def _elemental(self, call: e.Call, found: Intrinsic, given: dict[str, e.Expr]) -> PythonTerm:
        name = _GENERIC.get(call.name, call.name)
        size = self._kind(given)
        terms = {key: self.term(value) for key, value in given.items()}
        args = list(terms.values())
        kind = result_of(found.type, [each.type for each in args], size)
        if kind.base not in ("integer", "real", "logical") or any(
            each.type.base in ("complex", "character") for each in args
        ):
            raise NotComputable(f"{call.name.upper()} of {args[0].type.base.upper()} is not followed")
        many = any(each.many for each in args)
        text = self._many(name, args, kind) if many else self._one(name, args, kind)
        if text is None:
            raise NotComputable(f"{call.name.upper()} is not followed")
        return PythonTerm(text, kind, many, 1 if name in ("sign", "abs", "ishft", "not") else 0)

    def _one(self, name: str, args: list[PythonTerm], kind: Type) -> str | None:
        text = [self.exact(each) for each in args]
        single = kind.base == "real" and kind.bytes == 4
        real = args[0].type.base == "real"
        match name:
            case _ if name in _MATHEMATICS or name in ("atan2", "hypot"):
                return f"r4(math.{name}({', '.join(text)}))" if single else f"math.{name}({', '.join(text)})"
            case "abs":
                return f"abs({text[0]})"
            case "max" | "min":
                if all(each.isidentifier() for each in text) and len(text) == 2:
                    found = f"({text[0]} if {text[0]} {'>=' if name == 'max' else '<='} {text[1]} else {text[1]})"
                else:
                    found = f"{name}({', '.join(text)})"
                return self.converted(PythonTerm(found, _common(args)), kind)
            case "mod" | "modulo":
                both = f"{name}({', '.join(self.as_type(each, kind) for each in args)})"
                literal = text[1].strip("()")
                if not real and literal.isdigit() and int(literal) and text[0].isidentifier():
                    modulo = f"({text[0]} % {literal})"
                    return (
                        modulo
                        if name == "modulo"
                        else f"({text[0]} % {literal} if {text[0]} >= 0 else -(-{text[0]} % {literal}))"
                    )
                return f"r4({both})" if single else both
            case "sign":
                return f"sign({text[0]}, {text[1]})"
            case "dim":
                found = f"max({text[0]} - {text[1]}, 0)"
                return self.converted(PythonTerm(found, _common(args) if not single else _DOUBLE), kind)
            case "int":
                return self.converted(PythonTerm(text[0], args[0].type), kind)
            case "real":
                return self.converted(PythonTerm(text[0], args[0].type), kind)
            case "nint":
                return f"nint({text[0]})"
            case "aint":
                return f"float(math.trunc({text[0]}))"
            case "anint":
                return f"float(nint({text[0]}))"
            case "floor" | "ceiling":
                return f"{_ROUNDED[name][0]}({text[0]})"
            case "merge":
                return f"({text[0]} if {text[2]} else {text[1]})"
            case "iand" | "ior" | "ieor":
                return f"({text[0]} {_BITWISE[name]} {text[1]})"
            case "not":
                return f"(~{text[0]})"
            case "ishft" | "shiftl":
                return f"shift({text[0]}, {text[1]}, {8 * kind.bytes})"
            case "shiftr":
                return f"shift({text[0]}, -({text[1]}), {8 * kind.bytes})"
            case "shifta":
                return f"({text[0]} >> {text[1]})"
            case "btest":
                return f"bool({text[0]} >> {text[1]} & 1)"
            case "ibset":
                return f"wrap({text[0]} | bit({text[1]}, {8 * kind.bytes}), {8 * kind.bytes})"
            case "ibclr":
                return f"({text[0]} & ~bit({text[1]}, {8 * kind.bytes}))"
            case "logical":
                return text[0]
            case "dprod":
                return f"({text[0]} * {text[1]})"
        return None

    def _many(self, name: str, args: list[PythonTerm], kind: Type) -> str | None:
        text = [self.as_type(each, kind) for each in args]
        plain = [each.text for each in args]
        real = args[0].type.base == "real"
        match name:
            case "erf" | "erfc" | "gamma":
                return None
            case _ if name in _MATHEMATICS:
                return f"np.{_IN_NUMPY.get(name, name)}({text[0]})"
            case "atan2" | "hypot":
                return f"np.{'arctan2' if name == 'atan2' else name}({text[0]}, {text[1]})"
            case "abs":
                return f"np.abs({text[0]})"
            case "max" | "min":
                found = text[0]
                for other in text[1:]:
                    found = f"np.{name}imum({found}, {other})"
                return found
            case "mod" | "modulo":
                return f"many_{name}({text[0]}, {text[1]})"
            case "sign":
                return f"many_sign({text[0]}, {text[1]})"
            case "dim":
                return f"np.maximum({text[0]} - {text[1]}, 0)"
            case "int" | "aint":
                whole = f"many_whole({plain[0]})" if real else plain[0]
                return f"np.asarray({whole}).astype({dtype(kind)!r})"
            case "real":
                return f"np.asarray({plain[0]}).astype({dtype(kind)!r})"
            case "nint" | "anint":
                return f"many_nint({plain[0]}).astype({dtype(kind)!r})"
            case "floor" | "ceiling":
                return f"many_whole({_ROUNDED[name][1]}({plain[0]})).astype({dtype(kind)!r})"
            case "merge":
                return f"np.where({plain[2]}, {text[0]}, {text[1]})"
            case "iand" | "ior" | "ieor":
                return f"({text[0]} {_BITWISE[name]} {text[1]})"
            case "not":
                return f"(~{text[0]})"
            case "btest":
                return f"(({plain[0]} >> {plain[1]} & 1) != 0)"
            case "logical":
                return text[0]
        return None

    # --- of whole arrays ---

    def _arguments(self, call: e.Call, found: Intrinsic) -> dict[str, e.Expr]:
        given = found.bound(call)
        if "mask" in found.arguments and "dim" in given and self._is_logical(given["dim"]):
            given["mask"] = given.pop("dim")
        return given

    def _is_logical(self, expr: e.Expr) -> bool:
        match expr:
            case e.Binary(op=op):
                return op not in ("+", "-", "*", "/", "**", "//")
            case e.Unary(op=op):
                return op == ".not."
            case e.Var(name=name) | e.Element(name=name):
                return self.type_of(name).base == "logical"
            case e.Call(name=name):
                return name in ("any", "all", "btest", "logical") or name == "spread"
            case _:
                return isinstance(expr, e.LogicalLit)

    def _transformed(self, call: e.Call, found: Intrinsic, given: dict[str, e.Expr]) -> PythonTerm:
        name = call.name
        if name == "allocated" and isinstance(call.args[0], e.Var):
            return PythonTerm(f"({self.term(call.args[0]).text} is not None)", LOGICAL)
        if name == "present":
            raise NotComputable("PRESENT is not followed")
        given = self._arguments(call, found)
        size = self._kind(given)
        terms = {key: self.term(value) for key, value in given.items()}
        many = self.call_is_array(call)
        first = next(iter(terms.values()), None)
        if first is None:
            raise NotComputable(f"{name.upper()} is not followed")
        spent = f"meter.spent({first.text}, {1 + cost_of(call)})"
        options = "".join(f", {key}={terms[key].text}" for key in list(terms)[1:] if key in ("dim", "mask"))
        if name in _REDUCED:
            return PythonTerm(f"reduced({_REDUCED[name]!r}, {spent}{options})", first.type, many, 0 if many else 1)
        if found.form == "prefix":
            return self._scan(found, given, terms, spent)
        if name in _TESTS:
            return PythonTerm(f"truth({name!r}, {spent}{options})", INTEGER if name == "count" else LOGICAL, many)
        if name in ("maxloc", "minloc") and not {"kind", "back"} & terms.keys():
            return PythonTerm(f"located({name[:3]!r}, {spent}{options})", INTEGER, many)
        kind = first.type
        match name:
            case "size":
                dim = f".shape[{terms['dim'].text} - 1]" if "dim" in terms else ".size"
                return PythonTerm(f"np.asarray({first.text}){dim}", _sized(size))
            case "shape":
                return PythonTerm(f"np.array({first.text}.shape, dtype='i4')", INTEGER, many=True)
            case "lbound" | "ubound":
                whole = call.args[0]
                lowers = self.arrays[whole.name].lowers if isinstance(whole, e.Var) else "None"
                dim = terms["dim"].text if "dim" in terms else "None"
                return PythonTerm(f"bound({first.text}, {lowers}, {dim}, {name == 'ubound'})", INTEGER, many)
            case "matmul":
                left, right = terms.values()
                kind = wider(left.type, right.type)
                return PythonTerm(f"matmul({first.text}, {right.text}, {dtype(kind)!r}, meter)", kind, many=True)
            case "transpose":
                return PythonTerm(f"{first.text}.T", kind, many=True)
            case "cshift":
                return PythonTerm(f"moved({first.text}, {terms['shift'].text}{_named(terms, 'dim')})", kind, many=True)
            case "eoshift":
                more = _named(terms, "boundary") + _named(terms, "dim")
                return PythonTerm(f"shifted_out({first.text}, {terms['shift'].text}{more})", kind, many=True)
            case "spread":
                places = f"{terms['dim'].text}, {terms['ncopies'].text}"
                return PythonTerm(f"spread({first.text}, {places}, meter)", kind, many=True)
            case "reshape" if terms.keys() == {"source", "shape"}:
                return PythonTerm(f"reshaped({first.text}, {terms['shape'].text})", kind, many=True)
            case "pack" if terms.keys() == {"array", "mask"}:
                return PythonTerm(f"packed({first.text}, {terms['mask'].text})", kind, many=True)
        raise NotComputable(f"{name.upper()} is not followed")

    def _scan(
        self, found: Intrinsic, given: Mapping[str, e.Expr], terms: Mapping[str, PythonTerm], spent: str
    ) -> PythonTerm:
        """A scan of one dimension."""
        first = terms[found.arguments[0]]
        name = found.name.rpartition("_")[0]
        if name not in _REDUCED or terms.keys() - {found.arguments[0], "dim", "exclusive"} or not first.many:
            raise NotComputable(f"{found.name.upper()} is not followed")
        exclusive = given.get("exclusive") == e.LogicalLit(True)
        how = f"{terms['dim'].text}, {exclusive}, {found.name.endswith('_suffix')}, {dtype(first.type)!r}"
        return PythonTerm(f"scanned({_REDUCED[name]!r}, {spent}, {how})", first.type, many=True)


_BITWISE = {"iand": "&", "ior": "|", "ieor": "^"}
_DOUBLE = Type(base="real", bytes=8)


def _common(args: list[PythonTerm]) -> Type:
    kind = args[0].type
    for each in args[1:]:
        kind = wider(kind, each.type)
    return kind


def _named(terms: Mapping[str, PythonTerm], name: str) -> str:
    return f", {name}={terms[name].text}" if name in terms else ""


def _sized(size: int) -> Type:
    return Type(base="integer", bytes=size) if size else INTEGER
