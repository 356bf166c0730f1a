/* collect/stack_frames.c - which frames of which modules stood in the stacks of a run.
 *
 * When a word was seen is not known.  Where two modules stood at its address one after the
 * other, it counts for both: one name too many does no harm.  A program may load and unload
 * one module, or many, thousands of times: each counts once, and some are enough.
 */
#include "collect/stack_frames.h"

#include <stdbool.h>

#include "trace/mappings.h"

enum { TIDE_FRAMES_OF_WORD = 16 };

/* Does FRAME stand in FRAMES from FIRST on? */
static bool has_frame(const struct tide_list *frames, size_t first,
                      struct tide_stack_frame frame)
{
    const struct tide_stack_frame *const items = frames->items;
    for (size_t i = first; i < frames->count; i++)
        if (items[i].module == frame.module && items[i].address == frame.address)
            return true;
    return false;
}

static enum tide_status add_word(struct tide_list *frames,
                                 const struct tide_process *process, uint64_t address)
{
    const size_t first = frames->count;
    size_t left = process->mapping_count;
    const struct tide_mapping *mapping;
    while (frames->count - first < TIDE_FRAMES_OF_WORD &&
           (mapping = tide_mapping_ever(process, address, &left)) != NULL) {
        const struct tide_stack_frame found = {
            mapping->module, tide_call_address(address - mapping->bias)};
        if (has_frame(frames, first, found))
            continue;
        struct tide_stack_frame *const frame = tide_list_add(frames);
        if (!frame)
            return TIDE_ENOMEM;
        *frame = found;
    }
    return TIDE_OK;
}

enum tide_status tide_stack_frames_add(struct tide_list *frames,
                                       const struct tide_trace *trace,
                                       const struct tide_seen_words *seen)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < seen->capacity && !status; i++) {
        const uint64_t slot = seen->slots[i];
        const uint32_t process = slot ? tide_seen_process(slot) : UINT32_MAX;
        if (process < trace->process_count)
            status =
                add_word(frames, &trace->processes[process], tide_seen_address(slot));
    }
    return status;
}

static int by_place(const void *one, const void *other)
{
    const struct tide_stack_frame *const a = one, *const b = other;
    if (a->module != b->module)
        return a->module > b->module ? 1 : -1;
    return (a->address > b->address) - (a->address < b->address);
}

void tide_stack_frames_settle(struct tide_list *frames)
{
    struct tide_stack_frame *const items = frames->items;
    size_t kept = 0;
    tide_list_sort(frames, by_place);
    for (size_t i = 0; i < frames->count; i++)
        if (kept == 0 || by_place(&items[kept - 1], &items[i]) != 0)
            items[kept++] = items[i];
    frames->count = kept;
}
