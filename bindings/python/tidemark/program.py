"""tidemark/program.py - find the program tidemark and run it.

Everything that reads a trace goes through the program: there is one reader of traces, and
Python sees the numbers that everybody sees.
"""
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# Beside this package: installed (PREFIX/lib/python3.x/dist-packages/tidemark), or in the
# sources (bindings/python/tidemark).
NEARBY = (
    os.path.join(HERE, "..", "..", "..", "..", "bin", "tidemark"),
    os.path.join(HERE, "..", "..", "..", "build", "release", "tidemark"),
)


class TidemarkError(RuntimeError):
    """The program said no; the text is what it said."""


def find():
    """The path of the program: $TIDEMARK, beside this package, or in $PATH."""
    named = os.environ.get("TIDEMARK")
    if named:
        return named
    for path in NEARBY:
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    found = shutil.which("tidemark")
    if found:
        return found
    raise TidemarkError("the program tidemark is not in $PATH; "
                        "install it, or name it in $TIDEMARK")


def _complaint(text, status):
    """What the program said, without its name in front."""
    said = text.strip().removeprefix("tidemark: ")
    return said or f"tidemark ended with status {status}"


def read_json(*argv):
    """The one JSON object that the program prints."""
    done = subprocess.run([find(), *argv], capture_output=True, encoding="utf-8",
                          errors="backslashreplace", check=False)
    if done.returncode != 0:
        raise TidemarkError(_complaint(done.stderr, done.returncode))
    return json.loads(done.stdout)


def read_lines(*argv):
    """The JSON objects that the program prints, one a line, as they come."""
    with subprocess.Popen([find(), *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          errors="backslashreplace") as child:
        try:
            for line in child.stdout:
                yield json.loads(line)
        except GeneratorExit:
            child.kill()  # nobody wants the rest
            raise
        said = child.stderr.read()
        if child.wait() != 0:
            raise TidemarkError(_complaint(said, child.returncode))
