/* tests/programs/other_words.c - calls functions of a library that are called as libc's are. */
#include "say.h"

double wait(int seconds, double factor, long more, long last);
const char *system(int number, const char *const *names, unsigned long mask);

int main(void)
{
    static const char *const names[] = {"sun", "moon"};
    say("%.1f %s\n", wait(5, 1.5, 1L << 40, 1L << 39), system(1, names, ~0ul));
    return 0;
}
