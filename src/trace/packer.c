/* trace/packer.c - what a chunk stores, compressed. */
#include "trace/packer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/raw/varint.h"
#include "trace/tag_halves.h"

enum {
    TIDE_ZSTD_LEVEL = 1, /* level 9 saves another 4 %, at 7 times the cost */
    /* Of tags there are so few that short matches are everywhere, and cost more than they
     * save: without them it takes 5 to 26 % less time than by level 3, for up to 3 % more
     * bytes of them. */
    TIDE_TAGS_MATCH = 7,
    /* What repeats itself is worth a closer look, which then takes little time: of a program
     * that does the same thing again and again a third is left. */
    TIDE_ZSTD_CLOSE = 6,
    TIDE_CLOSE_FROM = 16,  /* times smaller */
    TIDE_CLOSE_WORTH = 64, /* bytes: fewer are left of one that is the same all over */
    TIDE_PACK_FROM = 64,   /* fewer bytes are not worth compressing */
    TIDE_OUT_SPARE = 512,
    TIDE_LENGTHS_MAX = TIDE_COLUMNS * 2 * TIDE_VARINT_MAX,
};

struct tide_packer {
    ZSTD_CCtx *compressor; /* owned */
    size_t room;           /* bytes at out after the chunk header */
    uint8_t *out;          /* owned: a chunk header and its stored payload */
    uint8_t *halves;       /* owned: of tags */
    size_t halves_room;
    bool repeats[TIDE_COLUMNS];     /* in the chunk before a column did so */
    void (*between)(void *context); /* NULL: there is nothing to do between columns */
    void *context;
};

struct tide_packer *tide_packer_new(void)
{
    struct tide_packer *const packer = calloc(1, sizeof(*packer));
    if (!packer)
        return NULL;
    packer->compressor = ZSTD_createCCtx();
    if (packer->compressor)
        return packer;
    free(packer);
    return NULL;
}

void tide_packer_free(struct tide_packer *packer)
{
    if (!packer)
        return;
    ZSTD_freeCCtx(packer->compressor);
    free(packer->out);
    free(packer->halves);
    free(packer);
}

void tide_packer_set_between(struct tide_packer *packer, void (*between)(void *context),
                             void *context)
{
    packer->between = between;
    packer->context = context;
}

uint8_t *tide_packed_chunk(const struct tide_packer *packer)
{
    return packer->out;
}

/* --- How a payload is stored: behind the chunk header in out ---------------------------- */

/* How hard to look for what repeats itself, and for how many bytes at least; 0: as usual at
 * that level. */
struct care {
    int level, match;
};

/* FROM, compressed, to OUT, which has ROOM; its length, SIZE_MAX when it does not fit or
 * there is no memory. */
static size_t compress(struct tide_packer *packer, struct tide_column_bytes from,
                       uint8_t *out, size_t room, struct care care)
{
    ZSTD_CCtx *const by = packer->compressor;
    (void)ZSTD_CCtx_setParameter(by, ZSTD_c_compressionLevel, care.level);
    (void)ZSTD_CCtx_setParameter(by, ZSTD_c_minMatch, care.match);
    const size_t packed = ZSTD_compress2(by, out, room, from.bytes, from.length);
    return ZSTD_isError(packed) ? SIZE_MAX : packed;
}

static size_t put_plain(struct tide_column_bytes from, uint8_t *out)
{
    if (from.length > 0)
        memcpy(out, from.bytes, from.length);
    return from.length;
}

/* FROM, compressed if that helps, to OUT, which has ROOM for it; its stored length. */
static size_t pack(struct tide_packer *packer, struct tide_column_bytes from,
                   uint8_t *out, size_t room, struct care care)
{
    const size_t packed = from.length >= TIDE_PACK_FROM
                              ? compress(packer, from, out, room, care)
                              : SIZE_MAX;
    return packed < from.length ? packed : put_plain(from, out);
}

/* The halves of TAGS; false when there is no memory. */
static bool halve(struct tide_packer *packer, struct tide_column_bytes tags,
                  struct tide_column_bytes *halves)
{
    const size_t most = tide_halves_most(tags.length);
    if (most > packer->halves_room) {
        free(packer->halves);
        packer->halves = malloc(most * 2);
        packer->halves_room = packer->halves ? most * 2 : 0;
    }
    if (!packer->halves)
        return false;
    halves->bytes = packer->halves;
    halves->length = tide_tags_to_halves(tags.bytes, tags.length, packer->halves);
    return true;
}

/* TAGS, as their halves and compressed if that helps.  OUT has room for the tags, but not
 * for the halves as they are. */
static size_t pack_tags(struct tide_packer *packer, struct tide_column_bytes tags,
                        uint8_t *out, size_t room, struct care care)
{
    struct tide_column_bytes halves;
    const size_t packed = tags.length >= TIDE_PACK_FROM && halve(packer, tags, &halves)
                              ? compress(packer, halves, out, room, care)
                              : SIZE_MAX;
    return packed < tags.length ? packed : put_plain(tags, out);
}

static size_t pack_column(struct tide_packer *packer, unsigned column,
                          struct tide_column_bytes from, uint8_t *out, size_t room)
{
    const bool tags = column == TIDE_COLUMN_TAGS;
    const struct care care =
        packer->repeats[column]
            ? (struct care){TIDE_ZSTD_CLOSE, 0}
            : (struct care){TIDE_ZSTD_LEVEL, tags ? TIDE_TAGS_MATCH : 0};
    const size_t stored = tags ? pack_tags(packer, from, out, room, care)
                               : pack(packer, from, out, room, care);
    packer->repeats[column] =
        stored < from.length / TIDE_CLOSE_FROM && stored >= TIDE_CLOSE_WORTH;
    return stored;
}

/* Room in out for a payload that takes so many bytes when nothing can be compressed; others
 * will be a little larger, so for half as much again, if it can be had. */
static bool make_room(struct tide_packer *packer, size_t bytes)
{
    const size_t head = sizeof(struct tide_format_chunk);
    size_t room = bytes + bytes / 128 + TIDE_OUT_SPARE;
    if (room <= packer->room)
        return true;
    free(packer->out);
    packer->out = malloc(head + room + room / 2);
    if (packer->out)
        room += room / 2;
    else
        packer->out = malloc(head + room);
    packer->room = packer->out ? room : 0;
    return packer->out != NULL;
}

bool tide_pack_notes(struct tide_packer *packer, struct tide_format_chunk *chunk,
                     const void *raw, size_t bytes)
{
    if (!make_room(packer, bytes))
        return false;
    const size_t stored = pack(packer, (struct tide_column_bytes){raw, bytes},
                               packer->out + sizeof(*chunk), packer->room,
                               (struct care){TIDE_ZSTD_LEVEL, 0});
    if (stored == bytes)
        chunk->flags |= TIDE_CHUNK_PLAIN;
    chunk->raw_bytes = (uint32_t)bytes;
    chunk->stored_bytes = (uint32_t)stored;
    return true;
}

static size_t sum_of(const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    size_t sum = 0;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        sum += columns[i].length;
    return sum;
}

/* Columns are packed behind the place that their lengths take at most, then moved up. */
bool tide_pack_columns(struct tide_packer *packer, struct tide_format_chunk *chunk,
                       const struct tide_column_bytes columns[TIDE_COLUMNS])
{
    const size_t raw_bytes = sum_of(columns);
    if (!make_room(packer, TIDE_LENGTHS_MAX + raw_bytes))
        return false;
    uint8_t *const payload = packer->out + sizeof(*chunk);
    uint8_t *lengths = payload, *out = payload + TIDE_LENGTHS_MAX;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const size_t room = packer->room - (size_t)(out - payload);
        const size_t stored = pack_column(packer, i, columns[i], out, room);
        lengths = tide_put_varint(lengths, columns[i].length);
        lengths = tide_put_varint(lengths, stored);
        out += stored;
        if (packer->between)
            packer->between(packer->context);
    }
    const size_t packed = (size_t)(out - payload) - TIDE_LENGTHS_MAX;
    memmove(lengths, payload + TIDE_LENGTHS_MAX, packed);
    chunk->flags |= TIDE_CHUNK_COLUMNS;
    chunk->raw_bytes = (uint32_t)raw_bytes;
    chunk->stored_bytes = (uint32_t)((size_t)(lengths - payload) + packed);
    return true;
}
