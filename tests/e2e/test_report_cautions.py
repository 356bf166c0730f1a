"""tests/e2e/test_report_cautions.py - what weakens a report, and which space leads it."""
import re
import subprocess

import tide

MIB = 1 << 20
HIDDEN = 48 * MIB   # what hides_memory touches


def hides(how, *options):
    return tide.Recorded([tide.program("hides_memory"), *how.split()], options)


def text_of(run, *options):
    done = subprocess.run([tide.TIDEMARK, "report", run.trace, *options],
                          capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def kinds(result):
    return [caution["kind"] for caution in result["cautions"]]


class Hidden(tide.Case):
    """48 MiB that the system counts, wherever they come from."""

    def alarms(self, text):
        """What is said between the headline and the first view."""
        return [line for line in text.partition("\nAt the peak")[0].splitlines()
                if line.startswith("!")]

    def test_shared_memory_is_shown_when_there_is_nothing_else(self):
        run = hides("shared")
        text = text_of(run)
        self.assertRegex(text, r"(?m)^  shared +48\.0 MiB ")
        self.assertNotIn("No allocation was recorded", text)
        self.assertRegex(text, r"(?m)^Trust  .*; \d\d % of RSS explained")
        self.assertRegex(text_of(run, "-v"),
                         r"Heap, mmap and shared memory explain \d\d % of the RSS")
        result = run.report()
        self.assertEqual(result["spaces"][1]["shared_peak_bytes"], HIDDEN)
        self.assertEqual(kinds(result), [])

    def test_shared_memory_counts_beside_a_heap_that_was_freed(self):
        self.assertGreater(hides("shared heap").report()["honesty"]["rss_explained"], 0.8)

    def test_memory_that_no_hook_saw_is_said_under_the_headline(self):
        for how in ("sbrk", "static"):
            run = hides(how)
            result = run.report()
            self.assertEqual(kinds(result), ["hidden_allocator"], how)
            caution = result["cautions"][0]
            self.assertGreaterEqual(caution["bytes"], HIDDEN)
            self.assertEqual(caution["pid"], tide.info(run.trace)["processes"][0]["pid"])
            alarms = self.alarms(text_of(run))
            self.assertEqual(len(alarms), 1)
            self.assertIn("hides_memory (pid ", alarms[0])

    def test_an_allocator_over_mmap_may_be_hidden(self):
        run = hides("mapped")
        self.assertEqual(kinds(run.report()), ["hidden_allocator"])
        self.assertIn("--space mmap", text_of(run))

    def test_what_was_recorded_needs_no_caution(self):
        run = hides("heap")
        self.assertEqual(kinds(run.report()), [])
        self.assertEqual(self.alarms(text_of(run)), [])

    def test_nothing_is_concluded_of_what_was_not_asked_for(self):
        self.assertEqual(kinds(hides("mapped", "--spaces", "heap").report()), [])


class Leading(tide.Case):
    def test_the_space_that_holds_most_comes_first(self):
        run = hides("mapped")
        text = text_of(run)
        self.assertRegex(" ".join(text.split()),
                         r" peak 48\.0 MiB in mmap at [0-9.]+ s; heap 11\.7 KiB in 12 blocks at ")
        views = re.findall(r"(?m)^(?:At the peak|Live at the end).*", text)
        self.assertEqual(len(views), 4, views)
        self.assertTrue(views[0].endswith("(mmap)") and views[1].endswith("(mmap)"), views)
        self.assertIn("map_piece", text.partition("Live at the end")[0])
        self.assertIn("peak of mapped memory", run.report()["findings"][0]["text"])

    def test_the_heap_leads_where_it_holds_most_or_is_asked_for(self):
        text = text_of(hides("heap"))
        self.assertRegex(text, r"(?m)^  peak +48\.0 MiB  in \d+ blocks at ")
        self.assertNotIn("(mmap)", text)
        self.assertNotIn("(mmap)", text_of(hides("mapped"), "--space", "heap"))

    def test_what_was_mapped_and_not_touched_does_not_lead(self):
        """As OpenBLAS does: 128 MiB of addresses, of which nothing is used."""
        run = tide.Recorded(["/usr/bin/python3", "-S", "-c",
                             "import mmap; m = mmap.mmap(-1, 128 << 20, mmap.MAP_PRIVATE)"])
        text = " ".join(text_of(run).partition("\nChurn")[0].split())
        self.assertRegex(text, r" peak \d\S+ \wiB in \d")
        self.assertRegex(text, r" mmap 1[23]\d MiB mapped at [0-9.]+ s, at most \d\S+ MiB of it "
                               r"touched; ")
        self.assertIn("report --space mmap", text)
        self.assertNotIn("(mmap)", text)

    def test_what_was_touched_leads_beside_some_that_was_not(self):
        run = tide.Recorded(["/usr/bin/python3", "-S", "-c",
                             "import mmap, time; n = 200 << 20\n"
                             "m = mmap.mmap(-1, n, mmap.MAP_PRIVATE)\n"
                             "for at in range(0, n, 4096): m[at] = 1\n"
                             "spare = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE)\n"
                             "time.sleep(0.3)"])
        text = " ".join(text_of(run).split())
        self.assertRegex(text, r" peak 2[67]\d MiB in mmap at [0-9.]+ s, at most 2\d\d MiB of it "
                               r"touched; heap ")


class Dropped(tide.Case):
    def test_why_by_whom_and_what_it_means(self):
        run = tide.Recorded([tide.program("sandboxed"), "strict", "5000"])
        result = run.report()
        pid = tide.info(run.trace)["processes"][0]["pid"]
        dropped = result["honesty"]["dropped"]
        self.assertGreater(dropped, 0)
        drops = result["honesty"]["drops"]
        self.assertEqual([(drop["pid"], drop["why"], drop["events"]) for drop in drops],
                         [(pid, "shut_off", dropped)])
        self.assertTrue(drops[0]["program"].endswith("/sandboxed"))
        self.assertEqual(kinds(result), ["recording_stopped", "dropped_events"])
        text = " ".join(text_of(run).split())
        self.assertIn(f"{dropped:,} events of sandboxed (pid {pid}) were dropped because "
                      "the program had shut itself off from the system; what they "
                      "allocated is missing, and what they freed counts as live", text)


class NotRecorded(tide.Case):
    def test_a_program_with_its_own_malloc_is_said_under_the_headline(self):
        run = tide.Recorded([tide.program("own_malloc")])
        self.assertEqual(kinds(run.report())[:1], ["heap_not_recorded"])
        text = text_of(run)
        self.assertIn("defines malloc itself", text.partition("\nAt the peak")[0])

    def test_what_an_answer_does_without_is_no_caution(self):
        run = tide.Recorded([tide.program("late_names")])
        self.assertEqual(len(run.report()["honesty"]["troubles"]), 1)
        self.assertEqual(kinds(run.report()), [])


class Resident(tide.Case):
    def test_one_number_says_how_much_was_resident(self):
        """Of a short program nobody knows more than that it was less than tidemark has."""
        for words in (["planted_oversized", "1"], ["odd_huge"]):
            run = tide.Recorded([tide.program(words[0]), *words[1:]])
            text = " ".join(text_of(run).split())
            finding = re.search(r"process never had more than ([0-9.]+) MiB in memory", text)
            memory = re.search(r" memory ([0-9.]+) MiB resident at most \(RSS\)", text)
            self.assertTrue(finding and memory, text)
            self.assertAlmostEqual(float(finding[1]), float(memory[1]), delta=0.051)

    def test_no_part_is_above_the_whole(self):
        """48 MiB in mmap, a part of which is touched: more was held than was resident."""
        run = tide.Recorded(["/usr/bin/python3", "-c",
                             "import mmap; m = mmap.mmap(-1, 300 << 20)"])
        honesty = run.report()["honesty"]
        self.assertLessEqual(honesty["rss_explained"], 1)
        text = " ".join(text_of(run, "-v").split())
        if honesty["beyond_rss_bytes"]:
            self.assertRegex(text, r"held [0-9.]+ MiB more than the RSS peak: as much of "
                                   r"it was not in memory, never touched or swapped out")
        self.assertNotRegex(text, r"explain (?:\d{4,}|[2-9]\d\d|1[1-9]\d|10[1-9]) %")


if __name__ == "__main__":
    tide.main()
