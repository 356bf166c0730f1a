"""tests/e2e/test_ranks.py - processes of an MPI job, told apart by what their launcher says."""
import csv
import io
import json
import subprocess

import tide

# rank -> what the process keeps; 13 must not be taken for 3.
KEPT = {0: 1000, 3: 20000, 13: 300000}
VARIABLES = {0: "OMPI_COMM_WORLD_RANK", 3: "PMI_RANK", 13: "SLURM_PROCID"}


class Ranks(tide.Case):
    @classmethod
    def setUpClass(cls):
        lines = [f"env {VARIABLES[rank]}={rank} {tide.program('alters')} a1x{size} &"
                 for rank, size in KEPT.items()]
        lines += [f"env PMI_RANK=none PMIX_RANK= {tide.program('alters')} a1x4000000 &",
                  "wait"]
        cls.run_of = tide.Recorded(["/bin/sh", "-c", "\n".join(lines)], options=["--wait"])

    def words(self, *options):
        return subprocess.run([tide.TIDEMARK, "report", *options, self.run_of.trace],
                              timeout=60, capture_output=True, text=True,
                              check=True).stdout

    def kept(self, *options):
        found = self.run_of.report("--leaks", "--function", "shore", *options)
        return found["total_bytes"]

    def test_each_rank_by_itself(self):
        for rank, size in KEPT.items():
            self.assertEqual(self.kept("--rank", str(rank)), size)
        self.assertEqual(self.kept("--rank", "1"), 0)

    def test_several(self):
        self.assertEqual(self.kept("--rank", "0|13"), KEPT[0] + KEPT[13])
        self.assertEqual(self.kept("--rank", "03"), KEPT[3])
        self.assertEqual(self.kept(), sum(KEPT.values()) + 4000000)

    def test_info_says_them(self):
        ranks = [process["rank"] for process in tide.info(self.run_of.trace)["processes"]
                 if process["exe"].endswith("/alters")]
        self.assertEqual(sorted(ranks, key=str), sorted([0, 3, 13, None], key=str))
        text = subprocess.run([tide.TIDEMARK, "info", self.run_of.trace], timeout=60,
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("rank 13, ended", text)

    def test_a_view_of_them(self):
        found = self.run_of.report("--ranks")
        rows = {row["rank"]: row for row in found["ranks"]}
        self.assertEqual(set(rows), {0, 3, 13, None})
        for rank, size in KEPT.items():
            row = rows[rank]
            self.assertGreaterEqual(row["live_bytes"], size)
            self.assertGreaterEqual(row["peak_bytes"], row["live_bytes"])
            self.assertGreaterEqual(row["allocated_bytes"], row["peak_bytes"])
            self.assertEqual((row["processes"], row["threads"]), (1, 1))
            self.assertEqual(row["peak_uncertainty_bytes"], 0)
            alone = self.run_of.report("--total", "--rank", str(rank))
            self.assertEqual(row["allocated_bytes"], alone["total_bytes"])
            self.assertEqual(row["alloc_calls"], alone["total_calls"])
        spread = found["widest_spread"]
        self.assertEqual(spread["rank"], 13)
        self.assertGreater(spread["times_median"], 2)
        table = subprocess.run([tide.TIDEMARK, "report", "--ranks", "--csv",
                                self.run_of.trace], timeout=60, capture_output=True,
                               text=True, check=True).stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in table],
                         ["rank", "0", "3", "13", ""])

    def test_one_rank_of_many_threads_is_the_run(self):
        """Found by a walk of its own, the peak and its margin are the run's."""
        for program in (["ground_threads"], ["short_threads"], ["many_hands"]):
            run = tide.Recorded([tide.program(program[0]), *program[1:]],
                                env={"PMI_RANK": "5"})
            [row] = run.report("--ranks")["ranks"]
            summary = run.report()["summary"]
            for mine, whole in (("peak_bytes", "peak_bytes"), ("live_bytes", "left_bytes"),
                                ("peak_uncertainty_bytes", "peak_uncertainty_bytes"),
                                ("alloc_calls", "alloc_calls"), ("threads", "threads"),
                                ("allocated_bytes", "allocated_bytes")):
                with self.subTest(program=program, what=mine):
                    self.assertEqual(row[mine], summary[whole])

    def test_the_view_says_who_differs(self):
        text = self.words("--ranks")
        self.assertRegex(text, r"(?m)^Each rank by itself  3 of MPI")
        self.assertRegex(text, r"(?m)^ +13 +\d")
        self.assertRegex(text, r"Rank 13 (holds|has) [\d.]+(×|x) the median")

    def test_ranks_stand_in_tables_of_processes(self):
        self.assertRegex(self.words("--processes", "--total"), r"alters \(rank 13, pid \d+\)")
        rows = self.run_of.report("--processes", "--total")["rows"]
        self.assertEqual({row["rank"] for row in rows if "rank" in row}, {0, 3, 13})

    def test_a_launcher_has_no_rank_in_queries(self):
        done = subprocess.run([tide.TIDEMARK, "query", "--json",
                               "SELECT rank, count() GROUP BY rank", self.run_of.trace],
                              timeout=60, capture_output=True, text=True, check=True)
        rows = dict(json.loads(done.stdout)["rows"])
        self.assertEqual(set(rows), {0, 3, 13, None})
        self.assertEqual(rows[0], rows[3])            # the shell's are not among rank 0's

    def test_a_rank_that_was_killed_is_named(self):
        line = "env PMI_RANK={} {} {}"
        run = tide.Recorded(["/bin/sh", "-c", "\n".join((
            line.format(0, tide.program("alters"), "a1x1000") + " & ",
            line.format(1, "/bin/sh", "-c 'kill -9 $$'") + " & ",
            line.format(2, "/bin/sh", "-c 'sleep 0.4; kill -9 $$'") + " & ", "wait"))],
            options=["--wait"])
        ranks = {row["rank"]: row for row in run.report("--ranks")["ranks"]}
        self.assertEqual({rank: row["broke_off"] for rank, row in ranks.items()},
                         {0: False, 1: True, 2: True, None: False})
        self.assertIn("not seen to exit", ranks[1]["end"])
        table = csv.DictReader(io.StringIO(subprocess.run(
            [tide.TIDEMARK, "report", "--ranks", "--csv", run.trace], timeout=60,
            capture_output=True, text=True, check=True).stdout))
        self.assertEqual([(row["rank"], row["end"], row["trace"]) for row in table],
                         [("" if rank is None else str(rank), row["end"], run.trace)
                          for rank, row in ranks.items()])
        done = subprocess.run([tide.TIDEMARK, "report", "--ranks", run.trace], timeout=60,
                              capture_output=True, text=True, check=True)
        self.assertRegex(" ".join(done.stdout.split()),
                         r"Rank 1 broke off first, at [0-9.]+ \w+: ended, not seen to exit; a "
                         r"signal killed it, most likely\. After it: 2\.")
        self.assertNotIn("broke off", self.words("--ranks"))

    def test_each_rank_may_have_a_trace_of_its_own(self):
        runs = [tide.Recorded([tide.program("alters"), f"a1x{size}"],
                              env={"PMI_RANK": str(rank)}) for rank, size in KEPT.items()]
        traces = [run.trace for run in runs]
        alone = [run.report("--ranks")["ranks"][0] for run in runs]

        def said(*words, status=0):
            done = subprocess.run([tide.TIDEMARK, "report", "--ranks", *words], timeout=60,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status)
            return done.stdout + done.stderr
        found = json.loads(said("--json", *reversed(traces)))
        self.assertEqual((found["schema"], found["ranks"]), ("tidemark.ranks/1", alone))
        self.assertEqual([row["rank"] for row in found["ranks"]], list(KEPT))
        self.assertEqual(found["widest_spread"]["rank"], 13)
        self.assertRegex(said(*traces), r"(?s)^Each rank by itself  3 of MPI.*\n +0 .*\n +3 .*"
                                        r"\n +13 .*Rank 13 (holds|has) ")
        self.assertEqual(len(said("--csv", *traces).splitlines()), 4)
        self.assertIn("rank 0 is in ", said(traces[0], *traces, status=1))
        plain = tide.Recorded([tide.program("alters"), "a1x1"])
        self.assertIn(f"{plain.trace}: no process in it has an MPI rank",
                      said(traces[0], plain.trace, status=1))

    def test_what_is_asked_for_and_not_there_is_said(self):
        for words, why in ((["--rank", "7"], "no block is of rank 7; there are: 0, 3, 13"),
                           (["--process", "altars"],
                            "no block is of a process 'altars'; did you mean alters?"),
                           (["--process", "nothing"],
                            "no block is of a process 'nothing'; there are: "),
                           (["--region", "solve"],
                            "no block is of a region 'solve'; the trace names no region")):
            done = subprocess.run([tide.TIDEMARK, "report", *words, self.run_of.trace],
                                  timeout=60, capture_output=True, text=True, check=True)
            self.assertIn(why, done.stderr)
        done = subprocess.run([tide.TIDEMARK, "report", "--rank", "3|7", self.run_of.trace],
                              timeout=60, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")

    def test_the_headline_has_no_margin_of_a_sum(self):
        peak = [line for line in self.words().splitlines() if line.startswith("  peak")]
        self.assertEqual(len(peak), 1)
        self.assertNotRegex(peak[0], r"±|\+/-")

    def test_mistakes(self):
        for words, status, why in ((["--rank", "x"], 2, "numbers"),
                                   (["--rank", ""], 2, "numbers"),
                                   (["--rank", "1..3"], 2, "numbers"),
                                   (["--ranks", "--total"], 2, "whole run"),
                                   (["--ranks", "--space", "mmap"], 2, "of the heap")):
            done = subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn(why, done.stderr)
        plain = tide.Recorded([tide.program("alters"), "a1x1"])
        done = subprocess.run([tide.TIDEMARK, "report", plain.trace, "--rank", "0"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process in it has an MPI rank", done.stderr)
        done = subprocess.run([tide.TIDEMARK, "report", plain.trace, "--ranks"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process in it has an MPI rank", done.stderr)


if __name__ == "__main__":
    tide.main()
