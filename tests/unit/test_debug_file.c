/* tests/unit/test_debug_file.c - debug files are found where they belong, and only the
 * right ones are used.  Ground truth: the program's own words from before it was
 * stripped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "symbol/elf_file.h"
#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

#define SOURCE TIDE_FIXTURE("inline_chain.c")
#define ID     "0123456789abcdef0123456789abcdef01234567"

/* One folder for each case. */
struct place {
    char *folder;
    char *program; /* FOLDER/bin/program, stripped */
    char *debug;   /* FOLDER/bin/program.debug */
    struct tide_truths truths;
};

/* Run a command line of printf parts. */
__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
    char *command = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&command, format, arguments) >= 0);
    va_end(arguments);
    tide_fixture_do(command, NULL);
    free(command);
}

/* Compile with LINKING, and part the program from its debug information. */
static void make_with(struct place *place, const char *linking)
{
    place->folder = tide_scratch_new();
    place->program = tide_path("%s/bin/program", place->folder);
    place->debug = tide_path("%s.debug", place->program);
    run("mkdir %s/bin", place->folder);
    run("gcc -O2 -g %s -o %s " SOURCE, linking, place->program);
    tide_fixture_truths(place->program, &place->truths);
    run("objcopy --only-keep-debug %s %s", place->program, place->debug);
    run("objcopy --strip-all --add-gnu-debuglink=%s %s", place->debug, place->program);
}

static int make(void **state)
{
    static struct place place;
    make_with(&place, "-Wl,--build-id=0x" ID);
    *state = &place;
    return 0;
}

static int make_without_id(void **state)
{
    static struct place place;
    make_with(&place, "-Wl,--build-id=none");
    *state = &place;
    return 0;
}

static int destroy(void **state)
{
    struct place *const place = *state;
    tide_scratch_remove(place->folder);
    free(place->program);
    free(place->debug);
    return 0;
}

static void assert_all_known(const struct place *place, const char *build_id,
                             const char *root)
{
    struct tide_symbolizer *const symbolizer =
        tide_fixture_open(place->program, build_id, root);
    tide_fixture_check(symbolizer, &place->truths, SOURCE);
    tide_symbolizer_close(symbolizer);
}

/* main is static to the dynamic linker: without the debug file nothing is known. */
static void assert_nothing_known(const struct place *place, const char *build_id,
                                 const char *root)
{
    struct tide_symbolizer *const symbolizer =
        tide_fixture_open(place->program, build_id, root);
    for (size_t i = 0; i < place->truths.count; i++)
        assert_null(tide_fixture_name(symbolizer, place->truths.list[i].address));
    tide_symbolizer_close(symbolizer);
}

/* Move the debug file to ROOT's place for ID. */
static char *file_by_id(const struct place *place)
{
    char *const root = tide_path("%s/root", place->folder);
    run("mkdir -p %s/.build-id/%.2s", root, ID);
    run("mv %s %s/.build-id/%.2s/%s.debug", place->debug, root, ID, &ID[2]);
    return root;
}

static void finds_it_beside_the_module(void **state)
{
    assert_all_known(*state, ID, "/nonexistent");
    assert_all_known(*state, "", "/nonexistent");
}

static void finds_it_in_the_hidden_folder(void **state)
{
    const struct place *const place = *state;
    run("mkdir %s/bin/.debug", place->folder);
    run("mv %s %s/bin/.debug", place->debug, place->folder);
    assert_all_known(place, ID, "/nonexistent");
}

static void finds_it_at_the_same_path_under_the_root(void **state)
{
    const struct place *const place = *state;
    char *const root = tide_path("%s/root", place->folder);
    run("mkdir -p %s%s/bin", root, place->folder);
    run("mv %s %s%s/bin", place->debug, root, place->folder);
    assert_nothing_known(place, ID, "/nonexistent");
    assert_all_known(place, ID, root);
    free(root);
}

static void finds_it_by_build_id(void **state)
{
    const struct place *const place = *state;
    char *const root = file_by_id(place);
    assert_nothing_known(place, ID, "/nonexistent");
    assert_all_known(place, ID, root);
    assert_all_known(place, "", root); /* the module knows its own */
    free(root);
}

static void finds_it_when_the_module_is_gone(void **state)
{
    const struct place *const place = *state;
    char *const root = file_by_id(place);
    assert_int_equal(unlink(place->program), 0);
    assert_all_known(place, ID, root);
    assert_nothing_known(place, "", root);
    free(root);
}

static void finds_it_when_another_module_took_the_place(void **state)
{
    const struct place *const place = *state;
    char *const root = file_by_id(place);
    run("gcc -O1 -g -Wl,--build-id=0x00ff -o %s " SOURCE, place->program);
    assert_all_known(place, ID, root);
    assert_nothing_known(place, ID, "/nonexistent");
    free(root);
}

static void refuses_a_module_without_the_build_id_it_had(void **state)
{
    const struct place *const place = *state; /* made without any */
    assert_nothing_known(place, ID, "/nonexistent");
}

static void refuses_a_debug_file_of_another_build(void **state)
{
    const struct place *const place = *state;
    char *const root = file_by_id(place);
    run("gcc -O2 -g -Wl,--build-id=0x00ff -o %s/.build-id/%.2s/%s.debug " SOURCE, root,
        ID, &ID[2]);
    assert_nothing_known(place, ID, root);
    free(root);
}

static void refuses_what_is_not_a_build_id(void **state)
{
    static const char *const wrong[] = {
        "0",        "ABCDEF",
        "xy",       "../../../../../../etc/passwd",
        "01/../02", "0123456789abcdef0123456789abcdef0123456g",
        "0123 ",
    };
    const struct place *const place = *state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct tide_build_id id;
        assert_false(tide_build_id_parse(&id, wrong[i]));
        assert_nothing_known(place, wrong[i], place->folder);
    }
}

static void checks_the_sum_where_there_is_no_build_id(void **state)
{
    const struct place *const place = *state;
    assert_all_known(place, "", "/nonexistent");

    FILE *const file = fopen(place->debug, "ae");
    assert_non_null(file);
    assert_true(fputc('x', file) == 'x' && fclose(file) == 0);
    assert_nothing_known(place, "", "/nonexistent");
}

static void does_not_wait_for_a_fifo_in_its_place(void **state)
{
    const struct place *const place = *state;
    assert_int_equal(unlink(place->debug), 0);
    assert_int_equal(mkfifo(place->debug, 0600), 0);
    alarm(60);
    assert_nothing_known(place, ID, "/nonexistent");
    alarm(0);
}

/* Symbols come from the debug file too, where there is nothing better. */
static void takes_symbols_from_a_debug_file_without_dwarf(void **state)
{
    const struct place *const place = *state;
    const uint64_t address = tide_fixture_address(place->debug, "outer");
    run("objcopy --strip-debug %s", place->debug);
    struct tide_symbolizer *const symbolizer =
        tide_fixture_open(place->program, ID, "/nonexistent");
    const char *const name = tide_fixture_name(symbolizer, address);
    assert_non_null(name);
    assert_string_equal(name, "outer");
    tide_symbolizer_close(symbolizer);
}

/* --- What dwz took out ------------------------------------------------------------ */

/* FOLDER/bin/program is the file that names ALTERNATE as the other one. */
static void make_dwz(const struct place *place, const char *alternate)
{
    run("gcc -shared -nostdlib -DALTERNATE=\"%s\" -o %s " TIDE_FIXTURE("dwz_main.S"),
        alternate, place->program);
}

static void make_part(const char *path, const char *id)
{
    run("gcc -shared -nostdlib -Wl,--build-id=0x%s -o %s " TIDE_FIXTURE("dwz_part.S"),
        id, path);
}

#define PART_ID "0102030405060708090a0b0c0d0e0f10"

/* By the names that stand only in the other file. */
static void check_dwz(const struct place *place, const char *root, const char *first,
                      const char *last)
{
    const uint64_t address = tide_fixture_address(place->program, "first");
    alarm(60);
    struct tide_symbolizer *const symbolizer =
        tide_fixture_open(place->program, "", root);
    assert_string_equal(tide_fixture_name(symbolizer, address), first);
    assert_string_equal(tide_fixture_name(symbolizer, address + 16), last);
    tide_symbolizer_close(symbolizer);
    alarm(0);
}

static void reads_what_dwz_took_out(void **state)
{
    const struct place *const place = *state;
    char *const part = tide_path("%s/bin/part", place->folder);
    make_dwz(place, "part");
    make_part(part, PART_ID);
    check_dwz(place, "/nonexistent", "named_elsewhere", "spelled_elsewhere");

    char *const root = tide_path("%s/root", place->folder);
    run("mkdir -p %s/.build-id/01 %s/.dwz", root, root);
    run("mv %s %s/.build-id/01/%s.debug", part, root, &PART_ID[2]);
    check_dwz(place, root, "named_elsewhere", "spelled_elsewhere");

    make_dwz(place, "/usr/lib/debug/.dwz/part");
    run("mv %s/.build-id/01/%s.debug %s/.dwz/part", root, &PART_ID[2], root);
    check_dwz(place, root, "named_elsewhere", "spelled_elsewhere");
    free(root);
    free(part);
}

static void does_without_what_dwz_took_out(void **state)
{
    const struct place *const place = *state;
    make_dwz(place, "part");
    check_dwz(place, "/nonexistent", "first", "last");

    char *const part = tide_path("%s/bin/part", place->folder);
    make_part(part, "ff02030405060708090a0b0c0d0e0f10");
    check_dwz(place, "/nonexistent", "first", "last");

    make_dwz(place, part); /* libdw looks there by itself */
    assert_int_equal(unlink(part), 0);
    assert_int_equal(mkfifo(part, 0600), 0);
    check_dwz(place, "/nonexistent", "first", "last");
    free(part);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, destroy)
#define CASE_WITHOUT(name) \
    cmocka_unit_test_setup_teardown(name, make_without_id, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(finds_it_beside_the_module),
        CASE(finds_it_in_the_hidden_folder),
        CASE(finds_it_at_the_same_path_under_the_root),
        CASE(finds_it_by_build_id),
        CASE(finds_it_when_the_module_is_gone),
        CASE(finds_it_when_another_module_took_the_place),
        CASE_WITHOUT(refuses_a_module_without_the_build_id_it_had),
        CASE(refuses_a_debug_file_of_another_build),
        CASE(refuses_what_is_not_a_build_id),
        CASE_WITHOUT(checks_the_sum_where_there_is_no_build_id),
        CASE(does_not_wait_for_a_fifo_in_its_place),
        CASE(takes_symbols_from_a_debug_file_without_dwarf),
        CASE(reads_what_dwz_took_out),
        CASE(does_without_what_dwz_took_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
