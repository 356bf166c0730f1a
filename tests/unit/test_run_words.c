/* unit/test_run_words.c - what is said of runs with several processes or programs. */
#include "report_bench.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_recorder_takes_is_of_each_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
