import subprocess
import sys

import pytest

import esp


def test_the_api_is_at_hand():
    from esp import api

    assert esp.predict is api.predict
    assert esp.Prediction is api.Prediction
    assert set(esp.__all__) <= set(dir(esp))


def test_importing_esp_loads_nothing_of_it():
    wanted = "{'esp.shown', 'esp.version'}"
    code = f"import sys, esp; sys.exit({{m for m in sys.modules if m.startswith('esp.')}} != {wanted})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = (
        "import sys; before = {*sys.modules}; import esp; sys.exit(bool({'numpy', 'typing'} & {*sys.modules} - before))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match=r"^module 'esp' has no attribute 'predcit'$"):
        _ = esp.predcit
