"""tests/e2e/test_find.py - tide_find(): which block holds an address, asked in the program.

tests/programs/finds.c knows every answer by itself.
"""
import json
import os
import subprocess
import unittest

import tide

PARTS = {"many", "freed", "moved", "elements", "inside", "named late", "mapped", "remapped",
         "threads", "handler", "fork", "callback"}


class Find(tide.Case):
    def right(self, said):
        for part in PARTS:
            asked, wrong = said[part]
            self.assertGreater(asked, 0, part)
            self.assertEqual(wrong, 0, part)
        self.assertGreater(said["many"][0], 300000)

    def test_every_answer_is_right(self):
        done = tide.Recorded([tide.program("finds")], options=["--live-table"])
        self.assertEqual(done.status, 0)
        said = done.own_count()
        self.right(said)
        # The table is the recorder's memory: a record of 32 bytes for each block at least.
        self.assertGreater(said["recorder_bytes"], 300000 * 32)
        result = done.report("--total")
        self.whole(result)
        self.assertGreater(result["honesty"]["recorder_bytes"], 300000 * 32)

    def test_a_preload_alone_and_no_trace(self):
        env = dict(os.environ, LD_PRELOAD=os.environ["TIDEMARK_LIBRARY"],
                   TIDEMARK_LIVE_TABLE="1", TIDEMARK_MONITOR="simple")
        done = subprocess.run([tide.program("finds")], env=env, capture_output=True,
                              text=True, timeout=120, check=True)
        self.right(json.loads(done.stdout))

    def test_without_the_table_it_says_so(self):
        plain = tide.Recorded([tide.program("finds")])
        self.assertEqual(plain.own_count()["answer"], 5)  # TIDE_UNAVAILABLE
        for value in "", "0", "off":
            env = dict(os.environ, TIDEMARK_LIVE_TABLE=value)
            said = tide.Recorded([tide.program("finds")], env=env).own_count()
            self.assertEqual(said["answer"], 5, value)
        alone = subprocess.run([tide.program("finds")], capture_output=True, text=True,
                               timeout=120, check=True)
        self.assertEqual(json.loads(alone.stdout)["answer"], 1)  # TIDE_ABSENT

    def test_a_deleted_block_is_another_threads_at_once(self):
        """Of operators without a free inside; the table may not take it from its owner."""
        done = tide.Recorded([tide.program("hands_over")], options=["--live-table"])
        self.assertEqual((done.stdout, done.status), ("[1, 0, 40]\n2\n", 0))

    def test_the_trace_is_the_same(self):
        """The longer way of the hooks records what the shorter one does."""
        totals = [tide.Recorded([tide.program("ground_truth")], options=options)
                  .report("--total")["summary"]
                  for options in ([], ["--live-table"])]
        for key in ("alloc_calls", "free_calls", "realloc_calls", "allocated_bytes",
                    "peak_bytes", "live_bytes", "temporary_calls"):
            self.assertEqual(totals[0][key], totals[1][key], key)


if __name__ == "__main__":
    unittest.main()
