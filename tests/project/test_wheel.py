"""The wheel, built here and installed into an empty environment, finds its data; so does a checkout."""

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from esp import locate

ASK = """
import json, esp, interpreter
from esp import locate
print(json.dumps({
    "files": [esp.__file__, interpreter.__file__],
    "systems": [str(locate.systems_dir()), *locate.system_names()],
    "programs": [str(locate.benchmarks_dir()), *locate.program_names()],
    "found": [str(locate.find_system("ipsc860")), str(locate.find_program("laplace.hpf"))],
}))
"""


def _run(command, **options):
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The wheel of this checkout. hatchling is called directly: no network, no isolated environment."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    _run(command, cwd=root)
    (path,) = target.glob("esp_hpf-*.whl")
    return path


@pytest.fixture(scope="module")
def answer(wheel, tmp_path_factory):
    """What the installed package says about itself, asked from a folder that knows nothing of the checkout.

    The libraries come from the environment of the tests, through a line in a `.pth` file. Such a line does
    not follow the `.pth` files of that environment, so the checkout itself stays out of sight.
    """
    place = tmp_path_factory.mktemp("elsewhere")
    home = place / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    install = ["pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    _run([sys.executable, "-m", *install])
    (site_packages,) = home.glob("lib/python*/site-packages")
    (site_packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    told = _run([str(python), "-c", ASK], cwd=place, env={"PATH": ""})
    return {"site_packages": site_packages, **json.loads(told)}


def _stems(folder, suffixes):
    return sorted({path.stem for path in folder.iterdir() if path.suffix in suffixes})


def test_wheel_holds_every_data_file(wheel, root):
    inside = set(zipfile.ZipFile(wheel).namelist())
    data = [p for name in ("systems", "benchmarks_hpf") for p in (root / name).iterdir() if p.is_file()]
    assert data
    assert [p for p in data if f"esp/_data/{p.parent.name}/{p.name}" not in inside] == []


def test_wheel_holds_the_four_rooms_and_nothing_else(wheel):
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"aag", "esp", "interpreter", "sag"}


def test_installed_package_is_not_the_checkout(answer):
    assert all(Path(file).is_relative_to(answer["site_packages"]) for file in answer["files"])


def test_installed_package_finds_its_data(answer, root):
    data = answer["site_packages"] / "esp" / "_data"
    assert answer["systems"] == [str(data / "systems"), *_stems(root / "systems", locate.SYSTEM_SUFFIXES)]
    programs = _stems(root / "benchmarks_hpf", locate.PROGRAM_SUFFIXES)
    assert answer["programs"] == [str(data / "benchmarks_hpf"), *programs]
    assert answer["found"] == [str(data / "systems" / "ipsc860.yaml"), str(data / "benchmarks_hpf" / "laplace.hpf")]


def test_checkout_finds_its_data(root):
    assert locate.find_system("ipsc860") == root / "systems" / "ipsc860.yaml"
    assert locate.find_program("laplace.hpf") == root / "benchmarks_hpf" / "laplace.hpf"
    assert locate.find_program("laplace") == locate.find_program("laplace.hpf")
