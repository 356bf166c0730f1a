/* tests/programs/by_hand_more.c - more programs that say where memory shall lie.
 *
 * Usage: by_hand_more CASE, as by_hand.  Here are places that others hold already, moves
 * within a file, the break, and children that share their parent's memory.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "by_hand.h"

#ifndef MREMAP_DONTUNMAP
#    define MREMAP_DONTUNMAP 4
#endif

enum { LARGE = 20 << 20, CHUNK = 32 << 20, OWN_STACK = 256 << 10 };

/* --- Stacks ------------------------------------------------------------------------------- */

__attribute__((noinline)) static int grow_below(volatile const char *limit)
{
    volatile char frame[512];
    frame[0] = frame[sizeof(frame) - 1] = 1;
    return (const char *)frame > (const char *)limit ? grow_below(limit) + frame[0] : 1;
}

static void *down_to(void *limit)
{
    churn(100);
    grow_below(limit);
    return NULL;
}

/* A stack in the room of which somebody else has a page cannot grow past it. */
static void thread_on_blocked_stack(void)
{
    enum { ROOM = 64 * PAGE, GAP = 256 * PAGE };
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    char *const bottom = free_place(GAP + ROOM) + GAP;
    map(bottom + ROOM / 2, ROOM / 2, MAP_FIXED | MAP_GROWSDOWN);
    map(bottom, PAGE, MAP_FIXED);
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, bottom, ROOM) != 0 ||
        pthread_create(&thread, &attributes, down_to, bottom + PAGE) != 0)
        _exit(3);
    pthread_join(thread, NULL);
    _exit(0);
}

static void blocked_stack(void)
{
    const pid_t child = fork();
    if (child == 0)
        thread_on_blocked_stack();
    expect("a stack that cannot grow", status_of(child) == 1000 + SIGSEGV);
}

/* --- mmap --------------------------------------------------------------------------------- */

/* As managed heaps do: all is reserved, parts are taken and given back. */
static void reserved(void)
{
    char *const all =
        mmap(NULL, LARGE, PROT_NONE, private_memory | MAP_NORESERVE, -1, 0);
    one_thread();
    for (size_t at = 0; at < LARGE; at += LARGE / 10) {
        if (map(all + at, LARGE / 10, MAP_FIXED) != all + at)
            expect("a part", 0);
        churn(2000);
        memset(all + at, (int)at, LARGE / 10);
    }
    for (size_t at = 0; at < LARGE; at += LARGE / 5)
        mmap(all + at, LARGE / 10, PROT_NONE, private_memory | MAP_FIXED, -1, 0);
    expect("a part that stays", all[LARGE / 10] == (char)(LARGE / 10));
    expect("all goes at once", munmap(all, LARGE) == 0);
    expect("and is free", map(all, LARGE, MAP_FIXED_NOREPLACE) == all);
}

/* The lowest 2 GiB are the program's: 1 GiB of it is for those who ask, less a random part. */
static void below_2_gib(void)
{
    int count = 0;
    one_thread();
    for (;;) {
        const char *const chunk =
            mmap(NULL, CHUNK, PROT_NONE, private_memory | MAP_32BIT, -1, 0);
        if (chunk == MAP_FAILED)
            break;
        if ((uintptr_t)chunk + CHUNK > 0x80000000u)
            expect("a chunk below 2 GiB", 0);
        count++;
        churn(100);
    }
    expect("the error", errno == ENOMEM);
    expect("all chunks", count > 20);
    expect("elsewhere is room", map(NULL, CHUNK, 0) != NULL);
}

static void out_of_reach(void)
{
    char *const nowhere = (char *)(1ul << 53);
    char *const page = free_place(PAGE);
    expect("above all", !map(nowhere, PAGE, MAP_FIXED) && errno == ENOMEM);
    expect("not at a page", !map(page + 1, PAGE, MAP_FIXED) && errno == EINVAL);
    expect("a wish", map(page, PAGE, 0) == page);
    expect("a wish that is taken", map(page, PAGE, 0) != page);
    churn(100);
}

static int file_of(const char *bytes, size_t pages)
{
    const int file = memfd_create("by hand", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)(pages * PAGE)) != 0)
        _exit(2);
    for (size_t i = 0; i < pages; i++)
        if (pwrite(file, &bytes[i], 1, (off_t)(i * PAGE)) != 1)
            _exit(2);
    return file;
}

static void files_change_places(void)
{
    const int files[] = {file_of("A", 1), file_of("B", 1)};
    char *at[2];
    for (int i = 0; i < 2; i++)
        at[i] = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, files[i], 0);
    expect("two files", *at[0] == 'A' && *at[1] == 'B');
    munmap(at[0], PAGE);
    munmap(at[1], PAGE);
    churn(20000);
    one_thread();
    for (int i = 0; i < 2; i++)
        if (mmap(at[1 - i], PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                 files[i], 0) != at[1 - i])
            expect("the other's place", 0);
    expect("changed", *at[0] == 'B' && *at[1] == 'A');
}

static void pages_of_a_file(void)
{
    const int file = file_of("0123", 4);
    char *const at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (size_t i = 0; i < 4; i++)
        if (syscall(SYS_remap_file_pages, at + i * PAGE, PAGE, 0, 3 - i, 0) != 0)
            expect("a page", 0);
    churn(100);
    expect("from last to first", at[0] == '3' && at[PAGE] == '2' &&
                                     at[2 * PAGE] == '1' && at[3 * PAGE] == '0');
    munmap(at, 4 * PAGE);
    expect("the place is free", map(at, 4 * PAGE, MAP_FIXED_NOREPLACE) == at);
}

/* --- mremap ------------------------------------------------------------------------------- */

static void moves_refused(void)
{
    char *const two = map(NULL, 2 * PAGE, 0);
    char *const three = map(NULL, 3 * PAGE, 0);
    char *const place = free_place(2 * PAGE);
    const int move = MREMAP_MAYMOVE | MREMAP_FIXED;
    expect("fixed alone", mremap(two, PAGE, PAGE, MREMAP_FIXED, place) == MAP_FAILED &&
                              errno == EINVAL);
    expect("not at a page",
           mremap(two, PAGE, PAGE, move, place + 1) == MAP_FAILED && errno == EINVAL);
    expect("onto itself",
           mremap(two, 2 * PAGE, PAGE, move, two) == MAP_FAILED && errno == EINVAL);
    munmap(three + PAGE, PAGE);
    expect("no room",
           mremap(three, PAGE, 3 * PAGE, 0) == MAP_FAILED && errno == ENOMEM);
    churn(100);
    expect("the place is free",
           map(place, 2 * PAGE, MAP_FIXED_NOREPLACE) == place && two[PAGE] == 0);
}

static void moves_onto_another(void)
{
    char *const from = map(NULL, PAGE, 0);
    char *const onto = map(NULL, 3 * PAGE, 0);
    memset(from, 1, PAGE);
    memset(onto, 2, 3 * PAGE);
    one_thread();
    expect("moved", mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                           onto + PAGE) == onto + PAGE);
    expect("between the others",
           onto[0] == 2 && onto[PAGE] == 1 && onto[2 * PAGE] == 2);
    churn(20000);
    expect("what it left is free", map(from, PAGE, MAP_FIXED_NOREPLACE) == from);
}

/* A page of a file is put aside and comes back, among neighbours that are like it or not. */
static void aside_and_back(void)
{
    const int move = MREMAP_MAYMOVE | MREMAP_FIXED;
    for (int unlike = 0; unlike < 3; unlike++) {
        const int file = file_of("0123", 4);
        char *const at =
            mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        char *const aside = at + 3 * PAGE;
        if (mremap(at + PAGE, PAGE, PAGE, move, aside) != aside)
            expect("aside", 0);
        churn(5000);
        if (unlike)
            mprotect(unlike == 1 ? at : at + 2 * PAGE, PAGE, PROT_READ);
        if (mremap(aside, PAGE, PAGE, move, at + PAGE) != at + PAGE)
            expect("back", 0);
        expect("all pages", at[0] == '0' && at[PAGE] == '1' && at[2 * PAGE] == '2');
        munmap(at, 3 * PAGE);
        close(file);
    }
}

static void leaves_it_mapped(void)
{
    char *const from = map(NULL, 1 << 20, 0);
    char *const place = free_place(1 << 20);
    memset(from, 5, 1 << 20);
    one_thread();
    const int moves = MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
    char *const to = mremap(from, 1 << 20, 1 << 20, moves | MREMAP_FIXED, place);
    expect("moved", to == place && to[0] == 5);
    expect("empty, but there", from[0] == 0);
    churn(1000);
    char *const wish = free_place(64 << 20) + (32 << 20);
    char *const again = mremap(to, 1 << 20, 1 << 20, moves, wish);
    expect("moved again", again == wish && again[0] == 5 && to[0] == 0);
    expect("all three go", munmap(from, 1 << 20) == 0 && munmap(to, 1 << 20) == 0 &&
                               munmap(again, 1 << 20) == 0);
}

/* --- The break ---------------------------------------------------------------------------- */

/* Pages unlike each other above the break, which go together. */
static void break_of_pieces(void)
{
    one_thread();
    churn(1000);
    char *const end = sbrk(0);
    const uintptr_t page = ((uintptr_t)end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    char *const at = (char *)page + PAGE;
    expect("up", brk(at + PAGE) == 0);
    expect("unlike", mprotect(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    expect("further up", brk(at + 2 * PAGE) == 0);
    at[0] = at[PAGE] = 1;
    expect("down at once", brk(end) == 0 && sbrk(0) == end);
    churn(1000);
}

/* --- Children ----------------------------------------------------------------------------- */

__attribute__((noinline)) static void vfork_and_map(char *place, int round)
{
    const pid_t child = vfork();
    if (child == 0) {
        if (!map(place, LARGE, round == 1 ? MAP_FIXED_NOREPLACE : MAP_FIXED))
            _exit(errno == EEXIST ? 17 : 1);
        place[LARGE - 1] = (char)round;
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    expect("a child that maps", status_of(child) == 0);
}

/* What such a child maps is its parent's. */
static void vfork_maps(void)
{
    char *const place = free_place(LARGE);
    for (int i = 1; i <= 5; i++) {
        vfork_and_map(place, i);
        expect("what it mapped", place[LARGE - 1] == i);
        churn(100);
    }
}

/* Each child replaces what its parent has there, and runs another program. */
static void maps_and_executes(void)
{
    char *const place = map(NULL, LARGE, 0);
    memset(place, 3, LARGE);
    for (int i = 0; i < 5; i++) {
        const pid_t child = fork();
        if (child == 0) {
            churn(100);
            map(place, LARGE, MAP_FIXED);
            if (place[0] != 0 || !map(place + LARGE / 2, PAGE, MAP_FIXED))
                _exit(1);
            execl("/bin/true", "true", (char *)NULL);
            _exit(9);
        }
        expect("a child that executes", status_of(child) == 0 && place[0] == 3);
    }
}

#ifdef __x86_64__
static _Atomic int told;

/* It has no libc: its thread storage is a block of zeros. */
static int only_tells(void *unused)
{
    (void)unused;
    atomic_store(&told, 1);
    syscall(SYS_exit, 0);
    return 0;
}

static void clone_with_own_storage(void)
{
    static _Thread_local volatile int mine = 100;
    char *const stack = map(free_place(OWN_STACK), OWN_STACK, MAP_FIXED_NOREPLACE);
    char *const storage = malloc(2 * PAGE);
    memset(storage, 0, 2 * PAGE);
    *(void **)(storage + PAGE) = storage + PAGE;
    churn(100);
    const int flags =
        CLONE_THREAD | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SETTLS;
    const pid_t child =
        clone(only_tells, stack + OWN_STACK, flags, NULL, NULL, storage + PAGE, NULL);
    while (child > 0 && !atomic_load(&told))
        sched_yield();
    churn(1000);
    expect("a thread of its own", child > 0 && mine == 100);
}
#endif

/* With no memory in common, on a stack of the parent's. */
static int replaces(void *place)
{
    churn(100);
    map(place, LARGE, MAP_FIXED);
    memset(place, 1, LARGE);
    churn(30000);
    return 7;
}

static void clone_that_replaces(void)
{
    char *const block = malloc(OWN_STACK);
    char *const place = free_place(LARGE);
    const pid_t child = clone(replaces, block + OWN_STACK, SIGCHLD, place);
    expect("a clone that replaces", status_of(child) == 7);
    expect("the place is free", map(place, LARGE, MAP_FIXED_NOREPLACE) == place);
    free(block);
}

static const struct by_hand_case cases[] = {
    {"blocked-stack", blocked_stack},
    {"reserved", reserved},
    {"below-2-gib", below_2_gib},
    {"out-of-reach", out_of_reach},
    {"files", files_change_places},
    {"file-pages", pages_of_a_file},
    {"moves-refused", moves_refused},
    {"moves-onto", moves_onto_another},
    {"aside", aside_and_back},
    {"stays", leaves_it_mapped},
    {"break", break_of_pieces},
    {"vfork-maps", vfork_maps},
    {"execs", maps_and_executes},
#ifdef __x86_64__
    {"clone-storage", clone_with_own_storage},
#endif
    {"clone-replaces", clone_that_replaces},
};

int main(int argc, char **argv)
{
    return run_case(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
