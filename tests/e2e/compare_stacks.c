/* e2e/compare_stacks.c - are the stacks of a trace those that libunwind saw?
 *
 * Usage: compare_stacks TRACE WITNESS.  Prints one JSON object; exits 1 when a file cannot
 * be read.  TRACE is of a program that ran with tests/programs/lib_witness.so, which wrote
 * WITNESS: the same calls of the same run, with the stacks that libunwind found.
 *
 * For each thread, the calls of the trace that made or moved a block are laid beside those
 * of the witness, in their order; address and size tell that both mean the same call.  Of
 * the program that was started only, not of its children.  A frame of the trace is a module
 * and an offset, which is turned back into the address that the module had.
 *
 *   calls      that both saw; their stacks were compared
 *   differing  those whose stacks differ; `first` shows some
 *   short      those of them that are the same as far as they go, and then say that the
 *              walk could not go on
 *   unknown    those where the trace says, in a frame more, that the walk could not go on
 *   loader     the same at the loader's own first instructions, which have no tables: every
 *              stack of a library's constructor ends there
 *   moved      those with code that a signal interrupted: it is at pc, which a trace holds
 *              as pc + 1, because readers look one byte before a frame's address
 *   early      calls of the trace from before the recorder takes stacks
 *   unpaired   other calls that only one of the two saw
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../programs/witness.h"
#include "trace/format.h"
#include "trace/list.h"
#include "trace/trace.h"

enum { BATCH = 512, SHOWN = 4, AHEAD = 64, TOGETHER = 4 };

/* A call that made or moved a block. */
struct call {
    uint64_t address, size;
    uint32_t thread;
    uint32_t stack; /* node of the tree, or number of the witness's stack */
    uint64_t order; /* among all of one side: keeps a thread's in their order */
};

struct side {
    struct tide_trace *trace;
    struct tide_stacks stacks;
    const struct tide_process *process; /* borrowed: the one that is looked at */
    struct witness_file *file;          /* mapped */
    size_t file_bytes;
    struct tide_list places; /* uint64_t: where in the file each stack stands */
    struct tide_list calls;  /* of the trace */
    struct tide_list seen;   /* by the witness */
    uint32_t *known;         /* by node: 1 + the witness's stack that is the same */
};

/* What came of it. */
struct verdict {
    uint64_t calls, frames, deepest;
    uint64_t differing, brief, unknown, loader, moved, early, unpaired;
    uint32_t shown;
};

static bool add(struct tide_list *list, const void *item)
{
    if (!tide_list_reserve(list, list->count + 1))
        return false;
    memcpy((char *)list->items + list->count++ * list->item_bytes, item,
           list->item_bytes);
    return true;
}

/* --- The trace -------------------------------------------------------------------------- */

static bool keep(struct side *side, const struct tide_event *event, uint32_t *threads)
{
    if (event->kind == TIDE_EVENT_EXTRA && event->extra == TIDE_EXTRA_THREAD_BEGIN)
        threads[event->lane] = (uint32_t)event->value;
    if (&side->trace->processes[event->process] != side->process ||
        (event->kind != TIDE_EVENT_ALLOC && event->kind != TIDE_EVENT_MOVE_END))
        return true;
    return add(&side->calls, &(struct call){.address = event->address,
                                            .size = event->size,
                                            .thread = threads[event->lane],
                                            .stack = event->stack,
                                            .order = side->calls.count});
}

static enum tide_status read_calls(struct side *side)
{
    struct tide_event events[BATCH];
    struct tide_replay *replay;
    uint32_t *threads = calloc(side->trace->lane_count + 1, sizeof(*threads));
    enum tide_status status =
        threads ? tide_replay_open(side->trace, &side->stacks, &replay) : TIDE_ENOMEM;
    if (status)
        goto free_threads;
    for (size_t count = 1; count && !status;) {
        status = tide_replay_next(replay, events, BATCH, &count);
        for (size_t i = 0; i < count && !status; i++)
            status = keep(side, &events[i], threads) ? TIDE_OK : TIDE_ENOMEM;
    }
    tide_replay_close(replay);
free_threads:
    free(threads);
    return status;
}

static bool read_trace(struct side *side, const char *path)
{
    char why[200] = "";
    enum tide_status status = tide_trace_open(path, why, sizeof(why), &side->trace);
    if (!status)
        status = tide_stacks_init(&side->stacks);
    for (size_t i = 0; !status && i < side->trace->process_count; i++)
        if (side->trace->processes[i].main)
            side->process = &side->trace->processes[i];
    if (!status && !side->process)
        status = TIDE_ECORRUPT;
    if (!status)
        status = read_calls(side);
    if (status)
        fprintf(stderr, "%s: %s\n", path, *why ? why : tide_status_words(status));
    side->known = calloc(side->stacks.node_count + 1, sizeof(*side->known));
    return !status && side->known;
}

/* --- The witness ------------------------------------------------------------------------ */

static bool map_witness(struct side *side, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    side->file_bytes = (size_t)lseek(fd, 0, SEEK_END);
    void *at = mmap(NULL, side->file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    side->file = at == MAP_FAILED ? NULL : at;
    return side->file && !side->file->full;
}

static bool read_witness(struct side *side, const char *path)
{
    if (!map_witness(side, path)) {
        fprintf(stderr, "%s: no witness\n", path);
        return false;
    }
    const uint64_t *const words = side->file->words;
    for (uint64_t at = 0; at < side->file->used;) {
        if (words[at] & WITNESS_STACK) {
            if (!add(&side->places, &at))
                return false;
            at += 1 + WITNESS_COUNT(words[at]);
            continue;
        }
        if (!add(&side->seen, &(struct call){.thread = (uint32_t)(words[at] >> 32),
                                             .stack = (uint32_t)words[at],
                                             .address = words[at + 1],
                                             .size = words[at + 2],
                                             .order = side->seen.count}))
            return false;
        at += 3;
    }
    return true;
}

/* A stack of the witness: return addresses, innermost first. */
struct witnessed {
    const uint64_t *pcs;
    uint64_t count, inner;
};

/* What libunwind gives as the last frame of a stack that has none left is no frame. */
static struct witnessed witnessed(const struct side *side, uint32_t stack)
{
    const uint64_t at = ((const uint64_t *)side->places.items)[stack];
    const uint64_t head = side->file->words[at];
    struct witnessed found = {&side->file->words[at + 1], WITNESS_COUNT(head),
                              WITNESS_INNER(head)};
    while (found.count > 1 && found.pcs[found.count - 1] < 4096)
        found.count--;
    return found;
}

/* --- Comparing -------------------------------------------------------------------------- */

static const struct tide_frame *frame_of(const struct side *side, uint32_t node)
{
    return &side->stacks.frames[side->stacks.nodes[node].frame];
}

/* Was FRAME at ADDRESS?  A module that was loaded twice may have been at two. */
static bool is_at(const struct side *side, const struct tide_frame *frame,
                  uint64_t address)
{
    if (frame->kind != TIDE_FRAME_NATIVE)
        return false;
    if (frame->module == TIDE_NO_MODULE)
        return frame->value == address;
    for (size_t i = 0; i < side->process->mapping_count; i++) {
        const struct tide_mapping *mapping = &side->process->mappings[i];
        if (mapping->module == frame->module && frame->value + mapping->bias == address)
            return true;
    }
    return false;
}

/* The frame of NODE's stack that stands on DEPTH - 1 others, from the outside. */
static const struct tide_frame *frame_on(const struct side *side, uint32_t node,
                                         uint32_t depth)
{
    while (side->stacks.nodes[node].depth > depth)
        node = side->stacks.nodes[node].parent;
    return frame_of(side, node);
}

/* What the outermost frame of NODE says beside where it is; 0: nothing. */
static uint64_t outermost_word(const struct side *side, uint32_t node)
{
    const struct tide_frame *frame = node ? frame_on(side, node, 1) : NULL;
    return frame && frame->kind == TIDE_FRAME_SYNTHETIC ? frame->value : 0;
}

/* Frames of NODE that are places in code. */
static uint64_t real_frames(const struct side *side, uint32_t node)
{
    const bool more = outermost_word(side, node) == TIDE_SYNTHETIC_UNKNOWN;
    return side->stacks.nodes[node].depth - more;
}

/* Are the innermost COUNT frames of NODE at PCS?  *MOVED: but for the byte behind an
 * interrupted pc. */
static bool same_frames(const struct side *side, uint32_t node, const uint64_t *pcs,
                        uint64_t count, bool *moved)
{
    for (uint64_t i = 0; i < count; i++, node = side->stacks.nodes[node].parent) {
        const struct tide_frame *const frame = frame_of(side, node);
        if (is_at(side, frame, pcs[i]))
            continue;
        if (i == 0 || !is_at(side, frame, pcs[i] + 1))
            return false;
        *moved = true;
    }
    return true;
}

static bool same_stack(const struct side *side, uint32_t node, uint32_t stack,
                       bool *moved)
{
    const struct witnessed found = witnessed(side, stack);
    const uint64_t count = real_frames(side, node);
    return (count == found.count - found.inner &&
            same_frames(side, node, found.pcs + found.inner, count, moved)) ||
           (count == found.count && same_frames(side, node, found.pcs, count, moved));
}

static bool is_brief(const struct side *side, uint32_t node, uint32_t stack)
{
    const struct witnessed found = witnessed(side, stack);
    const uint64_t count = real_frames(side, node);
    bool moved;
    return count < side->stacks.nodes[node].depth &&
           count <= found.count - found.inner &&
           same_frames(side, node, found.pcs + found.inner, count, &moved);
}

static const char *module_of(const struct side *side, const struct tide_frame *frame)
{
    if (frame->kind == TIDE_FRAME_SYNTHETIC)
        return "synthetic";
    if (frame->module == TIDE_NO_MODULE)
        return "";
    const char *path = side->trace->modules[frame->module].path;
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void show(struct verdict *verdict, const struct side *side,
                 const struct call *call, const struct call *seen)
{
    const struct witnessed found = witnessed(side, seen->stack);
    if (verdict->shown == SHOWN)
        return;
    printf("%s\n  {\"size\": %" PRIu64 ", \"trace\": [", verdict->shown++ ? "," : "",
           call->size);
    for (uint32_t node = call->stack; node; node = side->stacks.nodes[node].parent)
        printf("\"%s+0x%" PRIx64 "\"%s", module_of(side, frame_of(side, node)),
               frame_of(side, node)->value,
               side->stacks.nodes[node].depth > 1 ? ", " : "");
    printf("],\n   \"libunwind\": [");
    for (uint64_t i = 0; i < found.count; i++)
        printf("\"0x%" PRIx64 "\"%s", found.pcs[i], i + 1 < found.count ? ", " : "");
    printf("]}");
}

/* Does NODE's stack end as UNKNOWN in the loader? */
static bool ends_in_loader(const struct side *side, uint32_t node)
{
    return side->stacks.nodes[node].depth > 1 &&
           strncmp(module_of(side, frame_on(side, node, 2)), "ld-linux", 8) == 0;
}

static void count_ends(struct verdict *verdict, const struct side *side, uint32_t node)
{
    if (outermost_word(side, node) != TIDE_SYNTHETIC_UNKNOWN)
        return;
    if (ends_in_loader(side, node))
        verdict->loader++;
    else
        verdict->unknown++;
}

static void compare_call(struct verdict *verdict, const struct side *side,
                         const struct call *call, const struct call *seen)
{
    const uint64_t depth = side->stacks.nodes[call->stack].depth;
    bool moved = false;
    verdict->calls++;
    verdict->frames += depth;
    count_ends(verdict, side, call->stack);
    if (depth > verdict->deepest)
        verdict->deepest = depth;
    if (side->known[call->stack] == seen->stack + 1)
        return;
    if (!same_stack(side, call->stack, seen->stack, &moved)) {
        verdict->differing++;
        verdict->brief += is_brief(side, call->stack, seen->stack);
        show(verdict, side, call, seen);
    } else if (moved) {
        verdict->moved++;
    } else {
        side->known[call->stack] = seen->stack + 1;
    }
}

static int by_thread(const void *first, const void *second)
{
    const struct call *a = first, *b = second;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* operator new asks malloc for a little more now and then, never for less. */
static bool same_call(const struct call *call, const struct call *seen)
{
    return call->thread == seen->thread && call->address == seen->address &&
           call->size <= seen->size;
}

/* Are calls[I] and seen[J] the same, and those after them?  Addresses come again. */
static bool go_together(const struct side *side, size_t i, size_t j)
{
    const struct call *const calls = side->calls.items, *const seen = side->seen.items;
    if (i >= side->calls.count || j >= side->seen.count)
        return false;
    for (size_t k = 0; k < TOGETHER; k++)
        if (i + k < side->calls.count && j + k < side->seen.count &&
            !same_call(&calls[i + k], &seen[j + k]))
            return false;
    return true;
}

/* Calls[I] and seen[J] are not the same call.  How many of the witness's have to be left
 * out until they are; 0 when leaving out calls[I] is the shorter way. */
static size_t witness_alone(const struct side *side, size_t i, size_t j)
{
    for (size_t d = 1; d < AHEAD; d++) {
        if (go_together(side, i + d, j))
            return 0;
        if (go_together(side, i, j + d))
            return d;
    }
    return 0;
}

static void compare(struct verdict *verdict, struct side *side)
{
    size_t j = 0;
    tide_list_sort(&side->calls, by_thread);
    tide_list_sort(&side->seen, by_thread);
    const struct call *const calls = side->calls.items, *const seen = side->seen.items;
    for (size_t i = 0; i < side->calls.count; i++) {
        const bool early = outermost_word(side, calls[i].stack) == TIDE_SYNTHETIC_EARLY;
        const bool both = j < side->seen.count && same_call(&calls[i], &seen[j]);
        const size_t alone = both ? 0 : witness_alone(side, i, j);
        verdict->early += early;
        verdict->unpaired += alone + (!early && !both && !alone);
        if (!both && !alone)
            continue;
        j += alone + 1;
        if (!early)
            compare_call(verdict, side, &calls[i], &seen[j - 1]);
    }
    verdict->unpaired += side->seen.count - j;
}

static void print(const struct verdict *verdict, const struct side *side)
{
    printf("],\n \"calls\": %" PRIu64 ", \"stacks\": %zu, \"frames\": %" PRIu64
           ", \"deepest\": %" PRIu64 ", \"differing\": %" PRIu64 ", \"short\": %" PRIu64
           ", \"unknown\": %" PRIu64 ", \"loader\": %" PRIu64 ",\n \"moved\": %" PRIu64
           ", \"early\": %" PRIu64 ", \"unpaired\": %" PRIu64 "}\n",
           verdict->calls, side->places.count, verdict->frames, verdict->deepest,
           verdict->differing, verdict->brief, verdict->unknown, verdict->loader,
           verdict->moved, verdict->early, verdict->unpaired);
}

static void release(struct side *side)
{
    tide_trace_close(side->trace);
    tide_stacks_release(&side->stacks);
    if (side->file)
        munmap(side->file, side->file_bytes);
    free(side->places.items);
    free(side->calls.items);
    free(side->seen.items);
    free(side->known);
}

int main(int argc, char **argv)
{
    struct side side = {.places = {.item_bytes = sizeof(uint64_t)},
                        .calls = {.item_bytes = sizeof(struct call)},
                        .seen = {.item_bytes = sizeof(struct call)}};
    struct verdict verdict = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: compare_stacks TRACE WITNESS\n");
        return 2;
    }
    const bool read = read_trace(&side, argv[1]) && read_witness(&side, argv[2]);
    if (read) {
        printf("{\"first\": [");
        compare(&verdict, &side);
        print(&verdict, &side);
    }
    release(&side);
    return !read;
}
