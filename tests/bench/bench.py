#!/usr/bin/python3
"""tests/bench/bench.py - what recording costs, beside a plain run and beside heaptrack.

Usage: bench.py [--repeat N] [--json FILE] [--quick] [--against BUILD] BUILD_FOLDER [LOAD...]

Every load is run plain, then with each tool, and that REPEAT times over, so that all see
the same weather; the minimum of each counts.  Added time is against plain.  "Of CPU" is
what the program itself takes more, without the collector; "reading" is the speed of the
analysis without names, on one core.

  floor           a library that only forwards: nothing preloaded can be cheaper
  tidemark        tidemark run, everything on; and with --no-stacks
  heaptrack raw   heaptrack's preload library alone, writing text to a file: its cheapest
  heaptrack -r    the same through its own compressor: what bytes are compared with
  heaptrack       its command as people run it, with its interpreter

With --against only plain runs, tidemark and the tidemark of another build are run, one
after the other: what a change costs.
"""
import argparse
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HEAPTRACK_LIBRARY = "/usr/lib/heaptrack/libheaptrack_preload.so"
PYTHON_LOAD = ("import json\n"
               "for i in range(20):\n"
               " json.loads(json.dumps([{str(k): [k] * 3} for k in range(1000)]))\n")
# The nine of the goal, and those of them that heaptrack's command survives: on the
# compilers its interpreter takes all memory there is.
NINE = ["ring 20 random", "ring 60 random", "4 threads", "containers", "5 M live", "python3",
        "sqlite3", "cc1plus", "clang"]
SEVEN = NINE[:7]
BEFORE = "tidemark before" # of the build of --against
TIMEOUT = 600


def compilers(folder):
    """Loads that compile one source, when the compilers are there."""
    source = os.path.join(folder, "compile_me.ii")
    if not shutil.which("g++"):
        return {}
    subprocess.run(["g++", "-E", "-std=c++17", os.path.join(HERE, "loads", "compile_me.cpp"),
                    "-o", source], check=True)
    cc1plus = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True,
                             text=True, check=True).stdout.strip()
    found = {"cc1plus": [cc1plus, "-quiet", "-O1", "-std=c++17", source, "-o", os.devnull]}
    if shutil.which("clang++"):
        found["clang"] = ["clang++", "-O1", "-std=c++17", "-c",
                          os.path.join(HERE, "loads", "compile_me.cpp"), "-o", os.devnull]
    return found


def loads(build, folder, scale):
    """name -> argv"""
    programs = os.path.join(build, "bench")
    ring = os.path.join(programs, "ring")
    million = str(int(1000000 * scale))
    found = {f"ring {depth} {paths}": [ring, million, str(depth - 4), paths]
             for depth, paths in ((4, "random"), (20, "one"), (20, "cycle"), (20, "random"),
                                  (60, "random"))}
    found["ring 20 random, fp"] = [os.path.join(build, "programs", "ring"), million, "16",
                                   "random"]
    found["ring 20 one, order"] = [ring, million, "16", "one", "threads"]
    for threads in 1, 4:
        found[f"{threads} thread{'s' * (threads > 1)}"] = [
            os.path.join(programs, "exchange"), str(threads), str(int(1000000 * scale / threads))]
    found["containers"] = [os.path.join(build, "bench", "containers"),
                           str(int(10000 * scale))]
    found["5 M live"] = [os.path.join(programs, "hoard"), str(int(5000000 * scale))]
    found["compute"] = [os.path.join(build, "bench", "compute"), str(int(600 * scale))]
    found["python3"] = ["/usr/bin/python3", "-c", PYTHON_LOAD]
    found["python3, empty"] = ["/usr/bin/python3", "-c", "pass"]
    if shutil.which("sqlite3"):
        found["sqlite3"] = ["sqlite3", ":memory:",
                            ".read " + os.path.join(HERE, "loads", "stations.sql")]
    found.update(compilers(folder))
    return found


class Tool:
    """One way to run a load."""

    def __init__(self, name, build):
        self.name = name
        self.build = build

    def command(self, argv, folder):
        timed = [os.path.join(self.build, "bench", "timed"),
                 os.path.join(folder, "took"), *argv]
        out = os.path.join(folder, "out")
        run = [os.path.join(self.build, "tidemark"), "run", "-q", "--force", "-o", out]
        return {
            "tidemark": [*run, "--", *timed],
            "tidemark --no-stacks": [*run, "--no-stacks", "--", *timed],
            "heaptrack -r": ["heaptrack", "-r", "-o", out, *argv],
            "heaptrack": ["heaptrack", "-o", out, *argv],
            BEFORE: [*run, "--", *timed],
        }.get(self.name, timed)

    def environment(self, folder):
        if self.name == "floor":
            return {"LD_PRELOAD": os.path.join(self.build, "bench", "floor.so")}
        if self.name == "heaptrack raw":
            return {"LD_PRELOAD": HEAPTRACK_LIBRARY,
                    "DUMP_HEAPTRACK_OUTPUT": os.path.join(folder, "out")}
        return {}

    def measure(self, argv):
        """What one run took; None when the tool did not survive it."""
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0",
                       **self.environment(folder))
            started = time.perf_counter()
            # Not run(timeout=...): that looks for the end every 50 ms only.
            child = subprocess.Popen(self.command(argv, folder), env=env,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     stdin=subprocess.DEVNULL)
            patience = threading.Timer(TIMEOUT, child.kill)
            patience.start()
            status = child.wait()
            found = {"s": time.perf_counter() - started}
            patience.cancel()
            if status != 0:
                return None
            took = os.path.join(folder, "took")
            if os.path.exists(took):
                with open(took, encoding="ascii") as file:
                    _, found["cpu_ns"], found["rss_kib"] = map(int, file.read().split())
            found["bytes"] = sum(os.path.getsize(os.path.join(folder, name))
                                 for name in os.listdir(folder) if name.startswith("out"))
            if self.name in ("tidemark", BEFORE):
                found.update(self.ask_trace(os.path.join(folder, "out.tide")))
            return found

    def ask_trace(self, trace):
        done = subprocess.run([os.path.join(self.build, "tidemark"), "report", trace,
                               "--json", "-n", "1"], capture_output=True, text=True,
                              check=True)
        honesty = json.loads(done.stdout)["honesty"]
        read = subprocess.run([os.path.join(self.build, "bench", "analysis"), "-n", "1",
                               "-s", "account", trace], capture_output=True, text=True,
                              check=True)
        [reading] = re.findall(r"account .* ([\d.]+) ns/event", read.stdout)
        return {"events": honesty["events"], "dropped": honesty["dropped"],
                "collector_bytes": honesty["collector_bytes"],
                "reading_ns": float(reading)}


def run_load(tools, argv, repeat):
    """tool -> the least of each figure; a tool that fails is left out from then on."""
    best = {}
    for round_ in range(repeat):
        for tool in tools:
            if round_ > 0 and tool.name not in best:
                continue
            found = tool.measure(argv)
            if found is None:
                best.pop(tool.name, None)
                continue
            seen = best.setdefault(tool.name, found)
            for key, value in found.items():
                seen[key] = min(seen[key], value)
    return best


def added(best, name):
    return best[name]["s"] - best["plain"]["s"] if name in best else None


def ratio(best, other):
    """Our added time over another's, when the other's can be told from noise."""
    ours, theirs = added(best, "tidemark"), added(best, other)
    if ours is None or theirs is None or theirs < 0.01:
        return None
    return max(ours, 1e-4) / theirs


def mean(results, names, other):
    ratios = [ratio(results[name], other) for name in names if name in results]
    ratios = [r for r in ratios if r]
    if not ratios:
        return None
    return math.exp(sum(map(math.log, ratios)) / len(ratios)), len(ratios)


def cell(value, pattern="{:+.3f}"):
    return "-" if value is None else pattern.format(value)


def time_table(results):
    tools = ["floor", "tidemark", "tidemark --no-stacks", "heaptrack raw", "heaptrack"]
    print("| load | plain s |" + "".join(f" {t} |" for t in tools) +
          " tidemark / raw | tidemark / heaptrack |")
    print("|---|" + "---|" * (len(tools) + 3))
    for load, best in results.items():
        print(f"| {load} | {best['plain']['s']:.3f} |" +
              "".join(f" {cell(added(best, t))} |" for t in tools) +
              f" {cell(ratio(best, 'heaptrack raw'), '{:.3f}')} |"
              f" {cell(ratio(best, 'heaptrack'), '{:.3f}')} |")


def per_event(best, name):
    events = best.get("tidemark", {}).get("events", 0)
    return best[name]["bytes"] / events if events and name in best else None


def space_table(results):
    print("| load | events | ns an event | of CPU | program +MiB | heaptrack's +MiB |"
          " collector MiB | bytes an event | heaptrack -r's | reading, M events/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for load, best in results.items():
        ours = best.get("tidemark")
        if not ours:
            continue
        plain = best["plain"]["rss_kib"]
        theirs = best.get("heaptrack raw")
        events = max(ours["events"], 1)
        print(f"| {load} | {ours['events']:,} |"
              f" {added(best, 'tidemark') * 1e9 / events:.0f} |"
              f" {(ours['cpu_ns'] - best['plain']['cpu_ns']) / events:.0f} |"
              f" {(ours['rss_kib'] - plain) / 1024:+.1f} |"
              f" {cell((theirs['rss_kib'] - plain) / 1024 if theirs else None, '{:+.1f}')} |"
              f" {ours['collector_bytes'] / 2**20:.1f} |"
              f" {cell(per_event(best, 'tidemark'), '{:.2f}')} |"
              f" {cell(per_event(best, 'heaptrack -r'), '{:.2f}')} |"
              f" {1000 / ours['reading_ns']:.0f} |")


def against_table(results):
    """What each build adds, and by what factor the later one differs."""
    print("| load | plain s | before | after | after / before | CPU ns an event, before |"
          " after | program +MiB, before | after | collector MiB, before | after |"
          " bytes an event, before | after | reading M/s, before | after |")
    print("|---" * 15 + "|")
    factors = []
    for load, best in results.items():
        if BEFORE not in best or "tidemark" not in best:
            continue
        plain, both = best["plain"], [best[BEFORE], best["tidemark"]]
        cells = [f"{added(best, BEFORE):+.3f}", f"{added(best, 'tidemark'):+.3f}"]
        factors.append(both[1]["s"] / both[0]["s"])
        cells.append(f"{factors[-1]:.3f}")
        for value in (lambda b: f"{(b['cpu_ns'] - plain['cpu_ns']) / max(b['events'], 1):.0f}",
                      lambda b: f"{(b['rss_kib'] - plain['rss_kib']) / 1024:+.1f}",
                      lambda b: f"{b['collector_bytes'] / 2**20:.1f}",
                      lambda b: f"{b['bytes'] / max(b['events'], 1):.2f}",
                      lambda b: f"{1000 / b['reading_ns']:.0f}"):
            cells += map(value, both)
        print(f"| {load} | {plain['s']:.3f} | {' | '.join(cells)} |")
    print(f"\nWall time of a recorded run, after / before, geometric mean: "
          f"{math.exp(sum(map(math.log, factors)) / len(factors)):.3f}")


def least_cpu(argv, times=40):
    """CPU milliseconds of a command and all that it started, the least of so many."""
    least = math.inf
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            words = [word.replace("@", folder) for word in argv]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least * 1000


def start_table(build):
    """What a program pays that does nothing."""
    empty = os.path.join(build, "bench", "empty")
    run = [os.path.join(build, "tidemark"), "run", "-q", "-o", "@/out", "--"]
    print("| program | plain, CPU ms | recorded: added ms |")
    print("|---|---|---|")
    for name, argv in (("empty", [empty]), ("empty, 1 fork", [empty, "1"]),
                       ("empty, 100 forks", [empty, "100"])):
        plain = least_cpu(argv)
        print(f"| {name} | {plain:.2f} | {least_cpu(run + argv) - plain:+.2f} |")


def say_means(results):
    for names, other in ((NINE, "heaptrack raw"), (SEVEN, "heaptrack")):
        found = mean(results, names, other)
        if found:
            print(f"\nAdded time against {other}, geometric mean of {found[1]} loads: "
                  f"{found[0]:.3f} (1/{1 / found[0]:.1f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    parser.add_argument("--against", metavar="BUILD", help="the folder of an earlier build")
    parser.add_argument("load", nargs="*")
    options = parser.parse_args()
    names = ["plain", "floor", "tidemark", "tidemark --no-stacks"]
    if options.against:
        names = ["plain", "tidemark"]
    elif os.path.exists(HEAPTRACK_LIBRARY) and shutil.which("heaptrack"):
        names += ["heaptrack raw", "heaptrack -r", "heaptrack"]
    tools = [Tool(name, options.build) for name in names]
    if options.against:
        tools.append(Tool(BEFORE, options.against))
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, argv in loads(options.build, folder, 0.1 if options.quick else 1).items():
            if not options.load or name in options.load:
                print(f"{name} ...", file=sys.stderr)
                some = [t for t in tools if name in SEVEN or name not in NINE or
                        t.name != "heaptrack"]
                best = run_load(some, argv, options.repeat)
                if "plain" in best:
                    results[name] = best
    print("Wall seconds; tools: seconds added to plain.\n")
    if options.against:
        against_table(results)
    else:
        time_table(results)
        say_means(results)
        print()
        space_table(results)
    if not options.load and not options.against:
        print()
        start_table(options.build)
        print()
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
