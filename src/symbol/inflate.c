/* symbol/inflate.c - the beginning of something compressed, as long as it is needed.
 *
 * zlib stops where it has no more room, so it gets no more than was asked for.
 *
 * The checksum is that of the whole and stands at the end: whoever reads less reads what
 * nobody vouches for.  When it turns out to be wrong, nobody can say where the wrong byte
 * is, so only the last step is refused; names that were read before are kept.
 */
#include "symbol/inflate.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#define ZLIB_CONST
#include <zlib.h>

struct tide_inflate {
    z_stream stream;
    const uint8_t *in_end;
    uint8_t *begin; /* of the output */
    size_t capacity;
    bool ended; /* the checksum was right */
};

struct tide_inflate *tide_inflate_open(const void *bytes, size_t size, void *out,
                                       size_t capacity)
{
    struct tide_inflate *const packed = calloc(1, sizeof(*packed));
    if (!packed)
        return NULL;
    packed->stream.next_in = bytes;
    packed->stream.next_out = out;
    packed->in_end = (const uint8_t *)bytes + size;
    packed->begin = out;
    packed->capacity = capacity;
    if (inflateInit(&packed->stream) == Z_OK)
        return packed;
    free(packed);
    return NULL;
}

void tide_inflate_close(struct tide_inflate *packed)
{
    if (!packed)
        return;
    (void)inflateEnd(&packed->stream);
    free(packed);
}

/* How much of what lies between FROM and TO zlib can be told of at a time. */
static uInt room(const uint8_t *from, const uint8_t *to)
{
    const size_t size = (size_t)(to - from);
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

bool tide_inflate_until(struct tide_inflate *packed, size_t end)
{
    if (end > packed->capacity)
        return false;
    z_stream *const stream = &packed->stream;
    const uint8_t *const target = packed->begin + end;
    const bool whole = end == packed->capacity;
    int code = Z_OK; /* anything else: there is no getting on */
    while (code == Z_OK && (stream->next_out < target || (whole && !packed->ended))) {
        stream->avail_in = room(stream->next_in, packed->in_end);
        stream->avail_out = room(stream->next_out, target);
        code = inflate(stream, Z_NO_FLUSH);
        packed->ended = code == Z_STREAM_END;
    }
    return stream->next_out >= target && (!whole || packed->ended);
}
