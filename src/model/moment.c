/* model/moment.c - the moments of a run that its program named. */
#include "model/moment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

enum {
    TIDE_MOMENT_RUN = 512,  /* events asked of the replay at once, at most */
    TIDE_MOMENT_EVERY = 64, /* runs between two steps of the progress bar */
    TIDE_MOMENT_KNOWN = 8,  /* names that are listed when none fits, at most */
};

/* What is looked for, read once. */
struct wanted {
    const char *name; /* borrowed: as it was given */
    size_t length;    /* of it, without the number */
    uint64_t which;   /* 1: the first */
    bool is_event;    /* it may also be an event ... */
    uint64_t event;   /* ... of this number */
};

/* The decimal number at TEXT, up to its end. */
static bool read_number(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && *end == '\0';
}

static struct wanted read_name(const char *name)
{
    static const char word[] = "event";
    struct wanted wanted = {.name = name, .length = strlen(name), .which = 1};
    const char *const hash = strrchr(name, '#');
    if (hash && read_number(hash + 1, &wanted.which) && wanted.which)
        wanted.length = (size_t)(hash - name);
    else
        wanted.which = 1;
    if (strncmp(name, word, sizeof(word) - 1) == 0) {
        const char *const number = name + sizeof(word) - 1;
        char *end;
        const char *const digits = number + (*number == ' ');
        wanted.event = strtoull(digits, &end, 10);
        wanted.is_event =
            *digits >= '0' && *digits <= '9' && end == name + wanted.length;
    }
    return wanted;
}

/* Two kinds of marks may have the name; snapshots go first. */
struct search {
    const struct tide_trace *trace;
    struct wanted wanted;
    bool as_it_is;                        /* a name is exactly what is wanted, with # */
    uint64_t snapshots, events;           /* seen of that name */
    uint64_t snapshot_ticks, event_ticks; /* of the one that is wanted */
    const char *known[TIDE_MOMENT_KNOWN]; /* borrowed from the trace */
    size_t known_count;
    uint64_t least_event, most_event; /* of all that the program told */
    bool has_events;
};

static bool has_name(const struct wanted *wanted, const char *name)
{
    return strncmp(name, wanted->name, wanted->length) == 0 && !name[wanted->length];
}

/* A mark is called NAME#3 itself: from here on that is no number. */
static void take_as_it_is(struct search *search)
{
    search->as_it_is = true;
    search->snapshots = 0;
    search->wanted.length = strlen(search->wanted.name);
    search->wanted.which = 1;
}

static void remember(struct search *search, const char *name)
{
    for (size_t i = 0; i < search->known_count; i++)
        if (strcmp(search->known[i], name) == 0)
            return;
    if (search->known_count < TIDE_MOMENT_KNOWN)
        search->known[search->known_count++] = name;
}

static void remember_event(struct search *search, uint64_t number)
{
    if (!search->has_events || number < search->least_event)
        search->least_event = number;
    if (!search->has_events || number > search->most_event)
        search->most_event = number;
    search->has_events = true;
}

/* The names that there are, in words. */
static void list_known(const struct search *search, struct tide_text *out)
{
    for (size_t i = 0; i < search->known_count; i++)
        tide_text_addf(out, "%s%s", i ? ", " : "", search->known[i]);
    if (!search->has_events)
        return;
    tide_text_addf(out, "%sevent%" PRIu64, out->length ? ", " : "",
                   search->least_event);
    if (search->most_event > search->least_event)
        tide_text_addf(out, " to event%" PRIu64, search->most_event);
}

static void look_at(struct search *search, const struct tide_event *event)
{
    const struct wanted *const wanted = &search->wanted;
    if (event->extra == TIDE_EXTRA_EVENT) {
        remember_event(search, event->value);
        if (wanted->is_event && event->value == wanted->event &&
            ++search->events == wanted->which)
            search->event_ticks = event->ticks;
        return;
    }
    if (event->extra != TIDE_EXTRA_SNAPSHOT)
        return;
    const char *const name =
        tide_trace_name(search->trace, event->process, event->value);
    if (!name)
        return;
    remember(search, name);
    if (!search->as_it_is && strcmp(name, wanted->name) == 0)
        take_as_it_is(search);
    if (has_name(wanted, name) && ++search->snapshots == wanted->which)
        search->snapshot_ticks = event->ticks;
}

static enum tide_status walk(struct search *search, struct tide_replay *replay,
                             const struct tide_progress *progress)
{
    enum tide_status status = TIDE_OK;
    size_t count = 1;
    for (size_t runs = 0; count && !status; runs++) {
        const struct tide_event *events;
        status = tide_replay_run(replay, TIDE_MOMENT_RUN, &events, &count);
        for (size_t i = 0; i < count && !status; i++)
            if (events[i].kind == TIDE_EVENT_EXTRA)
                look_at(search, &events[i]);
        if (progress && progress->step && runs % TIDE_MOMENT_EVERY == 0)
            progress->step(progress->user, tide_replay_counts(replay)->bytes_read,
                           search->trace->file_bytes);
    }
    return status;
}

static void conclude(const struct search *search, struct tide_moment *out)
{
    const bool snapshot = search->snapshots > 0;
    out->count = snapshot ? search->snapshots : search->events;
    out->found = out->count >= search->wanted.which;
    if (!out->found) {
        list_known(search, &out->known);
        return;
    }
    out->ticks = snapshot ? search->snapshot_ticks : search->event_ticks;
    out->at_s = tide_trace_seconds(search->trace, out->ticks);
    out->until_s = out->ticks > search->trace->start_ticks
                       ? tide_trace_seconds(search->trace, out->ticks - 1)
                       : 0.0;
}

enum tide_status tide_moment_find(struct tide_trace *trace, const char *name,
                                  const struct tide_progress *progress,
                                  struct tide_moment *out)
{
    struct search search = {.trace = trace, .wanted = read_name(name)};
    struct tide_stacks stacks;
    struct tide_replay *replay = NULL;
    *out = (struct tide_moment){0};
    enum tide_status status = tide_stacks_init(&stacks);
    if (status)
        return status;
    status = tide_replay_open(trace, &stacks, &replay);
    if (!status)
        status = walk(&search, replay, progress);
    if (!status)
        conclude(&search, out);
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    return status;
}

void tide_moment_release(struct tide_moment *moment)
{
    tide_text_release(&moment->known);
    *moment = (struct tide_moment){0};
}
