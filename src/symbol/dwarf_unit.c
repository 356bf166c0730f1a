/* symbol/dwarf_unit.c - the functions and lines of one compilation unit.
 *
 * Functions with code of their own stand at the top of a unit, in namespaces and
 * modules, in other functions (nested ones) and in classes that are local to a
 * function, be it one with code or only one that was inlined elsewhere (lambdas).
 * Classes elsewhere only declare; they are most of a C++ unit, and are skipped.
 *
 * libdw has read and sorted the line table when it hands it out, so it is searched as
 * it is.  Names are not read here: few functions of a unit are ever asked for.
 */
#include "symbol/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/plain_file.h"
#include "base/text.h"
#include "symbol/debug_image.h"
#include "symbol/debug_package.h"
#include "symbol/die_walk.h"

enum {
    TIDE_UNIT_SPANS_MAX = 4 * 1024 * 1024,
    TIDE_DIE_RANGES_MAX = 64 * 1024,
};

/* What surrounds an entry in a function without code; else a scope or TIDE_NO_OWNER. */
#define TIDE_NO_CODE (UINT32_MAX - 1)

/* --- Functions -------------------------------------------------------------------- */

/* Ranges that count from nowhere count from LOW, where the unit begins. */
static enum tide_status add_ranges_from(Dwarf_Addr low, struct tide_span_list *list,
                                        Dwarf_Die *die, uint32_t depth, uint32_t owner)
{
    struct tide_span span = {.depth = depth, .owner = owner};
    const bool from_low = low != 0 && dwarf_hasattr(die, DW_AT_ranges);
    Dwarf_Addr base = 0;
    ptrdiff_t offset = 0;
    for (int i = 0; i < TIDE_DIE_RANGES_MAX; i++) {
        offset = dwarf_ranges(die, offset, &base, &span.low, &span.high);
        if (offset <= 0)
            break;
        if (from_low && base == 0) {
            span.low += low;
            span.high += low;
        }
        if (span.low == 0) /* a function that the linker threw away */
            continue;
        const enum tide_status status = tide_span_list_add(list, &span);
        if (status)
            return status;
    }
    return TIDE_OK;
}

enum tide_status tide_dwarf_add_ranges(struct tide_span_list *list, Dwarf_Die *die,
                                       uint32_t depth, uint32_t owner)
{
    return add_ranges_from(0, list, die, depth, owner);
}

struct scan {
    Dwarf_Addr low; /* of a unit that libdw does not know the beginning of; else 0 */
    struct tide_scope *scopes; /* owned until the scan is done */
    uint32_t *depths;          /* owned: of the scopes, in inlined functions */
    uint32_t count, capacity;
    struct tide_span_list spans;
    enum tide_status status;
};

static bool make_room(struct scan *scan)
{
    if (scan->count < scan->capacity)
        return true;
    const uint32_t capacity = scan->capacity ? scan->capacity * 2 : 64;
    struct tide_scope *const scopes =
        reallocarray(scan->scopes, capacity, sizeof(*scopes));
    if (scopes)
        scan->scopes = scopes;
    uint32_t *const depths = reallocarray(scan->depths, capacity, sizeof(*depths));
    if (depths)
        scan->depths = depths;
    if (!scopes || !depths)
        return false;
    scan->capacity = capacity;
    return true;
}

/* An unsigned attribute of DIE; OTHERWISE when it is not there or too large. */
static uint32_t number_of(Dwarf_Die *die, unsigned name, uint32_t otherwise)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &number) != 0)
        return otherwise;
    return number <= UINT32_MAX ? (uint32_t)number : otherwise;
}

static bool has_code(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Note the function DIE, inlined into PARENT or not, and make it the new *VALUE. */
static enum tide_die_step add_scope(struct scan *scan, Dwarf_Die *die, uint32_t parent,
                                    uint32_t *value)
{
    if (scan->spans.count > TIDE_UNIT_SPANS_MAX) {
        scan->status = TIDE_ELIMIT;
        return TIDE_DIE_STOP;
    }
    if (!make_room(scan)) {
        scan->status = TIDE_ENOMEM;
        return TIDE_DIE_STOP;
    }
    const bool inlined = parent != TIDE_NO_OWNER;
    const uint32_t depth = inlined ? scan->depths[parent] + 1 : 0;
    const uint32_t scope = scan->count++;
    scan->depths[scope] = depth;
    scan->scopes[scope] = (struct tide_scope){
        .die = dwarf_dieoffset(die),
        .parent = parent,
        .call_file = inlined ? number_of(die, DW_AT_call_file, TIDE_NO_FILE) : 0,
        .call_line = inlined ? number_of(die, DW_AT_call_line, 0) : 0,
    };
    *value = scope;
    scan->status = add_ranges_from(scan->low, &scan->spans, die, depth, scope);
    return scan->status ? TIDE_DIE_STOP : TIDE_DIE_ENTER;
}

/* *VALUE is the scope that surrounds DIE. */
static enum tide_die_step visit(void *user, Dwarf_Die *die, uint32_t *value)
{
    struct scan *const scan = user;

    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        if (has_code(die))
            return add_scope(scan, die, TIDE_NO_OWNER, value);
        *value = TIDE_NO_CODE;
        return dwarf_hasattr(die, DW_AT_declaration) ? TIDE_DIE_SKIP : TIDE_DIE_ENTER;
    case DW_TAG_inlined_subroutine:
        if (*value == TIDE_NO_CODE)
            return TIDE_DIE_SKIP;
        return add_scope(scan, die, *value, value);
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return TIDE_DIE_ENTER;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return *value != TIDE_NO_OWNER ? TIDE_DIE_ENTER : TIDE_DIE_SKIP;
    default:
        return TIDE_DIE_SKIP;
    }
}

/* The text of attribute NAME of DIE, or NULL. */
static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* Does the file with the rest of UNIT (-gsplit-dwarf) lie where libdw will open it, and is it a
 * plain file? */
static bool may_open_split(Dwarf_Die *unit)
{
    const char *name = text_of(unit, DW_AT_dwo_name);
    if (!name)
        name = text_of(unit, DW_AT_GNU_dwo_name);
    const char *const folder = text_of(unit, DW_AT_comp_dir);
    if (!name || (name[0] != '/' && (!folder || folder[0] != '/')))
        return false;
    struct tide_text path = {0};
    if (name[0] != '/')
        tide_text_addf(&path, "%s/", folder);
    tide_text_add(&path, name);
    const bool may = !path.failed && !tide_plain_file_barred(path.bytes);
    tide_text_release(&path);
    return may;
}

/* libdw takes a split unit only if it has the id that the program names.  Of one from a package it
 * does not know where its unit begins: that is *LOW. */
static void find_body(struct tide_dwarf_unit *unit, Dwarf_Addr *low)
{
    Dwarf_Die split;
    uint8_t type;
    unit->body = unit->die;
    if (may_open_split(&unit->die) &&
        dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr) {
        unit->body = split;
    } else if (tide_debug_package_find(unit->package, &unit->die, &split)) {
        unit->body = split;
        if (dwarf_lowpc(&unit->die, low) != 0)
            *low = 0;
    }
}

enum tide_status tide_dwarf_unit_scan(struct tide_dwarf_unit *unit)
{
    if (unit->scanned)
        return TIDE_OK;
    unit->scanned = true;
    struct scan scan = {0};
    find_body(unit, &scan.low);
    const struct tide_die_visitor visitor = {.visit = visit, .user = &scan};
    enum tide_status status = tide_die_walk(&unit->body, TIDE_NO_OWNER, &visitor);
    if (!status && scan.status != TIDE_ELIMIT) /* what was found so far is good */
        status = scan.status;
    if (!status)
        status = tide_span_table_build(&unit->functions, &scan.spans);

    tide_span_list_release(&scan.spans);
    free(scan.depths);
    if (status) {
        free(scan.scopes);
        return status;
    }
    struct tide_scope *const fitted =
        scan.count > 0 ? reallocarray(scan.scopes, scan.count, sizeof(*fitted)) : NULL;
    unit->scopes = fitted ? fitted : scan.scopes;
    unit->scope_count = scan.count;
    return TIDE_OK;
}

void tide_dwarf_unit_release(struct tide_dwarf_unit *unit)
{
    free(unit->scopes);
    tide_span_table_release(&unit->functions);
    *unit = (struct tide_dwarf_unit){0};
}

/* --- Lines ------------------------------------------------------------------------ */

/* Is the line table of UNIT there to be read? */
static bool lines_ready(struct tide_dwarf_unit *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    return !unit->image ||
           (dwarf_attr(&unit->die, DW_AT_stmt_list, &attribute) &&
            dwarf_formudata(&attribute, &offset) == 0 &&
            tide_debug_image_part(unit->image, TIDE_IMAGE_LINES, offset));
}

static void read_lines(struct tide_dwarf_unit *unit)
{
    if (unit->lined)
        return;
    unit->lined = true;
    if (!lines_ready(unit))
        return;
    if (dwarf_getsrclines(&unit->die, &unit->lines, &unit->line_count) != 0) {
        unit->lines = NULL;
        unit->line_count = 0;
    }
    /* A split unit may have no table of its own: clang's have not. */
    if ((!unit->body.addr || dwarf_getsrcfiles(&unit->body, &unit->files, NULL) != 0) &&
        dwarf_getsrcfiles(&unit->die, &unit->files, NULL) != 0)
        unit->files = NULL;
}

static uint64_t address_of(Dwarf_Line *row)
{
    Dwarf_Addr address;
    return row && dwarf_lineaddr(row, &address) == 0 ? address : UINT64_MAX;
}

/* The last row at or before ADDRESS, or NULL. */
static Dwarf_Line *find_row(const struct tide_dwarf_unit *unit, uint64_t address)
{
    size_t first = 0;
    size_t last = unit->line_count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (address_of(dwarf_onesrcline(unit->lines, middle)) <= address)
            first = middle + 1;
        else
            last = middle;
    }
    return first > 0 ? dwarf_onesrcline(unit->lines, first - 1) : NULL;
}

bool tide_dwarf_unit_line(struct tide_dwarf_unit *unit, uint64_t address,
                          const char **file, uint32_t *line)
{
    read_lines(unit);
    Dwarf_Line *const row = find_row(unit, address);
    bool ends = true;
    int number;
    if (!row || dwarf_lineendsequence(row, &ends) != 0 || ends)
        return false;
    *file = dwarf_linesrc(row, NULL, NULL);
    *line = dwarf_lineno(row, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    return true;
}

const char *tide_dwarf_unit_file(struct tide_dwarf_unit *unit, uint32_t index)
{
    read_lines(unit);
    if (!unit->files || index == TIDE_NO_FILE)
        return NULL;
    return dwarf_filesrc(unit->files, index, NULL, NULL);
}

const char *tide_dwarf_unit_folder(struct tide_dwarf_unit *unit)
{
    return text_of(&unit->die, DW_AT_comp_dir);
}
