"""Values that a user writes as text: ``NAME=VALUE``, and Fortran constants."""

from typing import TYPE_CHECKING

from esp.errors import UsageError

if TYPE_CHECKING:  # options are read before anything of Fortran is loaded
    from aag.ir.evaluate import Value


def pairs(option: str, given: list[str], *, lower: bool = False) -> dict[str, str]:
    """``NAME=TEXT`` of a repeatable option.

    Raises:
        UsageError: no ``=``, no name, no text, or two different texts for a name.
    """
    found = pairs_many(option, given, lower=lower)
    for name, texts in found.items():
        if len(texts) > 1:
            raise UsageError(f"{name} is given twice, as {texts[0]} and as {texts[1]}.", where=option)
    return {name: texts[0] for name, texts in found.items()}


def pairs_many(option: str, given: list[str], *, lower: bool = True) -> dict[str, list[str]]:
    """``NAME=TEXT`` of a repeatable option, where a name may have several texts.

    Raises:
        UsageError: no ``=``, no name or no text.
    """
    found: dict[str, list[str]] = {}
    for each in given:
        name, sign, text = each.partition("=")
        name, text = name.strip(), text.strip()
        if not (sign and name and text):
            example = {"--set": "N=256", "--opt": "hoist=off", "--system-set": "cube.network.long.startup=120us"}
            hint = f"For example {option} {example[option]}." if option in example else ""
            raise UsageError(f"{each!r} is not of the form NAME=VALUE.", where=option, hint=hint)
        texts = found.setdefault(name.lower() if lower else name, [])
        if text not in texts:
            texts.append(text)
    return found


def value_of(name: str, text: str) -> "Value":
    """A Fortran constant: integer, real, logical or text in quotes.

    Raises:
        UsageError: none of these.
    """
    folded = text.strip().lower()
    if folded in (".true.", ".false.", "true", "false"):
        return "true" in folded
    for kind, written in ((int, folded), (float, folded.replace("d", "e"))):
        try:
            value = kind(written)
        except ValueError:
            continue
        if value == value and abs(value) != float("inf") and "_" not in written:  # noqa: PLR0124 (is it a NaN?)
            return value
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(2 * text[0], text[0])
    hint = "Values are constants: 256, 1.0d-4, .true. or 'text'."
    if "=" in text:
        each = " ".join(f"--set {part.strip()}" for part in f"{name}={text}".split(","))
        hint = f"Give each name its own --set: {each}." if "," in text else "Give each name its own --set."
    elif any(sign in text for sign in (",", ":", "..")):
        hint = f"`esp sweep PROG --set {name}={text}` predicts each value of a list."
    raise UsageError(f"{text!r} is not a value for {name}.", where="--set", hint=hint)
