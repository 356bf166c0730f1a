/* unit/query_asker.h - ask a trace made by hand, and get the answer as text. */
#ifndef TIDE_UNIT_QUERY_ASKER_H
#define TIDE_UNIT_QUERY_ASKER_H

#include <stddef.h>
#include <stdint.h>

#include "trace_builder.h"

/* A small history of one process (pid 100, thread 100 "prog", one tick is 1 us):
 *
 *     time  what                                         block
 *      10   region main begins
 *      20   malloc(100)                                  1, labelled "x" at 60
 *      30   region solve begins, iteration 0
 *      40   malloc(200), freed at 41: temporary          2
 *      45   calloc(300)                                  3, freed at 90
 *      60   block 1 is labelled
 *      65   iteration 1
 *      70   realloc of block 1 to 150, keeps its label   4 (1 ends)
 *      75   snapshot "half"
 *      80   region solve ends
 *      85   new(8)                                       5, freed by nobody
 *      90   block 3 is freed
 *      95   region main ends
 *      96   malloc(64), outside                          6
 *     100   free of block 6
 */
struct tide_builder *tide_asker_trace(void);

/* The answer to QUERY over COUNT traces, or what is wrong with it (as the program prints
 * it); the caller frees it. */
char *tide_ask(struct tide_builder *const *builders, size_t count, const char *query);
/* The same, with at most BUDGET bytes for groups. */
char *tide_ask_within(struct tide_builder *const *builders, size_t count,
                      const char *query, size_t budget);

/* One such trace for all tests of a program: made, and thrown away. */
int tide_asker_begin(void **state);
int tide_asker_end(void **state);
struct tide_builder *tide_asker_built(void);
/* Asked of it, QUERY has this answer. */
void tide_asker_expect(const char *query, const char *answer);

#endif
