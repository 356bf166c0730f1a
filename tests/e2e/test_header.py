"""tests/e2e/test_header.py - tidemark.h in every kind of program, by both compilers.

Recorded or not, dynamic or static: it compiles without a word, needs no library, and does
something exactly when the recorder is there.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tide

INCLUDE = os.path.join(tide.SOURCE, "include")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-I", INCLUDE]
COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++"))
             if shutil.which(pair[0]) and shutil.which(pair[1])]

# Every function once.  The status says whether the recorder was there.
ALL_CALLS = r"""
#include <stdlib.h>
#include <tidemark/tidemark.h>
static void alloc_called(size_t a, size_t b, const void *c, void *d)
{ (void)a; (void)b; (void)c; (void)d; }
static int function(void)
{
    TIDE_FUNCTION();
    TIDE_SCOPED_REGION("inner");
    return 0;
}
int all_calls(void);
int all_calls(void)
{
    const size_t extents[2] = {10, 10};
    struct tide_stats stats;
    struct tide_recorder_counters counters;
    struct tide_found_block block;
    tide_handle window, monitor;
    char *x;
    tide_region_begin("marked");
    tide_loop_begin("loop");
    tide_iteration(1);
    tide_iteration_end();
    tide_loop_end("loop");
    tide_phase_begin("phase");
    function();
    x = (char *)malloc(100);
    tide_label(x, "x", 100);
    tide_label_shape(x, "x", 1, extents, 2);
    tide_pool_alloc("pool", x, 10, NULL);
    tide_pool_free("pool", x);
    tide_unlabel(x);
    tide_phase_end("phase");
    tide_region_end("marked");
    tide_set_int("int", -1);
    tide_set_double("double", 0.5);
    tide_set_string("string", "text");
    tide_set_address("address", x);
    tide_begin_int("int", 1);
    tide_begin_double("int", 1.5);
    tide_begin_string("int", "one");
    tide_begin_address("address", x);
    tide_end("int");
    tide_unset("int");
    tide_event(1);
    tide_snapshot("now");
    tide_pause(TIDE_SCOPE_PROCESS);
    tide_resume(TIDE_SCOPE_PROCESS);
    window = tide_start();
    tide_peek(window, &stats);
    tide_register();
    tide_deregister(&stats);
    tide_counters(&counters);
    tide_find(x, &block);
    tide_report();
    tide_hush(0);
    if (tide_monitor_add(alloc_called, NULL, NULL, &monitor) == TIDE_DONE)
        tide_monitor_remove(monitor);
    free(x);
    return tide_stop(window, &stats) == TIDE_DONE;
}
"""
MAIN = "int all_calls(void);\nint main(void) { return all_calls() ? 10 : 20; }\n"
PLUGIN_MAIN = r"""
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*all_calls)(void);
    if (!plugin)
        return 1;
    *(void **)&all_calls = dlsym(plugin, "all_calls");
    return all_calls() ? 10 : 20;
}
"""
CLASSES = r"""
#include <atomic>
#include <tidemark/tidemark.hpp>
struct counter {
    std::atomic<long> allocs{0}, frees{0};
    void alloc_called(std::size_t, std::size_t, const void *) { allocs++; }
    void free_called(std::size_t, const void *) { frees++; }
};
int main()
{
    TIDEMARK_FUNCTION();
    tidemark::phase phase("phase");
    tidemark::loop loop("loop");
    tidemark::value level("level", 3), ratio("ratio", 0.5), name("name", "text");
    loop.iteration(1);
    counter counts;
    try {
        tidemark::window counted("all", TIDE_SCOPE_THREAD);
        tidemark::monitor<counter> watching(counts);
        char *volatile x = new char[1000];
        {
            tidemark::label named(x, "x", 1, {10, 100});
            tidemark::hush hushed;
            tidemark::pause paused;
        }
        delete[] x;
        const tide_stats stats = counted.stop();
        if (stats.alloc_calls != 1 || stats.requested_bytes != 1000 ||
            stats.live_bytes != 0 || counts.allocs != 1 || counts.frees != 1)
            return 1;
        return counted.stop().alloc_calls == 0 ? 10 : 2;
    } catch (const tidemark::not_recorded &) {
        return 20;
    }
}
"""


class Header(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, argv):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120,
                              check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), argv)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def check(self, argv, recorded=True):
        """Exit status 20 without the recorder, 10 with it: in a static program never."""
        plain = subprocess.run(argv, timeout=60, check=False)
        self.assertEqual(plain.returncode, 20, argv)
        env = dict(os.environ, LD_PRELOAD=os.environ["TIDEMARK_LIBRARY"],
                   TIDEMARK_SESSION="/nonexistent")
        with_it = subprocess.run(argv, timeout=60, check=False, env=env)
        self.assertEqual(with_it.returncode, 10 if recorded else 20, argv)

    def test_no_warning_of_memory_that_is_not_written_yet(self):
        self.write("label.c", "#include <stdlib.h>\n#include <tidemark/tidemark.h>\n"
                   "int main(void)\n{\n    double *x = malloc(80);\n"
                   "    tide_label(x, \"x\", 80);\n    free(x);\n}\n")
        for cc, _ in COMPILERS:
            for level in ("-O0", "-O1", "-O3"):
                self.build([cc, level, *STRICT, "-c", "label.c", "-o", "label.o"])

    def test_standards(self):
        self.write("calls.c", ALL_CALLS + MAIN)
        for cc, cxx in COMPILERS:
            for compiler, language, standard in (
                    (cc, "c", "c99"), (cc, "c", "c11"), (cc, "c", "gnu11"),
                    (cxx, "c++", "c++11"), (cxx, "c++", "c++20")):
                for optimize in ("-O0", "-O2"):
                    self.build([compiler, "-x", language, "-std=" + standard, optimize,
                                *STRICT, "-c", "calls.c", "-o", "calls.o"])

    def test_programs(self):
        self.write("calls.c", ALL_CALLS)
        self.write("main.c", MAIN)
        for cc, _ in COMPILERS:
            for flags in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"],
                          ["-fno-pie", "-no-pie", "-O0"], ["-fPIE", "-pie", "-flto"],
                          ["-fno-plt", "-Wl,-z,now"]):
                self.build([cc, "-O2", *flags, *STRICT, "calls.c", "main.c", "-o", "p"])
                self.check([self.path("p")])

    def test_static_programs(self):
        self.write("calls.c", ALL_CALLS)
        self.write("main.c", MAIN)
        for cc, _ in COMPILERS:
            for flags in (["-static"], ["-static-pie", "-fPIE"]):
                self.build([cc, "-O2", *flags, *STRICT, "calls.c", "main.c", "-o", "p"])
                self.check([self.path("p")], recorded=False)

    def test_libraries_and_plugins(self):
        self.write("calls.c", ALL_CALLS)
        self.write("main.c", MAIN)
        self.write("plugin_main.c", PLUGIN_MAIN)
        for cc, _ in COMPILERS:
            for hidden in ([], ["-fvisibility=default", "-Wl,-Bsymbolic"]):
                self.build([cc, "-O2", "-fPIC", "-shared", *hidden, *STRICT, "calls.c",
                            "-o", "libcalls.so"])
                for flags in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
                    self.build([cc, *flags, "main.c", "-L.", "-lcalls",
                                "-Wl,-rpath," + self.folder, "-o", "p"])
                    self.check([self.path("p")])
                    self.build([cc, *flags, "plugin_main.c", "-o", "q"])
                    self.check([self.path("q"), self.path("libcalls.so")])

    def test_classes(self):
        self.write("classes.cpp", CLASSES)
        for _, cxx in COMPILERS:
            for standard in ("c++11", "c++20"):
                self.build([cxx, "-std=" + standard, "-O1", *STRICT, "classes.cpp", "-o",
                            "p"])
                self.check([self.path("p")])

    def test_it_needs_no_library(self):
        self.write("calls.c", ALL_CALLS + MAIN)
        self.build(["gcc", "-O2", "-I", INCLUDE, "calls.c", "-o", "p"])
        needed = subprocess.run(["readelf", "-d", self.path("p")], capture_output=True,
                                text=True, timeout=60, check=True).stdout
        self.assertEqual(re.findall(r"NEEDED.*\[(.*)\]", needed), ["libc.so.6"])

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_instructions_of_a_call(self):
        """At most five, when not recorded: calls in a loop against an empty loop."""
        self.write("loop.c", r"""
#include <stdlib.h>
#include <tidemark/tidemark.h>
int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 0;
    for (long i = 0; i < rounds; i++) {
        __asm__ volatile("" ::: "memory");
#ifdef CALLS
        tide_region_begin("a");
        tide_label(argv, "x", 8);
        tide_loop_begin("b");
        tide_iteration(i);
        tide_loop_end("b");
        tide_event(7);
        tide_phase_begin("c");
        tide_pool_alloc("d", argv, 8, "e");
        tide_snapshot("f");
        tide_set_int("g", i);
        tide_set_double("g", 0.5);
        tide_begin_string("g", "h");
        tide_end("g");
        tide_region_end("a");
#endif
    }
    return 0;
}
""")
        for cc, _ in COMPILERS:
            counts = []
            for define in ("-DCALLS", "-DNO_CALLS"):
                self.build([cc, "-O2", "-I", INCLUDE, define, "loop.c", "-o", "p"])
                totals = [self.instructions(rounds) for rounds in (1000, 11000)]
                counts.append((totals[1] - totals[0]) / 10000)
            per_call = (counts[0] - counts[1]) / 14
            self.assertLessEqual(per_call, 5, cc)
            self.assertGreaterEqual(per_call, 1, "the calls were not there")

    def instructions(self, rounds):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
             self.path("p"), str(rounds)], capture_output=True, text=True, timeout=120,
            check=True)
        return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


if __name__ == "__main__":
    tide.main()
