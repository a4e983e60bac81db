"""The interface in a browser, by textual-serve, which is an optional extra."""

import os
import sys
from pathlib import Path
from shlex import quote

from esp.errors import PredictionError, UsageError, reason


def serve(words: str, host: str, port: int) -> int:
    """Serve until Ctrl-C; each browser gets a process of its own. `words`: what follows ``esp`` in its command.

    Raises:
        PredictionError: textual-serve is not installed.
        UsageError: the address cannot be served at.
    """
    try:
        from textual_serve.server import Server
    except ImportError:
        raise PredictionError(
            "serving to a browser needs the package textual-serve.", hint="Install it: pip install 'esp-hpf[serve]'."
        ) from None
    # The processes for the browsers run in the same folder and find the same esp.
    here = str(Path(__file__).resolve().parent.parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH", ""))))
    sys.stderr.write(f"esp is at http://{host}:{port} (Ctrl-C ends it)\n")
    try:
        # The shell gives its place to esp, so that the app is a child of the server and sees it go (`served.py`).
        Server(f"exec {quote(sys.executable)} -m esp {words}", host=host, port=port, title="esp").serve()
    except OSError as error:
        told = f"cannot serve at {host}:{port}: {reason(error)}."
        raise UsageError(told, hint="Try another --port.") from None
    return 0
