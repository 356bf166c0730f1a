#!/usr/bin/python3
"""tests/e2e/test_python.py - the Python package: marks in a script.

The scripts say themselves what they did.
"""
import ast
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import tide
from python_scripts import ENVIRONMENT, Script, run, tidemark
from test_query import rows

try:
    import numpy
except ImportError:
    numpy = None

HYDRO = os.path.join(tide.SOURCE, "examples", "hydro_numpy.py")


class Marks(tide.Case):
    def test_regions_nest_and_cost_no_allocation(self):
        script = Script("""
            import sys, tidemark
            def work(size):
                return bytearray(size - 1)  # Python adds a zero byte
            @tidemark.region
            def solve():
                return work(20000)
            @tidemark.region("inner")
            def named(depth):
                return [work(30000)] + (named(depth - 1) if depth else [])
            keep = []
            for _ in range(3):  # the second time round Python has what it needs
                with tidemark.region("outer"):
                    keep.append(solve())
                    keep.append(named(1))
                with tidemark.region("empty"):
                    pass
            print(sys.argv[1:], tidemark.recorded())
            """)
        self.assertEqual(script.done.stdout, "['an', '-x'] True\n")
        regions = script.regions()
        self.assertEqual(regions["outer/solve"], (3, 60000))
        self.assertEqual(regions["outer/inner"][1] // 30000, 3)
        self.assertEqual(regions["outer/inner/inner"][1] // 30000, 3)
        self.assertNotIn("empty", regions)
        self.assertEqual(script.trace.honesty["region_mismatches"], 0)

    def test_values_are_columns_of_queries(self):
        script = Script("""
            import tidemark
            keep = []
            tidemark.set_value("level", 3)
            keep.append(bytearray(20000 - 1))
            with tidemark.value("level", 0.5), tidemark.value("mode", "fast"):
                keep.append(bytearray(20000 - 1))
            keep.append(bytearray(20000 - 1))
            tidemark.unset_value("level")
            keep.append(bytearray(20000 - 1))
            try:
                tidemark.set_value("level", [1])
            except TypeError as error:
                print(error)
            """)
        self.assertIn("not a list", script.done.stdout)
        self.assertEqual(rows(script.trace.path, "SELECT level,mode WHERE mem.alloc,"
                                                 "size=20000"),
                         [(3, None), (0.5, "fast"), (3, None), (None, None)])

    def test_an_exception_ends_the_region(self):
        script = Script("""
            import tidemark
            @tidemark.region("broken")
            def broken():
                raise ValueError
            for _ in range(2):
                try:
                    broken()
                except ValueError:
                    pass
                try:
                    with tidemark.region("broken too"):
                        raise KeyError
                except KeyError:
                    pass
            with tidemark.region("whole"):
                keep = bytearray(99999)
            """)
        self.assertEqual(script.regions()["whole"], (1, 100000))

    def test_buffers_have_names(self):
        script = Script("""
            import array, ctypes, tidemark
            rows = bytearray(49999)
            tidemark.label(rows)
            numbers = array.array("d", [0.0]) * 8000
            assert tidemark.label(numbers, "doubles") is numbers
            for wrong in (b"fixed", 7):
                try:
                    tidemark.label(wrong)
                except TypeError:
                    pass
                else:
                    raise AssertionError(wrong)
            """)
        labels = script.labels()
        self.assertEqual(labels["rows"], (1, 50000))
        self.assertEqual(labels["doubles"], (1, 64000))

    def test_events_and_snapshots(self):
        script = Script("""
            import tidemark
            keep = []
            for i in range(4):
                tidemark.event(i)
                keep.append(bytearray(99999))
            tidemark.snapshot("four")
            """)
        self.assertEqual(script.trace.info["kinds"]["event"], 4)
        self.assertEqual(script.trace.info["kinds"]["snapshot"], 1)

    def test_windows_count_what_is_in_them(self):
        script = Script("""
            import json, threading, tidemark
            def work(size):
                block = bytearray(size - 1)
                del block
            for _ in range(2):  # the second time round Python has what it needs
                with tidemark.window("whole") as whole:
                    work(100000)
                    work(50000)
                    thread = threading.Thread(target=work, args=(70000,))
                    with tidemark.window("mine", thread=True) as mine:
                        thread.start()
                        thread.join()
                with tidemark.window("") as empty:
                    pass
            print(json.dumps([whole.stats, mine.stats, empty.stats,
                              tidemark.stop(12345)]))
            """)
        whole, mine, empty, unknown = json.loads(script.done.stdout)
        # Starting a thread allocates, so: at least, and nothing of it in the others.
        self.assertGreaterEqual(whole["requested_bytes"], 220000)
        self.assertLess(whole["requested_bytes"], 240000)
        self.assertEqual(whole["largest_bytes"], 100000)
        self.assertLess(mine["requested_bytes"], 20000)
        self.assertEqual((empty["alloc_calls"], empty["free_calls"]), (0, 0))
        self.assertEqual(set(unknown.values()), {0})

    def test_pauses_appear_nowhere(self):
        script = Script("""
            import tidemark
            with tidemark.pause():
                unseen = bytearray(123456)
            seen = bytearray(234567)
            """)
        sizes = {block["size"] for block in script.trace.blocks()}
        self.assertNotIn(123457, sizes)
        self.assertIn(234568, sizes)

    def test_without_the_recorder_nothing_happens(self):
        done = run("-c", textwrap.dedent("""
            import tidemark
            assert not tidemark.recorded()
            @tidemark.region
            def f(x):
                "Doc."
                return x + 1
            assert (f(1), f.__name__, f.__doc__) == (2, "f", "Doc.")
            with tidemark.region("a"):
                tidemark.event(1)
                tidemark.snapshot("b")
            block = bytearray(5)
            assert tidemark.label(block) is block
            async def left(): pass
            try:
                tidemark.region(left)
            except TypeError as error:
                print("left" in str(error))
            """))
        self.assertEqual(done.stdout, "True\n")


class Arguments(tide.Case):
    """What reaches the recorder's functions, by one that writes it down."""

    def told(self, lines):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(lines)], capture_output=True, text=True,
            check=True, timeout=60,
            env=dict(ENVIRONMENT, LD_PRELOAD=tide.program("lib_api_witness.so")))
        return done.stdout, done.stderr.splitlines()

    def test_all_arguments_arrive(self):
        said, told = self.told("""
            import tidemark
            with tidemark.region("räume"), tidemark.phase("p"):
                for i in tidemark.loop("l", "ab"):
                    tidemark.event(2**40)
            for i in tidemark.loop("left", range(9)):
                break
            tidemark.snapshot("s")
            block = bytearray(10)
            tidemark.label(block)
            tidemark.label(memoryview(block).cast("B", (2, 5)), "grid")
            tidemark.unlabel(block)
            print(tidemark.find(block))
            print(tidemark.find(0))
            with tidemark.pause(), tidemark.pause(thread=True):
                pass
            window = tidemark.start()
            print(tidemark.peek(window))
            print(tidemark.stop(tidemark.start("w", thread=True)) == tidemark.peek(window))
            with tidemark.window("x") as counted:
                pass
            print(counted.stats["alloc_calls"], tidemark.stop(3)["alloc_calls"])
            """)
        self.assertEqual(told, [
            "region_begin räume", "phase_begin p", "loop_begin l", "iteration 0",
            "event 1099511627776", "iteration 1", "event 1099511627776", "loop_end l",
            "phase_end p", "region_end räume", "loop_begin left", "iteration 0",
            "loop_end left", "snapshot s", "label_shape block 1 1 10",
            "label_shape grid 1 1 2x5", "unlabel 1", "find 1", "find 0", "pause 0", "pause 1",
            "resume 1", "resume 0", "window_start - 0", "peek 77", "window_start w 1", "stop 77",
            "peek 77", "window_start x 0", "stop 77", "stop 3"])
        found, nowhere, first, *rest = said.splitlines()
        self.assertEqual(ast.literal_eval(found), {
            "address": 1, "bytes": 2, "used_bytes": 3, "offset": 4, "uid": 5,
            "element_bytes": 6, "index": 7, "position": [10, 20, 30], "holder": 8,
            "label": "the label", "pool": "the pool"})
        self.assertEqual(nowhere, "None")
        self.assertEqual(ast.literal_eval(first), {
            "requested_bytes": 1, "used_bytes": 2, "freed_bytes": 3, "alloc_calls": 4,
            "free_calls": 5, "failed_calls": 6, "live_bytes": -7, "peak_bytes": 8,
            "smallest_bytes": 9, "largest_bytes": 2 ** 40, "mean_bytes": 10.5,
            "stddev_bytes": 11.5, "seconds": 12.5})
        self.assertEqual(rest, ["True", "4 0"])

    @unittest.skipUnless(numpy, "needs python3-numpy")
    def test_arrays_have_shapes(self):
        _, told = self.told("""
            import numpy, tidemark
            tidemark.label(numpy.zeros((3, 4), dtype="f4"), "single")
            tidemark.label(numpy.zeros((2, 3, 5), dtype="c16")[1:, ::2], "whole")
            tidemark.label(numpy.array(1.0), "scalar")
            """)
        self.assertEqual(told, ["label_shape single 1 4 3x4", "label_shape whole 1 16 2x3x5",
                                "label_shape scalar 1 8"])


@unittest.skipUnless(numpy, "needs python3-numpy")
class NumPy(tide.Case):
    def test_a_view_tells_its_element(self):
        script = """
            import numpy, tidemark
            cube = tidemark.label(numpy.zeros((4, 50, 60), dtype="f4"), "cube")
            found = tidemark.find(cube[2, 7:, 5:])
            print(found and [found[key] for key in (
                "label", "bytes", "index", "position")], tidemark.find(1))
            del cube
            print(found and tidemark.find(found["address"]) == found)
            """
        self.assertEqual(Script(script, "--live-table").done.stdout,
                         "['cube', 48000, 6425, [2, 7, 5]] None\nFalse\n")
        self.assertEqual(Script(script).done.stdout, "None None\nNone\n")

    def test_a_million_numbers_under_a_marker(self):
        script = Script("""
            import gc
            import numpy, tidemark
            for name in ("warm", "test"):
                with tidemark.region(name):
                    a = numpy.ones(1000 * 1000)
                    del a
                    gc.collect()
            """)
        self.assertEqual(script.regions()["test"], (1, 8000000))
        blocks = [block for block in script.trace.blocks() if block["size"] == 8000000]
        self.assertEqual(len(blocks), 2)
        self.assertNotIn(None, [block["death_s"] for block in blocks])

    def test_views_name_their_owner(self):
        script = Script("""
            import numpy, tidemark
            grid = numpy.zeros((30, 40, 50))
            tidemark.label(grid[3:, ::2].T, "grid")
            """)
        self.assertEqual(script.labels()["grid"], (1, 480000))

    def test_the_example_counts_as_the_report(self):
        folder = tempfile.mkdtemp(prefix="tide-python-")
        done = run("-m", "tidemark", "run", "-q", "-o", "it", HYDRO, "--count",
                   "--cycles", "6", "16", cwd=folder)
        trace = tidemark.open(os.path.join(folder, "it.tide"))
        own = {row["label"]: (row["calls"], row["bytes"])
               for row in json.loads(done.stdout)["labels"]}
        found = {row["label"]: (row["calls"], row["bytes"])
                 for row in trace.rows("total", "labels") if row["label"]}
        self.assertEqual(found, own)
        self.assertEqual(own["flux_x"][0], 6)
        regions = {row["region"] for row in trace.rows("total", "regions")}
        self.assertIn("main/cycle/sweep_z/fluxes", regions)

    def test_the_example_is_the_gas_of_the_other(self):
        other = subprocess.run(
            [os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro"), "--profile",
             "--cycles", "8", "12"], capture_output=True, text=True, check=True)
        ours = json.loads(run(HYDRO, "--profile", "--cycles", "8", "12").stdout)
        for one, two in zip(ours["density"], json.loads(other.stdout)["density"]):
            self.assertAlmostEqual(one, two, delta=1e-13)


class Timemory(tide.Case):
    def test_handles_are_handles(self):
        done = run("-c", textwrap.dedent("""
            import tidemark.timemory as timemory
            one = timemory.start_mallocp()
            two = timemory.start_mallocp()
            print(one, two, timemory.stop_mallocp(one), timemory.stop_mallocp(one),
                  timemory.stop_mallocp(2**64 - 1), timemory.stop_mallocp(two))
            """))
        self.assertEqual(done.stdout, "1 2 1 1 1 0\n")

    def test_both_names_of_the_switch(self):
        for name in ("TIMEMORY_ENABLE_MALLOCP", "ENABLE_TIMEMORY_MALLOCP"):
            done = subprocess.run(
                [sys.executable, "-c",
                 "import tidemark.timemory as t; print(t.start_mallocp())"],
                capture_output=True, text=True, check=True,
                env=dict(ENVIRONMENT, **{name: "OFF"}))
            self.assertEqual(done.stdout, "0\n")

    @unittest.skipUnless(numpy, "needs python3-numpy")
    def test_a_million_numbers_under_a_marker(self):
        """The example of timemory's documentation, with the import that it forgets."""
        script = Script("""
            import gc
            import numpy as np
            import timemory

            timemory.settings.memory_units = "KB"
            idx = timemory.start_mallocp()
            for key in ("warm-up", "test"):
                with timemory.util.marker(["malloc_gotcha"], key=key):
                    arr = np.ones([1000, 1000], dtype=np.float64)
                    del arr
                    gc.collect()
            timemory.stop_mallocp(idx)

            from timemory.util import marker
            @timemory.tools.function_wrappers("malloc")
            @marker(key="again")
            def again():
                return bytearray(29999)
            kept = again()
            """)
        regions = script.regions()
        self.assertEqual(regions["test"], (1, 8000000))
        self.assertEqual(regions["again"], (1, 30000))
        freed = [block for block in script.trace.blocks() if block["size"] == 8000000]
        self.assertEqual([block["death_s"] is None for block in freed], [False, False])
        table = {(row["region"], row["label"]): (row["count"], row["sum_bytes"])
                 for row in script.trace.report(shape="timemory")["timemory"]}
        self.assertEqual(table["test", "malloc"], (1, 8000000))
        self.assertEqual(table["test", "free"], (1, 8000000))
        self.assertEqual([row["window"] for row in script.trace.windows()],
                         ["mallocp"] * 4)  # two markers, who is around them, "again"
        text = subprocess.run([tide.TIDEMARK, "report", "--timemory", script.trace.path],
                              capture_output=True, text=True, check=True).stdout
        rows = [[cell.strip() for cell in line.strip("|").split("|", 9)]
                for line in text.replace("|_", "").splitlines() if ">>>" in line]
        self.assertIn([">>> malloc", "1", "1", "malloc_gotcha", "KB", "8000.000"],
                      [row[:6] for row in rows])
        # Of hundreds that the interpreter needs to start.
        self.assertLess(sum(row["count"] for row in
                            script.trace.report(shape="timemory")["timemory"]
                            if not row["region"]), 20)


if __name__ == "__main__":
    tide.main()
