"""tests/e2e/test_threads.py - threads: many, short, named, cancelled, past the end of main."""
import json
import os
import struct
import tempfile

import tide
import truth

MIB = 1 << 20
# What the recorder may take: so much, and per live thread, and the table of slots.
BASE, PER_THREAD, ORDER_TABLE = 4 * MIB, MIB // 2, 16 * MIB
# What the collector may take, whatever is recorded, is 48 MiB.  It takes 23 to 30 here.
COLLECTOR = 40 * MIB
AGAIN = 20


class Many(truth.Case):
    def test_two_thousand_at_once(self):
        threads = 2000
        run = self.both([tide.program("crowd"), str(threads)])
        self.agrees(run)
        facts = tide.info(run.trace)
        budget = BASE + (threads + 1) * PER_THREAD + ORDER_TABLE
        self.assertLess(facts["processes"][0]["recorder_bytes"], budget)
        plain, recorded = (json.loads(text) for text in (run.plain.stderr, run.done.stderr))
        for kind in ("rss", "private"):
            self.assertLess(recorded[kind] - plain[kind], budget, kind)
        # What it says it has is at least what it holds for itself alone.
        self.assertLess(recorded["private"] - plain["private"],
                        facts["processes"][0]["recorder_bytes"] + BASE)
        self.assertEqual(len(facts["threads"]), threads + 1)
        # Rings are smaller the more there are, and threads that do little have little.
        self.assertLess(facts["honesty"]["ring_bytes"], 32 * MIB)
        self.assertLess(recorded["private"] - plain["private"], BASE + threads * 60 * 1024)

    def test_a_stack_that_is_larger_than_a_small_ring(self):
        run = self.both([tide.program("crowd"), "600", "1500"], ["--depth", "2000"])
        self.agrees(run)
        facts = tide.info(run.trace)
        self.assertLess(facts["honesty"]["ring_bytes"], 16 * MIB)
        self.assertEqual(run.report()["honesty"]["truncated_stacks"], 0)

    def test_the_peak_is_known_better_than_what_waiting_threads_leave_open(self):
        # So much 32 threads may write between two stamps, however long they wait.
        margins = []
        for _ in range(5):
            run = tide.Recorded([tide.program("ground_threads"), "32", "5000"])
            margins.append(run.report()["summary"]["peak_uncertainty_bytes"])
        self.assertLess(sorted(margins)[2], 350000, margins)

    def test_ten_thousand_short_ones_share_a_few_lanes(self):
        run = self.both([tide.program("short_threads"), "10000", "8"])
        self.agrees(run)
        facts = tide.info(run.trace)
        # Nine at once; one more may begin before the one that ended has given up its lane.
        self.assertLess(facts["lanes"], 24)
        self.assertLess(facts["processes"][0]["recorder_bytes"],
                        BASE + 24 * PER_THREAD + ORDER_TABLE)
        self.assertEqual(facts["kinds"]["thread"], 10001)
        self.assertEqual(run.report()["summary"]["threads"], 10001)

    def test_five_hundred_and_twelve_short_ones(self):
        run = self.both([tide.program("short_threads"), "512", "512"])
        self.agrees(run)
        self.assertEqual(run.report()["summary"]["threads"], 513)


class Busy(truth.Case):
    """All write at once, more than the collector can take: its memory has a limit."""

    def lost_nothing_in_little_memory(self, run):
        result = run.report("--total", "--flat")
        self.whole(result, replaced_blocks=0)
        self.assertLess(result["honesty"]["collector_bytes"], COLLECTOR)
        return result

    def threads(self, *options):
        run = tide.Recorded([tide.program("ground_threads"), "128", "25000"], options)
        self.lost_nothing_in_little_memory(run)
        self.agrees(run, {name: [site["calls"], site["bytes"], site["live_blocks"]]
                          for name, site in run.own_count()["sites"].items()})

    def test_128_threads(self):
        self.threads("--collector-threads", "1")

    def test_128_threads_and_four_of_the_collector(self):
        self.threads("--collector-threads", "4")

    def test_128_processes(self):
        ring = tide.program("ring")
        run = tide.Recorded(["sh", "-c",
                             f"for i in $(seq 128); do '{ring}' 30000 & done; wait"])
        rows = self.lost_nothing_in_little_memory(run)["rows"]
        self.assertEqual([row["calls"] for row in rows if row["function"] == "turn_over"],
                         [128 * 30000])


class Farewells(truth.Case):
    def test_key_destructors_allocate_in_every_round(self):
        run = self.both([tide.program("thread_farewell"), "50"])
        self.agrees(run)
        self.assertEqual(json.loads(run.stdout)["make_in_destructor"][0], 50 * 3 * 4 * 2)

    def test_thread_local_objects_allocate_in_their_destructors(self):
        run = self.both([tide.program("tls_objects"), "50"])
        self.agrees(run)
        self.assertEqual(json.loads(run.stdout)["make_in_destructor"][0], 50 * 2 * 5)

    def test_exit_in_the_destructor_of_a_thread_local_object(self):
        run = self.both([tide.program("tls_objects"), "3", "exit"])
        self.assertEqual(run.status, 41)
        self.agrees(run)


class PastMain(truth.Case):
    """Threads are cut off in mid-call.  A call was announced before and counted after, so
    what is recorded of a thread lies between, with no more than one call in doubt."""

    def run_once(self, how):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts")
            run = tide.Recorded([tide.program("past_main"), how, path], timeout=120,
                                folder=folder)
            result = run.report("--total", "--flat")
            # A free that was written, for a block whose birth was too, is no trouble.
            self.whole(result)
            rows = {row["function"]: row for row in result["rows"]}
            with open(path, "rb") as file:
                words = struct.unpack("<8Q", file.read(64))
            return run.status, rows, words

    def test_threads_go_on_while_the_process_ends(self):
        for how, status in (("return", 34), ("exit", 31), ("_exit", 32), ("quick_exit", 33),
                            ("exec", 35)):
            for _ in range(AGAIN):
                with self.subTest(how=how):
                    ended, rows, words = self.run_once(how)
                    self.assertEqual(ended, status)
                    begun, done = sum(words[0::2]), sum(words[1::2])
                    self.assertLessEqual(begun - done, 4)
                    self.assertTrue(done <= rows["make"]["calls"] <= begun,
                                    (done, rows["make"], begun))
                    at_exit = rows.get("make_at_exit", {"calls": 0})["calls"]
                    self.assertEqual(at_exit, 0 if how in ("_exit", "exec") else 300)

    def test_main_ends_first_and_the_threads_by_themselves(self):
        status, rows, words = self.run_once("pthread_exit")
        self.assertEqual(status, 0)
        self.assertEqual(rows["make"]["calls"], 4 * 2000)
        self.assertEqual(words, (2000,) * 8)


class Cancel(truth.Case):
    def test_nothing_in_the_recorder_is_a_cancellation_point(self):
        # The small ring holds 32 KiB; the events of this thread go around it many times.
        run = self.both([tide.program("cancelled"), "pending"], ["--spaces", "heap,mmap"])
        self.assertEqual(run.stdout.splitlines()[0],
                         "cancelled 1; alive 1 after 10000 blocks, 10000 freed, 100 maps")
        self.agrees(run)
        self.assertEqual(run.report()["summary"]["realloc_calls"], 10000)
        self.assertGreater(tide.info(run.trace)["raw_bytes"], 100000)

    def test_cancelled_threads_lose_nothing(self):
        for how in ("point", "cleanup", "async"):
            with self.subTest(how=how):
                run = self.both([tide.program("cancelled"), how])
                self.assertTrue(run.stdout.startswith("cancelled 20;"), run.stdout)
                self.agrees(run)


class Names(truth.Case):
    def test_the_last_name_of_a_thread_is_shown(self):
        run = self.both([tide.program("named_threads")])
        names = {thread["tid"]: thread["name"] for thread in tide.info(run.trace)["threads"]}
        self.assertEqual(sorted(names.values()),
                         ["after", "before", "by other", "late", "named_threads"])


class Crossing(truth.Case):
    def check(self, how, rounds):
        run = self.both([tide.program("cross_frees"), how, rounds], same_output=False)
        count, result = run.own_count(), run.report("--total", "--flat")
        self.whole(result, replaced_blocks=0)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["make"]["calls"], count["made"])
        self.assertEqual(rows.get("resize", {"calls": 0})["calls"], count["resized"])
        self.assertEqual(sum(rows[site]["bytes"] for site in ("make", "resize")
                             if site in rows), count["bytes"])
        summary = result["summary"]
        self.assertEqual(summary["realloc_calls"], count["resized"])
        self.assertEqual(summary["free_calls"], count["freed"] + count["resized"])
        return count

    def test_producers_and_consumers(self):
        for _ in range(AGAIN):
            self.check("queue", "2000")

    def test_threads_that_resize_each_others_blocks(self):
        for _ in range(AGAIN):
            self.assertGreater(self.check("realloc", "2000")["resized"], 1000)


class Limits(truth.Case):
    def test_a_thread_that_cannot_be_made_leaves_nothing(self):
        run = self.both([tide.program("thread_fails")])
        self.assertEqual(run.stdout.splitlines()[1], "failed 50")
        self.agrees(run)
        self.assertEqual(run.report()["summary"]["threads"], 2)

    def test_idle_threads_leave_nothing(self):
        # pthread frees what a key took when all destructors have run.
        run = self.both([tide.program("idle_threads")])
        self.assertLess(len(tide.info(run.trace)["threads"]), 4)

    def test_errno_is_kept_when_there_is_no_memory_for_a_thread(self):
        run = self.both([tide.program("no_room_left")])
        self.assertEqual((run.status, run.stdout), (0, "made 100, errno kept 100 times\n"))

    def test_a_signal_at_the_start_of_a_thread(self):
        self.agrees(self.both([tide.program("signal_at_start")]))

    def test_little_of_a_small_stack_is_used(self):
        most = 4096
        for call in ("malloc", "calloc", "realloc", "posix_memalign", "mmap"):
            for engine in ("cfi", "fp"):
                with self.subTest(call=call, engine=engine):
                    run = self.both([tide.program("painted_stack"), call],
                                    ["--unwind", engine, "--spaces", "heap,mmap"])
                    plain, recorded = int(run.plain.stderr), int(run.done.stderr)
                    self.assertLess(recorded - plain, most)


class Moves(tide.TidyCase):
    def test_what_another_thread_maps_where_mremap_has_left(self):
        for _ in range(3):
            run = tide.Recorded([tide.program("moves_maps")])
            self.assertEqual((run.status, run.stdout), (0, "kept 1500\n"))
            result = run.report("--leaks", "--flat", "--space", "mmap")
            self.whole(result)
            rows = {row["function"]: row for row in result["rows"]}
            self.assertEqual(rows["map"]["blocks"], 1500)


if __name__ == "__main__":
    tide.main()
