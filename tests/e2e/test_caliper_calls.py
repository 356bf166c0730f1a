#!/usr/bin/python3
"""tests/e2e/test_caliper_calls.py - the calls that Caliper's own tests and examples make.

tests/programs/caliper_calls.c and caliper_classes_calls.cpp have a case for each; what a case
allocates, and with which values, is known from its source and asked of `tidemark query`.
"""
import json
import os
import re
import subprocess
import tempfile
import unittest

import tide
from test_header import COMPILERS, INCLUDE
from test_query import query, rows

C, CXX = "caliper_calls", "caliper_classes_calls"
SNAPSHOT = "event.begin#cali.snapshot"


class Calls(tide.Case):
    def recorded(self, program, case, region_mismatches=0):
        """The trace of CASE; it prints what it prints alone."""
        plain = subprocess.run([tide.program(program), case], capture_output=True, text=True,
                               check=True, timeout=60)
        self.assertEqual((plain.stdout, plain.stderr), ("", ""))
        run = tide.Recorded([tide.program(program), case])
        self.assertEqual((run.status, run.stdout, run.done.stderr), (0, "", ""))
        self.whole(run.report(), region_mismatches=region_mismatches, unmatched_labels=0)
        return run

    def ask(self, program, case, query, **expected):
        return rows(self.recorded(program, case, **expected).trace, query)

    def idle(self, program, case):
        """What the trace says of calls that do nothing."""
        said = self.recorded(program, case).report()["honesty"]["troubles"]
        return [line.split(",")[0] for line in said]


class InC(Calls):
    def test_addresses(self):
        """In the array, outside of it, and after it was freed."""
        found = self.ask(C, "addresses", "SELECT first,last,after.free,alloc.label#in,"
                         f"alloc.index#in,alloc.label#out,region WHERE {SNAPSHOT}=2")
        self.assertEqual(found, [("true", None, None, "thirty", 0, None, "addresses"),
                                 (None, "true", None, "thirty", 29, None, "addresses"),
                                 (None, None, "true", None, None, None, "addresses")])

    def test_hooks(self):
        found = self.ask(C, "hooks", "SELECT by.malloc,by.calloc,by.realloc,alloc.label#in,"
                         f"alloc.label#out WHERE {SNAPSHOT}")
        self.assertEqual(found, [("true", None, None, "malloc", None)] * 2 +
                         [("true", None, None, None, None)] +
                         [(None, "true", None, "calloc", None)] * 2 +
                         [(None, "true", None, None, None)] +
                         [(None, None, "true", "realloc", None)] * 2 +
                         [(None, None, "true", None, None)])
        found = self.ask(C, "hooks", "SELECT mem.alloc,count(),sum(size) GROUP BY mem.alloc "
                         "WHERE mem.alloc,region=hooks ORDER BY mem.alloc")
        self.assertEqual(found, [("calloc", 1, 120), ("malloc", 2, 520), ("realloc", 1, 120)])

    def test_annotations(self):
        run = self.recorded(C, "annotations")
        of_run = (4711, 12.25, "my run", 12)
        found = rows(run.trace, "SELECT round,phase,with.meta,described,by.name,an.int,"
                     "a.double,a.string,size,run.int,run.double,run.string,run.uint "
                     "WHERE mem.alloc,run.int")
        self.assertEqual(found, [(i, "rounds", *[None] * 6, 10, *of_run) for i in range(4)] + [
            (None, None, "hocus", "true", None, None, None, None, 20, *of_run),
            (None, None, "hocus", None, "true", 21, 2.75, "pocus", 30, *of_run)])
        self.assertEqual(rows(run.trace, "SELECT event.end#round WHERE event.end#round"),
                         [(i,) for i in range(4)])

    def test_snapshots(self):
        found = self.ask(C, "snapshots",
                         f"SELECT during,a.text,a.number,{SNAPSHOT} WHERE {SNAPSHOT}")
        self.assertEqual(found, [("snapshots", None, None, 0), ("snapshots", "text", 24, 2)])

    def test_channels(self):
        """All are one; what is done to them is said once."""
        found = self.ask(C, "channels", "SELECT both,first,second,count(),sum(size) "
                         "GROUP BY both,first,second WHERE mem.alloc,region=switched")
        self.assertEqual(found, [(4, None, None, 1, 40), (4, 2, None, 1, 40),
                                 (4, None, 8, 1, 40)])
        self.assertEqual(self.idle(C, "channels"),
                         ["the program calls cali_create_channel()"])

    def test_matrices(self):
        found = self.ask(C, "matrices", "SELECT label,shape,size,region,free.region "
                         "FROM blocks WHERE label")
        where = ("matrices/allocate", "matrices/free")
        self.assertEqual(found, [("A", "[6][4] of 8", 192, *where),
                                 ("B", "[4][5] of 8", 160, *where), ("C", None, 240, *where)])

    def test_macros(self):
        found = self.ask(C, "macros", "SELECT region,iteration#rounds,size,count.of.rounds "
                         "WHERE mem.alloc,region")
        self.assertEqual(found, [("macros", None, 48, 6)] +
                         [("macros/rounds", i, 11, 6) for i in range(6)])
        kinds = self.ask(C, "macros", "SELECT function,loop,count() GROUP BY function,loop "
                         "WHERE mem.alloc,region")
        self.assertEqual(kinds, [("macros", None, 1), ("macros", "rounds", 6)])

    def test_asks_where_it_is(self):
        """Without the recorder nobody knows; the program runs on."""
        plain = subprocess.run([tide.program(C), "prints"], capture_output=True, text=True,
                               check=True, timeout=60)
        self.assertEqual(plain.stdout, " 0 1\nnowhere\n 0 1\n 0 1\n0\n0\n")
        run = tide.Recorded([tide.program(C), "prints"])
        self.assertEqual(run.stdout, " 0 1\nprints\n"
                         "function=prints,loop=twice,iteration#twice=5 3 1\n"
                         "function=prints,loop=twice,iteration#twice=6 3 1\n7\n7\n")

    def test_manager(self):
        found = self.ask(C, "manager", "SELECT region,iteration,size WHERE mem.alloc,region")
        self.assertEqual(found, [("manager/main loop/half", i, 50) for i in range(4)])
        self.assertEqual(self.idle(C, "manager"),
                         ["the program calls ConfigManager::start()"])

    def test_profile(self):
        found = self.ask(C, "profile", "SELECT function,annotation,count(),sum(size) "
                         "GROUP BY function,annotation WHERE mem.alloc,region")
        self.assertEqual(found, [("profile", "my phase", 2, 120)])
        self.assertEqual(self.idle(C, "profile"), ["the program calls cali_config_set()"])


class InCxx(Calls):
    def test_loops(self):
        found = self.ask(CXX, "loops", "SELECT loop.id,round,region,count(),sum(size) "
                         "GROUP BY loop.id,round,region WHERE mem.alloc,region")
        self.assertEqual(found, [("A", i, "A/taker", 2, 20) for i in range(3)] +
                         [("B", i, "B/taker", 1, 10) for i in range(4)])

    def test_values(self):
        odd = '" =\\\\odd \\"\\"name\\"=  "'
        found = self.ask(CXX, "values", f"SELECT {odd},two.lines,a.size,a.stage,round,size "
                         "WHERE mem.alloc,a.size")
        value = ('  \\\\ odd," value",', "one\ntwo", 8)
        self.assertEqual(found, [(*value, "prepare", None, 20)] +
                         [(*value, "rounds", i, 21) for i in range(4)])

    def test_macros(self):
        found = self.ask(CXX, "macros", "SELECT region,iteration#outer,iteration#inner,size "
                         "WHERE mem.alloc,region")
        self.assertEqual(found, [("macros/outer/macro_loop/inner", i, j, 30)
                                 for i in range(4) for j in range(4)])
        kinds = self.ask(CXX, "macros", "SELECT function,loop,count() GROUP BY function,loop "
                         "WHERE mem.alloc,region")
        self.assertEqual(kinds, [("macros/macro_loop", "outer/inner", 16)])
        marks = self.ask(CXX, "macros", "SELECT event.begin#annotation,event.begin#statement,"
                         "count() GROUP BY event.begin#annotation,event.begin#statement "
                         "WHERE event.begin#annotation OR event.begin#statement")
        self.assertEqual(marks, [("early", None, 1), ("before", None, 4), (None, "count", 4)])

    def test_channels(self):
        found = self.ask(CXX, "channels", "SELECT channel.id,all.made WHERE mem.alloc,size=40")
        self.assertEqual(found, [(42, "true")])
        self.assertEqual(self.idle(CXX, "channels"),
                         ["the program calls cali_create_channel()"])

    def test_nesting(self):
        """Both ends in the wrong order are counted."""
        found = self.ask(CXX, "nesting", "SELECT region,wrong.A,wrong.N,wrong.B,missing,size "
                         "WHERE mem.alloc,size BETWEEN 50 AND 53", region_mismatches=2)
        self.assertEqual(found, [("16/32", "16", 25, "32", None, 50),
                                 (None, None, None, None, None, 51),
                                 (None, None, None, None, "inner", 52),
                                 (None, None, None, None, "outer", 53)])

    def test_threads(self):
        """Those of the process are those of threads that are created later, too."""
        found = self.ask(CXX, "threads", 'SELECT region,my.number,local,"global",size '
                         "WHERE mem.alloc,size=60 ORDER BY my.number")
        self.assertEqual(found, [("threads/in_a_thread", i, None, 999, 60)
                                 for i in (16, 25, 36, 49)])

    def test_snapshots(self):
        found = self.ask(CXX, "snapshots",
                         f"SELECT snapshot.value,{SNAPSHOT} WHERE {SNAPSHOT}")
        self.assertEqual(found, [(49, 1), (50, 1)])
        self.assertEqual(self.idle(CXX, "snapshots"),
                         ["the program calls Channel::events()"])

    def test_bindings(self):
        found = self.ask(CXX, "bindings", "SELECT region,a.nested,a.plain,size "
                         "WHERE mem.alloc,region")
        self.assertEqual(found, [("outer/inner", "outer/inner", "default", 70)])
        self.assertEqual(self.idle(CXX, "bindings"),
                         ["the program calls AnnotationBinding::make_binding()"])

    def test_reads(self):
        self.assertEqual(self.ask(CXX, "reads", "SELECT region,size WHERE mem.alloc,region"),
                         [("reads", 80)])

    def test_matrices(self):
        found = self.ask(CXX, "matrices", "SELECT label,shape,region,count(),sum(size) "
                         "GROUP BY label,shape,region WHERE region FROM blocks")
        where = "matrices/loop/allocate"
        self.assertEqual(found, [("A", "[6][4] of 8", where, 4, 4 * 192),
                                 ("B", "[4][5] of 8", where, 4, 4 * 160),
                                 ("C", "[6][5] of 8", where, 4, 4 * 240)])

    def test_matrix_macros(self):
        found = self.ask(CXX, "matrix_macros", "SELECT label,size,count(),any(live) "
                         "GROUP BY label,size WHERE region FROM blocks")
        self.assertEqual([row[:3] for row in found], [("first", 192, 4), ("second", 100, 4)])

    def test_wrapped(self):
        run = self.recorded(CXX, "wrapped")
        found = rows(run.trace, "SELECT wrapped_function,function_argument_1,"
                     "function_argument_2,size WHERE mem.alloc,region")
        self.assertEqual(found, [("sum", 3, 4, 90), ("allocate", 91, None, 91)])
        found = rows(run.trace, "SELECT event.begin#wrapped_function "
                     "WHERE event.begin#wrapped_function")
        self.assertEqual(found, [("sum",), ("allocate",), ("release",)])
        listed = json.loads(query("--attributes", "--json", run.trace))["attributes"]
        (own,) = [row for row in listed if row["name"] == "wrapped_function"]
        counted = rows(run.trace, "SELECT count() WHERE wrapped_function")
        self.assertEqual((own["type"], own["hidden"], [(own["rows"],)]),
                         ("path", False, counted))
        self.assertGreater(own["rows"], 0)
        self.assertEqual([row["name"] for row in listed].count("function"), 1)

    def test_manager(self):
        found = self.ask(CXX, "manager", "SELECT region,iteration,size,iterations,configuration "
                         "WHERE mem.alloc,region")
        self.assertEqual(found, [("manager/main loop/step", i, 100 + i, 4, "event-trace")
                                 for i in range(4)])

    def test_profile(self):
        self.assertEqual(self.ask(CXX, "profile", "SELECT region,size WHERE mem.alloc,region"),
                         [("timed", 110)])
        self.assertEqual(self.idle(CXX, "profile"),
                         ["the program calls RegionProfile::start()"])

    def test_events(self):
        found = self.ask(CXX, "events", f"SELECT async.end,time.duration.ns WHERE {SNAPSHOT}")
        self.assertEqual([name for name, _ in found], ["queued for a thread", "own"])
        self.assertTrue(all(0 <= took < 60e9 for _, took in found), found)

    def test_basics(self):
        found = self.ask(CXX, "basics", "SELECT region,goodness,size WHERE mem.alloc,region")
        self.assertEqual(found, [("basics/init", 9999999, 120)])


@unittest.skipUnless(os.path.exists(tide.program("caliper_fortran")), "no Fortran")
class InFortran(Calls):
    def test_all(self):
        plain = subprocess.run([tide.program("caliper_fortran")], capture_output=True,
                               text=True, check=True, timeout=60)
        self.assertEqual(plain.stdout, "")
        run = tide.Recorded([tide.program("caliper_fortran")])
        self.assertEqual((run.status, run.stdout), (0, ""))
        result = run.report()
        self.whole(result, region_mismatches=0)
        self.assertEqual([line.split(",")[0] for line in result["honesty"]["troubles"]],
                         ["the program calls ConfigManager%start()"])
        found = rows(run.trace, "SELECT region,part,level,loop,step,run.int,size "
                     "WHERE mem.alloc,region")
        self.assertEqual(found, [("main/work", None, None, None, None, 42, 80),
                                 ("main/work/inner", "inner", 3, None, None, 42, 800)] +
                         [("main/steps", None, None, "steps", i, 42, 8000)
                          for i in (1, 2, 3)])


LOOP = r"""
#include <caliper/cali.h>
#include <caliper/cali_datatracker.h>
#include <stdlib.h>
#ifdef __cplusplus
#include <caliper/Caliper.h>
#endif
int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 0;
    const cali_id_t id = cali_create_attribute("id", CALI_TYPE_INT, CALI_ATTR_ASVALUE);
    const cali_variant_t value = cali_make_variant_from_int(argc);
    unsigned char bytes[80];
    const size_t extents[] = {1, 2};
    if (!rounds)
        return (int)(id + extents[0] + bytes[0] + (value.type_and_size != 2));
    for (long i = 0; i < rounds; i++) {
        __asm__ volatile("" ::: "memory");
        CALLS
    }
    return 0;
}
"""
MARKS = r"""
CALI_MARK_BEGIN("a"); CALI_MARK_END("a");
CALI_MARK_FUNCTION_BEGIN; CALI_MARK_FUNCTION_END;
CALI_MARK_PHASE_BEGIN("a"); CALI_MARK_PHASE_END("a");
CALI_MARK_LOOP_BEGIN(loop, "a"); CALI_MARK_ITERATION_BEGIN(loop, i);
CALI_MARK_ITERATION_END(loop); CALI_MARK_LOOP_END(loop);
cali_begin(id); cali_end(id);
cali_begin_int(id, (int)i); cali_set_int(id, (int)i); cali_end(id);
cali_begin_string(id, "a"); cali_set_double(id, 0.5);
cali_begin_byname("a"); cali_end_byname("a");
cali_begin_int_byname("a", (int)i); cali_set_string_byname("a", "b");
cali_set_global_int_byname("a", (int)i);
cali_push_snapshot(CALI_SCOPE_THREAD, 1, &id, &value);
cali_datatracker_track(argv, "a", 8); cali_datatracker_untrack(argv);
cali_datatracker_track_dimensional(argv, "a", 8, extents, 2);
(void)cali_pull_snapshot(CALI_SCOPE_THREAD, sizeof(bytes), bytes);
(void)cali_get(id); cali_flush(0);
"""
CLASSES = r"""
{ CALI_CXX_MARK_FUNCTION; }
{ CALI_CXX_MARK_SCOPE("a"); }
{ CALI_CXX_MARK_LOOP_BEGIN(loop, "a"); CALI_CXX_MARK_LOOP_ITERATION(loop, i);
  CALI_CXX_MARK_LOOP_END(loop); }
{ cali::Annotation::Guard guard(cali::Annotation("a", CALI_ATTR_NESTED).begin("b")); }
cali::Annotation("a").set(i).set(0.5).end();
{ cali::Caliper c; c.begin(cali::Attribute(id), cali::Variant(i));
  c.end(cali::Attribute(id)); }
"""


class Cost(tide.Case):
    """At most five instructions for a call, when not recorded."""

    def instructions(self, path, rounds):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", path,
             str(rounds)], capture_output=True, text=True, timeout=120, check=True)
        return int(re.findall(r"Collected : (\d+)", done.stderr)[0])

    def per_round(self, compiler, calls, folder):
        path = os.path.join(folder, "loop")
        subprocess.run([*compiler, "-O2", "-I", os.path.join(INCLUDE, "tidemark", "compat"),
                        "-", "-o", path], input=LOOP.replace("CALLS", calls), text=True,
                       check=True, timeout=60)
        few, many = (self.instructions(path, rounds) for rounds in (1000, 11000))
        return (many - few) / 10000

    def test_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            for cc, cxx in COMPILERS:
                for compiler, calls, count in (([cc, "-xc"], MARKS, 28),
                                               ([cxx, "-xc++"], CLASSES, 15)):
                    cost = self.per_round(compiler, calls, folder) - \
                        self.per_round(compiler, "", folder)
                    self.assertLessEqual(cost / count, 5, compiler)
                    self.assertGreaterEqual(cost / count, 1, "the calls were not there")


if __name__ == "__main__":
    tide.main()
