"""tests/e2e/test_places.py - the recorder maps nothing where the program may place something.

Each program runs plain and recorded, in surroundings that lay memory out in different ways.
What it finds must be the same.
"""
import os
import resource
import subprocess
import unittest

import tide
import truth

EVENTS = ("thread", "threads", "replace", "fork", "hot", "told")
LAYOUTS = {
    "usual": [],
    "not random": ["setarch", "-R"],
    "from below": ["sh", "-c", 'ulimit -s unlimited && exec "$@"', "sh"],
    "little": ["sh", "-c", 'ulimit -v 400000 && exec "$@"', "sh"],
    # Counts what is private and writable, touched or not, as strict overcommit does.
    "little data": ["sh", "-c", 'ulimit -d 70000 && exec "$@"', "sh"],
}


def cases():
    for program in map(tide.program, ("by_hand", "by_hand_more")):
        names = subprocess.run([program], capture_output=True, text=True, check=True)
        for name in names.stdout.split():
            yield program, name


class Places(truth.Case):
    """Everything is free that was free before."""

    def same(self, *argv, again=1, env=None, before=()):
        for _ in range(again):
            run = self.both([*before, *argv], env=env)
            self.assertEqual(run.status, 7, run.stdout)
            self.assertEqual(run.report()["honesty"]["dropped"], 0)

    def test_holes_stay_as_they_are(self):
        for event in EVENTS:
            with self.subTest(event=event):
                self.same(tide.program("holes"), event)

    def test_holes_in_other_layouts(self):
        for name, before in LAYOUTS.items():
            for event in ("thread", "fork", "hot"):
                with self.subTest(layout=name, event=event):
                    self.same(tide.program("holes"), event, before=before)

    def test_holes_beside_a_table_of_live_blocks(self):
        env = dict(os.environ, TIDEMARK_LIVE_TABLE="1")
        for event in ("thread", "hot", "told"):
            with self.subTest(event=event):
                self.same(tide.program("holes"), event, env=env)

    def test_what_is_placed_by_hand_lies_there(self):
        for case in cases():
            with self.subTest(case=case):
                self.same(*case)

    def test_who_reads_all_that_is_mapped_lives(self):
        for threads in ("0", "60"):
            with self.subTest(threads=threads):
                self.same(tide.program("reads_all"), threads)

    def test_a_chain_of_forks_holds_no_more_at_its_end(self):
        self.same(tide.program("holes"), "chain", "200")


if __name__ == "__main__":
    unittest.main()
