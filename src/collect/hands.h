/* collect/hands.h - threads that lend the drain thread a hand.
 *
 * For: collect/, tests/.  What one thread would do one after the other, several do side by side:
 * tide_hands_do() returns when all of it is done.  Between two calls they sleep.
 *
 * Owned by the drain thread.  Where no thread can be had, it does everything by itself.
 */
#ifndef TIDE_COLLECT_HANDS_H
#define TIDE_COLLECT_HANDS_H

#include <stdbool.h>
#include <stdint.h>

struct tide_packer;
struct tide_hands; /* opaque: see hands.c */

enum { TIDE_HANDS_MOST = 3 };

/* How many this machine has to spare beside the drain thread: 0 on a small one, where they
 * would take their time from the program, and where addresses are few (ulimit -v). */
uint32_t tide_hands_to_spare(void);

/* At most COUNT of them; the threads start when there is something to do.  NULL without
 * memory. */
struct tide_hands *tide_hands_new(uint32_t count);
/* They end.  NULL is fine. */
void tide_hands_free(struct tide_hands *hands);
/* There is something to do: is there anybody but the caller? */
bool tide_hands_any(struct tide_hands *hands);

/* Do WHAT(CONTEXT, i, packer) for every i below COUNT, in any order and at the same time, and
 * wait for the last.  The packer is that of the hand which does it, OWN for the caller's. */
void tide_hands_do(struct tide_hands *hands, uint32_t count,
                   void (*what)(void *context, uint32_t i, struct tide_packer *packer),
                   void *context, struct tide_packer *own);

#endif
