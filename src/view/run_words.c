/* view/run_words.c - a run and its processes in words: command lines, endings. */
#include "view/run_words.h"

#include <string.h>
#include <sys/wait.h>

#include "model/process_ends.h"
#include "view/units.h"

bool tide_words_plain(const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%^";
    return *word && word[strspn(word, PLAIN)] == '\0';
}

/* Would a terminal obey WORD? */
static bool is_unsafe(const char *word)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, word);
    const bool unsafe = safe.bytes && strcmp(safe.bytes, word) != 0;
    tide_text_release(&safe);
    return unsafe;
}

/* $'...', where shells read \xNN as the byte. */
static void add_escaped(struct tide_text *out, const char *word)
{
    tide_text_add(out, "$'");
    while (*word) {
        const size_t length = strcspn(word, "\\'");
        tide_text_add_safe_bytes(out, word, length);
        word += length;
        if (*word)
            tide_text_addf(out, "\\%c", *word++);
    }
    tide_text_add(out, "'");
}

static void add_quoted(struct tide_text *out, const char *word)
{
    tide_text_add(out, "'");
    for (; *word; word++) {
        if (*word == '\'')
            tide_text_add(out, "'\\''");
        else
            tide_text_add_bytes(out, word, 1);
    }
    tide_text_add(out, "'");
}

void tide_words_command(struct tide_text *out, const char *const *argv)
{
    for (size_t i = 0; argv && argv[i]; i++) {
        if (i > 0)
            tide_text_add(out, " ");
        if (tide_words_plain(argv[i]))
            tide_text_add(out, argv[i]);
        else if (is_unsafe(argv[i]))
            add_escaped(out, argv[i]);
        else
            add_quoted(out, argv[i]);
    }
}

const struct tide_process *tide_words_main(const struct tide_trace *trace)
{
    const struct tide_process *found = NULL;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (process->main && (!found || process->status_known))
            found = process;
    }
    return found || trace->process_count == 0 ? found : &trace->processes[0];
}

static void add_killed(struct tide_text *out, int signal)
{
    const char *const name = sigabbrev_np(signal);
    if (name)
        tide_text_addf(out, "killed by SIG%s", name);
    else
        tide_text_addf(out, "killed by signal %d", signal);
}

/* The status is that of the program which took its place. */
static void add_execed(struct tide_text *out, const struct tide_process *process)
{
    tide_text_add(out, "replaced by exec");
    if (!process->status_known)
        return;
    tide_text_add(out, ", ");
    if (WIFSIGNALED(process->status))
        add_killed(out, WTERMSIG(process->status));
    else
        tide_text_addf(out, "exit status %d", WEXITSTATUS(process->status));
}

void tide_words_end(struct tide_text *out, const struct tide_trace *trace,
                    const struct tide_process *process)
{
    const int status = process->status;
    if (!process->ended && !trace->complete) {
        tide_text_add(out, "how it ended is not in the trace");
    } else if (!process->ended) {
        tide_text_add(out, "still running when the recording stopped");
    } else if (process->execed) {
        add_execed(out, process);
    } else if (!process->status_known) {
        tide_text_add(out, process->silent ? "ended, not seen to exit"
                                           : "ended, status not known");
    } else if (WIFSIGNALED(status)) {
        add_killed(out, WTERMSIG(status));
        if (WCOREDUMP(status))
            tide_text_add(out, ", core dumped");
    } else {
        tide_text_addf(out, "exited with status %d", WEXITSTATUS(status));
    }
}

/* What nobody was told the end of: that it was killed is likely, and not known. */
static void add_held(struct tide_text *out, const struct tide_model *model, bool alone)
{
    const uint64_t held = tide_model_held_bytes(model);
    if (held == 0)
        tide_text_add(out, " never freed");
    else if (alone)
        tide_text_add(out, " still held when it ended, not seen to exit");
    else
        tide_text_addf(
            out, "%s still held by processes not seen to exit",
            held < model->summary[TIDE_IN_HEAP].live_bytes ? " never freed, or" : "");
}

void tide_words_left(struct tide_text *out, const struct tide_model *model)
{
    const int signal = tide_model_killed_by(model);
    const bool alone = model->processes - model->replaced == 1;
    const struct tide_process *const process = tide_words_main(model->trace);
    if (!model->trace->complete) {
        tide_text_add(out, ", where the trace ends");
    } else if (signal && alone) {
        tide_text_add(out, " still held when it was ");
        add_killed(out, signal);
    } else if (signal) {
        tide_text_add(out, " never freed, or still held when the program was ");
        add_killed(out, signal);
    } else if (process && !process->ended) {
        tide_text_add(out, " still held when the recording stopped");
    } else {
        add_held(out, model, alone);
    }
}

void tide_words_processes(struct tide_text *out, const struct tide_model *model)
{
    const uint64_t count = model->processes - model->replaced;
    tide_text_addf(out, "%s process%s", tide_number_count(count).text,
                   count == 1 ? "" : "es");
    if (model->programs > count)
        tide_text_addf(out, " that ran %s programs",
                       tide_number_count(model->programs).text);
}

void tide_words_recorder(struct tide_text *out, const struct tide_model *model,
                         enum tide_units units)
{
    const struct tide_number bytes =
        tide_number_bytes(model->honesty.recorder_bytes, units);
    if (model->processes < 2)
        tide_text_addf(out, "%s in the program", bytes.text);
    else
        tide_text_addf(out, "at most %s in each %s", bytes.text,
                       model->processes > 1 + model->replaced ? "process" : "program");
}

const char *tide_words_beside(const struct tide_model *model)
{
    return model->processes < 2 ? "beside it" : "beside them";
}

void tide_words_count(struct tide_text *out, uint64_t count, const char *noun)
{
    tide_text_addf(out, "%s %s%s", tide_number_count(count).text, noun,
                   count == 1 ? "" : "s");
}
