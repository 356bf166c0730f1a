/* collect/unrecorded_words.c - programs that were not recorded, in one line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collect/strangers.h"
#include "collect/unrecorded.h"

enum {
    TIDE_ROWS_MOST = 64, /* programs that are told apart */
    TIDE_NAMED_MOST = 4, /* that the line names */
};

/* --- Count ---------------------------------------------------------------------------- */

static const char *last_part(const char *name)
{
    const char *const slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Is it the same program?  Where libc looked for it along PATH, only its last part is known. */
static bool is_named(const char *known, const char *name)
{
    if (strchr(known, '/') && strchr(name, '/'))
        return strcmp(known, name) == 0;
    return strcmp(last_part(known), last_part(name)) == 0;
}

static struct tide_unrecorded_row *find_row(struct tide_unrecorded *account,
                                            const char *name, const char *reason)
{
    struct tide_unrecorded_row *const rows = account->rows.items;
    for (size_t i = 0; i < account->rows.count; i++) {
        if (is_named(rows[i].name, name) && strcmp(rows[i].reason, reason) == 0)
            return &rows[i];
    }
    if (account->rows.count == TIDE_ROWS_MOST)
        return NULL;
    char *const copy = strdup(name);
    struct tide_unrecorded_row *const row = copy ? tide_list_add(&account->rows) : NULL;
    if (row)
        *row = (struct tide_unrecorded_row){.name = copy, .reason = reason};
    else
        free(copy);
    return row;
}

/* The longer name says where the program is. */
static void rename_row(struct tide_unrecorded_row *row, const char *name)
{
    char *const copy =
        strchr(name, '/') && !strchr(row->name, '/') ? strdup(name) : NULL;
    if (copy) {
        free(row->name);
        row->name = copy;
    }
}

void tide_unrecorded_count(struct tide_unrecorded *account, const char *name,
                           const char *reason, uint64_t ticks)
{
    struct tide_unrecorded_row *const row = find_row(account, name, reason);
    account->count++;
    if (!row)
        return;
    rename_row(row, name);
    row->count++;
    if (ticks && (!row->longest || ticks < row->shortest))
        row->shortest = ticks;
    if (ticks > row->longest)
        row->longest = ticks;
}

/* --- Tell ----------------------------------------------------------------------------- */

static void add_time(struct tide_text *out, double seconds)
{
    if (seconds < 0.0995)
        tide_text_addf(out, "%.1f ms", seconds * 1e3);
    else
        tide_text_addf(out, "%.*f s", seconds < 9.95 ? 2 : 0, seconds);
}

static void add_row(const struct tide_unrecorded_row *row, double rate,
                    struct tide_text *out)
{
    tide_text_addf(out, "%s (", row->name);
    if (row->count > 1)
        tide_text_addf(out, "%" PRIu32 " times%s", row->count,
                       row->longest ? ", " : "");
    if (row->longest && row->count > 1) {
        add_time(out, (double)row->shortest / rate);
        tide_text_add(out, " to ");
    }
    if (row->longest)
        add_time(out, (double)row->longest / rate);
    tide_text_addf(out, "%s%s)", row->count > 1 || row->longest ? "; " : "",
                   row->reason);
}

static int compare_rows(const void *a, const void *b)
{
    const struct tide_unrecorded_row *const x = a, *const y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Is one among them that --keep-preload would have recorded? */
static bool any_without_preload(const struct tide_unrecorded *account)
{
    const struct tide_unrecorded_row *const rows = account->rows.items;
    for (size_t i = 0; i < account->rows.count; i++)
        if (strcmp(rows[i].reason, TIDE_STRANGER_WITHOUT_PRELOAD) == 0)
            return true;
    return false;
}

void tide_unrecorded_tell(struct tide_unrecorded *account, double rate, bool kept,
                          struct tide_text *out)
{
    if (account->count == 0)
        return;
    tide_list_sort(&account->rows, compare_rows);
    const struct tide_unrecorded_row *const rows = account->rows.items;
    const bool one = account->count == 1;
    tide_text_addf(out, "%s%" PRIu32 " program%s not recorded, nor what %s started: ",
                   account->at_least ? "At least " : "", account->count,
                   one ? " was" : "s were", one ? "it" : "they");
    for (size_t i = 0; i < account->rows.count && i < TIDE_NAMED_MOST; i++) {
        tide_text_add(out, i > 0 ? ", " : "");
        add_row(&rows[i], rate, out);
    }
    if (account->rows.count > TIDE_NAMED_MOST)
        tide_text_add(out, ", ...; 'tidemark info' lists them");
    if (!kept && any_without_preload(account))
        tide_text_add(out, "; 'run --keep-preload' records programs that are started "
                           "with a clean environment");
}
