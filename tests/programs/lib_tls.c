/* tests/programs/lib_tls.c - a library with thread-local data, which allocates. */
#include <stdlib.h>

void *plugin_make(size_t size);

static _Thread_local void *last;
static _Thread_local char room[5000];

__attribute__((noinline)) static void *make_with_tls(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

/* Frees what this thread got before; touches its data only after the first malloc. */
void *plugin_make(size_t size)
{
    void *block = make_with_tls(size);
    free(last);
    last = block;
    room[size % sizeof(room)]++;
    return block;
}
