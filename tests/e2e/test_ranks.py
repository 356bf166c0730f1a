"""tests/e2e/test_ranks.py - processes of an MPI job, told apart by what their launcher says."""
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

    def test_mistakes(self):
        for words, status, why in ((["--rank", "x"], 2, "numbers"),
                                   (["--rank", ""], 2, "numbers"),
                                   (["--rank", "1..3"], 2, "numbers")):
            done = subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn(why, done.stderr)
        plain = tide.Recorded([tide.program("alters"), "a1x1"])
        done = subprocess.run([tide.TIDEMARK, "report", plain.trace, "--rank", "0"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process of it has an MPI rank", done.stderr)


if __name__ == "__main__":
    tide.main()
