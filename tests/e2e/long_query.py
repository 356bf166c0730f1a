"""tests/e2e/long_query.py - five hundred random queries against a second opinion."""
import random

import exports
import query_judge
import tide


class RandomQueries(tide.Case):
    def test_programs(self):
        for seed, run in enumerate((("phases",), ("ground_threads", "4", "500"),
                                    ("all_calls",), ("new_delete",), ("family",))):
            with self.subTest(run=run):
                query_judge.check(self, exports.record(*run).trace,
                                  random.Random(seed + 100), 100)


if __name__ == "__main__":
    tide.main()
