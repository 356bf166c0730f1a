"""tests/e2e/test_agreement.py - verbs that answer the same question give one answer."""
import json
import shutil
import subprocess
import tempfile

import tide

FOLDER = tempfile.mkdtemp(prefix="tide-agreement-")


def tearDownModule():
    shutil.rmtree(FOLDER, ignore_errors=True)


def record(name, *words):
    """A run of a program of tests/programs."""
    return tide.Recorded([tide.program(name), *words],
                         folder=tempfile.mkdtemp(dir=FOLDER))


def run(*words):
    done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def blocks(trace):
    """All blocks that there ever were."""
    return [json.loads(line)
            for line in run("export", "--to", "ndjson", "--all", trace).splitlines()]


class Labels(tide.Case):
    """What the report counts under a label is what single blocks are called."""

    @classmethod
    def setUpClass(cls):
        cls.made = record("labels")

    def test_blocks_have_the_labels_of_the_report(self):
        for space in ("heap", "mmap"):
            counted = {}
            for block in blocks(self.made.trace):
                if block["space"] == space and block["live_bytes"]:
                    counted[block["label"]] = (counted.get(block["label"], 0) +
                                               block["live_bytes"])
            rows = self.made.report("--leaks", "--labels", "--space", space)["rows"]
            self.assertEqual({row["label"]: row["bytes"] for row in rows}, counted)
            self.assertTrue(any(counted), counted)

    def test_resolve_says_them(self):
        for name, address in self.made.own_count().items():
            answer, = json.loads(
                run("resolve", "--json", self.made.trace, hex(address)))["answers"]
            self.assertEqual([block["label"] for block in answer["blocks"]],
                             [None if name == "none" else name])


class Flows(tide.Case):
    """Who freed whose blocks: of the blocks that the table is of, or not at all."""

    TITLE = "Freed by another thread"

    @classmethod
    def setUpClass(cls):
        cls.made = record("cross_frees", "queue", "500")

    def threads(self, *options):
        return run("report", self.made.trace, "--threads", "--total", *options)

    def test_without_filters(self):
        self.assertIn(self.TITLE, self.threads())
        self.assertIn(self.TITLE, self.threads("--lifetime", "0..100"))

    def test_what_was_never_freed_was_freed_by_nobody(self):
        self.assertNotIn(self.TITLE, self.threads("--lifetime", "100.."))

    def test_not_of_other_blocks_than_the_table(self):
        for option in ("--function=main", "--thread=nobody", "--space=mmap"):
            self.assertNotIn(self.TITLE, self.threads(option))


class Refused(tide.Case):
    """What cannot be done is not done without a word."""

    def test_histograms_by_names(self):
        made = record("marks")
        for shape in ("--sizes", "--lifetimes"):
            for option in ("--function=main", "--module=marks", "--file=marks.c",
                           "--region=solve", "--label=x", "--thread=marks",
                           "--process=marks", "--hide=main"):
                done = subprocess.run(
                    [tide.TIDEMARK, "report", shape, option, made.trace],
                    capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("by names", done.stderr)


if __name__ == "__main__":
    tide.main()
