/* model/findings_parts.h - what the files of findings share.
 *
 * For: findings*.c, tests/.  Sites are summed up by the function to blame for them: a
 * subject.  Three questions are asked of each: is something lost, what stands at the peak,
 * what churns?  Of the rules that answer one of them the first one's word counts.  docs/findings.md lists
 * the rules and their thresholds.
 */
#ifndef TIDE_MODEL_FINDINGS_PARTS_H
#define TIDE_MODEL_FINDINGS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "model/findings.h"
#include "model/leak.h"
#include "model/model.h"
#include "model/path.h"

#define TIDE_NO_SUBJECT UINT32_MAX

/* What is asked of each subject.  Of the rules that answer one the first counts. */
enum tide_question { TIDE_ASK_LOST, TIDE_ASK_STANDS, TIDE_ASK_CHURNS, TIDE_QUESTIONS };

/* --- findings_blame.c --- */

/* Who is to blame for a stack. */
struct tide_blame {
    size_t call; /* the index in the path at hand */
    bool grows;  /* the blocks are those of a container that outgrew the one before */
    bool loader; /* run by the loader, before main */
};

/* What each function is, looked at once.  All zeros is ready for use. */
struct tide_blamer {
    uint8_t *known; /* owned, per function */
    size_t capacity;
};
void tide_blamer_release(struct tide_blamer *blamer);
/* Of the path at hand. */
enum tide_status tide_blame_path(struct tide_blamer *blamer,
                                 const struct tide_paths *paths,
                                 struct tide_blame *out);

/* Is FUNCTION one that can be blamed at all? */
bool tide_blame_fits(const struct tide_blamer *blamer, const struct tide_paths *paths,
                     uint32_t function);
/* The innermost call of FUNCTION in the path at hand; UINT32_MAX: it has none. */
uint32_t tide_path_call_of(const struct tide_paths *paths, uint32_t function);

/* --- findings_subjects.c --- */

/* Held for long without a change. */
struct tide_hold {
    uint64_t bytes, blocks;
    uint64_t siblings; /* blocks that were freed before */
    uint32_t site; /* that made them; of start_up: not known, there may be several */
    double from_s, until_s;
};

/* One function that makes blocks in one space: the sum of its stacks. */
struct tide_subject {
    uint32_t function; /* in the paths */
    uint32_t space;    /* enum tide_space */
    uint32_t stacks;
    /* With all that it calls, as far as no other wide subject has that: see
     * findings_wide.c.  Only the amounts of QUESTION are known. */
    bool wide;
    bool rest;          /* another wide subject has some of it */
    const char *module; /* all that its functions do, and no finding tells; else NULL */
    bool root;          /* it stands for several who hold much: see findings_root.c */
    enum tide_question question;
    bool explained[TIDE_QUESTIONS]; /* there is a finding */
    bool told;                      /* of all that stands, not only of its slack */
    /* It has no name, and several callers: it may be a layer over malloc, and what
     * becomes of its blocks a matter of theirs. */
    bool may_be_layer;
    uint64_t calls, bytes, freed_calls, freed_bytes;
    uint64_t temporary_calls, temporary_bytes;
    uint64_t foreign_calls, foreign_bytes;
    uint64_t peak_blocks, peak_bytes;
    uint64_t
        peak_slack; /* of the blocks at the peak, as blocks of its stacks have it */
    uint64_t
        most_bytes; /* at once; if its stacks had theirs at different times: more */
    uint64_t first_ticks, last_ticks;
    /* Births by realloc, and of these in small steps: see tide_key_more. */
    uint64_t moved_calls;
    uint64_t crept_calls, crept_bytes, copied_calls, copied_bytes;
    /* Births by containers that grow: see tide_blame. */
    uint64_t step_calls, step_bytes;
    /* Of stacks whose blocks have one size: calls, and how many were there at once. */
    uint64_t equal_calls, equal_blocks;
    /* Never freed, and neither suppressed nor made before main. */
    struct tide_survival left;
    struct tide_survival held; /* the same, by processes that broke off */
    uint64_t left_at_peak;     /* of these bytes: stood there at the peak, ... */
    bool left_at_peak_at_most; /* ... or fewer: others may have, that were freed */
    struct tide_hold late;     /* the heaviest */
    struct tide_hold start_up; /* made at the start and held until the end */
};

/* What one site has to do with a subject. */
struct tide_subject_site {
    uint32_t subject;
    uint32_t line; /* of the subject's function; 0: unknown */
    bool left;     /* what it never freed counts */
    bool held;     /* so does what it held when its process broke off */
};

struct tide_subjects {
    struct tide_subject *list; /* owned */
    size_t count, capacity;
    struct tide_subject_site *of_site; /* owned: of each site */
    uint32_t *wide[TIDE_QUESTIONS];    /* owned; of each site: the wide subject, or
                                       TIDE_NO_SUBJECT; NULL: there are none */
    bool ended_well;                   /* what is live may be called leaked */
    struct tide_blamer blamer;
    bool tidy; /* most functions have freed what they made: who has not stands out */
    bool
        nearly_tidy; /* the others keep next to nothing, or what was made at the start */
    uint64_t left_bytes; /* by all, and not made at the start */
};

/* Sum up the sites of MODEL; SUPPRESSED: per site, or NULL. */
enum tide_status tide_subjects_gather(struct tide_subjects *subjects,
                                      const struct tide_model *model,
                                      struct tide_paths *paths, const bool *suppressed);
void tide_subjects_release(struct tide_subjects *subjects);

/* Does SITE count for SUBJECT? */
bool tide_subject_has(const struct tide_subjects *subjects, uint32_t subject,
                      uint32_t site);

/* The size that all blocks of SITE have; 0: they differ. */
uint64_t tide_site_size(const struct tide_site *site);
/* What SITE never freed; without evidence no more than how much. */
struct tide_survival tide_site_left(const struct tide_model *model, uint32_t site);

/* Add what SITE ever did to SUBJECT's sums. */
void tide_subject_add_site(struct tide_subject *subject, const struct tide_site *site);

/* --- findings_tree.c --- */

/* What a function has part in, of what is summed up at the moment. */
struct tide_reach {
    uint64_t left;  /* all of it */
    uint64_t news;  /* the second sum */
    uint64_t whole; /* the user's */
    uint64_t own;   /* the user's */
    uint32_t depth; /* from the outer end, on the stack that it was met on last */
};

struct tide_node_sum {
    uint64_t amount, news;
};
struct tide_node_links {
    uint32_t child, next; /* 0: none */
};

/* All stacks, to sum up what is known of them by the functions that they go through. */
struct tide_stack_tree {
    const struct tide_stacks *stacks; /* borrowed */
    const struct tide_paths *paths;   /* borrowed; all stacks of sites were walked */
    struct tide_node_links *links;    /* owned, per node */
    struct tide_node_sum *sums;       /* owned, per node */
    uint8_t *has;      /* owned, per node: the function that was marked */
    uint32_t *on_path; /* owned, per function: its calls on the stack at hand */
    uint32_t depth;    /* the calls on the stack at hand */
};
enum tide_status tide_stack_tree_init(struct tide_stack_tree *tree,
                                      const struct tide_model *model,
                                      const struct tide_paths *paths);
void tide_stack_tree_release(struct tide_stack_tree *tree);

/* Begin sums, ... */
void tide_stack_tree_clear(struct tide_stack_tree *tree);
/* ... add what STACK has, ... */
void tide_stack_tree_add(struct tide_stack_tree *tree, uint32_t stack, uint64_t amount,
                         uint64_t news);
/* ... and put what each function has part in into left and news of REACH. */
void tide_stack_tree_reach(struct tide_stack_tree *tree, struct tide_reach *reach);

/* Ask for the stacks that FUNCTION is on. */
void tide_stack_tree_mark(struct tide_stack_tree *tree, uint32_t function);
bool tide_stack_tree_has(const struct tide_stack_tree *tree, uint32_t stack);

/* --- findings_wide.c --- */

enum tide_amount {
    TIDE_AMOUNT_PEAK_BYTES,
    TIDE_AMOUNT_FREED_BYTES,
    TIDE_AMOUNT_FREED_CALLS,
    TIDE_AMOUNTS,
};
uint64_t tide_site_amount(const struct tide_site *site, enum tide_amount amount);
enum tide_question tide_amount_question(enum tide_amount amount);
/* The whole that a part of AMOUNT must be large of; 0: it is not worth a look. */
uint64_t tide_amount_whole(const struct tide_model *model, enum tide_amount amount);
/* What SITE has of AMOUNT, if that is in no subject that has a finding. */
uint64_t tide_site_untold(const struct tide_subjects *subjects,
                          const struct tide_model *model, uint32_t site,
                          enum tide_amount amount);
/* Add subjects for what nothing explains of AMOUNT in the heap. */
enum tide_status tide_subjects_widen(struct tide_subjects *subjects,
                                     const struct tide_model *model,
                                     struct tide_stack_tree *tree,
                                     enum tide_amount amount);

/* Make room for wide subjects that answer QUESTION. */
enum tide_status tide_subjects_make_wide(struct tide_subjects *subjects,
                                         const struct tide_model *model,
                                         enum tide_question question);

/* Add a wide subject of the heap that answers QUESTION, the last; NULL without memory. */
struct tide_subject *tide_subjects_add_wide(struct tide_subjects *subjects,
                                            enum tide_question question);

/* --- findings_root.c --- */

/* If all that those subjects hold that are OWNERS of the peak is below one function which
 * is a small part of the run, add that as a subject, the last. */
enum tide_status tide_subjects_find_root(struct tide_subjects *subjects,
                                         const struct tide_model *model,
                                         struct tide_stack_tree *tree,
                                         const bool *owners);

/* --- findings_module.c --- */

/* If no finding explains half of AMOUNT, and one library has a third of it, add that as a
 * subject.  Wide subjects for AMOUNT were added. */
enum tide_status tide_subjects_add_module(struct tide_subjects *subjects,
                                          const struct tide_model *model,
                                          const struct tide_paths *paths,
                                          enum tide_amount amount);

/* --- findings_hold.c --- */

/* Fill late and start_up of all subjects. */
void tide_subjects_hold(struct tide_subjects *subjects, const struct tide_model *model);

/* --- findings_rules.c --- */

enum tide_finding_kind {
    TIDE_FOUND_LEAK_GROWING,
    TIDE_FOUND_LEAK_PER_THREAD,
    TIDE_FOUND_LEAK_ONCE,
    TIDE_FOUND_LEAK,
    TIDE_FOUND_GROWING,
    TIDE_FOUND_OVERSIZED,
    TIDE_FOUND_RESERVED,
    TIDE_FOUND_LATE_FREE,
    TIDE_FOUND_TINY,
    TIDE_FOUND_START_UP,
    TIDE_FOUND_PEAK_OWNER,
    TIDE_FOUND_GROWTH,
    TIDE_FOUND_CHURN,
    TIDE_FOUND_POOL,
    TIDE_FOUND_FOREIGN_FREE,
    TIDE_FOUND_TURNOVER, /* churn as well: its blocks live longer, or are large */
    TIDE_FOUND_KINDS,
};
const char *tide_finding_word(enum tide_finding_kind kind); /* "leak_growing" */

/* What a rule has to say of a subject. */
struct tide_verdict_on {
    uint64_t bytes, calls;           /* what it is about */
    uint64_t gain_bytes, gain_calls; /* what a cure saves, as an estimate */
    bool gain_at_most;               /* it may be less */
    double share;                    /* the gain, of the whole that it is part of */
    double rank; /* for the order: the share; of a leak, all that is left of the peak */
    double seconds;        /* for rules of time: what it costs */
    struct tide_leak leak; /* for leaks */
    bool stands_out;       /* of leaks: others leave next to nothing */
};

/* Does the rule of KIND speak against SUBJECT? */
bool tide_rule_finds(enum tide_finding_kind kind, const struct tide_model *model,
                     const struct tide_subjects *subjects,
                     const struct tide_subject *subject, struct tide_verdict_on *out);
enum tide_question tide_rule_question(enum tide_finding_kind kind);
/* How much SITE has part in a finding of KIND: the one that has most stands for it. */
uint64_t tide_rule_weight(enum tide_finding_kind kind, const struct tide_site *site);
/* Does the run allocate many times what it ever holds? */
bool tide_rule_turns_over(const struct tide_model *model);
/* Are so many CALLS worth a thought, by the time that they take or by themselves? */
bool tide_rule_calls_much(const struct tide_model *model, uint64_t calls);
/* For the order of findings: a share of one kind is worth more than of another. */
double tide_rule_worth(enum tide_finding_kind kind);

/* --- findings_names.c, findings_lines.c --- */

struct tide_found;

/* Add NAME, if it is long without parameters, and still then without template arguments. */
void tide_found_name(struct tide_text *out, const char *name);

/* Add what FUNCTION maps, if it is the heap of a language's runtime. */
bool tide_found_heap(struct tide_text *out, const struct tide_function *function);
/* Add the call at AT of the path at hand, and what other lines of its function have of what
 * was FOUND: "parse (parse.c:12)", "parse (parse.c:12; 2 other lines have 1.0 MiB in 5 blocks)". */
void tide_found_who(struct tide_text *out, const struct tide_paths *paths, size_t at,
                    const struct tide_found *found);

/* What stood at the peak, and what stood beside it. */
struct tide_standing {
    bool known;  /* when it did: */
    bool to_end; /* of the run */
    double until_s;
    /* The functions that allocate most of it, if it is wide, or, where it churns, that have
     * findings of their own; else who holds most beside
     * it.  No bytes: there is none. */
    struct tide_holder {
        const char *name;
        uint64_t bytes;
    } parts[2], next;
};

enum { TIDE_CALLERS_SAID = 3 };
struct tide_caller {
    const char *name;
    double share; /* of what was found */
};

struct tide_found {
    enum tide_finding_kind kind;
    uint32_t subject;
    uint32_t site;  /* the one that has most part in it, at the heaviest line */
    uint32_t lines; /* of the function, that have part in it */
    uint64_t other_blocks, other_bytes; /* those but the heaviest line's */
    uint64_t size_least, size_most;     /* of its blocks; 0: not known of all */
    uint64_t page_bytes;                /* in blocks of whole pages */
    struct tide_verdict_on verdict;
    double score;
    struct tide_standing standing;                 /* of peak_owner */
    struct tide_caller callers[TIDE_CALLERS_SAID]; /* on whose behalf */
    uint32_t caller_count;
    bool callers_below; /* they are further out, and it is below them */
};

/* Fill the site and the lines of what was FOUND. */
enum tide_status tide_found_lines(const struct tide_model *model,
                                  const struct tide_subjects *subjects,
                                  struct tide_found *found);

/* How much SITE has part in what was FOUND. */
uint64_t tide_found_weight(const struct tide_model *model,
                           const struct tide_subjects *subjects, uint32_t site,
                           const struct tide_found *found);

/* --- findings_callers.c --- */

/* Fill the callers of what was FOUND. */
enum tide_status tide_found_callers(const struct tide_model *model,
                                    const struct tide_subjects *subjects,
                                    struct tide_stack_tree *tree,
                                    struct tide_paths *paths, struct tide_found *found);

/* --- findings_numbers.c --- */

/* Add "12 ms", "1.5 s". */
void tide_found_seconds(struct tide_text *text, double seconds);
/* Add "8 %", and below one "0.3 %". */
void tide_found_percent(struct tide_text *text, double share);
/* Are both times the same, as far as numbers show? */
bool tide_found_same_time(struct tide_text *text, double first_s, double last_s);
/* Add ", made from 1.0 s to 2.0 s" or ", made at 1.0 s". */
void tide_found_times(struct tide_text *text, double first_s, double last_s);

/* --- findings_stand.c --- */

/* Fill the standing of what was FOUND, and lower what it saves to what is certain. */
void tide_found_standing(const struct tide_model *model,
                         const struct tide_subjects *subjects,
                         struct tide_found *found);
/* Fill who allocates most of what was FOUND, if that is wide, else who holds most beside it
 * at the peak of the same space: not who has a finding that gives other bytes of it. */
enum tide_status tide_found_others(const struct tide_model *model,
                                   const struct tide_subjects *subjects,
                                   const struct tide_paths *paths,
                                   struct tide_found *found);

/* Note in what was FOUND to churn, if that is wide, that it includes most of the OTHER. */
void tide_found_inside(const struct tide_model *model,
                       const struct tide_subjects *subjects,
                       const struct tide_paths *paths, const struct tide_found *other,
                       struct tide_found *found);

/* --- findings_words.c --- */

/* Add what was FOUND to OUT, in sentences.  WHO is to blame, by name and line. */
void tide_found_words(struct tide_text *out, const struct tide_model *model,
                      const struct tide_subject *subject,
                      const struct tide_found *found, const char *who);

/* --- findings_frees.c --- */

struct tide_bad_frees;
enum { TIDE_FOUND_FREES_MAX = 3 };

/* Add to OUT, which has room, what is wrong with FREES (may be NULL). */
enum tide_status tide_found_frees(const struct tide_model *model,
                                  const struct tide_bad_frees *frees,
                                  struct tide_blamer *blamer, struct tide_paths *paths,
                                  struct tide_findings *out);

#endif
