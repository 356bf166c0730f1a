/* unit/test_name_limit.c - whoever waits for names does not wait for ever. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/name_child.h"

/* What the code under test sends signals to: a process that it waited for may be another's by
 * now. */
static int strangers_killed;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int kill(pid_t pid, int number)
{
    siginfo_t about;
    if (waitid(P_PID, (id_t)pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0)
        return (int)syscall(SYS_kill, pid, number);
    strangers_killed++;
    return -1;
}

/* Our only child; 0: there is none. */
static pid_t only_child(void)
{
    char path[64], line[64] = "";
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *const file = fopen(path, "re");
    assert_non_null(file);
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
    return (pid_t)strtol(line, NULL, 10);
}

static uint64_t in_ms(uint64_t ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ms * 1000000;
}

static bool at_once(void *context)
{
    ++*(int *)context;
    return true;
}

/* Ask a child with LIMIT for an address of this program, twice. */
static enum tide_status ask(const struct tide_name_limit *limit)
{
    struct tide_name_child *child;
    struct tide_child_module module;
    struct tide_name_pool pool = {0};
    struct tide_child_answer answers[1];
    const uint64_t addresses[] = {0x1000};
    char path[4096] = "";
    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    assert_int_equal(tide_name_child_new(NULL, &child), TIDE_OK);
    tide_name_child_limit(child, limit);
    const struct tide_child_file file = {path, "", "", {0}};
    assert_int_equal(tide_child_module_open(&module, child, &file), TIDE_OK);
    const enum tide_status first =
        tide_child_module_ask(&module, addresses, 1, &pool, answers);
    assert_int_equal(tide_child_module_ask(&module, addresses, 1, &pool, answers),
                     first);
    tide_child_module_close(&module);
    tide_name_child_free(child);
    tide_name_pool_release(&pool);
    return first;
}

static void answers_in_time(void **state)
{
    (void)state;
    const struct tide_name_limit limit = {.until_ns = in_ms(60000),
                                          .memory = 1ull << 30};
    assert_int_equal(ask(&limit), TIDE_OK);
}

static void is_stopped_when_time_is_over(void **state)
{
    (void)state;
    const struct tide_name_limit limit = {.until_ns = in_ms(0)};
    assert_int_equal(ask(&limit), TIDE_ELIMIT);
}

static void is_stopped_when_somebody_says_so(void **state)
{
    (void)state;
    int asked = 0;
    const struct tide_name_limit limit = {.cancelled = at_once, .context = &asked};
    assert_int_equal(ask(&limit), TIDE_ELIMIT);
    assert_true(asked > 0);
}

/* As the first process of a container, which waits for whoever has ended. */
static bool reap_all(void *context)
{
    (void)context;
    const pid_t pid = only_child();
    if (pid) {
        assert_int_equal(syscall(SYS_kill, pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    return pid != 0;
}

static void kills_nobody_who_was_waited_for(void **state)
{
    (void)state;
    const struct tide_name_limit limit = {.cancelled = reap_all};
    assert_int_equal(ask(&limit), TIDE_ELIMIT);
    assert_int_equal(strangers_killed, 0);
}

/* The child does not read: a file system may not answer it. */
static void does_not_wait_for_a_child_that_does_not_listen(void **state)
{
    enum { TIDE_MANY = 1 << 20 }; /* more than a socket takes */
    (void)state;
    struct tide_name_child *child;
    struct tide_child_module module;
    struct tide_name_pool pool = {0};
    struct tide_child_answer *const answers = calloc(TIDE_MANY, sizeof(*answers));
    uint64_t *const addresses = calloc(TIDE_MANY, sizeof(*addresses));
    const struct tide_name_limit limit = {.until_ns = in_ms(300)};
    assert_true(answers && addresses);
    assert_int_equal(tide_name_child_new(NULL, &child), TIDE_OK);
    tide_name_child_limit(child, &limit);
    const struct tide_child_file file = {"/proc/self/exe", "", "", {0}};
    assert_int_equal(tide_child_module_open(&module, child, &file), TIDE_OK);
    assert_int_equal(tide_child_module_ask(&module, addresses, 1, &pool, answers),
                     TIDE_OK);
    assert_int_equal(syscall(SYS_kill, only_child(), SIGSTOP), 0);
    (void)alarm(20); /* rather than for ever */
    assert_int_equal(
        tide_child_module_ask(&module, addresses, TIDE_MANY, &pool, answers),
        TIDE_ELIMIT);
    (void)alarm(0);
    tide_child_module_close(&module);
    tide_name_child_free(child);
    tide_name_pool_release(&pool);
    free(addresses);
    free(answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_in_time),
        cmocka_unit_test(is_stopped_when_time_is_over),
        cmocka_unit_test(is_stopped_when_somebody_says_so),
        cmocka_unit_test(kills_nobody_who_was_waited_for),
        cmocka_unit_test(does_not_wait_for_a_child_that_does_not_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
