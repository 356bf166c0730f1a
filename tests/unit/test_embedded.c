/* unit/test_embedded.c - names that a trace brings: written, read back, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "dice.h"
#include "hand_model.h"
#include "model/embed.h"
#include "trace/embedded.h"
#include "trace_builder.h"

enum { TIDE_MUTATIONS = 3000, TIDE_MANY = 20000, TIDE_NAME_BYTES = 64 };

static const char PATH[] = "/nowhere/prog";
static const char BUILD_ID[] = "0123abcd"; /* of all modules of the builder */

/* A trace of one module and no events; its RUN chunk is still open. */
static struct tide_builder *begin(void)
{
    struct tide_builder *const builder = tide_builder_new();
    tide_builder_note(&builder->notes[0], TIDE_NOTE_PROCESS,
                      (const uint64_t[]){77, 1, 5, 0, 0}, 5, NULL);
    tide_builder_module(builder, 0,
                        (const uint64_t[]){1, 0, 0x400000, 0x500000, 0x400000}, PATH);
    return builder;
}

static void add_texts(struct tide_builder *builder, uint64_t first,
                      const char *const *texts)
{
    tide_builder_note(&builder->run, TIDE_NOTE_TEXTS, &first, 1, texts);
}

/* A SYMBOLS note of PATH with NUMBERS behind it. */
static void add_symbols(struct tide_builder *builder, const char *path,
                        const uint64_t *numbers, size_t count)
{
    struct tide_buffer fields = {0};
    tide_buffer_string(&fields, path);
    tide_buffer_string(&fields, BUILD_ID);
    for (size_t i = 0; i < count; i++)
        tide_buffer_varint(&fields, numbers[i]);
    tide_buffer_varint(&builder->run, TIDE_NOTE_SYMBOLS);
    tide_buffer_varint(&builder->run, fields.length);
    tide_buffer_put(&builder->run, fields.bytes, fields.length);
    tide_buffer_release(&fields);
}

static struct tide_trace *open_fd(int fd)
{
    char why[160];
    struct tide_trace *trace;
    assert_int_equal(tide_trace_open_fd(fd, "input", why, sizeof(why), &trace),
                     TIDE_OK);
    return trace;
}

static struct tide_trace *open_built(struct tide_builder *builder)
{
    tide_builder_finish(builder);
    struct tide_trace *const trace = open_fd(tide_builder_fd(builder));
    tide_builder_free(builder);
    return trace;
}

static void names_are_found_by_address(void **state)
{
    (void)state;
    static const char *const ONE[] = {"inner", "app.c", NULL};
    static const char *const OTHER[] = {"outer", NULL};
    struct tide_builder *const builder = begin();
    struct tide_embedded *embedded;
    size_t count;
    add_texts(builder, 1, ONE);
    add_texts(builder, 3, OTHER);
    add_symbols(builder, PATH,
                (const uint64_t[]){0x100, 2, 1, 2, 7, 3, 0, 9, 0x10, 1, 3, 2, 0}, 13);
    add_symbols(builder, "/another", (const uint64_t[]){0x100, 1, 1, 1, 1}, 5);
    struct tide_trace *const trace = open_built(builder);
    assert_string_equal(trace->problem, "");
    assert_int_equal(tide_embedded_open(trace, &embedded), TIDE_OK);
    assert_int_equal(tide_embedded_frames(embedded), 2);
    assert_true(tide_embedded_names(embedded, 0));
    assert_false(tide_embedded_names(embedded, 1));
    assert_false(tide_embedded_names(NULL, 0));
    const struct tide_embedded_place *places =
        tide_embedded_find(embedded, 0, 0x100, &count);
    assert_int_equal(count, 2);
    assert_string_equal(places[0].function, "inner");
    assert_string_equal(places[0].file, "app.c");
    assert_int_equal(places[0].line, 7);
    assert_string_equal(places[1].function, "outer");
    assert_null(places[1].file);
    assert_int_equal(places[1].line, 9);
    places = tide_embedded_find(embedded, 0, 0x110, &count);
    assert_int_equal(count, 1);
    assert_string_equal(places[0].function, "outer");
    (void)tide_embedded_find(embedded, 0, 0x101, &count);
    assert_int_equal(count, 0);
    (void)tide_embedded_find(embedded, 1, 0x100, &count);
    assert_int_equal(count, 0);
    tide_embedded_close(embedded);
    tide_trace_close(trace);
}

static void what_is_not_there_is_unknown(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"f", NULL};
    struct tide_builder *const builder = begin();
    struct tide_embedded *embedded;
    size_t count;
    add_texts(builder, 5, TEXTS);
    add_texts(builder, UINT64_MAX, TEXTS);
    add_texts(builder, 0, TEXTS);
    add_symbols(builder, PATH,
                (const uint64_t[]){1, 1, 4, 6, 1, 1, 1, 5, UINT64_MAX, 2}, 10);
    /* A count that nothing stands behind, and a line of more than 32 bits. */
    add_symbols(builder, PATH, (const uint64_t[]){9, UINT64_MAX, 1, 1, 1}, 5);
    add_symbols(builder, PATH, (const uint64_t[]){10, 1, 1, 1, UINT64_MAX}, 5);
    add_symbols(builder, PATH, (const uint64_t[]){11, 3, 1}, 3);
    struct tide_trace *const trace = open_built(builder);
    assert_int_equal(tide_embedded_open(trace, &embedded), TIDE_OK);
    assert_int_equal(tide_embedded_frames(embedded), 2);
    const struct tide_embedded_place *const places =
        tide_embedded_find(embedded, 0, 1, &count);
    assert_int_equal(count, 1);
    assert_null(places[0].function);
    assert_null(places[0].file);
    assert_string_equal(tide_embedded_find(embedded, 0, 2, &count)[0].function, "f");
    tide_embedded_close(embedded);
    tide_trace_close(trace);
}

/* --- There and back ---------------------------------------------------------------- */

static struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "in\033ner", "inner.h", 20},
    {TIDE_HAND_APP, 0x200, "outer", "app.c", 21},
    {TIDE_HAND_STDCXX, 0x300, "qsort", NULL, 0},
    {TIDE_HAND_STDCXX, 0x400, NULL, NULL, 0},
    {0, 0, NULL, NULL, 0},
};

/* All names of the hand-made model, as notes. */
static struct tide_text notes_of_hand(struct tide_embed_counts *counts)
{
    static const struct hand_frame FRAMES[] = {{TIDE_HAND_APP, 0x100},
                                               {TIDE_HAND_APP, 0x200},
                                               {TIDE_HAND_STDCXX, 0x300},
                                               {TIDE_HAND_STDCXX, 0x400}};
    struct hand_model hand;
    struct tide_text notes = {0};
    hand_model_init(&hand, symbols);
    for (size_t i = 0; i < TIDE_HAND_MODULES; i++)
        hand.modules[i].build_id = BUILD_ID;
    hand_site(&hand, (struct tide_site){.stack = hand_stack(&hand, FRAMES, 4),
                                        .bytes = 1,
                                        .calls = 1});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_model_embed(hand.model, &notes, counts), TIDE_OK);
    hand_model_release(&hand);
    return notes;
}

/* A trace with the modules of the hand-made model. */
static struct tide_builder *hand_trace(void)
{
    struct tide_builder *const builder = begin();
    tide_builder_module(
        builder, 0, (const uint64_t[]){2, 0, 0x500000, 0x600000, 0x500000}, "/bin/app");
    tide_builder_module(builder, 0,
                        (const uint64_t[]){3, 0, 0x600000, 0x700000, 0x600000},
                        "/usr/lib/libstdc++.so.6");
    tide_builder_finish(builder);
    return builder;
}

static int packed_fd(const struct tide_trace *trace, const struct tide_text *notes)
{
    const int fd = memfd_create("packed", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(tide_trace_pack(trace, fd, notes), TIDE_OK);
    return fd;
}

static void check_hand_names(const struct tide_trace *trace)
{
    struct tide_embedded *embedded;
    size_t count;
    assert_true(trace->complete);
    assert_string_equal(trace->problem, "");
    assert_int_equal(tide_embedded_open(trace, &embedded), TIDE_OK);
    assert_int_equal(tide_embedded_frames(embedded), 3);
    const struct tide_embedded_place *const places =
        tide_embedded_find(embedded, 1, 0x1ff, &count);
    assert_int_equal(count, 2);
    assert_string_equal(places[0].function, "in\033ner");
    assert_string_equal(places[0].file, "inner.h");
    assert_int_equal(places[0].line, 20);
    assert_string_equal(places[1].function, "outer");
    assert_string_equal(tide_embedded_find(embedded, 2, 0x2ff, &count)[0].function,
                        "qsort");
    (void)tide_embedded_find(embedded, 2, 0x3ff, &count);
    assert_int_equal(count, 0);
    tide_embedded_close(embedded);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct tide_embed_counts counts;
    struct tide_text notes = notes_of_hand(&counts);
    struct tide_builder *const builder = hand_trace();
    struct tide_trace *const bare = open_fd(tide_builder_fd(builder));
    assert_int_equal(counts.frames, 4);
    assert_int_equal(counts.named, 3);
    assert_int_equal(counts.modules, 2);
    assert_string_equal(counts.one, "/usr/lib/libstdc++.so.6");
    struct tide_trace *const packed = open_fd(packed_fd(bare, &notes));
    check_hand_names(packed);
    /* Once more: names take the place of names. */
    struct tide_trace *const again = open_fd(packed_fd(packed, &notes));
    check_hand_names(again);
    assert_int_equal(again->file_bytes, packed->file_bytes);
    /* With nothing in their place, the trace is what it was. */
    const struct tide_text nothing = {0};
    const int fd = packed_fd(packed, &nothing);
    uint8_t *const bytes = malloc(builder->file.length);
    assert_non_null(bytes);
    assert_int_equal(lseek(fd, 0, SEEK_END), (off_t)builder->file.length);
    assert_int_equal(pread(fd, bytes, builder->file.length, 0),
                     (ssize_t)builder->file.length);
    struct tide_trace *const stripped = open_fd(fd);
    assert_true(stripped->complete);
    assert_int_equal(stripped->symbol_note_count, 0);
    free(bytes);
    tide_trace_close(stripped);
    tide_trace_close(again);
    tide_trace_close(packed);
    tide_trace_close(bare);
    tide_builder_free(builder);
    tide_text_release(&notes);
}

/* --- Damage ------------------------------------------------------------------------ */

static void mutate(struct dice *dice, uint8_t *bytes, size_t length)
{
    for (int i = 1 + dice_roll(dice, 8); i > 0; i--) {
        const size_t at = (size_t)dice_roll(dice, (int)length);
        bytes[at] = dice_roll(dice, 2) ? (uint8_t)dice_bits(dice) : 255;
    }
}

/* Whatever the notes are, reading ends, and what is found can be read. */
static void damaged_names_do_no_harm(void **state)
{
    (void)state;
    struct dice dice = {.state = 99};
    struct tide_embed_counts counts;
    struct tide_text notes = notes_of_hand(&counts);
    struct tide_builder *const builder = hand_trace();
    struct tide_trace *const bare = open_fd(tide_builder_fd(builder));
    struct tide_text copy = {0};
    for (int i = 0; i < TIDE_MUTATIONS; i++) {
        struct tide_embedded *embedded;
        size_t count;
        tide_text_clear(&copy);
        tide_text_add_bytes(&copy, notes.bytes, notes.length);
        mutate(&dice, (uint8_t *)copy.bytes, copy.length);
        struct tide_trace *const trace = open_fd(packed_fd(bare, &copy));
        assert_int_equal(tide_embedded_open(trace, &embedded), TIDE_OK);
        for (uint64_t address = 0; address < 0x400; address++) {
            const struct tide_embedded_place *const places =
                tide_embedded_find(embedded, 1, address, &count);
            for (size_t j = 0; j < count; j++)
                if (places[j].function)
                    assert_true(strlen(places[j].function) < 1000);
        }
        tide_embedded_close(embedded);
        tide_trace_close(trace);
    }
    tide_text_release(&copy);
    tide_text_release(&notes);
    tide_trace_close(bare);
    tide_builder_free(builder);
}

static void many_names_take_several_chunks(void **state)
{
    (void)state;
    struct tide_builder *const builder = begin();
    struct tide_trace *const bare = open_built(builder);
    struct tide_buffer notes = {0};
    for (uint64_t i = 0; i < TIDE_MANY; i++) {
        char name[TIDE_NAME_BYTES];
        (void)snprintf(name, sizeof(name), "function_number_%llu_of_so_many_others",
                       (unsigned long long)i);
        const char *const texts[] = {name, NULL};
        const uint64_t first = i + 1;
        tide_builder_note(&notes, TIDE_NOTE_TEXTS, &first, 1, texts);
    }
    struct tide_buffer fields = {0};
    tide_buffer_string(&fields, PATH);
    tide_buffer_string(&fields, BUILD_ID);
    for (uint64_t i = 0; i < TIDE_MANY; i++) {
        const uint64_t numbers[] = {1, 1, i + 1, 0, i};
        for (size_t j = 0; j < 5; j++)
            tide_buffer_varint(&fields, numbers[j]);
    }
    tide_buffer_varint(&notes, TIDE_NOTE_SYMBOLS);
    tide_buffer_varint(&notes, fields.length);
    tide_buffer_put(&notes, fields.bytes, fields.length);
    const struct tide_text text = {.bytes = (char *)notes.bytes,
                                   .length = notes.length};
    struct tide_trace *const packed = open_fd(packed_fd(bare, &text));
    struct tide_embedded *embedded;
    size_t count;
    assert_string_equal(packed->problem, "");
    assert_int_equal(tide_embedded_open(packed, &embedded), TIDE_OK);
    assert_int_equal(tide_embedded_frames(embedded), TIDE_MANY);
    assert_string_equal(tide_embedded_find(embedded, 0, TIDE_MANY, &count)[0].function,
                        "function_number_19999_of_so_many_others");
    tide_embedded_close(embedded);
    tide_trace_close(packed);
    tide_trace_close(bare);
    tide_buffer_release(&fields);
    tide_buffer_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_by_address),
        cmocka_unit_test(what_is_not_there_is_unknown),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(damaged_names_do_no_harm),
        cmocka_unit_test(many_names_take_several_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
