/* trace/cursor.h - read numbers and strings from memory that may hold anything.
 *
 * For: trace/, collect/, tests/.  What is read is hostile: nothing is read beyond the
 * end, and the first thing that does not fit makes the cursor fail for good.  A failed
 * cursor stands at its end and gives zeros, so that a reader may take several fields
 * and look at `failed` once.
 */
#ifndef TIDE_TRACE_CURSOR_H
#define TIDE_TRACE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tide_cursor {
    const uint8_t *at, *end; /* borrowed */
    bool failed;
};

/* Bytes of a string as they stand in the memory under the cursor: no zero ends them. */
struct tide_bytes {
    const char *start; /* borrowed */
    size_t length;
};

static inline struct tide_cursor tide_cursor_over(const uint8_t *bytes, size_t length)
{
    return (struct tide_cursor){.at = bytes, .end = bytes + length};
}

static inline size_t tide_cursor_left(const struct tide_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline uint64_t tide_cursor_fail(struct tide_cursor *cursor)
{
    cursor->failed = true;
    cursor->at = cursor->end;
    return 0;
}

static inline uint8_t tide_cursor_u8(struct tide_cursor *cursor)
{
    if (cursor->at == cursor->end)
        return (uint8_t)tide_cursor_fail(cursor);
    return *cursor->at++;
}

/* A varint of more than one byte.  One that does not fit into 64 bits is refused. */
static inline uint64_t tide_cursor_long_varint(struct tide_cursor *cursor)
{
    const uint8_t *at = cursor->at;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < cursor->end; shift += 7) {
        const uint64_t byte = *at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->at = at;
            return value;
        }
    }
    return tide_cursor_fail(cursor);
}

static inline uint64_t tide_cursor_varint(struct tide_cursor *cursor)
{
    if (cursor->at < cursor->end && *cursor->at < 0x80)
        return *cursor->at++;
    return tide_cursor_long_varint(cursor);
}

/* A varint that must fit into 32 bits. */
static inline uint32_t tide_cursor_varint32(struct tide_cursor *cursor)
{
    const uint64_t value = tide_cursor_varint(cursor);
    if (value > UINT32_MAX)
        return (uint32_t)tide_cursor_fail(cursor);
    return (uint32_t)value;
}

/* The next LENGTH bytes as a cursor of their own; the outer one goes on after them. */
static inline struct tide_cursor tide_cursor_part(struct tide_cursor *cursor,
                                                  uint64_t length)
{
    if (length > tide_cursor_left(cursor)) {
        tide_cursor_fail(cursor);
        return (struct tide_cursor){
            .at = cursor->end, .end = cursor->end, .failed = true};
    }
    const struct tide_cursor part = tide_cursor_over(cursor->at, (size_t)length);
    cursor->at = part.end;
    return part;
}

/* Varint length, then so many bytes. */
static inline struct tide_bytes tide_cursor_string(struct tide_cursor *cursor)
{
    const struct tide_cursor part =
        tide_cursor_part(cursor, tide_cursor_varint(cursor));
    return (struct tide_bytes){.start = (const char *)part.at,
                               .length = tide_cursor_left(&part)};
}

/* A + B, or the highest number when that is too small to hold it. */
static inline uint64_t tide_add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
