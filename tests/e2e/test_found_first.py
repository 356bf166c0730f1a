"""tests/e2e/test_found_first.py - a planted problem is the first finding wherever it is planted.

Alone (test_findings.py), among fifty functions that are innocent, and inside python3, which
makes tens of thousands of blocks of its own and does not free them all.
"""
import json
import os
import pathlib
import subprocess
import tempfile

import tide

SOURCES = pathlib.Path(tide.SOURCE) / "tests" / "programs"
PLANTED = sorted(path.stem for path in SOURCES.glob("planted_*.c"))

# A script that works, asks the planted library for its problem, and works again.
SCRIPT = """
import ctypes, json, sys

def work(count):
    kept = []
    for i in range(count):
        text = json.dumps({"number": i, "list": list(range(i % 50)), "name": "x" * (i % 90)})
        kept.append(json.loads(text))
        if i % 100 == 99:
            kept = kept[50:]
    return len(kept) + len(sorted(str(i * 7919 % 10007) for i in range(count)))

library = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2])
work(2000)
for _ in range(rounds):
    library.planted_main()
    work(4000 // rounds)
"""
# What runs in rounds is spread over the life of the script; others once.
ROUNDS = {"planted_leak_growing": 10, "planted_leak_loop": 10}
# A leak of one block is told from a buffer by its size.
SCALES = {"planted_leak_once": 20}
# No start of the program in a script; and a busy machine may delay a program's end.
ALONE = {"planted_start_up"}


def build(name, folder, *options):
    target = os.path.join(folder, name)
    subprocess.run(["cc", "-g", "-O1", "-fno-builtin", "-pthread", *options, "-o", target,
                    os.fspath(SOURCES / f"{name}.c")], check=True, timeout=120)
    return target


class First(tide.Case):
    def first(self, argv, name, folder):
        ran = tide.Recorded(argv, folder=folder)
        self.assertEqual(ran.status, 0, ran.done.stderr)
        truths = [json.loads(line) for line in ran.stdout.splitlines()]
        findings = ran.report()["findings"]
        self.assertTrue(findings, name)
        found = findings[0]
        self.assertEqual((found["kind"], found["function"]),
                         (truths[0]["kind"], truths[0]["function"]),
                         [each["text"] for each in findings])
        self.assertEqual(found["bytes"], truths[0]["bytes"] * len(truths), found["text"])
        return findings

    def test_among_fifty_innocents(self):
        for name in PLANTED:
            if name in ALONE:
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                target = build(name, folder, "-DTIDE_INNOCENT")
                findings = self.first([target], name, folder)
                self.assertEqual(len(findings), 1, [each["text"] for each in findings])

    def test_inside_a_large_program(self):
        for name in PLANTED:
            if name in ALONE:
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                library = build(name, folder, "-shared", "-fPIC", "-Dmain=planted_main",
                                f"-DTIDE_SCALE={SCALES.get(name, 1)}")
                self.first(["/usr/bin/python3", "-c", SCRIPT, library,
                            str(ROUNDS.get(name, 1))], name, folder)


if __name__ == "__main__":
    tide.main()
