/* tests/unit/test_compressed.c - debug information that is compressed, or whose index of
 * addresses is missing or wrong, gives the same answers as plain one.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

static char *scratch; /* folder */
static char *plain;   /* a program of several units, in two languages */
static char *other;   /* what became of it */
static uint64_t first, last;

/* Make the other program of the plain one. */
static void copy_with(const char *options)
{
    char *const command = tide_path("objcopy %s %s %s", options, plain, other);
    tide_fixture_do(command, NULL);
    free(command);
}

static void compress_other(void)
{
    char *const command = tide_path("objcopy --compress-debug-sections=zlib %s", other);
    tide_fixture_do(command, NULL);
    free(command);
}

static void make_unit(const char *compiler, const char *source, const char *object)
{
    char *const command = tide_path("%s -o %s/%s -c", compiler, scratch, object);
    tide_fixture_do(command, source);
    free(command);
}

static int begin(void **state)
{
    (void)state;
    scratch = tide_scratch_new();
    plain = tide_path("%s/plain", scratch);
    other = tide_path("%s/other", scratch);
    make_unit("gcc -O2 -g -Dmain=not_main", TIDE_FIXTURE("inline_chain.c"), "a.o");
    make_unit("gcc -O2 -g -gdwarf-4", TIDE_FIXTURE("inline_chain.c"), "b.o");
    make_unit("g++ -O2 -g -Dmain=nor_this", TIDE_FIXTURE("scopes.cpp"), "c.o");
    char *const link = tide_path("g++ -Wl,-z,muldefs -o %s %s/a.o %s/b.o %s/c.o", plain,
                                 scratch, scratch, scratch);
    tide_fixture_do(link, NULL);
    free(link);
    first = tide_fixture_address(plain, "_start");
    last = tide_fixture_address(plain, "_fini");
    assert_true(first < last);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tide_scratch_remove(scratch);
    free(plain);
    free(other);
    return 0;
}

static bool same(const char *one, const char *two)
{
    return one && two ? strcmp(one, two) == 0 : one == two;
}

/* Both must say the same of ADDRESS; how many lines that were. */
static size_t compare(struct tide_symbolizer *one, struct tide_symbolizer *two,
                      uint64_t address)
{
    const struct tide_location *expected, *found;
    size_t count, found_count, lines = 0;
    assert_int_equal(tide_symbolizer_find(one, address, &expected, &count), TIDE_OK);
    assert_int_equal(tide_symbolizer_find(two, address, &found, &found_count), TIDE_OK);
    assert_int_equal(count, found_count);
    for (size_t i = 0; i < count; i++) {
        assert_true(same(expected[i].function, found[i].function));
        assert_true(same(expected[i].file, found[i].file));
        assert_int_equal(expected[i].line, found[i].line);
        lines += expected[i].line > 0;
    }
    return lines;
}

/* Ask both files for every address, from the first on or back from the last. */
static void check_same(bool backwards)
{
    const char *const root = "/nonexistent";
    struct tide_symbolizer *const one = tide_fixture_open(plain, "", root);
    struct tide_symbolizer *const two = tide_fixture_open(other, "", root);
    size_t lines = 0;
    for (uint64_t at = first; at < last; at++)
        lines += compare(one, two, backwards ? last - 1 - (at - first) : at);
    assert_true(lines > 500); /* or it would prove nothing */
    tide_symbolizer_close(one);
    tide_symbolizer_close(two);
}

static void says_the_same_compressed(void **state)
{
    (void)state;
    copy_with("--compress-debug-sections=zlib");
    check_same(false);
    check_same(true);
}

static void says_the_same_without_an_index_of_addresses(void **state)
{
    (void)state;
    copy_with("--remove-section=.debug_aranges");
    check_same(false);
    copy_with("--compress-debug-sections=zlib --remove-section=.debug_aranges");
    check_same(false);
}

/* --- Damage ------------------------------------------------------------------------- */

/* A file in memory. */
struct image {
    unsigned char *bytes; /* owned */
    size_t size;
};

static struct image read_image(const char *path)
{
    struct image image = {0};
    FILE *const file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size > 0);
    image.size = (size_t)size;
    image.bytes = malloc(image.size);
    assert_non_null(image.bytes);
    rewind(file);
    assert_int_equal(fread(image.bytes, 1, image.size, file), image.size);
    (void)fclose(file);
    return image;
}

static void write_image(const struct image *image, const char *path)
{
    FILE *const file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(image->bytes, 1, image->size, file), image->size);
    assert_int_equal(fclose(file), 0);
}

/* The header of the section NAME in IMAGE, and where it stands. */
static Elf64_Shdr find_section(const struct image *image, const char *name, size_t *at)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    memcpy(&header, image->bytes, sizeof(header));
    memcpy(&names, image->bytes + header.e_shoff + header.e_shstrndx * sizeof(names),
           sizeof(names));
    for (size_t i = 0; i < header.e_shnum; i++) {
        *at = header.e_shoff + i * sizeof(section);
        memcpy(&section, image->bytes + *at, sizeof(section));
        const char *const called =
            (const char *)image->bytes + names.sh_offset + section.sh_name;
        if (strcmp(called, name) == 0)
            return section;
    }
    fail_msg("%s: not there", name);
    return (Elf64_Shdr){0};
}

/* An index that leads into the middle of a unit, or nowhere, is not followed. */
static void does_not_follow_a_wrong_index(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {1, 11, 200, 0x7fffffff};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct image image = read_image(plain);
        size_t header;
        const Elf64_Shdr section = find_section(&image, ".debug_aranges", &header);
        unsigned char *const aranges = image.bytes + section.sh_offset;
        for (size_t at = 0; at + 12 < section.sh_size;) {
            uint32_t length, unit;
            memcpy(&length, aranges + at, sizeof(length));
            memcpy(&unit, aranges + at + 6, sizeof(unit));
            unit += wrong[i];
            memcpy(aranges + at + 6, &unit, sizeof(unit));
            at += length + sizeof(length);
        }
        write_image(&image, other);
        free(image.bytes);
        check_same(false);
        compress_other();
        check_same(false);
        check_same(true);
    }
}

/* The first unit is read although the end is missing: it must not have been decompressed
 * for that. */
static void reads_no_further_than_it_must(void **state)
{
    (void)state;
    copy_with("--compress-debug-sections=zlib");
    struct image image = read_image(other);
    size_t at = 0;
    Elf64_Shdr section = find_section(&image, ".debug_info", &at);
    section.sh_size -= section.sh_size / 8;
    memcpy(image.bytes + at, &section, sizeof(section));
    write_image(&image, other);
    free(image.bytes);

    struct tide_symbolizer *const one = tide_fixture_open(plain, "", "/nonexistent");
    struct tide_symbolizer *const two = tide_fixture_open(other, "", "/nonexistent");
    const uint64_t address = tide_fixture_address(plain, "not_main");
    assert_true(compare(one, two, address + 1) > 0);
    tide_symbolizer_close(one);
    tide_symbolizer_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_the_same_compressed),
        cmocka_unit_test(says_the_same_without_an_index_of_addresses),
        cmocka_unit_test(does_not_follow_a_wrong_index),
        cmocka_unit_test(reads_no_further_than_it_must),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
