#!/usr/bin/python3
"""tests/bench/bench.py - what recording costs: plain, tidemark and heaptrack, interleaved.

Usage: bench.py BUILD_FOLDER [--repeat N] [--json FILE] [LOAD...]

Every load is run plain, then with each tool, and that REPEAT times over; the minimum
counts.  Added time is against plain of the same round's minimum.  heaptrack is run as its
preload library alone, writing its text to a file: its cheapest way.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HEAPTRACK_LIBRARY = "/usr/lib/heaptrack/libheaptrack_preload.so"
PYTHON_LOAD = ("import json\n"
               "for i in range(20):\n"
               " json.loads(json.dumps([{str(k): [k] * 3} for k in range(1000)]))\n")


def loads(build):
    """name -> (argv, environment added)"""
    ring = os.path.join(build, "programs", "ring")
    threads = os.path.join(build, "programs", "ground_threads")
    return {
        "ring, depth 4": ([ring, "1000000", "0"], {}),
        "ring, depth 20": ([ring, "1000000", "16"], {}),
        "ring, depth 60": ([ring, "1000000", "56"], {}),
        "4 threads, shared": ([threads, "4", "200000"], {}),
        "python3, malloc": (["/usr/bin/python3", "-c", PYTHON_LOAD],
                            {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
        "python3, empty": (["/usr/bin/python3", "-c", "pass"], {}),
    }


class Tool:
    """One way to run a load.  A measurement is (seconds, KiB of the target, bytes out)."""

    def __init__(self, name, build):
        self.name = name
        self.build = build

    def command(self, argv, folder):
        out = os.path.join(folder, "out")
        tidemark = [os.path.join(self.build, "tidemark"), "run", "-q", "-o", out]
        return {
            "plain": argv,
            "tidemark": [*tidemark, "--", *argv],
            "tidemark --no-stacks": [*tidemark, "--no-stacks", "--", *argv],
            "heaptrack raw": argv,
        }[self.name]

    def environment(self, folder):
        if self.name != "heaptrack raw":
            return {}
        return {"LD_PRELOAD": HEAPTRACK_LIBRARY,
                "DUMP_HEAPTRACK_OUTPUT": os.path.join(folder, "out")}

    def measure(self, argv, added):
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, **added, **self.environment(folder))
            started = time.perf_counter()
            subprocess.run(self.command(argv, folder), env=env, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds = time.perf_counter() - started
            size = sum(os.path.getsize(os.path.join(folder, name))
                       for name in os.listdir(folder))
        return seconds, size


def run_load(tools, argv, added, repeat):
    best = {}
    for _ in range(repeat):
        for tool in tools:
            seconds, size = tool.measure(argv, added)
            if tool.name not in best or seconds < best[tool.name][0]:
                best[tool.name] = (seconds, size)
    return best


def table(results):
    names = list(next(iter(results.values())))
    print("| load | plain s | " + " | ".join(f"{n}: added s" for n in names[1:]) +
          " | added, tidemark / heaptrack |")
    print("|---|" + "---|" * (len(names) + 1))
    for load, best in results.items():
        plain = best["plain"][0]
        added = [best[name][0] - plain for name in names[1:]]
        ratio = "-"
        if "heaptrack raw" in best:
            theirs = best["heaptrack raw"][0] - plain
            ratio = f"{(best['tidemark'][0] - plain) / theirs:.2f}" if theirs > 0 else "-"
        print(f"| {load} | {plain:.3f} | " + " | ".join(f"{a:+.3f}" for a in added) +
              f" | {ratio} |")


def analysis(build):
    """Events a second and memory of a report on a large trace."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "big.tide")
        tidemark = os.path.join(build, "tidemark")
        subprocess.run([tidemark, "run", "-q", "-o", trace, "--",
                        os.path.join(build, "programs", "ring"), "25000000"], check=True)
        started = time.perf_counter()
        child = subprocess.Popen([tidemark, "report", trace, "--json"],
                                 stdout=subprocess.PIPE, text=True)
        events = json.load(child.stdout)["honesty"]["events"]
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        seconds = time.perf_counter() - started
        return {"events": events, "seconds": seconds, "rss_mib": usage.ru_maxrss / 1024,
                "bytes_per_event": os.path.getsize(trace) / events}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("load", nargs="*")
    options = parser.parse_args()
    names = ["plain", "tidemark", "tidemark --no-stacks"]
    if os.path.exists(HEAPTRACK_LIBRARY) and shutil.which("heaptrack"):
        names.append("heaptrack raw")
    tools = [Tool(name, options.build) for name in names]
    results = {}
    for name, (argv, added) in loads(options.build).items():
        if not options.load or name in options.load:
            print(f"{name} ...", file=sys.stderr)
            results[name] = run_load(tools, argv, added, options.repeat)
    table(results)
    big = analysis(options.build) if not options.load else {}
    if big:
        print(f"\n{big['events']:,} events reported in {big['seconds']:.2f} s "
              f"({big['events'] / big['seconds'] / 1e6:.1f} M events/s), "
              f"{big['rss_mib']:.0f} MiB RSS, {big['bytes_per_event']:.2f} bytes an event")
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"loads": results, "analysis": big}, file, indent=1)


if __name__ == "__main__":
    main()
