/* collect/signals.c - the signals of a process that stands before another one. */
#include "collect/signals.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* SIGCHLD ignored would lose the program's status.  SIGPIPE and SIGXFSZ (file size
 * limit) would end us where an errno does as well. */
static const struct {
    int number;
    void (*action)(int);
} CHANGED[TIDE_SIGNALS_CHANGED] = {
    {SIGCHLD, SIG_DFL}, {SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}};

static const int WAITED[] = {SIGINT,    SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2,
                             SIGTSTP,   SIGCONT, SIGCHLD, SIGALRM, SIGPROF, SIGVTALRM,
                             SIGSTKFLT, SIGPWR,  SIGXCPU, SIGABRT};

static const __itimer_which_t TIMERS[TIDE_SIGNALS_TIMERS] = {
    ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

static void fill_waited(sigset_t *set)
{
    (void)sigemptyset(set);
    for (size_t i = 0; i < sizeof(WAITED) / sizeof(WAITED[0]); i++)
        (void)sigaddset(set, WAITED[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)sigaddset(set, number);
}

void tide_signals_take(struct tide_signals *before)
{
    sigset_t blocked;
    fill_waited(&blocked);
    (void)sigaddset(&blocked, SIGIO); /* see tide_share_held(): a lease may be broken */
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &before->mask);
    for (int i = 0; i < TIDE_SIGNALS_CHANGED; i++) {
        const struct sigaction action = {.sa_handler = CHANGED[i].action};
        (void)sigaction(CHANGED[i].number, &action, &before->actions[i]);
    }
    const struct itimerval never = {0};
    for (int i = 0; i < TIDE_SIGNALS_TIMERS; i++)
        (void)setitimer(TIMERS[i], &never, &before->timers[i]);
}

void tide_timers_restore(const struct tide_signals *before)
{
    for (int i = 0; i < TIDE_SIGNALS_TIMERS; i++)
        (void)setitimer(TIMERS[i], &before->timers[i], NULL);
}

void tide_signals_restore(const struct tide_signals *before)
{
    for (int i = 0; i < TIDE_SIGNALS_CHANGED; i++)
        (void)sigaction(CHANGED[i].number, &before->actions[i], NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

int tide_signals_open(void)
{
    sigset_t waited;
    fill_waited(&waited);
    return signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
}

struct tide_signal tide_signals_next(int fd)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return (struct tide_signal){.kind = TIDE_SIGNAL_NONE};
    struct tide_signal signal = {.number = (int)info.ssi_signo,
                                 .sender = (pid_t)info.ssi_pid};
    if (signal.number == SIGCHLD)
        signal.kind = TIDE_SIGNAL_CHILD;
    else if (info.ssi_code == SI_KERNEL)
        signal.kind = TIDE_SIGNAL_SHARED;
    else
        signal.kind = TIDE_SIGNAL_FORWARD;
    return signal;
}

bool tide_signal_ends(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM ||
           number == SIGHUP;
}

void tide_signal_die(int number)
{
    const struct rlimit none = {0};
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t only;
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)sigaction(number, &plain, NULL);
    (void)sigemptyset(&only);
    (void)sigaddset(&only, number);
    (void)raise(number);
    (void)pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}
