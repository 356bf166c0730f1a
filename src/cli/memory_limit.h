/* cli/memory_limit.h - how much memory a verb may take, and the words when it is not enough.
 *
 * For: cli/, tests/.
 */
#ifndef TIDE_CLI_MEMORY_LIMIT_H
#define TIDE_CLI_MEMORY_LIMIT_H

#include <stdint.h>

#include <tidemark/status.h>

#include "cli/options.h"

/* What --max-memory holds when it was not given. */
#define TIDE_MEMORY_BY_DEFAULT UINT64_MAX

/* --max-memory, for the verbs that read traces. */
extern const struct tide_option tide_memory_options[];
/* Hold to what it says, or to the default. */
void tide_memory_limit_apply(void);

/* From here on this process may take WANTED bytes more than it has.  By default that is
 * three quarters of what is free; 0: any number. */
void tide_memory_limit_set(uint64_t wanted);
/* The bytes that were set; 0: any number. */
uint64_t tide_memory_limit(void);

/* The words for STATUS.  When it is TIDE_ENOMEM the limit ends, so that there is memory to
 * say so. */
const char *tide_failure_words(enum tide_status status);

/* Say that memory ran out; returns 1. */
int tide_fail_memory(void);

#endif
