"""Random serial programs: functional interpretation and gfortran have the same values."""

import re
import subprocess

import numpy as np
import pytest

from aag.functional import writing
from aag.functional.run import computed
from aag.functional.tables import WantedValues
from aag.mapping.constants import constants_of
from aag.pipeline import main_unit
from aag.source.read import read_program
from tests.aag.functional.random_serial import ARRAYS, Serial


def by_gfortran(texts, folder):
    """What programs print: array -> values. One program runs all of them."""
    for number, text in texts.items():
        (folder / f"p{number}.f90").write_text(text)
        subprocess.run(
            ["gfortran", "-w", "-O0", "-ffree-line-length-none", f"p{number}.f90", "-o", f"p{number}"],
            cwd=folder,
            check=True,
        )
    found = {}
    for number in texts:
        out = subprocess.run([folder / f"p{number}"], capture_output=True, text=True, check=True).stdout.split()
        values, name = {}, ""
        for word in out:
            if word in ARRAYS:
                name = word
                values[name] = []
            else:
                values[name].append(float(word))
        found[number] = values
    return found


def by_esp(text):
    unit = main_unit(read_program(text, "serial.f90"))
    return computed(unit, WantedValues(arrays=frozenset(ARRAYS)), constants_of(unit, {})[0])


HEAD = re.compile(r"\s*(\w+: )?do( while| \w+ =|$)")
LOOPS = 500
"""More than a program has lines."""


def counting(text):
    """The program, and for each of its lines how often a loop there was entered, and how many iterations began."""
    first, *lines = text.splitlines()
    found = [first, f"integer :: entered({LOOPS}) = 0, begun({LOOPS}) = 0"]
    for number, line in enumerate(lines[:-1], start=2):
        head = HEAD.match(line)
        found += [f"entered({number}) = entered({number}) + 1"] if head else []
        found += [line]
        found += [f"begun({number}) = begun({number}) + 1"] if head else []
    return "\n".join([*found, "print '(*(1x,i0))', entered, begun", lines[-1]]) + "\n"


def trips_by_gfortran(text, folder, number):
    path = folder / f"loops{number}"
    path.with_suffix(".f90").write_text(counting(text))
    subprocess.run(["gfortran", "-w", "-O0", "-ffree-line-length-none", f"{path}.f90", "-o", path], check=True)
    words = subprocess.run([path], capture_output=True, text=True, check=True).stdout.split()[-2 * LOOPS :]
    entered, begun = [int(each) for each in words[:LOOPS]], [int(each) for each in words[LOOPS:]]
    return {line: (entered[line - 1], begun[line - 1]) for line in range(1, LOOPS + 1) if entered[line - 1]}


def wrong_trips(number, folder):
    """Loops that are entered or run at other times than gfortran says."""
    text = Serial(number).program()
    unit = main_unit(read_program(text, "serial.f90"))
    expected = trips_by_gfortran(text, folder, number)
    found = computed(unit, WantedValues(loops=frozenset(expected)), constants_of(unit, {})[0])
    wrong = dict(found.missing)
    for line, trips in found.trips.items():
        entered, begun = expected[line]
        unfinished = begun - sum(trips.counts)
        if len(trips.counts) != entered or not bool(trips.exits) <= unfinished <= (entered if trips.exits else 0):
            wrong[line] = (trips, expected[line])
    return wrong


@pytest.mark.parametrize("number", [3, *(pytest.param(each, marks=pytest.mark.truth) for each in range(300, 360))])
def test_loops_run_as_often_as_gfortran_says(number, tmp_path):
    assert wrong_trips(number, tmp_path) == {}


def differences(numbers, folder):
    texts = {number: Serial(number).program() for number in numbers}
    expected = by_gfortran(texts, folder)
    wrong = []
    for number, text in texts.items():
        found = by_esp(text)
        for name in ARRAYS:
            if name not in found.tables:
                wrong.append((number, name, found.missing.get(name)))
                continue
            values = found.tables[name].values.ravel("F").astype(float)
            close = 1e-6 if ARRAYS[name][0] == "real" else 1e-12
            if not np.allclose(values, expected[number][name], rtol=close, atol=close):
                wrong.append((number, name, values - expected[number][name]))
    return wrong


@pytest.mark.parametrize("count", [4, pytest.param(10, marks=pytest.mark.truth)])
@pytest.mark.parametrize("fewest", [1, writing.FEWEST, 100])
def test_values_are_those_of_gfortran(fewest, count, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "FEWEST", fewest)
    assert differences(range(10 * fewest, 10 * fewest + count), tmp_path) == []


@pytest.mark.truth
@pytest.mark.parametrize("fewest", [1, writing.FEWEST])
def test_values_of_many_programs(fewest, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "FEWEST", fewest)
    assert differences(range(2000, 2250), tmp_path) == []
