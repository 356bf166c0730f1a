/* view/export_folded.c - one line per stack: "main;solve;grow 4096".
 *
 * Readers take what follows the last blank for the number and split the rest at
 * semicolons, so no name may hold one.
 */
#include <stdlib.h>

#include "view/export.h"
#include "view/export_trail.h"

/* The names of the functions as they are written; owned, NULL without memory. */
static struct tide_text *make_names(const struct tide_rows *rows)
{
    struct tide_text *const names = calloc(rows->function_count + 1, sizeof(*names));
    for (size_t i = 0; names && i < rows->function_count; i++) {
        tide_out_name(&names[i], rows->functions[i].name);
        for (size_t at = 0; at < names[i].length; at++)
            if (names[i].bytes[at] == ';')
                names[i].bytes[at] = ':';
    }
    return names;
}

static void release_names(struct tide_text *names, const struct tide_rows *rows)
{
    for (size_t i = 0; names && i < rows->function_count; i++)
        tide_text_release(&names[i]);
    free(names);
}

static void add_line(struct tide_text *out, const struct tide_rows *rows,
                     const struct tide_text *names, const struct tide_trail *trail)
{
    for (size_t i = 0; i < trail->depth; i++) {
        const struct tide_text *const name =
            &names[rows->tree[trail->rows[i]].function];
        if (i > 0)
            tide_text_add_bytes(out, ";", 1);
        tide_text_add_bytes(out, name->bytes, name->length);
        out->failed = out->failed || name->failed;
    }
    tide_text_add_bytes(out, " ", 1);
    tide_out_uint(out, rows->tree[trail->rows[trail->depth - 1]].self_bytes);
    tide_text_add_bytes(out, "\n", 1);
}

enum tide_status tide_export_folded(struct tide_out *out,
                                    const struct tide_export *what)
{
    struct tide_rows *rows;
    struct tide_trail trail = {0};
    enum tide_status status =
        tide_rows_build(what->model, what->metric, what->space, &rows);
    if (status)
        return status;
    struct tide_text *const names = make_names(rows);
    while (names && tide_out_rest(out) && tide_trail_next(&trail, rows))
        if (rows->tree[trail.rows[trail.depth - 1]].self_bytes > 0)
            add_line(&out->text, rows, names, &trail);
    if (!names || trail.failed)
        status = TIDE_ENOMEM;
    tide_trail_release(&trail);
    release_names(names, rows);
    tide_rows_free(rows);
    return status;
}
