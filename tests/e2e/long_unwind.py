"""tests/e2e/long_unwind.py - the stacks of large programs, one by one, against libunwind's."""
import tempfile

import tide
import witness


class LargePrograms(witness.Case):
    def test_our_walk(self):
        with tempfile.TemporaryDirectory(prefix="tide-witness-") as folder:
            self.all_of(witness.large(folder))


if __name__ == "__main__":
    tide.main()
