"""tests/e2e/test_ground_truth.py - a program's own books against ours, to the byte."""
import tide


class GroundTruth(tide.Case):
    def check_totals(self, truth, summary):
        for key in ("alloc_calls", "free_calls", "realloc_calls", "allocated_bytes",
                    "peak_bytes", "peak_with_realloc_bytes", "live_bytes"):
            self.assertEqual(summary[key], truth[key], key)
        self.assertEqual(summary["peak_uncertainty_bytes"], 0)

    def check_sites(self, run, truth):
        views = {view: run.sites(view) for view in ("--total", "--leaks", "--peak")}
        for name, site in truth["sites"].items():
            total, left = views["--total"][name], views["--leaks"].get(name)
            self.assertEqual((total["calls"], total["bytes"]),
                             (site["calls"], site["bytes"]), name)
            self.assertEqual((left["blocks"], left["bytes"]) if left else (0, 0),
                             (site["live_blocks"], site["live_bytes"]), name)
            top = views["--peak"].get(name)
            self.assertEqual(top["bytes"] if top else 0, site["peak_bytes"], name)

    def check_one_thread(self, *options):
        run = tide.Recorded([tide.program("ground_truth")], options)
        truth = run.own_count()
        result = run.report()
        self.whole(result)
        self.check_totals(truth, result["summary"])
        self.check_sites(run, truth)
        started = tide.info(run.trace)["start_unix_ns"] / 1e9
        seen = result["summary"]["peak_time_s"]
        self.assertAlmostEqual(started + seen, truth["peak_unix_s"], delta=0.05)

    def test_one_thread_with_frame_pointers(self):
        self.check_one_thread("--unwind", "fp")

    def test_one_thread_with_libunwind(self):
        self.check_one_thread("--unwind", "libunwind")

    def test_one_thread_without_stacks(self):
        self.check_one_thread("--no-stacks")

    def check_threads(self, threads, rounds, options=()):
        run = tide.Recorded([tide.program("ground_threads"), str(threads), str(rounds)],
                            options)
        truth = run.own_count()
        result = run.report()
        self.whole(result)
        self.assertEqual(result["honesty"].get("reordered", 0), 0)
        self.assertEqual(result["honesty"].get("replaced_blocks", 0), 0)
        summary = result["summary"]
        total, left = run.sites("--total"), run.sites("--leaks")
        for name, site in truth["sites"].items():
            self.assertEqual((total[name]["calls"], total[name]["bytes"]),
                             (site["calls"], site["bytes"]), name)
            self.assertEqual((left[name]["blocks"], left[name]["bytes"]),
                             (site["live_blocks"], site["live_bytes"]), name)
        # Thread stacks' bookkeeping (libc's calloc in pthread_create) is ours alone to
        # see: at most a few hundred bytes a thread.
        own = sum(site["bytes"] for site in truth["sites"].values())
        extra = summary["allocated_bytes"] - own
        self.assertLessEqual(extra, 1000 * threads)
        self.assertGreaterEqual(extra, 0)
        self.assertEqual(summary["threads"], threads + 1)
        self.assertLessEqual(abs(summary["peak_bytes"] - truth["peak"]),
                             summary["peak_uncertainty_bytes"] + extra)
        self.assertGreater(summary["peak_uncertainty_bytes"], 0)
        # An uncertainty as large as the peak would say nothing.
        self.assertLess(summary["peak_uncertainty_bytes"], 200 * 3000 * threads)

    def test_8_threads_freeing_each_others_blocks(self):
        self.check_threads(8, 20000)

    def test_32_threads_freeing_each_others_blocks(self):
        self.check_threads(32, 5000, ["--unwind", "fp"])

    def test_32_threads_again_with_more_rounds(self):
        self.check_threads(32, 20000, ["--no-stacks"])


if __name__ == "__main__":
    tide.main()
