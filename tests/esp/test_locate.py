import os

import pytest

from esp import errors, locate


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working directory with a program, a machine and traps of the same names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_users_program_wins_over_ours(elsewhere):
    (elsewhere / "laplace.hpf").write_text("end\n")
    assert locate.find_program("laplace.hpf").resolve() == elsewhere / "laplace.hpf"


def test_a_folder_named_like_a_program_does_not_hide_ours(elsewhere):
    (elsewhere / "laplace").mkdir()
    assert locate.find_program("laplace") == locate.benchmarks_dir() / "laplace.hpf"


def test_a_path_never_means_one_of_ours(elsewhere):
    with pytest.raises(errors.UnreadableFileError):
        locate.find_program("./laplace.hpf/")
    with pytest.raises(errors.UnreadableFileError):
        locate.find_program("sub/laplace.hpf")


def test_a_bare_machine_name_means_ours(elsewhere):
    name = locate.system_names()[0]
    (elsewhere / name).write_text("not a machine\n")
    assert locate.find_system(name).parent == locate.systems_dir()


def test_the_users_machine_file_wins_over_ours(elsewhere):
    name = locate.system_names()[0] + ".yaml"
    (elsewhere / name).write_text("name: mine\n")
    assert locate.find_system(name).resolve() == elsewhere / name
    assert locate.find_system("./" + name).resolve() == elsewhere / name


def test_a_misspelt_program_is_told_its_neighbour(elsewhere):
    with pytest.raises(errors.UnreadableFileError) as caught:
        locate.find_program("laplas.hpf")
    assert str(caught.value) == (
        "laplas.hpf: file not found, and no bundled program has this name. Did you mean laplace?"
    )
    assert caught.value.exit_code == 2


def test_an_unknown_machine_is_told_where_to_look(elsewhere):
    with pytest.raises(errors.UnreadableFileError, match=r"`esp system list` shows the bundled"):
        locate.find_system("qqqqqq")


def test_a_folder_is_named_as_such(elsewhere):
    (elsewhere / "programs").mkdir()
    with pytest.raises(errors.UnreadableFileError, match=r"^programs: this is a folder, not a program\."):
        locate.find_program("programs")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/", "a\0b", "x" * 5000, "y/" * 3000],
    ids=["empty", "here", "above", "root", "nul", "long", "deep"],
)
@pytest.mark.parametrize("find", [locate.find_program, locate.find_system])
def test_hopeless_names_are_refused(find, name, elsewhere):
    with pytest.raises(errors.UnreadableFileError):
        find(name)


def test_a_pipe_is_a_file(elsewhere):
    os.mkfifo(elsewhere / "pipe")
    assert locate.find_program("pipe").name == "pipe"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.EspError, 1),
        (errors.PredictionError, 1),
        (errors.UsageError, 2),
        (errors.UnreadableFileError, 2),
        (errors.CheckFailedError, 3),
    ],
)
def test_exit_codes_of_the_error_family(error, code):
    assert issubclass(error, errors.EspError)
    assert error("what").exit_code == code


def test_an_error_is_one_paragraph():
    full = errors.UsageError("What.", where="--procs", why="Why.", hint="Way out.")
    assert str(full) == "--procs: What. Why. Way out."
    assert str(errors.UsageError("What.")) == "What."
