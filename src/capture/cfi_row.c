/* capture/cfi_row.c - run the frame tables of an ELF file for one pc.
 *
 * .eh_frame_hdr holds a sorted table from start address to FDE; the FDE (one function)
 * and its CIE (what functions share) hold a little program whose state at the pc is the
 * row.  _dl_find_object names the table for a pc without taking the loader's lock.
 *
 * The tables are the target's own and mapped; they are trusted as far as C++ exceptions
 * trust them, but every loop is bounded by the section's own lengths.  Large ones are read
 * in a mapping of our own (frame_tables.h); if that gives no row, in the target's as well.
 */
#include "capture/cfi_row.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "capture/cfi_bytes.h"
#include "capture/cfi_table.h"
#include "capture/frame_tables.h"

enum {
    TIDE_REG_RBX = 3,
    TIDE_REG_RBP = 6,
    TIDE_REG_RSP = 7,
    TIDE_REG_R10 = 10,
    TIDE_REG_RA = 16,
    TIDE_SAVED_STATES = 16,
};

/* What a run of the program keeps. */
struct cfi_state {
    struct tide_cfi_row row;
    struct tide_cfi_rbx rbx;
    bool ra_undefined;
};

/* A CIE and the reading position. */
struct cfi_run {
    struct tide_cfi_bytes in;
    uint64_t code_align;
    int64_t data_align;
    uintptr_t location;               /* where the state now holds */
    uintptr_t pc;                     /* where we want it */
    struct tide_frame_tables *tables; /* where we read; NULL: where the target does */
    uint8_t pointer_encoding;
    bool signal_frame;
    struct cfi_state state, initial;
    struct cfi_state saved[TIDE_SAVED_STATES];
    unsigned saved_count;
};

/* --- The instructions ----------------------------------------------------------------- */

static void set_cfa_register(struct cfi_run *run, uint64_t reg)
{
    struct tide_cfi_row *row = &run->state.row;
    if (reg == TIDE_REG_RSP)
        row->cfa = TIDE_CFA_RSP;
    else if (reg == TIDE_REG_RBP)
        row->cfa = TIDE_CFA_RBP;
    else if (reg == TIDE_REG_RBX)
        row->cfa = TIDE_CFA_RBX;
    else if (reg == TIDE_REG_R10)
        row->cfa = TIDE_CFA_R10;
    else
        row->cfa = TIDE_CFA_UNKNOWN;
}

/* OFFSET, if a row can tell it; else there is none. */
static int32_t narrow(struct cfi_run *run, int64_t offset)
{
    run->in.bad |= offset != (int32_t)offset;
    return (int32_t)offset;
}

/* REG was saved at CFA + OFFSET. */
static void set_saved(struct cfi_run *run, uint64_t reg, int64_t offset)
{
    if (reg == TIDE_REG_RBP) {
        run->state.row.rbp = TIDE_RBP_AT_CFA;
        run->state.row.rbp_offset = narrow(run, offset);
    } else if (reg == TIDE_REG_RBX) {
        run->state.rbx = (struct tide_cfi_rbx){TIDE_RBX_AT_CFA, narrow(run, offset)};
    } else if (reg == TIDE_REG_RA) {
        run->state.ra_undefined = false;
        if (offset != -8)
            run->in.bad = true;
    }
}

static void restore_initial(struct cfi_run *run, uint64_t reg)
{
    if (reg == TIDE_REG_RBP) {
        run->state.row.rbp = run->initial.row.rbp;
        run->state.row.rbp_offset = run->initial.row.rbp_offset;
    } else if (reg == TIDE_REG_RBX) {
        run->state.rbx = run->initial.rbx;
    } else if (reg == TIDE_REG_RA) {
        run->state.ra_undefined = run->initial.ra_undefined;
    }
}

/* Two shapes of expression occur in compiled code: "breg6 n; deref" as CFA and "breg6 n"
 * as the place of rbp, both in functions that realign their stack. */
static bool is_rbp_expression(struct cfi_run *run, uint64_t bytes, bool deref,
                              int32_t *out)
{
    const uint8_t *end = run->in.at + bytes;
    if (bytes > (uint64_t)(run->in.end - run->in.at)) {
        run->in.bad = true;
        return false;
    }
    bool fits = bytes >= 2 && *run->in.at == 0x70 + TIDE_REG_RBP;
    if (fits) {
        run->in.at++;
        *out = narrow(run, tide_read_sleb(&run->in));
        fits = run->in.at + deref == end && (!deref || *run->in.at == 0x06);
    }
    run->in.at = end;
    return fits;
}

/* What linkers write for a table of jumps (.plt), sixteen bytes to a function: rsp + n, and
 * 8 more from the byte on that follows a push.  A row is for one pc, so it knows. */
static bool is_plt_expression(struct cfi_run *run, uint64_t bytes)
{
    /* breg7 n; breg16 0; lit15; and; lit<from>; ge; lit3; shl; plus */
    const uint8_t usual[] = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
                             0x3b, 0x2a, 0x33, 0x24, 0x22};
    const uint8_t *const is = run->in.at;
    if (bytes != sizeof(usual) || (uint64_t)(run->in.end - is) < sizeof(usual))
        return false;
    const unsigned n = is[1], from = is[6] - 0x30u; /* 0x30: lit0 */
    if (n >= 64 || from >= 16)
        return false;
    for (unsigned i = 0; i < sizeof(usual); i++)
        if (i != 1 && i != 6 && is[i] != usual[i])
            return false;
    run->in.at += sizeof(usual);
    run->state.row.cfa_offset = (int32_t)n + (run->pc % 16 >= from ? 8 : 0);
    return true;
}

static void cfa_expression(struct cfi_run *run)
{
    struct tide_cfi_row *row = &run->state.row;
    const uint64_t bytes = tide_read_uleb(&run->in);
    if (is_plt_expression(run, bytes))
        row->cfa = TIDE_CFA_RSP;
    else if (is_rbp_expression(run, bytes, true, &row->cfa_offset))
        row->cfa = TIDE_CFA_DEREF;
    else
        row->cfa = TIDE_CFA_UNKNOWN;
}

static void register_expression(struct cfi_run *run, bool is_value)
{
    struct tide_cfi_row *row = &run->state.row;
    const uint64_t reg = tide_read_uleb(&run->in);
    const uint64_t bytes = tide_read_uleb(&run->in);
    int32_t offset = 0;
    const bool plain = is_rbp_expression(run, bytes, false, &offset);
    if (reg == TIDE_REG_RBX)
        run->state.rbx.where = TIDE_RBX_LOST;
    if (reg != TIDE_REG_RBP && reg != TIDE_REG_RA)
        return;
    if (reg == TIDE_REG_RBP && plain && !is_value) {
        row->rbp = TIDE_RBP_AT_RBP;
        row->rbp_offset = offset;
    } else {
        row->cfa = TIDE_CFA_UNKNOWN;
    }
}

static void remember(struct cfi_run *run)
{
    if (run->saved_count == TIDE_SAVED_STATES)
        run->in.bad = true;
    else
        run->saved[run->saved_count++] = run->state;
}

static void recall(struct cfi_run *run)
{
    if (run->saved_count == 0)
        run->in.bad = true;
    else
        run->state = run->saved[--run->saved_count];
}

static void undefined(struct cfi_run *run)
{
    const uint64_t reg = tide_read_uleb(&run->in);
    if (reg == TIDE_REG_RA)
        run->state.ra_undefined = true;
    else if (reg == TIDE_REG_RBX)
        run->state.rbx.where = TIDE_RBX_LOST;
}

static void same_value(struct cfi_run *run)
{
    const uint64_t reg = tide_read_uleb(&run->in);
    if (reg == TIDE_REG_RBP)
        run->state.row.rbp = TIDE_RBP_SAME;
    else if (reg == TIDE_REG_RBX)
        run->state.rbx.where = TIDE_RBX_SAME;
}

/* Only odd code keeps a register in another one. */
static void in_register(struct cfi_run *run)
{
    const uint64_t reg = tide_read_uleb(&run->in);
    tide_read_uleb(&run->in);
    if (reg == TIDE_REG_RBP || reg == TIDE_REG_RA)
        run->in.bad = true;
    else if (reg == TIDE_REG_RBX)
        run->state.rbx.where = TIDE_RBX_LOST;
}

/* Instructions that move or save registers.  False: OP is none of them. */
static bool run_rule(struct cfi_run *run, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x05: /* offset_extended */
        reg = tide_read_uleb(&run->in);
        set_saved(run, reg, (int64_t)tide_read_uleb(&run->in) * run->data_align);
        return true;
    case 0x11: /* offset_extended_sf */
        reg = tide_read_uleb(&run->in);
        set_saved(run, reg, tide_read_sleb(&run->in) * run->data_align);
        return true;
    case 0x06: /* restore_extended */
        restore_initial(run, tide_read_uleb(&run->in));
        return true;
    case 0x07:
        undefined(run);
        return true;
    case 0x08:
        same_value(run);
        return true;
    case 0x09:
        in_register(run);
        return true;
    case 0x10:
        register_expression(run, false);
        return true;
    case 0x16:
        register_expression(run, true);
        return true;
    default:
        return false;
    }
}

/* Instructions about the CFA and the state as a whole. */
static bool run_frame(struct cfi_run *run, uint8_t op)
{
    struct tide_cfi_row *row = &run->state.row;
    switch (op) {
    case 0x00: /* nop */
        return true;
    case 0x0a:
        remember(run);
        return true;
    case 0x0b:
        recall(run);
        return true;
    case 0x0c: /* def_cfa */
        set_cfa_register(run, tide_read_uleb(&run->in));
        row->cfa_offset = narrow(run, (int64_t)tide_read_uleb(&run->in));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa_register(run, tide_read_uleb(&run->in));
        return true;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = narrow(run, (int64_t)tide_read_uleb(&run->in));
        return true;
    case 0x0f:
        cfa_expression(run);
        return true;
    case 0x12: /* def_cfa_sf */
        set_cfa_register(run, tide_read_uleb(&run->in));
        row->cfa_offset = narrow(run, tide_read_sleb(&run->in) * run->data_align);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = narrow(run, tide_read_sleb(&run->in) * run->data_align);
        return true;
    case 0x2e: /* GNU_args_size */
        tide_read_uleb(&run->in);
        return true;
    default:
        return false;
    }
}

/* How far OP advances the location; 0: it does not. */
static uint64_t advance_of(struct cfi_run *run, uint8_t op)
{
    if ((op & 0xc0) == 0x40)
        return op & 63u;
    switch (op) {
    case 0x02:
        return tide_read_fixed(&run->in, 1);
    case 0x03:
        return tide_read_fixed(&run->in, 2);
    case 0x04:
        return tide_read_fixed(&run->in, 4);
    default:
        return 0;
    }
}

static void run_program(struct cfi_run *run)
{
    while (run->in.at < run->in.end && !run->in.bad) {
        const uint8_t op = *run->in.at++;
        if (op == 0x01) { /* set_loc */
            run->location = tide_read_encoded(&run->in, run->pointer_encoding, 0);
        } else if ((op & 0xc0) == 0x40 || (op >= 0x02 && op <= 0x04)) {
            run->location += advance_of(run, op) * run->code_align;
        } else if ((op & 0xc0) == 0x80) {
            set_saved(run, op & 63,
                      (int64_t)tide_read_uleb(&run->in) * run->data_align);
            continue;
        } else if ((op & 0xc0) == 0xc0) {
            restore_initial(run, op & 63);
            continue;
        } else {
            run->in.bad |= !run_rule(run, op) && !run_frame(run, op);
            continue;
        }
        if (run->location > run->pc)
            return;
    }
}

/* --- CIE and FDE ---------------------------------------------------------------------- */

/* Is a CIE or FDE at AT, so that it can be read?  Then *LENGTH is what it says of itself. */
static bool is_there(struct cfi_run *run, const uint8_t *at, uint32_t *length)
{
    const uintptr_t place = (uintptr_t)at;
    struct tide_frame_tables *const tables = run->tables;
    if (tables && (place < tables->from || place > tables->to - 8))
        return false;
    tide_frame_tables_touch(tables, place);
    memcpy(length, at, sizeof(*length));
    const uintptr_t most = tables ? tables->to - place - 4 : 0xfffffffeu;
    if (*length == 0 || *length > most)
        return false;
    tide_frame_tables_touch(tables, place + 3 + *length);
    return true;
}

/* Read a CIE up to its instructions, and run those. */
static void read_cie(struct cfi_run *run, const uint8_t *cie)
{
    uint32_t length;
    if (!is_there(run, cie, &length)) {
        run->in.bad = true;
        return;
    }
    run->in.end = cie + 4 + length;
    run->in.at = cie + 8;
    const uint8_t version = (uint8_t)tide_read_fixed(&run->in, 1);
    const char *augmentation = (const char *)run->in.at;
    tide_skip_text(&run->in);
    if (run->in.bad)
        return;
    run->code_align = tide_read_uleb(&run->in);
    run->data_align = tide_read_sleb(&run->in);
    const uint64_t ra =
        version == 1 ? tide_read_fixed(&run->in, 1) : tide_read_uleb(&run->in);
    run->in.bad |= ra != TIDE_REG_RA || (*augmentation && *augmentation != 'z');
    if (*augmentation == 'z')
        tide_read_uleb(&run->in);
    for (const char *letter = augmentation; *letter && !run->in.bad; letter++) {
        if (*letter == 'R')
            run->pointer_encoding = (uint8_t)tide_read_fixed(&run->in, 1);
        else if (*letter == 'L')
            tide_read_fixed(&run->in, 1);
        else if (*letter == 'P')
            tide_read_encoded(&run->in, (uint8_t)tide_read_fixed(&run->in, 1) & 0x7f,
                              0);
        else if (*letter == 'S')
            run->signal_frame = true;
    }
    run_program(run);
    run->initial = run->state;
}

/* The row at run->pc, by the FDE that should cover it. */
static struct tide_cfi_row run_fde(struct cfi_run *run, const uint8_t *fde)
{
    const struct tide_cfi_row none = {0};
    uint32_t length, cie_offset;
    if (!is_there(run, fde, &length))
        return none;
    memcpy(&cie_offset, fde + 4, sizeof(cie_offset));
    if (length < 12 || cie_offset == 0)
        return none;
    run->location = 0;
    read_cie(run, fde + 4 - cie_offset);
    if (run->in.bad)
        return none;

    run->in.at = fde + 8;
    run->in.end = fde + 4 + length;
    const uintptr_t start = tide_read_encoded(&run->in, run->pointer_encoding, 0);
    const uintptr_t bytes = tide_read_encoded(&run->in, run->pointer_encoding & 15, 0);
    if (run->in.bad || run->pc - start >= bytes)
        return none;
    const uint64_t skip = tide_read_uleb(&run->in); /* augmentation data */
    if (skip > (uint64_t)(run->in.end - run->in.at))
        return none;
    run->in.at += skip;
    if (run->signal_frame)
        return (struct tide_cfi_row){.cfa = TIDE_CFA_SIGNAL};
    run->location = start;
    run_program(run);
    if (run->in.bad)
        return none;
    if (run->state.ra_undefined)
        return (struct tide_cfi_row){.cfa = TIDE_CFA_END};
    return run->state.row;
}

/* --- A row for a pc ------------------------------------------------------------------- */

/* The row for run->pc by the tables whose header the target has at HEADER. */
static struct tide_cfi_row find_in(struct cfi_run *run, uintptr_t header)
{
    run->in.elsewhere = run->tables ? run->tables->elsewhere : 0;
    const uint8_t *const fde =
        tide_cfi_search(run->tables, header - run->in.elsewhere, run->pc);
    return fde ? run_fde(run, fde) : (struct tide_cfi_row){0};
}

/* Run the tables for run->pc; all zeros when there are none. */
static struct tide_cfi_row find(struct cfi_run *run)
{
    struct tide_cfi_row row = {0};
    struct dl_find_object object;
    if (_dl_find_object((void *)run->pc, &object) != 0 || !object.dlfo_eh_frame)
        return row;
    const uintptr_t header = (uintptr_t)object.dlfo_eh_frame;
    run->tables = tide_frame_tables_of(header);
    if (run->tables) {
        row = find_in(run, header);
        tide_frame_tables_rest();
        if (row.cfa != TIDE_CFA_UNKNOWN)
            return row;
        *run = (struct cfi_run){.pc = run->pc};
    }
    return find_in(run, header);
}

struct tide_cfi_row tide_cfi_find_row(uintptr_t pc)
{
    struct cfi_run run = {.pc = pc};
    return find(&run);
}

struct tide_cfi_rbx tide_cfi_find_rbx(uintptr_t pc)
{
    struct cfi_run run = {.pc = pc};
    return find(&run).cfa == TIDE_CFA_UNKNOWN ? (struct tide_cfi_rbx){TIDE_RBX_LOST, 0}
                                              : run.state.rbx;
}
