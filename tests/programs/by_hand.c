/* tests/programs/by_hand.c - programs that say themselves where memory shall lie.
 *
 * Usage: by_hand CASE.  Each case does by system calls what tests of kernels do: it says what
 * it found, and ends by status 7 when all was as it ought to be.  Nothing that it prints depends
 * on where things happen to be.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "by_hand.h"

/* --- A stack that grows into the place below it ------------------------------------------- */

__attribute__((noinline)) static int grow(size_t bytes)
{
    volatile char frame[1024];
    frame[0] = frame[sizeof(frame) - 1] = 1;
    return bytes > sizeof(frame) ? grow(bytes - sizeof(frame)) + frame[0] : 1;
}

static void *on_own_stack(void *argument)
{
    churn(100);
    grow(*(size_t *)argument);
    churn(100);
    return NULL;
}

/* A page, with room below it, and the kernel's gap below that. */
static char *page_that_grows(size_t room)
{
    char *const place = free_place(GAP + room);
    return map(place + GAP + room - PAGE, PAGE, MAP_FIXED | MAP_GROWSDOWN);
}

static void thread_on_it(void)
{
    enum { ROOM = 256 * PAGE };
    pthread_attr_t attributes;
    pthread_t thread;
    size_t bytes = 100 * PAGE;
    char *const page = page_that_grows(ROOM);
    if (!page || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, page + PAGE - ROOM, ROOM) != 0 ||
        pthread_create(&thread, &attributes, on_own_stack, &bytes) != 0)
        _exit(3);
    pthread_join(thread, NULL);
    _exit(0);
}

static void grows_down(void)
{
    const pid_t child = fork();
    if (child == 0)
        thread_on_it();
    const int status = status_of(child);
    expect("a thread whose stack grows", status == 0);
}

static void grows_amid_events(void)
{
    enum { ROOM = 2048 * PAGE };
    volatile char *const page = page_that_grows(ROOM);
    for (int i = 1; i < 2000; i += 100) {
        churn(5000);
        page[-(long)i * PAGE] = 1;
    }
    expect("memory that grows", page[-1901L * PAGE] == 1);
}

/* --- mmap --------------------------------------------------------------------------------- */

static void no_replace(void)
{
    char *const place = free_place(20 << 20);
    expect("the first takes it", map(place, 20 << 20, MAP_FIXED_NOREPLACE) == place);
    expect("over its end", !map(place + PAGE, 20 << 20, MAP_FIXED_NOREPLACE));
    expect("which exists", errno == EEXIST);
    munmap(place, 20 << 20);
    one_thread();
    expect("again", map(place, 20 << 20, MAP_FIXED_NOREPLACE) == place);
    memset(place, 1, 20 << 20);
    churn(100);
}

/* Every other page, then what is between. */
static void every_other(void)
{
    enum { PAGES = 64 };
    char *const place = map(NULL, (size_t)PAGES * PAGE, 0);
    for (int i = 0; i < PAGES; i += 2)
        munmap(place + (size_t)i * PAGE, PAGE);
    churn(20000);
    one_thread();
    for (int i = 0; i < PAGES; i += 2)
        if (!map(place + (size_t)i * PAGE, PAGE, MAP_FIXED_NOREPLACE))
            expect("a page between", 0);
    memset(place, 1, (size_t)PAGES * PAGE);
    expect("all pages", place[PAGES * PAGE - 1] == 1);
}

static void at_the_break(void)
{
    char *const end = sbrk(0);
    char *const at =
        (char *)(((uintptr_t)end + (16 << 20) + PAGE) & ~(uintptr_t)(PAGE - 1));
    expect("above the break", map(at, PAGE, MAP_FIXED_NOREPLACE) == at);
    expect("the break stops below", sbrk(32 << 20) == (void *)-1 && errno == ENOMEM);
    munmap(at, PAGE);
    expect("the break rises", sbrk(32 << 20) != (void *)-1);
    memset(at, 1, PAGE);
    churn(1000);
    expect("the break falls", sbrk(-(32 << 20)) != (void *)-1);
}

/* --- mremap ------------------------------------------------------------------------------- */

static void moves_to_a_place(void)
{
    char *const from = map(NULL, 1 << 20, 0);
    char *const place = free_place(8 << 20);
    memset(from, 5, 1 << 20);
    one_thread();
    char *const to =
        mremap(from, 1 << 20, 4 << 20, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    expect("it moved", to == place && to[5] == 5);
    expect("it grows there", mremap(to, 4 << 20, 8 << 20, 0) == to);
    expect("what it left is free",
           map(from, 1 << 20, MAP_FIXED_NOREPLACE) == from && from[5] == 0);
    churn(1000);
}

static void grows_in_place(void)
{
    char *const place = free_place(24 << 20);
    char *const at = map(place, PAGE, MAP_FIXED_NOREPLACE);
    expect("a page", at == place);
    one_thread();
    churn(20000);
    expect("grows where it is", mremap(at, PAGE, 24 << 20, 0) == at);
    memset(at, 1, 24 << 20);
}

/* --- Children ----------------------------------------------------------------------------- */

static void child_takes(void)
{
    int bad = 0;
    char *const place = free_place(2 << 20);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            churn(100);
            if (!map(place, 2 << 20, MAP_FIXED_NOREPLACE))
                _exit(errno == EEXIST ? 17 : 1);
            memset(place, i, 2 << 20);
            churn(100);
            _exit(0);
        }
        bad += status_of(child) != 0;
    }
    expect("all children", bad == 0);
}

static void child_replaces(void)
{
    int bad = 0;
    char *const place = free_place(2 << 20);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            churn(100);
            map(place, 2 << 20, MAP_FIXED);
            memset(place, 0xee, 2 << 20);
            churn(30000);
            _exit(0);
        }
        bad += status_of(child) != 0;
    }
    expect("all children", bad == 0);
}

static void large_memory_and_fork(void)
{
    enum { PARTS = 16 };
    static char *parts[PARTS];
    for (int i = 0; i < PARTS; i++) {
        parts[i] = map(NULL, 1ul << 30, MAP_NORESERVE);
        if (!parts[i])
            _exit(2);
        parts[i][0] = (char)i;
    }
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < PARTS; i++)
            if (parts[i][0] != i)
                _exit(1);
        churn(100);
        _exit(0);
    }
    expect("a child of a large one", status_of(child) == 0);
}

static int cloned(void *argument)
{
    *(volatile int *)argument = 1;
    return 7;
}

static void clone_on_a_stack(void)
{
    static volatile int told;
    char *const place = free_place(CLONE_STACK);
    churn(1000);
    char *const stack = map(place, CLONE_STACK, MAP_FIXED_NOREPLACE);
    const pid_t child =
        stack ? clone(cloned, stack + CLONE_STACK, SIGCHLD | CLONE_VM, (void *)&told)
              : -1;
    expect("a clone with this memory", status_of(child) == 7 && told == 1);
    const pid_t other = clone(cloned, stack + CLONE_STACK,
                              SIGCHLD | CLONE_VM | CLONE_VFORK, (void *)&told);
    expect("a clone that is waited for", status_of(other) == 7);
}

__attribute__((noinline)) static pid_t vforked(void)
{
    const pid_t child = vfork();
    if (child != 0)
        return child;
    execl("/bin/true", "true", (char *)NULL);
    _exit(9);
}

static void vfork_and_exec(void)
{
    char *const place = free_place(20 << 20);
    for (int i = 0; i < 5; i++)
        expect("vfork and exec", status_of(vforked()) == 0);
    expect("the place is free", map(place, 20 << 20, MAP_FIXED_NOREPLACE) == place);
}

/* --- Shared memory at a place, and mappings that are counted ------------------------------- */

static void shared_at(void)
{
    char *const place = free_place(20 << 20);
    const int id = shmget(IPC_PRIVATE, 20 << 20, 0600 | IPC_CREAT);
    one_thread();
    char *const at = id < 0 ? (char *)-1 : shmat(id, place, 0);
    expect("shared memory at a place", at == place);
    shmctl(id, IPC_RMID, NULL);
    memset(at, 1, 20 << 20);
    churn(100);
    expect("detached", shmdt(at) == 0);
}

static int mappings_in(const char *from, const char *to)
{
    static char line[8192];
    FILE *const maps = fopen("/proc/self/maps", "r");
    unsigned long low, high;
    int count = 0;
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx", &low, &high) == 2)
            count += low < (uintptr_t)to && high > (uintptr_t)from;
    if (maps)
        fclose(maps);
    return count;
}

/* In one piece, then three, then one. */
static void pieces(void)
{
    char *const place = free_place(3 * PAGE + 2 * PAGE);
    char *const at = map(place + PAGE, 3 * PAGE, MAP_FIXED_NOREPLACE);
    churn(20000);
    one_thread();
    expect("one", mappings_in(place, place + 5 * PAGE) == 1);
    mprotect(at + PAGE, PAGE, PROT_NONE);
    expect("three", mappings_in(place, place + 5 * PAGE) == 3);
    mprotect(at + PAGE, PAGE, PROT_READ | PROT_WRITE);
    expect("one again", mappings_in(place, place + 5 * PAGE) == 1);
}

/* What was not mapped is not: the kernel says so of each page. */
static void not_there(void)
{
    char *const place = free_place(20 << 20);
    unsigned char seen[1];
    one_thread();
    churn(50000);
    for (size_t at = 0; at < 20 << 20; at += PAGE)
        if (mincore(place + at, PAGE, seen) != -1 || errno != ENOMEM)
            expect("a page", 0);
    expect("unmapped twice", munmap(place, 20 << 20) == 0);
    expect("mprotect", mprotect(place, PAGE, PROT_READ) == -1 && errno == ENOMEM);
    expect("mremap", mremap(place, PAGE, 2 * PAGE, 0) == MAP_FAILED && errno == EFAULT);
}

/* Real-time programs lock all they have and will have. */
static void locked(void)
{
    say("mlockall: %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? "done" : "refused");
    char *const place = free_place(2 << 20);
    one_thread();
    churn(50000);
    expect("the place is free", map(place, 2 << 20, MAP_FIXED_NOREPLACE) == place);
    expect("unlocked", munlockall() == 0);
}

static const struct by_hand_case cases[] = {
    {"grows-down", grows_down},
    {"grows-amid-events", grows_amid_events},
    {"no-replace", no_replace},
    {"every-other", every_other},
    {"break", at_the_break},
    {"moves", moves_to_a_place},
    {"grows-in-place", grows_in_place},
    {"child-takes", child_takes},
    {"child-replaces", child_replaces},
    {"large-fork", large_memory_and_fork},
    {"clone", clone_on_a_stack},
    {"vfork", vfork_and_exec},
    {"shared", shared_at},
    {"pieces", pieces},
    {"not-there", not_there},
    {"locked", locked},
};

int main(int argc, char **argv)
{
    return run_case(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
