"""HPF directives as data.

mapping    = Processors(name, shape) | Template(name, shape)
           | Align(alignee, axes, target, subscripts)   one for each alignee, however they were written
           | Distribute(distributee, formats, onto)     one for each distributee
           | Dynamic(names) | Inherit(names) | Sequence(names, sequential)
           | OfType(type, directive)                    until variables of derived types are split
executable = Realign(align) | Redistribute(distribute)  as statements, see aag.ir.statements.Remap
loop       = Independent(indices, new, reductions, home)
"""

from typing import Literal

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir.expressions import Expr

Descriptive = Literal["prescriptive", "descriptive", "transcriptive"]


class Bound(Struct, frozen=True, kw_only=True):
    """One dimension of a shape. `upper` None: assumed or deferred shape; `lower` None: 1."""

    lower: Expr | None
    upper: Expr | None


class Directive(Struct, frozen=True, kw_only=True):
    """Base of all directives."""

    span: Span


class Processors(Directive, frozen=True, kw_only=True):
    """PROCESSORS name(shape); an empty shape is a scalar arrangement."""

    name: str
    shape: tuple[Bound, ...]


class Template(Directive, frozen=True, kw_only=True):
    """TEMPLATE name(shape)."""

    name: str
    shape: tuple[Bound, ...]


class Star(Struct, frozen=True):
    """``*`` as a target subscript: replicated over that dimension of the target."""


class Align(Directive, frozen=True, kw_only=True):
    """ALIGN alignee(axes) WITH target(subscripts).

    `axes`: one entry for each dimension of the alignee: a dummy name, ``":"`` or ``"*"`` (collapsed); None
    for the form without a subscript list. `subscripts`: one entry for each dimension of the target: an
    expression affine in one dummy, a constant, a `Section` (for ``:`` or a triplet) or `Star`; None where not
    written.
    """

    alignee: str
    axes: tuple[str, ...] | None
    target: str
    subscripts: tuple[Expr | Star, ...] | None
    form: Descriptive = "prescriptive"


NO_INDIRECT = "INDIRECT is not supported"
INSTEAD_OF_INDIRECT = "use BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK(sizes) or *"


class Format(Struct, frozen=True, kw_only=True):
    """One dimension of DISTRIBUTE: ``BLOCK``, ``CYCLIC`` (with an optional size), ``*``, or ``GEN_BLOCK``, whose
    sizes are the values of a constructor where the source has them in a constant."""

    kind: Literal["block", "cyclic", "*", "gen_block", "indirect"]
    size: Expr | None = None


class Distribute(Directive, frozen=True, kw_only=True):
    """DISTRIBUTE distributee(formats) ONTO onto; None where a part is not written."""

    distributee: str
    formats: tuple[Format, ...] | None
    onto: str | None
    form: Descriptive = "prescriptive"


class Dynamic(Directive, frozen=True, kw_only=True):
    """DYNAMIC names: they may be remapped at run time."""

    names: tuple[str, ...]


class Inherit(Directive, frozen=True, kw_only=True):
    """INHERIT names: dummies that keep the template of the actual argument."""

    names: tuple[str, ...]


class Sequence(Directive, frozen=True, kw_only=True):
    """SEQUENCE or NO SEQUENCE; no names: all of the unit."""

    names: tuple[str, ...]
    sequential: bool = True


class OfType(Directive, frozen=True, kw_only=True):
    """A mapping directive inside of the definition of a derived type: it maps components of each variable."""

    type: str
    directive: Align | Distribute


class Independent(Directive, frozen=True, kw_only=True):
    """INDEPENDENT before a DO or FORALL.

    `indices`: the draft syntax INDEPENDENT(j, i) names the loops of the nest that it covers; empty: the next.
    `home`: the reference of ON HOME(...), if any. `concurrent`: it is what DO CONCURRENT says, with LOCAL as NEW and
    REDUCE as REDUCTION.
    """

    indices: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    reductions: tuple[str, ...] = ()
    home: Expr | None = None
    concurrent: bool = False


def mapped_name(directive: Directive) -> str:
    """The array or template that a directive maps, or nothing."""
    match directive:
        case Align(alignee=name) | Distribute(distributee=name):
            return name
        case _:
            return ""
