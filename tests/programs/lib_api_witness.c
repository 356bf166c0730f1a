/* tests/programs/lib_api_witness.c - stands in for the recorder and writes down, a line
 * each on stderr, what a program tells it: for the bindings of other languages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

enum { WINDOW = 77 };

#define TELLS_NAME(call)                             \
    void tide_recorder_##call(const char *name);     \
    void tide_recorder_##call(const char *name)      \
    {                                                \
        dprintf(STDERR_FILENO, #call " %s\n", name); \
    }

TELLS_NAME(region_begin)
TELLS_NAME(region_end)
TELLS_NAME(phase_begin)
TELLS_NAME(phase_end)
TELLS_NAME(loop_begin)
TELLS_NAME(loop_end)
TELLS_NAME(snapshot)
TELLS_NAME(unset)

void tide_recorder_set_int(const char *name, int64_t value);
void tide_recorder_set_int(const char *name, int64_t value)
{
    dprintf(STDERR_FILENO, "set_int %s %" PRId64 "\n", name, value);
}

void tide_recorder_set_double(const char *name, double value);
void tide_recorder_set_double(const char *name, double value)
{
    dprintf(STDERR_FILENO, "set_double %s %g\n", name, value);
}

void tide_recorder_set_string(const char *name, const char *value);
void tide_recorder_set_string(const char *name, const char *value)
{
    dprintf(STDERR_FILENO, "set_string %s %s\n", name, value);
}

void tide_recorder_set_address(const char *name, const void *value);
void tide_recorder_set_address(const char *name, const void *value)
{
    dprintf(STDERR_FILENO, "set_address %s %d\n", name, value != NULL);
}

void tide_recorder_iteration(int64_t number);
void tide_recorder_iteration(int64_t number)
{
    dprintf(STDERR_FILENO, "iteration %" PRId64 "\n", number);
}

void tide_recorder_event(uint64_t number);
void tide_recorder_event(uint64_t number)
{
    dprintf(STDERR_FILENO, "event %" PRIu64 "\n", number);
}

void tide_recorder_pause(int scope);
void tide_recorder_pause(int scope)
{
    dprintf(STDERR_FILENO, "pause %d\n", scope);
}

void tide_recorder_resume(int scope);
void tide_recorder_resume(int scope)
{
    dprintf(STDERR_FILENO, "resume %d\n", scope);
}

void tide_recorder_label(const void *block, const char *name, size_t bytes);
void tide_recorder_label(const void *block, const char *name, size_t bytes)
{
    dprintf(STDERR_FILENO, "label %s %d %zu\n", name, block != NULL, bytes);
}

void tide_recorder_label_shape(const void *block, const char *name,
                               size_t element_bytes, const size_t *extents,
                               size_t dimensions);
void tide_recorder_label_shape(const void *block, const char *name,
                               size_t element_bytes, const size_t *extents,
                               size_t dimensions)
{
    dprintf(STDERR_FILENO, "label_shape %s %d %zu", name, block != NULL, element_bytes);
    for (size_t i = 0; i < dimensions; i++)
        dprintf(STDERR_FILENO, "%s%zu", i ? "x" : " ", extents[i]);
    dprintf(STDERR_FILENO, "\n");
}

void tide_recorder_unlabel(const void *block);
void tide_recorder_unlabel(const void *block)
{
    dprintf(STDERR_FILENO, "unlabel %d\n", block != NULL);
}

void tide_recorder_pool_alloc(const char *pool, const void *block, size_t bytes,
                              const char *label);
void tide_recorder_pool_alloc(const char *pool, const void *block, size_t bytes,
                              const char *label)
{
    dprintf(STDERR_FILENO, "pool_alloc %s %d %zu %s\n", pool, block != NULL, bytes,
            label);
}

void tide_recorder_pool_free(const char *pool, const void *block);
void tide_recorder_pool_free(const char *pool, const void *block)
{
    dprintf(STDERR_FILENO, "pool_free %s %d\n", pool, block != NULL);
}

tide_handle tide_recorder_window_start(const char *name, int scope);
tide_handle tide_recorder_window_start(const char *name, int scope)
{
    dprintf(STDERR_FILENO, "window_start %s %d\n", name ? name : "-", scope);
    return WINDOW;
}

/* Each member has a value of its own. */
static int tell(const char *call, tide_handle window, struct tide_stats *stats)
{
    dprintf(STDERR_FILENO, "%s %" PRIu64 "\n", call, window);
    if (window != WINDOW)
        return TIDE_UNKNOWN;
    const struct tide_stats known = {
        .requested_bytes = 1,
        .used_bytes = 2,
        .freed_bytes = 3,
        .alloc_calls = 4,
        .free_calls = 5,
        .failed_calls = 6,
        .live_bytes = -7,
        .peak_bytes = 8,
        .smallest_bytes = 9,
        .largest_bytes = UINT64_C(1) << 40,
        .mean_bytes = 10.5,
        .stddev_bytes = 11.5,
        .seconds = 12.5,
    };
    if (stats)
        *stats = known;
    return TIDE_DONE;
}

int tide_recorder_stop(tide_handle window, struct tide_stats *stats);
int tide_recorder_stop(tide_handle window, struct tide_stats *stats)
{
    return tell("stop", window, stats);
}

int tide_recorder_peek(tide_handle window, struct tide_stats *stats);
int tide_recorder_peek(tide_handle window, struct tide_stats *stats)
{
    return tell("peek", window, stats);
}

/* Each member has a value of its own here, too. */
int tide_recorder_find(const void *address, struct tide_found_block *block);
int tide_recorder_find(const void *address, struct tide_found_block *block)
{
    dprintf(STDERR_FILENO, "find %d\n", address != NULL);
    *block = (struct tide_found_block){
        .address = 1,
        .bytes = 2,
        .used_bytes = 3,
        .offset = 4,
        .uid = 5,
        .element_bytes = 6,
        .index = 7,
        .dimensions = 3,
        .position = {10, 20, 30},
        .holder = 8,
        .label = "the label",
        .pool = "the pool",
    };
    return address ? TIDE_DONE : TIDE_UNKNOWN;
}
