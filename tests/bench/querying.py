"""tests/bench/querying.py - what queries cost: a table for docs/performance.md.

Usage: querying.py BUILD [PAIRS].  Records a ring of PAIRS (5 million) allocations and frees;
prints, for some queries, the least CPU seconds of five runs, rows per second of them, and MiB.
"""
import os
import subprocess
import sys
import tempfile

from reading import cost

QUERIES = (
    ("three keys", "SELECT leaf,size,thread,count() GROUP BY leaf,size,thread"),
    ("three keys, a sum", "SELECT region,kind,size,count(),sum(size) "
                          "GROUP BY region,kind,size"),
    ("three keys, 2 % of the rows",
     "SELECT leaf,size,thread,count() GROUP BY leaf,size,thread WHERE size>4KiB"),
    ("no key", "SELECT count()"),
)
RUNS = 5


def main(build, pairs="5000000"):
    tidemark = os.path.join(build, "tidemark")
    with tempfile.TemporaryDirectory(prefix="tide-querying-") as folder:
        trace = os.path.join(folder, "ring.tide")
        subprocess.run([tidemark, "run", "-q", "-o", trace, "--",
                        os.path.join(build, "programs", "ring"), pairs], check=True,
                       stdout=subprocess.DEVNULL)
        rows = int(subprocess.run([tidemark, "query", trace, "SELECT count() FORMAT csv"],
                                  capture_output=True, check=True,
                                  text=True).stdout.split()[-1])
        print(f"| {rows / 1e6:.0f} M events | CPU s | M/s | MiB |\n|---|---|---|---|")
        for what, text in QUERIES:
            runs = [cost(tidemark, "query", trace, text) for _ in range(RUNS)]
            least = min(cpu for _, cpu, _ in runs)
            print(f"| {what} | {least:.2f} | {rows / least / 1e6:.1f} | "
                  f"{max(size for _, _, size in runs):.0f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
