/* model/findings_rules.c - when something is worth a finding.
 *
 * Rules of memory measure what a cure saves in bytes of the peak; rules of time what it
 * saves in allocation calls, at what these cost on common machines.  A rule has two
 * thresholds: one that makes it true, and one that makes it matter.
 */
#include "model/findings_parts.h"

/* What a pair of malloc and free costs, one across threads, and copying. */
static const double TIDE_PAIR_S = 50e-9;
static const double TIDE_FOREIGN_S = 100e-9;
static const double TIDE_COPY_BYTES_PER_S = 4e9;
/* In a run of so many seconds what grows is a burden. */
static const double TIDE_LONG_S = 60;
/* Nobody works for less. */
static const double TIDE_SECONDS_LEAST = 0.005;
/* Bytes that are allocated again and again cost less than bytes that stand. */
static const double TIDE_TURNOVER_WORTH = 0.25;

enum {
    TIDE_KIB = 1024,
    TIDE_MIB = 1024 * 1024,
    TIDE_TIME_PARTS = 100,    /* costs that matter: a hundredth of the run's time */
    TIDE_CALLS_PARTS = 10,    /* a tenth of all allocation calls */
    TIDE_TURNOVER_PARTS = 20, /* of calls that are many in any case, a twentieth */
    TIDE_TURNOVER_CALLS = 1000000,
    TIDE_TURNOVER_PEAKS = 10, /* the run allocates so many times what it ever holds */
    TIDE_TURNOVER_MIB = 64,
    TIDE_LEFT_LEAST = 4 * TIDE_KIB, /* of what does not grow any more, ... */
    TIDE_BEFORE_LEAST = 1000,       /* blocks: then a program has started */
    TIDE_LEFT_PARTS = 20,           /* ... and a twentieth of the peak */
};

/* What the rules are told. */
struct case_file {
    const struct tide_model *model;
    const struct tide_subjects *subjects;
    const struct tide_subject *subject;
    const struct tide_summary *heap;
    uint64_t peak; /* of the subject's space */
    struct tide_verdict_on *out;
};

/* Is AMOUNT at least one of PARTS equal parts of WHOLE? */
static bool is_part(uint64_t amount, uint64_t whole, uint64_t parts)
{
    return amount > 0 && amount >= whole / parts + (whole % parts != 0);
}

static double share_of(uint64_t amount, uint64_t whole)
{
    return whole ? (double)amount / (double)whole : 0;
}

/* A rule of memory speaks. */
static bool saves_bytes(const struct case_file *file, uint64_t bytes, uint64_t calls,
                        uint64_t gain)
{
    file->out->bytes = bytes;
    file->out->calls = calls;
    file->out->gain_bytes = gain;
    file->out->share = share_of(gain, file->peak);
    file->out->rank = file->out->share;
    return true;
}

/* A rule of time speaks, if SECONDS are enough to matter. */
static bool saves_time(const struct case_file *file, uint64_t bytes, uint64_t calls,
                       uint64_t gain, double seconds)
{
    const double whole = file->model->duration_s;
    file->out->bytes = bytes;
    file->out->calls = calls;
    file->out->gain_calls = gain;
    file->out->seconds = seconds;
    file->out->share = whole > 0 ? seconds / whole : 0;
    if (file->out->share > 1)
        file->out->share = 1;
    file->out->rank = file->out->share;
    return seconds >= TIDE_SECONDS_LEAST && seconds * TIDE_TIME_PARTS >= whole;
}

/* --- Leaks --------------------------------------------------------------------------- */

/* Of KIND, LEAST bytes, and one of PEAK_PARTS parts of the peak. */
static bool is_leak(const struct case_file *file, enum tide_leak_kind kind,
                    uint64_t least, uint64_t peak_parts)
{
    const struct tide_survival *const left = &file->subject->left;
    /* Processes that come one after the other do not hold it all at once. */
    const bool at_once =
        left->processes <= 1 || left->bytes <= file->subject->peak_bytes;
    const uint64_t size = at_once ? left->bytes : file->subject->peak_bytes;
    if (!file->subjects->ended_well || left->blocks == 0 || left->bytes < least ||
        !is_part(left->bytes, file->heap->live_bytes, 100) ||
        !is_part(size, file->heap->peak_bytes, peak_parts))
        return false;
    const struct tide_leak leak = tide_leak_judge(file->model, left);
    file->out->leak = leak;
    if (leak.ended && (left->bytes < TIDE_LEFT_LEAST ||
                       !is_part(size, file->heap->peak_bytes, TIDE_LEFT_PARTS)))
        return false;
    saves_bytes(file, left->bytes, left->blocks, file->subject->left_at_peak);
    file->out->gain_at_most = file->subject->left_at_peak_at_most;
    file->out->rank = share_of(size, file->peak);
    file->out->stands_out = file->subjects->nearly_tidy && !file->subject->may_be_layer;
    return leak.kind == kind;
}

/* Does what it never freed stand out?  In a program that tidies up, and where the others leave
 * little: then it is a good part of all that is left. */
static bool stands_out(const struct case_file *file)
{
    const uint64_t all = file->subjects->left_bytes;
    const uint64_t own = file->subject->left.bytes;
    return file->subjects->nearly_tidy ||
           (!file->subject->may_be_layer && is_part(own, all, 4) &&
            (all <= own || all - own <= file->heap->peak_bytes / TIDE_CALLS_PARTS));
}

/* Is what it never freed lost, and not only kept until the end?  Either nearly all others
 * free what they make, or it frees most blocks of its own and not these, or the run was
 * so long that what grows in it is a burden. */
static bool is_lost(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    if (file->model->duration_s >= TIDE_LONG_S)
        return true;
    return !subject->may_be_layer &&
           (stands_out(file) || subject->freed_calls >= subject->calls / 2);
}

static bool find_leak_growing(const struct case_file *file)
{
    const bool stands_out =
        file->subjects->tidy || file->model->duration_s >= TIDE_LONG_S;
    const uint64_t peak_parts = stands_out ? 1000 : 100;
    return is_leak(file, TIDE_LEAK_GROWING, 1 * TIDE_KIB, peak_parts) && is_lost(file);
}

static bool find_leak_per_thread(const struct case_file *file)
{
    return is_leak(file, TIDE_LEAK_PER_THREAD, 1 * TIDE_KIB, 100) && is_lost(file);
}

/* Is it no buffer that a program makes when it starts and means to keep?  Many blocks were
 * made before it, and all others are freed; or it is so large that it is worth a look. */
static bool is_no_buffer(const struct case_file *file)
{
    const struct tide_survival *const left = &file->subject->left;
    const uint32_t slices = left->slices[TIDE_LIFE_BIRTHS];
    const uint64_t part = slices ? (uint64_t)__builtin_ctz(slices) : 0;
    const uint64_t before = part * (file->heap->alloc_calls / TIDE_LIFE_SLICES);
    return (file->subjects->tidy && before >= TIDE_BEFORE_LEAST) ||
           (stands_out(file) && left->bytes >= 1 * TIDE_MIB &&
            is_part(left->bytes, file->heap->peak_bytes, 4));
}

static bool find_leak_once(const struct case_file *file)
{
    const uint32_t first_part = 1;
    return file->subject->left.slices[TIDE_LIFE_BIRTHS] != first_part &&
           is_no_buffer(file) &&
           is_leak(file, TIDE_LEAK_ONCE, TIDE_LEFT_LEAST, TIDE_LEFT_PARTS);
}

static bool find_leak(const struct case_file *file)
{
    return is_no_buffer(file) &&
           is_leak(file, TIDE_LEAK_SOME, TIDE_LEFT_LEAST, TIDE_LEFT_PARTS);
}

/* A program that was killed, or whose end is not in the trace, has lost nothing: but what
 * grew steadily until then is news. */
static bool find_growing(const struct case_file *file)
{
    const struct tide_survival *const held = &file->subject->held;
    if (held->bytes < 1 * TIDE_MIB ||
        !is_part(held->bytes, file->heap->peak_bytes, TIDE_CALLS_PARTS))
        return false;
    file->out->leak = tide_leak_judge(file->model, held);
    saves_bytes(file, held->bytes, held->blocks,
                held->bytes < file->subject->peak_bytes ? held->bytes
                                                        : file->subject->peak_bytes);
    return file->out->leak.kind == TIDE_LEAK_GROWING && !file->out->leak.ended;
}

/* --- Calls --------------------------------------------------------------------------- */

static bool find_growth_by_realloc(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    if (subject->copied_calls < 100 || subject->copied_bytes < 1 * TIDE_MIB)
        return false;
    return saves_time(file, subject->copied_bytes, subject->copied_calls,
                      subject->crept_calls,
                      (double)subject->copied_calls * TIDE_PAIR_S +
                          (double)subject->copied_bytes / TIDE_COPY_BYTES_PER_S);
}

static bool find_growth_by_steps(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    if (subject->step_calls < 1000 ||
        !is_part(subject->step_calls, file->heap->alloc_calls, TIDE_CALLS_PARTS))
        return false;
    return saves_time(file, subject->step_bytes, subject->step_calls,
                      subject->step_calls,
                      (double)subject->step_calls * TIDE_PAIR_S +
                          (double)subject->step_bytes / 2 / TIDE_COPY_BYTES_PER_S);
}

static bool find_growth(const struct case_file *file)
{
    return find_growth_by_realloc(file) || find_growth_by_steps(file);
}

static bool find_churn(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const uint64_t calls = subject->temporary_calls;
    if (calls < 1000 || !is_part(calls, file->heap->alloc_calls, TIDE_CALLS_PARTS))
        return false;
    const bool most = calls >= 50000 && is_part(calls, file->heap->alloc_calls, 2);
    return saves_time(file, subject->temporary_bytes, calls, calls,
                      (double)calls * TIDE_PAIR_S) ||
           most;
}

static bool find_pool(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const uint64_t calls = subject->equal_calls;
    const bool recycled = calls / 10 >= subject->equal_blocks &&
                          subject->freed_calls >= subject->calls / 10 * 9;
    if (calls < 10000 || !recycled || calls < subject->calls / 2 ||
        subject->temporary_calls > subject->calls / 2 ||
        !is_part(calls, file->heap->alloc_calls, TIDE_CALLS_PARTS))
        return false;
    return saves_time(file, subject->bytes, calls, calls - subject->equal_blocks,
                      (double)calls * TIDE_PAIR_S);
}

static bool find_foreign_free(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const uint64_t calls = subject->foreign_calls;
    if (calls < 1000 || calls < subject->freed_calls / 2 ||
        !is_part(calls, file->heap->free_calls, TIDE_CALLS_PARTS))
        return false;
    return saves_time(file, subject->foreign_bytes, calls, calls,
                      (double)calls * TIDE_FOREIGN_S);
}

/* Blocks come and go: nearly all are freed, and few are there at once.  What realloc makes
 * longer is one block, as often as it does. */
static bool comes_and_goes(const struct tide_subject *subject)
{
    return subject->freed_calls >= subject->calls - subject->calls / 10 &&
           subject->freed_bytes >= subject->bytes - subject->bytes / 10 &&
           subject->most_bytes <= subject->bytes / 10 &&
           subject->moved_calls <= subject->calls / 2;
}

bool tide_rule_turns_over(const struct tide_model *model)
{
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    return heap->peak_bytes > 0 &&
           heap->allocated_bytes / TIDE_TURNOVER_PEAKS >= heap->peak_bytes;
}

bool tide_rule_calls_much(const struct tide_model *model, uint64_t calls)
{
    const double seconds = (double)calls * TIDE_PAIR_S;
    return calls >= TIDE_TURNOVER_CALLS ||
           (seconds >= TIDE_SECONDS_LEAST &&
            seconds * TIDE_TIME_PARTS >= model->duration_s);
}

/* By calls when these take time or are very many; by bytes when the whole run allocates
 * many times what it holds, and this is a tenth of it. */
static bool find_turnover(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const struct tide_summary *const heap = file->heap;
    const uint64_t calls = subject->freed_calls;
    if (calls < 100 || !comes_and_goes(subject))
        return false;
    saves_time(file, subject->freed_bytes, calls, calls, (double)calls * TIDE_PAIR_S);
    const bool by_calls = calls >= 1000 && tide_rule_calls_much(file->model, calls) &&
                          is_part(calls, heap->alloc_calls, TIDE_TURNOVER_PARTS);
    const bool by_bytes =
        subject->freed_bytes >= (uint64_t)TIDE_TURNOVER_MIB * TIDE_MIB &&
        tide_rule_turns_over(file->model) &&
        is_part(subject->freed_bytes, heap->allocated_bytes, TIDE_CALLS_PARTS);
    const double share = share_of(subject->freed_bytes, heap->allocated_bytes);
    /* The more a function has part in, the less it says. */
    const double bytes_rank =
        TIDE_TURNOVER_WORTH * share * (subject->wide ? (1 - share) * (1 - share) : 1);
    if (by_bytes && bytes_rank > file->out->rank)
        file->out->rank = bytes_rank;
    return by_calls || by_bytes;
}

/* --- Bytes --------------------------------------------------------------------------- */

/* It held more at once than the whole process ever had in memory: the rest of it was not
 * touched by then. */
static bool is_untouched(const struct case_file *file)
{
    const uint64_t resident = tide_model_resident_most(file->model);
    const uint64_t most = file->subject->stacks == 1 ? file->subject->most_bytes
                                                     : file->subject->peak_bytes;
    if (resident == 0 || most <= resident)
        return false;
    const uint64_t untouched = most - resident;
    return untouched >= 16 * TIDE_MIB && is_part(untouched, most, 2) &&
           saves_bytes(file, most, file->subject->calls, untouched);
}

static bool find_oversized(const struct case_file *file)
{
    return file->subject->space == TIDE_IN_HEAP && is_untouched(file);
}

/* Who maps more than he needs takes addresses, not memory: nothing to save, but good to know
 * where it is most of the peak. */
static bool find_reserved(const struct case_file *file)
{
    if (file->subject->space != TIDE_IN_MMAP || !is_untouched(file) ||
        !is_part(file->out->bytes, file->peak, 4))
        return false;
    file->out->share = file->out->rank = 0;
    return true;
}

static bool find_late_free(const struct case_file *file)
{
    const struct tide_hold *const late = &file->subject->late;
    const double seconds = late->until_s - late->from_s;
    return seconds >= 1 && seconds >= file->model->duration_s / 4 &&
           late->bytes >= 1 * TIDE_MIB && is_part(late->bytes, file->peak, 10) &&
           saves_bytes(file, late->bytes, late->blocks, late->bytes);
}

static bool find_tiny(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const uint64_t blocks = subject->peak_blocks;
    const uint64_t waste = subject->peak_slack;
    if (blocks < 10000 || subject->peak_bytes / blocks > 64 || waste < 256 * TIDE_KIB ||
        !is_part(waste, subject->peak_bytes + waste, 4) ||
        !is_part(waste, file->heap->peak_usable_bytes, 20))
        return false;
    saves_bytes(file, subject->peak_bytes, blocks, waste);
    file->out->share = share_of(waste, file->heap->peak_usable_bytes);
    file->out->rank = file->out->share;
    return true;
}

static bool find_start_up(const struct case_file *file)
{
    const struct tide_hold *const hold = &file->subject->start_up;
    return file->model->duration_s >= 1 && hold->bytes >= 1 * TIDE_MIB &&
           is_part(hold->bytes, file->peak, 4) &&
           saves_bytes(file, hold->bytes, hold->blocks, hold->bytes);
}

static bool find_peak_owner(const struct case_file *file)
{
    const struct tide_subject *const subject = file->subject;
    const uint64_t least = (subject->wide ? 4 : 8) * TIDE_MIB;
    return subject->peak_bytes >= least &&
           is_part(subject->peak_bytes, file->peak, 4) &&
           saves_bytes(file, subject->peak_bytes, subject->peak_blocks,
                       subject->peak_bytes);
}

/* --- All ----------------------------------------------------------------------------- */

static const struct rule {
    const char *word;
    bool (*find)(const struct case_file *file);
    enum tide_question question;
    double worth;
} RULES[TIDE_FOUND_KINDS] = {
    [TIDE_FOUND_LEAK_GROWING] = {"leak_growing", find_leak_growing, TIDE_ASK_LOST, 4},
    [TIDE_FOUND_LEAK_PER_THREAD] = {"leak_per_thread", find_leak_per_thread,
                                    TIDE_ASK_LOST, 2},
    [TIDE_FOUND_LEAK_ONCE] = {"leak_once", find_leak_once, TIDE_ASK_LOST, 1},
    [TIDE_FOUND_LEAK] = {"leak", find_leak, TIDE_ASK_LOST, 1},
    [TIDE_FOUND_GROWING] = {"growing", find_growing, TIDE_ASK_LOST, 2},
    [TIDE_FOUND_OVERSIZED] = {"oversized", find_oversized, TIDE_ASK_STANDS, 0.5},
    [TIDE_FOUND_RESERVED] = {"reserved", find_reserved, TIDE_ASK_STANDS, 0},
    [TIDE_FOUND_LATE_FREE] = {"late_free", find_late_free, TIDE_ASK_STANDS, 1},
    [TIDE_FOUND_TINY] = {"tiny", find_tiny, TIDE_ASK_STANDS, 1},
    [TIDE_FOUND_START_UP] = {"start_up", find_start_up, TIDE_ASK_STANDS, 0.5},
    [TIDE_FOUND_PEAK_OWNER] = {"peak_owner", find_peak_owner, TIDE_ASK_STANDS, 0.5},
    [TIDE_FOUND_GROWTH] = {"growth", find_growth, TIDE_ASK_CHURNS, 1.5},
    [TIDE_FOUND_CHURN] = {"churn", find_churn, TIDE_ASK_CHURNS, 1.5},
    [TIDE_FOUND_POOL] = {"pool", find_pool, TIDE_ASK_CHURNS, 1},
    [TIDE_FOUND_FOREIGN_FREE] = {"foreign_free", find_foreign_free, TIDE_ASK_CHURNS, 1},
    [TIDE_FOUND_TURNOVER] = {"churn", find_turnover, TIDE_ASK_CHURNS, 1},
};

const char *tide_finding_word(enum tide_finding_kind kind)
{
    return RULES[kind].word;
}

enum tide_question tide_rule_question(enum tide_finding_kind kind)
{
    return RULES[kind].question;
}

double tide_rule_worth(enum tide_finding_kind kind)
{
    return RULES[kind].worth;
}

bool tide_rule_finds(enum tide_finding_kind kind, const struct tide_model *model,
                     const struct tide_subjects *subjects,
                     const struct tide_subject *subject, struct tide_verdict_on *out)
{
    const struct case_file file = {
        .model = model,
        .subjects = subjects,
        .subject = subject,
        .heap = &model->summary[TIDE_IN_HEAP],
        .peak = model->summary[subject->space].peak_bytes,
        .out = out,
    };
    *out = (struct tide_verdict_on){0};
    const bool any_space = kind == TIDE_FOUND_RESERVED || kind == TIDE_FOUND_PEAK_OWNER;
    if (subject->wide &&
        (subject->question != RULES[kind].question ||
         (kind != TIDE_FOUND_PEAK_OWNER && kind != TIDE_FOUND_TURNOVER)))
        return false;
    if ((!any_space && subject->space != TIDE_IN_HEAP) || !RULES[kind].find(&file))
        return false;
    if (subject->rest)
        out->rank /= 2; /* what explains something whole comes first */
    return true;
}

uint64_t tide_rule_weight(enum tide_finding_kind kind, const struct tide_site *site)
{
    switch (kind) {
    case TIDE_FOUND_LEAK_GROWING:
    case TIDE_FOUND_LEAK_PER_THREAD:
    case TIDE_FOUND_LEAK_ONCE:
    case TIDE_FOUND_LEAK:
    case TIDE_FOUND_GROWING:
        return site->live_bytes > 0 ? (uint64_t)site->live_bytes : 0;
    case TIDE_FOUND_GROWTH:
        return site->more.copied_calls ? site->more.copied_calls : site->calls;
    case TIDE_FOUND_CHURN:
        return site->temporary_calls;
    case TIDE_FOUND_POOL:
        return site->calls;
    case TIDE_FOUND_TURNOVER:
        return site->bytes;
    case TIDE_FOUND_FOREIGN_FREE:
        return site->more.foreign_calls;
    case TIDE_FOUND_TINY:
    case TIDE_FOUND_PEAK_OWNER:
        return site->peak_bytes > 0 ? (uint64_t)site->peak_bytes : 0;
    case TIDE_FOUND_OVERSIZED:
    case TIDE_FOUND_RESERVED:
    case TIDE_FOUND_LATE_FREE:
    case TIDE_FOUND_START_UP:
    case TIDE_FOUND_KINDS:
    default:
        return site->most_bytes;
    }
}
