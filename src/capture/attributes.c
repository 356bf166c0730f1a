/* capture/attributes.c - values that the program sets by name, for queries to show. */
#include "capture/attributes.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "capture/api.h"
#include "capture/lifecycle.h"
#include "capture/process.h"
#include "capture/record.h"
#include "capture/trail.h"
#include "trace/format.h"

/* What is said of an attribute. */
struct change {
    const struct tide_name *name;
    enum tide_attribute_step step;
    enum tide_attribute_type type;
    uint64_t value;
};

/* The newest value of NAME: its place + 1; 0: there is none. */
static uint32_t newest(const struct tide_trail *trail, const struct tide_name *name)
{
    uint32_t at = trail->held_count;
    while (at && trail->held[at - 1].name != name)
        at--;
    return at;
}

static void drop(struct tide_trail *trail, uint32_t at)
{
    for (uint32_t i = at; i < trail->held_count; i++)
        trail->held[i - 1] = trail->held[i];
    trail->held_count--;
}

/* What finds no room here is in the trace all the same. */
static void change_held(struct tide_trail *trail, const struct change *change)
{
    const struct tide_held held = {change->name, change->type, change->value, false};
    uint32_t at = newest(trail, change->name);
    if (change->step == TIDE_ATTRIBUTE_END && at)
        drop(trail, at);
    for (; change->step == TIDE_ATTRIBUTE_UNSET && at; at = newest(trail, change->name))
        drop(trail, at);
    if (change->step == TIDE_ATTRIBUTE_SET && at)
        trail->held[at - 1] = held;
    else if (change->step <= TIDE_ATTRIBUTE_BEGIN &&
             trail->held_count < TIDE_TRAIL_HELD)
        trail->held[trail->held_count++] = held;
}

/* The usual change is of one word.  For any other a handler has to wait: it may begin and
 * end values of its own, or fork. */
static void keep(struct tide_trail *trail, const struct change *change)
{
    const uint32_t at = newest(trail, change->name);
    if (change->step == TIDE_ATTRIBUTE_SET && at &&
        trail->held[at - 1].type == change->type) {
        trail->held[at - 1].value = change->value;
        return;
    }
    tide_shield();
    change_held(trail, change);
    tide_unshield();
}

/* The collector knows what is meant by a value of NAME. */
static void tell(const struct tide_name *name, uint64_t type, uint64_t value)
{
    (void)tide_process_tell_name(name);
    if (type == TIDE_ATTRIBUTE_STRING)
        (void)tide_process_tell_name(tide_name_numbered((uint32_t)value));
    if (type)
        tide_process_tell_attribute(name, type);
}

static void write_change(const struct change *change)
{
    struct tide_self *const self = &tide_self;
    struct tide_stream *stream = NULL;
    if (!self->busy && !self->ended && (self->stream || tide_stream_of_thread()))
        stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (stream) {
        if (tide_stream_room(stream, TIDE_RECORD_MAX))
            tell(change->name, change->type, change->value);
        tide_leave(self, stream);
    }
    const uint64_t values[] = {change->name->id,
                               TIDE_ATTRIBUTE_HOW(change->type, change->step),
                               change->value};
    tide_record_extra(TIDE_CALLER, TIDE_EXTRA_ATTRIBUTE, values, 3);
}

/* Written first: a new lane says what was held before. */
static TIDE_COLD void say(const struct change *change)
{
    const int saved = errno;
    struct tide_trail *const trail = change->name ? tide_trail_of_thread() : NULL;
    if (change->name &&
        atomic_load_explicit(&tide_phase, memory_order_relaxed) == TIDE_PHASE_ON)
        write_change(change);
    if (trail)
        keep(trail, change);
    errno = saved;
}

static void say_int(const char *name, int64_t value, enum tide_attribute_step step)
{
    say(&(struct change){tide_name_of(name), step, TIDE_ATTRIBUTE_INT,
                         (uint64_t)value << 1 ^ (uint64_t)(value >> 63)});
}

static void say_double(const char *name, double value, enum tide_attribute_step step)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    say(&(struct change){tide_name_of(name), step, TIDE_ATTRIBUTE_DOUBLE, bits});
}

static void say_string(const char *name, const char *value,
                       enum tide_attribute_step step)
{
    const struct tide_name *const text = tide_name_of(value ? value : "");
    say(&(struct change){tide_name_of(name), step, TIDE_ATTRIBUTE_STRING,
                         text ? text->id : 0});
}

TIDE_EXPORT(void, set_int, const char *name, int64_t value)
{
    say_int(name, value, TIDE_ATTRIBUTE_SET);
}

TIDE_EXPORT(void, set_double, const char *name, double value)
{
    say_double(name, value, TIDE_ATTRIBUTE_SET);
}

TIDE_EXPORT(void, set_string, const char *name, const char *value)
{
    say_string(name, value, TIDE_ATTRIBUTE_SET);
}

TIDE_EXPORT(void, set_address, const char *name, const void *value)
{
    say(&(struct change){tide_name_of(name), TIDE_ATTRIBUTE_SET, TIDE_ATTRIBUTE_POINTER,
                         (uintptr_t)value});
}

TIDE_EXPORT(void, begin_int, const char *name, int64_t value)
{
    say_int(name, value, TIDE_ATTRIBUTE_BEGIN);
}

TIDE_EXPORT(void, begin_double, const char *name, double value)
{
    say_double(name, value, TIDE_ATTRIBUTE_BEGIN);
}

TIDE_EXPORT(void, begin_string, const char *name, const char *value)
{
    say_string(name, value, TIDE_ATTRIBUTE_BEGIN);
}

TIDE_EXPORT(void, begin_address, const char *name, const void *value)
{
    say(&(struct change){tide_name_of(name), TIDE_ATTRIBUTE_BEGIN,
                         TIDE_ATTRIBUTE_POINTER, (uintptr_t)value});
}

TIDE_EXPORT(void, end, const char *name)
{
    say(&(struct change){.name = tide_name_of(name), .step = TIDE_ATTRIBUTE_END});
}

TIDE_EXPORT(void, unset, const char *name)
{
    say(&(struct change){.name = tide_name_of(name), .step = TIDE_ATTRIBUTE_UNSET});
}

TIDE_EXPORT(void, share, const char *name)
{
    const int saved = errno;
    struct tide_trail *const trail = tide_trail_of_thread();
    const struct tide_name *const attribute = trail ? tide_name_of(name) : NULL;
    const uint32_t at = attribute ? newest(trail, attribute) : 0;
    if (at)
        trail->held[at - 1].shared = true;
    errno = saved;
}

void tide_attributes_tell(struct tide_stream *stream)
{
    const struct tide_trail *const trail = tide_self.trail;
    for (uint32_t i = 0; trail && i < trail->held_count; i++) {
        const struct tide_held *const held = &trail->held[i];
        const uint64_t values[] = {held->name->id,
                                   TIDE_ATTRIBUTE_HOW(held->type, TIDE_ATTRIBUTE_BEGIN),
                                   held->value};
        tell(held->name, held->type, held->value);
        if (tide_stream_room(stream, TIDE_RECORD_MAX))
            tide_stream_publish(stream,
                                tide_put_extra(tide_stream_at(stream),
                                               TIDE_EXTRA_ATTRIBUTE, values, 3));
    }
}
