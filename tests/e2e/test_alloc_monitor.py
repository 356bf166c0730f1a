"""tests/e2e/test_alloc_monitor.py - programs written for CMS's AllocMonitor, as they are."""
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


def allocators():
    """"" for glibc's, and the libraries of those that are installed."""
    yield ""
    for pattern in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2*"):
        yield from sorted(glob.glob(f"/usr/lib/*/{pattern}"))[-1:]


class Case(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def alone(self, argv, *libraries, **variables):
        """Preloaded, and nothing else is asked for: there must be no trace."""
        env = dict(os.environ, LD_PRELOAD=":".join((LIBRARY, *filter(None, libraries))),
                   **variables)
        env.pop("TIDEMARK_SESSION", None)
        return subprocess.run(argv, capture_output=True, text=True, timeout=120,
                              check=False, env=env, cwd=self.folder)

    def compiled(self, name, *options):
        """tests/programs/NAME, compiled as its user would."""
        path = os.path.join(tempfile.mkdtemp(), "program")
        subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", *options, "-I", os.path.join(
            tide.SOURCE, "include", "tidemark", "compat"), "-o", path, os.path.join(
                tide.SOURCE, "tests", "programs", name)], check=True, timeout=120)
        return path


class Proxies(Case):
    def test_every_call_is_told_once_with_its_sizes(self):
        """-fno-builtin: at -O2 compilers leave out pairs of calls, and what they think that
        malloc does not change is not read again."""
        for options in (["-O0"], ["-O2", "-fno-builtin"]):
            program = self.compiled("cms_proxies.cpp", *options)
            for allocator in allocators():
                with self.subTest(options=options, allocator=allocator):
                    done = self.alone([program], allocator, TIDEMARK_SESSION="/nonexistent")
                    self.assertEqual((done.stdout, done.returncode), ("ok, 23 calls\n", 0))

    def test_the_trace_has_the_same_sizes(self):
        """What operator new gave is what malloc_usable_size says, whoever made it."""
        program = tide.program("counted_new")
        for allocator in allocators():
            env = dict(os.environ, LD_PRELOAD=allocator) if allocator else None
            run = tide.Recorded([program], env=env)
            calls, requested, used, frees, freed, usable = run.own_count()
            self.assertEqual((calls, used, frees, freed), (100, usable, 100, usable),
                             allocator)
            self.assertGreaterEqual(used, requested)
            answer = subprocess.run(
                [tide.TIDEMARK, "query", run.trace, "--json",
                 "SELECT sum(usable) WHERE mem.alloc=new,size>=100,size<200"],
                capture_output=True, text=True, timeout=120, check=True).stdout
            self.assertEqual(json.loads(answer)["rows"], [[usable]], allocator)

    def test_nobody_asked_for_a_trace(self):
        """Of a program whose monitors are its own; TIDEMARK_OUTPUT asks for one."""
        program = tide.program("cms_proxies")
        for more in ({}, {"TIDEMARK_MONITOR": "own"}):
            done = self.alone([program], **more)
            self.assertEqual((done.stdout, done.stderr), ("ok, 23 calls\n", ""))
            self.assertEqual(os.listdir(self.folder), [])
        done = self.alone(["/bin/sh", "-c", program], TIDEMARK_MONITOR="own")
        self.assertEqual((done.stdout, os.listdir(self.folder)), ("ok, 23 calls\n", []))
        done = self.alone([program], TIDEMARK_OUTPUT="asked")
        self.assertEqual((done.stdout, os.listdir(self.folder)),
                         ("ok, 23 calls\n", ["asked.tide"]))


def bin_of(size):
    return size.bit_length()


class Services(Case):
    """Of 20 events, each with a block of 1000 bytes that stays and 10 of 32 to 16384 that
    go one after the other."""
    EVENT = sum(32 << i for i in range(10)) + 1000

    def check(self, told):
        def totals(events, frees, present):
            return {"requested": events * self.EVENT, "calls": 11 * events, "frees": frees,
                    "present": present * usable}

        [usable] = {told["EventProcessing"]["present"] / 18}  # of 1000 bytes
        highest = {name: told[name].pop("highest") for name in (
            "MaxMemory", "Simple", "EventProcessing", "Periodic")}
        self.assertEqual(told["MaxMemory"], totals(20, 220, 0))
        # Event 0 was before them: its block is freed only.
        self.assertEqual(told["Simple"], totals(19, 210, -1))
        self.assertEqual(told["Periodic"], totals(19, 210, -1))
        self.assertEqual(told["EventProcessing"], totals(18, 180, 18))
        largest = highest["EventProcessing"] - 18 * usable
        self.assertGreaterEqual(largest, 16384)
        self.assertEqual(highest["Simple"], 19 * usable + largest)
        self.assertEqual(highest["MaxMemory"], 20 * usable + largest)
        sizes = [1000, *(32 << i for i in range(10))]
        requested = [0] * 40
        for size in sizes:
            requested[bin_of(size)] += 19
        self.assertEqual(told["requested"], requested)
        self.assertEqual((sum(told["used"]), sum(told["freed"])), (209, 210))
        self.assertEqual(sum(a * b for a, b in zip(told["used"], range(40))),
                         sum(a * b for a, b in zip(told["freed"], range(40)))
                         - bin_of(int(usable)))
        self.assertGreaterEqual(told["lines"], 3)

    def test_five_services_in_one_job(self):
        program = [tide.program("cms_services")]
        for allocator in allocators():
            with self.subTest(allocator=allocator):
                self.check(json.loads(self.alone(program, allocator).stdout))
        self.check(tide.Recorded(program).own_count())
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_trace_has_what_they_were_told(self):
        run = tide.Recorded([tide.program("cms_services")])
        rows = [row for row in run.report("--total", "--flat")["rows"]
                if row["function"].endswith("::event")]
        self.assertEqual([(row["bytes"], row["calls"]) for row in rows],
                         [(21 * self.EVENT, 21 * 11)])


class Intrusive(Case):
    LINE = re.compile(r"%MSG-s IntrusiveAllocMonitor:\n(.+): requested (\d+) added (-?\d+)"
                      r" max alloc (\d+) peak (\d+) nAlloc (\d+) nDealloc (\d+)\n%MSG\n")

    def test_guards_say_what_their_thread_did(self):
        """A vector of ints grows by doubling; a guard within another takes its own out."""
        for allocator in allocators():
            done = self.alone([tide.program("cms_intrusive")], allocator)
            self.assertEqual(self.LINE.sub("", done.stderr), "")
            found = {name: [int(number) for number in numbers]
                     for name, *numbers in self.LINE.findall(done.stderr)}
            usable = json.loads(done.stdout)
            first, second, grown = (usable[key] for key in ("8192", "16384", "4096"))
            growing = 4 * (2**14 - 1)
            self.assertEqual(found, {
                "fill": [growing, first, 32768, first + grown, 14, 13],
                "fill again": [65536, second - first, 65536, second, 1, 1],
                "inner": [4, usable["1"], 4, usable["1"], 1, 0],
                # The int that came from inside is freed here.
                "outer": [growing, first - usable["1"], 32768, first + grown, 14, 14],
                "other thread": [100, usable["25"], 100, usable["25"], 1, 0]}, allocator)

    def test_without_the_recorder_guards_say_nothing(self):
        done = subprocess.run([tide.program("cms_intrusive")], capture_output=True, text=True,
                              check=True)
        self.assertEqual(done.stderr, "")


class Libraries(Case):
    def test_a_registry_compiled_against_cmss_own(self):
        """It is told once of each call, with its sizes, and not of what is between
        stop_thread_reporting and start, nor of what its callbacks do."""
        program = [tide.program("cms_library")]
        for allocator in allocators():
            done = self.alone(program, allocator, TIDEMARK_MONITOR="own")
            self.assertEqual(done.stderr, "")
            *told, usable = json.loads(done.stdout)
            self.assertEqual(told, [1, 100, 5050, usable, 100, usable], allocator)
        self.assertEqual(os.listdir(self.folder), [])
        told = tide.Recorded(program).own_count()
        self.assertEqual(told[:3], [1, 100, 5050])
        plain = subprocess.run(program, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(plain.stdout)[:6], [0] * 6)

    def test_without_a_registry_one_line_says_so(self):
        done = self.alone(["/usr/bin/python3", "-c", "import ctypes\nfor i in range(3):"
                           " ctypes.CDLL(None).alloc_monitor_start()"], TIDEMARK_MONITOR="own")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("not by CMS's AllocMonitorRegistry", done.stderr)


class Preloads(Case):
    """What CMS's other preloads take from the environment."""

    def test_max_memory_pauses(self):
        [whole, paused] = [
            json.loads(self.alone([tide.program("cms_library"), *words],
                                  TIDEMARK_MONITOR="simple,json").stderr)
            for words in ([], ["pause"])]
        # Thrice the blocks, and once with one more; the registry's own is hushed.
        self.assertEqual(whole["total_requested_bytes"] - paused["total_requested_bytes"],
                         2 * 5050 - 7)
        self.assertEqual(whole["alloc_calls"] - paused["alloc_calls"], 199)
        self.assertEqual(whole["free_calls"] - paused["free_calls"], 199)

    def test_periodic_variables(self):
        for variables, name in (({"PAM_FILENAME": "lines_", "PAM_INTERVAL_MS": "10"}, "lines_"),
                                ({"PAM_INTERVAL_MS": "10"}, "periodic_alloc_")):
            done = self.alone([tide.program("tallied"), "2"], **variables)
            [path] = glob.glob(os.path.join(self.folder, name + "[0-9]*.csv"))
            with open(path, encoding="utf-8") as file:
                head, *lines = file.read().splitlines()
            self.assertEqual(head, "timestamp, total-requested, max-actual, present-actual, "
                                   "max-single, nAllocs, nDeallocs")
            last = [int(number) for number in lines[-1].split(", ")]
            own = json.loads(done.stdout)
            self.assertEqual([last[1], *last[5:]], [own[key] for key in (
                "total_requested_bytes", "alloc_calls", "free_calls")])
        self.assertEqual(len(os.listdir(self.folder)), 2, "no trace was asked for")

    def test_threshold_variables(self):
        """tallied has one request of 100000 bytes, and none of more."""
        def ended(**variables):
            done = self.alone([tide.program("tallied"), "1"], **variables)
            return done.returncode, done.stderr.partition(" bytes reaches ")[0]

        reached = "tidemark: threshold, a request of 100000"
        self.assertEqual(ended(TAAM_MIN="90000"), (-6, reached))
        self.assertEqual(ended(TAAM_MIN="90000", TAAM_MAX="100000"), (-6, reached))
        for variables in ({"TAAM_MIN": "100001"}, {"TAAM_MIN": "90000", "TAAM_MAX": "99999"},
                          {"TAAM_MIN": "90000", "TAAM_SKIP": "1"}):
            status, said = ended(**variables)
            self.assertEqual((status, reached in said), (0, False), variables)
        self.assertEqual(ended(TAAM_MIN="90000", TAAM_BREAK="1"), (0, reached))


if __name__ == "__main__":
    tide.main()
