/* capture/cfi_row.c - run the frame tables of an ELF file for one pc.
 *
 * .eh_frame_hdr holds a sorted table from start address to FDE; the FDE (one function)
 * and its CIE (what functions share) hold a little program whose state at the pc is the
 * row.  _dl_find_object names the table for a pc without taking the loader's lock.
 *
 * The tables are the target's own and mapped; they are trusted as far as C++ exceptions
 * trust them, but every loop is bounded by the section's own lengths.
 */
#include "capture/cfi_row.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum {
    TIDE_REG_RBP = 6,
    TIDE_REG_RSP = 7,
    TIDE_REG_RA = 16,
    TIDE_ENC_OMIT = 0xff,
    TIDE_SAVED_STATES = 16,
};

/* What a run of the program keeps. */
struct cfi_state {
    struct tide_cfi_row row;
    bool ra_undefined;
};

/* A CIE and the reading position. */
struct cfi_run {
    const uint8_t *at, *end;
    uint64_t code_align;
    int64_t data_align;
    uintptr_t location; /* where the state now holds */
    uintptr_t pc;       /* where we want it */
    uint8_t pointer_encoding;
    bool signal_frame;
    bool bad;
    struct cfi_state state, initial;
    struct cfi_state saved[TIDE_SAVED_STATES];
    unsigned saved_count;
};

/* --- Bytes ---------------------------------------------------------------------------- */

static uint64_t read_uleb(struct cfi_run *run)
{
    uint64_t value = 0;
    for (unsigned shift = 0; run->at < run->end && shift < 64; shift += 7) {
        const uint8_t byte = *run->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return value;
    }
    run->bad = true;
    return 0;
}

static int64_t read_sleb(struct cfi_run *run)
{
    uint64_t value = 0;
    for (unsigned shift = 0; run->at < run->end && shift < 64;) {
        const uint8_t byte = *run->at++;
        value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128)
            continue;
        if (shift < 64 && (byte & 64))
            value |= ~0ull << shift;
        return (int64_t)value;
    }
    run->bad = true;
    return 0;
}

static uint64_t read_fixed(struct cfi_run *run, unsigned bytes)
{
    uint64_t value = 0;
    if ((uint64_t)(run->end - run->at) < bytes) {
        run->bad = true;
        return 0;
    }
    memcpy(&value, run->at, bytes);
    run->at += bytes;
    return value;
}

/* A pointer in one of the encodings of .eh_frame; DATA is the base of datarel. */
static uintptr_t read_encoded(struct cfi_run *run, uint8_t encoding, uintptr_t data)
{
    const uintptr_t here = (uintptr_t)run->at;
    uint64_t value;
    switch (encoding & 15) {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0c: /* sdata8 */
        value = read_fixed(run, 8);
        break;
    case 0x02: /* udata2 */
        value = read_fixed(run, 2);
        break;
    case 0x03: /* udata4 */
        value = read_fixed(run, 4);
        break;
    case 0x0a: /* sdata2 */
        value = (uint64_t)(int16_t)read_fixed(run, 2);
        break;
    case 0x0b: /* sdata4 */
        value = (uint64_t)(int32_t)read_fixed(run, 4);
        break;
    case 0x01: /* uleb128 */
        value = read_uleb(run);
        break;
    default:
        run->bad = true;
        return 0;
    }
    switch (encoding & 0x70) {
    case 0x00:
        return value;
    case 0x10: /* pcrel */
        return here + value;
    case 0x30: /* datarel */
        return data + value;
    default:
        run->bad = true;
        return 0;
    }
}

/* --- The instructions ----------------------------------------------------------------- */

static void set_cfa_register(struct cfi_run *run, uint64_t reg)
{
    struct tide_cfi_row *row = &run->state.row;
    if (reg == TIDE_REG_RSP)
        row->cfa = TIDE_CFA_RSP;
    else if (reg == TIDE_REG_RBP)
        row->cfa = TIDE_CFA_RBP;
    else
        row->cfa = TIDE_CFA_UNKNOWN;
}

/* REG was saved at CFA + OFFSET. */
static void set_saved(struct cfi_run *run, uint64_t reg, int64_t offset)
{
    if (reg == TIDE_REG_RBP) {
        run->state.row.rbp = TIDE_RBP_AT_CFA;
        run->state.row.rbp_offset = (int32_t)offset;
    } else if (reg == TIDE_REG_RA) {
        run->state.ra_undefined = false;
        if (offset != -8)
            run->bad = true;
    }
}

static void restore_initial(struct cfi_run *run, uint64_t reg)
{
    if (reg == TIDE_REG_RBP) {
        run->state.row.rbp = run->initial.row.rbp;
        run->state.row.rbp_offset = run->initial.row.rbp_offset;
    } else if (reg == TIDE_REG_RA) {
        run->state.ra_undefined = run->initial.ra_undefined;
    }
}

/* Two shapes of expression occur in compiled code: "breg6 n; deref" as CFA and "breg6 n"
 * as the place of rbp, both in functions that realign their stack. */
static bool is_rbp_expression(struct cfi_run *run, uint64_t bytes, bool deref,
                              int32_t *out)
{
    const uint8_t *end = run->at + bytes;
    if (bytes > (uint64_t)(run->end - run->at)) {
        run->bad = true;
        return false;
    }
    bool fits = bytes >= 2 && *run->at == 0x70 + TIDE_REG_RBP;
    if (fits) {
        run->at++;
        *out = (int32_t)read_sleb(run);
        fits = run->at + deref == end && (!deref || *run->at == 0x06);
    }
    run->at = end;
    return fits;
}

static void cfa_expression(struct cfi_run *run)
{
    struct tide_cfi_row *row = &run->state.row;
    const uint64_t bytes = read_uleb(run);
    row->cfa = is_rbp_expression(run, bytes, true, &row->cfa_offset) ? TIDE_CFA_DEREF
                                                                     : TIDE_CFA_UNKNOWN;
}

static void register_expression(struct cfi_run *run, bool is_value)
{
    struct tide_cfi_row *row = &run->state.row;
    const uint64_t reg = read_uleb(run);
    const uint64_t bytes = read_uleb(run);
    int32_t offset = 0;
    const bool plain = is_rbp_expression(run, bytes, false, &offset);
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
        run->bad = true;
    else
        run->saved[run->saved_count++] = run->state;
}

static void recall(struct cfi_run *run)
{
    if (run->saved_count == 0)
        run->bad = true;
    else
        run->state = run->saved[--run->saved_count];
}

static void undefined(struct cfi_run *run)
{
    if (read_uleb(run) == TIDE_REG_RA)
        run->state.ra_undefined = true;
}

static void same_value(struct cfi_run *run)
{
    if (read_uleb(run) == TIDE_REG_RBP)
        run->state.row.rbp = TIDE_RBP_SAME;
}

/* Instructions that move or save registers.  False: OP is none of them. */
static bool run_rule(struct cfi_run *run, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x05: /* offset_extended */
        reg = read_uleb(run);
        set_saved(run, reg, (int64_t)read_uleb(run) * run->data_align);
        return true;
    case 0x11: /* offset_extended_sf */
        reg = read_uleb(run);
        set_saved(run, reg, read_sleb(run) * run->data_align);
        return true;
    case 0x06: /* restore_extended */
        restore_initial(run, read_uleb(run));
        return true;
    case 0x07:
        undefined(run);
        return true;
    case 0x08:
        same_value(run);
        return true;
    case 0x09: /* register: only odd code keeps rbp in another one */
        if (read_uleb(run) == TIDE_REG_RBP)
            run->state.row.cfa = TIDE_CFA_UNKNOWN;
        read_uleb(run);
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
        set_cfa_register(run, read_uleb(run));
        row->cfa_offset = (int32_t)read_uleb(run);
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa_register(run, read_uleb(run));
        return true;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int32_t)read_uleb(run);
        return true;
    case 0x0f:
        cfa_expression(run);
        return true;
    case 0x12: /* def_cfa_sf */
        set_cfa_register(run, read_uleb(run));
        row->cfa_offset = (int32_t)(read_sleb(run) * run->data_align);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = (int32_t)(read_sleb(run) * run->data_align);
        return true;
    case 0x2e: /* GNU_args_size */
        read_uleb(run);
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
        return read_fixed(run, 1);
    case 0x03:
        return read_fixed(run, 2);
    case 0x04:
        return read_fixed(run, 4);
    default:
        return 0;
    }
}

static void run_program(struct cfi_run *run)
{
    while (run->at < run->end && !run->bad) {
        const uint8_t op = *run->at++;
        if (op == 0x01) { /* set_loc */
            run->location = read_encoded(run, run->pointer_encoding, 0);
        } else if ((op & 0xc0) == 0x40 || (op >= 0x02 && op <= 0x04)) {
            run->location += advance_of(run, op) * run->code_align;
        } else if ((op & 0xc0) == 0x80) {
            set_saved(run, op & 63, (int64_t)read_uleb(run) * run->data_align);
            continue;
        } else if ((op & 0xc0) == 0xc0) {
            restore_initial(run, op & 63);
            continue;
        } else {
            run->bad |= !run_rule(run, op) && !run_frame(run, op);
            continue;
        }
        if (run->location > run->pc)
            return;
    }
}

/* --- CIE and FDE ---------------------------------------------------------------------- */

/* Read a CIE up to its instructions, and run those. */
static void read_cie(struct cfi_run *run, const uint8_t *cie)
{
    uint32_t length;
    memcpy(&length, cie, sizeof(length));
    if (length == 0 || length == 0xffffffffu) {
        run->bad = true;
        return;
    }
    run->end = cie + 4 + length;
    run->at = cie + 8;
    const uint8_t version = *run->at++;
    const char *augmentation = (const char *)run->at;
    run->at += strlen(augmentation) + 1;
    run->code_align = read_uleb(run);
    run->data_align = read_sleb(run);
    const uint64_t ra = version == 1 ? read_fixed(run, 1) : read_uleb(run);
    run->bad |= ra != TIDE_REG_RA || (*augmentation && *augmentation != 'z');
    if (*augmentation == 'z')
        read_uleb(run);
    for (const char *letter = augmentation; *letter && !run->bad; letter++) {
        if (*letter == 'R')
            run->pointer_encoding = (uint8_t)read_fixed(run, 1);
        else if (*letter == 'L')
            read_fixed(run, 1);
        else if (*letter == 'P')
            read_encoded(run, (uint8_t)read_fixed(run, 1) & 0x7f, 0);
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
    memcpy(&length, fde, sizeof(length));
    memcpy(&cie_offset, fde + 4, sizeof(cie_offset));
    if (length < 12 || length == 0xffffffffu || cie_offset == 0)
        return none;
    run->location = 0;
    read_cie(run, fde + 4 - cie_offset);
    if (run->bad)
        return none;

    run->at = fde + 8;
    run->end = fde + 4 + length;
    const uintptr_t start = read_encoded(run, run->pointer_encoding, 0);
    const uintptr_t bytes = read_encoded(run, run->pointer_encoding & 15, 0);
    if (run->bad || run->pc - start >= bytes)
        return none;
    const uint64_t skip = read_uleb(run); /* augmentation data */
    if (skip > (uint64_t)(run->end - run->at))
        return none;
    run->at += skip;
    if (run->signal_frame)
        return (struct tide_cfi_row){.cfa = TIDE_CFA_SIGNAL};
    run->location = start;
    run_program(run);
    if (run->bad)
        return none;
    if (run->state.ra_undefined)
        return (struct tide_cfi_row){.cfa = TIDE_CFA_END};
    return run->state.row;
}

/* --- The search table ------------------------------------------------------------------ */

struct table_entry {
    int32_t start, fde; /* both relative to the header */
};

static const uint8_t *search_table(const uint8_t *header, uintptr_t pc)
{
    struct cfi_run run = {.at = header + 4, .end = header + 64};
    if (header[0] != 1 || header[2] == TIDE_ENC_OMIT || header[3] != 0x3b)
        return NULL; /* 0x3b: datarel sdata4, what every linker writes */
    read_encoded(&run, header[1], (uintptr_t)header);
    const uint64_t count = read_encoded(&run, header[2], (uintptr_t)header);
    const uint8_t *table = run.at;
    const int64_t wanted = (int64_t)(pc - (uintptr_t)header);
    uint64_t low = 0, high = count;
    struct table_entry entry;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        memcpy(&entry, table + middle * sizeof(entry), sizeof(entry));
        if (entry.start <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (run.bad || low == 0)
        return NULL;
    memcpy(&entry, table + (low - 1) * sizeof(entry), sizeof(entry));
    return header + entry.fde;
}

struct tide_cfi_row tide_cfi_find_row(uintptr_t pc)
{
    const struct tide_cfi_row none = {0};
    struct dl_find_object object;
    if (_dl_find_object((void *)pc, &object) != 0 || !object.dlfo_eh_frame)
        return none;
    const uint8_t *fde = search_table(object.dlfo_eh_frame, pc);
    struct cfi_run run = {.pc = pc};
    return fde ? run_fde(&run, fde) : none;
}
