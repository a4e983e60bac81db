import json

import pytest

from esp.locate import benchmarks_dir, program_names, system_names


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_list_of_machines(esp):
    code, out, err = esp("system", "list")
    assert (code, err) == (0, "")
    table, note = out.split("\n\n")
    assert [row.split()[0] for row in table.splitlines()[1:]] == list(system_names())
    assert "ipsc860 is the machine without --system" in note
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", system_names())
def test_show_every_machine(esp, name):
    code, out, _ = esp("system", "show", name)
    assert code == 0
    assert out.startswith(name)
    told = json.loads(esp("system", "show", name, "--json")[1])
    assert told["name"] == name
    figures = [figure for unit in _units(told["root"]) for part in unit["components"] for figure in part["figures"]]
    assert figures
    assert [each["path"] for each in figures if each["path"] not in out] == []


def _units(unit):
    yield unit
    for child in unit["children"]:
        yield from _units(child)


@pytest.mark.parametrize("name", system_names())
def test_check_our_machines(esp, name):
    code, out, err = esp("system", "check", name)
    assert (code, err) == (0, "")
    assert f"{name}.yaml: no error, " in out


def test_check_says_every_fault_with_its_line_and_ends_with_3(esp, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("format: 1\nname: m\ntitel: mine\n", encoding="utf-8")
    code, out, err = esp("system", "check", str(path))
    assert code == 3
    assert f"{path}:3:1:" in out.replace("\n    ", " ")
    assert "title" in out
    assert "found" in err


def test_a_missing_machine_ends_with_2(esp):
    assert esp("system", "check", "nix.yaml")[0] == 2


def test_a_machine_that_is_none_ends_with_1(esp, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("- a\n- b\n", encoding="utf-8")
    code, out, err = esp("system", "show", str(path))
    assert (code, out) == (1, "")
    assert "Traceback" not in err


def test_list_of_programs_says_what_each_is(esp):
    code, out, _ = esp("examples", "list")
    assert code == 0
    rows = [row.split(maxsplit=1) for row in out.splitlines()[1:]]
    assert [row[0] for row in rows] == list(program_names())
    assert all(len(row) == 2 and ".hpf" not in row[1] for row in rows)


def test_copy_programs(esp, tmp_path):
    code, out, _ = esp("examples", "copy", "laplace.hpf", "gauss", "--to", str(tmp_path))
    assert code == 0
    assert _names(tmp_path) == ["gauss.hpf", "laplace.hpf"]
    assert out.split() == [str(tmp_path / "laplace.hpf"), str(tmp_path / "gauss.hpf")]
    ours = (benchmarks_dir() / "gauss.hpf").read_bytes()
    assert (tmp_path / "gauss.hpf").read_bytes() == ours


def test_copy_overwrites_nothing_unless_told(esp, tmp_path):
    (tmp_path / "gauss.hpf").write_text("mine", encoding="utf-8")
    code, _, err = esp("examples", "copy", "laplace", "gauss", "--to", str(tmp_path))
    assert code == 2
    assert "--force overwrites it" in " ".join(err.split())
    assert _names(tmp_path) == ["gauss.hpf"]
    assert esp("examples", "copy", "gauss", "--to", str(tmp_path), "--force")[0] == 0
    assert (tmp_path / "gauss.hpf").read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize("name", ["nix", "../README.md", "/etc/hostname", "", "README.md"])
def test_copy_only_programs(esp, tmp_path, name):
    code, _, err = esp("examples", "copy", name, "--to", str(tmp_path))
    assert code == 2
    assert "no bundled program" in err
    assert _names(tmp_path) == []


def test_copy_to_nowhere(esp, tmp_path):
    assert esp("examples", "copy", "gauss", "--to", str(tmp_path / "nix"))[0] == 2


def test_check_counts_notes_about_the_machine_that_is_extended(esp, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "format: 1\nextends: ipsc860\nname: mine\ntitle: mine\nsources: {guess: reasoning}\n"
        "system: {units: {cube: {units: {network: {network: "
        "{overlap: {value: 0.5, certainty: estimated, source: guess}}}}}}}\n"
    )
    code, out, err = esp("system", "check", str(path))
    assert (code, err) == (0, "")
    assert out.count("M301") == 1
    many = esp("system", "check", "ipsc860")[1].count("M301")
    assert out.splitlines()[-1].startswith(
        f"{many - 1} notes about parameters of ipsc860, which it extends: esp system"
    )
