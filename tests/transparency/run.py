#!/usr/bin/python3
"""tests/transparency/run.py - real programs, plain and recorded: is there a difference?

Usage: run.py BUILD_FOLDER [--group NAME] [--more] [--repeat N] [--json FILE] [--table]
              [--keep FOLDER] [--patience SECONDS] [--list] [--groups] [CASE...]

Each case (cases.py, more_cases.py) is run plain, then by `tidemark run`, in a folder of
the same name; then output, exit status and files are compared (see case.py), and the trace
is looked at: it can be read, it is complete, nothing was dropped, every free met its block,
the programs that must be in it are.  Nothing may be left behind, no process and no file.

--repeat N runs both N times in turn and keeps the shortest times, --json and --table give
them out.  Times are only told, never judged.  Exit status: 0 all the same, 1 a difference,
77 nothing could be run.  --keep leaves the last case in FOLDER; --list and --groups (a list
for CMake) only say what there is.
"""
import argparse
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases
import keeper
import more_cases
import table

HERE = os.path.dirname(os.path.abspath(__file__))
MUST_BE_ZERO = ("dropped", "unmatched_frees", "lost_records", "replaced_blocks")


class Difference(Exception):
    """Words for the user: what is not as it should be."""


class Outcome:
    """What one run of a case left behind."""

    def __init__(self, case, status, folder, cost):
        self.case = case
        self.folder = folder
        self.cost = cost            # wall and CPU seconds
        self.status = status
        self.streams = {name: self.blurred(name) for name in ("stdout", "stderr")}
        self.files = self.read_files(os.path.join(folder, "work"))
        self.files.update(self.read_files(os.path.join(folder, "tmp")))

    def blurred(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            data = file.read()
        for blur in self.case.blurs:
            data = blur.over(data)
        return data

    def read_files(self, top):
        found = {}
        for parent, folders, names in os.walk(top):
            for name in folders + names:
                path = os.path.join(parent, name)
                found[os.path.relpath(path, self.folder)] = self.content(path)
        return found

    def content(self, path):
        if os.path.islink(path):
            return b"-> " + os.fsencode(os.readlink(path))
        if not os.path.isfile(path):
            return f"kind {os.lstat(path).st_mode:o}".encode()
        with open(path, "rb") as file:
            data = file.read()
        view = self.case.views.get(os.path.basename(path))
        return view(data) if view else data


class Runner:
    """Runs cases below one folder."""

    def __init__(self, build, top, patience):
        self.tidemark = os.path.join(build, "tidemark")
        self.top = top
        self.patience = patience    # seconds that helpers of a program may take to follow it
        self.trace = os.path.join(top, "trace.tide")

    def environment(self, case, mark):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "TZ": "UTC",
               "HOME": os.path.join(self.top, "now", "work"), "TERM": "dumb",
               "TMPDIR": os.path.join(self.top, "now", "tmp"),
               "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "1000000000",
               keeper.MARK: mark, **case.env}
        if case.preload:
            env["LD_PRELOAD"] = case.preload
        return env

    def command(self, case, recorded):
        if not recorded:
            return list(case.argv)
        return [self.tidemark, "run", "-q", "--wait", "-o", self.trace, "--", *case.argv]

    def lay_out(self, case, now):
        shutil.rmtree(now, ignore_errors=True)
        work = os.path.join(now, "work")
        os.makedirs(work)
        os.makedirs(os.path.join(now, "tmp"))
        for name in case.inputs:
            shutil.copy(os.path.join(HERE, "inputs", name), work)
        for name, text in case.made.items():
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(text)
        return work

    def run(self, case, recorded):
        """Run CASE once; its folder ends as plain or recorded below the top."""
        now = os.path.join(self.top, "now")
        work = self.lay_out(case, now)
        if recorded and os.path.exists(self.trace):
            os.remove(self.trace)
        mark = f"{case.name}.{os.getpid()}.{time.monotonic_ns()}"
        stdin = os.path.join(work, case.stdin) if case.stdin else os.devnull
        with open(stdin, "rb") as source, \
                open(os.path.join(now, "stdout"), "wb") as stdout, \
                open(os.path.join(now, "stderr"), "wb") as stderr:
            watch = keeper.StopWatch()
            process = subprocess.Popen(
                self.command(case, recorded), cwd=work, stdin=source, stdout=stdout,
                stderr=stderr, env=self.environment(case, mark),
                start_new_session=True)
            try:
                status = process.wait(case.timeout)
            except BaseException as failure:
                keeper.end_all(mark, process)
                if not isinstance(failure, subprocess.TimeoutExpired):
                    raise
                raise Difference(f"{'recorded' if recorded else 'plain'}: still running "
                                 f"after {case.timeout} s") from None
            wall = watch.wall()
            left = keeper.leftovers(mark, self.patience)
            cost = (wall, watch.cpu())
        if left:
            raise Difference(f"{'recorded' if recorded else 'plain'}: processes left "
                             f"behind: {left}")
        there = os.path.join(self.top, "recorded" if recorded else "plain")
        shutil.rmtree(there, ignore_errors=True)
        os.rename(now, there)
        return Outcome(case, status if status >= 0 else 128 - status, there, cost)

    def ask(self, *argv):
        done = subprocess.run([self.tidemark, *argv], capture_output=True, timeout=600,
                              check=False)
        if done.returncode:
            raise Difference(f"tidemark {argv[0]}: status {done.returncode}: "
                             f"{done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)

    def judge_trace(self, case):
        """The trace of the last recorded run; the facts that the table shows."""
        honesty = self.ask("report", self.trace, "--json")["honesty"]
        info = self.ask("info", self.trace, "--json")
        wrong = [f"{key} is {honesty[key]}" for key in MUST_BE_ZERO
                 if honesty[key] and key not in case.allowed]
        if honesty["problem"]:
            wrong.append(f"problem is {honesty['problem']}")
        if "troubles" not in case.allowed:
            wrong += [trouble for trouble in honesty["troubles"]
                      if not names_only(trouble, case.strangers)]
        if not honesty["complete"] or info["bad_chunks"]:
            wrong.append("the trace is not complete")
        if honesty["events"] < case.least_events:
            wrong.append(f"{honesty['events']} events, not {case.least_events} or more")
        seen = {}
        for process in info["processes"]:
            program = os.path.basename(process["exe"])
            seen[program] = seen.get(program, 0) + 1
        wrong += [f"{seen.get(program, 0)} processes of {program} recorded, not {least} "
                  "or more" for program, least in case.records.items()
                  if seen.get(program, 0) < least]
        if wrong:
            raise Difference("the trace: " + "; ".join(wrong) + f"\n  all: {honesty}")
        return {"events": honesty["events"], "processes": len(info["processes"]),
                "bytes": info["file_bytes"]}


def names_only(trouble, strangers):
    """Is TROUBLE that programs were not recorded, and only those of STRANGERS?"""
    told = re.fullmatch(r"(?:At least )?\d+ programs? (?:was|were) not recorded, nor what "
                        r"(?:it|they) started: (.*)", trouble)
    names = re.findall(r"(\S+) \([^)]*\)", told[1]) if told else []
    return bool(names) and set(names) <= set(strangers)


def shown(name, plain, recorded):
    """A few lines that say how two contents differ."""
    texts = [data.decode("utf-8", "replace").splitlines() for data in (plain, recorded)]
    lines = list(difflib.unified_diff(*texts, "plain " + name, "recorded " + name,
                                      lineterm="", n=1))
    return "\n".join(lines[:30]) or f"{name}: {len(plain)} and {len(recorded)} bytes differ"


def compare(case, plain, recorded):
    if plain.status != case.status:
        raise Difference(f"plain: status {plain.status}, not {case.status}\n"
                         + plain.streams["stderr"][-2000:].decode(errors="replace")
                         + plain.streams["stdout"][-2000:].decode(errors="replace"))
    wrong = []
    if plain.status != recorded.status:
        wrong.append(f"status: plain {plain.status}, recorded {recorded.status}")
    left, right = {**plain.streams, **plain.files}, {**recorded.streams, **recorded.files}
    compared = 0
    for name in sorted(left.keys() | right.keys()):
        if any(cases.matches(skip.what, name) for skip in case.skips):
            continue
        compared += 1
        if name not in left or name not in right:
            wrong.append(f"{name}: only {'plain' if name in left else 'recorded'}")
        elif left[name] != right[name]:
            wrong.append(shown(name, left[name], right[name]))
    if wrong:
        raise Difference("\n".join(wrong[:12]))
    return compared


def run_case(runner, case, repeat):
    best = {}
    facts = {}
    for _ in range(repeat):
        plain = runner.run(case, recorded=False)
        recorded = runner.run(case, recorded=True)
        facts = {"compared": compare(case, plain, recorded), **runner.judge_trace(case)}
        for name, outcome in (("plain", plain), ("recorded", recorded)):
            best.setdefault(name, outcome.cost)
            best[name] = tuple(map(min, best[name], outcome.cost))
    return {"name": case.name, "group": case.group, **best, **facts,
            "exceptions": table.exceptions(case)}


def run_all(runner, chosen, repeat):
    """Results of the cases that are as they should be, and the number of the others."""
    results, bad = [], 0
    for case in chosen:
        started = time.monotonic()
        try:
            results.append(run_case(runner, case, repeat))
            words = "{events} events of {processes} processes, {compared} things " \
                    "compared".format(**results[-1])
        except Difference as difference:
            bad += 1
            words = f"DIFFERS\n{difference}"
        print(f"{case.name}: {words} ({time.monotonic() - started:.1f} s)", flush=True)
    return results, bad


def choose(options):
    everything = cases.CASES + (more_cases.CASES if options.more else ())
    chosen = [case for case in everything
              if (not options.group or case.group == options.group)
              and (not options.case or case.name in options.case)]
    present = [case for case in chosen if not cases.missing(case)]
    for case in chosen:
        if case not in present:
            print(f"{case.name}: left out, not installed: {cases.missing(case)}")
    return present


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("case", nargs="*")
    parser.add_argument("--group")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--patience", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--groups", action="store_true")
    return parser.parse_intermixed_args()


def main():
    options = parse()
    if options.groups:
        print(";".join(dict.fromkeys(case.group for case in cases.CASES)))
        return 0
    chosen = choose(options)
    if options.list:
        print("\n".join(f"{case.group} {case.name}" for case in chosen))
        return 0
    if not chosen:
        return 77
    keeper.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    top = options.keep or tempfile.mkdtemp(prefix="tide-transparency-")
    os.makedirs(top, exist_ok=True)
    os.chmod(top, 0o755)    # for programs that become another user
    try:
        runner = Runner(os.path.abspath(options.build), top, options.patience)
        results, bad = run_all(runner, chosen, options.repeat)
    finally:
        if not options.keep:
            shutil.rmtree(top, ignore_errors=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if options.table:
        print(table.markdown(results, options.repeat))
    print(f"{len(results)} the same, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
