/* tests/programs/hostile_home.c - make life hard for whoever needs files and descriptors.
 *
 * Usage: hostile_home HOW; then 500 threads' worth of blocks are made in 5 threads.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *unused)
{
    for (int i = 0; i < 20000; i++)
        free(make(100));
    for (int i = 0; i < 100; i++)
        make(100);
    return unused;
}

static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

/* Put a file of ours behind every descriptor that somebody else might use. */
static void cover_all(void)
{
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = 3; fd < 256; fd++)
        if (fd != nothing)
            dup2(nothing, fd);
}

/* After this only what a quiet program needs is allowed. */
static void forbid(void)
{
    static const unsigned forbidden[] = {SYS_socket, SYS_connect, SYS_memfd_create,
                                         SYS_open, SYS_openat};
    struct sock_filter rules[2 + 2 * 5 + 1];
    unsigned count = 0;
    rules[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (unsigned i = 0; i < 5; i++) {
        rules[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
        rules[count++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
    }
    rules[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = (unsigned short)count, .filter = rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void limit(int what, rlim_t value)
{
    const struct rlimit both = {value, value};
    setrlimit((__rlimit_resource_t)what, &both);
}

static int spoil(const char *how)
{
    if (strcmp(how, "close") == 0)
        close_all();
    else if (strcmp(how, "cover") == 0)
        cover_all();
    else if (strcmp(how, "chroot") == 0)
        return chroot("/proc/self/fdinfo") == 0 && chdir("/") == 0 ? 0 : 3;
    else if (strcmp(how, "setuid") == 0)
        return setgid(65534) == 0 && setuid(65534) == 0 ? 0 : 4;
    else if (strcmp(how, "seccomp") == 0)
        forbid();
    else if (strcmp(how, "nofile") == 0)
        limit(RLIMIT_NOFILE, 3);
    else if (strcmp(how, "fsize") == 0)
        limit(RLIMIT_FSIZE, 0);
    else if (strcmp(how, "nothing") != 0)
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[5];
    const int status = spoil(argc > 1 ? argv[1] : "nothing");
    if (status)
        return status;
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    say("done\n");
    return 7;
}
