/* tests/programs/planted_leak_growing.c - one request in ten forgets its answer. */
#include "planted.h"

enum { REQUESTS = 4000, ANSWER = 1200, OPEN = 16 };

static uint64_t lost, lost_bytes;

APART static char *make_answer(unsigned request)
{
    const size_t size = ANSWER + request % 7;
    char *const answer = malloc(size);
    answer[0] = (char)request;
    if (request % 10 == 3) {
        lost++;
        lost_bytes += size;
    }
    return answer;
}

int main(void)
{
    static char *answers[OPEN];
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (i % 100 == 0)
            honest_work(i);
        free(answers[i % OPEN]);
        char *const answer = make_answer(i);
        answers[i % OPEN] = i % 10 == 3 ? NULL : answer;
    }
    for (unsigned i = 0; i < OPEN; i++)
        free(answers[i]), answers[i] = NULL;
    confess("leak_growing", "make_answer", lost_bytes, lost);
    return 0;
}
