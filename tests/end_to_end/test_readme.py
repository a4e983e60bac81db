"""What the README shows is what the command prints."""

from textwrap import dedent

from tests.progress import without_progress


def test_the_example_of_the_readme_is_real(esp, root):
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = text.partition("    $ esp run laplace.hpf --procs 8\n")[2].partition("\n\nEach row of the table")[0]
    done = esp("run", "laplace.hpf", "--procs", "8")
    assert done.returncode == 0, done.stderr
    assert shown.replace("\n    ", "\n").removeprefix("    ") == done.stdout.rstrip("\n")


def test_the_python_of_the_readme_runs(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(code, names)
    assert isinstance(names["prediction"].time_s, float)
    assert names["sweep"].time_s.shape == (3,)
    assert names["sweep"].time_s[0] > names["sweep"].time_s[2]


def test_the_program_of_the_readme_is_predicted_as_shown(esp, root, tmp_path):
    text = (root / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Your own program\n")[2].partition("\n## ")[0]
    program, _, commands = section.partition("    program wave\n")[2].partition("    end program wave\n")
    (tmp_path / "wave.f90").write_text(f"program wave\n{dedent(program)}end program wave\n", encoding="utf-8")
    lines = [line.partition("#")[0].split() for line in commands.splitlines() if line.startswith("    esp ")]
    assert len(lines) == 3
    for words in lines:
        done = esp(*words[1:])
        assert (done.returncode, without_progress(done.stderr)) == (0, "")
        assert "wave.f90  8 procs" in done.stdout
