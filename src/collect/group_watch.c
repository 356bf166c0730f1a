/* collect/group_watch.c - was a signal sent to us, or to our whole process group? */
#include "collect/group_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIDE_NAP_NS = 2000000 };

void tide_group_watch_begin(struct tide_group_watch *watch)
{
    const pid_t parent = getpid();
    watch->pid = fork();
    if (watch->pid != 0)
        return;
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "tidemark-group");
    (void)close_range(0, ~0u, 0); /* who reads from us must not wait for it */
    while (getppid() == parent)
        (void)pause();
    _exit(0);
}

void tide_group_watch_end(struct tide_group_watch *watch)
{
    if (watch->pid <= 0)
        return;
    /* Somebody may have killed it, and who waits for all children waited for it: its pid may be
     * another's by now. */
    if (waitpid(watch->pid, NULL, WNOHANG) == 0) {
        (void)kill(watch->pid, SIGKILL);
        while (waitpid(watch->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    watch->pid = 0;
}

/* The signals that wait for process PID, as /proc writes them: signal n at bit n - 1. */
static uint64_t waiting_for(pid_t pid)
{
    static const char name[] = "ShdPnd:";
    char path[64], line[256];
    uint64_t waiting = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, sizeof(name) - 1) == 0)
            waiting = strtoull(line + sizeof(name) - 1, NULL, 16);
    if (file)
        (void)fclose(file);
    return waiting;
}

bool tide_group_watch_saw(struct tide_group_watch *watch, int number, pid_t target)
{
    /* The group's processes get it one after the other. */
    const struct timespec nap = {.tv_nsec = TIDE_NAP_NS};
    if (watch->pid <= 0 || getpgid(target) != getpgid(0))
        return false;
    (void)nanosleep(&nap, NULL);
    if (!(waiting_for(watch->pid) >> (number - 1) & 1))
        return false;
    tide_group_watch_end(watch); /* the next one has nothing waiting */
    tide_group_watch_begin(watch);
    return true;
}
