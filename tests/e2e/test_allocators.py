"""tests/e2e/test_allocators.py - what allocators offer beside malloc is recorded, too.

The programs say what they did; where one is missing, so is its allocator's library.
"""
import os
import unittest

import tide
import truth


def has(allocator):
    return os.path.exists(tide.program(f"own_{allocator}"))


class Own(truth.Case):
    def counts(self, allocator, **more):
        return self.agrees(self.both([tide.program(f"own_{allocator}")], **more))

    @unittest.skipUnless(has("jemalloc"), "libjemalloc-dev is not installed")
    def test_jemalloc(self):
        self.counts("jemalloc")

    @unittest.skipUnless(has("tcmalloc"), "libgoogle-perftools-dev is not installed")
    def test_tcmalloc(self):
        self.counts("tcmalloc")

    @unittest.skipUnless(has("tcmalloc"), "libgoogle-perftools-dev is not installed")
    def test_exceptions_pass(self):
        run = self.both([tide.program("throwing_tcmalloc")])
        self.assertEqual((run.status, run.stdout), (7, "10\n"))
        self.whole(run.report())

    @unittest.skipUnless(has("mimalloc"), "libmimalloc-dev is not installed")
    def test_mimalloc(self):
        self.counts("mimalloc")

    @unittest.skipUnless(has("jemalloc"), "libjemalloc-dev is not installed")
    def test_arenas_that_may_go_as_a_whole_are_said(self):
        run = self.both([tide.program("own_jemalloc"), "arena"])
        self.assertEqual(run.status, 7)
        [trouble] = run.report()["honesty"]["troubles"]
        self.assertIn("MALLOCX_ARENA", trouble)

    def test_without_the_allocator_the_names_work(self):
        run = self.both([tide.program("asks_for_names")])
        self.assertEqual(run.status, 0)

    @unittest.skipUnless(has("mimalloc"), "libmimalloc-dev is not installed")
    def test_an_allocator_that_one_library_brings_along(self):
        run = self.both([tide.program("asks_for_names"),
                         tide.program("lib_mimalloc_user.so")])
        self.assertEqual(run.status, 0)
        self.assertEqual(self.rows(run, "--total")["use"]["calls"], 100)
        self.whole(run.report())

    def test_glibcs_own_checks_stand_behind_the_recorder(self):
        # libc_malloc_debug.so has malloc in an old version only.  Its blocks end at the
        # byte that was asked for.
        run = self.both([tide.program("uses_malloc_check")],
                        env=dict(os.environ, LD_PRELOAD="libc_malloc_debug.so.0",
                                 MALLOC_CHECK_="3"))
        self.assertEqual((run.status, run.stdout), (0, "21\n"))
        self.whole(run.report())


if __name__ == "__main__":
    tide.main()
