/* model/inquiry.h - which block held an address, and what became of it.
 *
 * For: model/, view/, cli/, tests/.  One walk through all blocks answers all questions;
 * memory is for the questions and the live blocks that may be answers.
 */
#ifndef TIDE_MODEL_INQUIRY_H
#define TIDE_MODEL_INQUIRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/block_stream.h"
#include "model/life_table.h"
#include "model/model.h"

/* How far beside a block an address may be for the block to be named: what runs over the
 * end of an array seldom runs far. */
enum { TIDE_INQUIRY_NEAR = 4096 };

enum tide_answer_kind {
    TIDE_ANSWER_DEAD, /* the last block there was dead by then */
    TIDE_ANSWER_LIVE, /* a block was there */
};

/* What its label says an array is like; element_bytes 0: it says nothing. */
enum { TIDE_ARRAY_DIMENSIONS = 8 };
struct tide_array {
    uint64_t element_bytes;
    uint64_t extents[TIDE_ARRAY_DIMENSIONS]; /* slowest first */
    uint32_t dimensions;
};

/* The element of ARRAY that holds byte OFFSET, an index for each dimension; false when it
 * lies in none. */
bool tide_array_index(const struct tide_array *array, uint64_t offset,
                      uint64_t index[TIDE_ARRAY_DIMENSIONS]);

/* A block of one process, in one space, that has to do with the address. */
struct tide_answer {
    enum tide_answer_kind kind;
    struct tide_life life;
    struct tide_array array; /* of a heap block; realloc ends it */
    bool died;               /* at any time; then DEATH says when */
    struct tide_death death;
};

/* Memory with a label of its own that is not the whole of one block: static, on a stack, a
 * part of a block, or more than it. */
struct tide_labelled {
    uint64_t address, bytes;
    uint64_t ticks; /* when it got the label */
    uint32_t process;
    uint32_t label; /* id of its name + 1; 0: there is none */
};

/* One question: who was at ADDRESS at time UNTIL_S? */
struct tide_question {
    uint64_t address;
    double until_s; /* negative: at the end of the run */
    bool at_peak;   /* not then, but when the heap first stands highest */
    /* Answers, owned: at most one per process and space. */
    struct tide_answer *answers;
    size_t answer_count, answer_capacity;
    /* The live block that ends last before the address, and near it; life.id 0: none. */
    struct tide_answer before;
    struct tide_labelled labelled; /* the smallest that held the address */
};

/* Answer all QUESTIONS; MODEL is of the whole run. */
enum tide_status tide_inquire(struct tide_model *model, struct tide_question *questions,
                              size_t count, const struct tide_progress *progress);
void tide_question_release(struct tide_question *question);

/* The module that PROCESS had at ADDRESS at any time; UINT32_MAX: none.  *OFFSET is the
 * place in its file. */
uint32_t tide_inquire_module(const struct tide_process *process, uint64_t address,
                             uint64_t *offset);

#endif
