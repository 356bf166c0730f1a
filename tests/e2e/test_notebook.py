#!/usr/bin/python3
"""tests/e2e/test_notebook.py - examples/hydro.ipynb: it runs, and its tables are right."""
import contextlib
import io
import json
import os
import subprocess
import sys
import unittest

import tide

try:
    import matplotlib
    import pandas
except ImportError:
    pandas = None

sys.path.insert(0, os.path.join(tide.SOURCE, "bindings", "python"))
NOTEBOOK = os.path.join(tide.SOURCE, "examples", "hydro.ipynb")
SIZE = ("--cycles", "60", "32", "24", "16")  # as the notebook has it


def code_cells():
    with open(NOTEBOOK, encoding="utf-8") as file:
        return [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]


class Notebook(tide.Case):
    def test_it_was_run_in_order_and_shows_its_pictures(self):
        cells = code_cells()
        self.assertEqual([cell["execution_count"] for cell in cells],
                         list(range(1, len(cells) + 1)))
        outputs = [output for cell in cells for output in cell["outputs"]]
        kinds = [output["output_type"] for output in outputs]
        self.assertNotIn("error", kinds)
        pictures = [output for output in outputs if "image/png" in output.get("data", {})]
        self.assertEqual(len(pictures), 3)

    @unittest.skipUnless(pandas, "needs python3-pandas and python3-matplotlib")
    def test_its_tables_are_what_the_program_counts(self):
        matplotlib.use("Agg")
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in code_cells():
                exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        hydro = os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro")
        own = json.loads(subprocess.run([hydro, "--count", *SIZE], capture_output=True,
                                        text=True, check=True).stdout)
        self.assertEqual(names["labels"]["allocations"].to_dict(),
                         {row["label"]: row["calls"] for row in own["labels"]})
        self.assertEqual(names["labels"]["bytes"].to_dict(),
                         {row["label"]: row["bytes"] for row in own["labels"]})
        regions = names["regions"]
        self.assertEqual(regions[regions["calls"] > 0]["calls"].to_dict(),
                         {row["region"]: row["calls"] for row in own["regions"]})
        arenas = names["arenas"]
        again = {(row["label"], row["size"]): row["calls"]
                 for row in own["arenas"] if row["calls"] > 1}
        self.assertEqual(arenas["allocations"].to_dict(), again)
        self.assertEqual(set(arenas["arenas"]), {1})  # the program has one of each at a time


if __name__ == "__main__":
    tide.main()
