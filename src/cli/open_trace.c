/* cli/open_trace.c - from a verb's arguments to a loaded model.
 *
 * The commonest mistake is to name something that is no trace, so what it is instead is
 * looked at, and the next step is said.
 */
#include "cli/open_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/zeroed.h"
#include "cli/await_end.h"
#include "cli/latest_trace.h"
#include "cli/memory_limit.h"
#include "cli/piped_trace.h"
#include "model/path.h"
#include "view/names.h"
#include "view/progress.h"
#include "view/run_words.h"

/* --- What is it, if not a trace? --------------------------------------------------- */

struct sign {
    const char *bytes;
    size_t length;
    const char *words;
};

static const struct sign SIGNS[] = {
    {"\177ELF", 4, "a program, not a trace; record it first: tidemark run"},
    {"#!", 2, "a script, not a trace; record it first: tidemark run"},
    {"\037\213", 2, "a gzip file, not a trace; unpack it first: gunzip"},
    {"\050\265\057\375", 4, "a zstd file, not a trace; unpack it first: zstd -d"},
    {"SQLite format 3", 15, "an SQLite database, not a trace"},
    {"{", 1, "JSON text, not a trace"},
};

static bool looks_like_text(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f' && c != '\033')
            return false;
    }
    return true;
}

static const char *name_content(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++)
        if (length >= SIGNS[i].length &&
            memcmp(bytes, SIGNS[i].bytes, SIGNS[i].length) == 0)
            return SIGNS[i].words;
    return looks_like_text(bytes, length) ? "text, not a trace"
                                          : "not a tidemark trace";
}

/* Words for the file at PATH, which is no trace. */
static const char *what_is(const char *path)
{
    struct stat about;
    char start[256];
    if (stat(path, &about))
        return "not a tidemark trace";
    if (S_ISDIR(about.st_mode))
        return "a folder; name the trace in it, or go there and name none";
    if (!S_ISREG(about.st_mode))
        return "not a file; '-' reads a trace from standard input";
    if (about.st_size == 0)
        return "empty: nothing was recorded into it";
    FILE *const file = fopen(path, "re");
    if (!file)
        return "not a tidemark trace";
    const size_t length = fread(start, 1, sizeof(start), file);
    (void)fclose(file);
    return name_content(start, length);
}

/* The words end in a command that the name of the file belongs to. */
static int fail_command(const char *path, const char *words)
{
    const char *const command[] = {path, NULL};
    struct tide_text quoted = {0};
    tide_words_command(&quoted, command);
    (void)tide_fail("%s: this is %s %s", path, words,
                    quoted.failed ? "" : quoted.bytes);
    tide_text_release(&quoted);
    return 1;
}

static bool is_heaptracks(const char *path)
{
    return strncmp(tide_path_base(path), "heaptrack.", strlen("heaptrack.")) == 0;
}

static int fail_missing(const char *path)
{
    char *const near = tide_near_trace(path);
    if (near)
        (void)tide_fail("%s: no such file; did you mean %s?", path, near);
    else
        (void)tide_fail("%s: no such file", path);
    free(near);
    return 1;
}

/* The file PATH, shown as SHOWN, is WHAT and no trace. */
static int fail_other(const char *path, const char *shown, const char *what)
{
    if (shown != path) /* it has no name that a command could take */
        return tide_fail("%s: this is %.*s", shown, (int)strcspn(what, ";"), what);
    if (strstr(what, "zstd") && is_heaptracks(path))
        return tide_fail("%s: heaptrack recorded this, not tidemark; heaptrack_print "
                         "reads it",
                         path);
    return strstr(what, " first: ") ? fail_command(path, what)
                                    : tide_fail("%s: this is %s", path, what);
}

/* PATH cannot be opened: say why. */
static int explain(const char *path, enum tide_status status, const char *why)
{
    struct stat about;
    const char *const shown = strcmp(path, TIDE_STDIN_PATH) ? path : "standard input";
    /* This ends the limit, so it comes before all that takes memory. */
    const char *const words = tide_failure_words(status);
    const bool found = stat(path, &about) == 0;
    if (!found && errno == ENOENT)
        return fail_missing(shown);
    if (status == TIDE_ENOTTRACE ||
        (found && (!S_ISREG(about.st_mode) || about.st_size == 0))) {
        return fail_other(path, shown, what_is(path));
    }
    return tide_fail("%s: %s", shown, *why && status != TIDE_ENOMEM ? why : words);
}

/* --- Open -------------------------------------------------------------------------- */

/* NAME, or NAME.tide when only that exists, as `run -o NAME` called it.  Owned by the
 * caller; NULL without memory. */
static char *named_trace(const char *name)
{
    struct tide_text longer = {0};
    if (access(name, F_OK) == 0)
        return strdup(name);
    tide_text_addf(&longer, "%s.tide", name);
    if (!longer.failed && access(longer.bytes, F_OK) == 0)
        return longer.bytes;
    tide_text_release(&longer);
    return strdup(name);
}

/* The path of the trace NAME (-: standard input); -1 or the exit status. */
static int find_named(const char *name, char **path)
{
    *path = NULL;
    if (name && strcmp(name, "-") == 0) {
        const int done = tide_piped_trace();
        *path = done < 0 ? strdup(TIDE_STDIN_PATH) : NULL;
        return done < 0 && !*path ? tide_fail_memory() : done;
    }
    if (name) {
        *path = named_trace(name);
        return *path ? -1 : tide_fail_memory();
    }
    const enum tide_status status = tide_latest_trace(".", path);
    if (status == TIDE_ENOENT)
        return tide_fail("there is no trace (*.tide) in this folder; record one: "
                         "tidemark run PROGRAM");
    return status ? tide_fail("this folder: %s", tide_failure_words(status)) : -1;
}

/* The same of what the arguments name. */
static int find_path(const struct tide_command *command,
                     const struct tide_arguments *arguments, char **path)
{
    *path = NULL;
    if (arguments->count == 2)
        return tide_fail_usage(
            command, "one trace at a time; to compare two: tidemark diff %s %s",
            arguments->list[0], arguments->list[1]);
    if (arguments->count > 1)
        return tide_fail_usage(command, "one trace at a time");
    return find_named(arguments->count ? arguments->list[0] : NULL, path);
}

static enum tide_status load(struct tide_opened *opened,
                             const struct tide_model_options *options)
{
    struct tide_progress_bar bar;
    tide_heap_wants_huge();
    tide_progress_bar_init(&bar, STDERR_FILENO, "reading");
    struct tide_model_options shown = *options;
    shown.progress =
        (struct tide_progress){.step = tide_progress_bar_step, .user = &bar};
    const enum tide_status status =
        tide_model_load(opened->trace, &shown, &opened->model);
    tide_progress_bar_end(&bar);
    return status;
}

/* Open OUT->path: when its collector is about to end it, what it is then. */
static enum tide_status open_ended(struct tide_opened *out, char *why, size_t size)
{
    enum tide_status status = tide_trace_open(out->path, why, size, &out->trace);
    if (!status && tide_await_end(out->trace)) {
        tide_trace_close(out->trace);
        status = tide_trace_open(out->path, why, size, &out->trace);
    }
    return status;
}

int tide_open_trace(const struct tide_command *command,
                    const struct tide_arguments *arguments, struct tide_opened *out)
{
    const struct tide_model_options options = {.until_s = -1};
    return tide_open_trace_with(command, arguments, &options, out);
}

/* OPTIONS of NULL: what the end of the trace tells is enough. */
static int open_and_load(const struct tide_command *command,
                         const struct tide_arguments *arguments,
                         const struct tide_model_options *options,
                         struct tide_opened *out)
{
    const struct tide_model_options all = {.until_s = -1};
    char why[256] = "";
    *out = (struct tide_opened){0};
    const int done = find_path(command, arguments, &out->path);
    if (done >= 0)
        return done;
    enum tide_status status = open_ended(out, why, sizeof(why));
    if (!status) {
        why[0] = '\0';
        status = options ? TIDE_ENOENT : tide_model_count(out->trace, &out->model);
        if (status == TIDE_ENOENT)
            status = load(out, options ? options : &all);
    }
    if (!status)
        return -1;
    const int result = explain(out->path, status, why);
    tide_opened_close(out);
    return result;
}

int tide_open_trace_with(const struct tide_command *command,
                         const struct tide_arguments *arguments,
                         const struct tide_model_options *options,
                         struct tide_opened *out)
{
    return open_and_load(command, arguments, options, out);
}

int tide_open_trace_counted(const struct tide_command *command,
                            const struct tide_arguments *arguments,
                            struct tide_opened *out)
{
    return open_and_load(command, arguments, NULL, out);
}

int tide_open_trace_only(const char *name, struct tide_opened *out)
{
    char why[256] = "";
    *out = (struct tide_opened){0};
    const int done = find_named(name, &out->path);
    if (done >= 0)
        return done;
    const enum tide_status status = open_ended(out, why, sizeof(why));
    if (!status)
        return -1;
    const int result = explain(out->path, status, why);
    tide_opened_close(out);
    return result;
}

void tide_say_other_builds(const struct tide_opened *opened)
{
    struct tide_text words = {0};
    tide_view_other_builds(&words, opened->trace);
    if (words.bytes && !words.failed)
        (void)tide_fail("%s: %s", opened->path, words.bytes);
    tide_text_release(&words);
}

void tide_say_what_is_missing(const struct tide_opened *opened)
{
    const struct tide_trace *const trace = opened->trace;
    const char *const *const troubles = trace->troubles;
    uint64_t dropped = 0;
    for (size_t i = 0; i < trace->process_count; i++)
        dropped += trace->processes[i].dropped;
    if (!trace->complete && strncmp(trace->problem, "ends", 4) == 0)
        (void)tide_fail("%s: the file is cut off: it %s; what came later is missing",
                        opened->path, trace->problem);
    else if (!trace->complete || trace->problem[0])
        (void)tide_fail("%s: %s", opened->path,
                        trace->problem[0] ? trace->problem : "the trace ends early");
    else if (troubles && troubles[0])
        (void)tide_fail("%s: %s%s", opened->path, troubles[0],
                        troubles[1] ? "; the report says what else" : "");
    else if (dropped > 0)
        (void)tide_fail("%s: %llu event%s dropped", opened->path,
                        (unsigned long long)dropped, dropped == 1 ? " was" : "s were");
}

void tide_opened_close(struct tide_opened *opened)
{
    tide_model_free(opened->model);
    tide_trace_close(opened->trace);
    free(opened->path);
    *opened = (struct tide_opened){0};
}

int tide_print_text(struct tide_text *text)
{
    const bool failed = text->failed;
    if (!failed && text->length > 0)
        (void)fwrite(text->bytes, 1, text->length, stdout); /* main looks at ferror */
    tide_text_release(text);
    return failed ? tide_fail_memory() : 0;
}
