/* unit/test_run_words.c - what is said of runs with several processes or programs, and of
 * what is not known for sure. */
#include "report_bench.h"
#include "view/run_words.h"

/* WORDS are in both texts that say what the recorder takes, of PROCESSES of which
 * REPLACED were replaced by another program. */
static void assert_costs(uint64_t processes, uint64_t replaced, const char *words)
{
    static const struct tide_style WIDE = {.width = 300};
    struct fixture f;
    fixture_init_solver(&f);
    f.model.processes = processes;
    f.model.replaced = replaced;
    f.model.honesty.recorder_bytes = 1 << 20;
    f.model.honesty.collector_bytes = 4 << 20;
    struct tide_text text = everything(&f, &WIDE, 10);
    const char *const first = strstr(text.bytes, words);
    assert_holds(&text, words);
    assert_non_null(strstr(first + 1, words));
    assert_holds(&text, processes > 1 ? "collector 4.00 MiB beside them.\n"
                                      : "collector 4.00 MiB beside it.\n");
    tide_text_release(&text);
    fixture_release(&f);
}

static void what_the_recorder_takes_is_of_each_process(void **state)
{
    (void)state;
    assert_costs(1, 0, "1.00 MiB in the program, ");
    assert_costs(3, 1, "at most 1.00 MiB in each process, ");
    assert_costs(3, 2, "at most 1.00 MiB in each program, ");
}

/* HELD, in parts of a peak that is EXACT, or a sample. */
static void assert_resident(double held, bool exact, const char *words)
{
    static const struct tide_style WIDE = {.width = 300};
    struct fixture f;
    fixture_init_solver(&f);
    f.model.honesty.rss_explained = held < 1 ? held : 1;
    if (held > 1)
        f.model.honesty.beyond_rss_bytes = 3ull << 20;
    f.model.rss_peak_exact = exact;
    struct tide_text text = everything(&f, &WIDE, 10);
    assert_holds(&text, exact ? "804 MiB  resident at most (RSS)\n"
                              : "804 MiB  resident at least (RSS); the peak may be "
                                "higher\n");
    if (words)
        assert_holds(&text, words);
    else
        assert_null(strstr(text.bytes, "RSS peak"));
    tide_text_release(&text);
    fixture_release(&f);
}

static void nothing_is_concluded_from_a_peak_that_may_be_higher(void **state)
{
    (void)state;
    assert_resident(
        5.1, true,
        "Heap and mmap held 3.00 MiB more than the RSS peak: as much of it was "
        "not in memory, never touched or swapped out. ");
    assert_resident(0.9, true, "Heap and mmap explain 90 % of the RSS peak. ");
    assert_resident(5.1, false, NULL);
    assert_resident(1.1, false, NULL);
    assert_resident(0.5, false,
                    "Heap and mmap explain at most 50 % of the RSS peak; programs, ");
}

/* Nobody was told how it ended, and it did not say that it would. */
static void what_was_held_at_an_end_without_a_word_is_not_called_never_freed(
    void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.trace.processes[0].status_known = false;
    f.trace.processes[0].silent = true;
    fixture_add(&f, &(struct fixture_site){"main", 1, 10, 1, 10, 1, 10, 0, 0});
    static const struct tide_style WIDE = {.width = 300};
    struct tide_key key = {.bytes = 10};
    struct tide_context context = {0};
    struct tide_key_thread thread = {0};
    f.model.keys = &key;
    f.model.key_count = 1;
    f.model.contexts = &context;
    f.model.key_threads = &thread;
    struct tide_text text = everything(&f, &WIDE, 10);
    assert_holds(&text, "; ended, not seen to exit.");
    assert_holds(&text, "in 1 block still held when it ended, not seen to exit\n");
    assert_holds(&text, "Live at the end  10 B in 1 block still held when it ended");
    assert_null(strstr(text.bytes, "never freed"));
    tide_text_release(&text);
    f.model.processes = 2;
    text = everything(&f, &WIDE, 10);
    assert_holds(&text, "in 1 block still held by processes not seen to exit");
    tide_text_release(&text);
    f.model.summary[TIDE_IN_HEAP].live_bytes = 11;
    text = everything(&f, &WIDE, 10);
    assert_holds(&text,
                 "never freed, or still held by processes not seen to exit, over all");
    tide_text_release(&text);
    f.model.keys = NULL;
    f.model.key_count = 0;
    f.model.contexts = NULL;
    f.model.key_threads = NULL;
    fixture_release(&f);
}

/* A program may stand in two folders, and a trace have both. */
static void a_name_that_two_files_have_is_said_once(void **state)
{
    (void)state;
    static const struct tide_style WIDE = {.width = 300};
    struct fixture f;
    fixture_init(&f);
    f.model.honesty.unnamed = (struct tide_unnamed[]){
        {.module = "/usr/bin/git", .why = TIDE_MODULE_STRIPPED},
        {.module = "/usr/lib/git-core/git", .why = TIDE_MODULE_STRIPPED},
        {.module = "/lib/libz.so.1", .why = TIDE_MODULE_STRIPPED},
        {.module = "/old/git", .why = TIDE_MODULE_GONE}};
    f.model.honesty.unnamed_count = 4;
    struct tide_text text = everything(&f, &WIDE, 10);
    assert_holds(&text, "Names are missing from git, libz.so.1: they are stripped.");
    assert_holds(&text, "Names are missing from git: the file is gone.");
    tide_text_release(&text);
    f.model.honesty.unnamed_count = 2;
    text = everything(&f, &WIDE, 10);
    assert_holds(&text, "Names are missing from git: it is stripped.");
    tide_text_release(&text);
    f.model.honesty.unnamed_count = 0;
    fixture_release(&f);
}

static void a_command_can_be_pasted_and_is_not_obeyed(void **state)
{
    (void)state;
    static const char *const ARGV[] = {"./a.out", "it's", "a\033[2J'\\\n\377", NULL};
    struct tide_text text = {0};
    tide_words_command(&text, ARGV);
    assert_string_equal(text.bytes, "./a.out 'it'\\''s' $'a\\x1b[2J\\'\\\\\\x0a\\xff'");
    tide_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_recorder_takes_is_of_each_process),
        cmocka_unit_test(
            what_was_held_at_an_end_without_a_word_is_not_called_never_freed),
        cmocka_unit_test(a_name_that_two_files_have_is_said_once),
        cmocka_unit_test(a_command_can_be_pasted_and_is_not_obeyed),
        cmocka_unit_test(nothing_is_concluded_from_a_peak_that_may_be_higher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
