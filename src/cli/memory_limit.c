/* cli/memory_limit.c - how much memory a verb may take, and the words when it is not enough.
 *
 * The kernel counts (RLIMIT_DATA): so everything counts, also what libraries take, and what
 * cannot be had is a failed allocation, which all code above knows how to report.  Files
 * that are mapped to be read do not count; the system takes their pages back when it needs
 * them.
 */
#include "cli/memory_limit.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/data_memory.h"
#include "cli/command.h"
#include "cli/free_memory.h"
#include "cli/options.h"
#include "view/units.h"

/* A machine that seems to be full may still have memory to take back: enough for a small
 * trace. */
enum { TIDE_MEMORY_LEAST = 64 << 20 };

static uint64_t asked = TIDE_MEMORY_BY_DEFAULT;
static uint64_t set_bytes; /* 0: no limit */
static struct rlimit before;

const struct tide_option tide_memory_options[] = {
    {.name = "max-memory",
     .bytes = &asked,
     .value = "SIZE",
     .help = "use at most SIZE of memory (default: three quarters of what is free)",
     .rare = true},
    {.name = NULL},
};

static uint64_t default_bytes(void)
{
    const uint64_t free_bytes = tide_free_memory("");
    if (free_bytes == UINT64_MAX)
        return 0;
    const uint64_t share = free_bytes / 4 * 3;
    return share > TIDE_MEMORY_LEAST ? share : TIDE_MEMORY_LEAST;
}

void tide_memory_limit_set(uint64_t wanted)
{
    if (set_bytes) /* a second verb of one process has all of it, too */
        (void)setrlimit(RLIMIT_DATA, &before);
    const uint64_t bytes = wanted == TIDE_MEMORY_BY_DEFAULT ? default_bytes() : wanted;
    if (bytes == 0 || getrlimit(RLIMIT_DATA, &before))
        return;
    if (bytes < tide_data_left())
        tide_data_allow(bytes);
    set_bytes = bytes;
}

void tide_memory_limit_apply(void)
{
    tide_memory_limit_set(asked);
}

uint64_t tide_memory_limit(void)
{
    return set_bytes;
}

const char *tide_failure_words(enum tide_status status)
{
    static char words[256];
    if (status != TIDE_ENOMEM || set_bytes == 0)
        return tide_status_words(status);
    (void)setrlimit(RLIMIT_DATA, &before);
    (void)snprintf(
        words, sizeof(words),
        "this needs more than %s of memory, which is the limit; allow more with "
        "--max-memory SIZE (default: three quarters of what is free)",
        tide_number_bytes(set_bytes, TIDE_UNITS_IEC).text);
    return words;
}

int tide_fail_memory(void)
{
    return tide_fail("%s", tide_failure_words(TIDE_ENOMEM));
}
