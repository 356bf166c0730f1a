/* model/account_evidence.h - the books, when it matters how things came about.
 *
 * For: model/ only.
 */
#ifndef TIDE_MODEL_ACCOUNT_EVIDENCE_H
#define TIDE_MODEL_ACCOUNT_EVIDENCE_H

#include <stdint.h>

#include <tidemark/status.h>

#include "model/holdings.h"
#include "model/survivors.h"

struct tide_account;

struct tide_evidence {
    struct tide_survivors survivors;
    struct tide_holdings holdings;
};

enum tide_status tide_account_evidence_begin(struct tide_account *account);
void tide_account_evidence_release(struct tide_account *account);

/* --- When there is evidence --- */

/* Between events: time has come to TICKS, and the timeline to STRETCH. */
enum tide_status tide_account_evidence_pass(struct tide_account *account,
                                            uint64_t ticks, uint32_t stretch);
/* PROCESS ended at TICKS: what it has was never freed. */
enum tide_status tide_account_remains(struct tide_account *account, uint32_t process,
                                      uint64_t ticks);
/* The account ends, and with it the processes that have not ended. */
enum tide_status tide_account_evidence_finish(struct tide_account *account);

#endif
