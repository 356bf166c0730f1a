/* collect/unrecorded.c - the account of programs that were not recorded, though they should be. */
#include "collect/unrecorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/procfs.h"
#include "collect/strangers.h"

#define TIDE_MS (1000ull * 1000)
enum {
    TIDE_OPEN_MOST = 4096,
    TIDE_LOOK_MS_LEAST = 20,
    TIDE_LOOK_MS_MOST = 1000,
    TIDE_UNSEEN_S = 2, /* who was not named, and not seen since then, has ended */
};

void tide_unrecorded_init(struct tide_unrecorded *account)
{
    account->open.item_bytes = sizeof(struct tide_open_program);
    account->rows.item_bytes = sizeof(struct tide_unrecorded_row);
}

void tide_unrecorded_release(struct tide_unrecorded *account)
{
    struct tide_open_program *const open = account->open.items;
    struct tide_unrecorded_row *const rows = account->rows.items;
    for (size_t i = 0; i < account->open.count; i++)
        free(open[i].name);
    for (size_t i = 0; i < account->rows.count; i++)
        free(rows[i].name);
    free(open);
    free(rows);
}

/* --- Settle -------------------------------------------------------------------------- */

/* Why it was not recorded, as far as can be told without it. */
static const char *reason_of(const struct tide_open_program *program)
{
    const uint32_t missing =
        program->flags & (TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_LIBRARY);
    if (missing == TIDE_EXEC_NO_LIBRARY) /* so LD_PRELOAD was left out by us */
        return "libtidemark.so is out of its reach, as in a chroot or in a folder closed "
               "to its user";
    if (program->reason)
        return program->reason;
    if (missing)
        return TIDE_STRANGER_WITHOUT_PRELOAD;
    if (program->flags & TIDE_EXEC_SANDBOX)
        return "a sandbox, seccomp, would kill it for what the recorder does";
    if (program->flags & TIDE_EXEC_NO_SESSION)
        return "TIDEMARK_SESSION in its environment is not that of this run";
    if (program->flags & TIDE_EXEC_NO_RIGHT)
        return TIDE_STRANGER_OF_ANOTHER_USER;
    if (program->flags & TIDE_EXEC_NO_SOCKET)
        return "the collector is out of its reach, as in a chroot or behind a private "
               "/tmp";
    const char *const reason = tide_stranger_file_reason(program->name);
    return reason
               ? reason
               : "it was never heard of: killed as it began, or shut in by a sandbox";
}

static bool is_wanted(const struct tide_collector *collector, const char *name)
{
    const char *const targets = collector->choice.targets;
    const char *const slash = strrchr(name, '/');
    char exe[TIDE_EXEC_NAME_BYTES];
    char comm[TIDE_COMM_BYTES] = "";
    if (!targets)
        return true;
    (void)strncpy(exe, name, sizeof(exe) - 1);
    exe[sizeof(exe) - 1] = '\0';
    (void)strncpy(comm, slash ? slash + 1 : name, sizeof(comm) - 1);
    const struct tide_image image = {.exe = exe};
    return tide_choice_matches(targets, &image, comm);
}

static void drop(struct tide_unrecorded *account, size_t index)
{
    struct tide_open_program *const open = account->open.items;
    free(open[index].name);
    open[index] = open[--account->open.count];
}

/* As /proc would name it: without links. */
static char *full_name(const char *name)
{
    char *const path = *name == '/' ? realpath(name, NULL) : NULL;
    return path ? path : strdup(*name ? name : "?");
}

/* It is counted for good. */
static void settle(struct tide_collector *collector, size_t index)
{
    struct tide_unrecorded *const account = &collector->unrecorded;
    const struct tide_open_program *const open = account->open.items;
    const struct tide_open_program *const program = &open[index];
    char *const name = full_name(program->name);
    if (name && is_wanted(collector, name)) {
        const struct tide_unrecorded_facts facts = {
            .pid = program->pid,
            .begin_ticks = program->begin,
            .end_ticks = program->end,
            .seen_only = program->seen_only,
            .name = name,
            .reason = reason_of(program),
        };
        account->at_least |= program->seen_only;
        tide_unrecorded_count(account, name, facts.reason,
                              program->end ? program->end - program->begin : 0);
        pthread_mutex_lock(&collector->lock);
        tide_notes_out_unrecorded(&collector->notes, &facts);
        pthread_mutex_unlock(&collector->lock);
    }
    free(name);
    drop(account, index);
}

/* --- Beginnings and hellos ------------------------------------------------------------- */

/* The number of a pid namespace is not known of all who live in one. */
static bool is_same(uint32_t pid, uint64_t space, uint32_t other, uint64_t other_space)
{
    return pid == other && (space == other_space || !space != !other_space);
}

static struct tide_open_program *find_open(struct tide_unrecorded *account,
                                           uint32_t pid, uint64_t space)
{
    struct tide_open_program *const open = account->open.items;
    for (size_t i = account->open.count; pid && i-- > 0;) {
        if (!open[i].end && is_same(open[i].pid, open[i].pid_space, pid, space))
            return &open[i];
    }
    return NULL;
}

static size_t index_of(const struct tide_unrecorded *account,
                       const struct tide_open_program *program)
{
    return (size_t)(program - (const struct tide_open_program *)account->open.items);
}

/* One that runs NAME, and of which it was not told that it is PID. */
static struct tide_open_program *adopt(struct tide_unrecorded *account, uint32_t pid,
                                       const char *name)
{
    struct tide_open_program *const open = account->open.items;
    for (size_t i = 0; i < account->open.count; i++) {
        if (open[i].pid || strcmp(open[i].name, name) != 0)
            continue;
        open[i].pid = pid;
        open[i].watched = true;
        return &open[i];
    }
    return NULL;
}

void tide_unrecorded_heard(struct tide_unrecorded *account, uint32_t pid,
                           uint64_t pid_space)
{
    struct tide_heard *const heard =
        &account->heard[account->heard_count++ % TIDE_HEARD_KEPT];
    *heard =
        (struct tide_heard){.pid = pid, .pid_space = pid_space, .ticks = tide_ticks()};
    if (!pid_space)
        (void)tide_procfs_program(pid, &heard->device, &heard->inode);
    const struct tide_open_program *const open = find_open(account, pid, pid_space);
    if (open)
        drop(account, index_of(account, open));
}

static bool was_heard(const struct tide_unrecorded *account,
                      const struct tide_exec_news *news)
{
    for (size_t i = 0; news->pid && i < TIDE_HEARD_KEPT && i < account->heard_count;
         i++) {
        const struct tide_heard *const heard = &account->heard[i];
        if (heard->ticks > news->ticks &&
            is_same(heard->pid, heard->pid_space, news->pid, news->pid_space))
            return true;
    }
    return false;
}

bool tide_unrecorded_is_heard(const struct tide_unrecorded *account, uint32_t pid)
{
    uint64_t device, inode;
    const struct tide_heard *last = NULL;
    for (size_t i = 0; i < TIDE_HEARD_KEPT && i < account->heard_count; i++) {
        const struct tide_heard *const heard = &account->heard[i];
        if (heard->pid == pid && !heard->pid_space &&
            (!last || heard->ticks > last->ticks))
            last = heard;
    }
    return last && last->inode &&
           tide_procfs_program(pid, &device, &inode) == TIDE_PROGRAM_SEEN &&
           last->device == device && last->inode == inode;
}

/* The oldest makes room. */
static void make_room(struct tide_collector *collector)
{
    struct tide_unrecorded *const account = &collector->unrecorded;
    const struct tide_open_program *const open = account->open.items;
    if (account->open.count < TIDE_OPEN_MOST)
        return;
    if (!open->awaited) {
        settle(collector, 0);
        return;
    }
    account->at_least = true;
    drop(account, 0);
}

static struct tide_open_program *open_program(struct tide_collector *collector,
                                              uint32_t pid, char *name)
{
    struct tide_unrecorded *const account = &collector->unrecorded;
    make_room(collector);
    account->changed_ns = tide_ticks_monotonic();
    struct tide_open_program *const program =
        name ? tide_list_add(&account->open) : NULL;
    if (!program) {
        free(name);
        account->at_least = true;
        return NULL;
    }
    program->pid = pid;
    program->name = name;
    program->started = -1;
    program->watched = pid != 0;
    return program;
}

static bool is_followed(const struct tide_collector *collector, uint32_t pid)
{
    const uint32_t follow = collector->choice.follow;
    return follow == TIDE_FOLLOW_ALL ||
           (follow == TIDE_FOLLOW_EXEC && pid == collector->main_pid);
}

/* Was PROGRAM, which was only seen, what NEWS are of? */
static bool was_seen(const struct tide_open_program *program,
                     const struct tide_exec_news *news)
{
    if (!program->seen_only || program->begin < news->ticks)
        return false;
    return news->pid ? program->end && is_same(program->pid, program->pid_space,
                                               news->pid, news->pid_space)
                     : strcmp(program->name, news->name) == 0;
}

/* NEWS are of one that was seen, and has ended already or could not be named: then it is not
 * counted twice. */
static bool tells_of_seen(struct tide_collector *collector,
                          const struct tide_exec_news *news)
{
    struct tide_open_program *const open = collector->unrecorded.open.items;
    for (size_t i = collector->unrecorded.open.count; i-- > 0;) {
        if (!was_seen(&open[i], news))
            continue;
        open[i].seen_only = false;
        open[i].begin = news->ticks;
        if (open[i].end)
            settle(collector, i);
        return true;
    }
    return false;
}

static void begin(struct tide_collector *collector, const struct tide_exec_news *news)
{
    struct tide_unrecorded *const account = &collector->unrecorded;
    struct tide_open_program *program = find_open(account, news->pid, news->pid_space);
    if (was_heard(account, news) || !is_followed(collector, news->pid) ||
        tells_of_seen(collector, news))
        return;
    if (program && !program->seen_only) { /* its pid is another's by now */
        program->end = news->ticks;
        settle(collector, index_of(account, program));
        program = NULL;
    }
    if (!program)
        program = open_program(collector, news->pid, strdup(news->name));
    if (!program)
        return;
    program->seen_only = false;
    program->flags = news->flags;
    program->pid_space = news->pid_space;
    program->begin = news->ticks;
    program->watched = news->pid && !news->pid_space;
    program->awaited = !program->reason && !(news->flags & TIDE_EXEC_HOPELESS);
}

static void forget_failed(struct tide_unrecorded *account,
                          const struct tide_exec_news *news)
{
    const struct tide_open_program *const open = account->open.items;
    for (size_t i = account->open.count; i-- > 0;) {
        if (open[i].pid == news->pid && open[i].begin == news->ticks) {
            drop(account, i);
            return;
        }
    }
}

/* By time; that a call has failed comes after the call. */
static int compare_news(const void *a, const void *b)
{
    const struct tide_exec_news *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return (int)(x->flags & TIDE_EXEC_FAILED) - (int)(y->flags & TIDE_EXEC_FAILED);
}

/* Whose pid was not told is known by the name that /proc will have. */
static void follow_links(struct tide_exec_news *news)
{
    char *const path = full_name(news->name);
    if (path && strlen(path) < sizeof(news->name))
        strcpy(news->name, path); /* NOLINT: it fits */
    free(path);
}

static void take_news(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    struct tide_list taken = collector->execs;
    collector->execs = (struct tide_list){.item_bytes = taken.item_bytes};
    collector->unrecorded.at_least |= collector->execs_lost;
    pthread_mutex_unlock(&collector->lock);
    tide_list_sort(&taken, compare_news);
    struct tide_exec_news *const news = taken.items;
    for (size_t i = 0; i < taken.count; i++) {
        if (!news[i].pid)
            follow_links(&news[i]);
        if (news[i].flags & TIDE_EXEC_FAILED)
            forget_failed(&collector->unrecorded, &news[i]);
        else
            begin(collector, &news[i]);
    }
    free(taken.items);
}

void tide_unrecorded_seen(struct tide_collector *collector, uint32_t pid,
                          const char *name, const char *reason)
{
    struct tide_open_program *program = find_open(&collector->unrecorded, pid, 0);
    if (!program)
        program = adopt(&collector->unrecorded, pid, name);
    if (!program) {
        program = open_program(collector, pid, strdup(name));
        if (!program)
            return;
        program->seen_only = true;
        program->begin = tide_ticks();
    } else if (!strchr(program->name, '/') || strncmp(program->name, "...", 3) == 0) {
        char *const known = strdup(name);
        if (known) {
            free(program->name);
            program->name = known;
        }
    }
    program->reason = reason;
    program->awaited = false;
}

/* --- Ends ------------------------------------------------------------------------------ */

/* When PROGRAM, which is gone, has ended, as its parent knew; else now. */
static uint64_t when_ended(const struct tide_collector *collector,
                           const struct tide_open_program *program)
{
    const struct tide_reaped *const reaped =
        &collector->page->reaped[program->pid % TIDE_REAPED_KEPT];
    const uint64_t ticks =
        atomic_load(&reaped->pid) == program->pid ? atomic_load(&reaped->ticks) : 0;
    const uint64_t now = tide_ticks();
    if (ticks > program->begin && ticks < now)
        return ticks;
    return program->pid == collector->main_pid && collector->main_ended
               ? collector->main_end_ticks
               : now;
}

static bool lives(struct tide_collector *collector, struct tide_open_program *program)
{
    const double started = tide_procfs_started(program->pid);
    if (started < 0 || !tide_procfs_lives(program->pid))
        return false;
    if (program->started < 0) {
        /* An older one than the run is another's, of another namespace. */
        program->watched = started >= tide_clock_began(&collector->clock) ||
                           program->pid == collector->main_pid;
        program->started = started;
    }
    return started <= program->started;
}

/* True: it has ended.  Whoever lives may have children. */
static bool look_at(struct tide_collector *collector, size_t index)
{
    struct tide_open_program *const program =
        &((struct tide_open_program *)collector->unrecorded.open.items)[index];
    const bool gone = program->watched && !lives(collector, program);
    program->gone = gone;
    if (program->watched && !gone)
        tide_strangers_examine(collector, program->pid, program->reason != NULL);
    return gone;
}

static void end(struct tide_collector *collector, size_t index)
{
    struct tide_open_program *const program =
        &((struct tide_open_program *)collector->unrecorded.open.items)[index];
    program->end = when_ended(collector, program);
    program->watched = false;
    program->gone = false;
    if (!program->seen_only) /* else word of it may still come */
        settle(collector, index);
}

/* Who has ended may have said hello before, which still lies in the queue.  So all who
 * have ended are found first, then the queue is emptied, and only then they are counted. */
static void look_at_all(struct tide_collector *collector)
{
    const struct tide_list *const open = &collector->unrecorded.open;
    const uint64_t unseen = TIDE_UNSEEN_S * tide_clock_rate(&collector->clock);
    bool any = false;
    for (size_t i = open->count; i-- > 0;)
        any |= look_at(collector, i);
    if (any)
        tide_handshake_hear_waiting(collector);
    for (size_t i = open->count; i-- > 0;) {
        const struct tide_open_program *const program =
            &((const struct tide_open_program *)open->items)[i];
        if (program->gone)
            end(collector, i);
        else if (!program->pid && tide_ticks() - program->begin > unseen)
            settle(collector, i);
    }
}

void tide_unrecorded_settle(struct tide_collector *collector, bool all)
{
    const struct tide_list *const open = &collector->unrecorded.open;
    take_news(collector);
    look_at_all(collector);
    for (size_t i = open->count; i-- > 0;) {
        const struct tide_open_program *const program =
            &((const struct tide_open_program *)open->items)[i];
        if (all || !program->awaited || !program->watched)
            settle(collector, i);
    }
}

/* The longer nothing has happened, the less often. */
static uint64_t pause_of(const struct tide_unrecorded *account, uint64_t now)
{
    uint64_t ms = (now - account->changed_ns) / TIDE_MS / 4;
    ms = ms < TIDE_LOOK_MS_LEAST ? TIDE_LOOK_MS_LEAST : ms;
    ms = ms > TIDE_LOOK_MS_MOST ? TIDE_LOOK_MS_MOST : ms;
    return (ms + account->open.count) * TIDE_MS;
}

void tide_unrecorded_catch_up(struct tide_collector *collector, uint64_t *next_ns)
{
    struct tide_unrecorded *const account = &collector->unrecorded;
    take_news(collector);
    const uint64_t now = tide_ticks_monotonic(); /* later than what is new */
    if (account->open.count == 0)
        return;
    if (now >= account->next_look_ns) {
        look_at_all(collector);
        account->next_look_ns = now + pause_of(account, now);
    }
    if (account->open.count > 0 && account->next_look_ns < *next_ns)
        *next_ns = account->next_look_ns;
}
