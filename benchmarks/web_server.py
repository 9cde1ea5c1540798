"""The page's server in a process of its own, for the scripts that load it; not a benchmark itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """
import json, os, sys
from pathlib import Path
from pixelplan.web.launch import serve
files = set()
sys.addaudithook(lambda event, values: files.add(str(values[0])) if event == "open" else None)
try:
    serve(sys.argv[1] or None, "127.0.0.1", 0, False)
finally:
    Path(sys.argv[2]).write_text(json.dumps(sorted(files)))
"""


@dataclass
class Server:
    """A running server."""

    address: str
    process: subprocess.Popen[str]
    opened: list[str]
    """The files that it opened while it served; known once it has ended."""

    def memory(self) -> float:
        """Resident memory in MB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return float("nan")


@contextmanager
def server(model: str = "") -> Iterator[Server]:
    """A server on a free port; `model` as for `pixelplan web --model`."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files.json"
        command = [sys.executable, "-c", _SCRIPT, model, str(files)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().split(" is at ")[1].split()[0].rstrip("/")
        running = Server(address, process, [])
        try:
            yield running
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
            process.stdout.close()
            running.opened += json.loads(files.read_text())


def outside(opened: list[str]) -> list[str]:
    """Those of the files that belong neither to Python and its packages, nor to pixelplan, nor to the system."""
    import pixelplan

    ours = [sys.prefix, sys.base_prefix, str(Path(pixelplan.__file__).parent), "/proc", "/sys", "/dev", "/usr", "/lib"]
    return [path for path in opened if path.startswith("/") and not path.startswith(tuple(ours))]
