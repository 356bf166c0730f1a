/* caliper/cali_snapshots.h - Caliper's snapshots, for tidemark: included by cali.h.
 *
 * A snapshot that is pushed stands in the trace as values that begin and end at once: in
 * `tidemark query`, the row WHERE event.begin#cali.snapshot has them all, and all else that
 * the thread has; its value is how many were pushed with it.  One that is pulled holds what
 * the recorder knows of the thread; without the recorder it is empty.
 */
#ifndef TIDEMARK_COMPAT_CALI_SNAPSHOTS_H
#define TIDEMARK_COMPAT_CALI_SNAPSHOTS_H

#include "cali_attributes.h"
#include "cali_control.h"

typedef int (*cali_entry_proc_fn)(void *user, cali_id_t attribute,
                                  cali_variant_t value);

/* --- Pushing ---------------------------------------------------------------------------- */

CALI_TIDE_FAR void cali_tide_push(int count, const cali_id_t attributes[],
                                  const cali_variant_t values[])
{
    int i;
    for (i = 0; i < count; i++) {
        const struct cali_tide_attribute *const about = cali_tide_about(attributes[i]);
        if (about)
            cali_tide_tell(about->name, CALI_TIDE_BEGIN, values[i]);
    }
    tide_begin_int("cali.snapshot", count);
    tide_end("cali.snapshot");
    for (i = count - 1; i >= 0; i--) {
        const struct cali_tide_attribute *const about = cali_tide_about(attributes[i]);
        if (about)
            tide_end(about->name);
    }
}

static inline void cali_push_snapshot(int scope, int count,
                                      const cali_id_t attributes[],
                                      const cali_variant_t values[])
{
    (void)scope;
    if (CALI_TIDE_TOLD)
        cali_tide_push(count, attributes, values);
}
static inline void cali_channel_push_snapshot(cali_id_t channel, int scope, int count,
                                              const cali_id_t attributes[],
                                              const cali_variant_t values[])
{
    if (cali_channel_is_active(channel))
        cali_push_snapshot(scope, count, attributes, values);
}

/* --- What the thread has -------------------------------------------------------------- */

struct cali_tide_asked {
    cali_entry_proc_fn each;
    void *user;
};

/* The attribute that TOLD is a value of, and *VALUE. */
CALI_TIDE_FAR cali_id_t cali_tide_entry(const struct tide_told *told,
                                        cali_variant_t *value)
{
    int properties = CALI_ATTR_DEFAULT;
    *value = cali_make_variant_from_string(told->text);
    switch (told->kind) {
    case TIDE_TOLD_LOOP:
        return cali_loop_attr_id;
    case TIDE_TOLD_REGION:
        if (!told->name)
            return cali_region_attr_id;
        properties = CALI_ATTR_NESTED;
        break;
    case TIDE_TOLD_ITERATION:
        *value = cali_make_variant_from_int64(told->number);
        return cali_make_loop_iteration_attribute(told->text);
    case TIDE_TOLD_INT:
        *value = cali_make_variant_from_int64(told->number);
        break;
    case TIDE_TOLD_DOUBLE:
        *value = cali_make_variant_from_double(told->real);
        break;
    case TIDE_TOLD_ADDRESS:
        *value = cali_tide_variant(CALI_TYPE_ADDR, told->address);
        break;
    default:
        break;
    }
    return cali_create_attribute(told->name, cali_variant_get_type(*value), properties);
}

CALI_TIDE_FAR int cali_tide_each(void *user, const struct tide_told *told)
{
    const struct cali_tide_asked *const asked = (const struct cali_tide_asked *)user;
    cali_variant_t value;
    const cali_id_t attribute = cali_tide_entry(told, &value);
    return attribute == CALI_INV_ID /* too many */ ||
           asked->each(asked->user, attribute, value);
}

struct cali_tide_sought {
    cali_id_t attribute; /* CALI_INV_ID: any region */
    cali_variant_t value;
};

CALI_TIDE_FAR int cali_tide_seek(void *user, cali_id_t attribute, cali_variant_t value)
{
    struct cali_tide_sought *const sought = (struct cali_tide_sought *)user;
    if (sought->attribute == CALI_INV_ID
            ? cali_attribute_properties(attribute) & CALI_ATTR_NESTED
            : sought->attribute == attribute)
        sought->value = value;
    return 1;
}

CALI_TIDE_FAR cali_variant_t cali_tide_newest(cali_id_t attribute)
{
    struct cali_tide_sought sought = {attribute, {0, {0}}};
    struct cali_tide_asked asked = {cali_tide_seek, NULL};
    asked.user = &sought;
    (void)tide_ask_told(cali_tide_each, &asked);
    return sought.value;
}

/* The innermost value of ATTRIBUTE; an empty one without the recorder. */
static inline cali_variant_t cali_get(cali_id_t attribute)
{
    return CALI_TIDE_TOLD && attribute != CALI_INV_ID ? cali_tide_newest(attribute)
                                                      : cali_make_empty_variant();
}
static inline cali_variant_t cali_channel_get(cali_id_t channel, cali_id_t attribute)
{
    (void)channel;
    return cali_get(attribute);
}

/* The name of the innermost region, or ALTERNATIVE. */
static inline const char *cali_get_current_region_or(const char *alternative)
{
    const cali_variant_t value =
        CALI_TIDE_TOLD ? cali_tide_newest(CALI_INV_ID) : cali_make_empty_variant();
    return cali_variant_is_empty(value) ? alternative
                                        : (const char *)value.value.unmanaged_const_ptr;
}

/* --- Pulling ------------------------------------------------------------------------------ */

/* Packed: how many, then of each the number of its attribute (two bytes) and its value. */
enum { CALI_TIDE_ENTRY = 2 + CALI_TIDE_PACKED, CALI_TIDE_ENTRIES_MAX = 255 };

struct cali_tide_buffer {
    unsigned char *bytes;
    size_t size, needed;
    unsigned count;
};

CALI_TIDE_FAR int cali_tide_add(void *user, cali_id_t attribute, cali_variant_t value)
{
    struct cali_tide_buffer *const buffer = (struct cali_tide_buffer *)user;
    unsigned char entry[CALI_TIDE_ENTRY];
    const size_t length = 2 + cali_variant_pack(value, entry + 2);
    entry[0] = (unsigned char)attribute;
    entry[1] = (unsigned char)(attribute >> 8);
    if (buffer->count < CALI_TIDE_ENTRIES_MAX &&
        buffer->needed + length <= buffer->size) {
        memcpy(buffer->bytes + buffer->needed, entry, length);
        buffer->bytes[0] = (unsigned char)++buffer->count;
    }
    buffer->needed += length;
    return buffer->count < CALI_TIDE_ENTRIES_MAX;
}

CALI_TIDE_FAR size_t cali_tide_pull(size_t size, unsigned char *bytes)
{
    struct cali_tide_buffer buffer = {NULL, 0, 1, 0};
    struct cali_tide_asked asked = {cali_tide_add, NULL};
    buffer.bytes = bytes;
    buffer.size = size;
    asked.user = &buffer;
    (void)tide_ask_told(cali_tide_each, &asked);
    return buffer.needed;
}

/* How many bytes the snapshot takes: more than SIZE if there was no room for all. */
static inline size_t cali_pull_snapshot(int scope, size_t size, unsigned char *bytes)
{
    (void)scope;
    if (size)
        bytes[0] = 0;
    return CALI_TIDE_TOLD ? cali_tide_pull(size, bytes) : 1;
}
static inline size_t cali_channel_pull_snapshot(cali_id_t channel, int scope,
                                                size_t size, unsigned char *bytes)
{
    (void)channel;
    return cali_pull_snapshot(scope, size, bytes);
}

/* Call EACH with USER for its entries, until it returns 0. */
static inline void cali_unpack_snapshot(const unsigned char *bytes, size_t *bytes_read,
                                        cali_entry_proc_fn each, void *user)
{
    size_t at = 1;
    unsigned left = bytes[0];
    int more = 1;
    for (; left; left--) {
        const cali_id_t attribute = bytes[at] | (cali_id_t)bytes[at + 1] << 8;
        cali_variant_t value;
        size_t taken = 0;
        at += 2;
        value = cali_variant_unpack(bytes + at, &taken, NULL);
        at += taken;
        more = more && each(user, attribute, value);
    }
    if (bytes_read)
        *bytes_read += at;
}

struct cali_tide_filter {
    cali_id_t attribute;
    cali_entry_proc_fn each;
    void *user;
};

CALI_TIDE_FAR int cali_tide_filtered(void *user, cali_id_t attribute,
                                     cali_variant_t value)
{
    const struct cali_tide_filter *const filter = (const struct cali_tide_filter *)user;
    return attribute != filter->attribute ||
           filter->each(filter->user, attribute, value);
}

static inline void cali_find_all_in_snapshot(const unsigned char *bytes,
                                             cali_id_t attribute, size_t *bytes_read,
                                             cali_entry_proc_fn each, void *user)
{
    struct cali_tide_filter filter = {0, NULL, NULL};
    filter.attribute = attribute;
    filter.each = each;
    filter.user = user;
    cali_unpack_snapshot(bytes, bytes_read, cali_tide_filtered, &filter);
}

/* The innermost value of ATTRIBUTE; an empty one: there is none. */
static inline cali_variant_t cali_find_first_in_snapshot(const unsigned char *bytes,
                                                         cali_id_t attribute,
                                                         size_t *bytes_read)
{
    struct cali_tide_sought sought = {attribute, {0, {0}}};
    if (attribute == CALI_INV_ID)
        return cali_make_empty_variant();
    cali_unpack_snapshot(bytes, bytes_read, cali_tide_seek, &sought);
    return sought.value;
}

#endif
