/* tests/programs/planted_tiny.c - a block for every short word. */
#include "planted.h"

enum { WORDS = 60000 };

static uint64_t bytes;

APART static char *copy_word(unsigned number)
{
    const size_t size = 3 + number % 8;
    char *const word = malloc(size);
    memset(word, 'x', size);
    bytes += size;
    return word;
}

int main(void)
{
    static char *words[WORDS];
    for (unsigned i = 0; i < 10; i++)
        honest_work(i);
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = copy_word(i);
    for (unsigned i = 0; i < WORDS; i++)
        free(words[i]);
    confess("tiny", "copy_word", bytes, WORDS);
    return 0;
}
