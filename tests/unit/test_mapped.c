/* unit/test_mapped.c - mapped memory, by rule and against a map of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/account.h"
#include "naive_pages.h"

enum { TIDE_KIB4 = 4096, TIDE_MAP_HISTORIES = 60, TIDE_MAP_HISTORY = 3000 };

#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW      (PROT_READ | PROT_WRITE)

static struct tide_account account;
static struct tide_summary summary[TIDE_SPACES];

static void enter_with(const struct tide_account_setup *setup,
                       const struct tide_event *events, size_t count)
{
    assert_int_equal(tide_account_init(&account, setup), TIDE_OK);
    assert_int_equal(tide_account_events(&account, events, count), TIDE_OK);
    assert_int_equal(tide_account_finish(&account, summary), TIDE_OK);
}

#define ENTER(...)                                        \
    do {                                                  \
        const struct tide_event made[] = {__VA_ARGS__};   \
        enter_with(&(struct tide_account_setup){0}, made, \
                   sizeof(made) / sizeof(made[0]));       \
    } while (0)

#define CALL(call, stack, ...) \
    map_event(TIDE_MAP_##call, (const uint64_t[4]){__VA_ARGS__}, stack)

static int leave(void **state)
{
    (void)state;
    tide_account_release(&account);
    return 0;
}

static const struct tide_summary *mapped(void)
{
    return &summary[TIDE_IN_MMAP];
}

static void counts_committed_private_memory_only(void **state)
{
    (void)state;
    ENTER(CALL(MMAP, 1, 0x100000, 10000, RW, PRIVATE),
          CALL(MMAP, 1, 0x200000, TIDE_KIB4, PROT_NONE, PRIVATE),
          CALL(MMAP, 1, 0x300000, 2 * TIDE_KIB4, RW, MAP_PRIVATE | TIDE_MAP_FILE),
          CALL(MMAP, 1, 0x400000, 3 * TIDE_KIB4, RW, MAP_SHARED | MAP_ANONYMOUS));
    assert_int_equal(mapped()->alloc_calls, 1);
    assert_int_equal(mapped()->peak_bytes, 3 * TIDE_KIB4);
    assert_int_equal(mapped()->live_blocks, 1);
    assert_int_equal(mapped()->reserved_peak_bytes, TIDE_KIB4);
    assert_int_equal(mapped()->file_peak_bytes, 2 * TIDE_KIB4);
    assert_int_equal(mapped()->shared_peak_bytes, 3 * TIDE_KIB4);
    assert_int_equal(summary[TIDE_IN_HEAP].alloc_calls, 0);
}

static void keeps_a_block_until_its_last_page_is_gone(void **state)
{
    (void)state;
    ENTER(CALL(MMAP, 1, 0x100000, 3 * TIDE_KIB4, RW, PRIVATE),
          CALL(MUNMAP, 0, 0x101000, TIDE_KIB4), CALL(MUNMAP, 0, 0x100000, TIDE_KIB4));
    assert_int_equal(mapped()->live_blocks, 1);
    assert_int_equal(mapped()->live_bytes, TIDE_KIB4);
    assert_int_equal(mapped()->free_calls, 2);
    assert_int_equal(account.sites.list[0].freed_calls, 0);
}

static void commits_what_mprotect_opens(void **state)
{
    (void)state;
    ENTER(CALL(MMAP, 1, 0x100000, 8 * TIDE_KIB4, PROT_NONE, PRIVATE),
          CALL(MPROTECT, 2, 0x101000, 2 * TIDE_KIB4, RW),
          CALL(MPROTECT, 2, 0x102000, 2 * TIDE_KIB4, RW),
          CALL(MPROTECT, 2, 0x101000, TIDE_KIB4, PROT_NONE));
    assert_int_equal(mapped()->alloc_calls, 2);
    assert_int_equal(mapped()->peak_bytes, 3 * TIDE_KIB4);
    assert_int_equal(mapped()->live_bytes, 2 * TIDE_KIB4);
    assert_int_equal(mapped()->live_blocks, 2);
    assert_int_equal(mapped()->reserved_peak_bytes, 8 * TIDE_KIB4);
    assert_int_equal(account.sites.list[0].stack, 2);
}

static void counts_mremap_as_realloc(void **state)
{
    (void)state;
    ENTER(CALL(MMAP, 1, 0x100000, 2 * TIDE_KIB4, RW, PRIVATE),
          CALL(MREMAP, 2, 0x900000, 4 * TIDE_KIB4, 0x100000, 2 * TIDE_KIB4));
    assert_int_equal(mapped()->realloc_calls, 1);
    assert_int_equal(mapped()->alloc_calls, 2);
    assert_int_equal(mapped()->free_calls, 1);
    assert_int_equal(mapped()->peak_bytes, 4 * TIDE_KIB4);
    assert_int_equal(mapped()->live_blocks, 1);
}

static void keeps_both_when_mremap_duplicates(void **state)
{
    (void)state;
    ENTER(CALL(MMAP, 1, 0x100000, 2 * TIDE_KIB4, RW, MAP_SHARED | MAP_ANONYMOUS),
          CALL(MREMAP, 2, 0x900000, 2 * TIDE_KIB4, 0x100000, 0));
    assert_int_equal(mapped()->shared_peak_bytes, 4 * TIDE_KIB4);
}

static void minds_no_strange_ranges(void **state)
{
    (void)state;
    ENTER(CALL(MUNMAP, 0, 0x100000, TIDE_KIB4), CALL(MUNMAP, 0, 0, UINT64_MAX),
          CALL(MMAP, 1, UINT64_MAX, UINT64_MAX, RW, PRIVATE),
          CALL(MMAP, 1, 0, 0, RW, 0),
          CALL(MMAP, 1, UINT64_MAX - 8191, UINT64_MAX, RW, PRIVATE),
          CALL(MREMAP, 1, 0x5000, TIDE_KIB4, 0x700000, TIDE_KIB4),
          CALL(MPROTECT, 1, 0, UINT64_MAX, PROT_NONE),
          CALL(MPROTECT, 1, 0x1000, 0, PROT_NONE), CALL(MADVISE, 1, 0, UINT64_MAX, 4));
    assert_int_equal(mapped()->peak_bytes, TIDE_KIB4);
    assert_int_equal(mapped()->live_bytes, 0);
}

static void knows_allocators_loader_and_drivers_by_name(void **state)
{
    (void)state;
    assert_true(tide_maps_quiet_module("/lib/x86_64-linux-gnu/libc.so.6"));
    assert_true(tide_maps_quiet_module("/lib64/ld-linux-x86-64.so.2"));
    assert_true(tide_maps_quiet_module("/usr/lib/libjemalloc.so.2"));
    assert_true(tide_maps_quiet_module("libtcmalloc_minimal.so.4"));
    assert_true(tide_maps_quiet_module("/usr/lib/libcuda.so.1"));
    assert_false(tide_maps_quiet_module("/usr/lib/libcudart.so.12"));
    assert_false(tide_maps_quiet_module("/home/libc.so.6/prog"));
    assert_false(tide_maps_quiet_module(""));
}

/* --- Several processes --- */

static void bounds_the_peak_of_several_processes(void **state)
{
    (void)state;
    const struct tide_process processes[] = {
        {.birth_ticks = 1, .ended = true, .end_ticks = 50},
        {.birth_ticks = 60},
        {.birth_ticks = 61},
    };
    struct tide_event events[] = {
        CALL(MMAP, 1, 0x100000, 5 * TIDE_KIB4, RW, PRIVATE),
        CALL(MMAP, 1, 0x100000, 2 * TIDE_KIB4, RW, PRIVATE),
        CALL(MUNMAP, 1, 0x100000, 2 * TIDE_KIB4),
        CALL(MMAP, 1, 0x100000, 4 * TIDE_KIB4, RW, PRIVATE),
    };
    for (uint32_t i = 1; i < 4; i++) {
        events[i].ticks = 60 + i;
        events[i].process = events[i].lane = i == 3 ? 2 : 1;
    }
    enter_with(&(struct tide_account_setup){.processes = processes, .process_count = 3},
               events, 4);
    /* 5 pages alone; or 2 and 4 together, had the order been another. */
    assert_int_equal(mapped()->peak_bytes, 5 * TIDE_KIB4);
    assert_int_equal(mapped()->peak_uncertainty_bytes, TIDE_KIB4);
    assert_int_equal(mapped()->live_bytes, 9 * TIDE_KIB4);
    assert_int_equal(mapped()->live_blocks, 2);
}

/* --- Random --- */

static struct tide_event some_call(uint64_t *random)
{
    static const uint64_t flags[] = {PRIVATE,
                                     PRIVATE,
                                     PRIVATE,
                                     MAP_SHARED | MAP_ANONYMOUS,
                                     MAP_PRIVATE | TIDE_MAP_FILE,
                                     MAP_SHARED | TIDE_MAP_FILE};
    const uint64_t span = TIDE_PAGES / 2;
    const uint64_t address = any_below(random, span) * TIDE_KIB4;
    const uint64_t length = 1 + any_below(random, any_below(random, 2) ? 5 : 60) * 2048;
    const uint64_t prot = any_below(random, 3) ? RW : PROT_NONE;
    const uint8_t call = (uint8_t)any_below(random, TIDE_MAP_CALLS);
    struct tide_event event = map_event(
        call, (const uint64_t[4]){address, length, prot, flags[any_below(random, 6)]},
        (uint32_t)any_below(random, TIDE_PAGE_STACKS - 1) + 1);
    event.process = event.lane = (uint32_t)any_below(random, TIDE_PAGE_PROCESSES);
    if (call == TIDE_MAP_MREMAP) {
        event.value = any_below(random, span) * TIDE_KIB4;
        event.value2 = any_below(random, 10) ? any_below(random, 30) * 3000 : 0;
    }
    return event;
}

static void compare(const struct tide_account *books, const struct naive_pages *pages)
{
    const struct tide_watermark *water = &books->water[TIDE_IN_MMAP];
    const struct tide_maps *maps = &books->maps;
    assert_int_equal(water->bytes, pages->now[TIDE_PAGE_COMMITTED]);
    assert_int_equal(water->peak_bytes, pages->highest[TIDE_PAGE_COMMITTED]);
    assert_int_equal(maps->standing[TIDE_MAPPED_RESERVED],
                     pages->now[TIDE_PAGE_RESERVED]);
    assert_int_equal(maps->standing[TIDE_MAPPED_FILE], pages->now[TIDE_PAGE_FILE]);
    assert_int_equal(maps->standing[TIDE_MAPPED_SHARED], pages->now[TIDE_PAGE_SHARED]);
    assert_int_equal(maps->highest[TIDE_MAPPED_SHARED],
                     pages->highest[TIDE_PAGE_SHARED]);
    assert_int_equal(maps->free_calls, pages->free_calls);
    assert_int_equal(maps->realloc_calls, pages->realloc_calls);
    for (size_t i = 0; i < books->sites.count; i++) {
        const struct tide_site *site = &books->sites.list[i];
        assert_int_equal(site->calls, pages->calls[site->stack]);
        assert_int_equal(site->bytes, pages->bytes[site->stack]);
        assert_int_equal(site->live_blocks, pages->live_blocks[site->stack]);
        assert_int_equal(site->live_bytes, pages->live_bytes[site->stack]);
    }
}

static void compare_peaks(struct tide_account *books, const struct naive_pages *pages)
{
    assert_int_equal(tide_account_finish(books, summary), TIDE_OK);
    assert_int_equal(summary[TIDE_IN_MMAP].alloc_calls, pages->alloc_calls);
    for (size_t i = 0; i < books->sites.count; i++) {
        const struct tide_site *site = &books->sites.list[i];
        assert_int_equal(site->peak_blocks, pages->peak_blocks[site->stack]);
        assert_int_equal(site->peak_bytes, pages->peak_bytes[site->stack]);
    }
}

static void agrees_with_a_map_of_pages(void **state)
{
    (void)state;
    const struct tide_account_setup setup = {0};
    struct naive_pages *pages = malloc(sizeof(*pages));
    for (uint64_t seed = 1; seed <= TIDE_MAP_HISTORIES; seed++) {
        uint64_t random = seed;
        memset(pages, 0, sizeof(*pages));
        assert_int_equal(tide_account_init(&account, &setup), TIDE_OK);
        for (size_t i = 0; i < TIDE_MAP_HISTORY; i++) {
            struct tide_event event = some_call(&random);
            event.quiet = event.stack % 4 == 0;
            assert_int_equal(tide_account_events(&account, &event, 1), TIDE_OK);
            naive_pages_enter(pages, &event, event.quiet);
            compare(&account, pages);
        }
        compare_peaks(&account, pages);
        tide_account_release(&account);
    }
    free(pages);
}

/* Ten thousand ranges in the worst order must not take ten thousand steps each. */
static void stays_shallow_for_sorted_ranges(void **state)
{
    (void)state;
    struct tide_ranges ranges = {.random = 77};
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(tide_ranges_add(&ranges, i * 10, i * 10 + 5, 0), TIDE_OK);
    size_t deepest = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        size_t depth = 0;
        uint32_t at = ranges.root;
        while (at && ranges.list[at].start != i * 10) {
            at = i * 10 < ranges.list[at].start ? ranges.list[at].left
                                                : ranges.list[at].right;
            depth++;
        }
        assert_int_not_equal(at, 0);
        deepest = depth > deepest ? depth : deepest;
    }
    assert_true(deepest < 80);
    tide_ranges_release(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(counts_committed_private_memory_only, leave),
        cmocka_unit_test_teardown(keeps_a_block_until_its_last_page_is_gone, leave),
        cmocka_unit_test_teardown(commits_what_mprotect_opens, leave),
        cmocka_unit_test_teardown(counts_mremap_as_realloc, leave),
        cmocka_unit_test_teardown(keeps_both_when_mremap_duplicates, leave),
        cmocka_unit_test_teardown(minds_no_strange_ranges, leave),
        cmocka_unit_test(knows_allocators_loader_and_drivers_by_name),
        cmocka_unit_test_teardown(bounds_the_peak_of_several_processes, leave),
        cmocka_unit_test(agrees_with_a_map_of_pages),
        cmocka_unit_test(stays_shallow_for_sorted_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
