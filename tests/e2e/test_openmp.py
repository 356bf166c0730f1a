"""tests/e2e/test_openmp.py - OpenMP's threads work in the region that called them.

libgomp (gcc) and libomp (clang) keep their threads from one section to the next.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

SOURCE = os.path.join(tide.SOURCE, "tests", "programs", "parallel.c")


class OpenMP(tide.Case):
    def build(self, compiler, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "parallel")
        done = subprocess.run(
            [compiler, "-fopenmp", "-O1", "-g", "-I", os.path.join(tide.SOURCE, "include"),
             SOURCE, "-o", path, *options], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            self.skipTest(f"{compiler} -fopenmp: {done.stderr[:200]}")
        return path

    def sums(self, run):
        rows = run.report("--regions", "--total", "--function", "make")["rows"]
        return {row["region"] or "": row["bytes"] for row in rows if row["bytes"]}

    def check(self, compiler):
        run = tide.Recorded([self.build(compiler)])
        self.assertEqual(run.status, 0, run.done.stderr)
        self.assertEqual(self.sums(run), run.own_count())
        report = run.report("--regions")
        self.whole(report)
        self.assertEqual(report["honesty"]["region_mismatches"], 0)
        visits = {row["region"]: row["visits"] for row in report["visits"]}
        self.assertEqual((visits["first"], visits["second"], visits["second/part"]),
                         (3, 3, 300))

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_libgomp(self):
        self.check("gcc")

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_libomp(self):
        self.check("clang")

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_the_users_own_tool_comes_first(self):
        """One that is linked, before libomp or after it, or preloaded."""
        tool, said = tide.program("lib_omp_tool.so"), "the user's tool began\n"
        link = ("-Wl,--no-as-needed", f"-Wl,-rpath,{tide.PROGRAMS}")
        for options in ((tool,), ("-lomp", tool)):
            run = tide.Recorded([self.build("clang", *link, *options)])
            self.assertEqual((run.status, run.done.stderr), (0, said), options)
        run = tide.Recorded([self.build("clang")], env=dict(os.environ, LD_PRELOAD=tool))
        self.assertEqual((run.status, run.done.stderr), (0, said))

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_the_tool_of_a_library_that_brings_libomp_along(self):
        """Both are in the scope of that library alone."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = (os.path.join(folder, name) for name in ("use.c", "use.so"))
            with open(source, "w", encoding="ascii") as file:
                file.write("int use(int times)\n{\n    int sum = 0;\n"
                           "#pragma omp parallel for reduction(+ : sum)\n"
                           "    for (int i = 0; i < times; i++)\n        sum += 1;\n"
                           "    return sum != times;\n}\n")
            built = subprocess.run(
                ["clang", "-fopenmp", "-shared", "-fPIC", source, "-o", library,
                 "-Wl,--no-as-needed", f"-Wl,-rpath,{tide.PROGRAMS}",
                 tide.program("lib_omp_tool.so")], capture_output=True, check=False)
            if built.returncode != 0:
                self.skipTest("clang -fopenmp does not work here")
            run = tide.Recorded([tide.program("asks_for_names"), library])
            self.assertEqual((run.status, run.done.stderr), (0, "the user's tool began\n"))

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_it_can_be_switched_off(self):
        run = tide.Recorded([self.build("gcc")],
                            env=dict(os.environ, TIDEMARK_INHERIT="off"))
        sums, own = self.sums(run), run.own_count()
        self.assertEqual(sum(sums.values()), sum(own.values()))
        self.assertEqual(sums["first"], 3 * 1000)  # who opened the section

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_stacks_are_as_without_us(self):
        run = tide.Recorded([self.build("gcc")])
        for row in run.report("--total", "--stacks", "--function", "make")["rows"]:
            for frame in row["stack"]:
                self.assertNotIn("libtidemark", frame["module"] or "")

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_each_library_keeps_its_own_libgomp(self):
        """As packages of Python bring them along, under other names."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        def build(name, text, *options):
            path = os.path.join(folder.name, name)
            subprocess.run(["gcc", "-x", "c", "-", "-o", path, "-Wl,-rpath,$ORIGIN", *options],
                           input=text, text=True, cwd=folder.name, timeout=120, check=True)
            return path
        for name in ("one", "two"):
            build(f"libgomp-{name}.so", BUNDLED.format(name=name), "-shared", "-fPIC")
            build(f"lib{name}.so", BUNDLER.format(name=name), "-shared", "-fPIC", "-L.",
                  f"-lgomp-{name}")
        run = tide.Recorded([build("opens", OPENS, "-ldl")])
        self.assertEqual((run.status, run.stdout), (0, "one 3\ntwo 3\n"), run.done.stderr)


BUNDLED = """
int sections_of_{name};
void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags)
{{
    (void)threads, (void)flags;
    sections_of_{name}++;
    work(data);
}}
"""
BUNDLER = """
extern int sections_of_{name};
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
static void work(void *done) {{ ++*(int *)done; }}
int sections(void)
{{
    int done = 0;
    for (int i = 0; i < 3; i++)
        GOMP_parallel(work, &done, 0, 0);
    return done == 3 ? sections_of_{name} : -1;
}}
"""
OPENS = """
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    static const char *const names[] = {"one", "two"};
    for (int i = 0; i < 2; i++) {
        char path[32];
        snprintf(path, sizeof(path), "lib%s.so", names[i]);
        int (*sections)(void) = (int (*)(void))dlsym(dlopen(path, RTLD_NOW), "sections");
        printf("%s %d\\n", names[i], sections());
    }
}
"""

if __name__ == "__main__":
    tide.main()
