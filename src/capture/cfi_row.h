/* capture/cfi_row.h - how to get from one frame to its caller, for one pc.
 *
 * For: stack_cfi.c, tests.  A row is what .eh_frame says about a pc, reduced to the two
 * registers that compilers use to find a frame: rsp and rbp.  Two others occur in places
 * that are met rarely: see TIDE_CFA_RBX and TIDE_CFA_R10.  The return address always stands
 * 8 bytes below the CFA.
 */
#ifndef TIDE_CAPTURE_CFI_ROW_H
#define TIDE_CAPTURE_CFI_ROW_H

#include <stdint.h>

enum tide_cfa {
    TIDE_CFA_UNKNOWN = 0, /* no table for this pc, or one that we do not understand */
    TIDE_CFA_RSP = 1,     /* CFA = rsp + offset */
    TIDE_CFA_RBP = 2,     /* CFA = rbp + offset */
    TIDE_CFA_DEREF = 3,  /* CFA = *(rbp + offset): functions that realign their stack */
    TIDE_CFA_END = 4,    /* the outermost frame: it has no return address */
    TIDE_CFA_SIGNAL = 5, /* a signal's trampoline: the kernel saved all registers */
    TIDE_CFA_RBX = 6,    /* CFA = rbx + offset: the loader, while it binds a function */
    TIDE_CFA_R10 = 7,    /* CFA = r10 + offset: the first and last instructions of a
                            function that realigns its stack; only a signal shows them */
};

enum tide_rbp {
    TIDE_RBP_SAME = 0,   /* the caller's rbp is still in rbp */
    TIDE_RBP_AT_CFA = 1, /* it stands at CFA + offset */
    TIDE_RBP_AT_RBP = 2, /* it stands at rbp + offset */
};

struct tide_cfi_row {
    uint8_t cfa; /* enum tide_cfa */
    uint8_t rbp; /* enum tide_rbp */
    int32_t cfa_offset;
    int32_t rbp_offset;
};

/* Where the caller's rbx is. */
enum tide_rbx {
    TIDE_RBX_SAME = 0, /* still in rbx */
    TIDE_RBX_AT_CFA = 1,
    TIDE_RBX_LOST = 2, /* in a way that we do not understand */
};

struct tide_cfi_rbx {
    enum tide_rbx where;
    int32_t offset; /* TIDE_RBX_AT_CFA: from it */
};

/* The row for PC.  For a return address pass the address minus one.  Takes no lock,
 * allocates nothing, may be called in signal handlers. */
struct tide_cfi_row tide_cfi_find_row(uintptr_t pc);
/* The same for rbx, which no row holds: it is asked for rarely. */
struct tide_cfi_rbx tide_cfi_find_rbx(uintptr_t pc);

#endif
