/* capture/monitor_histogram.c - sizes by powers of two: requested, used, freed.
 *
 * Bin 0 is for 0 bytes, bin N for 2^(N-1) up to 2^N - 1: there is one for every size.
 */
#include <stdatomic.h>

#include "capture/monitor.h"

enum { TIDE_BINS = 65 };

struct shard {
    _Alignas(64) _Atomic uint64_t requested[TIDE_BINS];
    _Atomic uint64_t used[TIDE_BINS], freed[TIDE_BINS];
};

static struct shard shards[TIDE_SHARDS];

static unsigned bin_of(uint64_t bytes)
{
    return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static bool begin(struct tide_monitor_options options)
{
    (void)options;
    return true;
}

static void add(_Atomic uint64_t *bins, uint64_t bytes)
{
    atomic_fetch_add_explicit(&bins[bin_of(bytes)], 1, memory_order_relaxed);
}

static void alloc_heard(void *unused, const struct tide_happening *happening)
{
    struct shard *const shard = &shards[happening->shard % TIDE_SHARDS];
    (void)unused;
    if (happening->failed)
        return;
    add(shard->requested, happening->requested);
    add(shard->used, happening->used);
}

static void free_heard(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    add(shards[happening->shard % TIDE_SHARDS].freed, happening->used);
}

struct sums {
    uint64_t requested, used, freed;
};

static struct sums sums_of(unsigned bin)
{
    struct sums sums = {0};
    for (unsigned i = 0; i < TIDE_SHARDS; i++) {
        sums.requested += atomic_load(&shards[i].requested[bin]);
        sums.used += atomic_load(&shards[i].used[bin]);
        sums.freed += atomic_load(&shards[i].freed[bin]);
    }
    return sums;
}

static void report_json(struct tide_lines *lines)
{
    const char *comma = "";
    tide_lines_text(lines, ",\"bins\":[");
    for (unsigned bin = 0; bin < TIDE_BINS; bin++) {
        const struct sums sums = sums_of(bin);
        if (!sums.requested && !sums.used && !sums.freed)
            continue;
        tide_lines_text(lines, comma);
        tide_lines_text(lines, "{\"least_bytes\":");
        tide_lines_number(lines, bin ? 1ull << (bin - 1) : 0);
        tide_lines_field(lines, "requested_calls", sums.requested);
        tide_lines_field(lines, "used_calls", sums.used);
        tide_lines_field(lines, "freed_calls", sums.freed);
        tide_lines_text(lines, "}");
        comma = ",";
    }
    tide_lines_text(lines, "]");
}

static void report_text(struct tide_lines *lines)
{
    tide_lines_text(lines, "               size |    requested         used |"
                           "  deallocated used\n");
    for (unsigned bin = 0; bin < TIDE_BINS; bin++) {
        const struct sums sums = sums_of(bin);
        if (!sums.requested && !sums.used && !sums.freed)
            continue;
        tide_lines_column(lines, bin ? 1ull << (bin - 1) : 0, 19);
        tide_lines_text(lines, " |");
        tide_lines_column(lines, sums.requested, 13);
        tide_lines_column(lines, sums.used, 13);
        tide_lines_text(lines, " |");
        tide_lines_column(lines, sums.freed, 18);
        tide_lines_text(lines, "\n");
    }
}

static void report_histogram(struct tide_monitor_report *report)
{
    tide_monitor_title(report, "histogram");
    if (report->json)
        report_json(&report->lines);
    else
        report_text(&report->lines);
    tide_monitor_end(report);
}

const struct tide_monitor tide_monitor_histogram = {
    .begin = begin,
    .alloc_heard = alloc_heard,
    .free_heard = free_heard,
    .report = report_histogram,
};
