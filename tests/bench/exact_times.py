#!/usr/bin/python3
"""tests/bench/exact_times.py - what `run --times exact` costs beside a usual recording.

Usage: exact_times.py BUILD [ROUNDS].  Each load runs plain, recorded, and recorded with every
event stamped, in turn, ROUNDS times (7); the least of each counts.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

PERL = 'for (1..120000) { push @a, "x$_"; $h{$_ % 5000} = [1, 2, $_]; }'


def loads(build):
    return {"ring 20 random": [os.path.join(build, "programs", "ring"), "1000000", "16", "random"],
            "containers": [os.path.join(build, "bench", "containers")],
            "perl": ["/usr/bin/perl", "-e", PERL]}


def spend(words):
    """Seconds by the clock, and of the processor by all that was started."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - began,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(tidemark, words, rounds, folder):
    least, size = {}, {}
    for number in range(rounds):
        for how, options in (("plain", None), ("usual", []), ("exact", ["--times", "exact"])):
            trace = os.path.join(folder, f"{how}{number}.tide")
            before = [] if options is None else [tidemark, "run", "-q", *options, "-o", trace, "--"]
            spent = spend(before + words)
            least[how] = tuple(map(min, least.get(how, spent), spent))
            if before:
                size[how] = os.path.getsize(trace)
                os.unlink(trace)
    return least, size


def main():
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    print("| load | plain s | tidemark | --times exact | of CPU | of CPU, exact | exact / usual, CPU | bytes |")
    print("|---|---|---|---|---|---|---|---|")
    for name, words in loads(build).items():
        with tempfile.TemporaryDirectory() as folder:
            least, size = measure(os.path.join(build, "tidemark"), words, rounds, folder)
        plain, usual, exact = least["plain"], least["usual"], least["exact"]
        print(f"| {name} | {plain[0]:.3f} | +{usual[0] - plain[0]:.3f} "
              f"| +{exact[0] - plain[0]:.3f} | +{usual[1] - plain[1]:.3f} "
              f"| +{exact[1] - plain[1]:.3f} "
              f"| {(exact[1] - plain[1]) / (usual[1] - plain[1]):.2f} "
              f"| {size['exact'] / size['usual']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
