"""tests/e2e/long_many_stacks.py - a million different stacks."""
import many_stacks
import tide


class Million(many_stacks.ManyStacks):
    steps = 20
    most_kib = 1300 * 1024


if __name__ == "__main__":
    tide.main()
