/* tests/programs/maps_no_more.c - threads on stacks of the program's own, in a sandbox that
 * kills for mmap.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "say.h"

enum { STACK = 256 << 10, THREADS = 8 };

static _Alignas(4096) char stacks[THREADS][STACK];
static pthread_t ids[THREADS];

static void *work(void *unused)
{
    return unused;
}

static int forbid(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 4, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* What happens once has happened. */
    if (pthread_create(&ids[0], NULL, work, NULL) != 0 ||
        pthread_join(ids[0], NULL) != 0)
        return 1;
    if (forbid() != 0)
        return 2;
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_setstack(&attributes, stacks[i], STACK);
        if (pthread_create(&ids[i], &attributes, work, NULL) != 0)
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    say("done\n");
    return 7;
}
