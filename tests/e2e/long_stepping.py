"""tests/e2e/long_stepping.py - a signal at every single instruction of the recorded calls."""
import stepping
import tide


class EveryInstruction(stepping.Case):
    def test_handlers_that_return(self):
        for what, stride in (("pair", 1), ("numbered", 1), ("realloc", 3), ("first", 61)):
            for first in range(min(stride, 3)):
                with self.subTest(what=what, first=first):
                    self.returns(what, first, stride)

    def test_handlers_that_interrupt_handlers(self):
        for first in range(100, 1300, 100):
            with self.subTest(first=first):
                self.returns("numbered", first, 3, how="twice")

    def test_handlers_that_jump(self):
        for what, stride in (("pair", 1), ("numbered", 1), ("realloc", 3), ("first", 61)):
            for first in range(min(stride, 3)):
                with self.subTest(what=what, first=first):
                    self.jumps(what, first, stride)


if __name__ == "__main__":
    tide.main()
