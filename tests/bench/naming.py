#!/usr/bin/python3
"""tests/bench/naming.py - reports with names beside heaptrack's: a table for docs/performance.md.

Usage: naming.py BUILD [--repeat N] [--quick].  Records loads of bench.py with tidemark and with
heaptrack -r; then `tidemark report` and `heaptrack_interpret` with `heaptrack_print` read them
in turn, N (5) times over.  The least CPU seconds (user and system) and seconds of each count.
What heaptrack's compressor needs does not.
"""
import argparse
import glob
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import bench

LOADS = ["containers", "sqlite3", "python3", "ring 20 random", "5 M live"]
INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"


def cost(words, source=os.devnull, target=os.devnull):
    """Run WORDS from SOURCE to TARGET: (CPU seconds, seconds)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with open(source, "rb") as taken, open(target, "wb") as given:
        subprocess.run(words, stdin=taken, stdout=given, stderr=subprocess.DEVNULL, check=True)
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took)


def record(build, argv, folder):
    """Record ARGV with both: a trace, and what heaptrack wrote, decompressed."""
    env = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0")
    trace = os.path.join(folder, "ours.tide")
    raw = os.path.join(folder, "theirs")
    for words in ([os.path.join(build, "tidemark"), "run", "-q", "--force", "-o", trace, "--",
                   *argv], ["heaptrack", "-r", "-o", raw, *argv]):
        subprocess.run(words, env=env, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    packed = glob.glob(raw + ".*")[0]
    unpack = "gzip" if packed.endswith(".gz") else "zstd"
    with open(raw, "wb") as file:
        subprocess.run([unpack, "-dcq", packed], stdout=file, check=True)
    return trace, raw


def measure(build, argv, repeat):
    """The least (CPU seconds, seconds) of the report and of heaptrack's two programs."""
    least = [(float("inf"),) * 2] * 3
    with tempfile.TemporaryDirectory(prefix="tide-naming-") as folder:
        trace, raw = record(build, argv, folder)
        read = os.path.join(folder, "read")
        for _ in range(repeat):
            found = [cost([os.path.join(build, "tidemark"), "report", trace]),
                     cost([INTERPRET], raw, read), cost(["heaptrack_print", read])]
            least = [tuple(map(min, zip(*pair))) for pair in zip(least, found)]
    return least


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    options = parser.parse_args()
    if not os.path.exists(INTERPRET) or not shutil.which("heaptrack_print"):
        print("naming: no heaptrack here", file=sys.stderr)
        return
    print("| report, CPU s (s) | tidemark | heaptrack_interpret | heaptrack_print |"
          " times faster, CPU (clock) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tide-naming-") as folder:
        loads = bench.loads(options.build, folder, 0.1 if options.quick else 1)
        for name in LOADS:
            if name not in loads:
                continue
            ours, read, shown = measure(options.build, loads[name], options.repeat)
            times = [(r + s) / o for o, r, s in zip(ours, read, shown)]
            print(f"| {name} |" +
                  "".join(f" {cpu:.3f} ({s:.3f}) |" for cpu, s in (ours, read, shown)) +
                  f" {times[0]:.1f} ({times[1]:.1f}) |", flush=True)


if __name__ == "__main__":
    main()
