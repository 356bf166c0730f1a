"""tests/e2e/test_alloc_monitor.py - programs written for CMS's AllocMonitor, as they are."""
import glob
import json
import os
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


if __name__ == "__main__":
    tide.main()
