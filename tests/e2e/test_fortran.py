#!/usr/bin/python3
"""tests/e2e/test_fortran.py - examples/hydro_fortran: the module tidemark in Fortran.

The program counts its own arrays, and its gas is that of the C program.
"""
import json
import os
import subprocess
import unittest

import tide

EXAMPLES = os.environ["TIDEMARK_EXAMPLES"]
FORTRAN = os.path.join(EXAMPLES, "hydro_fortran")
CELLS, CYCLES = 12, 9


def profile(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


@unittest.skipUnless(os.path.exists(FORTRAN), "built without gfortran")
class Fortran(tide.Case):
    @classmethod
    def setUpClass(cls):
        if os.path.exists(FORTRAN):
            cls.recorded = tide.Recorded([FORTRAN, "--count", str(CELLS), str(CYCLES)])

    def test_it_is_the_gas_of_the_other(self):
        ours = profile(FORTRAN, "--profile", str(CELLS), str(CYCLES))
        other = profile(os.path.join(EXAMPLES, "hydro"), "--profile", "--cycles",
                        str(CYCLES), str(CELLS))
        self.assertAlmostEqual(ours["time"], other["time"], delta=1e-14)
        for one, two in zip(ours["density"], other["density"]):
            self.assertAlmostEqual(one, two, delta=1e-13)

    def test_allocations_per_label(self):
        rows = self.recorded.report("--total", "--labels")["rows"]
        found = {row["label"]: (row["calls"], row["bytes"])
                 for row in rows if row["label"]}
        own = {row["label"]: (row["calls"], row["bytes"])
               for row in self.recorded.own_count()["labels"]}
        self.assertEqual(found, own)
        self.assertEqual(own["flux_y"],
                         (CYCLES, CYCLES * 8 * 5 * (CELLS + 1) * CELLS ** 2))

    def test_allocations_per_region(self):
        """The calls themselves allocate nothing: only arrays are in their regions."""
        result = self.recorded.report("--total", "--regions")
        self.whole(result, region_mismatches=0, unmatched_labels=0)
        found = {row["region"]: (row["calls"], row["bytes"])
                 for row in result["rows"] if row["calls"]}
        row_bytes = 8 * 5 * (CELLS + 4)
        for axis in "xyz":
            self.assertEqual(
                found.pop(f"main/cycle/sweep_{axis}/fluxes"),
                (CYCLES * (1 + CELLS),
                 CYCLES * (8 * 5 * (CELLS + 1) * CELLS ** 2 + CELLS * row_bytes)))
        self.assertEqual(found.pop("main/initialise"), (1, 8 * 5 * CELLS ** 3))
        # Fortran's own, for its units: not ours to count.
        self.assertLessEqual(set(found), {None, "main"})

    def test_events(self):
        self.assertEqual(tide.info(self.recorded.trace)["kinds"]["event"], CYCLES)


if __name__ == "__main__":
    tide.main()
