"""The command as a person starts it: in a real terminal (tmux), into a pipe, and for a browser."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import aiohttp
import pytest

from esp.cli.main import main

ESP = f"{sys.executable} -m esp"
PATIENCE_S = 60


@pytest.fixture
def tmux(tmp_path, root):
    """Runs tmux with a server of its own."""
    assert shutil.which("tmux"), "tmux is missing; .ci/run installs it"
    socket_path = str(tmp_path / "tmux")

    def run(*arguments):
        command = ["tmux", "-S", socket_path, "-f", os.devnull, *arguments]
        # The terminal says how large it is, not what the other tests rely on.
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        environment = kept | {"PYTHONPATH": str(root), "TERM": "xterm-256color"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        return done.stdout

    yield run
    run("kill-server")


def _until(seen, *wanted):
    """The screen, once all of this is on it."""
    deadline = time.monotonic() + PATIENCE_S
    text = ""
    while time.monotonic() < deadline:
        text = seen()
        if all(each in text for each in wanted):
            return text
        time.sleep(0.1)
    pytest.fail(f"{wanted} did not come:\n{text}")


@pytest.mark.slow
def test_in_a_terminal(tmux):
    tmux("new-session", "-d", "-x", "80", "-y", "24", f"{ESP} tui pbs1 --procs 4; echo left $?; sleep 60")

    def screen():
        return tmux("capture-pane", "-p")

    text = _until(screen, "2 choices", "quit")
    assert len(text.splitlines()) == 24
    assert 76 <= max(map(len, text.splitlines())) <= 80
    tmux("send-keys", "3")
    _until(screen, "proc ")
    tmux("send-keys", "w", "Right", "Right")  # as fast as tmux can
    _until(screen, "10%")
    tmux("resize-window", "-x", "100", "-y", "30")
    _until(screen, "vs best")
    tmux("send-keys", "q")
    _until(screen, "left 0")


def test_a_change_that_cannot_be_is_said_before_the_screen_is_taken(tmux):
    tmux("new-session", "-d", "-x", "80", "-y", "24", f"{ESP} tui pbs1 --load 150%; echo left $?; sleep 60")
    text = _until(lambda: tmux("capture-pane", "-p"), "left 2")
    assert "'150%' is out of range" in text


def test_the_terminal_is_left_as_it_was_when_the_process_is_ended(tmux):
    tmux("new-session", "-d", "-x", "80", "-y", "24", f"{ESP} tui pbs1 --procs 4; echo left $?; sleep 60")
    _until(lambda: tmux("capture-pane", "-p"), "2 choices")
    process = int(tmux("display", "-p", "#{pane_pid}"))
    (child,) = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    assert tmux("display", "-p", "#{alternate_on} #{mouse_any_flag}").split() == ["1", "1"]
    os.kill(int(child), signal.SIGTERM)
    _until(lambda: tmux("capture-pane", "-p"), "left 143")
    assert tmux("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").split() == ["0", "0", "1"]


@pytest.mark.parametrize("program", [pytest.param("pbs2", marks=pytest.mark.truth), "pi"])
def test_into_a_pipe_it_is_the_table(program, root, capsys):
    command = [sys.executable, "-m", "esp", "tui", program, "--procs", "4"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert run.returncode == 0, run.stderr
    assert "distribute" in run.stdout
    assert "vs best" in run.stdout
    assert "\x1b" not in run.stdout
    assert main(["compare", program, "--procs", "4", "--quiet", "--size", "none"]) == 0
    assert run.stdout == capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tui"], "no terminal to ask"),
        (["tui", "pbs1", "--procs", "1,2"], "one processor count"),
        (["tui", "pbs1", "--serve", "--port", "0"], "is not a port"),
        (["tui", "nosuch.hpf"], "no bundled program"),
    ],
)
def test_wrong_use_is_said(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_program_without_arrays_is_shown_as_a_profile(tmp_path, capsys):
    path = tmp_path / "plain.hpf"
    path.write_text("program p\n  integer :: i\n  i = 1\n  print *, i\nend program p\n")
    assert main(["tui", str(path), "--procs", "2"]) == 0
    assert "time" in capsys.readouterr().out


async def _in_the_browser(port, then=lambda: None):
    """What the page gets to draw, once the choices are on it; `then` happens while it is still open."""
    seen = b""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(
            f"http://localhost:{port}/ws?width=80&height=24", timeout=aiohttp.ClientWSTimeout(ws_close=PATIENCE_S)
        ) as page,
    ):
        await page.send_json(["resize", {"width": 80, "height": 24}])
        async for message in page:
            seen += message.data if isinstance(message.data, bytes) else b""
            if b"2 choices" in seen and b"(CYCLIC)" in seen:
                then()
                break
    return seen


def _children(pid):
    """Processes that a process has started (Linux)."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _runs(pid):
    """Whether there is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_in_a_browser(root):
    """The page is served, and what it draws is the interface."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "esp", "tui", "pbs1", "--procs", "4", "--serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        text = ""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and not text:
            time.sleep(0.2)
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/") as page:
                    text = page.read().decode()
            except OSError:
                assert server.poll() is None, server.stderr.read()
        assert "<title>esp</title>" in text or "esp" in text
        assert "textual" in text.lower()
        apps = []

        def end():
            apps.extend(_children(server.pid))
            server.kill()

        assert b"(CYCLIC)" in asyncio.run(asyncio.wait_for(_in_the_browser(port, end), PATIENCE_S))
        assert apps
        while time.monotonic() < deadline and any(map(_runs, apps)):
            time.sleep(0.2)
        assert not any(map(_runs, apps))  # a server that is killed leaves nobody behind
    finally:
        server.kill()
        server.communicate(timeout=20)
