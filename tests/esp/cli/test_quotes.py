"""Findings show lines of Fortran and of machine files, but of nothing else that is named, perhaps by a stranger."""

import pytest

SECRETS = {
    "shadow": "root:$6$hidden$hidden:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
    "token": "hidden\n",
    "netrc": "machine example.org login me word hidden\n",
    "key": "-----BEGIN KEY-----\nhidden+hidden/hidden==\n-----END KEY-----\n",
    "settings": "phrase = 'hidden\nx = = hidden\n",
    "yaml": "phrase: [hidden\n",
    "listed": "- hidden\n- - hidden: {x\n",
}
COMMANDS = (
    "run {secret}",
    "run {including}",
    "run {cpp}",
    "run --form free {secret}",
    "run pi --system {secret}",
    "run pi --system {extending}",
    "system show {secret}",
    "system fit {secret}",
    "diff {secret} pi",
    "check pi --budget {secret}",
    "trace {secret}",
    "compare {including}",
    "layout {including}",
)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("words", COMMANDS)
def test_lines_of_other_files_are_not_shown(kind, words, esp, tmp_path):
    names = {
        "secret": tmp_path / "secret",
        "including": tmp_path / "a.f90",
        "cpp": tmp_path / "a.F90",
        "extending": tmp_path / "a.yaml",
    }
    names["secret"].write_text(SECRETS[kind])
    names["including"].write_text("program p\ninclude 'secret'\nend program\n")
    names["cpp"].write_text('program p\n#include "secret"\nend program\n')
    names["extending"].write_text("format: 1\nname: a\nextends: secret\n")
    code, out, err = esp(*(word.format(**names) for word in words.split()))
    assert "hidden" not in out + err
    assert code in (1, 2) or ("includ" in words + kind or "cpp" in words or "--form" in words)


def test_lines_of_fortran_and_machines_are_shown(esp, tmp_path):
    (tmp_path / "part.inc").write_text("x = = shown\n")
    (tmp_path / "a.f90").write_text("program p\ninclude 'part.inc'\nend program\n")
    (tmp_path / "a.yaml").write_text("format: 1\nname: a\nshown: 1\n")
    assert "x = = shown" in esp("run", str(tmp_path / "a.f90"))[2]
    assert "3 | shown: 1" in esp("run", "pi", "--system", str(tmp_path / "a.yaml"))[2]


def test_a_name_that_does_not_say_that_it_is_fortran(esp, tmp_path):
    path = tmp_path / "program"
    path.write_text("      x = 1\n      end\n")
    code, out, err = esp("run", str(path))
    assert (code, out) == (1, "")
    assert "whether this is Fortran, or its" in err
    assert "--form free" in err
    assert esp("run", str(path), "--form", "free")[0] == 0
