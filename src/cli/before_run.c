/* cli/before_run.c - what run looks at before it starts a program.
 *
 * Better no trace than an empty one: a program that cannot be recorded is not started.
 * What will be missing of one that can is said now, and stands in its trace.
 */
#include "cli/before_run.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/command.h"
#include "collect/inspect.h"
#include "collect/preloads.h"

int tide_exit_of_problem(int problem)
{
    return problem == ENOENT || problem == ENOTDIR ? TIDE_EXIT_NOT_FOUND
                                                   : TIDE_EXIT_NOT_STARTED;
}

/* What is wrong, and what to do about it. */
static void say_refusals(const struct tide_checks *checks, int problem)
{
    if (checks->failed) /* there may have been no memory for the words */
        (void)tide_fail("out of memory");
    for (size_t i = 0; i < checks->count; i++) {
        const struct tide_check *const check = &checks->list[i];
        if (check->level != TIDE_LEVEL_REFUSAL)
            continue;
        (void)tide_fail("%s", check->text);
        if (check->advice && !problem)
            (void)tide_fail("%s", check->advice);
    }
}

static void say_warnings(const struct tide_checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        if (checks->list[i].level >= TIDE_LEVEL_WARNING)
            (void)tide_fail("%s", checks->list[i].text);
    }
}

static int collect_troubles(struct tide_before_run *out)
{
    size_t count = 0;
    out->troubles = calloc(out->checks.count + 1, sizeof(*out->troubles));
    if (!out->troubles || out->checks.failed)
        return tide_fail("out of memory");
    for (size_t i = 0; i < out->checks.count; i++) {
        const struct tide_check *const check = &out->checks.list[i];
        if (check->level >= TIDE_LEVEL_WARNING && !check->recorder_says)
            out->troubles[count++] = check->text;
    }
    return -1;
}

int tide_before_run(const char *program, bool force, bool quiet,
                    struct tide_before_run *out)
{
    *out = (struct tide_before_run){0};
    const int problem = tide_inspect(program, false, &out->checks);
    if (problem) { /* no force helps here */
        say_refusals(&out->checks, problem);
        /* The memory to look at it was ours to find: nothing is known of the program. */
        return problem == ENOMEM ? 1 : tide_exit_of_problem(problem);
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    tide_preloads_check(getenv("LD_PRELOAD"), &out->checks);
    if (!force && tide_checks_verdict(&out->checks) == TIDE_LEVEL_REFUSAL) {
        say_refusals(&out->checks, 0);
        return 1;
    }
    if (!quiet)
        say_warnings(&out->checks);
    return collect_troubles(out);
}

void tide_before_run_release(struct tide_before_run *before)
{
    tide_checks_release(&before->checks);
    free(before->troubles);
    before->troubles = NULL;
}
