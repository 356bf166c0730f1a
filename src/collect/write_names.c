/* collect/write_names.c - at the end of a run, the names of its frames go into the trace.
 *
 * The encoders know which addresses stood in stacks; which module was there is read from the
 * notes of our own file; a child reads the modules' files.  Small files go first: where time
 * is short, most modules get their names.
 */
#include "collect/write_names.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/file_facts.h"
#include "collect/notes_out.h"
#include "collect/stack_frames.h"
#include "symbol/debug_file.h"
#include "symbol/name_child.h"
#include "symbol/name_pool.h"
#include "trace/name_notes.h"

#define TIDE_NAMING_MEMORY (2ull << 30) /* bytes, of the child */

/* The frames of one module. */
struct group {
    const struct tide_stack_frame *frames; /* borrowed */
    size_t count;
    uint64_t file_bytes;
};

struct writing {
    const struct tide_trace *trace;
    const struct tide_file_fact *files; /* of its modules */
    struct tide_name_child *child;
    struct tide_name_pool pool; /* all texts, each once */
    struct tide_name_notes names;
    struct tide_naming_facts facts;
    bool over; /* time is up, or we shall end */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- One module -------------------------------------------------------------------- */

/* Texts of a module may come more than once; in the notes each is there once. */
static const char *keep(struct writing *writing, const char *text)
{
    if (!text)
        return NULL;
    const char *const kept = tide_name_pool_add(&writing->pool, text);
    writing->names.failed |= !kept;
    return kept;
}

static void add_answer(struct writing *writing, const struct tide_stack_frame *frame,
                       const struct tide_child_answer *answer)
{
    struct tide_embedded_place *const places =
        calloc(answer->count + 1, sizeof(*places));
    writing->names.failed |= !places;
    bool named = false;
    for (size_t i = 0; places && i < answer->count; i++) {
        const struct tide_location *const found = &answer->locations[i];
        places[i] = (struct tide_embedded_place){
            keep(writing, found->function), keep(writing, found->file), found->line};
        named |= found->function || found->file;
    }
    if (named && !writing->names.failed) {
        tide_name_notes_add(&writing->names, &writing->trace->modules[frame->module],
                            frame->address, places, answer->count);
        writing->facts.named++;
    }
    free(places);
}

/* Ask for all of GROUP; TIDE_ELIMIT: there was no time. */
static enum tide_status ask(struct writing *writing, const struct group *group,
                            struct tide_child_answer *answers)
{
    const struct tide_module *const module =
        &writing->trace->modules[group->frames[0].module];
    uint64_t *const addresses = calloc(group->count, sizeof(*addresses));
    const struct tide_child_file file = {.path = module->path,
                                         .build_id = module->build_id,
                                         .debug_root = TIDE_DEBUG_ROOT};
    struct tide_child_module asked = {0};
    enum tide_status status = addresses ? TIDE_OK : TIDE_ENOMEM;
    for (size_t i = 0; i < group->count && !status; i++)
        addresses[i] = group->frames[i].address;
    if (!status)
        status = tide_child_module_open(&asked, writing->child, &file);
    if (!status)
        status = tide_child_module_ask(&asked, addresses, group->count, &writing->pool,
                                       answers);
    tide_child_module_close(&asked);
    free(addresses);
    return status;
}

static void name_group(struct writing *writing, const struct group *group)
{
    struct tide_child_answer *const answers = calloc(group->count, sizeof(*answers));
    const enum tide_status status =
        answers ? ask(writing, group, answers) : TIDE_ENOMEM;
    for (size_t i = 0; i < group->count && !status; i++)
        add_answer(writing, &group->frames[i], &answers[i]);
    if (status)
        writing->facts.left += group->count;
    writing->over |= status != TIDE_OK;
    free(answers);
}

/* --- All modules ------------------------------------------------------------------- */

static int by_size(const void *one, const void *other)
{
    const struct group *const a = one, *const b = other;
    if (a->file_bytes != b->file_bytes)
        return a->file_bytes > b->file_bytes ? 1 : -1;
    return a->frames > b->frames ? 1 : -1;
}

/* The groups of FRAMES that are in files, smallest file first.  Those in files of which nobody
 * said what they are are left. */
static size_t find_groups(struct writing *writing, const struct tide_list *frames,
                          struct group *groups)
{
    const struct tide_stack_frame *const items = frames->items;
    size_t count = 0, here;
    for (size_t i = 0; i < frames->count; i += here) {
        here = 1;
        while (i + here < frames->count && items[i + here].module == items[i].module)
            here++;
        const struct tide_file_fact *const file = &writing->files[items[i].module];
        if (file->look == TIDE_FILE_THERE)
            groups[count++] = (struct group){&items[i], here, file->bytes};
        else if (file->look == TIDE_FILE_UNKNOWN)
            writing->facts.left += here;
    }
    if (count)
        qsort(groups, count, sizeof(*groups), by_size);
    return count;
}

static void name_frames(struct writing *writing, const struct tide_list *frames)
{
    struct group *const groups =
        calloc(writing->trace->module_count + 1, sizeof(*groups));
    const size_t count = groups ? find_groups(writing, frames, groups) : 0;
    for (size_t i = 0; i < count; i++) {
        if (writing->over)
            writing->facts.left += groups[i].count;
        else
            name_group(writing, &groups[i]);
    }
    free(groups);
}

static enum tide_status find_frames(const struct tide_collector *collector,
                                    const struct tide_trace *trace,
                                    struct tide_list *frames)
{
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < collector->desks.count && !status; i++)
        status = tide_stack_frames_add(
            frames, trace, tide_encoder_seen(collector->desks.all[i].encoder));
    tide_stack_frames_settle(frames);
    return status;
}

/* Words that the encoders had no room to remember: the reader has to look for their names. */
static size_t count_forgotten(const struct tide_collector *collector)
{
    size_t count = 0;
    for (uint32_t i = 0; i < collector->desks.count; i++)
        count += tide_encoder_seen(collector->desks.all[i].encoder)->left_out;
    return count;
}

/* What was found goes into the file. */
static void write_found(struct tide_collector *collector, struct writing *writing)
{
    const enum tide_status status = tide_name_notes_end(&writing->names);
    if (status) {
        writing->facts.left += writing->facts.named;
        writing->facts.named = 0;
        tide_text_clear(&writing->names.notes);
    }
    tide_notes_out_naming(&writing->names.notes, &writing->facts);
    if (!writing->names.notes.failed)
        (void)tide_name_notes_write(collector->writer, &writing->names.notes);
}

/* Ask what the files of all modules are now. */
static struct tide_file_fact *find_files(const struct tide_trace *trace,
                                         const struct tide_name_limit *limit)
{
    const struct tide_file_wait wait = {limit->until_ns, limit->cancelled,
                                        limit->context};
    struct tide_file_fact *const files =
        calloc(trace->module_count + 1, sizeof(*files));
    for (size_t i = 0; files && i < trace->module_count; i++)
        if (trace->modules[i].path[0] == '/')
            files[i].path = trace->modules[i].path;
    if (files)
        tide_file_facts_find(files, trace->module_count, &wait);
    return files;
}

/* A module without a build-id is known by what its file was. */
static void write_files(struct tide_collector *collector,
                        const struct tide_trace *trace,
                        const struct tide_file_fact *files)
{
    struct tide_text notes = {0};
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct tide_file_facts facts = {files[i].path, trace->modules[i].build_id,
                                              files[i].bytes, files[i].mtime_ns};
        if (files[i].look == TIDE_FILE_THERE)
            tide_notes_out_file(&notes, &facts);
    }
    if (!notes.failed)
        (void)tide_name_notes_write(collector->writer, &notes);
    tide_text_release(&notes);
}

static void write_names(struct tide_collector *collector,
                        const struct tide_name_limit *limit, struct writing *writing)
{
    struct tide_list frames = {.item_bytes = sizeof(struct tide_stack_frame)};
    enum tide_status status = find_frames(collector, writing->trace, &frames);
    if (!status)
        status = tide_name_child_new(NULL, &writing->child);
    if (!status) {
        tide_name_child_limit(writing->child, limit);
        writing->facts.left = count_forgotten(collector);
        writing->facts.frames = frames.count + writing->facts.left;
        name_frames(writing, &frames);
        write_found(collector, writing);
    }
    tide_name_child_free(writing->child);
    tide_name_notes_release(&writing->names);
    tide_name_pool_release(&writing->pool);
    free(frames.items);
}

static struct tide_name_limit limit_of(const struct tide_naming *naming)
{
    const uint64_t ms =
        naming->limit_ms == TIDE_NAMING_NONE ? TIDE_NAMING_MS : naming->limit_ms;
    return (struct tide_name_limit){
        .until_ns = ms == TIDE_NAMING_UNLIMITED ? 0 : now_ns() + ms * 1000000,
        .memory = TIDE_NAMING_MEMORY,
        .cancelled = naming->cancelled,
        .context = naming->context,
    };
}

void tide_collector_write_names(struct tide_collector *collector,
                                const struct tide_naming *naming)
{
    const struct tide_name_limit limit = limit_of(naming);
    struct tide_trace *trace;
    char why[160];
    if (tide_writer_removed(collector->writer))
        return;
    const int fd = tide_writer_open_again(collector->writer);
    if (fd < 0 || tide_trace_open_fd(fd, "the trace", why, sizeof(why), &trace))
        return;
    struct tide_file_fact *const files = find_files(trace, &limit);
    struct writing writing = {.trace = trace, .files = files};
    if (files)
        write_files(collector, trace, files);
    if (files && naming->limit_ms != TIDE_NAMING_NONE)
        write_names(collector, &limit, &writing);
    free(files);
    tide_trace_close(trace);
}
