/* trace/resolve.c - words of stacks -> frames: module and offset.
 *
 * A lane's dictionary forgets its words at every reset, so most words come up again and
 * again; one table for all lanes remembers what they were.
 */
#include "trace/resolve.h"

#include <stdlib.h>

#include "trace/format.h"
#include "trace/mappings.h"

enum {
    TIDE_RESOLVED_BITS = 14,
    TIDE_LATE_MOST = 4, /* epochs that a thread may be behind: see native_frame() */
};

enum tide_status tide_resolver_init(struct tide_resolver *resolver,
                                    const struct tide_trace *trace,
                                    struct tide_stacks *stacks)
{
    *resolver = (struct tide_resolver){
        .trace = trace,
        .stacks = stacks,
        .cache = calloc((size_t)1 << TIDE_RESOLVED_BITS, sizeof(struct tide_resolved)),
    };
    return resolver->cache ? TIDE_OK : TIDE_ENOMEM;
}

void tide_resolver_release(struct tide_resolver *resolver)
{
    free(resolver->cache);
    *resolver = (struct tide_resolver){0};
}

/* A thread is told of a new library between two of its calls.  The call that it is in
 * meanwhile may be the library's already: what was nowhere is looked for a little later. */
static struct tide_frame native_frame(const struct tide_process *process,
                                      uint64_t epoch, uint64_t address)
{
    const struct tide_mapping *mapping = tide_mapping_find(process, epoch, address);
    for (uint64_t late = 1; !mapping && late <= TIDE_LATE_MOST; late++)
        mapping = tide_mapping_find(process, epoch + late, address);
    struct tide_frame frame = {
        .kind = TIDE_FRAME_NATIVE, .module = TIDE_NO_MODULE, .value = address};
    if (mapping) {
        frame.module = mapping->module;
        frame.value = address - mapping->bias;
    }
    return frame;
}

static struct tide_frame frame_of(const struct tide_process *process, uint64_t epoch,
                                  uint64_t word)
{
    const uint64_t value = word & TIDE_WORD_VALUE_MASK;
    const unsigned kind = TIDE_WORD_KIND(word);
    if (kind == TIDE_FRAME_NATIVE)
        return native_frame(process, epoch, value);
    struct tide_frame frame = {.kind = TIDE_FRAME_SYNTHETIC,
                               .module = TIDE_NO_MODULE,
                               .value = TIDE_SYNTHETIC_UNKNOWN};
    if (kind == TIDE_FRAME_PYTHON) {
        frame.kind = TIDE_FRAME_PYTHON;
        frame.value = value;
    }
    if (kind == TIDE_FRAME_SYNTHETIC && value && value < TIDE_SYNTHETICS)
        frame.value = value;
    return frame;
}

enum tide_status tide_resolve(struct tide_resolver *resolver, uint32_t process,
                              uint64_t epoch, uint64_t word, uint32_t *frame)
{
    const uint64_t hash = (word ^ (uint64_t)process << 40 ^ epoch << 50);
    const size_t place =
        (size_t)((hash * 0x9e3779b97f4a7c15u) >> (64 - TIDE_RESOLVED_BITS));
    struct tide_resolved *known = &resolver->cache[place];
    if (known->frame && known->word == word && known->epoch == epoch &&
        known->process == process) {
        *frame = known->frame - 1;
        return TIDE_OK;
    }
    const struct tide_frame meant =
        frame_of(&resolver->trace->processes[process], epoch, word);
    const enum tide_status status = tide_stacks_frame(resolver->stacks, meant, frame);
    if (!status)
        *known = (struct tide_resolved){
            .word = word, .epoch = epoch, .process = process, .frame = *frame + 1};
    return status;
}
