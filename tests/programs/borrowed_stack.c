/* tests/programs/borrowed_stack.c - call a function on memory of its own, as a stack.
 *
 * The frame tables of call_on() tell where it was called from as if the stack were still the
 * one before: beyond the end of the memory, where nothing can be read.  100 blocks under a
 * few pages of frames, with the next page closed, with none, and 100 more where it was open
 * before.  With an argument all that in a sandbox, where nothing can be learned of signal masks.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "other_stack.h"
#include "say.h"

enum { DEPTH = 20, PAGE = 4096, STACK = 16 * PAGE };

__attribute__((noinline)) static void deeper(int more)
{
    volatile char room[900];
    room[0] = (char)more;
    if (more > 0)
        deeper(more - 1);
    else
        make();
    sum += room[0];
}

static void work(void)
{
    deeper(DEPTH);
    sum++;
}

static int enter_sandbox(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    (void)argv;
    char *const stack = mmap(NULL, STACK + 2 * PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *const top = stack + STACK;
    if (stack == MAP_FAILED || (argc > 1 && enter_sandbox() != 0))
        return 1;
    call_on(top + PAGE, work); /* its frames are in the page above top, too */
    if (mprotect(top, PAGE, PROT_NONE) != 0)
        return 1;
    call_on(top, work);
    if (munmap(top, 2 * PAGE) != 0)
        return 1;
    call_on(top, work);
    say("done\n");
    return 0;
}
