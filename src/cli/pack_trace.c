/* cli/pack_trace.c - put the names of all frames into a trace.
 *
 * The new file takes the old one's place when it is complete, so nothing is lost when the
 * disk is full.
 */
#include "cli/pack_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/export_file.h"
#include "cli/memory_limit.h"
#include "model/embed.h"
#include "model/path.h"
#include "trace/embedded.h"
#include "view/run_words.h"

/* "1,234 of 1,240 frames in 12 modules have names; most without are in libx.so" */
static void say_counts(const char *name, const struct tide_embed_counts *counts)
{
    struct tide_text words = {0};
    tide_text_add_safe(&words, name);
    tide_text_addf(&words, ": %s of ", tide_number_count(counts->named).text);
    tide_words_count(&words, counts->frames, "frame");
    tide_text_add(&words, " in ");
    tide_words_count(&words, counts->modules, "module");
    tide_text_add(&words, counts->named == 1 ? " has a name" : " have names");
    if (counts->one) {
        tide_text_add(&words, "; most without are in ");
        tide_text_add_safe(&words, tide_path_base(counts->one));
    }
    if (!words.failed)
        tide_say("%s", words.bytes);
    tide_text_release(&words);
}

/* What nobody else may read does not become readable by being copied. */
static void keep_mode(const struct tide_trace *trace, int fd)
{
    struct stat about;
    if (fstat(trace->fd, &about) == 0)
        (void)fchmod(fd, about.st_mode & 0777);
}

static int write_copy(const struct tide_trace *trace, const char *name,
                      const struct tide_text *notes)
{
    struct tide_export_file file;
    char buffer[128];
    int error = tide_export_file_open(&file, name);
    if (error)
        return tide_fail("%s: %s", name, tide_export_file_words(error));
    if (!file.path) {
        tide_export_file_discard(&file);
        return tide_fail("%s: a trace is written to a plain file", file.name);
    }
    keep_mode(trace, file.fd);
    errno = 0;
    const enum tide_status status = tide_trace_pack(trace, file.fd, notes);
    error = errno;
    if (status) {
        tide_export_file_discard(&file);
        if (status == TIDE_ESYSTEM && error == EWOULDBLOCK)
            return tide_fail("%s: it is still being recorded; pack it afterwards",
                             trace->path);
        if (status == TIDE_ECORRUPT)
            return tide_fail("%s: it is damaged, and left as it is", trace->path);
        return tide_fail("%s: %s", name,
                         error ? strerror_r(error, buffer, sizeof(buffer))
                               : tide_failure_words(status));
    }
    error = tide_export_file_keep(&file);
    return error ? tide_fail("%s: %s", name, strerror_r(error, buffer, sizeof(buffer)))
                 : 0;
}

int tide_pack_trace(struct tide_opened *opened, const char *out, bool say)
{
    /* Its own name may be a link: it was followed when the trace was opened. */
    char *const own = out ? NULL : realpath(opened->path, NULL);
    const char *const name = out ? out : own ? own : opened->path;
    struct tide_text notes = {0};
    struct tide_embed_counts counts = {0};
    enum tide_status status = tide_model_symbolize_all(opened->model);
    if (!status)
        status = tide_model_embed(opened->model, &notes, &counts);
    const int code = status
                         ? tide_fail("%s: %s", opened->path, tide_failure_words(status))
                         : write_copy(opened->trace, name, &notes);
    if (code == 0 && say)
        say_counts(name, &counts);
    tide_text_release(&notes);
    free(own);
    return code;
}
