/* model/inquiry.c - which block held an address, and what became of it.
 *
 * Blocks, and parts of mappings, come when they die, and at last those that are alive.  So
 * of the blocks that were dead at the time in question the last one that comes is the last
 * that was there; and one that was alive then goes over all of them.
 */
#include "model/inquiry.h"

#include <stdlib.h>

#include "model/grow.h"
#include "trace/format.h"

/* A question, to be sorted. */
struct placed {
    struct tide_question *question;
};

/* A live block with an array in it that a question is about. */
struct shaped {
    uint64_t id; /* of its life */
    struct tide_array array;
};

struct inquiry {
    const struct tide_trace *trace;
    const struct tide_lives *lives; /* borrowed, during the walk */
    struct shaped *shaped;          /* owned */
    size_t shaped_count, shaped_capacity;
    struct placed *questions; /* owned: by address */
    size_t count;
    /* The heap on its way to its peak. */
    const struct tide_summary *heap; /* borrowed */
    uint64_t births;
    uint64_t peak_id; /* of the block that made the peak; 0: that is to come */
};

static int by_address(const void *one, const void *other)
{
    const uint64_t a = ((const struct placed *)one)->question->address;
    const uint64_t b = ((const struct placed *)other)->question->address;
    return (a > b) - (a < b);
}

/* The first question that is not below ADDRESS. */
static size_t first_from(const struct inquiry *inquiry, uint64_t address)
{
    size_t low = 0, high = inquiry->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (inquiry->questions[middle].question->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Bytes that are the block's: also those that it did not ask for. */
static uint64_t span_of(const struct tide_life *life)
{
    const uint64_t span = life->usable > life->size ? life->usable : life->size;
    const uint64_t most = UINT64_MAX - life->address;
    if (span > most)
        return most;
    return span ? span : 1;
}

static bool is_until(const struct inquiry *inquiry, double until_s, uint64_t ticks)
{
    return until_s < 0 || tide_trace_seconds(inquiry->trace, ticks) <= until_s;
}

/* Was LIFE there, or gone already, when QUESTION asks? */
static bool was_born(const struct inquiry *inquiry,
                     const struct tide_question *question, const struct tide_life *life)
{
    if (question->at_peak)
        return !inquiry->peak_id || life->id <= inquiry->peak_id;
    return is_until(inquiry, question->until_s, life->birth_ticks);
}

/* Had the process of LIFE ended, with all that it held?  At the end of the run what was
 * never freed counts as live. */
static bool had_left(const struct inquiry *inquiry,
                     const struct tide_question *question, const struct tide_life *life)
{
    const struct tide_process *const process =
        &inquiry->trace->processes[life->process];
    if (!process->ended || !process->end_ticks)
        return false;
    if (question->at_peak)
        return process->end_ticks < inquiry->heap->peak_now;
    return question->until_s >= 0 &&
           tide_trace_seconds(inquiry->trace, process->end_ticks) < question->until_s;
}

/* DEATH is what happens now; NULL: nothing does, it is the end. */
static bool was_dead(const struct inquiry *inquiry,
                     const struct tide_question *question, const struct tide_life *life,
                     const struct tide_death *death)
{
    if (had_left(inquiry, question, life))
        return true;
    if (!death)
        return false;
    return question->at_peak ? !inquiry->peak_id
                             : is_until(inquiry, question->until_s, death->ticks);
}

/* --- Arrays -------------------------------------------------------------------------- */

bool tide_array_index(const struct tide_array *array, uint64_t offset,
                      uint64_t index[TIDE_ARRAY_DIMENSIONS])
{
    if (!array->element_bytes || !array->dimensions)
        return false;
    uint64_t element = offset / array->element_bytes;
    for (uint32_t i = array->dimensions; i-- > 0;) {
        if (!array->extents[i])
            return false;
        index[i] = element % array->extents[i];
        element /= array->extents[i];
    }
    return element == 0;
}

/* The place of the block with ID in the list; its length when it is not there. */
static size_t find_shaped(const struct inquiry *inquiry, uint64_t id)
{
    size_t at = 0;
    while (at < inquiry->shaped_count && inquiry->shaped[at].id != id)
        at++;
    return at;
}

static void forget_shape(struct inquiry *inquiry, uint64_t id)
{
    const size_t at = find_shaped(inquiry, id);
    if (at < inquiry->shaped_count)
        inquiry->shaped[at] = inquiry->shaped[--inquiry->shaped_count];
}

/* --- Labels of what is no block --------------------------------------------------------- */

/* Has what happens at TICKS happened when QUESTION asks? */
static bool has_happened(const struct inquiry *inquiry,
                         const struct tide_question *question, uint64_t ticks)
{
    return question->at_peak ? !inquiry->peak_id
                             : is_until(inquiry, question->until_s, ticks);
}

/* The label at ADDRESS of PROCESS ends at TICKS. */
static void end_label(const struct inquiry *inquiry, uint32_t process, uint64_t address,
                      uint64_t ticks)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        struct tide_question *const question = inquiry->questions[i].question;
        if (question->labelled.address == address &&
            question->labelled.process == process &&
            has_happened(inquiry, question, ticks))
            question->labelled = (struct tide_labelled){0};
    }
}

/* BLOCK is what begins there; NULL: none does. */
static void begin_label(const struct inquiry *inquiry, const struct tide_event *event,
                        const struct tide_life *block)
{
    const uint64_t bytes = event->value3;
    end_label(inquiry, event->process, event->value, event->ticks);
    if (event->value2 >= UINT32_MAX || (block && block->id && bytes <= block->size))
        return;
    for (size_t i = first_from(inquiry, event->value);
         i < inquiry->count &&
         inquiry->questions[i].question->address - event->value < bytes;
         i++) {
        struct tide_question *const question = inquiry->questions[i].question;
        if (has_happened(inquiry, question, event->ticks) &&
            (!question->labelled.label || bytes <= question->labelled.bytes))
            question->labelled = (struct tide_labelled){
                .address = event->value,
                .bytes = bytes,
                .ticks = event->ticks,
                .process = event->process,
                .label = (uint32_t)event->value2 + 1,
            };
    }
}

/* LIFE is dead, and so is a label in PART of it. */
static void end_labels(const struct inquiry *inquiry, const struct tide_life *life,
                       struct tide_part part, const struct tide_death *death)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct tide_labelled labelled = inquiry->questions[i].question->labelled;
        if (labelled.label && labelled.process == life->process &&
            labelled.address >= part.start && labelled.address < part.end)
            end_label(inquiry, labelled.process, labelled.address, death->ticks);
    }
}

/* Is a question about the block LIFE, or about what is close behind it? */
static bool is_asked(const struct inquiry *inquiry, const struct tide_life *life)
{
    const size_t first = first_from(inquiry, life->address);
    if (first == inquiry->count)
        return false;
    const uint64_t span = span_of(life);
    const uint64_t distance =
        inquiry->questions[first].question->address - life->address;
    return distance < span || distance - span < TIDE_INQUIRY_NEAR;
}

/* One number of the shape of LIFE. */
static enum tide_status add_shape(struct inquiry *inquiry, const struct tide_life *life,
                                  const struct tide_event *event)
{
    const size_t at = find_shaped(inquiry, life->id);
    if (at == inquiry->shaped_count) {
        struct shaped *const shaped = tide_grown(
            inquiry->shaped, &inquiry->shaped_capacity, at + 1, sizeof(*shaped));
        if (!shaped)
            return TIDE_ENOMEM;
        inquiry->shaped = shaped;
        shaped[inquiry->shaped_count++] = (struct shaped){.id = life->id};
    }
    struct tide_array *const array = &inquiry->shaped[at].array;
    if (event->value2 == 0) {
        *array = (struct tide_array){.element_bytes = event->value3};
    } else if (event->value2 == array->dimensions + 1u &&
               array->dimensions < TIDE_ARRAY_DIMENSIONS) {
        array->extents[array->dimensions++] = event->value3;
    }
    return TIDE_OK;
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct inquiry *const inquiry = user;
    (void)tid;
    if (event->extra == TIDE_EXTRA_UNLABEL)
        end_label(inquiry, event->process, event->value, event->ticks);
    if (event->extra != TIDE_EXTRA_LABEL && event->extra != TIDE_EXTRA_SHAPE)
        return TIDE_OK;
    const uint32_t entry =
        tide_lives_find(inquiry->lives, event->process, event->value);
    const struct tide_life *const life = entry ? &inquiry->lives->list[entry] : NULL;
    if (event->extra == TIDE_EXTRA_LABEL)
        begin_label(inquiry, event, life);
    if (!life)
        return TIDE_OK;
    if (event->extra == TIDE_EXTRA_LABEL)
        forget_shape(inquiry, life->id);
    else if (is_asked(inquiry, life))
        return add_shape(inquiry, life, event);
    return TIDE_OK;
}

/* The others can be no answer. */
static bool follow(void *user, const struct tide_life *life)
{
    return is_asked(user, life);
}

static void on_begin(void *user, const struct tide_lives *lives)
{
    struct inquiry *const inquiry = user;
    inquiry->lives = lives;
}

/* --- Answers ------------------------------------------------------------------------- */

/* What is known of the process and the space of LIFE, new or known. */
static struct tide_answer *find_answer(struct tide_question *question,
                                       const struct tide_life *life)
{
    for (size_t i = 0; i < question->answer_count; i++)
        if (question->answers[i].life.process == life->process &&
            question->answers[i].life.space == life->space)
            return &question->answers[i];
    struct tide_answer *const answers =
        tide_grown(question->answers, &question->answer_capacity,
                   question->answer_count + 1, sizeof(*answers));
    if (!answers)
        return NULL;
    question->answers = answers;
    answers[question->answer_count] = (struct tide_answer){.life.id = 0};
    return &answers[question->answer_count++];
}

static struct tide_answer answer_of(const struct inquiry *inquiry,
                                    const struct tide_life *life,
                                    const struct tide_death *death,
                                    enum tide_answer_kind kind)
{
    struct tide_answer answer = {.kind = kind, .life = *life, .died = death != NULL};
    const size_t shaped = find_shaped(inquiry, life->id);
    if (shaped < inquiry->shaped_count)
        answer.array = inquiry->shaped[shaped].array;
    if (death)
        answer.death = *death;
    return answer;
}

/* KNOWN, which is dead, was born while OUTER lived, which dies only now.  One address is
 * given to one block at a time, so OUTER was freed before KNOWN was born, or born after it
 * was freed: only stamps tell the order of the two.  Which of these says less of them? */
static bool came_after(const struct tide_answer *known, const struct tide_life *outer,
                       const struct tide_death *death)
{
    if (!death || !known->died)
        return false;
    const uint64_t late = death->ticks - known->life.birth_ticks;
    const uint64_t early = known->death.ticks - outer->birth_ticks;
    return (int64_t)late < (int64_t)early;
}

static enum tide_status offer(const struct inquiry *inquiry,
                              struct tide_question *question,
                              const struct tide_life *life,
                              const struct tide_death *death)
{
    if (!was_born(inquiry, question, life))
        return TIDE_OK;
    const bool dead = was_dead(inquiry, question, life, death);
    const enum tide_answer_kind kind = dead ? TIDE_ANSWER_DEAD : TIDE_ANSWER_LIVE;
    struct tide_answer *const known = find_answer(question, life);
    if (!known)
        return TIDE_ENOMEM;
    if (known->life.id && known->kind == TIDE_ANSWER_LIVE && dead)
        return TIDE_OK;
    if (life->id < known->life.id && came_after(known, life, death))
        return TIDE_OK;
    *known = answer_of(inquiry, life, death, kind);
    return TIDE_OK;
}

/* LIFE ends before the address, not far from it. */
static void offer_neighbour(const struct inquiry *inquiry,
                            struct tide_question *question,
                            const struct tide_life *life,
                            const struct tide_death *death)
{
    const struct tide_life *const known = &question->before.life;
    if (!was_born(inquiry, question, life) || was_dead(inquiry, question, life, death))
        return;
    if (!known->id || life->address >= known->address)
        question->before = answer_of(inquiry, life, death, TIDE_ANSWER_LIVE);
}

/* LIFE is, or was until DEATH, at PART. */
static enum tide_status on_part(void *user, const struct tide_life *life,
                                struct tide_part part, const struct tide_death *death)
{
    const struct inquiry *const inquiry = user;
    const uint64_t near = part.end < UINT64_MAX - TIDE_INQUIRY_NEAR
                              ? part.end + TIDE_INQUIRY_NEAR
                              : UINT64_MAX;
    enum tide_status status = TIDE_OK;
    if (death)
        end_labels(inquiry, life, part, death);
    for (size_t i = first_from(inquiry, part.start);
         i < inquiry->count && inquiry->questions[i].question->address < near &&
         !status;
         i++) {
        struct tide_question *const question = inquiry->questions[i].question;
        if (question->address < part.end)
            status = offer(inquiry, question, life, death);
        else
            offer_neighbour(inquiry, question, life, death);
    }
    return status;
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t lane)
{
    struct inquiry *const inquiry = user;
    (void)lane;
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    if (++inquiry->births == inquiry->heap->peak_births)
        inquiry->peak_id = life->id;
    return TIDE_OK;
}

/* Mappings come part by part. */
static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    if (life->space == TIDE_IN_MMAP)
        return TIDE_OK;
    const struct tide_part part = {life->address, life->address + span_of(life)};
    const enum tide_status status = on_part(user, life, part, death);
    forget_shape(user, life->id);
    return status;
}

enum tide_status tide_inquire(struct tide_model *model, struct tide_question *questions,
                              size_t count, const struct tide_progress *progress)
{
    struct inquiry inquiry = {
        .trace = model->trace, .count = count, .heap = &model->summary[TIDE_IN_HEAP]};
    const struct tide_block_watch watch = {.user = &inquiry,
                                           .begin = on_begin,
                                           .follow = follow,
                                           .birth = on_birth,
                                           .block = on_block,
                                           .part = on_part,
                                           .mark = on_mark};
    inquiry.questions = calloc(count + 1, sizeof(*inquiry.questions));
    if (!inquiry.questions)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        inquiry.questions[i].question = &questions[i];
    qsort(inquiry.questions, count, sizeof(*inquiry.questions), by_address);
    const enum tide_status status = tide_block_stream(model, &watch, progress);
    free(inquiry.questions);
    free(inquiry.shaped);
    return status;
}

void tide_question_release(struct tide_question *question)
{
    free(question->answers);
    *question = (struct tide_question){0};
}

uint32_t tide_inquire_module(const struct tide_process *process, uint64_t address,
                             uint64_t *offset)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct tide_mapping *const mapping = &process->mappings[i];
        if (address >= mapping->start && address < mapping->end) {
            *offset = address - mapping->bias;
            return mapping->module;
        }
    }
    return UINT32_MAX;
}
