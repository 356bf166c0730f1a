/* unit/test_filter_eval.c - our verdict on a system call is the kernel's.
 *
 * Random filters that the kernel takes are set in a child, which makes a call that does not
 * exist.  Each verdict of a filter is an errno, so the kernel says which one it came to.
 */
#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/filter_eval.h"
#include "dice.h"

enum {
    TIDE_LENGTH = 24,
    TIDE_HEAD = 3,
    TIDE_TAIL = 3,
    TIDE_ROUNDS = 400,
    TIDE_UNKNOWN_CALL = 4000
};
enum { TIDE_VALUE_BITS = 0xff, TIDE_SKIPPED = 200, TIDE_REFUSED = 201 };

/* NOLINTBEGIN(misc-redundant-expression): parts of them are zero */
static const unsigned short codes[] = {
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_W | BPF_LEN,
    BPF_LDX | BPF_W | BPF_LEN,
    BPF_LD | BPF_IMM,
    BPF_LDX | BPF_IMM,
    BPF_LD | BPF_MEM,
    BPF_LDX | BPF_MEM,
    BPF_ST,
    BPF_STX,
    BPF_ALU | BPF_ADD | BPF_K,
    BPF_ALU | BPF_ADD | BPF_X,
    BPF_ALU | BPF_SUB | BPF_K,
    BPF_ALU | BPF_SUB | BPF_X,
    BPF_ALU | BPF_MUL | BPF_K,
    BPF_ALU | BPF_MUL | BPF_X,
    BPF_ALU | BPF_DIV | BPF_K,
    BPF_ALU | BPF_AND | BPF_K,
    BPF_ALU | BPF_AND | BPF_X,
    BPF_ALU | BPF_OR | BPF_K,
    BPF_ALU | BPF_OR | BPF_X,
    BPF_ALU | BPF_XOR | BPF_K,
    BPF_ALU | BPF_XOR | BPF_X,
    BPF_ALU | BPF_LSH | BPF_K,
    BPF_ALU | BPF_RSH | BPF_K,
    BPF_ALU | BPF_NEG,
    BPF_MISC | BPF_TAX,
    BPF_MISC | BPF_TXA,
    BPF_JMP | BPF_JA,
    BPF_JMP | BPF_JEQ | BPF_K,
    BPF_JMP | BPF_JEQ | BPF_X,
    BPF_JMP | BPF_JGT | BPF_K,
    BPF_JMP | BPF_JGT | BPF_X,
    BPF_JMP | BPF_JGE | BPF_K,
    BPF_JMP | BPF_JGE | BPF_X,
    BPF_JMP | BPF_JSET | BPF_K,
    BPF_JMP | BPF_JSET | BPF_X,
};
/* NOLINTEND(misc-redundant-expression) */

/* Scratch words are read only after they were written, or the kernel does not take it. */
static struct sock_filter any(struct dice *dice, int left)
{
    struct sock_filter out = {
        .code = codes[dice_roll(dice, sizeof(codes) / sizeof(*codes))]};
    const unsigned class = BPF_CLASS(out.code);
    out.k = (uint32_t)dice_number(dice);
    if (class == BPF_JMP) {
        out.jt = (unsigned char)dice_roll(dice, left);
        out.jf = (unsigned char)dice_roll(dice, left);
        if (BPF_OP(out.code) == BPF_JA)
            out.k = (uint32_t)dice_roll(dice, left);
    } else if (class == BPF_LD && BPF_MODE(out.code) == BPF_ABS) {
        out.k = 4 * (uint32_t)dice_roll(dice, sizeof(struct seccomp_data) / 4);
        if (out.k == offsetof(struct seccomp_data, instruction_pointer))
            out.k = 0; /* its low half is not known here */
    } else if (class == BPF_ST || class == BPF_STX || BPF_MODE(out.code) == BPF_MEM) {
        out.k = (uint32_t)dice_roll(dice, BPF_MEMWORDS);
    } else if (class == BPF_ALU && BPF_SRC(out.code) == BPF_K) {
        out.k = BPF_OP(out.code) == BPF_LSH || BPF_OP(out.code) == BPF_RSH ? out.k % 32
                                                                           : out.k | 1;
    }
    return out;
}

/* Everything but the one call is allowed. */
static void make_filter(struct dice *dice, struct sock_filter *out)
{
    const struct sock_filter head[TIDE_HEAD] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIDE_UNKNOWN_CALL, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_filter tail[TIDE_TAIL] = {
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TIDE_VALUE_BITS),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0)};
    for (unsigned i = 0; i < TIDE_HEAD; i++)
        *out++ = head[i];
    for (int i = 0; i < TIDE_LENGTH; i++)
        *out++ = any(dice, TIDE_LENGTH - i);
    for (unsigned i = 0; i < TIDE_TAIL; i++)
        *out++ = tail[i];
}

static const uint64_t arguments[6] = {1, 0x123456789abcdefull, ~0ull, 7, 0, 1ull << 63};

/* In a child: what the kernel says, as an exit status. */
static int ask_kernel(struct sock_filter *filter)
{
    const struct sock_fprog program = {.len = TIDE_HEAD + TIDE_LENGTH + TIDE_TAIL,
                                       .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return TIDE_SKIPPED;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return errno == EINVAL ? TIDE_REFUSED : TIDE_SKIPPED;
    errno = 0;
    const long result = syscall(TIDE_UNKNOWN_CALL, arguments[0], arguments[1],
                                arguments[2], arguments[3], arguments[4], arguments[5]);
    return result == 0 ? 0 : errno;
}

static int verdict_of_kernel(struct sock_filter *filter)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(ask_kernel(filter));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void verdicts_are_the_kernels(void **state)
{
    struct sock_filter filter[TIDE_HEAD + TIDE_LENGTH + TIDE_TAIL];
    struct seccomp_data data = {.nr = TIDE_UNKNOWN_CALL, .arch = AUDIT_ARCH_X86_64};
    struct dice dice = {1};
    unsigned compared = 0;
    (void)state;
    for (int i = 0; i < 6; i++)
        data.args[i] = arguments[i];
    for (int i = 0; i < TIDE_ROUNDS; i++) {
        make_filter(&dice, filter);
        const int kernels = verdict_of_kernel(filter);
        if (kernels == TIDE_SKIPPED)
            skip(); /* no seccomp here */
        if (kernels == TIDE_REFUSED)
            continue;
        const uint32_t ours =
            tide_filter_verdict(filter, TIDE_HEAD + TIDE_LENGTH + TIDE_TAIL, &data);
        assert_int_equal(ours & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
        assert_int_equal(ours & SECCOMP_RET_DATA, kernels);
        compared++;
    }
    assert_true(compared > TIDE_ROUNDS / 10);
}

static void other_calls_pass(void **state)
{
    struct sock_filter filter[TIDE_HEAD + TIDE_LENGTH + TIDE_TAIL];
    const struct seccomp_data data = {.nr = SYS_getpid, .arch = AUDIT_ARCH_X86_64};
    struct dice dice = {2};
    (void)state;
    make_filter(&dice, filter);
    assert_int_equal(
        tide_filter_verdict(filter, TIDE_HEAD + TIDE_LENGTH + TIDE_TAIL, &data),
        SECCOMP_RET_ALLOW);
    assert_int_equal(tide_filter_verdict(filter, 0, &data), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_the_kernels),
        cmocka_unit_test(other_calls_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
