/* collect/preloads.c - what else is preloaded into programs.
 *
 * The recorder comes first and forwards to whatever comes next.  An allocator there is
 * served well; another recorder of the heap would see, and show, the two of us.
 */
#include "collect/preloads.h"

#include <stdio.h>
#include <string.h>

struct known {
    const char *part; /* of the file's name */
    struct tide_check check;
    const char *words;
};

#define TIDE_PRELOAD_CHECK(severity, what)                       \
    {                                                            \
        .name = "preload", .level = (severity), .advice = (what) \
    }

static const char ONE_RECORDER[] = "take it out of LD_PRELOAD: one recorder at a time";
static const char PROFILER[] =
    "another heap profiler: each records what the other does";
static const char ALLOCATOR[] = "an allocator: its blocks are recorded";

static const struct known KNOWN[] = {
    {"libtidemark", TIDE_PRELOAD_CHECK(TIDE_LEVEL_NOTE, NULL),
     "the recorder itself, which run puts there in any case"},
    {"jemalloc", TIDE_PRELOAD_CHECK(TIDE_LEVEL_OK, NULL), ALLOCATOR},
    {"tcmalloc", TIDE_PRELOAD_CHECK(TIDE_LEVEL_OK, NULL), ALLOCATOR},
    {"mimalloc", TIDE_PRELOAD_CHECK(TIDE_LEVEL_OK, NULL), ALLOCATOR},
    {"libasan", TIDE_PRELOAD_CHECK(TIDE_LEVEL_NOTE, NULL),
     "a sanitizer: its blocks are recorded, but not those that strdup, strndup and "
     "realpath return; red zones and quarantine show in the RSS only"},
    {"heaptrack", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"igprof", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"bytehound", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"memusage", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"memray", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"libmalt", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER), PROFILER},
    {"vgpreload", TIDE_PRELOAD_CHECK(TIDE_LEVEL_WARNING, ONE_RECORDER),
     "valgrind's: under it the heap is its own, and little is recorded"},
    {"malloc_debug", TIDE_PRELOAD_CHECK(TIDE_LEVEL_NOTE, NULL),
     "glibc's malloc debugging: its blocks are recorded"},
    {"efence", TIDE_PRELOAD_CHECK(TIDE_LEVEL_NOTE, NULL),
     "an allocator for debugging: its blocks are recorded"},
    {"", TIDE_PRELOAD_CHECK(TIDE_LEVEL_NOTE, NULL),
     "comes after the recorder and goes on as before"},
};

static void check_one(const char *path, struct tide_checks *out)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    const struct known *known = KNOWN;
    while (!strstr(name, known->part)) /* the last one fits all */
        known++;
    tide_checks_add(out, &known->check, "LD_PRELOAD has %s: %s", path, known->words);
}

void tide_preloads_check(const char *value, struct tide_checks *out)
{
    static const char separators[] = ": ";
    while (value && *value) {
        const size_t length = strcspn(value, separators);
        char path[1024];
        (void)snprintf(path, sizeof(path), "%.*s",
                       (int)(length < sizeof(path) ? length : sizeof(path) - 1), value);
        if (length > 0)
            check_one(path, out);
        value += length;
        value += strspn(value, separators);
    }
}
