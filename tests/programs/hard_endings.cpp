/* tests/programs/hard_endings.cpp - end in the harder ways, after a known number of calls.
 *
 * Usage: hard_endings HOW.  Prints its count before it ends: see the table below.
 */
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { CALLS = 1000, FREED = 400, SIZE = 64, STACK = 64 * 1024 };

static char alternate[STACK];
static volatile std::uintptr_t zero;

__attribute__((noinline)) static void *make(std::size_t size)
{
    void *volatile block = std::malloc(size);
    return block;
}

static void say_count(int more)
{
    const int calls = CALLS + more;
    say("{\"make\": [%d, %d, %d]}\n", calls, calls * SIZE, calls - FREED);
}

/* --- Signals ------------------------------------------------------------------------ */

static void by_signal(int number)
{
    say_count(0);
    raise(number);
}

static void forbidden_call()
{
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof(code) / sizeof(*code), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    make(SIZE);
    say_count(1);
    syscall(SYS_getpgid, 0);
}

/* --- Faults ------------------------------------------------------------------------- */

static void allocate_and_leave(int number)
{
    for (int i = 0; i < 10; i++)
        make(SIZE);
    say_count(10);
    _exit(number + 30);
}

static void set_handler(int flags)
{
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof(alternate);
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = allocate_and_leave;
    action.sa_flags = flags;
    sigaction(SIGSEGV, &action, nullptr);
}

static void fault()
{
    *reinterpret_cast<volatile int *>(zero) = 1;
}

static void fault_with_handler()
{
    set_handler(0);
    fault();
}

__attribute__((noinline)) static int overflow(volatile char *above)
{
    volatile char room[4096];
    room[0] = above ? above[0] : 0;
    return zero == 0 ? overflow(room) + room[0] : 0;
}

static void no_stack()
{
    say_count(0);
    overflow(nullptr);
}

static void no_stack_with_handler()
{
    set_handler(SA_ONSTACK);
    overflow(nullptr);
}

/* --- The rest ----------------------------------------------------------------------- */

static void uncaught()
{
    say_count(0);
    throw std::runtime_error("nobody listens");
}

static void throws_out_of_noexcept() noexcept
{
    uncaught();
}

static void in_vfork_child()
{
    const pid_t pid = vfork();
    if (pid == 0)
        _exit(52);
    int status = 0;
    waitpid(pid, &status, 0);
    make(SIZE);
    say_count(1);
    _exit(WEXITSTATUS(status) + 1);
}

static void no_memory()
{
    const rlimit limit = {256u << 20, 256u << 20};
    setrlimit(RLIMIT_AS, &limit);
    while (make(64u << 20))
        ;
    say("no more\n");
    _exit(54);
}

static const struct {
    const char *how;
    void (*end)();
} endings[] = {
    {"abrt", [] { by_signal(SIGABRT); }},
    {"ill", [] { by_signal(SIGILL); }},
    {"xcpu", [] { by_signal(SIGXCPU); }},
    {"trap", [] { by_signal(SIGTRAP); }},
    {"quit", [] { by_signal(SIGQUIT); }},
    {"usr1", [] { by_signal(SIGUSR1); }},
    {"sys", [] { by_signal(SIGSYS); }},
    {"seccomp", forbidden_call},
    {"segv handler", fault_with_handler},
    {"no stack", no_stack},
    {"no stack, handler", no_stack_with_handler},
    {"uncaught", uncaught},
    {"noexcept", throws_out_of_noexcept},
    {"vfork", in_vfork_child},
    {"no memory", no_memory},
};

int main(int argc, char **argv)
{
    void *blocks[CALLS];
    for (void *&block : blocks)
        block = make(SIZE);
    for (int i = 0; i < FREED; i++)
        std::free(blocks[i]);
    for (const auto &one : endings)
        if (argc > 1 && std::strcmp(one.how, argv[1]) == 0)
            one.end();
    return 2;
}
