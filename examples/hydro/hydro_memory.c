/* hydro/hydro_memory.c - named arrays in named regions, told to tidemark and counted.
 *
 * The counts are kept in static tables and by this program's own means, so that they are
 * a truth to hold reports against; counting them costs no allocation.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidemark/tidemark.h>

#include "hydro.h"

enum { PATH_MAX_BYTES = 256, DEPTH_MAX = 16, ROWS_MAX = 256 };

/* Calls and bytes of one name; the name is written before its row is counted in. */
struct row {
    char name[PATH_MAX_BYTES];
    size_t size; /* of one array, where arrays of different size are told apart */
    unsigned long calls;
    unsigned long bytes;
};

struct table {
    struct row rows[ROWS_MAX];
    size_t count;
};

static struct table by_region, by_label, by_label_and_size;
static atomic_flag counting = ATOMIC_FLAG_INIT; /* guards the tables */

/* Where the main thread is: worker threads work for the region that it is in. */
static char path[PATH_MAX_BYTES];
static size_t ends[DEPTH_MAX]; /* how long the path was before each region */
static size_t depth;

static void lengthen_path(const char *name)
{
    const size_t end = strlen(path);
    ends[depth++] = end;
    snprintf(path + end, sizeof(path) - end, "%s%s", end ? "/" : "", name);
}

static void shorten_path(void)
{
    path[ends[--depth]] = '\0';
}

void hydro_enter(const char *region)
{
    lengthen_path(region);
    tide_region_begin(region);
}

void hydro_leave(const char *region)
{
    tide_region_end(region);
    shorten_path();
}

void hydro_enter_loop(const char *loop)
{
    lengthen_path(loop);
    tide_loop_begin(loop);
}

void hydro_leave_loop(const char *loop)
{
    tide_loop_end(loop);
    shorten_path();
}

static void add(struct table *table, const char *name, size_t size, size_t bytes)
{
    struct row *row = table->rows;
    struct row *const end = row + table->count;
    while (row < end && (row->size != size || strcmp(row->name, name) != 0))
        row++;
    if (row == end) {
        if (table->count == ROWS_MAX)
            abort();
        table->count++;
        snprintf(row->name, sizeof(row->name), "%s", name);
        row->size = size;
    }
    row->calls++;
    row->bytes += bytes;
}

static void count(const char *label, size_t bytes)
{
    while (atomic_flag_test_and_set_explicit(&counting, memory_order_acquire))
        continue;
    add(&by_region, path, 0, bytes);
    add(&by_label, label, 0, bytes);
    add(&by_label_and_size, label, bytes, bytes);
    atomic_flag_clear_explicit(&counting, memory_order_release);
}

static void *need(void *block)
{
    if (!block) {
        fputs("hydro: out of memory; try fewer cells\n", stderr);
        exit(1);
    }
    return block;
}

double *hydro_array(const char *label, const size_t shape[4])
{
    size_t elements = 1;
    size_t dimensions = 0;
    while (dimensions < 4 && shape[dimensions])
        elements *= shape[dimensions++];
    double *const array = need(calloc(elements, sizeof(*array)));
    tide_label_shape(array, label, sizeof(*array), shape, dimensions);
    count(label, elements * sizeof(*array));
    return array;
}

double *hydro_regrow(double *array, const char *label, size_t elements)
{
    double *const grown = need(realloc(array, elements * sizeof(*array)));
    tide_label(grown, label, elements * sizeof(*grown));
    count(label, elements * sizeof(*grown));
    return grown;
}

void hydro_drop(double *array)
{
    free(array);
}

static void print_table(const char *title, const char *key, const struct table *table)
{
    printf("\"%s\": [", title);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *const row = &table->rows[i];
        printf("%s\n  {\"%s\": \"%s\", ", i ? "," : "", key, row->name);
        if (row->size)
            printf("\"size\": %zu, ", row->size);
        printf("\"calls\": %lu, \"bytes\": %lu}", row->calls, row->bytes);
    }
    printf("]");
}

void hydro_print_counts(void)
{
    printf("{");
    print_table("regions", "region", &by_region);
    printf(",\n");
    print_table("labels", "label", &by_label);
    printf(",\n");
    print_table("arenas", "label", &by_label_and_size);
    printf("}\n");
}
