"""How sure a result is, in words: the one statement that every command makes (Def 19)."""

from collections.abc import Sequence

from esp.explore.ties import FAR, Certainty, Swap
from esp.output.numbers import listed_ranks, percent, seconds
from esp.output.partial import trusted
from esp.prediction import Interval, Prediction, Variant
from esp.stated import stated_error

_ENDS = {1: "upper", -1: "lower"}
_COMPILED = {1: "the compiler does {}", -1: "the compiler does not {}"}


def sure(prediction: Prediction) -> str:
    """Between which times the program takes, how much of it uses estimates, and the model error."""
    found = prediction.interval
    text = f"{trusted(prediction)}; model error {percent(stated_error(prediction))}"
    if found is None:
        return text
    return f"{within(found)}; {text}{_undecided(found)}"


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
    said = []
    if found.equal:
        said.append(f"{listed_ranks((1, *found.equal))} are equal within {percent(found.error)}")
    if found.close:
        said.append(f"{listed_ranks((1, *found.close))} are too close to call")
    said += [f"1 and {listed_ranks(ranks, 'or')} change places {why}" for why, ranks in _together(found.swaps).items()]
    if found.slower:
        said.append(f"1 is faster than {listed_ranks(found.slower)} whatever the estimated figures are in their ranges")
    if found.untried:
        told = f"1 is faster than {listed_ranks(found.untried)} with the given figures"
        said.append(f"{told}; the ranges of the estimated figures are not tried")
    elif not found.tried:
        said.append("the ranges of the estimated figures are not tried")
    if found.far:
        said.append(f"1 is more than {FAR:g} times as fast as {listed_ranks(found.far)}")
    return said


def against(found: Certainty, leader: int) -> str:
    """How sure it is that the second of two choices is slower than the first, which is choice `leader`; nothing where
    it is."""
    if found.equal:
        return f"equal to choice {leader} within {percent(found.error)}"
    if found.close:
        return f"too close to call with choice {leader}"
    return "".join(f"changes places with choice {leader} {_condition(each)}" for each in found.swaps)


def _together(swaps: Sequence[Swap]) -> dict[str, list[int]]:
    """Why choices change places with the first one, and which do for the same reason."""
    found: dict[str, list[int]] = {}
    for each in swaps:
        found.setdefault(_condition(each), []).append(each.rank)
    return found


def _condition(swap: Swap) -> str:
    if not swap.quantity:
        return "within the ranges of the estimated figures"
    if swap.compiler:
        return f"if {_COMPILED[swap.way].format(swap.quantity)}"
    return f"if {swap.quantity} is near the {_ENDS[swap.way]} end of its range"


def _undecided(found: Interval) -> str:
    """The ways to compile that no source decides."""
    if len({seconds(each.time_s) for each in found.undecided}) < 2:
        return ""
    ways = [f"{seconds(each.time_s)} with {' and '.join(_way(each))}" for each in found.undecided]
    return f"; not known of the compiler: {', '.join(ways)}" if ways else ""


def _way(found: Variant) -> list[str]:
    return [f"{name}={state}" for names, state in ((found.on, "on"), (found.off, "off")) for name in names]
