#!/usr/bin/python3
"""tools/check-tidy.py CACHE [--deep] [FILE...] - clang-tidy finds nothing.

--deep also follows all paths through each function (clang-analyzer-*), which takes thirty
times as long.
One file per call: clang-tidy 14 reports a false valist.Uninitialized when it is given
several.  What passed is remembered in the folder CACHE under a hash of everything that
the verdict depends on (the file, our headers that it includes, the flags, the rules), so
a second run is quick.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCH = ROOT / "src" / "capture" / "arch" / platform.machine()
SEARCH = [ROOT / "src", ROOT / "include", ROOT / "tests" / "unit", ARCH]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DXXH_INLINE_ALL", '-DTIDE_VERSION="0"',
         '-DTIDE_SOURCE_DIR="."', '-DTIDE_BINARY_DIR="."',
         "-DTIDE_SANITIZED=0", "-fno-builtin-malloc"] + [f"-I{folder}" for folder in SEARCH]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def sources():
    for pattern in ("src/**/*.c", "tests/unit/*.c"):
        for path in sorted(ROOT.glob(pattern)):
            foreign = "arch" in path.parts and not path.is_relative_to(ARCH)
            if not foreign:
                yield path


def find_header(name, includer):
    for folder in [includer.parent] + SEARCH:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def with_headers(path):
    """PATH and all headers of ours that it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in INCLUDE.findall(current.read_text(encoding="utf-8")):
            header = find_header(name, current)
            if header:
                todo.append(header)
    return sorted(seen)


def key_of(path, version, rules):
    digest = hashlib.sha256(version + " ".join(FLAGS + rules).encode())
    for part in [ROOT / ".clang-tidy"] + with_headers(path):
        digest.update(str(part).encode() + b"\0" + part.read_bytes() + b"\0")
    return digest.hexdigest()


def tidy(path, cache, version, rules):
    """The complaints about PATH; empty when there are none."""
    mark = cache / key_of(path, version, rules)
    if mark.exists():
        return ""
    done = subprocess.run(["clang-tidy", "--quiet", *rules, str(path), "--"] + FLAGS,
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout + done.stderr


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__.rstrip())
        return 0 if "--help" in sys.argv else 2
    cache = pathlib.Path(sys.argv[1]).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:]
    rules = [] if "--deep" in names else ["--checks=-clang-analyzer-*"]
    files = [pathlib.Path(name).resolve() for name in names if name != "--deep"]
    files = files or list(sources())
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True,
                             check=True).stdout
    workers = min(2, os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        complaints = list(pool.map(lambda path: tidy(path, cache, version, rules), files))
    for complaint in complaints:
        if complaint:
            print(complaint)
    return 1 if any(complaints) or not files else 0


if __name__ == "__main__":
    sys.exit(main())
