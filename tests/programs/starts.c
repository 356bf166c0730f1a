/* tests/programs/starts.c - every way to start a program: starts HOW COUNT.
 *
 * HOW is fork, vfork, spawn, system, popen, clone (the bare system call, memory copied) or
 * clone_vm (memory shared, the parent waits).  Where the child has memory of its own, or
 * its parent waits, it makes 4 blocks first.  Then it executes this program, which makes 3.
 */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { IN_CHILD = 4, IN_IMAGE = 3, STACK = 64 * 1024 };

extern char **environ;
static char *self;
static char again[] = "again";

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *image_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void execute(void)
{
    char *const words[] = {self, again, NULL};
    execve(self, words, environ);
    _exit(9);
}

static int make_and_execute(void *unused)
{
    (void)unused;
    for (int i = 0; i < IN_CHILD; i++)
        child_makes(40);
    execute();
    return 9;
}

static int wait_for(pid_t child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int by_fork(void)
{
    const pid_t child = fork();
    if (child == 0)
        make_and_execute(NULL);
    return wait_for(child);
}

static int by_vfork(void)
{
    const pid_t child = vfork();
    if (child == 0)
        execute();
    return wait_for(child);
}

static int by_spawn(void)
{
    char *const words[] = {self, again, NULL};
    pid_t child = -1;
    if (posix_spawn(&child, self, NULL, NULL, words, environ) != 0)
        return -1;
    return wait_for(child);
}

static int by_system(void)
{
    char line[4096];
    snprintf(line, sizeof(line), "%s again", self);
    return system(line);
}

static int by_popen(void)
{
    char line[4096];
    snprintf(line, sizeof(line), "%s again", self);
    FILE *const pipe = popen(line, "r");
    return pipe ? pclose(pipe) : -1;
}

static int by_clone(void)
{
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        make_and_execute(NULL);
    return wait_for(child);
}

static int by_clone_vm(void)
{
    static char stack[STACK] __attribute__((aligned(16)));
    return wait_for(
        clone(make_and_execute, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
}

static const struct {
    const char *how;
    int (*start)(void);
    int in_child;
} WAYS[] = {
    {"fork", by_fork, IN_CHILD},
    {"vfork", by_vfork, 0},
    {"spawn", by_spawn, 0},
    {"system", by_system, 0},
    {"popen", by_popen, 0},
    {"clone", by_clone, IN_CHILD},
    {"clone_vm", by_clone_vm, IN_CHILD},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], again) == 0) {
        for (int i = 0; i < IN_IMAGE; i++)
            image_makes(30);
        return 5;
    }
    if (argc < 3)
        return 2;
    self = argv[0];
    const int count = atoi(argv[2]);
    for (unsigned i = 0; i < sizeof(WAYS) / sizeof(*WAYS); i++) {
        if (strcmp(argv[1], WAYS[i].how) != 0)
            continue;
        int bad = 0;
        for (int k = 0; k < count; k++) {
            const int status = WAYS[i].start();
            bad += !WIFEXITED(status) || WEXITSTATUS(status) != 5;
        }
        say("{\"bad\": %d, \"child\": %d, \"image\": %d}\n", bad,
            count * WAYS[i].in_child, count * IN_IMAGE);
        return bad != 0;
    }
    return 2;
}
