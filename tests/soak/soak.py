#!/usr/bin/python3 -B
"""tests/soak/soak.py - random programs, plain against recorded: no difference.

usage: soak.py [--seconds N | --seeds A-B,C,...] [--jobs N] [--keep] [BUILD]

A round is a seed.  It runs soak_target (a random mix of threads, children, libraries and
signals, made from the seed) plain and recorded and compares what it printed, how it
ended, and the program's own count of its calls with the report's; nothing may be left
behind.  In a third of the rounds there is trouble from outside: see soak_round.py.  BUILD
is the build folder; without it the environment says where things are, as for tests/e2e.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = ("TIDEMARK", "TIDEMARK_PROGRAMS", "TIDEMARK_SOURCE")


def find_build(folder):
    """Set what tests/e2e/tide.py wants to know."""
    folder = os.path.abspath(folder)
    os.environ.update(TIDEMARK=os.path.join(folder, "tidemark"),
                      TIDEMARK_PROGRAMS=os.path.join(folder, "programs"),
                      TIDEMARK_SOURCE=os.path.dirname(os.path.dirname(HERE)))


class Soak:
    def __init__(self, options):
        self.options = options
        self.failed = []
        self.rounds = self.events = self.troubles = 0
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def seeds(self):
        if self.options.seeds:
            for part in self.options.seeds.split(","):
                first, _, last = part.partition("-")
                yield from range(int(first), int(last or first) + 1)
            return
        seed = random.SystemRandom().randrange(1, 1 << 30)
        while time.monotonic() - self.began < self.options.seconds:
            yield seed
            seed += 1

    def one(self, seed):
        words = [sys.executable, "-B", os.path.join(HERE, "soak_round.py"), str(seed)]
        done = subprocess.run(words + ["--keep"] * self.options.keep, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text, _, last = done.stdout.rstrip().rpartition("\n")
        try:
            about = json.loads(last)
        except ValueError:
            text, about = done.stdout, {"events": 0, "trouble": False, "plan": "?"}
        with self.lock:
            self.rounds += 1
            self.events += about["events"]
            self.troubles += about["trouble"]
            if done.returncode == 0:
                return
            self.failed.append(seed)
            places = " ".join(f"{name}={os.environ[name]}" for name in ENVIRONMENT)
            print(f"seed {seed} ({about['plan']}) failed:\n{text}\n"
                  f"again: {places} {__file__} --seeds {seed} --keep\n", flush=True)

    def run(self):
        source, guard = self.seeds(), threading.Lock()

        def take():
            while True:
                with guard:
                    seed = next(source, None)
                if seed is None:
                    return
                self.one(seed)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for done in [pool.submit(take) for _ in range(self.options.jobs)]:
                done.result()
        print(f"soak: {self.rounds} rounds, {self.troubles} with trouble from outside, "
              f"{self.events} events, {time.monotonic() - self.began:.0f} s: "
              f"{len(self.failed)} failed{' ' if self.failed else ''}"
              f"{' '.join(map(str, self.failed))}")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seeds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep traces of good rounds too")
    parser.add_argument("build", nargs="?")
    options = parser.parse_args()
    if options.build:
        find_build(options.build)
    return Soak(options).run()


if __name__ == "__main__":
    sys.exit(main())
