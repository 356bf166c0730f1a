"""tests/e2e/test_bad_frees.py - a block freed twice, and frees of what is no block."""
import os
import subprocess

import tide

KINDS = ("double_free", "wild_free")


def bad(result):
    return [finding for finding in result["findings"] if finding["kind"] in KINDS]


def line_of(program, text):
    """The number of the first line of a program's source that holds TEXT."""
    source = os.path.join(tide.SOURCE, "tests", "programs", program + ".c")
    with open(source, encoding="utf-8") as file:
        return 1 + [text in line for line in file].index(True)


class Refused(tide.Case):
    """glibc ends the program: the free that it refused is in the trace."""

    def of(self, how, *options):
        run = tide.Recorded([tide.program("odd_frees"), how], options)
        result = run.report()
        self.assertEqual(result["honesty"]["unmatched_frees"], 1, how)
        found = bad(result)
        self.assertEqual(len(found), 1, how)
        self.assertEqual(found[0], result["findings"][0])  # nothing is worse
        return found[0]

    def test_a_block_is_freed_twice(self):
        for how, size in (("twice", 500), ("large", 3000)):
            found = self.of(how)
            self.assertEqual((found["kind"], found["bytes"], found["calls"]),
                             ("double_free", size, 1), how)
            self.assertIn("made by make (odd_frees.c:", found["text"])
            self.assertIn("--free-stacks", found["text"])

    def test_with_stacks_both_frees_are_named(self):
        first = line_of("odd_frees", "free(block);")
        found = self.of("twice", "--free-stacks")
        self.assertRegex(found["text"],
                         rf"freed at [0-9.]+ s by main \(odd_frees\.c:{first}\) and again "
                         rf"at [0-9.]+ s by main \(odd_frees\.c:{first + 1}\)")
        self.assertEqual([frame["function"] for frame in found["stack"]][:1], ["main"])

    def test_an_address_inside_a_block(self):
        found = self.of("inside")
        self.assertEqual((found["kind"], found["bytes"]), ("wild_free", 500))
        self.assertIn("8 bytes into a live block of 500 bytes made by make", found["text"])

    def test_an_address_of_no_block(self):
        for how in ("stack", "static"):
            found = self.of(how, "--free-stacks")
            self.assertEqual((found["kind"], found["bytes"]), ("wild_free", 0), how)
            self.assertIn("which no recorded call had returned", found["text"])
            self.assertIn("by main (odd_frees.c:", found["text"])


class Tolerated(tide.Case):
    def test_all_that_are_alike_are_one_finding(self):
        env = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        run = tide.Recorded([tide.program("frees_twice"), "5"], env=env)
        self.assertEqual(run.status, 7)
        result = run.report()
        self.assertEqual(result["honesty"]["unmatched_frees"], 5)
        self.assertEqual([(found["kind"], found["calls"], found["bytes"])
                          for found in bad(result)], [("double_free", 5, 40)])
        self.assertIn("There are 5 such frees.", bad(result)[0]["text"])

    def test_the_line_of_trust_says_what_the_finding_says(self):
        env = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        run = tide.Recorded([tide.program("frees_twice"), "5"], env=env)
        honesty = run.report()["honesty"]
        self.assertEqual((honesty["unmatched_frees"], honesty["double_frees"]), (5, 5))
        done = subprocess.run([tide.TIDEMARK, "report", run.trace], capture_output=True,
                              text=True, timeout=120, check=True)
        text = " ".join(done.stdout.split())
        self.assertIn(" recorded; 5 double frees", text)
        self.assertNotIn("not recorded", text)


class Innocent(tide.Case):
    def test_who_frees_what_he_made_has_no_such_finding(self):
        for name in ("ground_truth", "crossed", "fork_tree", "paused"):
            result = tide.Recorded([tide.program(name)]).report()
            self.assertEqual(bad(result), [], name)


if __name__ == "__main__":
    tide.main()
