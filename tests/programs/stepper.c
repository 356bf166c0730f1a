/* tests/programs/stepper.c - a signal at every instruction of a recorded call, in turn.
 *
 * Usage: stepper WHAT HOW FIRST STRIDE MOST.  To be run on lib_toy_malloc.so, where a
 * handler may allocate while malloc is at work.
 *   WHAT  pair      malloc and free, the recorder warm
 *         numbered  the same after a second thread has been there
 *         realloc   malloc, realloc and free
 *         first     the first event after a fork that the recorder was not told of
 *   HOW   return    the handler allocates, frees and returns
 *         jump      it leaves by siglongjmp instead
 *         twice     the handler is interrupted itself
 *         much      it allocates and frees 400 times and returns
 *         fork      it allocates, frees and forks: both return, and the child ends when
 *                   the call is over
 * A child is single-stepped: in round n the signal comes after FIRST + n * STRIDE
 * instructions; with "twice" the first after FIRST, the second (n + 1) * STRIDE later.  It
 * ends after MOST rounds or when the call (or handler) is over before the signal.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { AFTER = 3, MUCH = 400, TIMEOUT_S = 250 };

/* Shared by the tracer and its child. */
struct page {
    int inside; /* the child is in the call that is being stepped */
    int over;   /* no more rounds */
    long rounds, in_main, in_handler, after, handlers, in_second, children;
};
static volatile struct page *page;
static const char *what;
static int jumps, twice, pairs, forks, forked;
static sigjmp_buf back;

__attribute__((noinline)) static void *make_in_handler(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_in_second(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_in_main(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_after(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

/* Counted are the children that came to the end of the call. */
static void fork_here(void)
{
    int status = 0;
    const pid_t pid = fork();
    forked = pid == 0;
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        page->children += WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void handler(int number)
{
    (void)number;
    page->handlers++;
    for (int i = 0; i < pairs; i++)
        free(make_in_handler(100));
    page->in_handler += pairs;
    if (forks)
        fork_here();
    if (jumps)
        siglongjmp(back, 1);
}

static void second_handler(int number)
{
    (void)number;
    free(make_in_second(80));
    page->in_second++;
}

/* --- The child ---------------------------------------------------------------------- */

__attribute__((noinline)) static void call(void)
{
    void *block = make_in_main(32);
    if (strcmp(what, "realloc") == 0)
        block = realloc(block, 64);
    free(block);
}

/* From the trap on the tracer steps. */
static void one_round(void)
{
    if (sigsetjmp(back, 1) == 0) {
        page->inside = 1;
        __asm__ volatile("int3" ::: "memory");
        call();
    }
    page->inside = 0; /* no signal comes from here on */
    if (forked)
        _exit(0);
    page->in_main++;
    for (int i = 0; i < AFTER; i++)
        free(make_after(48));
    page->after += AFTER;
}

static void *nothing(void *unused)
{
    return unused;
}

static void child(int rounds)
{
    pthread_t id;
    if (strcmp(what, "first") != 0)
        call(); /* not stepped: what happens once has happened */
    page->in_main += strcmp(what, "first") != 0;
    if (strcmp(what, "numbered") == 0 && pthread_create(&id, NULL, nothing, NULL) == 0)
        pthread_join(id, NULL);
    for (int i = 0; i < rounds && !page->over; i++)
        one_round();
    _exit(0);
}

/* --- The tracer --------------------------------------------------------------------- */

/* Wait until the child stands at a trap or after a step; 0 when it has ended.  REQUEST
 * is what it was told to do. */
static int stopped(pid_t pid, enum __ptrace_request request)
{
    int status = 0;
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGTRAP)
            return 1;
        /* The signal came while it was held back: it is offered once more. */
        ptrace(request, pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
    }
    if (WIFSIGNALED(status))
        say("child died of signal %d\n", WTERMSIG(status));
    return 0;
}

/* The child stands at its trap: let it go on, with a signal after so many steps. */
static void step(pid_t pid, long steps)
{
    for (long i = 0; i < steps && page->inside; i++) {
        ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        if (!stopped(pid, PTRACE_SINGLESTEP))
            return;
    }
    page->rounds++;
    page->over = !page->inside;
    ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(page->inside ? SIGUSR1 : 0));
}

/* The same with a signal after BEFORE steps, and another after STEPS in its handler. */
static void step_twice(pid_t pid, long before, long steps)
{
    const long handled = page->in_handler;
    for (long i = 0; i <= before + steps && page->in_handler == handled; i++) {
        ptrace(PTRACE_SINGLESTEP, pid, NULL,
               (void *)(intptr_t)(i == before ? SIGUSR1 : 0));
        if (!stopped(pid, PTRACE_SINGLESTEP))
            return;
    }
    page->rounds++;
    page->over = page->in_handler != handled;
    ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(page->over ? 0 : SIGUSR2));
}

static pid_t begin(int rounds)
{
    /* Not by fork(), which tells the recorder. */
    const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        child(rounds);
    }
    return pid;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    const long first = atol(argv[3]), stride = atol(argv[4]), most = atol(argv[5]);
    what = argv[1];
    jumps = strcmp(argv[2], "jump") == 0;
    const int fresh = strcmp(what, "first") == 0;
    twice = strcmp(argv[2], "twice") == 0;
    pairs = strcmp(argv[2], "much") == 0 ? MUCH : 1;
    forks = strcmp(argv[2], "fork") == 0;
    const struct sigaction action = {.sa_handler = handler};
    const struct sigaction second = {.sa_handler = second_handler};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &second, NULL);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    alarm(TIMEOUT_S);
    pid_t pid = 0;
    for (long i = 0; i < most && !page->over; i++) {
        if (i == 0 || fresh)
            pid = begin(fresh ? 1 : (int)most);
        if (!stopped(pid, PTRACE_CONT))
            return 3;
        if (twice)
            step_twice(pid, first, (i + 1) * stride);
        else
            step(pid, first + i * stride);
        if (fresh && stopped(pid, PTRACE_CONT))
            return 4;
    }
    if (!fresh && stopped(pid, PTRACE_CONT))
        return 5;
    say("{\"rounds\": %ld, \"handlers\": %ld, \"in_main\": %ld, \"in_handler\": %ld, "
        "\"in_second\": %ld, \"after\": %ld, \"children\": %ld}\n",
        page->rounds, page->handlers, page->in_main, page->in_handler, page->in_second,
        page->after, page->children);
    return 0;
}
