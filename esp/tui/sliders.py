"""The what-ifs that move: load, bandwidth, latency, processor speed, processors, problem size.

A slider stands on one of its notches. A notch is text as an option takes it (Def 11), so that what the interface
shows can be typed at `esp run` as it stands.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

LOAD, BANDWIDTH, LATENCY, SPEED = "load", "bandwidth", "latency", "processor_speed"
PROCS, SIZE = "procs", "size"
ORDER = (LOAD, BANDWIDTH, LATENCY, SPEED, PROCS, SIZE)
"""As they stand on the screen."""

FACTORS = ("x0.1", "x0.25", "x0.5", "x0.75", "x1", "x1.5", "x2", "x3", "x4", "x6", "x8", "x16")
LOADS = tuple(f"{percent}%" for percent in range(0, 100, 5))
NEUTRAL = {LOAD: "0%", BANDWIDTH: "x1", LATENCY: "x1", SPEED: "x1"}
"""Where a slider changes nothing; such a what-if is not asked for at all."""

MOST_PROCS = 1024
"""The last notch; a larger number can be typed."""

SCALES = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)
"""Notches of the problem size, as multiples of what the program says."""


class Slider(Struct, frozen=True, kw_only=True):
    """A what-if. `at` and `home` are places in `notches`; `home` is what was asked for at the start.

    `name`: what it changes; `label`: how it is called on the screen; `title`: the same in full.
    """

    name: str
    label: str
    title: str
    notches: tuple[str, ...]
    at: int
    home: int

    @property
    def value(self) -> str:
        """The notch it stands on."""
        return self.notches[self.at]

    @property
    def moved(self) -> bool:
        """Whether it stands elsewhere than at the start."""
        return self.at != self.home

    @property
    def described(self) -> str:
        """What it changes and to what: ``bandwidth x2``."""
        return f"{self.label} {self.value}"

    def to(self, at: int) -> "Slider":
        """It, on another notch; beyond either end, on the last one there."""
        return replace(self, at=min(max(at, 0), len(self.notches) - 1))

    def by(self, steps: int) -> "Slider":
        """It, so many notches further."""
        return self.to(self.at + steps)

    def on(self, text: str) -> "Slider":
        """It, on a notch of this text, which is added where there is none yet."""
        if text in self.notches:
            return self.to(self.notches.index(text))
        size = _size_of(text)
        before = sum(1 for each in self.notches if size is not None and (_size_of(each) or 0.0) < size)
        if size is None:  # a value with a unit compares with no factor: beside where it started
            before = self.home + 1
        home = self.home + (before <= self.home)
        notches = (*self.notches[:before], text, *self.notches[before:])
        return replace(self, notches=notches, at=before, home=home)


def _size_of(text: str) -> float | None:
    """The number that orders notches; None for values with a unit."""
    bare = text.strip().lower().removeprefix("x").removesuffix("%")
    try:
        return float(bare)
    except ValueError:
        return None


def machine_slider(name: str, label: str, title: str, given: object) -> Slider:
    """A slider for the machine; `given`: what was asked for at the start, such as ``30%`` or ``2.8 MB/s``."""
    notches = LOADS if name == LOAD else FACTORS
    home = notches.index(NEUTRAL[name])
    slider = Slider(name=name, label=label, title=title, notches=notches, at=home, home=home)
    if given is None:
        return slider
    slider = slider.on(str(given))
    return replace(slider, home=slider.at)


def procs_slider(procs: int) -> Slider:
    """Powers of two, and what was asked for."""
    numbers = sorted({procs, *(2**power for power in range(MOST_PROCS.bit_length()))})
    at = numbers.index(procs)
    notches = tuple(str(each) for each in numbers)
    return Slider(name=PROCS, label="processors", title="processors", notches=notches, at=at, home=at)


def size_slider(name: str, size: int) -> Slider:
    """Multiples of what the program says, none smaller than 1. `name`: of the PARAMETER."""
    numbers = sorted({max(1, round(size * scale)) for scale in SCALES})
    at = numbers.index(size)
    notches = tuple(str(each) for each in numbers)
    return Slider(name=SIZE, label=name, title=f"problem size {name}", notches=notches, at=at, home=at)


def scenario_of(sliders: Mapping[str, Slider]) -> dict[str, str | None]:
    """What the sliders of the machine ask for: name of an argument -> change; None where they change nothing."""
    return {
        name: None if sliders[name].value == neutral else sliders[name].value
        for name, neutral in NEUTRAL.items()
        if name in sliders
    }
