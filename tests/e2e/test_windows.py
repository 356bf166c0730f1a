"""tests/e2e/test_windows.py - counting windows and monitors: the program counts as well.

The programs compare what they are told with what they did, and print what differs.
"""
import json
import os
import subprocess
import unittest

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


def preloaded(*libraries):
    """LD_PRELOAD alone, and nobody to record: windows and monitors work all the same."""
    return dict(os.environ, LD_PRELOAD=":".join((LIBRARY, *libraries)),
                TIDEMARK_SESSION="/nonexistent")


def run(argv, env=None):
    return subprocess.run(argv, capture_output=True, text=True, env=env, timeout=120,
                          check=False)


class Windows(tide.Case):
    def check(self, name, *arguments):
        recorded = tide.Recorded([tide.program(name), *arguments])
        self.assertEqual((recorded.stdout, recorded.status), ("ok\n", 0))
        alone = run([tide.program(name), *arguments], preloaded())
        self.assertEqual((alone.stdout, alone.returncode), ("ok\n", 0), alone.stderr)
        return recorded

    def test_windows_count_what_the_program_counts(self):
        self.check("counted_windows")

    def test_monitors_are_told_of_everything_once(self):
        self.check("callbacks")

    def test_what_is_allocated_in_a_pause_appears_nowhere(self):
        """Nor does what realloc makes in it, or mmap."""
        recorded = tide.Recorded([tide.program("paused")])
        self.assertEqual(recorded.status, 0)
        report = recorded.report()
        self.whole(report)
        spaces = {space["space"]: [space[key] for key in (
            "peak_bytes", "allocated_bytes", "alloc_calls", "free_calls", "failed_calls")]
                  for space in report["spaces"]}
        self.assertEqual(spaces["heap"], [100, 100, 1, 1, 0])
        self.assertEqual(spaces["mmap"][:3], [0, 0, 0])

    def test_a_child_waits_for_no_thread_of_its_parent(self):
        self.check("fork_amid_callback")
        self.check("fork_amid_callback", "bare")

    def test_new_and_delete_count_once(self):
        """Also when the heap is not recorded, or blocks are not malloc's: of these only
        what was asked for is known."""
        program = tide.program("counted_new")
        requested = sum(range(100, 200))
        for options in ((), ("--spaces", "mmap"), ("--free-stacks",)):
            *counted, usable = tide.Recorded([program], options).own_count()
            self.assertEqual(counted, [100, requested, usable, 100, usable], options)
        *counted, usable = json.loads(run([program], preloaded()).stdout)
        self.assertEqual(counted, [100, requested, usable, 100, usable])
        pooled = run([program, "pooled"], preloaded(tide.program("lib_pooled_new.so")))
        self.assertEqual(json.loads(pooled.stdout)[:5],
                         [100, requested, requested, 100, sum(range(100, 200, 2))])

    def test_a_preloaded_library_of_the_users_own(self):
        """Its constructor comes before main; its count is that of a trace."""
        own = tide.program("lib_own_monitor.so")
        env = dict(os.environ, LD_PRELOAD=own)
        recorded = tide.Recorded([tide.program("count_to"), "1000"], env=env)
        # `tidemark run` has the library too, but no recorder.
        [told] = [line for line in recorded.done.stderr.splitlines()
                  if line.startswith("answer 0")]
        summary = recorded.report()["summary"]
        self.assertEqual(told, "answer 0 allocs 1000 bytes {allocated_bytes} "
                               "frees {free_calls}".format(**summary))
        alone = run([tide.program("count_to"), "1000"], preloaded(own))
        self.assertEqual(alone.stderr, told + "\n")

    def test_without_the_recorder_there_is_an_error_and_no_crash(self):
        absent = run([tide.program("callbacks")])
        self.assertEqual((absent.stdout, absent.returncode), ("absent\n", 0))
        own = run([tide.program("count_to"), "10"],
                  dict(os.environ, LD_PRELOAD=tide.program("lib_own_monitor.so")))
        self.assertIn("answer 1 allocs 0", own.stderr)


class Jumps(tide.TidyCase):
    def test_a_handler_that_leaves_a_callback_for_good(self):
        """Others are told of what comes behind it, and nobody waits for it."""
        run = tide.Recorded([tide.program("jumps_from_listener")])
        self.assertEqual((run.status, run.stdout), (0, "heard 100, at once\n"))


if __name__ == "__main__":
    tide.main()
