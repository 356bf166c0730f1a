"""tests/e2e/python_scripts.py - scripts that use the Python package, and run under it."""
import os
import subprocess
import sys
import tempfile
import textwrap

import tide

PACKAGE = os.path.join(tide.SOURCE, "bindings", "python")
sys.path.insert(0, PACKAGE)
import tidemark  # pylint: disable=wrong-import-position

COMPAT = os.path.join(PACKAGE, "tidemark", "compat")
ENVIRONMENT = dict(os.environ, PYTHONPATH=PACKAGE + ":" + COMPAT,
                   PYTHONDONTWRITEBYTECODE="1")


def run(*words, cwd=None, status=0):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True,
                          timeout=300, check=False, env=ENVIRONMENT, cwd=cwd)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    return done


class Script:
    """A script of a few lines, recorded by `python3 -m tidemark run`."""

    def __init__(self, lines, *options):
        self.folder = tempfile.mkdtemp(prefix="tide-python-")
        self.path = os.path.join(self.folder, "script.py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(lines))
        self.done = run("-m", "tidemark", "run", "-q", "-o", "it", *options, self.path, "an",
                        "-x", cwd=self.folder)
        self.trace = tidemark.open(os.path.join(self.folder, "it.tide"))

    def regions(self):
        """region -> (calls, bytes) of what was allocated."""
        return {row["region"]: (row["calls"], row["bytes"])
                for row in self.trace.rows("total", "regions")}

    def labels(self):
        return {row["label"]: (row["calls"], row["bytes"])
                for row in self.trace.rows("total", "labels")}
