"""`esp sweep --dask`: a scheduler and two workers of Dask do the walks, and nothing in the answer tells."""

import os
import subprocess
import sys

import pytest

from esp.cli.main import main
from tests.progress import without_progress

LONGEST_S = 180
"""After that, whatever still runs is ended."""

CLUSTER = f"""\
import os, sys, threading
from esp.explore import sweep

threading.Timer({LONGEST_S}, os._exit, [3]).start()
done, work = [], sweep.Runner.work

def counted(self, walk):
    done.append(threading.get_ident())
    return work(self, walk)

if __name__ == "__main__":
    from distributed import LocalCluster

    sweep.Runner.work = counted
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
                      dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
    print(len(done), len(set(done)), flush=True)
    os._exit(0)
"""

WORDS = [
    "sweep",
    "laplace",
    "--set",
    "n=24,16,8",
    "--set",
    "k=1",
    "--procs",
    "4,3",
    "--load",
    "0%,50%",
    "--distribute",
    "temp=(block(5),*)",
    "--distribute",
    "temp=(block,*)",
    "--json",
]
"""The slowest first, and some that are impossible."""


def run(words, root):
    return subprocess.run(
        [sys.executable, "-m", "esp", *words],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )


@pytest.fixture
def cluster(root, tmp_path):
    """A process with a scheduler and two workers, each a thread; it ends when its input does."""
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=tmp_path,
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.truth
@pytest.mark.slow
def test_workers_of_dask_change_neither_results_nor_order(cluster, root):
    address = cluster.stdout.readline().strip()
    assert address.startswith("tcp://127.0.0.1:"), cluster.communicate(timeout=LONGEST_S)
    plain, jobs, dask = (run([*WORDS, *more], root) for more in ([], ["--jobs", "2"], ["--dask", address]))
    told, _ = cluster.communicate("", timeout=LONGEST_S)
    walks, threads = map(int, told.split())
    assert (walks, threads) == (3 * 2 * 2, 2)  # the loads of a walk go together
    assert plain.returncode == jobs.returncode == dask.returncode == 0, dask.stderr
    assert plain.stdout.count('"time_s"') == 2 * walks
    assert '"E307"' in plain.stdout
    assert jobs.stdout == plain.stdout
    assert dask.stdout == plain.stdout
    assert without_progress(dask.stderr) == without_progress(plain.stderr)


def test_without_dask_the_way_out_is_told(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed: an import of it fails
    assert main(["sweep", "laplace", "--procs", "2,4", "--dask", "tcp://127.0.0.1:1"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "Dask is not installed." in err
    assert "pip install 'esp-hpf[dask]'" in " ".join(err.split())


def test_a_wrong_address_is_told(root):
    done = run(["sweep", "laplace", "--procs", "2,4", "--dask", "nowhere://127.0.0.1:1"], root)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no Dask scheduler responds" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
