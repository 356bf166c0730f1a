/* tests/programs/grows_until_killed.c - a service that keeps every request until a signal ends
 * it, and says before how much that is. */
#include <signal.h>
#include <unistd.h>

#include "planted.h"

enum { REQUESTS = 400, REQUEST = 10000 };

static APART char *keep_request(unsigned number)
{
    char *const request = malloc(REQUEST);
    memset(request, (int)number, REQUEST);
    return request;
}

int main(void)
{
    static char *volatile requests[REQUESTS];
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (i % 20 == 0)
            honest_work(i);
        requests[i] = keep_request(i);
        rest(0.004);
    }
    confess("growing", "keep_request", (uint64_t)REQUESTS * REQUEST, REQUESTS);
    raise(SIGKILL);
    return requests[0] == NULL;
}
