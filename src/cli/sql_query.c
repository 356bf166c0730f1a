/* cli/sql_query.c - tidemark query --sql: the database of `export --to sqlite`, asked.
 *
 * The database lives in a file without a name of its own for long: it is removed when the
 * answer is there.
 */
#include "cli/sql_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "view/export.h"
#include "view/query_sql.h"
#include "view/style.h"

/* An empty file in the folder for such; the caller frees and removes *PATH.  -1 or the
 * exit status. */
static int make_file(char **path)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    const char *const folder = getenv("TMPDIR");
    struct tide_text name = {0};
    tide_text_addf(&name, "%s/tidemark-sql.XXXXXX",
                   folder && *folder ? folder : "/tmp");
    *path = name.bytes;
    if (name.failed)
        return tide_fail_memory();
    const int fd = mkstemp(name.bytes);
    if (fd < 0)
        return tide_fail("%s: %s", name.bytes, strerrordesc_np(errno));
    (void)close(fd);
    return -1;
}

static int answer(struct tide_model *model, const char *path, const char *sql,
                  bool json)
{
    const struct tide_export what = {.model = model, .all = true};
    struct tide_text why = {0}, out = {0};
    enum tide_status status = tide_export_sqlite(path, &what, &why);
    const bool made = !status;
    if (made) {
        const struct tide_sql_form form = {json, tide_style_fit(STDOUT_FILENO)};
        status = tide_query_sql(path, sql, form, &out, &why);
    }
    int result = status ? tide_fail("%s", why.length && status != TIDE_ENOMEM
                                              ? why.bytes
                                              : tide_failure_words(status))
                        : tide_print_text(&out);
    if (made && status == TIDE_EUSAGE)
        result = 2;
    tide_text_release(&why);
    tide_text_release(&out);
    return result;
}

int tide_sql_query(const struct tide_arguments *arguments, const char *sql, bool json)
{
    struct tide_opened opened;
    char *path = NULL;
    int result = tide_open_trace(&tide_cmd_query, arguments, &opened);
    if (result >= 0)
        return result;
    const enum tide_status status = tide_model_symbolize(opened.model);
    result = status ? tide_fail("%s", tide_failure_words(status)) : make_file(&path);
    if (result < 0 && path) {
        result = answer(opened.model, path, sql, json);
        (void)unlink(path);
    }
    free(path);
    tide_say_other_builds(&opened);
    tide_opened_close(&opened);
    return result;
}
