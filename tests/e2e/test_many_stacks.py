"""tests/e2e/test_many_stacks.py - a hundred thousand different stacks."""
import many_stacks
import tide


class Many(many_stacks.ManyStacks):
    steps = 17
    most_kib = 300 * 1024

    def test_rows_are_not_gathered_before_they_are_written(self):
        """They are 400 MB."""
        self.report("--leaks", "--stacks", "--json")


if __name__ == "__main__":
    tide.main()
