/* tests/programs/igprof_dumps.c - a program that asks IgProf for profiles, as CMS's service does.
 *
 * igprof_dumps NAME...: of each round there is one, after it: "" is no name.  A round keeps
 * 10 blocks of 1000 bytes and makes 100 of 50 that go.  "-" is no round: from there on the
 * kernel kills who clones.  Prints, as JSON, how many children could be waited for, and
 * LD_PRELOAD.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

typedef void dump_now(const char *file);

static void *volatile kept;

__attribute__((noinline)) static void keeps(void)
{
    for (int i = 0; i < 10; i++)
        kept = malloc(1000);
}

__attribute__((noinline)) static void churns(void)
{
    for (int i = 0; i < 100; i++) {
        kept = malloc(50);
        free(kept);
    }
}

static void shut_in(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        abort();
}

int main(int argc, char **argv)
{
    dump_now *dump;
    void *const found = dlsym(NULL, "igprof_dump_now");
    memcpy(&dump, &found, sizeof(dump));
    int children = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-") == 0) {
            shut_in();
            continue;
        }
        keeps();
        churns();
        if (dump)
            dump(*argv[i] ? argv[i] : NULL);
        children += waitpid(-1, NULL, WNOHANG) > 0;
    }
    const char *const preload = getenv("LD_PRELOAD");
    say("{\"found\": %d, \"children\": %d, \"preload\": \"%s\"}\n", dump != NULL,
        children, preload ? preload : "");
    return 0;
}
