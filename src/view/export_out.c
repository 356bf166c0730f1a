/* view/export_out.c - where an export's bytes go: buffered, perhaps compressed. */
#include "view/export_out.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "view/json.h"

enum {
    TIDE_OUT_ENOUGH = 64 * 1024,
    TIDE_OUT_SQUEEZED = 16 * 1024,
    TIDE_OUT_WINDOW = 15 + 16, /* zlib's way to ask for gzip's format */
    TIDE_OUT_MEMORY = 8,       /* zlib's default */
    TIDE_OUT_DIGITS = 20,      /* of the largest number */
    TIDE_OUT_SECOND = 1000000000,
    TIDE_OUT_LONGEST = 1000000000, /* seconds */
};

struct squeezer {
    z_stream stream;
    unsigned char bytes[TIDE_OUT_SQUEEZED];
};

void tide_out_begin(struct tide_out *out, int fd)
{
    *out = (struct tide_out){.fd = fd};
}

enum tide_status tide_out_begin_gzip(struct tide_out *out, int fd)
{
    tide_out_begin(out, fd);
    struct squeezer *const squeezer = calloc(1, sizeof(*squeezer));
    if (!squeezer ||
        deflateInit2(&squeezer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                     TIDE_OUT_WINDOW, TIDE_OUT_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(squeezer);
        return TIDE_ENOMEM;
    }
    out->gzip = squeezer;
    return TIDE_OK;
}

static void write_bytes(struct tide_out *out, const void *bytes, size_t length)
{
    const char *at = bytes;
    if (out->most && !out->error && length > out->most - out->written)
        out->error = EFBIG;
    while (length > 0 && !out->error) {
        const ssize_t done = write(out->fd, at, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            out->error = done < 0 ? errno : EIO;
            return;
        }
        at += done;
        length -= (size_t)done;
        out->written += (size_t)done;
    }
}

/* Compress the text, to the end if LAST. */
static void squeeze(struct tide_out *out, bool last)
{
    struct squeezer *const squeezer = out->gzip;
    z_stream *const stream = &squeezer->stream;
    stream->next_in = (unsigned char *)out->text.bytes;
    stream->avail_in = (unsigned)out->text.length;
    do {
        stream->next_out = squeezer->bytes;
        stream->avail_out = sizeof(squeezer->bytes);
        (void)deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        write_bytes(out, squeezer->bytes, sizeof(squeezer->bytes) - stream->avail_out);
    } while (stream->avail_out == 0 && !out->error);
}

static void flush(struct tide_out *out, bool last)
{
    if (out->text.failed)
        out->error = ENOMEM;
    if (out->error)
        return;
    if (out->gzip)
        squeeze(out, last);
    else
        write_bytes(out, out->text.bytes, out->text.length);
    tide_text_clear(&out->text);
}

bool tide_out_rest(struct tide_out *out)
{
    if (out->text.length >= TIDE_OUT_ENOUGH || out->text.failed)
        flush(out, false);
    return !out->error;
}

enum tide_status tide_out_end(struct tide_out *out)
{
    flush(out, true);
    struct squeezer *const squeezer = out->gzip;
    if (squeezer)
        (void)deflateEnd(&squeezer->stream);
    free(squeezer);
    out->gzip = NULL;
    tide_text_release(&out->text);
    return out->error ? TIDE_EIO : TIDE_OK;
}

/* The last COUNT digits of VALUE at least, and as many as it has. */
static void add_digits(struct tide_text *text, uint64_t value, size_t count)
{
    char digits[TIDE_OUT_DIGITS];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value || sizeof(digits) - at < count);
    tide_text_add_bytes(text, digits + at, sizeof(digits) - at);
}

void tide_out_uint(struct tide_text *text, uint64_t value)
{
    add_digits(text, value, 1);
}

void tide_out_seconds(struct tide_text *text, double seconds)
{
    if (!(seconds >= 0 && seconds < TIDE_OUT_LONGEST)) { /* no run: a damaged trace */
        tide_text_addf(text, "%.9f", seconds);
        return;
    }
    const uint64_t nanoseconds = (uint64_t)(seconds * 1e9 + 0.5);
    add_digits(text, nanoseconds / TIDE_OUT_SECOND, 1);
    tide_text_add_bytes(text, ".", 1);
    add_digits(text, nanoseconds % TIDE_OUT_SECOND, 9);
}

void tide_out_json(struct tide_text *text, const char *value)
{
    struct tide_json json = {.out = text};
    tide_json_string(&json, NULL, value);
}

void tide_out_name(struct tide_text *text, const char *name)
{
    tide_text_add_safe(text, name);
}
