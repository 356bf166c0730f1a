/* model/context.c - where the program was when it made a block: thread, region, label.
 */
#include "model/context.h"

#include <stdlib.h>

#include "model/grow.h"

#define TIDE_EXCLUDED (1u << 31) /* beside the space */
#define TIDE_RENAMED  (1u << 30)

void tide_contexts_release(struct tide_contexts *contexts)
{
    tide_pairs_release(&contexts->contexts);
    tide_pairs_release(&contexts->regions);
    tide_pairs_release(&contexts->names);
    tide_pairs_release(&contexts->texts);
    tide_pairs_release(&contexts->rests);
    free(contexts->name_texts);
    free(contexts->strings);
    free(contexts->threads);
    tide_intern_release(&contexts->interned);
    tide_arena_release(&contexts->arena);
    *contexts = (struct tide_contexts){0};
}

/* --- Names -------------------------------------------------------------------------- */

/* A number for STRING, or for the nameless NAME when that is NULL. */
static enum tide_status find_text(struct tide_contexts *contexts, const char *string,
                                  struct tide_pair name, uint32_t *out)
{
    const char *kept = NULL;
    if (string) {
        kept = tide_intern(&contexts->interned, &contexts->arena, string);
        if (!kept)
            return TIDE_ENOMEM;
        /* No process has a number like this. */
        name = (struct tide_pair){UINT64_MAX, (uint64_t)(uintptr_t)kept};
    }
    const enum tide_status status = tide_pairs_find(&contexts->texts, name, out);
    if (status)
        return status;
    const char **const strings =
        tide_grown(contexts->strings, &contexts->string_capacity, (size_t)*out + 1,
                   sizeof(*strings));
    if (!strings)
        return TIDE_ENOMEM;
    contexts->strings = strings;
    strings[*out] = kept;
    return TIDE_OK;
}

/* The text that PROCESS calls ID, + 1.  ID 0 is none. */
static enum tide_status find_name(struct tide_contexts *contexts, uint32_t process,
                                  uint64_t id, uint32_t *out)
{
    const struct tide_pair name = {process, id};
    uint32_t number;
    *out = 0;
    if (!id)
        return TIDE_OK;
    enum tide_status status = tide_pairs_find(&contexts->names, name, &number);
    if (status)
        return status;
    uint32_t *const texts = tide_grown(contexts->name_texts, &contexts->name_capacity,
                                       (size_t)number + 1, sizeof(*texts));
    if (!texts)
        return TIDE_ENOMEM;
    contexts->name_texts = texts;
    if (!texts[number]) {
        const struct tide_name_source *const source = &contexts->source;
        const char *const string =
            source->name ? source->name(source->user, process, id) : NULL;
        uint32_t text;
        status = find_text(contexts, string, name, &text);
        if (status)
            return status;
        texts[number] = text + 1;
    }
    *out = texts[number];
    return TIDE_OK;
}

enum tide_status tide_context_name(struct tide_contexts *contexts, uint32_t process,
                                   uint64_t id)
{
    uint32_t text;
    return find_name(contexts, process, id, &text);
}

/* --- Contexts ----------------------------------------------------------------------- */

struct tide_context tide_context_of(const struct tide_contexts *contexts,
                                    uint32_t number)
{
    const struct tide_pair pair = contexts->contexts.list[number];
    return (struct tide_context){
        .thread = (uint32_t)(pair.one >> 32),
        .region = (uint32_t)pair.one,
        .label = (uint32_t)(pair.other >> 32),
        .space = (uint32_t)pair.other & ~(TIDE_EXCLUDED | TIDE_RENAMED),
        .excluded = pair.other & TIDE_EXCLUDED,
        .renamed = pair.other & TIDE_RENAMED,
    };
}

static enum tide_status find_context(struct tide_contexts *contexts,
                                     struct tide_context context, uint32_t *out)
{
    const struct tide_pair pair = {
        (uint64_t)context.thread << 32 | context.region,
        (uint64_t)context.label << 32 | context.space |
            (context.excluded ? TIDE_EXCLUDED : 0) |
            (context.renamed ? TIDE_RENAMED : 0),
    };
    return tide_pairs_find(&contexts->contexts, pair, out);
}

enum tide_status tide_where_context(struct tide_contexts *contexts,
                                    struct tide_where *where, enum tide_space space)
{
    const struct tide_context context = {
        .thread = where->thread, .region = where->region, .space = space};
    return find_context(contexts, context, &where->context[space]);
}

enum tide_status tide_context_label(struct tide_contexts *contexts, uint32_t context,
                                    uint32_t process, uint64_t id, uint32_t *out)
{
    struct tide_context labelled = tide_context_of(contexts, context);
    const enum tide_status status = find_name(contexts, process, id, &labelled.label);
    return status ? status : find_context(contexts, labelled, out);
}

enum tide_status tide_context_unlabel(struct tide_contexts *contexts, uint32_t context,
                                      uint32_t *out)
{
    struct tide_context bare = tide_context_of(contexts, context);
    bare.renamed |= bare.label != 0;
    bare.label = 0;
    return find_context(contexts, bare, out);
}

enum tide_status tide_context_like(struct tide_contexts *contexts, uint32_t context,
                                   uint32_t other, uint32_t *out)
{
    struct tide_context labelled = tide_context_of(contexts, context);
    labelled.label = tide_context_of(contexts, other).label;
    return find_context(contexts, labelled, out);
}

enum tide_status tide_context_exclude(struct tide_contexts *contexts, uint32_t context,
                                      uint32_t *out)
{
    struct tide_context excluded = tide_context_of(contexts, context);
    excluded.excluded = true;
    return find_context(contexts, excluded, out);
}

/* --- Lanes -------------------------------------------------------------------------- */

static void move_on(struct tide_where *where)
{
    for (size_t space = 0; space < TIDE_SPACES; space++)
        where->context[space] = TIDE_NO_CONTEXT;
}

void tide_where_begin(struct tide_where *where)
{
    *where = (struct tide_where){.thread = TIDE_NO_THREAD};
    move_on(where);
}

/* A new entry of the list; TIDE_NO_THREAD without memory. */
static uint32_t add_thread(struct tide_contexts *contexts,
                           const struct tide_key_thread *thread)
{
    struct tide_key_thread *const threads =
        tide_grown(contexts->threads, &contexts->thread_capacity,
                   contexts->thread_count + 1, sizeof(*threads));
    if (!threads)
        return TIDE_NO_THREAD;
    contexts->threads = threads;
    threads[contexts->thread_count] = *thread;
    return (uint32_t)contexts->thread_count++;
}

enum tide_status tide_where_thread(struct tide_contexts *contexts,
                                   struct tide_where *where,
                                   const struct tide_key_thread *thread)
{
    tide_where_begin(where);
    const size_t count = contexts->thread_count;
    uint32_t number = (uint32_t)count;
    if (count >= TIDE_THREADS_APART) {
        const struct tide_pair process = {thread->process, 0};
        const enum tide_status status =
            tide_pairs_find(&contexts->rests, process, &number);
        if (status)
            return status;
        number += TIDE_THREADS_APART;
    }
    if (number == count && add_thread(contexts, thread) == TIDE_NO_THREAD)
        return TIDE_ENOMEM;
    if (++contexts->threads[number].count > 1)
        contexts->threads[number].tid = 0; /* of none in particular */
    where->thread = number;
    return TIDE_OK;
}

static enum tide_status find_region(struct tide_contexts *contexts, uint32_t around,
                                    uint32_t name, uint32_t *out)
{
    uint32_t number;
    const enum tide_status status =
        tide_pairs_find(&contexts->regions, (struct tide_pair){around, name}, &number);
    *out = number + 1;
    return status;
}

static uint32_t around(const struct tide_contexts *contexts, uint32_t region)
{
    return (uint32_t)contexts->regions.list[region - 1].one;
}

/* How many regions of WHERE are told apart. */
static uint32_t told_apart(uint32_t depth)
{
    return depth < TIDE_REGIONS_DEEP ? depth : TIDE_REGIONS_DEEP;
}

enum tide_status tide_where_enter(struct tide_contexts *contexts,
                                  struct tide_where *where, uint32_t process,
                                  uint64_t id)
{
    uint32_t name;
    enum tide_status status = TIDE_OK;
    if (where->depth < TIDE_REGIONS_DEEP) {
        status = find_name(contexts, process, id, &name);
        if (!status)
            status = find_region(contexts, where->region, name, &where->region);
        if (status)
            return status;
        move_on(where);
    }
    where->depth += where->depth < UINT32_MAX;
    return TIDE_OK;
}

enum tide_status tide_where_leave(struct tide_contexts *contexts,
                                  struct tide_where *where, uint32_t process,
                                  uint64_t id)
{
    const uint32_t lowest = where->phases + where->inherited;
    uint32_t name, region = where->region;
    if (where->depth > TIDE_REGIONS_DEEP) {
        where->depth--;
        return TIDE_OK;
    }
    const enum tide_status status = find_name(contexts, process, id, &name);
    if (status)
        return status;
    for (uint32_t depth = where->depth; depth > lowest; depth--) {
        const struct tide_pair last = contexts->regions.list[region - 1];
        region = (uint32_t)last.one;
        if (name && last.other != name)
            continue;
        contexts->region_mismatches += depth < where->depth;
        where->region = region;
        where->depth = depth - 1;
        move_on(where);
        return TIDE_OK;
    }
    contexts->region_mismatches++;
    return TIDE_OK;
}

enum tide_status tide_where_inherit(struct tide_contexts *contexts,
                                    struct tide_where *where, uint32_t process,
                                    struct tide_inherited inherited)
{
    if (inherited.level == 0) {
        for (uint32_t i = told_apart(where->depth); i > where->phases; i--)
            where->region = around(contexts, where->region);
        where->depth = told_apart(where->phases);
        where->inherited = 0;
        move_on(where);
    }
    if (!inherited.id || where->depth >= TIDE_REGIONS_DEEP)
        return TIDE_OK;
    where->inherited += !inherited.own;
    return tide_where_enter(contexts, where, process, inherited.id);
}

/* --- Phases -------------------------------------------------------------------------- */

enum tide_status tide_phases_enter(struct tide_contexts *contexts,
                                   struct tide_phases *phases, uint32_t process,
                                   uint64_t id)
{
    uint32_t name;
    enum tide_status status = find_name(contexts, process, id, &name);
    if (status || phases->depth >= TIDE_REGIONS_DEEP / 2)
        return status;
    phases->depth++;
    return find_region(contexts, phases->region, name, &phases->region);
}

enum tide_status tide_phases_leave(struct tide_contexts *contexts,
                                   struct tide_phases *phases, uint32_t process,
                                   uint64_t id)
{
    uint32_t name, region = phases->region;
    const enum tide_status status = find_name(contexts, process, id, &name);
    if (status)
        return status;
    for (uint32_t depth = phases->depth; depth > 0; depth--) {
        const struct tide_pair last = contexts->regions.list[region - 1];
        region = (uint32_t)last.one;
        if (name && last.other != name)
            continue;
        contexts->region_mismatches += depth < phases->depth;
        *phases = (struct tide_phases){.region = region, .depth = depth - 1};
        return TIDE_OK;
    }
    contexts->region_mismatches++;
    return TIDE_OK;
}

enum tide_status tide_where_phases(struct tide_contexts *contexts,
                                   struct tide_where *where,
                                   const struct tide_phases *phases)
{
    uint32_t names[TIDE_REGIONS_DEEP];
    uint32_t own = 0, region = where->region;
    for (uint32_t i = told_apart(where->depth); i > where->phases; i--) {
        names[own++] = (uint32_t)contexts->regions.list[region - 1].other;
        region = around(contexts, region);
    }
    where->region = phases->region;
    uint32_t depth = phases->depth;
    enum tide_status status = TIDE_OK;
    for (; own > 0 && depth < TIDE_REGIONS_DEEP && !status; own--, depth++)
        status = find_region(contexts, where->region, names[own - 1], &where->region);
    where->depth = where->depth - where->phases + phases->depth;
    where->phases = phases->depth;
    move_on(where);
    return status;
}
