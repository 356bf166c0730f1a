/* view/info_counts.c - the kinds of things a trace holds, and their names. */
#include "trace/embedded.h"
#include "trace/format.h"
#include "trace/kind_names.h"
#include "view/info.h"

/* Where a count stands in the model. */
enum source {
    TIDE_FROM_ALLOCS,
    TIDE_FROM_MAPS,
    TIDE_FROM_EXTRAS,
    TIDE_FROM_FREES,
    TIDE_FROM_FAILURES,
};

static const struct kind {
    const char *name; /* NULL: the call's own */
    enum source source;
    unsigned index;
} KINDS[] = {
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_MALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_CALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_REALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_REALLOCARRAY},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_POSIX_MEMALIGN},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_ALIGNED_ALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_MEMALIGN},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_VALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_PVALLOC},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_NEW},
    {NULL, TIDE_FROM_ALLOCS, TIDE_KIND_NEW_ARRAY},
    {"free", TIDE_FROM_FREES, 0},
    {"failed", TIDE_FROM_FAILURES, 0},
    {NULL, TIDE_FROM_MAPS, TIDE_MAP_MMAP},
    {NULL, TIDE_FROM_MAPS, TIDE_MAP_MUNMAP},
    {NULL, TIDE_FROM_MAPS, TIDE_MAP_MREMAP},
    {NULL, TIDE_FROM_MAPS, TIDE_MAP_MPROTECT},
    {NULL, TIDE_FROM_MAPS, TIDE_MAP_MADVISE},
    {"thread", TIDE_FROM_EXTRAS, TIDE_EXTRA_THREAD_BEGIN},
    {"region", TIDE_FROM_EXTRAS, TIDE_EXTRA_REGION_BEGIN},
    {"loop", TIDE_FROM_EXTRAS, TIDE_EXTRA_LOOP_BEGIN},
    {"iteration", TIDE_FROM_EXTRAS, TIDE_EXTRA_ITERATION},
    {"phase", TIDE_FROM_EXTRAS, TIDE_EXTRA_PHASE_BEGIN},
    {"label", TIDE_FROM_EXTRAS, TIDE_EXTRA_LABEL},
    {"pool block", TIDE_FROM_EXTRAS, TIDE_EXTRA_POOL_ALLOC},
    {"event", TIDE_FROM_EXTRAS, TIDE_EXTRA_EVENT},
    {"snapshot", TIDE_FROM_EXTRAS, TIDE_EXTRA_SNAPSHOT},
};

const char *tide_info_kind(const struct tide_model *model, size_t index,
                           uint64_t *count)
{
    *count = 0;
    if (index >= sizeof(KINDS) / sizeof(KINDS[0]))
        return NULL;
    const struct kind *const kind = &KINDS[index];
    switch (kind->source) {
    case TIDE_FROM_ALLOCS:
        *count = model->alloc_kinds[kind->index];
        return tide_alloc_kind_name(kind->index);
    case TIDE_FROM_MAPS:
        *count = model->map_calls[kind->index];
        return tide_map_call_name(kind->index);
    case TIDE_FROM_EXTRAS:
        *count = model->extra_records[kind->index];
        break;
    case TIDE_FROM_FREES:
        *count = model->summary[TIDE_IN_HEAP].free_calls;
        break;
    case TIDE_FROM_FAILURES:
    default:
        *count = model->summary[TIDE_IN_HEAP].failed_calls;
        break;
    }
    /* Later kinds are not worth a word when there are none. */
    const bool later =
        kind->source == TIDE_FROM_EXTRAS && kind->index > TIDE_EXTRA_SNAPSHOT;
    return later && !*count ? "" : kind->name;
}

struct tide_chunk_sums tide_info_chunks(const struct tide_trace *trace)
{
    struct tide_chunk_sums sums = {0};
    for (size_t i = 0; i < trace->chunk_count; i++) {
        sums.stored_bytes += trace->lane_chunks[i].stored_bytes;
        sums.raw_bytes += trace->lane_chunks[i].raw_bytes;
    }
    return sums;
}

size_t tide_info_embedded(const struct tide_trace *trace)
{
    struct tide_embedded *embedded;
    if (tide_embedded_open(trace, &embedded))
        return 0;
    const size_t frames = tide_embedded_frames(embedded);
    tide_embedded_close(embedded);
    return frames;
}
