#!/usr/bin/python3
"""tools/check-layers.py - the rooms stay apart, and files stay readable.

Checks, over src, include, tests and examples:
  - who may include whom (the table below; ARCHITECTURE.md explains it),
  - file names are unique in the tree,
  - every file opens with a comment: room/name.c - what it is for,
  - no function is longer than 60 lines, no file longer than 600,
  - one file of the recorder maps memory for it: elsewhere it would land in holes that the
    program has made (see src/capture/reserve.c).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION_LINES = 60
FILE_LINES = 600

# room -> what its files may include: a room (with what lies below it) or one header.
# Public headers (include/tidemark) are open to all.
MAY_INCLUDE = {
    "base/raw": ["base/raw"],
    "base": ["base"],
    "trace": ["base", "trace"],
    "symbol": ["base", "symbol"],
    "model": ["base", "trace", "symbol", "model"],
    "query": ["base", "trace", "symbol", "model", "query"],
    "view": ["base", "trace", "model", "query", "view"],
    "collect": ["base", "trace", "symbol", "collect"],
    "capture": ["base/raw", "trace/format.h", "trace/ring.h", "trace/row.h", "capture"],
    "cli": ["base", "trace", "symbol", "model", "query", "view", "collect", "cli"],
}

MAPS_MEMORY = re.compile(r"\bSYS_m(?:re)?map\b|\bm(?:re)?map(?:64)?\(")
# hooks_map.c for the program; sandbox.c only asks whether it could.
MAY_MAP = {"reserve.c", "hooks_map.c", "sandbox.c"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def sources():
    """All C and C++ files, in a stable order."""
    for folder in ("src", "include", "tests", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp", ".hpp"):
                yield path


def room_of(path):
    """The room of a file under src; None elsewhere."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] != "src":
        return None
    inside = "/".join(relative.parts[1:-1])
    rooms = [r for r in MAY_INCLUDE if inside == r or inside.startswith(r + "/")]
    return max(rooms, key=len) if rooms else inside


def allowed(room, header):
    """May a file of ROOM include HEADER (a path below src)?"""
    return any(header == entry or header.startswith(entry + "/")
               for entry in MAY_INCLUDE.get(room, []))


def is_public(path):
    """Is PATH one of the public headers, which find each other beside themselves?"""
    return path.exists() and path.resolve().is_relative_to(ROOT / "include")


def check_includes(path, text):
    room = room_of(path)
    public = path.is_relative_to(ROOT / "include")
    for bracket, header in INCLUDE.findall(text):
        if public and bracket == '"' and not is_public(path.parent / header):
            yield f'a public header includes "{header}"'
        if room is None or bracket == "<":
            continue
        if not (ROOT / "src" / header).exists():
            # Files of an architecture are chosen by the build's include path.
            if list((ROOT / "src" / "capture" / "arch").glob("*/" + header)) \
                    and room == "capture":
                continue
            yield f'"{header}" is not a path below src'
        elif not allowed(room, header):
            yield f'{room} must not see "{header}"'


def check_top(path, text):
    first = text.split("\n", 1)[0]
    match = re.match(r"(?:/\*|//) (\S+) - \S", first)
    if not match:
        yield 'does not open with "/* room/name - what it is for."'
        return
    named = match.group(1)
    relative = str(path.relative_to(ROOT))
    if not ("/" + relative).endswith("/" + named) and \
            not ("/" + relative.rsplit(".", 1)[0]).endswith("/" + named):
        yield f"calls itself {named}"


def blank(match):
    """A comment or string without its words, but with its lines."""
    return re.sub(r"[^\n]", " ", match.group(0))


def check_sizes(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{lines} lines: at most {FILE_LINES}"
    # The house layout puts a function's braces, and nothing else, at column 0.
    start = None
    for number, line in enumerate(COMMENT_OR_STRING.sub(blank, text).split("\n"), 1):
        if line.rstrip() == "{":
            start = number
        elif line.rstrip() == "};":
            start = None
        elif line.rstrip() == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                yield f"line {start}: a function of {number - start - 1} lines"
            start = None


def check_maps(path, text):
    if room_of(path) == "capture" and path.name not in MAY_MAP:
        if MAPS_MEMORY.search(COMMENT_OR_STRING.sub(blank, text)):
            yield "maps memory: see capture/reserve.h"


def main():
    problems = []
    names = {}
    for path in sources():
        relative = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        for check in (check_includes, check_top, check_sizes, check_maps):
            problems += [f"{relative}: {problem}" for problem in check(path, text)]
        if relative.parts[:3] == ("src", "capture", "arch"):
            continue  # one folder per architecture, with equal names
        if path.name in names:
            problems.append(f"{relative}: {names[path.name]} has the same name")
        names[path.name] = relative
    for problem in problems:
        print(problem)
    if not names:
        problems.append("no sources found")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
