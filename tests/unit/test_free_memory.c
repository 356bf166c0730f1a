/* tests/unit/test_free_memory.c - cli/free_memory.c: what is free is found where it stands.
 *
 * The files of the system stand in a folder of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data_memory.h"
#include "cli/free_memory.h"

enum { TIDE_NAME = 512 };

static char root[64];

/* Put TEXT at PATH below the root, with the folders that lead there. */
static void put(const char *path, const char *text)
{
    char name[TIDE_NAME];
    assert_true(snprintf(name, sizeof(name), "%s%s", root, path) < TIDE_NAME);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(name, 0700);
        *at = '/';
    }
    FILE *const file = fopen(name, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/tide-free-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[TIDE_NAME];
    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", root);
    // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): a folder of the test's own
    return system(command);
}

static void the_system_says_what_is_available(void **state)
{
    (void)state;
    put("/proc/meminfo",
        "MemTotal:  9000 kB\nMemFree: 10 kB\nMemAvailable:  5000 kB\n");
    assert_int_equal(tide_free_memory(root), 5000 * 1024);
}

static void without_files_nothing_is_known(void **state)
{
    (void)state;
    assert_true(tide_free_memory(root) == UINT64_MAX);
}

static void a_group_leaves_less(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable: 5000 kB\n");
    put("/proc/self/cgroup", "0::/jobs/one\n");
    put("/sys/fs/cgroup/jobs/one/memory.max", "1000000\n");
    put("/sys/fs/cgroup/jobs/one/memory.current", "900000\n");
    assert_int_equal(tide_free_memory(root), 100000);
    put("/sys/fs/cgroup/jobs/one/memory.stat",
        "anon 500000\nfile 400000\ninactive_file 250000\nactive_file 50000\n");
    assert_int_equal(tide_free_memory(root), 400000);
}

static void a_group_without_a_limit_is_as_its_parent(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/jobs/one\n");
    put("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
    put("/sys/fs/cgroup/jobs/one/memory.current", "900000\n");
    assert_true(tide_free_memory(root) == UINT64_MAX);
    put("/sys/fs/cgroup/jobs/memory.max", "2000000\n");
    put("/sys/fs/cgroup/jobs/memory.current", "1500000\n");
    assert_int_equal(tide_free_memory(root), 500000);
}

static void in_a_container_only_the_outermost_is_there(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/system.slice/docker-1234.scope\n");
    put("/sys/fs/cgroup/memory.max", "700000\n");
    put("/sys/fs/cgroup/memory.current", "300000\n");
    assert_int_equal(tide_free_memory(root), 400000);
}

static void groups_of_the_first_version_count(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n1:name=systemd:/b\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "600000\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "500000\n");
    put("/sys/fs/cgroup/memory/a/memory.stat",
        "inactive_file 1\ntotal_inactive_file 100000\n");
    assert_int_equal(tide_free_memory(root), 200000);
}

static void a_full_group_leaves_nothing(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "700000\n");
    put("/sys/fs/cgroup/memory.current", "800000\n");
    assert_int_equal(tide_free_memory(root), 0);
}

static void limits_of_the_process_count(void **state)
{
    (void)state;
    struct rlimit before;
    put("/proc/self/statm", "1000 10 10 10 0 300 0\n");
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    const struct rlimit limit = {1ull << 40, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    assert_int_equal(tide_mapped_memory(root).data, 300 * page);
    assert_true(tide_free_memory(root) == (1ull << 40) - 300 * page);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
}

int main(void)
{
#define TIDE_CASE(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TIDE_CASE(the_system_says_what_is_available),
        TIDE_CASE(without_files_nothing_is_known),
        TIDE_CASE(a_group_leaves_less),
        TIDE_CASE(a_group_without_a_limit_is_as_its_parent),
        TIDE_CASE(in_a_container_only_the_outermost_is_there),
        TIDE_CASE(groups_of_the_first_version_count),
        TIDE_CASE(a_full_group_leaves_nothing),
        TIDE_CASE(limits_of_the_process_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
