"""tests/bench/reading.py - what reports of large traces cost: a table for docs/performance.md.

Usage: reading.py BUILD [PAIRS].  Records a ring of PAIRS (25 million) allocations, 2^20
different stacks, and a compiler; prints seconds, CPU seconds and MiB of each report.  The
machine should be quiet.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loads", "compile_me.cpp")


def cost(*words):
    """Run WORDS: (seconds, CPU seconds, MiB at most)."""
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(words)}: failed")
    return (time.monotonic() - began, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024)


def line(what, *words):
    seconds, cpu, size = cost(*words)
    print(f"| {what} | {seconds:.2f} | {cpu:.2f} | {size:.0f} |", flush=True)


def main(build, pairs="25000000"):
    tidemark = os.path.join(build, "tidemark")
    programs = os.path.join(build, "programs")
    with tempfile.TemporaryDirectory(prefix="tide-reading-") as folder:
        def record(name, *words):
            trace = os.path.join(folder, name)
            subprocess.run([tidemark, "run", "-q", "-o", trace, "--", *words], check=True,
                           stdout=subprocess.DEVNULL)
            return trace

        print("| report | s | CPU s | MiB |\n|---|---|---|---|")
        ring = record("ring.tide", os.path.join(programs, "ring"), pairs)
        line("50 M events: --total, first time (writes the index)", tidemark, "report",
             "--total", ring)
        line("the same again", tidemark, "report", "--total", ring)
        length = json.loads(subprocess.run(
            [tidemark, "info", "--json", ring], capture_output=True, check=True,
            text=True).stdout)["duration_s"]
        line("--live-at, in the middle", tidemark, "report", "--live-at",
             str(length / 2), ring)
        os.remove(ring)
        stacks = record("stacks.tide", os.path.join(programs, "many_stacks"), "20", "keep")
        for shape in ("--flat", "--stacks", "--tree"):
            line(f"2^20 stacks: --peak {shape}", tidemark, "report", "--peak", shape, stacks)
        line("2^20 stacks: info, which builds no rows", tidemark, "info", stacks)
        compiler = shutil.which("clang++") or shutil.which("c++")
        trace = record("compiler.tide", compiler, "-O1", "-c", SOURCE, "-o", "/dev/null")
        done = subprocess.run([tidemark, "pack", trace], capture_output=True, text=True,
                              check=True).stderr.split(": ")[-1].strip()
        line(f"{os.path.basename(compiler)} ({done}): info", tidemark, "info", trace)
        again = record("again.tide", compiler, "-O1", "-c", SOURCE, "-o", "/dev/null")
        line("the same with all its names: pack", tidemark, "pack", "-q", again)


if __name__ == "__main__":
    main(*sys.argv[1:])
