/* collect/strangers.c - programs of a run that are not recorded, though they should be. */
#include "collect/strangers.h"

#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/procfs.h"

enum {
    TIDE_NAMED_MOST = 4,     /* programs that the line names */
    TIDE_PROGRAMS_MOST = 64, /* that are told apart */
    TIDE_KNOWN_MOST = 4096,
    TIDE_CHILDREN_MOST = 64, /* looked at each time */
};

/* --- Remember ------------------------------------------------------------------------ */

static bool is_known(struct tide_strangers *strangers, uint32_t pid, uint64_t inode)
{
    struct tide_strange_process *const list = strangers->known.items;
    for (size_t i = 0; i < strangers->known.count; i++) {
        if (list[i].pid == pid && list[i].inode == inode)
            return true;
    }
    if (strangers->known.count == TIDE_KNOWN_MOST)
        strangers->known.count = 0; /* who is counted twice is long-lived, and rare */
    struct tide_strange_process *const added = tide_list_add(&strangers->known);
    if (added)
        *added = (struct tide_strange_process){pid, inode};
    return !added;
}

static void count_program(struct tide_strangers *strangers, const char *name,
                          const char *reason)
{
    const struct tide_strange_program *const list = strangers->programs.items;
    strangers->count++;
    for (size_t i = 0; i < strangers->programs.count; i++) {
        if (strcmp(list[i].name, name) == 0)
            return;
    }
    if (strangers->programs.count == TIDE_PROGRAMS_MOST)
        return;
    char *const copy = strdup(name);
    struct tide_strange_program *const added =
        copy ? tide_list_add(&strangers->programs) : NULL;
    if (added)
        *added = (struct tide_strange_program){copy, reason};
    else
        free(copy);
}

/* --- Look ------------------------------------------------------------------------------ */

/* PID is a program other than its parent, or than it was: should it have been recorded? */
static void examine(struct tide_collector *collector, uint32_t pid, uint64_t inode)
{
    const char *const reason = tide_stranger_reason(pid, collector->directory);
    if (!reason)
        return;
    struct tide_image image;
    char comm[TIDE_COMM_BYTES];
    tide_procfs_comm(pid, comm);
    tide_procfs_image(pid, &image);
    const char *const targets = collector->choice.targets;
    if ((image.exe || *comm) &&
        (!targets || tide_choice_matches(targets, &image, comm)) &&
        !is_known(&collector->strangers, pid, inode))
        count_program(&collector->strangers, image.exe ? image.exe : comm, reason);
    tide_image_release(&image);
}

/* Say that the program PROCESS has ended: its process is another one now. */
static void mark_left(struct tide_collector *collector, uint32_t process)
{
    pthread_mutex_lock(&collector->lock);
    for (struct tide_target *t = collector->targets; t; t = t->next) {
        if (t->index == process)
            t->left = true;
    }
    pthread_mutex_unlock(&collector->lock);
    tide_collector_kick(collector);
}

static bool is_target(struct tide_collector *collector, uint32_t pid)
{
    pthread_mutex_lock(&collector->lock);
    bool found = false;
    for (const struct tide_target *t = collector->targets; t && !found; t = t->next)
        found = t->pid == pid && !t->gone;
    pthread_mutex_unlock(&collector->lock);
    return found;
}

static void look_at_children(struct tide_collector *collector,
                             const struct tide_look *look)
{
    uint32_t children[TIDE_CHILDREN_MOST];
    const size_t count = tide_procfs_children(look->pid, children, TIDE_CHILDREN_MOST);
    for (size_t i = 0; i < count; i++) {
        uint64_t device, inode;
        if (is_target(collector, children[i]))
            continue;
        const enum tide_program_seen seen =
            tide_procfs_program(children[i], &device, &inode);
        if (seen == TIDE_PROGRAM_NONE ||
            (seen == TIDE_PROGRAM_SEEN && device == look->device &&
             inode == look->inode))
            continue;
        examine(collector, children[i], inode);
    }
}

void tide_strangers_look(struct tide_collector *collector, const struct tide_look *look)
{
    uint64_t device, inode;
    if (look->inode == 0)
        return;
    const enum tide_program_seen seen = tide_procfs_program(look->pid, &device, &inode);
    if (seen == TIDE_PROGRAM_SEEN && (device != look->device || inode != look->inode)) {
        if (collector->choice.follow != TIDE_FOLLOW_NONE)
            examine(collector, look->pid, inode);
        mark_left(collector, look->process);
    } else if (collector->choice.follow == TIDE_FOLLOW_ALL) {
        look_at_children(collector, look);
    }
}

void tide_strangers_catch_up(struct tide_collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    const struct tide_list moved = collector->moved;
    collector->moved = (struct tide_list){.item_bytes = moved.item_bytes};
    pthread_mutex_unlock(&collector->lock);
    const uint32_t *const pids = moved.items;
    for (size_t i = 0; i < moved.count; i++) {
        uint64_t device, inode;
        if (collector->choice.follow != TIDE_FOLLOW_NONE &&
            tide_procfs_program(pids[i], &device, &inode) != TIDE_PROGRAM_NONE)
            examine(collector, pids[i], inode);
    }
    free(moved.items);
}

/* --- Tell ------------------------------------------------------------------------------ */

void tide_strangers_tell(const struct tide_strangers *strangers, struct tide_text *out)
{
    const struct tide_strange_program *const list = strangers->programs.items;
    const size_t count = strangers->programs.count;
    if (count == 0)
        return;
    tide_text_addf(out, "%u program%s not recorded: ", strangers->count,
                   strangers->count == 1 ? " was" : "s were");
    for (size_t i = 0; i < count && i < TIDE_NAMED_MOST; i++)
        tide_text_addf(out, "%s%s (%s)", i > 0 ? ", " : "", list[i].name,
                       list[i].reason);
    if (count > TIDE_NAMED_MOST)
        tide_text_add(out, ", ...");
}

void tide_strangers_release(struct tide_strangers *strangers)
{
    struct tide_strange_program *const list = strangers->programs.items;
    for (size_t i = 0; i < strangers->programs.count; i++)
        free(list[i].name);
    free(strangers->programs.items);
    free(strangers->known.items);
}
