"""tests/e2e/test_query_random.py - a hundred random queries against a second opinion."""
import random

import exports
import query_judge
import tide


class RandomQueries(tide.Case):
    def test_phases(self):
        query_judge.check(self, exports.record("phases").trace, random.Random(1), 60)

    def test_threads(self):
        query_judge.check(self, exports.record("ground_threads", "3", "200").trace,
                          random.Random(2), 40)


if __name__ == "__main__":
    tide.main()
