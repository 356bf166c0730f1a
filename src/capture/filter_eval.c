/* capture/filter_eval.c - what a seccomp filter says of a system call.
 *
 * Classic BPF as seccomp(2) takes it: loads of 32-bit words of seccomp_data, arithmetic,
 * jumps forward, sixteen words of scratch memory.  Jumps go forward only, so it ends.
 */
#include "capture/filter_eval.h"

#include <stdbool.h>
#include <string.h>

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t data_word(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word = 0;
    if (offset % sizeof(word) == 0 && offset < sizeof(*data))
        memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

static uint32_t load(const struct machine *m, const struct sock_filter *at,
                     const struct seccomp_data *data)
{
    switch (BPF_MODE(at->code)) {
    case BPF_ABS:
        return data_word(data, at->k);
    case BPF_LEN:
        return sizeof(*data);
    case BPF_MEM:
        return m->memory[at->k % BPF_MEMWORDS];
    default:
        return at->k; /* BPF_IMM */
    }
}

static uint32_t compute(const struct machine *m, const struct sock_filter *at)
{
    const uint32_t operand = BPF_SRC(at->code) == BPF_X ? m->x : at->k;
    switch (BPF_OP(at->code)) {
    case BPF_ADD:
        return m->a + operand;
    case BPF_SUB:
        return m->a - operand;
    case BPF_MUL:
        return m->a * operand;
    case BPF_DIV:
        return operand ? m->a / operand : 0;
    case BPF_OR:
        return m->a | operand;
    case BPF_AND:
        return m->a & operand;
    case BPF_XOR:
        return m->a ^ operand;
    case BPF_LSH:
        return operand < 32 ? m->a << operand : 0;
    case BPF_RSH:
        return operand < 32 ? m->a >> operand : 0;
    default:
        return -m->a; /* BPF_NEG */
    }
}

static bool is_taken(const struct machine *m, const struct sock_filter *at)
{
    const uint32_t operand = BPF_SRC(at->code) == BPF_X ? m->x : at->k;
    switch (BPF_OP(at->code)) {
    case BPF_JEQ:
        return m->a == operand;
    case BPF_JGT:
        return m->a > operand;
    case BPF_JGE:
        return m->a >= operand;
    default:
        return (m->a & operand) != 0; /* BPF_JSET */
    }
}

/* Instructions to skip after the jump AT. */
static uint32_t skipped(const struct machine *m, const struct sock_filter *at)
{
    if (BPF_OP(at->code) == BPF_JA)
        return at->k;
    return is_taken(m, at) ? at->jt : at->jf;
}

static void step(struct machine *m, const struct sock_filter *at,
                 const struct seccomp_data *data)
{
    switch (BPF_CLASS(at->code)) {
    case BPF_LD:
        m->a = load(m, at, data);
        break;
    case BPF_LDX:
        m->x = load(m, at, data);
        break;
    case BPF_ST:
        m->memory[at->k % BPF_MEMWORDS] = m->a;
        break;
    case BPF_STX:
        m->memory[at->k % BPF_MEMWORDS] = m->x;
        break;
    case BPF_ALU:
        m->a = compute(m, at);
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(at->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
        break;
    }
}

uint32_t tide_filter_verdict(const struct sock_filter *filter, uint32_t count,
                             const struct seccomp_data *data)
{
    struct machine m = {0};
    for (uint64_t at = 0; at < count; at++) {
        const unsigned class = BPF_CLASS(filter[at].code);
        if (class == BPF_RET)
            return BPF_RVAL(filter[at].code) == BPF_A ? m.a : filter[at].k;
        if (class == BPF_JMP)
            at += skipped(&m, &filter[at]);
        else
            step(&m, &filter[at], data);
    }
    return SECCOMP_RET_KILL_PROCESS;
}
