"""python3 -m tidemark - the program tidemark, which knows that scripts need a Python.

    python3 -m tidemark run [OPTION...] script.py [ARGUMENT...]
    python3 -m tidemark run [OPTION...] -m module [ARGUMENT...]
    python3 -m tidemark report

`run` records a script, or a module after -m, with the Python that runs this; all else is
given to the program as it is.
"""
import os
import sys

from . import program


def command_line(words):
    """WORDS with this Python before the script, or before -m or -c."""
    if not words or words[0] != "run":
        return words
    for at, word in enumerate(words[1:], 1):
        if word == "--":
            return words
        if word.endswith(".py") or word in ("-m", "-c"):
            return [*words[:at], "--", sys.executable, *words[at:]]
    return words


def main():
    """Become the program."""
    try:
        path = program.find()
    except program.TidemarkError as error:
        sys.exit(f"tidemark: {error}")
    try:
        os.execv(path, [path, *command_line(sys.argv[1:])])
    except OSError as error:
        sys.exit(f"tidemark: {path}: {error.strerror}")


if __name__ == "__main__":
    main()
