"""The page in a browser: at common widths no table needs to be scrolled sideways."""

import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "chromium")

PROBE = """\
<script>
document.title = "over:" + [...document.querySelectorAll(".scroll")]
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.getAttribute("aria-label")).join("|");
</script></body>"""


@pytest.mark.truth
@pytest.mark.parametrize("program", ["laplace", "gauss"])
def test_no_table_is_cut_off(program, esp, tmp_path):
    code, page, _ = esp("report", program, "--procs", "8", "--set", "n=64", "--size", "none", "-q")
    assert code == 0
    file = tmp_path / "page.html"
    file.write_text(page.replace("</body>", PROBE))
    assert overflowing(file, 700)  # or the probe sees nothing
    for width in (1000, 1170, 1200, 1400, 1499, 1520, 1920):
        assert overflowing(file, width) == [], width


def overflowing(file, width):
    """The tables that are wider than their place in a window of this width."""
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},1000", "--dump-dom"]
    dump = subprocess.run([*words, file.as_uri()], capture_output=True, text=True, check=True, timeout=60).stdout
    return [each for each in re.search(r"<title>over:(.*?)</title>", dump)[1].split("|") if each]
