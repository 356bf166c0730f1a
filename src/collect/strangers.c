/* collect/strangers.c - programs of a run that are not recorded, though they should be. */
#include "collect/strangers.h"

#include <stdlib.h>

#include "collect/collector.h"
#include "collect/procfs.h"

enum { TIDE_CHILDREN_MOST = 64 }; /* looked at each time */

/* PID is a program other than its parent, or than it was: should it have been recorded? */
static void examine(struct tide_collector *collector, uint32_t pid)
{
    const char *const reason = tide_stranger_reason(pid, collector->directory);
    if (!reason || tide_unrecorded_is_heard(&collector->unrecorded, pid))
        return;
    struct tide_image image;
    char comm[TIDE_COMM_BYTES];
    tide_procfs_comm(pid, comm);
    tide_procfs_image(pid, &image);
    const char *const targets = collector->choice.targets;
    if ((image.exe || *comm) &&
        (!targets || tide_choice_matches(targets, &image, comm)))
        tide_unrecorded_seen(collector, pid, image.exe ? image.exe : comm, reason);
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
        examine(collector, children[i]);
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
            examine(collector, look->pid);
        mark_left(collector, look->process);
    } else if (collector->choice.follow == TIDE_FOLLOW_ALL) {
        look_at_children(collector, look);
    }
}

void tide_strangers_examine(struct tide_collector *collector, uint32_t pid, bool known)
{
    struct tide_look look = {.pid = pid};
    if (!known)
        examine(collector, pid);
    if (collector->choice.follow == TIDE_FOLLOW_ALL &&
        tide_procfs_program(pid, &look.device, &look.inode) == TIDE_PROGRAM_SEEN)
        look_at_children(collector, &look);
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
            examine(collector, pids[i]);
    }
    free(moved.items);
}
