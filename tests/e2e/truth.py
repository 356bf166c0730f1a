"""tests/e2e/truth.py - hold a recorded program against itself: unharmed, and counted exactly."""
import json
import os
import subprocess

import tide


def preloaded(library):
    """The environment of a program that uses a library of tests/programs."""
    return dict(os.environ, LD_PRELOAD=os.path.join(tide.PROGRAMS, library))


class Case(tide.TidyCase):
    def both(self, argv, options=(), env=None, timeout=120, same_output=True):
        """Run ARGV plain and recorded; output and status must not differ."""
        plain = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=timeout,
                               check=False)
        run = tide.Recorded(argv, options, env=env, timeout=timeout)
        self.assertEqual(run.status, plain.returncode, run.done.stderr)
        if same_output:
            self.assertEqual(run.stdout, plain.stdout)
        run.plain = plain
        return run

    def rows(self, run, *options):
        return {row["function"]: row for row in run.report(*options, "--flat")["rows"]}

    def agrees(self, run, count=None, **honesty):
        """The report says what the program's last line says: site -> calls, bytes, left."""
        count = count or json.loads(run.stdout.splitlines()[-1])
        result = run.report("--total", "--flat")
        self.whole(result, replaced_blocks=0, **honesty)
        total = {row["function"]: row for row in result["rows"]}
        left = self.rows(run, "--leaks")
        nothing = {"calls": 0, "bytes": 0, "blocks": 0}
        for site, expected in count.items():
            seen = total.get(site, nothing)
            found = [seen["calls"], seen["bytes"], left.get(site, nothing)["blocks"]]
            self.assertEqual(found, expected, site)
        return result
