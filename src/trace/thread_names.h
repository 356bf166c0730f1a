/* trace/thread_names.h - threads that were renamed count once.
 *
 * For: trace/.
 */
#ifndef TIDE_TRACE_THREAD_NAMES_H
#define TIDE_TRACE_THREAD_NAMES_H

#include <tidemark/status.h>

#include "trace/list.h"

/* Of the notes in THREADS (struct tide_thread, as they came) that say the same thread,
 * keep the first, with the name of the last. */
enum tide_status tide_threads_settle(struct tide_list *threads);

#endif
