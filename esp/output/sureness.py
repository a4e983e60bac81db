"""How sure a result is, in words: the one statement that every command makes (Def 19)."""

from collections.abc import Sequence

from msgspec.structs import replace

from esp.explore.ties import FAR, OFTEN, Certainty, CloseCall, Swap
from esp.output.numbers import listed, listed_ranks, percent, seconds
from esp.output.partial import trusted
from esp.prediction import Interval, Prediction, Variant
from esp.stated import ERROR, stated_error

_ENDS = {1: "upper", -1: "lower"}
_GUESSES = frozenset(("bound", "branch", "mask", "selected", "while"))
"""Assumptions about what data decide."""
_SOMEWHERE = "within the ranges of the estimated figures"
_NO_FIGURE = "no single figure decides"
_UNTRIED = "the ranges of the estimated figures are not tried (`esp compare --interval` tries them, which takes long)"
_COMPILED = {
    "interchange": ("interchanges loops", "does not interchange loops"),
    "fuse": ("fuses loops", "does not fuse loops"),
    "invariant": ("moves what does not change out of loops", "leaves in loops what does not change there"),
    "strength": ("steps addresses through memory", "computes each address"),
    "pack": ("packs contiguous sections, too", "sends contiguous sections from where they are"),
    "inline": ("expands calls inline", "does not expand calls inline"),
}
"""What a compiler does, and what another one does, where the name of the transformation does not say it."""


def sure(prediction: Prediction) -> str:
    """Between which times the program takes, how much of it uses estimates, and the model error."""
    found = prediction.interval
    error = stated_error(prediction) if found is None else found.model_error
    text = f"{trusted(prediction)}; model error {percent(error)}"
    if found is None:
        return text
    return f"{within(found)}{_supposed(prediction)}; {text}{compilers(found.undecided)}"


def _supposed(prediction: Prediction) -> str:
    """That no range holds whatever data decide: what is assumed of them is one way of several."""
    guessed = any(each.code in _GUESSES and not each.text.endswith("as given") for each in prediction.assumptions)
    return ", if what is assumed of the data holds" if guessed else ""


def ranged(prediction: Prediction, of: str) -> str:
    """Between which times something takes, and how much of it uses estimates."""
    found = prediction.interval
    if found is None:
        return trusted(prediction, of)
    return f"{of}: {within(found)}; {trusted(prediction, 'it')}"


def within(found: Interval) -> str:
    """The range of a time."""
    return f"{seconds(found.low_s)} to {seconds(found.high_s)} in 90% of the scenarios"


def ranking(found: Certainty) -> list[str]:
    """How sure it is which choice is the fastest, a sentence each."""
    said = undecided(found)
    tied = sorted((*found.equal, *(each.rank for each in found.close), *(each.rank for each in found.swaps)))
    between = tuple(rank for rank in found.slower if tied and rank < tied[-1])
    if between:
        behind = [rank for rank in tied if rank > between[0]]
        verb, other = ("does" if len(ranks) == 1 else "do" for ranks in (between, behind))
        often = f"1 is faster by more than the model error in at least {percent(OFTEN)} of the scenarios"
        said.append(f"{listed_ranks(between)} {verb} not tie with 1, though {listed_ranks(behind)} {other}: {often}")
    if rest := tuple(rank for rank in found.slower if rank not in between):
        said.append(f"1 is faster than {listed_ranks(rest)} whatever the estimated figures are in their ranges")
    if found.untried:
        told = f"1 is faster than {listed_ranks(found.untried)} with the given figures"
        said.append(f"{told}; {_UNTRIED}")
    elif not found.tried:
        said.append(_UNTRIED)
    if found.far:
        said.append(f"1 is more than {FAR:g} times as fast as {listed_ranks(found.far)}")
    return said


def undecided(found: Certainty) -> list[str]:
    """Why choices tie with the first one, a sentence each; those that tie for the same reason share one."""
    said = []
    if found.equal:
        said.append(f"{listed_ranks((1, *found.equal))} are equal within {_error(found.error)}")
    said += [
        f"{listed_ranks((1, *ranks))} are too close to call{why}"
        for why, ranks in _together([(_close(each), each.rank) for each in found.close]).items()
    ]
    said += [
        f"{_places(ranks)} {why}"
        for why, ranks in _together([(_swapped(each), each.rank) for each in found.swaps]).items()
    ]
    return said


def _places(ranks: Sequence[int]) -> str:
    """That one choice, or each of several, changes places with the first."""
    if len(ranks) == 1:
        return f"1 and {ranks[0]} change places"
    return f"1 changes places with each of {listed_ranks(ranks)}"


def tie_of(found: Certainty, rank: int) -> str:
    """Why one choice ties with the first one, in the words of `ranking`; nothing where it does not."""
    only = replace(
        found,
        equal=tuple(each for each in found.equal if each == rank),
        close=tuple(each for each in found.close if each.rank == rank),
        swaps=tuple(each for each in found.swaps if each.rank == rank),
    )
    return "".join(undecided(only))


def against(found: Certainty, leader: str) -> str:
    """Why the second of two choices ties with the first, which is called `leader`, in a few words; nothing where it
    does not."""
    if found.equal:
        return f"equal to {leader} within {_error(found.error)}"
    for each in found.close:
        why = _condition(each) if each.quantity else f": {_by_error(each)}"
        return f"too close to call with {leader}{' ' * bool(each.quantity)}{why}"
    return "".join(
        f"changes places with {leader} {_condition(each) if each.quantity else _SOMEWHERE}" for each in found.swaps
    )


def _error(error: float) -> str:
    return f"the model error of {percent(error)}"


def _together(said: Sequence[tuple[str, int]]) -> dict[str, list[int]]:
    """Reason -> the choices for which it holds."""
    found: dict[str, list[int]] = {}
    for why, rank in said:
        found.setdefault(why, []).append(rank)
    return found


def _close(call: CloseCall) -> str:
    """What decides that the first choice is not called faster than another."""
    if call.quantity:
        return f": equal within {_error(call.error)} {_condition(call)}"
    often = f"1 is faster by more than {_error(call.error)} in {percent(call.share)} of the scenarios"
    return f": {often}, not in {percent(OFTEN)}; {_by_error(call)}"


def _by_error(call: CloseCall) -> str:
    return "the model error decides" if call.by_error else _NO_FIGURE


def _swapped(swap: Swap) -> str:
    """Where a choice is faster than the first one."""
    if swap.quantity:
        return _condition(swap)
    return f"{_SOMEWHERE}: {swap.rank} is faster in {percent(swap.share)} of the scenarios; {_NO_FIGURE}"


def _condition(each: Swap | CloseCall) -> str:
    if each.compiler:
        done, not_done = _COMPILED.get(each.quantity, (f"uses {each.quantity}", f"does not use {each.quantity}"))
        return f"if the compiler {done if each.way > 0 else not_done}, which no source decides"
    return f"if {each.quantity} is near the {_ENDS[each.way]} end of its range"


def compilers(variants: Sequence[Variant]) -> str:
    """The ways to compile that no source decides, without the choices that change the time by less than the model
    error."""
    if len({seconds(each.time_s) for each in variants}) < 2:
        return ""
    names = sorted({name for each in variants for name in (*each.on, *each.off)})
    matter = [name for name in names if _matters(name, variants)]
    if not matter and len(names) > 1:
        return f"; {listed(names)}, not known of the compiler, change it by less than the model error"
    matter = matter or names
    shown: dict[tuple[str, ...], Variant] = {}
    for each in variants:
        shown.setdefault(tuple(name for name in each.on if name in matter), each)
    ways = [f"{seconds(each.time_s)} with {' and '.join(_way(each, matter))}" for each in shown.values()]
    less = [name for name in names if name not in matter]
    rest = (
        f"; {listed(less)} {'changes' if len(less) == 1 else 'change'} it by less than the model error" if less else ""
    )
    return f"; not known of the compiler: {', '.join(ways)}{rest}"


def _matters(name: str, variants: Sequence[Variant]) -> bool:
    """Whether one choice of the compiler changes the time, with some of the others."""
    times: dict[frozenset[str], list[float]] = {}
    for each in variants:
        times.setdefault(frozenset(each.on) - {name}, []).append(each.time_s)
    return any(max(some) > (1 + ERROR) * min(some) for some in times.values())


def _way(found: Variant, names: Sequence[str]) -> list[str]:
    states = ((found.on, "on"), (found.off, "off"))
    return [f"{name}={state}" for some, state in states for name in some if name in names]
