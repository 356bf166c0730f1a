"""tests/e2e/stepping.py - a signal at chosen instructions of recorded calls: what must hold."""
import tide
import truth

MOST = 4000
MUCH = 400


class Case(truth.Case):
    def step(self, what, how, first, stride):
        run = tide.Recorded([tide.program("stepper"), what, how, str(first), str(stride),
                             str(MOST)], ["--wait"], timeout=280,
                            env=truth.preloaded("lib_toy_malloc.so"))
        self.assertEqual(run.status, 0, run.stdout)
        count = run.own_count()
        # To the end of the call, and every time but the last with a signal.
        self.assertTrue(10 < count["rounds"] < MOST, count)
        self.assertEqual(count["in_second" if how == "twice" else "handlers"],
                         count["rounds"] - 1)
        self.assertEqual(count["in_handler"], count["handlers"] * (MUCH if how == "much" else 1))
        return run, count

    def returns(self, what, first, stride, how="return"):
        """The handlers return: every call is recorded, once."""
        run, count = self.step(what, how, first, stride)
        self.agrees(run, {
            "make_in_second": [count["in_second"], 80 * count["in_second"], 0],
            "make_in_main": [count["in_main"], 32 * count["in_main"], 0],
            "make_in_handler": [count["in_handler"], 100 * count["in_handler"], 0],
            "make_after": [count["after"], 48 * count["after"], 0]})

    def forks(self, what, first, stride):
        """The handler forks: the call comes to its end in parent and child."""
        _, count = self.step(what, "fork", first, stride)
        self.assertEqual(count["children"], count["handlers"])

    def jumps(self, what, first, stride):
        """The handler jumps out: the call that it interrupted may be lost, no other."""
        run, count = self.step(what, "jump", first, stride)
        self.agrees(run, {
            "make_in_handler": [count["in_handler"], 100 * count["in_handler"], 0],
            "make_after": [count["after"], 48 * count["after"], 0]})
        rows = self.rows(run, "--total")
        self.assertLessEqual(rows["make_in_main"]["calls"], count["in_main"])
