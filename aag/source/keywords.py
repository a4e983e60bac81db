"""The first words of directives."""

KEYWORDS = (
    "PROCESSORS",
    "TEMPLATE",
    "ALIGN",
    "DISTRIBUTE",
    "REALIGN",
    "REDISTRIBUTE",
    "DYNAMIC",
    "INHERIT",
    "SEQUENCE",
    "NO SEQUENCE",
    "INDEPENDENT",
    "DIMENSION",
)
"""The directives that are read."""

WITHOUT_EFFECT = ("shadow", "resident", "task_region", "end", "range", "hpf_local", "memory", "asynchronous", "assume")
"""Directives that do not change what is predicted."""

FIRST_WORDS = tuple(sorted((*(each.lower().replace(" ", "") for each in KEYWORDS), "no", "on", *WITHOUT_EFFECT)))
"""What a directive may begin with."""
