"""What an interpretation would like to know of conditions that data decide: it goes on, and asks for all in the end."""

import re

from aag.diagnostics import NOWHERE, Diagnostic, Span, UnresolvedError
from aag.ir.expressions import Expr
from aag.spmd.acts import MASK_SHARE
from aag.spmd.branches import GuardedBranch, kept_of
from aag.spmd.nodes import Nest, assigns_of
from interpreter.state import Run

_MADE = re.compile(r"\w+\$\d+")
"""An index that array syntax made."""
COMPUTED = "computed by running part of the program"
GIVEN = "as given"
LEFT = "an equal part of what the given shares leave"
WAY_OUT = "; ‹set HOLDS_LINE=SHARE› gives it"


def wish(run: Run, name: str, span: Span) -> None:
    """Note that the share of a condition is wanted, unless it was looked for before."""
    setting = run.setting
    if setting.asks_shares and not (name in setting.unshared or name in setting.masks):
        run.books.wishes.setdefault(name, span)


def how_known(run: Run, name: str) -> str:
    """How the share of a condition is known that `name` asks for."""
    if name in run.setting.left_shares:
        return LEFT
    return GIVEN if name in run.setting.given_shares else COMPUTED


def span_of(condition: Expr, otherwise: Span) -> Span:
    """Where a condition is in the source; the place of what it guards where lowering made the condition."""
    return otherwise if condition.span == NOWHERE else condition.span


def name_of_mask(nest: Nest) -> str:
    """The name by which the share of a mask is asked for (`Setting.masks`): the line of the first assignment, and the
    variable of the outermost loop where a program unit has it. The mask of a search is what is around the IF that
    compares."""
    index, line = nest.indices[0].name if nest.indices else "", next(iter(assigns_of(nest))).span.line
    kind = "test" if nest.reduce in ("maxloc", "minloc") else "mask"
    return f"{kind}_{line}_{'' if _MADE.fullmatch(index) else index}"


def share_of_mask(run: Run, nest: Nest) -> float:
    """The share of its iterations for which the mask of a nest holds, where data decide it: as it was computed, else
    half of them."""
    return MASK_SHARE if nest.mask is None else run.setting.masks.get(name_of_mask(nest), MASK_SHARE)


def announce_mask(run: Run, nest: Nest, span: Span) -> None:
    """Say how often the mask of a nest holds that data decide, and wish to find out where nobody has tried."""
    name = name_of_mask(nest)
    share = run.setting.masks.get(name)
    where = f"line {span.line}: the mask depends on data:"
    if share is None:
        wish(run, name, span)
        run.books.assume("mask", f"{where} assuming it holds for half of the elements{WAY_OUT}", span)
    else:
        told = f"{where} it holds for {share:.0%} of the elements, {how_known(run, name)}"
        run.books.assume("computed" if share in (0.0, 1.0) else "mask", told, span)


def name_of_guard(nest: Nest, branch: GuardedBranch) -> str:
    """The name by which the share of a condition inside a nest is asked for: the line of the first assignment under it,
    or of the IF whose condition that assignment keeps."""
    index = nest.indices[0].name if nest.indices else ""
    return f"{kept_of(branch) or 'mask'}_{branch.assigns[0].span.line}_{'' if _MADE.fullmatch(index) else index}"


def ask(run: Run) -> None:
    """Ask for what was wanted.

    Raises:
        UnresolvedError: something was, and can be assumed.
    """
    if run.books.wishes:
        found = [
            Diagnostic(code="E504", message="how often a condition holds is unknown", span=span)
            for span in run.books.wishes.values()
        ]
        raise UnresolvedError(found, run.books.wishes, assumable=True)
