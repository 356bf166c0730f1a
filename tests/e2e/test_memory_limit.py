"""tests/e2e/test_memory_limit.py - no verb takes more memory than it was allowed.

What a verb took is what the kernel says of the finished process.
"""
import os
import resource
import subprocess
import tempfile

import tide

MIB = 1 << 20
COUNT = 500000
MANY = tide.Recorded([tide.program("keeps_many"), str(COUNT)], folder=tide.FOLDER)
ROWS = "SELECT address,size,stack ORDER BY size"
# Every verb that reads traces, with something that needs memory for each block.
VERBS = [
    ["report"], ["report", "--leaks", "--json"], ["info"], ["check", "--max-peak", "1G"],
    ["diff", MANY.trace], ["export", "--to", "pprof"], ["export", "--to", "csv", "--all"],
    ["export", "--to", "ndjson"], ["export", "--to", "sqlite"], ["export", "--to", "cali"],
    ["query", ROWS], ["query", "--sql", "SELECT count(*) FROM blocks"],
    ["pack"],
]


def call(words, preexec=None, **more):
    """The finished process, and the bytes that it had at most."""
    with subprocess.Popen([tide.TIDEMARK, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, preexec_fn=preexec,
                          **more) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def call_measured(words, folder):
    """The same, with its highest resident set."""
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
        pid = os.posix_spawn(tide.TIDEMARK, [tide.TIDEMARK, *words], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                           (os.POSIX_SPAWN_DUP2, said.fileno(), 2)])
        _, status, usage = os.wait4(pid, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read(), usage.ru_maxrss * 1024


class MemoryLimit(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-limit-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def words(self, verb):
        """VERB of the trace, its output in a folder of its own."""
        output = os.path.join(self.folder, "out", "file")
        os.makedirs(os.path.dirname(output), exist_ok=True)
        more = ["-o", output] if verb[0] in ("export", "pack") else []
        if verb[0] == "query":
            return [*verb[:-1], *more, MANY.trace, verb[-1]]
        return [*verb, *more, self.without_end() if verb == ["info"] else MANY.trace]

    def without_end(self):
        """A trace that info has to read: the totals of a whole one stand at its end."""
        path = os.path.join(self.folder, "cut.tide")
        with open(MANY.trace, "rb") as whole, open(path, "wb") as cut:
            cut.write(whole.read()[:-200])
        return path

    def test_every_verb_refuses_in_words(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                words = self.words(verb)
                status, said, bytes_held = call_measured(
                    [*words, "--max-memory", "8M"], self.folder)
                self.assertEqual(status, 1, said)
                self.assertRegex(said, r"\Atidemark: [^\n]*needs more than 8\.00 MiB[^\n]*"
                                       r"--max-memory[^\n]*\n\Z")
                # The program itself, and the files that it reads.
                self.assertLess(bytes_held, 8 * MIB + 16 * MIB)
                self.assertEqual(os.listdir(os.path.join(self.folder, "out")), [])

    def test_an_address_needs_no_table_of_blocks(self):
        plain = call_measured(["report", MANY.trace], self.folder)[2]
        at = MANY.own_count()
        words = ["resolve", MANY.trace, hex(at["first"]), hex(at["last"])]
        status, said, bytes_held = call_measured(words, self.folder)
        self.assertEqual(status, 0, said)
        self.assertLess(bytes_held, plain + 8 * MIB)
        answers = tide.json.loads(call([*words, "--json"])[1])["answers"]
        self.assertEqual([(each["state"], [block["size"] for block in each["blocks"]])
                          for each in answers],
                         [("live", [16]), ("live", [16 + (COUNT - 1) % 3])])

    def test_enough_is_enough(self):
        for verb in (["report"], ["export", "--to", "pprof"], ["query", ROWS + " LIMIT 3"]):
            with self.subTest(verb=verb):
                status, said, _ = call_measured(
                    [*self.words(verb), "--max-memory", "2GiB"], self.folder)
                self.assertEqual((status, said.count("memory")), (0, 0), said)

    def test_ulimit_is_a_limit_too(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (60 * MIB, 60 * MIB))
        status, _, said = call(["query", MANY.trace, ROWS], preexec=limit)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"needs more than \d+\.?\d* MiB of memory.*--max-memory")

    def test_sizes_are_checked(self):
        self.assertEqual(call(["info", "--max-memory", "much", MANY.trace])[0], 2)
        self.assertEqual(call(["info", "--max-memory", "0", MANY.trace])[0], 0)
        status, _, said = call(["run", "--max-memory", "1G", "true"])
        self.assertEqual((status, "unknown option" in said), (2, True))


if __name__ == "__main__":
    tide.main()
