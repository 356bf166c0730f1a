#!/usr/bin/python3
"""tests/e2e/test_compat.py - programs annotated for other systems, compiled as they are."""
import collections
import json
import os
import shutil
import struct
import subprocess
import tempfile

import tide
from test_query import rows


def plain(name, **environment):
    """What a program prints when it is not recorded."""
    done = subprocess.run([tide.program(name)], capture_output=True, text=True, check=True,
                          timeout=60, env=dict(os.environ, **environment))
    return done.stdout


HEADERS = (  # of each system; as what they compile
    ("caliper/cali.h", ("c", "c++")), ("caliper/cali_datatracker.h", ("c", "c++")),
    ("caliper/cali-manager.h", ("c", "c++")), ("caliper/cali_macros.h", ("c", "c++")),
    ("caliper/common/cali_types.h", ("c", "c++")),
    ("caliper/common/cali_variant.h", ("c", "c++")),
    ("caliper/common/Variant.h", ("c++",)), ("caliper/common/RuntimeConfig.h", ("c++",)),
    ("caliper/Annotation.h", ("c++",)), ("caliper/Caliper.h", ("c++",)),
    ("caliper/SnapshotRecord.h", ("c++",)), ("caliper/AnnotationBinding.h", ("c++",)),
    ("caliper/CaliFunctional.h", ("c++",)), ("caliper/RegionProfile.h", ("c++",)),
    ("caliper/ConfigManager.h", ("c++",)), ("caliper/AsyncEvent.h", ("c++",)),
    ("timemory/tools/timemory-mallocp.h", ("c", "c++")),
    ("PerfTools/AllocMonitor/interface/AllocMonitorBase.h", ("c++",)),
    ("PerfTools/AllocMonitor/interface/AllocMonitorRegistry.h", ("c++",)))

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")


def varint(data, at):
    """The number at AT of DATA, and where it ends."""
    number = shift = 0
    while data[at] > 127:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1


def notes(path):
    """Kind and bytes of each note of the processes, read as docs/format.md tells."""
    with open(path, "rb") as file:
        data = file.read()
    at = 64
    while at < len(data):
        kind, flags, stored = struct.unpack_from("<HHI", data, at + 4)
        payload = data[at + 64:at + 64 + stored]
        at += 64 + stored
        if kind != 2:
            continue
        if not flags & 2:
            payload = subprocess.run(["zstd", "-d", "-c"], input=payload, check=True,
                                     capture_output=True).stdout
        here = 0
        while here < len(payload):
            note, here = varint(payload, here)
            length, here = varint(payload, here)
            yield note, payload[here:here + length]
            here += length


def values_of_attributes(path):
    """(attribute, region) of all regions that are values of one."""
    names, pairs = {}, []
    for note, payload in notes(path):
        first, at = varint(payload, 0)
        if note == 4:
            names[first] = payload[varint(payload, at)[1]:].decode()
        elif note == 9:
            pairs.append((varint(payload, at)[0], first))
    return [(names[attribute], names[name]) for attribute, name in pairs]


class Folders(tide.Case):
    def test_one_folder_is_enough(self):
        """Wherever the headers were installed, and whatever folder is searched besides."""
        with tempfile.TemporaryDirectory() as prefix:
            include = os.path.join(prefix, "include")
            shutil.copytree(os.path.join(tide.SOURCE, "include"), include)
            for compiler in filter(shutil.which, ("gcc", "clang")):
                for header, languages in HEADERS:
                    for language in languages:
                        subprocess.run([compiler, "-x", language, "-fsyntax-only", *STRICT,
                                        "-std=" + {"c": "c99", "c++": "c++20"}[language],
                                        "-I" + os.path.join(include, "tidemark", "compat"),
                                        "-"],
                                       input=f"#include <{header}>\n", text=True, check=True,
                                       timeout=60, cwd=prefix)


class Caliper(tide.Case):
    def recorded(self, name):
        """NAME, recorded; it must print what it prints alone."""
        recorded = tide.Recorded([tide.program(name)])
        self.assertEqual(recorded.stdout, plain(name))
        return recorded

    def found(self, recorded, shape, key):
        """name -> [calls, bytes] of what has such a name."""
        result = recorded.report("--total", shape)
        self.whole(result, region_mismatches=0, unmatched_labels=0)
        return {row[key]: [row["calls"], row["bytes"]]
                for row in result["rows"] if row["calls"] and row[key]}

    def test_regions_are_values_of_attributes(self):
        found = values_of_attributes(self.recorded("caliper_marks").trace)
        self.assertEqual(sorted(found), [
            ("annotation", "solve"), ("comm.region", "gather"), ("function", "by_name"),
            ("function", "compute"), ("function", "main"), ("phase", "set-up"),
            ("statement", "copy"), ("statement", "declare")])

    def test_c_macros_are_regions_and_labels(self):
        recorded = self.recorded("caliper_marks")
        own = recorded.own_count()
        self.assertEqual(self.found(recorded, "--regions", "region"), own["regions"])
        self.assertEqual(self.found(recorded, "--labels", "label"), own["labels"])

    def test_other_attributes_are_columns(self):
        trace = self.recorded("caliper_marks").trace
        self.assertEqual(rows(trace, "SELECT material,count() GROUP BY material "
                                     "WHERE mem.alloc=work ORDER BY material"),
                         [(i, 1) for i in range(7)])
        self.assertEqual(rows(trace, "SELECT level,method WHERE mem.alloc,size=51"),
                         [(3.5, None), (3, "explicit")])
        trace = self.recorded("caliper_classes").trace
        self.assertEqual(rows(trace, "SELECT count,number,size WHERE mem.alloc,size=40"),
                         [(7, 2.5, 40)])

    def test_classes_are_regions(self):
        recorded = self.recorded("caliper_classes")
        found = self.found(recorded, "--regions", "region")
        own = recorded.own_count()["regions"]
        early = "main/leaves_early"  # with the exception's own memory
        self.assertGreater(found.pop(early), own.pop(early))
        self.assertEqual(found, own)


class Timemory(tide.Case):
    """The same program three times: in C, in Fortran and, in test_python.py, in Python."""

    @staticmethod
    def programs():
        for name in ("timemory_windows", "timemory_fortran"):
            if os.path.exists(tide.program(name)):
                yield name

    def test_handles_are_handles(self):
        """The first is 1, nested ones count on; a second stop, or that of a handle that
        never was, stops nothing."""
        expected = {"inner": 2, "outer": 1, "one": 1, "two": 2, "left": [1, 1, 1, 0]}
        for name in self.programs():
            recorded = tide.Recorded([tide.program(name)])
            for said in (recorded.own_count(), json.loads(plain(name))):
                self.assertEqual({key: said[key] for key in expected}, expected)

    def test_windows_count_what_is_in_them(self):
        """Calls, bytes and frees; what is before, between and after appears nowhere."""
        doubles = {"all": [100, 200, 400], "inner": [200, 400], "outer": [1000, 2000],
                   "one": [3], "two": [3, 4]}
        said = tide.Recorded([tide.program("timemory_windows")]).own_count()
        for window, sizes in doubles.items():
            self.assertEqual(said[window + " counted"],
                             [len(sizes), 8 * sum(sizes), len(sizes)])
        for name in self.programs():
            found = tide.Recorded([tide.program(name)]).report("--windows")["windows"]
            self.assertEqual(
                [(row["window"], row["alloc_calls"], row["requested_bytes"],
                  row["free_calls"], row["smallest_bytes"], row["largest_bytes"])
                 for row in found],
                [("mallocp (registered)" if key == "all" else "mallocp", len(sizes),
                  8 * sum(sizes), len(sizes), 8 * min(sizes), 8 * max(sizes))
                 for key in ("inner", "all", "outer", "one", "two")  # as they ended
                 for sizes in [doubles[key]]])

    def example(self, *words, **environment):
        """[label, region, count, sum] of the rows for the example of the document."""
        env = dict(os.environ, **environment)
        run = tide.Recorded([tide.program("timemory_example")], env=env)
        text = subprocess.run([tide.TIDEMARK, "report", "--timemory", run.trace, *words],
                              capture_output=True, text=True, check=True, env=env).stdout
        rows = run.report("--timemory")["timemory"]
        return text, [[row[key] for key in ("label", "region", "count", "sum_bytes")]
                      for row in rows]

    def test_the_table_counts_between_start_and_stop(self):
        """5 mallocs, 2 callocs and 7 frees of 8, 4 and 12: each once, however many windows
        saw it, and those of a window that opens inside a marker."""
        text, rows = self.example()
        self.assertEqual(rows, [
            ["malloc", "", 2, 2000], ["calloc", "", 2, 4000], ["free", "", 4, 6000],
            ["malloc", "bar", 3, 2010], ["free", "bar", 3, 2010]])
        self.assertRegex(text, r"\| >>> bar +\| +2 \| +0 \|")
        self.assertRegex(text, r"\| >>> \|_malloc \| +3 \| +1 \| malloc_gotcha \| KB +\| +2\.010 \|")

    def test_a_forked_child_is_in_its_parents_window(self):
        run = tide.Recorded([tide.program("timemory_example"), "fork"])
        counts = collections.Counter()
        for row in run.report("--timemory")["timemory"]:
            counts[row["label"]] += row["count"]
        self.assertEqual(counts, {"malloc": 8, "calloc": 4, "free": 12})

    def test_the_switch_counts_none(self):
        for switch in ("TIMEMORY_ENABLE_MALLOCP", "ENABLE_TIMEMORY_MALLOCP"):
            text, rows = self.example(**{switch: "OFF"})
            self.assertEqual(rows, [])
            self.assertNotIn(">>>", text)
            self.assertIn("Nothing was counted", text)

    def test_memory_units(self):
        for variable in ("TIMEMORY_MEMORY_UNITS", "MEMORY_UNITS"):
            for unit, shown in (("B", "2000.000"), ("kb", "2.000"), ("KiB", "1.953")):
                text, _ = self.example(**{variable: unit})
                self.assertRegex(text, rf"(?i)\| {unit} +\| +{shown} \|")
        run = tide.Recorded([tide.program("timemory_example")],
                            env=dict(os.environ, TIMEMORY_MEMORY_UNITS="B"))
        told = subprocess.run([tide.TIDEMARK, "report", "--timemory", run.trace],
                              capture_output=True, text=True, check=True).stdout
        self.assertRegex(told, r"\| B +\| +2000\.000 \|")
        wrong = subprocess.run([tide.TIDEMARK, "report", "--timemory", run.trace],
                               capture_output=True, text=True, check=False,
                               env=dict(os.environ, MEMORY_UNITS="furlong"))
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("'furlong' is no unit; there are B, KB, MB", wrong.stderr)

    def test_both_names_of_the_switch(self):
        for name in self.programs():
            for switch in ("TIMEMORY_ENABLE_MALLOCP", "ENABLE_TIMEMORY_MALLOCP"):
                for word in ("0", "OFF", "false"):
                    said = json.loads(plain(name, **{switch: word}))
                    self.assertEqual((said["inner"], said["left"]), (0, [0, 0, 0, 0]))
                self.assertEqual(json.loads(plain(name, **{switch: "ON"}))["two"], 2)

    def test_macros_compile_it_out(self):
        source = os.path.join(tide.SOURCE, "tests", "programs", "timemory_windows.c")
        include = os.path.join(tide.SOURCE, "include")
        for macro, first in (("DISABLE_TIMEMORY", 0), ("TIMEMORY_DISABLED", 0),
                             ("TIMEMORY_DISABLE_MALLOCP", 0), ("TIMEMORY_ENABLED=0", 0),
                             ("TIMEMORY_ENABLED=1", 1)):
            path = os.path.join(tempfile.mkdtemp(), "windows")
            subprocess.run(["gcc", "-D" + macro, "-I" + include,
                            "-I" + os.path.join(include, "tidemark", "compat"), source,
                            "-o", path], check=True, timeout=60)
            said = json.loads(subprocess.run([path], capture_output=True, text=True,
                                             check=True, timeout=60).stdout)
            self.assertEqual(said["one"], first, macro)


class AllocMonitor(tide.Case):
    def test_without_the_recorder_an_exception_says_so(self):
        said = json.loads(plain("cms_monitors"))
        self.assertFalse(said["preloaded"])
        self.assertIn("LD_PRELOAD", said["message"])

    def test_monitors_are_told_of_everything_but_themselves(self):
        """[allocations, bytes, frees, wrong sizes or addresses] of each: callbacks that
        allocate, and making and deleting monitors, are not among them."""
        said = tide.Recorded([tide.program("cms_monitors")]).own_count()
        known = [100, sum(range(1, 101)), 100, 0]
        self.assertEqual(said, {
            "preloaded": True, "known": known, "older": known, "idle": [0, 0, 0, 0],
            "made": 2, "deleted": 2, "threads": [8 * 500, 8 * 500 * 64, 8 * 500, 0],
            "comers": [200, 200], "deleted_inside": 0})


if __name__ == "__main__":
    tide.main()
