"""tests/e2e/test_cautions.py - what comes before the recorder or passes it by."""
import tide


class Before(tide.Case):
    def test_thousands_of_blocks_of_earlier_constructors(self):
        run = tide.Recorded([tide.program("early")])
        self.assertEqual(run.status, 0)
        result = run.report("--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["make_early"]["calls"], 5000)
        self.assertEqual(rows["make_early"]["bytes"], 5000 * 5001 // 2)
        self.assertGreaterEqual(result["summary"]["free_calls"], 5000)

    def test_a_name_too_many_is_said_whoever_brings_it(self):
        run = tide.Recorded([tide.program("late_names")])
        self.assertEqual(run.status, 0)
        troubles = run.report()["honesty"]["troubles"]
        self.assertEqual(["more names" in line for line in troubles], [True])


if __name__ == "__main__":
    tide.main()
