"""What the README shows is what the command prints."""


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
