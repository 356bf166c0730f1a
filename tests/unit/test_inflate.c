/* tests/unit/test_inflate.c - decompressing step by step what zlib compressed at once.
 *
 * Input and output lie in blocks of exactly their size, so that a sanitizer sees any step
 * out of them.
 */
#include "symbol/inflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include <cmocka.h>

enum { TIDE_SAMPLE = 300000 };

struct fixture {
    uint8_t *plain, *packed, *out; /* owned */
    size_t packed_size;
};

/* Bytes of few kinds, so that they can be compressed, but never the same twice. */
static int begin(void **state)
{
    static struct fixture fixture;
    fixture.plain = malloc(TIDE_SAMPLE);
    fixture.out = calloc(TIDE_SAMPLE, 1);
    uLongf size = compressBound(TIDE_SAMPLE);
    uint8_t *const packed = malloc(size);
    assert_true(fixture.plain && fixture.out && packed);
    uint64_t random = 1;
    for (size_t i = 0; i < TIDE_SAMPLE; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        fixture.plain[i] = (uint8_t)(random >> 60);
    }
    assert_int_equal(compress2(packed, &size, fixture.plain, TIDE_SAMPLE, 6), Z_OK);
    fixture.packed = realloc(packed, size);
    assert_non_null(fixture.packed);
    fixture.packed_size = size;
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    const struct fixture *const fixture = *state;
    free(fixture->plain);
    free(fixture->packed);
    free(fixture->out);
    return 0;
}

static struct tide_inflate *open_part(const struct fixture *fixture, size_t size,
                                      size_t capacity)
{
    struct tide_inflate *const packed =
        tide_inflate_open(fixture->packed, size, fixture->out, capacity);
    assert_non_null(packed);
    return packed;
}

/* Decompress in steps of STEP bytes at most; all must be as it was after each. */
static void check_steps(const struct fixture *fixture, size_t step)
{
    struct tide_inflate *const packed =
        open_part(fixture, fixture->packed_size, TIDE_SAMPLE);
    memset(fixture->out, 0xee, TIDE_SAMPLE);
    for (size_t at = 0; at < TIDE_SAMPLE;) {
        const size_t next = TIDE_SAMPLE - at < step ? TIDE_SAMPLE : at + step;
        assert_true(tide_inflate_until(packed, next));
        assert_memory_equal(fixture->out + at, fixture->plain + at, next - at);
        assert_true(next == TIDE_SAMPLE || fixture->out[next] == 0xee);
        at = next;
    }
    assert_true(tide_inflate_until(packed, 1)); /* it is there already */
    assert_true(tide_inflate_until(packed, TIDE_SAMPLE));
    assert_false(tide_inflate_until(packed, TIDE_SAMPLE + 1));
    tide_inflate_close(packed);
}

static void gives_back_what_zlib_compressed(void **state)
{
    check_steps(*state, TIDE_SAMPLE);
    check_steps(*state, 40013);
    check_steps(*state, 3);
}

/* Its first part is good, before and after the rest was asked for in vain. */
static void check_end_refused(const struct fixture *fixture, size_t size,
                              size_t capacity, size_t good)
{
    struct tide_inflate *const packed = open_part(fixture, size, capacity);
    assert_true(tide_inflate_until(packed, good));
    assert_memory_equal(fixture->out, fixture->plain, good);
    assert_false(tide_inflate_until(packed, capacity));
    assert_false(tide_inflate_until(packed, capacity));
    assert_true(tide_inflate_until(packed, good));
    assert_memory_equal(fixture->out, fixture->plain, good);
    tide_inflate_close(packed);
}

static void knows_when_data_end_too_early(void **state)
{
    const struct fixture *const fixture = *state;
    struct fixture half = *fixture;
    half.packed_size /= 2;
    half.packed = malloc(half.packed_size);
    assert_non_null(half.packed);
    memcpy(half.packed, fixture->packed, half.packed_size);
    check_end_refused(&half, half.packed_size, TIDE_SAMPLE, TIDE_SAMPLE / 4);
    check_end_refused(&half, 1, TIDE_SAMPLE, 0);
    check_end_refused(&half, 0, TIDE_SAMPLE, 0);
    free(half.packed);
}

static void knows_when_data_do_not_end(void **state)
{
    const struct fixture *const fixture = *state;
    check_end_refused(fixture, fixture->packed_size, TIDE_SAMPLE - 1, TIDE_SAMPLE - 2);
    check_end_refused(fixture, fixture->packed_size, TIDE_SAMPLE / 2, TIDE_SAMPLE / 4);
}

/* The byte at AT is wrong for a while. */
static void check_damage(const struct fixture *fixture, size_t at, size_t good)
{
    fixture->packed[at] ^= 0xff;
    check_end_refused(fixture, fixture->packed_size, TIDE_SAMPLE, good);
    fixture->packed[at] ^= 0xff;
}

static void knows_when_data_are_damaged(void **state)
{
    const struct fixture *const fixture = *state;
    check_damage(fixture, 0, 0); /* not zlib's at all */
    check_damage(fixture, fixture->packed_size / 2, TIDE_SAMPLE / 4);
}

/* All bytes but the last are to be had, although the checksum is wrong or cut off. */
static void looks_at_the_checksum_last(void **state)
{
    const struct fixture *const fixture = *state;
    check_damage(fixture, fixture->packed_size - 1, TIDE_SAMPLE - 1);
    check_end_refused(fixture, fixture->packed_size - 1, TIDE_SAMPLE, TIDE_SAMPLE - 1);
}

/* --- All kinds of data, and of damage ------------------------------------------------ */

enum { TIDE_KINDS_OF_DATA = 6, TIDE_SOME = 70000 };

static uint64_t any(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

/* From bytes that do not repeat to such that do little else, near and far. */
static void make_data(uint8_t *out, size_t size, unsigned kind, uint64_t *random)
{
    for (size_t i = 0; i < size;) {
        const size_t run = 1 + any(random, kind > 3 ? 600 : 12);
        const size_t distance = 1 + any(random, kind > 2 && any(random, 2) ? 9 : 33000);
        const bool copies = kind && any(random, 8) < kind && distance <= i;
        for (size_t end = i + run < size ? i + run : size; i < end; i++)
            out[i] = copies ? out[i - distance]
                            : (uint8_t)(any(random, 1 + any(random, 256)));
    }
}

/* SIZE bytes at PLAIN, compressed in one of zlib's ways, in a block of just its size. */
static uint8_t *compress_as(const uint8_t *plain, size_t size, int level, int strategy,
                            size_t *packed_size)
{
    z_stream stream = {.next_in = plain, .avail_in = (uInt)size};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 15, 8, strategy), Z_OK);
    const uLong bound = deflateBound(&stream, size);
    uint8_t *const packed = malloc(bound);
    assert_non_null(packed);
    stream.next_out = packed;
    stream.avail_out = (uInt)bound;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    return realloc(packed, *packed_size);
}

/* Decompress in random steps: all of it must come, or as much as is right. */
static bool inflate_in_steps(const uint8_t *packed, size_t packed_size, uint8_t *out,
                             size_t size, uint64_t *random)
{
    struct tide_inflate *const inflate =
        tide_inflate_open(packed, packed_size, out, size);
    assert_non_null(inflate);
    bool good = true;
    for (size_t at = 0; good && at < size;) {
        const size_t step = 1 + any(random, any(random, 2) ? 50 : size);
        at = step < size - at ? at + step : size;
        good = tide_inflate_until(inflate, at);
    }
    tide_inflate_close(inflate);
    return good;
}

static void agrees_with_zlib(uint8_t *packed, size_t packed_size, const uint8_t *plain,
                             uint64_t *random)
{
    uint8_t *const out = malloc(TIDE_SOME);
    assert_non_null(out);
    assert_true(inflate_in_steps(packed, packed_size, out, TIDE_SOME, random));
    assert_memory_equal(out, plain, TIDE_SOME);
    for (int i = 0; i < 40; i++) {
        const bool anywhere = packed_size < 100 || any(random, 2);
        uint8_t *const byte = &packed[any(random, anywhere ? packed_size : 100)];
        const uint8_t was = *byte;
        *byte ^= (uint8_t)(1u << any(random, 8));
        uLongf size = TIDE_SOME;
        const bool right = uncompress(out, &size, packed, packed_size) == Z_OK;
        assert_int_equal(inflate_in_steps(packed, packed_size, out, TIDE_SOME, random),
                         right && size == TIDE_SOME);
        *byte = was;
    }
    free(out);
}

static void agrees_with_zlib_on_all_kinds_of_data_and_damage(void **state)
{
    (void)state;
    uint64_t random = 1;
    uint8_t *const plain = malloc(TIDE_SOME);
    assert_non_null(plain);
    for (unsigned kind = 0; kind < TIDE_KINDS_OF_DATA; kind++) {
        make_data(plain, TIDE_SOME, kind, &random);
        for (int way = 0; way < 20; way++) {
            size_t size;
            uint8_t *const packed =
                compress_as(plain, TIDE_SOME, way % 10, /* 0: stored */
                            way < 10 ? Z_DEFAULT_STRATEGY : way % 5, &size);
            assert_non_null(packed);
            agrees_with_zlib(packed, size, plain, &random);
            free(packed);
        }
    }
    free(plain);
}

/* Fixed codes, others, none, and all that again. */
static void goes_from_one_kind_of_block_to_the_next(void **state)
{
    enum { TIDE_PIECE = 1000 };
    const struct fixture *const fixture = *state;
    uint64_t random = 1;
    z_stream stream = {.next_in = fixture->plain};
    assert_int_equal(deflateInit(&stream, 6), Z_OK);
    const uLong bound = 2 * deflateBound(&stream, TIDE_SAMPLE);
    uint8_t *const packed = malloc(bound);
    assert_non_null(packed);
    stream.next_out = packed;
    stream.avail_out = (uInt)bound;
    for (int i = 0; i < TIDE_SAMPLE / TIDE_PIECE; i++) {
        stream.avail_in = TIDE_PIECE;
        assert_int_equal(deflate(&stream, Z_BLOCK), Z_OK);
        assert_int_equal(deflateParams(&stream, i % 3 ? 6 : 0,
                                       i % 3 == 1 ? Z_FIXED : Z_DEFAULT_STRATEGY),
                         Z_OK);
    }
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_true(
        inflate_in_steps(packed, stream.total_out, fixture->out, TIDE_SAMPLE, &random));
    assert_memory_equal(fixture->out, fixture->plain, TIDE_SAMPLE);
    deflateEnd(&stream);
    free(packed);
}

/* --- Codes that are none ------------------------------------------------------------- */

/* A block with codes of its own, in which nothing is but its end. */
struct coded {
    uint8_t flags;         /* second byte of the header */
    uint8_t literals[288]; /* lengths of codes */
    uint8_t distances[32];
    unsigned literal_count, distance_count;
    unsigned
        known;    /* so many lengths have codes themselves, of four bits: 16 is right */
    unsigned end; /* the bit that ends it */
};

static void put_bits(uint8_t *out, size_t *at, unsigned value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, ++*at)
        out[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
}

static void put_lengths(uint8_t *out, size_t *at, const uint8_t *lengths,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned bit = 4; bit-- > 0;)
            put_bits(out, at, lengths[i] >> bit & 1, 1);
}

/* The bytes of CODED, with the checksum of nothing; how many they are. */
static size_t write_coded(const struct coded *coded, uint8_t *out)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    size_t at = 0;
    put_bits(out, &at, 0x78u | (unsigned)coded->flags << 8, 16);
    put_bits(out, &at, 1 | 2 << 1, 3);
    put_bits(out, &at, coded->literal_count - 257, 5);
    put_bits(out, &at, coded->distance_count - 1, 5);
    put_bits(out, &at, 19 - 4, 4);
    for (size_t i = 0; i < sizeof(order); i++)
        put_bits(out, &at, order[i] < coded->known ? 4 : 0, 3);
    put_lengths(out, &at, coded->literals, coded->literal_count);
    put_lengths(out, &at, coded->distances, coded->distance_count);
    put_bits(out, &at, coded->end, 1);
    at = (at + 7) / 8 * 8;
    put_bits(out, &at, 1u << 24, 32);
    return at / 8;
}

/* zlib and we say the same of it: it is RIGHT, or there is not a byte in it. */
static void check_coded(const struct coded *coded, bool right)
{
    uint8_t packed[300] = {0}, out[8];
    const size_t size = write_coded(coded, packed);
    uLongf none = 0;
    assert_int_equal(uncompress(out, &none, packed, size) == Z_OK, right);
    struct tide_inflate *const all = tide_inflate_open(packed, size, out, 0);
    struct tide_inflate *const more = tide_inflate_open(packed, size, out, sizeof(out));
    assert_true(all && more);
    assert_int_equal(tide_inflate_until(all, 0), right);
    assert_false(tide_inflate_until(more, 1));
    tide_inflate_close(all);
    tide_inflate_close(more);
}

static struct coded right_codes(void)
{
    return (struct coded){.flags = 0x9c,
                          .literals = {[0] = 1, [256] = 1},
                          .distances = {1, 1},
                          .literal_count = 257,
                          .distance_count = 2,
                          .known = 16,
                          .end = 1};
}

/* Each is wrong in one way only. */
static void refuses_codes_that_are_none(void **state)
{
    (void)state;
    struct coded coded = right_codes();
    check_coded(&coded, true);
    coded.literals[0] = 0, coded.end = 0; /* a single one may be of one bit */
    coded.distances[0] = coded.distances[1] = 0;
    check_coded(&coded, true);
    coded.literals[256] = 2;
    check_coded(&coded, false);

    coded = right_codes(); /* too many */
    coded.literals[1] = 1, coded.end = 0;
    check_coded(&coded, false);
    coded = right_codes();
    coded.distances[2] = 1, coded.distance_count = 3;
    check_coded(&coded, false);

    coded = right_codes(); /* too few */
    coded.literals[0] = 2;
    check_coded(&coded, false);
    coded = right_codes();
    coded.distances[0] = 2;
    check_coded(&coded, false);
    coded = right_codes();
    coded.known = 15;
    check_coded(&coded, false);

    coded = right_codes(); /* no end */
    coded.literals[1] = 1, coded.literals[256] = 0;
    check_coded(&coded, false);
}

static void refuses_more_symbols_than_there_are(void **state)
{
    (void)state;
    struct coded coded = right_codes();
    coded.literal_count = 286, coded.distance_count = 30;
    check_coded(&coded, true);
    coded.literal_count = 287;
    check_coded(&coded, false);
    coded.literal_count = 286, coded.distance_count = 31;
    check_coded(&coded, false);
}

static void refuses_a_dictionary(void **state)
{
    (void)state;
    struct coded coded = right_codes();
    coded.flags = 0x20;
    check_coded(&coded, false);
}

/* --- Nothing is written beyond what was asked for ------------------------------------ */

/* In long matches, which are copied by words while the input is not near its end. */
static void writes_no_further_than_asked_for(void **state)
{
    enum { TIDE_LONG = 3000, TIDE_PERIOD = 9, TIDE_ALL = TIDE_LONG + 500 };
    (void)state;
    uint8_t plain[TIDE_ALL], out[TIDE_ALL];
    uint64_t random = 1;
    size_t size;
    for (size_t i = 0; i < TIDE_ALL; i++)
        plain[i] = (uint8_t)(i < TIDE_LONG ? i % TIDE_PERIOD : any(&random, 256));
    uint8_t *const packed = compress_as(plain, TIDE_ALL, 9, Z_DEFAULT_STRATEGY, &size);
    for (size_t end = 1; end < TIDE_LONG; end++) {
        struct tide_inflate *const inflate =
            tide_inflate_open(packed, size, out, TIDE_ALL);
        assert_non_null(inflate);
        memset(out, 0xee, sizeof(out));
        assert_true(tide_inflate_until(inflate, end));
        assert_memory_equal(out, plain, end);
        for (size_t i = end; i < end + 20; i++)
            assert_int_equal(out[i], 0xee);
        tide_inflate_close(inflate);
    }
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_zlib_compressed),
        cmocka_unit_test(knows_when_data_end_too_early),
        cmocka_unit_test(knows_when_data_do_not_end),
        cmocka_unit_test(knows_when_data_are_damaged),
        cmocka_unit_test(looks_at_the_checksum_last),
        cmocka_unit_test(agrees_with_zlib_on_all_kinds_of_data_and_damage),
        cmocka_unit_test(goes_from_one_kind_of_block_to_the_next),
        cmocka_unit_test(refuses_codes_that_are_none),
        cmocka_unit_test(refuses_more_symbols_than_there_are),
        cmocka_unit_test(refuses_a_dictionary),
        cmocka_unit_test(writes_no_further_than_asked_for),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
