#!/usr/bin/python3
"""tests/e2e/test_tutorial.py - docs/tutorial.md shows what its commands print today.

Numbers differ from run to run and are not compared; the page is made anew by
tools/refresh-docs BUILD docs/tutorial.md.
"""
import os
import subprocess
import sys

import tide


class Tutorial(tide.Case):
    def test_the_page_shows_what_its_commands_print(self):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(tide.SOURCE, "tools", "refresh-docs"), "--check",
             os.path.dirname(tide.TIDEMARK), "docs/tutorial.md"],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    tide.main()
