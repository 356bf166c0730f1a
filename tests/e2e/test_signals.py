"""tests/e2e/test_signals.py - handlers that allocate, jumps, exceptions, errno and hard endings."""
import os
import resource
import tempfile

import stepping
import tide
import truth

AGAIN = 20
HARD_ENDINGS = ("abrt", "ill", "xcpu", "trap", "quit", "usr1", "sys", "seccomp",
                "segv handler", "no stack", "no stack, handler", "uncaught", "noexcept",
                "vfork")


def wait_status(argv, folder):
    """How a program ended in FOLDER, as wait() says it: with the flag of a core dump."""
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.execv(argv[0], argv)
    return os.waitpid(pid, 0)[1]


class EveryInstruction(stepping.Case):
    """A few hundred of the instructions of each call; long_stepping.py takes them all."""

    def test_a_signal_inside_malloc_and_free(self):
        self.returns("pair", first=0, stride=23)

    def test_a_signal_inside_them_with_threads(self):
        self.returns("numbered", first=1, stride=23)

    def test_a_signal_inside_realloc(self):
        self.returns("realloc", first=2, stride=97)

    def test_a_signal_inside_the_first_event_after_a_fork(self):
        self.returns("first", first=0, stride=1009)

    def test_a_signal_inside_the_handler_of_a_signal(self):
        # While the hook of free is writing its record, or near.
        self.returns("numbered", first=900, stride=29, how="twice")

    def test_a_signal_whose_handler_allocates_much(self):
        self.returns("pair", first=11, stride=41, how="much")

    def test_a_signal_whose_handler_forks(self):
        # In the hook of free, which is the shortest.
        self.forks("pair", first=0, stride=1)

    def test_jumps_out_of_malloc_and_free(self):
        self.jumps("pair", first=3, stride=23)

    def test_jumps_out_of_them_with_threads(self):
        self.jumps("numbered", first=4, stride=23)

    def test_jumps_out_of_realloc(self):
        self.jumps("realloc", first=5, stride=97)

    def test_jumps_out_of_the_first_event_after_a_fork(self):
        self.jumps("first", first=50, stride=1009)


class Handlers(truth.Case):
    def check(self, how, signals, again):
        env = truth.preloaded("lib_toy_malloc.so")
        for _ in range(again):
            run = tide.Recorded([tide.program("handlers"), how, str(signals)], env=env)
            self.assertEqual(run.status, 0)
            self.agrees(run)
            self.assertGreaterEqual(run.own_count()["make_in_handler"][0], signals)

    def test_on_the_stack_that_was_interrupted(self):
        self.check("own", 150, AGAIN)

    def test_on_an_alternate_stack(self):
        self.check("alternate", 150, AGAIN)

    def test_handlers_that_interrupt_each_other(self):
        self.check("nested", 150, AGAIN)

    def test_in_several_threads(self):
        self.check("threads", 150, AGAIN)


class Errno(truth.Case):
    def test_every_call_leaves_errno_as_without_the_recorder(self):
        for options in ((), ("--unwind", "fp"), ("--no-stacks",)):
            with self.subTest(options=options):
                run = self.both([tide.program("keeps_errno")], options)
                lines = run.stdout.splitlines()
                self.assertEqual(len(lines), 33)
                self.assertEqual([line for line in lines if ", 0 others" not in line], [])


class Exceptions(truth.Case):
    def test_exceptions_and_jumps_through_allocating_frames(self):
        for threads in ("0", "4"):
            with self.subTest(threads=threads):
                run = self.both([tide.program("exceptions"), threads, "200"])
                result = self.agrees(run)
                thrown = int(run.stdout.split()[1])
                rows = {row["function"]: row for row in result["rows"]}
                self.assertEqual(rows["__cxa_allocate_exception"]["calls"], thrown)


class HardEndings(truth.Case):
    def test_every_ending_keeps_every_event_and_the_status(self):
        for how in HARD_ENDINGS:
            with self.subTest(how=how):
                run = self.both([tide.program("hard_endings"), how])
                self.agrees(run)
                [ending] = tide.info(run.trace)["processes"]
                self.assertEqual(os.waitstatus_to_exitcode(ending["wait_status"]), run.status)

    def test_the_trace_says_whether_a_core_was_dumped(self):
        # The status of `run` has no such flag: a core of its own would replace the program's.
        for how in ("abrt", "quit", "usr1", "no stack"):
            with self.subTest(how=how), tempfile.TemporaryDirectory() as folder:
                trace = os.path.join(folder, "t.tide")
                argv = [tide.program("hard_endings"), how]
                plain = wait_status(argv, folder)
                run = wait_status([tide.TIDEMARK, "run", "-q", "-o", trace, "--", *argv],
                                  folder)
                [ending] = tide.info(trace)["processes"]
                self.assertEqual(ending["wait_status"], plain)
                self.assertEqual(os.WTERMSIG(run), os.WTERMSIG(plain))

    def test_a_program_that_runs_out_of_memory_ends_itself(self):
        run = self.both([tide.program("hard_endings"), "no memory"])
        self.assertEqual((run.status, run.stdout), (54, "no more\n"))
        self.assertGreaterEqual(run.report()["summary"]["failed_calls"], 1)


if __name__ == "__main__":
    tide.main()
