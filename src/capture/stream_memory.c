/* capture/stream_memory.c - the memory of streams, and who may have it.
 *
 * It is never given back.  A forked child finds all of it wiped, so none is taken, and hands it
 * out again from the first on: however long a chain of forks is, its last process holds no more
 * than it needs.  Two kinds are somebody's already: that of the thread that forked, which says
 * so before others are looked for, and what was not wiped (tide_stream_keep_on_fork()).
 */
#include "capture/process.h"
#include "capture/stream.h"

enum { TIDE_STREAMS_MOST = TIDE_LANES_MAX + 1024 };

/* Those that were ever made, in this order; kept over fork. */
static _Atomic(struct tide_stream *) known[TIDE_STREAMS_MOST];

void tide_stream_keep(struct tide_stream *stream)
{
    if (stream->taken)
        return;
    stream->taken = true;
    tide_process->mapped_bytes += sizeof(*stream);
}

struct tide_stream *tide_stream_new(void)
{
    uint32_t number;
    while ((number = atomic_fetch_add(&tide_process->streams_looked_at, 1)) <
           TIDE_STREAMS_MOST) {
        struct tide_stream *stream = atomic_load(&known[number]);
        if (!stream) {
            stream = tide_private_memory(sizeof(*stream));
            atomic_store(&known[number], stream);
        }
        if (!stream)
            return NULL;
        if (!stream->taken) {
            tide_stream_keep(stream);
            return stream;
        }
    }
    return NULL;
}
