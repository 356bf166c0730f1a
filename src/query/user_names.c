/* query/user_names.c - attributes that the programs of some traces set. */
#include "query/user_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "model/grow.h"
#include "trace/format.h"

enum tide_value_type tide_user_type(uint32_t type)
{
    static const enum tide_value_type TYPES[] = {
        [TIDE_ATTRIBUTE_INT] = TIDE_VALUE_INT,
        [TIDE_ATTRIBUTE_DOUBLE] = TIDE_VALUE_REAL,
        [TIDE_ATTRIBUTE_STRING] = TIDE_VALUE_STRING,
        [TIDE_ATTRIBUTE_POINTER] = TIDE_VALUE_ADDRESS,
    };
    return type < sizeof(TYPES) / sizeof(TYPES[0]) ? TYPES[type] : TIDE_VALUE_NONE;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct tide_user_name *)one)->name,
                  ((const struct tide_user_name *)other)->name);
}

/* Those that are set before those that regions are called by. */
static int by_name_and_use(const void *one, const void *other)
{
    const int order = by_name(one, other);
    return order ? order
                 : (int)((const struct tide_user_name *)one)->regions -
                       (int)((const struct tide_user_name *)other)->regions;
}

/* What TRACE says of attributes that are set; to OUT, unless that is NULL.  How many. */
static size_t add_set(const struct tide_trace *trace, struct tide_user_name *out)
{
    for (size_t i = 0; out && i < trace->attribute_count; i++) {
        const struct tide_user_attribute *const about = &trace->attributes[i];
        out[i] = (struct tide_user_name){.name = about->name,
                                         .type = tide_user_type(about->type),
                                         .hidden = tide_attribute_find(about->name) !=
                                                   TIDE_ATTRIBUTES};
    }
    return trace->attribute_count;
}

/* Add the attributes whose values are names of regions; their number. */
static size_t add_regions(const struct tide_trace *trace, struct tide_user_name *out)
{
    size_t count = 0;
    for (size_t i = 0; tide_trace_name_number(trace, i); i++) {
        const char *const name = tide_trace_name_number_attribute(trace, i);
        if (!name || tide_attribute_find(name) != TIDE_ATTRIBUTES)
            continue;
        if (out)
            out[count] = (struct tide_user_name){
                .name = name, .type = TIDE_VALUE_PATH, .regions = true};
        count++;
    }
    return count;
}

/* One of each name, of the COUNT in NAMES. */
static void merge(struct tide_user_names *names, size_t count)
{
    struct tide_user_name *const list = names->list;
    qsort(list, count, sizeof(*list), by_name_and_use);
    for (size_t i = 0; i < count; i++) {
        struct tide_user_name *const last =
            names->count ? &list[names->count - 1] : NULL;
        if (!last || strcmp(last->name, list[i].name) != 0)
            list[names->count++] = list[i];
        else if (last->regions == list[i].regions && last->type != list[i].type)
            last->type = TIDE_VALUE_NONE;
    }
}

enum tide_status tide_user_names_gather(struct tide_trace *const *traces, size_t count,
                                        struct tide_user_names *out)
{
    size_t most = 0, found = 0;
    for (size_t i = 0; i < count; i++)
        most += add_set(traces[i], NULL) + add_regions(traces[i], NULL);
    struct tide_user_name *const list = calloc(most + 1, sizeof(*list));
    *out =
        (struct tide_user_names){.list = list, .traces = traces, .trace_count = count};
    if (!list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        found += add_set(traces[i], list + found);
        found += add_regions(traces[i], list + found);
    }
    merge(out, found);
    return TIDE_OK;
}

void tide_user_names_release(struct tide_user_names *names)
{
    free(names->list);
    *names = (struct tide_user_names){0};
}

static const struct tide_user_name *find(const struct tide_user_names *names,
                                         const char *name)
{
    const struct tide_user_name key = {.name = name};
    return names && names->count
               ? bsearch(&key, names->list, names->count, sizeof(key), by_name)
               : NULL;
}

const struct tide_user_name *tide_user_names_find(const struct tide_user_names *names,
                                                  const char *name)
{
    const struct tide_user_name *const found = find(names, name);
    return found && !found->hidden && !found->regions ? found : NULL;
}

const struct tide_user_name *tide_user_names_hidden(const struct tide_user_names *names,
                                                    const char *name)
{
    const struct tide_user_name *const found = find(names, name);
    return found && found->hidden ? found : NULL;
}

bool tide_user_names_has(const struct tide_user_names *names, const char *name)
{
    const struct tide_user_name *const found = find(names, name);
    return found && !found->regions;
}

bool tide_user_names_called(const struct tide_user_names *names, const char *name)
{
    const char *known;
    for (size_t i = 0; i < names->trace_count; i++)
        for (size_t j = 0; (known = tide_trace_name_number(names->traces[i], j)); j++)
            if (strcmp(known, name) == 0)
                return true;
    return false;
}

bool tide_user_names_of_regions(const struct tide_user_names *names, const char *name)
{
    for (size_t i = 0; names && i < names->trace_count; i++)
        for (size_t j = 0; tide_trace_name_number(names->traces[i], j); j++) {
            const char *const known =
                tide_trace_name_number_attribute(names->traces[i], j);
            if (known && strcmp(known, name) == 0)
                return true;
        }
    return false;
}

const char *tide_user_names_nearest(const struct tide_user_names *names,
                                    const char *name)
{
    const char **const list = calloc(names->count + 1, sizeof(*list));
    for (size_t i = 0; list && i < names->count; i++)
        list[i] = names->list[i].name;
    const char *const near = list ? tide_nearest(name, list, names->count) : NULL;
    free(list);
    return near;
}

const char *tide_user_names_nearest_called(const struct tide_user_names *names,
                                           const char *name)
{
    size_t count = 0, capacity = 0;
    const char **list = NULL, *known;
    for (size_t i = 0; i < names->trace_count; i++)
        for (size_t j = 0; (known = tide_trace_name_number(names->traces[i], j)); j++) {
            const char **const grown =
                tide_grown(list, &capacity, count + 1, sizeof(*list));
            list = grown ? grown : list;
            if (grown)
                list[count++] = known;
        }
    const char *const near = list ? tide_nearest(name, list, count) : NULL;
    free(list);
    return near;
}
