/* trace/decode.h - the bytes of a lane -> events.
 *
 * For: trace/, tests/.  A decoder mirrors the state of the encoder (encode.c) for one lane:
 * recent stacks and births, dictionary of words, expected addresses.  It sees bytes only;
 * which chunk they come from is lane_in.c's business.
 */
#ifndef TIDE_TRACE_DECODE_H
#define TIDE_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/born.h"
#include "trace/event.h"
#include "trace/fields.h"
#include "trace/format.h"
#include "trace/piles.h"
#include "trace/resolve.h"
#include "trace/words.h"

/* In struct tide_event, field numbered. */
enum tide_event_order {
    TIDE_HAS_NUMBER = 1, /* number says where it stands in its slot's history */
    TIDE_ON_SLOT = 2,    /* it advances its slot's count */
};

enum { TIDE_MOVES_KEPT = 8 }; /* reallocs that a lane may have begun and not ended */

/* An entry of the dictionary of words. */
struct tide_dictionary_entry {
    uint64_t word;
    uint32_t frame;
    uint32_t mark; /* of the chunk in which it was given */
};

/* An entry of the recent stacks. */
struct tide_recent {
    uint32_t node;
    uint16_t depth;
    bool cut; /* it begins with the CUT frame */
    /* What the last birth with it was like. */
    uint8_t kind, align_log2;
    uint32_t like; /* mark of the chunk in which there was one */
    uint64_t size, usable;
};

/* What the coder remembers too: see "What coder and decoder of a lane remember alike" in
 * format.h. */
struct tide_lane_memory {
    uint32_t stacks; /* entries since the reset */
    uint32_t births, deaths;
    uint64_t next_birth, last_death;
    struct tide_recent recent[TIDE_RECENTS];
    uint16_t next[TIDE_RECENTS]; /* which entry stood after which */
    struct tide_dictionary_entry dictionary[TIDE_DICTIONARY_SLOTS];
    struct tide_born born[TIDE_AGES];
    uint64_t dead[TIDE_DEAD];
    struct tide_words words;
    struct tide_piles piles;
};

struct tide_decoder {
    struct tide_resolver *resolver; /* borrowed */
    uint32_t process, lane;         /* what events are labelled with */

    /* The coder's state. */
    uint64_t ticks, epoch;
    uint8_t last_kind;               /* enum tide_alloc_kind */
    bool numbers;                    /* the lane takes numbers */
    uint32_t mark;                   /* chunks and resets so far */
    uint32_t current;                /* entry of the present stack, if there is any */
    struct tide_lane_memory *memory; /* owned: NULL until the first reset */

    /* What every event of the stretch begins with, for decode_usual.c.  It is copied
     * before fields are stored: an event that is put together elsewhere and then copied
     * waits for its own bytes. */
    struct tide_event blank;

    /* Not reset: reallocs under way, innermost last. */
    uint64_t moves[TIDE_MOVES_KEPT];
    uint32_t move_count;

    /* Of the events decoded since these were set to 0. */
    uint64_t cut_stacks; /* whose stack begins with the CUT frame */
    uint64_t born_bytes; /* sizes of ALLOC and MOVE_END, saturating */
    uint64_t others;     /* MAP and EXTRA */

    enum tide_status status; /* not OK: memory or a limit; nothing goes on */
};

/* Why tide_decode() stopped. */
enum tide_decode_stop {
    TIDE_STOP_EMPTY, /* all records are read */
    TIDE_STOP_STAMP, /* a TIME or SYNC was read: decoder->ticks is new */
    TIDE_STOP_FULL,  /* no room for another event */
    TIDE_STOP_BAD,   /* these bytes are no record, or decoder->status says more */
};

void tide_decoder_init(struct tide_decoder *decoder, struct tide_resolver *resolver,
                       uint32_t process, uint32_t lane);
void tide_decoder_release(struct tide_decoder *decoder);

/* Bytes were lost: the reallocs under way are not known any more. */
static inline void tide_decoder_lost(struct tide_decoder *decoder)
{
    decoder->move_count = 0;
}

/* Another chunk of the lane begins: forget what is forgotten there. */
void tide_decoder_begin_chunk(struct tide_decoder *decoder);

/* Decode records at FIELDS into EVENTS, at most MAX of them; *COUNT says how many.  SPAN
 * events are not made here. */
enum tide_decode_stop tide_decode(struct tide_decoder *decoder,
                                  struct tide_fields *fields, struct tide_event *events,
                                  size_t max, size_t *count);

/* --- For decode.c and each other --- */

/* The same as tide_decode(), every record in the plain way. */
enum tide_decode_stop tide_decode_plain(struct tide_decoder *decoder,
                                        struct tide_fields *fields,
                                        struct tide_event *events, size_t max,
                                        size_t *count);
/* Decode records as tide_decode() does, as long as they are of the usual kind; *COUNT may
 * well be 0.  False when a record makes no sense.  See decode_usual.c. */
bool tide_decode_usual(struct tide_decoder *decoder, struct tide_fields *fields,
                       struct tide_event *events, size_t max, size_t *count);

/* Forget what a reset forgets.  False: no memory. */
bool tide_decoder_reset(struct tide_decoder *decoder);
/* Read the stack of EVENT, given by MODE (enum tide_stack_mode); false when it is none. */
bool tide_decode_stack(struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned mode, struct tide_event *event);

#endif
