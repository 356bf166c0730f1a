/* tests/unit/test_symbolizer.c - programs that know their own addresses, as compilers
 * make them: with either DWARF, compressed, in two halves, with names from two
 * languages.  What binutils says of every address is test_symbolizer_oracle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

static char *scratch; /* folder */

static int begin(void **state)
{
    (void)state;
    scratch = tide_scratch_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tide_scratch_remove(scratch);
    return 0;
}

/* Compile SOURCE with COMMAND, and compare what it says of itself with what we say. */
static void check_made_by(const char *command, const char *source)
{
    char *const program = tide_path("%s/program", scratch);
    char *const with_output = tide_path("%s -o %s", command, program);
    tide_fixture_do(with_output, source);
    struct tide_truths truths;
    tide_fixture_truths(program, &truths);
    struct tide_symbolizer *const symbolizer = tide_fixture_open(program, "", NULL);
    tide_fixture_check(symbolizer, &truths, source);
    /* Functions that the linker dropped are left at 0. */
    assert_null(tide_fixture_name(symbolizer, 4));
    tide_symbolizer_close(symbolizer);
    free(with_output);
    free(program);
}

static void names_inlined_functions_with_their_lines(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -gdwarf-5", TIDE_FIXTURE("inline_chain.c"));
}

static void reads_the_older_dwarf(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -gdwarf-4", TIDE_FIXTURE("inline_chain.c"));
}

static void reads_compressed_sections(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -gz=zlib", TIDE_FIXTURE("inline_chain.c"));
}

static void reads_programs_at_fixed_addresses(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -fno-pie -no-pie", TIDE_FIXTURE("inline_chain.c"));
}

static void reads_unoptimized_programs(void **state)
{
    (void)state;
    check_made_by("gcc -O0 -g", TIDE_FIXTURE("inline_chain.c"));
}

/* Each function in a section of its own, of which the linker drops what nobody calls.
 */
static void reads_programs_without_their_dead_functions(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -ffunction-sections -Wl,--gc-sections",
                  TIDE_FIXTURE("inline_chain.c"));
}

/* Functions and what was inlined into them are described in different units. */
static void reads_programs_optimized_as_a_whole(void **state)
{
    (void)state;
    check_made_by("gcc -O2 -g -flto", TIDE_FIXTURE("inline_chain.c"));
}

/* clang writes no table of addresses (.debug_aranges), and other forms. */
static void reads_what_clang_writes(void **state)
{
    (void)state;
    if (!tide_tool_found("clang"))
        skip();
    check_made_by("clang -O2 -g -gdwarf-5", TIDE_FIXTURE("inline_chain.c"));
    check_made_by("clang -O2 -g -gdwarf-4", TIDE_FIXTURE("inline_chain.c"));
}

static void names_what_is_around_a_function(void **state)
{
    (void)state;
    if (!tide_tool_found("g++"))
        skip();
    check_made_by("g++ -O2 -g -gdwarf-5", TIDE_FIXTURE("scopes.cpp"));
    check_made_by("g++ -O2 -g -gdwarf-4", TIDE_FIXTURE("scopes.cpp"));
}

/* A relative name of the source is put behind the folder it was compiled in. */
static void joins_folder_and_file(void **state)
{
    (void)state;
    char *const program = tide_path("%s/relative", scratch);
    char *const source = tide_path("%s/deep/source.c", scratch);
    char *const folder = tide_path("%s/deep", scratch);
    assert_int_equal(mkdir(folder, 0700), 0);
    tide_fixture_do("cp " TIDE_FIXTURE("inline_chain.c"), source);
    char *const script =
        tide_path("cd %s && gcc -O2 -g deep/../deep/./source.c -o relative", scratch);
    tide_fixture_do("sh -c", script);

    struct tide_truths truths;
    tide_fixture_truths(program, &truths);
    struct tide_symbolizer *const symbolizer = tide_fixture_open(program, "", NULL);
    tide_fixture_check(symbolizer, &truths, source);
    tide_symbolizer_close(symbolizer);
    free(script);
    free(folder);
    free(source);
    free(program);
}

static void answers_twice_with_the_same_words(void **state)
{
    (void)state;
    char *const program = tide_path("%s/twice", scratch);
    char *const command = tide_path("gcc -O2 -g -o %s", program);
    tide_fixture_do(command, TIDE_FIXTURE("inline_chain.c"));
    struct tide_symbolizer *const symbolizer = tide_fixture_open(program, "", NULL);
    const uint64_t address = tide_fixture_address(program, "outer");
    const struct tide_location *first;
    const struct tide_location *again;
    size_t count;
    assert_int_equal(tide_symbolizer_find(symbolizer, address, &first, &count),
                     TIDE_OK);
    for (uint64_t i = 0; i < 2000; i++)
        assert_int_equal(tide_symbolizer_find(symbolizer, i, &again, &count), TIDE_OK);
    assert_int_equal(tide_symbolizer_find(symbolizer, address, &again, &count),
                     TIDE_OK);
    assert_ptr_equal(first, again);
    tide_symbolizer_close(symbolizer);
    free(command);
    free(program);
}

/* Nor does a unit that leads in circles hold us up; see the fixture. */
static void reads_units_that_do_not_say_where_they_are(void **state)
{
    (void)state;
    char *const library = tide_path("%s/stray.so", scratch);
    char *const command = tide_path("gcc -shared -nostdlib -o %s", library);
    tide_fixture_do(command, TIDE_FIXTURE("stray_units.S"));
    const uint64_t lonely = tide_fixture_address(library, "lonely");
    const uint64_t local = tide_fixture_address(library, "local");
    const uint64_t trapped = tide_fixture_address(library, "trapped");
    const clock_t before = clock();
    struct tide_symbolizer *const symbolizer = tide_fixture_open(library, "", NULL);
    assert_string_equal(tide_fixture_name(symbolizer, lonely + 3), "lonely_described");
    assert_string_equal(tide_fixture_name(symbolizer, local + 3), "local_described");
    assert_string_equal(tide_fixture_name(symbolizer, trapped), "trapped_described");
    assert_null(tide_fixture_name(symbolizer, trapped + 16));
    tide_symbolizer_close(symbolizer);
    assert_true(clock() - before < CLOCKS_PER_SEC);
    free(command);
    free(library);
}

/* PATH opens, and then nothing is known. */
static void assert_knows_nothing(const char *path, const char *build_id)
{
    static const uint64_t addresses[] = {0, 1, 0x1000, 0x401000, UINT64_MAX};
    alarm(60); /* in place of waiting for a writer that never comes */
    struct tide_symbolizer *const symbolizer = tide_fixture_open(path, build_id, NULL);
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        assert_null(tide_fixture_name(symbolizer, addresses[i]));
    tide_symbolizer_close(symbolizer);
    alarm(0);
}

static void knows_nothing_of_what_is_not_there(void **state)
{
    (void)state;
    assert_knows_nothing("[vdso]", "");
    assert_knows_nothing("linux-vdso.so.1", "0123456789abcdef");
    assert_knows_nothing("/nonexistent/libnone.so", "");
    assert_knows_nothing("", "");
    assert_knows_nothing("/", "");
    assert_knows_nothing("/dev/null", "");
    assert_knows_nothing(TIDE_FIXTURE("inline_chain.c"), "");
}

/* To open it would wait, or let a writer go on who waits: it is looked at only. */
static void does_not_open_a_fifo(void **state)
{
    (void)state;
    char *const fifo = tide_path("%s/fifo", scratch);
    struct inotify_event event;
    const int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_true(inotify_add_watch(watcher, fifo, IN_OPEN) >= 0);
    assert_knows_nothing(fifo, "");
    assert_int_equal(read(watcher, &event, sizeof(event)), -1);
    close(watcher);
    free(fifo);
}

/* Their sections all begin at 0, so every function would be at the same address. */
static void refuses_files_that_are_not_linked(void **state)
{
    (void)state;
    char *const object = tide_path("%s/object.o", scratch);
    char *const command = tide_path("gcc -O2 -g -c -o %s", object);
    tide_fixture_do(command, TIDE_FIXTURE("inline_chain.c"));
    assert_knows_nothing(object, "");
    free(command);
    free(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_inlined_functions_with_their_lines),
        cmocka_unit_test(reads_the_older_dwarf),
        cmocka_unit_test(reads_compressed_sections),
        cmocka_unit_test(reads_programs_at_fixed_addresses),
        cmocka_unit_test(reads_unoptimized_programs),
        cmocka_unit_test(reads_programs_without_their_dead_functions),
        cmocka_unit_test(reads_programs_optimized_as_a_whole),
        cmocka_unit_test(reads_what_clang_writes),
        cmocka_unit_test(names_what_is_around_a_function),
        cmocka_unit_test(joins_folder_and_file),
        cmocka_unit_test(answers_twice_with_the_same_words),
        cmocka_unit_test(reads_units_that_do_not_say_where_they_are),
        cmocka_unit_test(knows_nothing_of_what_is_not_there),
        cmocka_unit_test(does_not_open_a_fifo),
        cmocka_unit_test(refuses_files_that_are_not_linked),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
