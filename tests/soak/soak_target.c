/* tests/soak/soak_target.c - a random but repeatable mix of all that processes do.
 *
 * Usage: soak_target SEED NAME DEPTH, with SOAK_COUNTS (file, see soak_calls.h),
 * SOAK_FOLDER (of the libraries) and, if the allocator may be interrupted, SOAK_WILD.
 *
 * The seed decides what each process does: threads that are joined, detached, cancelled
 * or fork; children by fork, vfork, posix_spawn; libraries; an ending.  What is printed,
 * sorted, depends on the seed alone.  A timer interrupts all of it; its handler maps
 * memory anywhere and, where the program allows it, allocates, forks and jumps away.
 *
 * Plain programs must work, so: one lock keeps apart what glibc does not let a forked
 * child continue (loading, making threads), and handlers respect soak_me.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soak_calls.h"

enum {
    WORKERS = 12,
    CHILDREN = 24,
    COPIES = 6, /* children that handlers of one process fork at most */
    DEPTH = 3,
    STACK = 64 * 1024,
};

enum worker_kind { JOINED, DETACHED, CANCELLED, FORKING, WORKER_KINDS };

struct worker {
    pthread_t id;
    enum worker_kind kind;
    uint64_t seed;
    int steps;
    unsigned char stack[STACK]; /* alternate, for the handler */
};

static struct worker workers[WORKERS];
static int worker_count;
static pid_t children[CHILDREN];
static int child_count;
static _Atomic int copy_count; /* of this process, made by handlers */
static pid_t copies[COPIES];
static volatile bool is_copy;
static char name[128];
static int depth;
static uint64_t plan;
static unsigned char main_stack[STACK];
static pthread_key_t farewell;
static pthread_mutex_t structure = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *what, int number, int status)
{
    char line[256];
    const int length =
        snprintf(line, sizeof(line), "%s %s %d: %x\n", name, what, number, status);
    if (write(1, line, (size_t)length) != length)
        _exit(98);
}

static uint64_t roll(uint64_t sides)
{
    return soak_roll(&plan, sides);
}

static uint64_t new_seed(void)
{
    return roll(1u << 30) << 30 | roll(1u << 30);
}

/* --- The handler ------------------------------------------------------------------------ */

static void fork_in_handler(void)
{
    const int number = atomic_fetch_add(&copy_count, 1);
    if (number >= COPIES)
        return;
    const pid_t child = fork();
    if (child != 0) {
        copies[number] = child;
        return;
    }
    soak_copies++;
    is_copy = true;
    if (!soak_me.in_call) /* within a call that was cut in two nothing is recorded */
        soak_free(soak_malloc(77));
    if (soak_roll(&soak_me.dice, 2))
        _exit(0);
}

static void on_alarm(int number)
{
    (void)number;
    soak_handler_mmap(4096);
    if (!soak_me.at_ease || is_copy || soak_me.in_outer ||
        (soak_me.in_call && !soak_wild))
        return;
    void *block = soak_malloc(1 + soak_roll(&soak_me.dice, 500));
    const uint64_t wish = soak_roll(&soak_me.dice, 24);
    if (wish < 4)
        fork_in_handler();
    soak_free(block);
    if (wish > 18 && soak_me.may_jump)
        siglongjmp(soak_me.back, 1);
}

static void start_timer(void)
{
    const struct sigaction action = {.sa_handler = on_alarm,
                                     .sa_flags = SA_ONSTACK | SA_RESTART};
    const suseconds_t often = (suseconds_t)(300 + roll(3000));
    const struct itimerval timer = {{0, often}, {0, often}};
    sigset_t alarm_only;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    if (roll(4))
        setitimer(ITIMER_REAL, &timer, NULL);
}

/* The next program would die of a SIGALRM: its timer and what is pending outlive exec. */
static void stop_timer(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
}

static void use_stack(unsigned char *stack)
{
    const stack_t other = {.ss_sp = stack, .ss_size = STACK};
    sigaltstack(&other, NULL);
}

/* --- Work ------------------------------------------------------------------------------- */

static void compute(uint64_t rounds)
{
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < rounds; i++)
        sum = sum + i;
}

/* Steps at which handlers may do as they like.  A copy of a thread ends here. */
static void work(int steps, bool cancellable)
{
    volatile int i = 0;
    if (sigsetjmp(soak_me.back, 1))
        soak_landed();
    soak_me.may_jump = true;
    while (i < steps) {
        i = i + 1;
        soak_me.at_ease = true;
        soak_step();
        compute(soak_roll(&soak_me.dice, 400));
        soak_me.at_ease = false;
        if (is_copy)
            _exit(0);
        if (cancellable)
            pthread_testcancel();
    }
    soak_me.may_jump = false;
}

static void fork_lightly(void)
{
    const int code = (int)soak_roll(&soak_me.dice, 50);
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        work(30, false);
        _exit(code);
    }
    while (waitpid(child, &status, 0) != child)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        say("light child", code, status);
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    soak_me.dice = worker->seed;
    if (worker->seed % 2)
        use_stack(worker->stack);
    pthread_setspecific(farewell, soak_malloc(123));
    for (int i = 0; i < 4; i++) {
        work(worker->steps / 4, worker->kind == CANCELLED);
        if (worker->kind == FORKING)
            fork_lightly();
    }
    return NULL;
}

static void start_threads(int number)
{
    pthread_mutex_lock(&structure);
    for (; number > 0 && worker_count < WORKERS; number--) {
        struct worker *worker = &workers[worker_count++];
        worker->kind = (enum worker_kind)roll(WORKER_KINDS);
        worker->seed = new_seed();
        worker->steps = (int)(400 + roll(3000));
        if (pthread_create(&worker->id, NULL, run_worker, worker) != 0)
            _exit(97);
        if (worker->kind == DETACHED)
            pthread_detach(worker->id);
    }
    pthread_mutex_unlock(&structure);
}

static void end_threads(void)
{
    for (int i = 0; i < worker_count; i++)
        if (workers[i].kind == CANCELLED)
            pthread_cancel(workers[i].id);
    for (int i = 0; i < worker_count; i++)
        if (workers[i].kind != DETACHED)
            pthread_join(workers[i].id, NULL);
    worker_count = 0; /* the detached ones may still use their stacks: */
    while (worker_count < WORKERS && workers[worker_count].kind == DETACHED)
        worker_count++;
}

/* --- Libraries -------------------------------------------------------------------------- */

static void visit_library(void)
{
    const bool two = roll(2);
    const int times = (int)(1 + roll(20));
    char path[4096];
    void *(*make)(size_t);
    snprintf(path, sizeof(path), "%s/lib_soak_%s.so", getenv("SOAK_FOLDER"),
             two ? "two" : "one");
    pthread_mutex_lock(&structure);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        _exit(96);
    void *symbol = dlsym(library, "library_make");
    memcpy(&make, &symbol, sizeof(make));
    for (int i = 0; i < times; i++)
        soak_free(soak_library(two ? SOAK_LIBRARY_TWO : SOAK_LIBRARY_ONE, make,
                               1 + roll(900)));
    dlclose(library);
    pthread_mutex_unlock(&structure);
}

/* --- Children --------------------------------------------------------------------------- */

static void live(void);

static void fork_fully(void)
{
    const uint64_t seed = new_seed();
    const int number = child_count;
    pthread_mutex_lock(&structure);
    const pid_t child = fork();
    if (child != 0) {
        children[child_count++] = child;
        pthread_mutex_unlock(&structure);
        return;
    }
    pthread_mutex_unlock(&structure);
    plan = seed;
    depth++;
    snprintf(name + strlen(name), sizeof(name) - strlen(name), ".%d", number);
    worker_count = child_count = 0;
    copy_count = 0;
    live();
}

struct words {
    char seed[24], name[160], depth[12];
    char *argv[5];
};

static void make_words(struct words *words, const char *mark)
{
    static char program[] = "soak_target";
    snprintf(words->seed, sizeof(words->seed), "%llu", (unsigned long long)new_seed());
    snprintf(words->name, sizeof(words->name), "%s.%s%d", name, mark, child_count);
    snprintf(words->depth, sizeof(words->depth), "%d", depth + 1);
    char *const argv[] = {program, words->seed, words->name, words->depth, NULL};
    memcpy(words->argv, argv, sizeof(argv));
}

static void start_program(bool by_vfork)
{
    struct words words;
    pid_t child;
    make_words(&words, by_vfork ? "v" : "p");
    if (!by_vfork) {
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words.argv, environ) != 0)
            _exit(95);
    } else {
        child = vfork();
        if (child == 0) {
            execve("/proc/self/exe", words.argv, environ);
            _exit(94);
        }
    }
    children[child_count++] = child;
}

static void end_children(void)
{
    int status;
    for (int i = 0; i < child_count; i++) {
        while (waitpid(children[i], &status, 0) != children[i])
            ;
        say("child", i, status);
    }
    for (int i = 0; i < COPIES && i < copy_count; i++)
        if (waitpid(copies[i], &status, 0) == copies[i] && status != 0)
            say("copy", i, status);
    child_count = 0;
}

/* --- A life ----------------------------------------------------------------------------- */

static void act(void)
{
    const bool may_have_children = depth < DEPTH && child_count < CHILDREN;
    switch (roll(may_have_children ? 9 : 5)) {
    case 0:
    case 1:
        start_threads((int)(1 + roll(4)));
        break;
    case 2:
    case 3:
        work((int)roll(2500), false);
        break;
    case 4:
        visit_library();
        break;
    case 5:
    case 6:
        fork_fully();
        break;
    default:
        start_program(roll(2));
    }
}

static _Noreturn void run_another(void)
{
    struct words words;
    make_words(&words, "x");
    stop_timer();
    execve("/proc/self/exe", words.argv, environ);
    _exit(93);
}

static _Noreturn void end_life(void)
{
    const int code = (int)roll(60);
    switch (roll(depth < DEPTH ? 8 : 7)) {
    case 0:
        abort();
    case 1:
        raise(SIGKILL);
        break;
    case 2:
        raise(SIGTERM);
        break;
    case 3:
        _exit(code);
    case 7:
        run_another();
    default:
        break;
    }
    exit(code);
}

static void live(void)
{
    soak_me.dice = plan;
    start_timer();
    for (uint64_t i = 2 + roll(depth == 0 ? 7 : 4); i > 0; i--)
        act();
    if (roll(3)) /* otherwise they are torn from their work */
        end_threads();
    if (roll(4))
        end_children();
    say("ends", depth, 0);
    end_life();
}

static void free_farewell(void *block)
{
    soak_free(block);
}

static void *nothing(void *unused)
{
    return unused;
}

/* glibc loads the unwinder when the first thread ends by force: not while others fork. */
static void load_unwinder(void)
{
    pthread_t id;
    pthread_create(&id, NULL, nothing, NULL);
    pthread_cancel(id);
    pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4 || !soak_counts_open(getenv("SOAK_COUNTS")))
        return 2;
    soak_wild = getenv("SOAK_WILD") != NULL;
    plan = strtoull(argv[1], NULL, 10);
    snprintf(name, sizeof(name), "%s", argv[2]);
    depth = atoi(argv[3]);
    use_stack(main_stack);
    pthread_key_create(&farewell, free_farewell);
    load_unwinder();
    live();
    return 0;
}
