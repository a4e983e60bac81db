"""The values that travel along the road are really immutable."""

import dataclasses
import importlib
import pkgutil
import types
import typing
from collections.abc import Callable

import pytest
from msgspec import Struct

ROOMS = (
    "aag.diagnostics",
    "aag.ir",
    "aag.mapping",
    "aag.spmd.nodes",
    "aag.spmd.steps",
    "aag.graph",
    "sag",
    "interpreter.result",
)
"""The packages and modules whose records must be frozen."""

MUTABLE = (list, dict, set, bytearray)


def _modules(name):
    """`name` and all modules below it."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), name + "."):
        yield importlib.import_module(found.name)


def _records(room):
    return {
        value
        for module in _modules(room)
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and _is_record(value)
    }


def _is_record(cls):
    return dataclasses.is_dataclass(cls) or issubclass(cls, Struct)


def _types_in(hint):
    """`hint` and everything it is made of, but for what a function takes and returns."""
    if typing.get_origin(hint) is Callable:
        return
    yield typing.get_origin(hint) or hint
    for part in typing.get_args(hint):
        if not isinstance(part, str | int | types.EllipsisType):  # the parts of Literal and tuple[X, ...]
            yield from _types_in(part)


def _faults(cls):
    faults = []
    if issubclass(cls, Struct):  # these always have slots
        fields = cls.__struct_fields__
        frozen = cls.__struct_config__.frozen
    else:
        fields = [field.name for field in dataclasses.fields(cls)]
        frozen = cls.__dataclass_params__.frozen
        if "__slots__" not in vars(cls):
            faults.append("no slots")
    if not frozen:
        faults.append("not frozen")
    hints = typing.get_type_hints(cls)
    return faults + [f"{name}: mutable" for name in fields if set(_types_in(hints[name])) & set(MUTABLE)]


@pytest.mark.parametrize("room", ROOMS)
def test_records_are_frozen_slotted_and_hold_no_mutable_field(room):
    found = _records(room)
    assert found
    assert {f"{c.__module__}.{c.__qualname__}": faults for c in found if (faults := _faults(c))} == {}


def test_the_check_sees_every_fault():
    @dataclasses.dataclass
    class Loose:
        one: tuple[list[int], ...]
        two: int | dict[str, int]
        three: tuple[int, ...]

    class Open(Struct):
        one: tuple[list[int], ...]

    assert _faults(Loose) == ["no slots", "not frozen", "one: mutable", "two: mutable"]
    assert _faults(Open) == ["not frozen", "one: mutable"]
