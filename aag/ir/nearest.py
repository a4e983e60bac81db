"""The word somebody probably meant."""

from collections.abc import Iterable


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The candidate within a third of the word's length in edits, or an empty string: no word of one or two letters has
    one, since any other such word is near."""
    best, best_distance = "", len(word) // 3 + 1
    for candidate in candidates:
        if abs(len(candidate) - len(word)) < best_distance:
            distance = edits(word, candidate)
            if distance < best_distance:
                best, best_distance = candidate, distance
    return best


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint with the nearest candidate as it is written there, or an empty string."""
    found = nearest(word, (each for each in candidates if each != word))
    return f"did you mean {found}?" if found else ""


def edits(left: str, right: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that lead from `left` to `right`."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
