"""tests/e2e/test_resolve.py - blocks by address: the program knows where they were."""
import csv
import io
import json
import os
import subprocess

import tide

RUN = tide.Recorded([tide.program("addresses")], folder=tide.FOLDER)
TURNS = tide.Recorded([tide.program("ground_truth")])


def resolve(*words, cwd=None):
    return subprocess.run([tide.TIDEMARK, "resolve", *words], capture_output=True,
                          text=True, timeout=120, check=False, cwd=cwd)


class Resolve(tide.Case):
    def setUp(self):
        self.at = RUN.own_count()

    def ask(self, *words):
        done = resolve("--json", RUN.trace, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["schema"], "tidemark.resolve/1")
        return found["answers"]

    def one(self, address, when=""):
        """The block at ADDRESS, which must be the only one."""
        answer, = self.ask(hex(address) + when)
        block, = answer["blocks"]
        self.assertEqual(answer["state"], block["state"])
        self.assertEqual(block["offset"], address - int(block["address"], 16))
        self.assertEqual(block["pid"], self.at["pid"])
        self.assertEqual(block["made_by"]["tid"], self.at["pid"])
        return block

    @staticmethod
    def functions(block):
        return [call["function"] for call in block["stack"]]

    def test_a_live_block(self):
        for offset in (0, 1, 99):
            block = self.one(self.at["live"] + offset)
            self.assertEqual(
                (block["state"], block["size"], block["label"], block["space"],
                 block["kind"], block["past_end"], block["death_s"], block["freed_by"]),
                ("live", 100, "answer", "heap", "malloc", False, None, None))
            self.assertEqual(self.functions(block), ["make_live", "main"])

    def test_an_element_of_an_array(self):
        def facts(address):
            block = self.one(address)
            return (block["label"], block["element_bytes"], block["extents"],
                    block["index"])
        self.assertEqual(facts(self.at["grid"]), ("grid", 8, [30, 20], [0, 0]))
        for byte in (0, 7):
            self.assertEqual(facts(self.at["grid_7_13"] + byte),
                             ("grid", 8, [30, 20], [7, 13]))
        self.assertEqual(facts(self.at["grid"] + 8 * 599), ("grid", 8, [30, 20], [29, 19]))
        self.assertEqual(facts(self.at["grid"] + 8 * 600), ("grid", 8, [30, 20], None))
        self.assertEqual(facts(self.at["live"]), ("answer", None, None, None))
        done = resolve(RUN.trace, hex(self.at["grid_7_13"] + 1))
        self.assertIn("  label   grid: element [7][13] of [30][20], 8 bytes each\n",
                      done.stdout)

    def test_what_the_allocator_gave_too_much(self):
        block = self.one(self.at["live"] + 100)
        self.assertEqual((block["state"], block["past_end"]), ("live", True))
        self.assertGreater(block["usable"], 100)

    def test_beside_a_block(self):
        usable = self.one(self.at["live"])["usable"]
        answer, = self.ask(hex(self.at["live"] + usable))
        self.assertEqual((answer["state"], answer["blocks"]), ("none", []))
        self.assertEqual((answer["before"]["label"], answer["before"]["offset"],
                          answer["before"]["past_end"]), ("answer", usable, True))

    def test_a_block_that_another_thread_freed(self):
        block = self.one(self.at["freed"] + 7)
        self.assertEqual((block["state"], block["size"], block["label"],
                          block["freed_by"]["name"]), ("dead", 200, None, "gull"))
        self.assertNotEqual(block["freed_by"]["tid"], block["made_by"]["tid"])
        self.assertGreaterEqual(block["death_s"], block["birth_s"])
        self.assertEqual(self.functions(block), ["make_for_other", "main"])

    def test_a_block_that_moved(self):
        block = self.one(self.at["small"])
        self.assertEqual((block["state"], block["size"], block["moved_to"]),
                         ("dead", 300, hex(self.at["large"])))
        block = self.one(self.at["large"] + 999999)
        self.assertEqual((block["state"], block["size"], block["kind"],
                          block["moved_to"]), ("live", 1000000, "realloc", None))

    def test_two_blocks_at_one_address(self):
        self.assertEqual(self.at["first"], self.at["second"])
        for when, state, function in (("@first", "live", "make_first"),
                                      ("@between", "dead", "make_first"),
                                      ("@second", "live", "make_second"),
                                      ("", "live", "make_second"),
                                      ("@end", "live", "make_second")):
            with self.subTest(when=when):
                block = self.one(self.at["first"] + 10, when)
                self.assertEqual((block["state"], self.functions(block)[0]),
                                 (state, function))

    def test_before_anything_was_there(self):
        answer, = self.ask(hex(self.at["live"]) + "@0s")
        self.assertEqual((answer["state"], answer["at_s"]), ("none", 0))

    def test_a_block_is_there_at_the_time_of_its_birth(self):
        """As tables give it: rounded to the nanosecond."""
        table = subprocess.run([tide.TIDEMARK, "export", "--to", "csv", "--all", TURNS.trace],
                               capture_output=True, text=True, timeout=120, check=True)
        blocks = [row for row in csv.DictReader(io.StringIO(table.stdout))
                  if row["birth_s"] != row["death_s"]]
        times = sorted({row["birth_s"] for row in blocks})
        self.assertGreater(len(times), 6)
        for time in times[::len(times) // 6]:
            row = next(row for row in blocks if row["birth_s"] == time)
            done = resolve("--json", TURNS.trace, f"{row['address']}@{time}s")
            self.assertEqual(json.loads(done.stdout)["answers"][0]["state"], "live", row)
            live = [row for row in blocks if row["space"] == "heap" and
                    float(row["birth_s"]) <= float(time) < float(row["death_s"] or 1e9)]
            found = tide.report(TURNS.trace, "--live-at", time)
            self.assertEqual((found["total_calls"], f"{found['live_at_s']:.9f}"),
                             (len(live), time))

    def test_what_is_live_at_the_peak_makes_the_peak(self):
        """Though blocks are made and freed at the same time, as stamps have it."""
        alters = tide.program("alters")
        in_turn = f"{alters} a10x10000; {alters} a5x9000 p9x8000"
        for argv in ([tide.program("ground_truth")], [tide.program("family")],
                     [tide.program("ground_threads"), "4", "2000"], ["sh", "-c", in_turn]):
            run = tide.Recorded(argv, ("--spaces", "heap"))
            table = subprocess.run([tide.TIDEMARK, "export", "--to", "csv", "--all",
                                    run.trace], capture_output=True, text=True,
                                   timeout=120, check=True)
            places = sorted({row["address"] for row in
                             csv.DictReader(io.StringIO(table.stdout))})
            live = []
            for start in range(0, len(places), 2000):
                done = resolve("--json", run.trace, *places[start:start + 2000], "@peak")
                self.assertEqual(done.returncode, 0, done.stderr)
                live += [block["size"] for answer in json.loads(done.stdout)["answers"]
                         for block in answer["blocks"]
                         if block["state"] == "live" and block["offset"] == 0]
            summary = run.report("--total")["summary"]
            # Of threads, the free of a block and the birth of one that overlaps it may
            # have changed places: then an address is in both, and is told of one.
            missed = summary["peak_bytes"] - sum(live)
            self.assertLessEqual(missed, summary["peak_uncertainty_bytes"], argv)
            self.assertGreaterEqual(missed, 0, argv)
            self.assertEqual(missed == 0, len(live) == summary["peak_blocks"], argv)

    def test_a_variable_is_in_its_module(self):
        answer, = self.ask(hex(self.at["global"]))
        self.assertEqual(answer["state"], "none")
        self.assertEqual(os.path.basename(answer["module"]["path"]), "addresses")

    def test_several_at_once_keep_their_order(self):
        found = self.ask(f"{self.at['second']:x}", f"{self.at['live']:X}@between",
                         hex(self.at["first"]), "@first", "0x10")
        self.assertEqual([(int(each["address"], 16), each["state"]) for each in found],
                         [(self.at["second"], "live"), (self.at["live"], "live"),
                          (self.at["first"], "live"), (0x10, "none")])
        self.assertEqual(found[0]["blocks"][0]["stack"][0]["function"], "make_first")
        self.assertEqual(found[0]["at_s"], found[2]["at_s"])
        self.assertGreater(found[1]["at_s"], found[0]["at_s"])

    def test_in_words(self):
        done = resolve(RUN.trace, hex(self.at["freed"] + 1), hex(self.at["live"]))
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"dead    1 byte into 200 bytes at {self.at['freed']:#x} (heap, "
                      "malloc)", done.stdout)
        self.assertRegex(done.stdout, r"  freed   \d+\.\d+ s by thread \d+ \(gull\)\n")
        self.assertIn("  label   answer\n", done.stdout)
        self.assertRegex(done.stdout, r"  freed   never\n")
        self.assertRegex(done.stdout, r"(?m)^          make_live  addresses\.c:\d+$")

    def test_without_a_name_the_newest_trace_is_meant(self):
        done = resolve(hex(self.at["live"]), cwd=tide.FOLDER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at the start of 100 bytes", done.stdout)

    def test_mistakes(self):
        for words, status, said in (((), 2, "which address?"),
                                    ((RUN.trace,), 2, "which address?"),
                                    ((RUN.trace, "high"), 2, "'high' is not an address"),
                                    ((RUN.trace, "0x1", "1" * 17), 2, "not an address"),
                                    ((RUN.trace, "0x1@never"), 1, "tide_event 'never'"),
                                    (("/nowhere.tide", "0x1"), 1, "no such file")):
            with self.subTest(words=words):
                done = resolve(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stderr)

    def test_where_it_was_freed_was_not_recorded(self):
        self.assertIsNone(self.one(self.at["freed"])["freed_stack"])
        # Of a realloc the stack is there all the same.
        moved = self.one(self.at["small"])["freed_stack"]
        self.assertEqual([call["function"] for call in moved], ["main"])
        done = resolve(RUN.trace, hex(self.at["freed"]), hex(self.at["freed"]))
        self.assertEqual(done.stdout.count("tidemark run --free-stacks does"), 1)


class FreeStacks(tide.Case):
    """The same of a trace that knows where blocks are freed."""

    @classmethod
    def setUpClass(cls):
        cls.ran = tide.Recorded([tide.program("addresses")], options=["--free-stacks"])
        cls.at = cls.ran.own_count()
        with open(os.path.join(tide.SOURCE, "tests/programs/addresses.c"),
                  encoding="utf-8") as file:
            cls.lines = file.read().splitlines()

    def one(self, address):
        done = resolve("--json", self.ran.trace, hex(address))
        self.assertEqual(done.returncode, 0, done.stderr)
        block, = json.loads(done.stdout)["answers"][0]["blocks"]
        return block

    def test_by_another_thread(self):
        call, = self.one(self.at["freed"])["freed_stack"]
        self.assertEqual(call["function"], "free_it")
        self.assertIn("free(", self.lines[call["line"] - 1])

    def test_of_what_lives_there_is_none(self):
        self.assertIsNone(self.one(self.at["live"])["freed_stack"])

    def test_in_words(self):
        done = resolve(self.ran.trace, hex(self.at["freed"]), hex(self.at["small"]))
        self.assertRegex(done.stdout, r"  freed   .* \(gull\)\n"
                         r"          free_it  addresses\.c:\d+\n")
        self.assertRegex(done.stdout, r"  moved   .*\n +main  addresses\.c:\d+\n")
        self.assertNotIn("--free-stacks", done.stdout)


if __name__ == "__main__":
    tide.main()
