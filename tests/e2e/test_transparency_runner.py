"""tests/e2e/test_transparency_runner.py - a recorder that harms is found out by tests/transparency."""
import os
import subprocess
import tempfile

import tide

RUNNER = os.path.join(tide.SOURCE, "tests", "transparency", "run.py")
CASE = "ghostscript pgmraw"

# What a bad recorder does, in sh, and a word of what the runner shall say of it.  $real is
# the true tidemark; "run" is the verb that it was called with.
HARM = {
    "nothing": ('exec "$real" "$@"', "1 the same, 0 not"),
    "output": ('"$real" "$@"; s=$?; [ "$1" != run ] || echo more; exit $s', "+more"),
    "errors": ('"$real" "$@"; s=$?; [ "$1" != run ] || echo oops >&2; exit $s', "+oops"),
    "status": ('"$real" "$@"; s=$?; [ "$1" = run ] && exit 3; exit $s',
               "status: plain 0, recorded 3"),
    "a file": ('"$real" "$@"; s=$?; [ "$1" != run ] || echo x >extra; exit $s',
               "work/extra: only recorded"),
    "a session": ('"$real" "$@"; s=$?; [ "$1" != run ] || mkdir "$TMPDIR/left"; exit $s',
                  "tmp/left: only recorded"),
    "other content": ('"$real" "$@"; s=$?; [ "$1" != run ] || echo x >>page1.pgmraw; exit $s',
                      "work/page1.pgmraw"),
    "a lost event": ('"$real" "$@" | sed \'s/"dropped": 0/"dropped": 1/\'', "dropped is 1"),
    "a free": ('"$real" "$@" | sed \'s/"unmatched_frees": 0/"unmatched_frees": 7/\'',
               "unmatched_frees is 7"),
    "a stranger": ('"$real" "$@" | sed \'s|"troubles": \\[]|"troubles": '
                   '["1 program was not recorded, nor what it started: /bin/x (static)"]|\'',
                   "/bin/x (static)"),
    "half a trace": ('"$real" "$@" | sed \'s/"complete": true/"complete": false/\'',
                     "not complete"),
    "no program": ('"$real" "$@" | sed s,/usr/bin/gs,/usr/bin/other,',
                   "0 processes of gs recorded"),
    "a process": ('[ "$1" != run ] || sleep 1000 >/dev/null 2>&1 & exec "$real" "$@"',
                  "processes left behind"),
}


class Runner(tide.Case):
    def test_each_harm_is_found(self):
        for name, (script, words) in HARM.items():
            with self.subTest(harm=name), tempfile.TemporaryDirectory() as folder:
                fake = os.path.join(folder, "tidemark")
                with open(fake, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\nreal={tide.TIDEMARK}\n{script}\n")
                os.chmod(fake, 0o755)
                done = subprocess.run(
                    ["/usr/bin/python3", "-B", RUNNER, folder, "--patience", "1", CASE],
                    capture_output=True, text=True, timeout=200, check=False)
                if done.returncode == 77:
                    self.skipTest(done.stdout)
                self.assertIn(words, done.stdout, done.stderr)
                self.assertEqual(done.returncode, 0 if name == "nothing" else 1)


if __name__ == "__main__":
    tide.main()
