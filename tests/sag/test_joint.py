"""Groups of figures that one fit gives: what a file may say of them, and how they vary."""

import numpy as np
import pytest

from esp.locate import find_system, systems_dir
from sag.errors import MachineError
from sag.load import load_system
from sag.scenario import Scenario
from sag.uncertainty import SCENARIOS, joint_factors, uncertain, uncertain_scenario

FILE = """\
format: 1
extends: ipsc860
name: fitted
title: fitted
sources: {{runs: ours}}
fit:
  groups: [one, two]
  covariance: {covariance}
  error: 0.05
system:
  units:
    cube:
      units:
        node:
          processor:
            r8:
              add: {{value: 1 us, range: x0.5 to x2, group: one, source: runs, certainty: measured}}
              mul: {{value: 1 us, range: x0.5 to x2, group: two, source: runs, certainty: measured}}
"""


def load(tmp_path, covariance="[[0.04, -0.036], [-0.036, 0.04]]", **more):
    text = FILE.format(covariance=covariance)
    for old, new in more.items():
        text = text.replace(old, new)
    path = tmp_path / "fitted.yaml"
    path.write_text(text)
    return load_system(path, folder=systems_dir())


def test_groups_vary_together(tmp_path):
    system = load(tmp_path)
    drawn = joint_factors(system.fit)
    one, two = drawn["one"], drawn["two"]
    assert one.shape == (SCENARIOS,)
    assert np.corrcoef(one, two)[0, 1] == pytest.approx(-0.9, abs=0.08)
    assert one.std() == pytest.approx(0.2, rel=0.15)
    assert (one + two).std() == pytest.approx(np.sqrt(0.008), rel=0.2)
    assert one.mean() == pytest.approx(1.0, abs=0.03)


def test_scenarios_have_them(tmp_path):
    system = load(tmp_path)
    paths = {"cube.node.processor.r8.add": "one", "cube.node.processor.r8.mul": "two"}
    assert paths.keys() <= uncertain(system).keys()
    given = dict(uncertain_scenario(system, Scenario(), [*range(SCENARIOS), SCENARIOS]).sets)
    for path, group in paths.items():
        assert given[path].amount[:-1] == pytest.approx(joint_factors(system.fit)[group])
        assert given[path].amount[-1] == 1.0


def test_factors_stay_above_zero(tmp_path):
    drawn = joint_factors(load(tmp_path, "[[1.0, 0.0], [0.0, 4.0]]").fit)
    assert all(each.min() > 0 for each in drawn.values())


def test_a_machine_without_a_fit_has_none():
    assert load_system(find_system("ipsc860"), folder=systems_dir()).fit is None


def test_a_machine_that_replaces_a_group_keeps_the_others(tmp_path):
    load(tmp_path)
    path = tmp_path / "mine.yaml"
    figure = "{value: 2 us, source: me, certainty: measured}"
    units = f"{{cube: {{units: {{node: {{processor: {{r8: {{add: {figure}}}}}}}}}}}}}"
    path.write_text(f"format: 1\nextends: ./fitted.yaml\nname: mine\nsources: {{me: me}}\nsystem: {{units: {units}}}\n")
    found = load_system(path, folder=systems_dir()).fit
    assert found.groups == ("two",)
    assert found.covariance == pytest.approx(0.04)


def test_an_error_in_percent(tmp_path):
    assert load(tmp_path, **{"error: 0.05": "error: 5%"}).fit.error == 0.05


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("groups: [one, two]", "groups: [one, one]", "different names"),
        ("groups: [one, two]", "groups: one", "different names"),
        ("groups: [one, two]", "groups: [one, three]", "no figure has the group 'three'"),
        ("groups: [one, two]", "groups: [one]", "1 rows of 1 numbers"),
        ("[[0.04, -0.036], [-0.036, 0.04]]", "[[0.04, -0.036], [-0.036]]", "2 rows of 2 numbers"),
        ("[[0.04, -0.036], [-0.036, 0.04]]", "[[0.04, x], [-0.036, 0.04]]", "2 rows of 2 numbers"),
        ("[[0.04, -0.036], [-0.036, 0.04]]", "[[0.04, nan], [nan, 0.04]]", "2 rows of 2 numbers"),
        ("[[0.04, -0.036], [-0.036, 0.04]]", "[[0.04, 0.02], [-0.036, 0.04]]", "symmetric"),
        ("[[0.04, -0.036], [-0.036, 0.04]]", "[[0.04, 0.05], [0.05, 0.04]]", "positive"),
        ("error: 0.05", "error: 5", "a share"),
        ("error: 0.05", "error: {a: 1}", "a share"),
        ("error: 0.05", "errors: 0.05", "unknown key 'errors'"),
        ("  error: 0.05\n", "", "the key 'fit.error' is missing"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, message):
    with pytest.raises(MachineError) as raised:
        load(tmp_path, **{old: new})
    assert message in str(raised.value)
    assert raised.value.line > 0


def test_fit_must_be_a_mapping(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("format: 1\nextends: ipsc860\nname: x\nfit: 3\n")
    with pytest.raises(MachineError, match="'fit' must be a mapping"):
        load_system(path, folder=systems_dir())
