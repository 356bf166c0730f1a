"""tests/e2e/test_golden.py - traces of format version 1 are read as on the day it was frozen.

tests/golden/v1 holds traces, and what they say, in the order of test_golden.py --print; a
person has held that against the programs.  Their binaries are gone, so functions are known by
module and offset.  What is in libc depends on the machine and is left out.
"""
import json
import os
import sys
import unittest

import tide

FOLDER = os.path.join(tide.SOURCE, "tests", "golden", "v1")
PROGRAMS = ("phases", "all_calls", "ring")
HONESTY = ("events", "dropped", "unmatched_frees", "inherited_frees", "replaced_blocks",
           "reordered", "lost_records", "truncated_stacks", "complete")
SHAPES = {"flat": "function", "labels": "label", "regions": "region", "threads": "thread"}


def rows(trace, program, shape, view):
    """name -> numbers, of the program's own functions, labels, regions or threads."""
    found = {}
    for row in tide.report(trace, "--" + view, "--" + shape,
                           "--no-suppressions", "--no-fold")["rows"]:
        name = str(row.get(SHAPES[shape]))
        if shape == "flat" and not name.startswith(program + "+0x"):
            continue
        found[name] = {key: value for key, value in row.items() if isinstance(value, int)}
    return found


def said(program):
    trace = os.path.join(FOLDER, program + ".tide")
    result = tide.report(trace)
    facts = tide.info(trace)
    views = {f"{view} {shape}": rows(trace, program, shape, view)
             for shape in SHAPES for view in ("peak", "leaks", "total", "churn")}
    return {"spaces": result["spaces"], "duration_s": result["duration_s"],
            "honesty": {key: result["honesty"][key] for key in HONESTY},
            "argv": result["argv"], "kinds": facts["kinds"], "chunks": facts["chunks"],
            "raw_bytes": facts["raw_bytes"], "started": facts["started"], "views": views}


class Golden(tide.Case):
    def test_they_say_what_they_said(self):
        self.maxDiff = None
        for program in PROGRAMS:
            with self.subTest(program=program):
                with open(os.path.join(FOLDER, program + ".json"), encoding="ascii") as file:
                    self.assertEqual(said(program), json.load(file))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        print(json.dumps(said(sys.argv[2]), indent=1))
    else:
        tide.main()
