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

    def test_what_its_libraries_keep_is_no_leak(self):
        done = subprocess.run([tide.TIDEMARK, "check", "--max-leak", "0",
                               self.recorded.trace], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_events(self):
        self.assertEqual(tide.info(self.recorded.trace)["kinds"]["event"], CYCLES)


API = tide.program("fortran_api")
WITNESS = tide.program("lib_api_witness.so")
TOLD = """\
region_begin outer
region_begin with blanks
region_end with blanks
region_end outer
phase_begin phase
phase_end phase
loop_begin loop
iteration -3
iteration 5000000000
loop_end loop
label_shape r4 1 4 5
label_shape r8 1 8 4x3x2
label_shape c4 1 8 7x6
label_shape c8 1 16 8
label_shape i1 1 1 9
label_shape i2 1 2 10
label_shape i4 1 4 11
label_shape i8 1 8 3x2x1x2x1x2x1
label_shape flags 1 4 12
label_shape plane 1 8 3x2
label memory 1 192
unlabel 1
pool_alloc pool 1 4 piece
pool_free pool 1
set_int number 7
set_int number -8
set_double ratio 0.5
set_double ratio 0.25
set_string stage warm up
set_address place 1
unset ratio
event 41
event 6000000000
snapshot moment
pause 1
resume 1
window_start - 0
window_start named 1
peek 77
stop 77
stop 5
find 1
find 1
region_begin """ + "n" * 1000 + "\n"


@unittest.skipUnless(os.path.exists(API), "built without gfortran")
class Api(tide.Case):
    @staticmethod
    def run_with(**environment):
        return subprocess.run([API], capture_output=True, text=True, check=True, timeout=60,
                              env=dict(os.environ, **environment))

    def test_all_arguments_arrive(self):
        done = self.run_with(LD_PRELOAD=WITNESS)
        self.assertEqual(done.stderr, TOLD)
        self.assertEqual(done.stdout.split("\n")[0].split(),
                         "1 2 3 4 5 6 -7 8 9 1099511627776 10.5 11.5 12.5".split())
        self.assertEqual(done.stdout.split("\n")[1], "0 T")
        # Elements are counted from 1, dimensions come in Fortran's order.
        self.assertEqual(done.stdout.split("\n")[2],
                         "1 2 3 4 5 6 8 3 31 21 11 8 the label the pool")
        self.assertEqual(done.stdout.split("\n")[3], "0")  # tide_done

    def test_alone_it_does_nothing(self):
        done = self.run_with()
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.split(), ["0"] * 10 + [".0"] * 3 + ["0", "F"] + ["0"] * 12 +
                         ["1"])  # tide_absent


if __name__ == "__main__":
    tide.main()
