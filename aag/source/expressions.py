"""fparser's expressions to aag.ir.expressions.

fparser keeps no columns. The tree is read in the order of the text, so each name and literal is looked up in
the tokens of its statement from where the last one was found.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from fparser.two.utils import BinaryOpBase, UnaryOpBase

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir.intrinsics import INTRINSICS
from aag.ir.spelling import spell
from aag.ir.visitors import map_expression
from aag.source.expression_parser import MODERN, join_spans, operator, string_value
from aag.source.joining import Text
from aag.source.resolving import NamesInUse, of_machine, resolve
from aag.source.tokens import Token, tokenize


class Declared(NamesInUse, Protocol):
    """What the declarations say about a name."""

    def is_text(self, name: str) -> bool:
        """Whether it is of type CHARACTER."""

    def kind_bytes(self, kind: str) -> int:
        """Bytes of numeric literals of this kind, 0 where it is not known."""

    def callee(self, name: str) -> str:
        """The name of a procedure in the module that defines it."""

    def is_operator(self, word: str) -> bool:
        """Whether the program declares an operator of this name."""

    def element(self, element: e.Element) -> e.Expr:
        """The value of an element of a named constant; any other element as it is."""

    def expanded(self, call: e.Call) -> e.Expr:
        """The expression behind a reference to a statement function; any other call as it is."""


class Locator:
    """Finds the parts of one statement in its text."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.whole = text.span()
        self.tokens = tokenize(text.text)
        self.at = 0

    def find(self, word: str) -> Token | None:
        """The next token that reads `word`, else None."""
        word = word.lower()
        for index in range(self.at, len(self.tokens)):
            token = self.tokens[index]
            if token.text == word or (token.kind == "string" and token.text.lower() == word):
                self.at = index + 1
                return token
        return None

    def span(self, word: str) -> Span:
        """The place of the next `word`; that of the statement if it is not found."""
        token = self.find(word)
        return self.whole if token is None else self.text.span(token.start, token.end)

    def group(self, word: str) -> Span:
        """As `span`, with the parenthesis that follows; the next search starts inside of it."""
        token = self.find(word)
        if token is None:
            return self.whole
        depth = 0
        end = token.end
        for other in self.tokens[self.at :]:
            depth += (other.text in ("(", "(/")) - (other.text in (")", "/)"))
            if depth <= 0:
                end = other.end if other.text == ")" else end
                break
        return self.text.span(token.start, end)

    def shown(self, name: str) -> str:
        """`name` as it is written at its next occurrence (which is not consumed)."""
        word = name.lower()
        for token in self.tokens[self.at :]:
            if token.text == word:
                return self.text.text[token.start : token.end]
        return name


class Reader:
    """Translates the expressions of one statement.

    `names` tells arrays from functions and knows named kinds; `cuts` are the expressions behind the names
    that stand for what is nested too deeply for fparser.
    """

    def __init__(self, at: Locator, names: Declared, cuts: Mapping[str, e.Expr]) -> None:
        self.at = at
        self._names = names
        self._cuts = cuts

    def read(self, node: Any) -> e.Expr:
        """The expression that `node` stands for."""
        method = _METHODS.get(type(node).__name__)
        if method is not None:
            return method(self, node)
        if isinstance(node, UnaryOpBase):
            return self._unary(node)
        if isinstance(node, BinaryOpBase):
            return self._binary(node)
        if isinstance(node, str):
            return self._words(node)
        return self._opaque(node)

    def read_or_none(self, node: Any) -> e.Expr | None:
        """As `read`; None stays None."""
        return None if node is None else self.read(node)

    def arguments(self, node: Any) -> tuple[tuple[e.Expr, ...], tuple[tuple[str, e.Expr], ...]]:
        """The positional and the keyword arguments of a reference or CALL."""
        args: list[e.Expr] = []
        keywords: list[tuple[str, e.Expr]] = []
        for item in () if node is None else node.items:
            if type(item).__name__ in ("Actual_Arg_Spec", "Component_Spec") and item.items[0] is not None:
                key = str(item.items[0]).lower()
                self.at.find(key)
                keywords.append((key, self.read(item.items[1])))
            else:
                args.append(self.read(item))
        return tuple(args), tuple(keywords)

    # --- leaves ---

    def _words(self, text: str) -> e.Expr:
        return e.Var(text.lower(), span=self.at.span(text))

    def _name(self, node: Any) -> e.Expr:
        name = node.string.lower()
        if name in self._cuts:
            return self._cut(self._cuts[name])
        return resolve(e.Var(name, span=self.at.span(name)), self._names)

    def _cut(self, expr: e.Expr) -> e.Expr:
        """An expression that our own parser has read before the declarations were known."""

        def one(node: e.Expr) -> e.Expr:
            if isinstance(node, e.RealLit) and "_" in node.text and not node.double:
                return replace(node, double=self._names.kind_bytes(node.text.partition("_")[2].lower()) >= 8)
            if isinstance(node, e.Element):
                return self._names.element(node)
            if isinstance(node, e.Call) and node.name.startswith("operator("):
                word = node.name.removeprefix("operator(").removesuffix(")")
                return node if self._names.is_operator(word) else e.OpaqueExpr(word, span=node.span)
            return self._called(node, spell(node)) if isinstance(node, e.Call) else node

        return map_expression(resolve(expr, self._names), one)

    def _int(self, node: Any) -> e.Expr:
        value, kind = node.items
        if kind is None:
            return e.IntLit(int(value), span=self.at.span(value))
        size = self._names.kind_bytes(str(kind).lower())
        return e.IntLit(int(value), size, span=self.at.span(f"{value}_{kind}"))

    def _boz(self, node: Any) -> e.Expr:
        text = str(node)
        base = {"b": 2, "o": 8, "z": 16}[text[0].lower()]
        return e.IntLit(int(text[2:-1], base), span=self.at.whole)

    def _real(self, node: Any) -> e.Expr:
        value, kind = node.items
        text = value if kind is None else f"{value}_{kind}"
        token = self.at.find(text)
        span = self.at.whole if token is None else self.at.text.span(token.start, token.end)
        if token is not None:
            text = self.at.text.text[token.start : token.end]
        low = value.lower()
        double = "d" in low or (kind is not None and self._names.kind_bytes(str(kind).lower()) >= 8)
        return e.RealLit(float(low.replace("d", "e")), text, double, span=span)

    def _logical(self, node: Any) -> e.Expr:
        text = str(node.items[0]).lower()
        return e.LogicalLit(text == ".true.", span=self.at.span(text))

    def _string(self, node: Any) -> e.Expr:
        text = str(node.items[0])
        return e.StringLit(string_value(text), span=self.at.span(text))

    def _complex(self, node: Any) -> e.Expr:
        real, imag = (self.read(part) for part in node.items)
        return e.ComplexLit(real, imag, span=join_spans(real.span, imag.span))

    def _opaque(self, node: Any) -> e.Expr:
        return e.OpaqueExpr(str(node), span=self.at.whole)

    # --- operators ---

    def _unary(self, node: Any) -> e.Expr:
        op, operand = node.items
        word = op.lower()
        if word not in ("-", "+", ".not.") and not self._names.is_operator(word):
            return self._opaque(node)
        first = self.at.span(op)
        inner = self.read(operand)
        span = join_spans(first, inner.span)
        if self._names.is_operator(word):
            return e.Call(operator(word), (inner,), span=span)
        return e.Unary(word, inner, span=span)

    def _binary(self, node: Any) -> e.Expr:
        left, op, right = node.items
        word = MODERN.get(op.lower(), op.lower())
        if word not in INTRINSIC_OPERATORS and not self._names.is_operator(word):
            return self._opaque(node)
        first = self.read(left)
        last = self.read(right)
        span = join_spans(first.span, last.span)
        if self._names.is_operator(word):
            return e.Call(operator(word), (first, last), span=span)
        return e.Binary(word, first, last, span=span)

    def _parenthesis(self, node: Any) -> e.Expr:
        return self.read(node.items[1])

    # --- references ---

    def _part_ref(self, node: Any) -> e.Expr:
        if type(node.items[0]).__name__ == "Procedure_Designator":
            return self._behind(node.items[0])
        name = str(node.items[0]).lower()
        span = self.at.group(name)
        args, keywords = self.arguments(node.items[1])
        if not keywords and self._names.is_array(name):
            return self._names.element(e.Element(name, args, span=span))
        return self._called(e.Call(name, args, keywords, span=span), str(node))

    def _called(self, call: e.Call, text: str) -> e.Expr:
        """Translate a reference, spelled in `text`, that is not an array element."""
        if self._names.is_text(call.name) and any(isinstance(each, e.Section) for each in call.args):
            (part,) = call.args
            if not isinstance(part, e.Section) or part.step is not None:
                return e.OpaqueExpr(text, span=call.span)
            return e.Substring(e.Var(call.name, span=call.span), part.lower, part.upper, span=call.span)
        name = self._names.callee(call.name)
        args, keywords = _leading(name, call.args, call.keywords)
        found = of_machine(e.Call(name, args, keywords, span=call.span))
        return self._names.expanded(found) if isinstance(found, e.Call) else found

    def _section(self, node: Any) -> e.Expr:
        lower, upper, step = node.items
        parts = [self.read_or_none(part) for part in (lower, upper, step)]
        spans = [part.span for part in parts if part is not None]
        span = join_spans(spans[0], spans[-1]) if spans else self.at.span(":")
        return e.Section(*parts, span=span)

    def _substring(self, node: Any) -> e.Expr:
        """``c(i)(1:2)``: a part of an element."""
        base, limits = node.items
        text = self.read(base)
        lower, upper = (self.read_or_none(each) for each in limits.items[:2])
        if not isinstance(text, e.Var | e.Element):
            return self._opaque(node)
        last = next((each.span for each in (upper, lower) if each is not None), text.span)
        return e.Substring(text, lower, upper, span=join_spans(text.span, last))

    def _constructor(self, node: Any) -> e.Expr:
        spec = node.items[1]
        values: tuple[e.Expr, ...] = ()
        if spec is not None:
            items = spec.items if type(spec).__name__ == "Ac_Value_List" else (spec,)
            values = tuple(self.read(each) for each in items)
        span = join_spans(values[0].span, values[-1].span) if values else self.at.whole
        return e.Constructor(values, span=span)

    def _implied_do(self, node: Any) -> e.Expr:
        objects, control = node.items[0], node.items[1]
        values = tuple(self.read(each) for each in getattr(objects, "items", (objects,)))
        parts = list(control.items)
        bounds = list(parts[1]) if isinstance(parts[1], list | tuple) else parts[1:]
        name = str(parts[0]).lower()
        span = self.at.span(name)
        lower, upper = self.read(bounds[0]), self.read(bounds[1])
        step = self.read_or_none(bounds[2]) if len(bounds) > 2 else None
        first = values[0].span if values else span
        return e.ImpliedDo(values, name, lower, upper, step, span=join_spans(first, (step or upper).span))

    def _component(self, node: Any) -> e.Expr:
        """``a(i)%b%c``: fparser gives the parts as one list."""
        first, *rest = node.items
        base = self.read(first)
        for part in rest:
            indexed = type(part).__name__ == "Part_Ref"
            name = str(part.items[0] if hasattr(part, "items") and part.items else part).lower()
            end = self.at.group(name) if indexed else self.at.span(name)
            subscripts = self.arguments(part.items[1])[0] if indexed else ()
            base = e.Component(base, name, subscripts, span=join_spans(base.span, end))
        return base

    def _behind(self, node: Any) -> e.Expr:
        """``a%b`` where fparser expects a procedure."""
        base, _, part = node.items
        first, name = self.read(base), str(part).lower()
        return e.Component(first, name, span=join_spans(first.span, self.at.span(name)))

    def _keyword(self, node: Any) -> e.Expr:
        return self.read(node.items[1])


INTRINSIC_OPERATORS = frozenset("+ - * / ** // == /= < <= > >= .and. .or. .eqv. .neqv. .not.".split())
"""The operators of the language."""
_METHODS: dict[str, Callable[[Reader, Any], e.Expr]] = {
    "Name": Reader._name,
    "Int_Literal_Constant": Reader._int,
    "Signed_Int_Literal_Constant": Reader._int,
    "Binary_Constant": Reader._boz,
    "Octal_Constant": Reader._boz,
    "Hex_Constant": Reader._boz,
    "Real_Literal_Constant": Reader._real,
    "Signed_Real_Literal_Constant": Reader._real,
    "Logical_Literal_Constant": Reader._logical,
    "Char_Literal_Constant": Reader._string,
    "Complex_Literal_Constant": Reader._complex,
    "Parenthesis": Reader._parenthesis,
    "Part_Ref": Reader._part_ref,
    "Function_Reference": Reader._part_ref,
    "Intrinsic_Function_Reference": Reader._part_ref,
    "Structure_Constructor": Reader._part_ref,
    "Subscript_Triplet": Reader._section,
    "Substring_Range": Reader._section,
    "Substring": Reader._substring,
    "Array_Section": Reader._substring,
    "Array_Constructor": Reader._constructor,
    "Ac_Implied_Do": Reader._implied_do,
    "Io_Implied_Do": Reader._implied_do,
    "Data_Ref": Reader._component,
    "Proc_Component_Ref": Reader._behind,
    "Actual_Arg_Spec": Reader._keyword,
}


def _leading(
    name: str, args: tuple[e.Expr, ...], keywords: tuple[tuple[str, e.Expr], ...]
) -> tuple[tuple[e.Expr, ...], tuple[tuple[str, e.Expr], ...]]:
    """The arguments of an intrinsic with those that it must have by position, whatever the program writes."""
    named = dict(keywords)
    found = INTRINSICS.get(name)
    for key in () if found is None else found.arguments[len(args) : found.required]:
        if key not in named:
            break
        args = (*args, named.pop(key))
    return args, tuple(named.items())
