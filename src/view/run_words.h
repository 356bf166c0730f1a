/* view/run_words.h - a run and its processes in words: command lines, endings.
 *
 * For: view/, cli/, tests/.
 */
#ifndef TIDE_VIEW_RUN_WORDS_H
#define TIDE_VIEW_RUN_WORDS_H

#include "base/text.h"
#include "model/model.h"
#include "trace/trace.h"
#include "view/units.h"

/* Add the words of ARGV (NULL-terminated, or NULL) with blanks between them, quoted so
 * that a shell would read them as they were.  A terminal only shows them: see
 * tide_text_add_safe(). */
void tide_words_command(struct tide_text *out, const char *const *argv);

/* Does a shell read WORD as it is? */
bool tide_words_plain(const char *word);

/* The program that was started: its last image that ended, else the first process; NULL
 * when there is none. */
const struct tide_process *tide_words_main(const struct tide_trace *trace);

/* Add how PROCESS of TRACE ended: "exited with status 3", "killed by SIGSEGV". */
void tide_words_end(struct tide_text *out, const struct tide_trace *trace,
                    const struct tide_process *process);

/* Add what became of blocks that are live at the end of MODEL's trace: " never freed", " still
 * held when it was killed by SIGKILL". */
void tide_words_left(struct tide_text *out, const struct tide_model *model);

/* Add how many processes MODEL has, and how many programs they ran if that is more: "2
 * processes", "1 process that ran 2 programs". */
void tide_words_processes(struct tide_text *out, const struct tide_model *model);

/* Add what the recorder takes in MODEL's processes: "1.06 MiB in the program", "at most
 * 1.06 MiB in each process". */
void tide_words_recorder(struct tide_text *out, const struct tide_model *model,
                         enum tide_units units);
/* "beside it", "beside them": the collector stands there. */
const char *tide_words_beside(const struct tide_model *model);

/* Add COUNT and its noun: "1 thread", "1,024 threads". */
void tide_words_count(struct tide_text *out, uint64_t count, const char *noun);

/* Add "Names are missing from prog: it is another build than the one that ran.", of the modules
 * of TRACE that were found so; nothing when there are none. */
struct tide_trace;
void tide_view_other_builds(struct tide_text *out, const struct tide_trace *trace);

#endif
