"""What an interpretation would like to know of conditions that data decide: it goes on, and asks for all in the end."""

import re
from itertools import accumulate

from aag.diagnostics import Diagnostic, Span, UnresolvedError
from aag.ir.expressions import Expr
from aag.spmd.acts import MASK_SHARE
from aag.spmd.branches import GuardedBranch, GuardedChain, chains_of
from aag.spmd.nodes import Nest, assigns_of
from interpreter.state import Run

_MADE = re.compile(r"\w+\$\d+")
"""An index that array syntax made."""
COMPUTED = "computed by running part of the program"


def wish(run: Run, name: str, span: Span) -> None:
    """Note that the share of a condition is wanted, unless it was looked for before."""
    setting = run.setting
    if setting.asks_shares and not (name in setting.unshared or name in setting.masks):
        run.books.wishes.setdefault(name, span)


def name_of_mask(nest: Nest) -> str:
    """The name by which the share of a mask is asked for (`Setting.masks`): the line of the first assignment, and the
    variable of the outermost loop where a program unit has it."""
    index, line = nest.indices[0].name if nest.indices else "", next(iter(assigns_of(nest))).span.line
    return f"mask_{line}_{'' if _MADE.fullmatch(index) else index}"


def share_of_mask(run: Run, nest: Nest) -> float:
    """The share of its iterations for which the mask of a nest holds, where data decide it: as it was computed, else
    half of them."""
    return MASK_SHARE if nest.mask is None else run.setting.masks.get(name_of_mask(nest), MASK_SHARE)


def name_of_guard(nest: Nest, branch: GuardedBranch) -> str:
    """The same of a condition inside a nest: the line of the first assignment under it."""
    index = nest.indices[0].name if nest.indices else ""
    return f"mask_{branch.assigns[0].span.line}_{'' if _MADE.fullmatch(index) else index}"


def shares_of_chain(run: Run, nest: Nest, chain: GuardedChain) -> tuple[float, ...]:
    """The share of the iterations that reach a chain in which each of its branches is taken, where data decide it: as
    it was computed, else the same for all possible ways."""
    masks = run.setting.masks
    found = [masks.get(name_of_guard(nest, each)) for each in chain.branches]
    unknown = found.count(None)
    if not unknown:
        return tuple(share or 0.0 for share in found)
    left = max(0.0, 1.0 - sum(share for share in found if share is not None))
    ways = unknown + (chain.branches[-1].test is not None)
    return tuple(left / ways if share is None else share for share in found)


def shares_in(run: Run, nest: Nest) -> tuple[tuple[Expr, float], ...]:
    """Each condition of a nest, with the share of the iterations up to which it holds that are numbered at random: of
    a later branch of a chain also what the branches before it take."""
    found = [] if nest.mask is None else [(nest.mask, share_of_mask(run, nest))]
    for _, chain in chains_of(nest):
        sums = accumulate(shares_of_chain(run, nest, chain))
        found += [(branch.holds, up_to) for branch, up_to in zip(chain.branches, sums, strict=True)]
    return tuple(found)


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
