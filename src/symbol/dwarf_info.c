/* symbol/dwarf_info.c - functions, inlined functions and lines, from debug information.
 *
 * A unit is read when the first address in it is asked for.  Which unit that is,
 * .debug_aranges says.  It is optional, may leave units out, and may be wrong: where it
 * leads nowhere, the units are listed once, for they say in their first entry which
 * addresses they cover.  Units that do not say it either are all read once an address
 * lies in none of the others.
 *
 * Compressed debug information is decompressed no further than what is read: up to the
 * last unit asked for as long as .debug_aranges leads there, and whole for the list.
 */
#include "symbol/dwarf_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_memory.h"
#include "base/text.h"
#include "symbol/aranges.h"
#include "symbol/debug_file.h"
#include "symbol/debug_image.h"
#include "symbol/debug_package.h"
#include "symbol/dwarf_names.h"
#include "symbol/dwarf_unit.h"

enum { TIDE_UNITS_MAX = 512 * 1024 };

#define TIDE_NOT_THERE (TIDE_NO_OWNER - 1)

struct tide_dwarf_info {
    struct tide_debug_image *image;     /* owned; NULL: not compressed */
    struct tide_debug_package *package; /* owned; NULL: none */
    Dwarf *dwarf;                       /* owned */
    struct tide_elf_file *alternate;    /* owned; NULL: none */
    Dwarf *alternate_dwarf;             /* owned; NULL: none */
    struct tide_name_pool *pool;        /* borrowed */
    struct tide_dwarf_names names;
    struct tide_dwarf_unit *units; /* owned */
    uint32_t unit_count, unit_capacity;
    struct tide_aranges aranges;
    uint32_t *told; /* owned: the unit of each of aranges; TIDE_NO_OWNER: not looked at;
                       TIDE_NOT_THERE: there is none */
    bool listed;
    struct tide_span_table covered; /* owners are units: by what the units say */
    struct tide_span_table stray;   /* by the functions of units that say nothing */
    bool stray_scanned;
};

/* --- Open and close --------------------------------------------------------------- */

static void set_alternate(struct tide_dwarf_info *info)
{
    info->alternate_dwarf = dwarf_begin_elf(info->alternate->elf, DWARF_C_READ, NULL);
    if (info->alternate_dwarf)
        dwarf_setalt(info->dwarf, info->alternate_dwarf);
}

static enum tide_status add_unit(struct tide_dwarf_info *info, const Dwarf_Die *die)
{
    if (info->unit_count == info->unit_capacity) {
        const uint32_t capacity = info->unit_capacity ? info->unit_capacity * 2 : 64;
        struct tide_dwarf_unit *const units =
            reallocarray(info->units, capacity, sizeof(*units));
        if (!units)
            return TIDE_ENOMEM;
        info->units = units;
        info->unit_capacity = capacity;
    }
    info->units[info->unit_count++] = (struct tide_dwarf_unit){
        .die = *die, .image = info->image, .package = info->package};
    return TIDE_OK;
}

/* Units of other kinds hold types, or what several units share: no code. */
static bool may_have_code(Dwarf_Die *die)
{
    const int tag = dwarf_tag(die);
    return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

/* Add the units that were not led to, and build what they cover. */
static enum tide_status list_units(struct tide_dwarf_info *info)
{
    if (info->listed)
        return TIDE_OK;
    info->listed = true;
    if (!tide_debug_image_whole(info->image, TIDE_IMAGE_INFO))
        return TIDE_OK;

    struct tide_span_list spans = {0};
    enum tide_status status = TIDE_OK;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (!status && info->unit_count < TIDE_UNITS_MAX &&
           dwarf_get_units(info->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        if (!may_have_code(&die))
            continue;
        const size_t before = spans.count;
        status = tide_dwarf_add_ranges(&spans, &die, 0, info->unit_count);
        if (!status)
            status = add_unit(info, &die);
        if (!status)
            info->units[info->unit_count - 1].stray = spans.count == before;
    }
    if (!status)
        status = tide_span_table_build(&info->covered, &spans);
    tide_span_list_release(&spans);
    return status;
}

static enum tide_status load_aranges(struct tide_dwarf_info *info, Elf *elf)
{
    const enum tide_status status = tide_aranges_load(&info->aranges, elf);
    if (status || info->aranges.unit_count == 0)
        return status;
    info->told = reallocarray(NULL, info->aranges.unit_count, sizeof(*info->told));
    if (!info->told)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < info->aranges.unit_count; i++)
        info->told[i] = TIDE_NO_OWNER;
    return TIDE_OK;
}

/* The split units of FILE, if they were packed. */
static void find_package(struct tide_dwarf_info *info, const struct tide_elf_file *file)
{
    struct tide_text path = {0};
    if (!file->path)
        return;
    tide_text_addf(&path, "%s.dwp", file->path);
    if (!path.failed)
        info->package = tide_debug_package_open(path.bytes);
    tide_text_release(&path);
}

static enum tide_status load(struct tide_dwarf_info *info,
                             const struct tide_elf_file *file, const char *root)
{
    if (tide_debug_image_unpacked(file) > tide_data_left())
        return TIDE_ELIMIT;
    info->image = tide_debug_image_open(file);
    info->names.image = info->image;
    Elf *const elf = info->image ? tide_debug_image_elf(info->image) : file->elf;
    info->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (!info->dwarf)
        return TIDE_ECORRUPT;
    bool safe;
    info->alternate = tide_debug_file_alternate(root, file, info->dwarf, &safe);
    if (!safe)
        return TIDE_ECORRUPT;
    if (info->alternate)
        set_alternate(info);
    find_package(info, file);
    return load_aranges(info, elf);
}

enum tide_status tide_dwarf_info_open(const struct tide_elf_file *file,
                                      const char *root, struct tide_name_pool *pool,
                                      struct tide_dwarf_info **out)
{
    *out = NULL;
    struct tide_dwarf_info *const info = calloc(1, sizeof(*info));
    if (!info)
        return TIDE_ENOMEM;
    info->pool = pool;
    info->names.pool = pool;
    const enum tide_status status = load(info, file, root);
    if (status)
        tide_dwarf_info_close(info);
    else
        *out = info;
    return status;
}

void tide_dwarf_info_close(struct tide_dwarf_info *info)
{
    if (!info)
        return;
    for (uint32_t i = 0; i < info->unit_count; i++)
        tide_dwarf_unit_release(&info->units[i]);
    free(info->units);
    free(info->told);
    tide_aranges_release(&info->aranges);
    tide_span_table_release(&info->covered);
    tide_span_table_release(&info->stray);
    tide_dwarf_names_release(&info->names);
    tide_debug_package_close(info->package);
    if (info->dwarf)
        dwarf_end(info->dwarf);
    if (info->alternate_dwarf)
        dwarf_end(info->alternate_dwarf);
    tide_elf_file_close(info->alternate);
    tide_debug_image_close(info->image);
    free(info);
}

/* --- Find ------------------------------------------------------------------------- */

/* Let OWNER have what the functions of UNIT cover. */
static enum tide_status add_functions(struct tide_span_list *spans,
                                      const struct tide_dwarf_unit *unit,
                                      uint32_t owner)
{
    const struct tide_span_table *const table = &unit->functions;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i + 1 < table->count && !status; i++) {
        if (table->pieces[i].owner == TIDE_NO_OWNER)
            continue;
        status = tide_span_list_add(spans, &(struct tide_span){
                                               .low = table->pieces[i].low,
                                               .high = table->pieces[i + 1].low,
                                               .owner = owner,
                                           });
    }
    return status;
}

static enum tide_status scan_stray_units(struct tide_dwarf_info *info)
{
    if (info->stray_scanned)
        return TIDE_OK;
    info->stray_scanned = true;

    struct tide_span_list spans = {0};
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < info->unit_count && !status; i++) {
        if (!info->units[i].stray)
            continue;
        status = tide_dwarf_unit_scan(&info->units[i]);
        if (!status)
            status = add_functions(&spans, &info->units[i], i);
    }
    if (!status)
        status = tide_span_table_build(&info->stray, &spans);
    tide_span_list_release(&spans);
    return status;
}

/* Note the unit that .debug_aranges says is at OFFSET, if it is. */
static enum tide_status add_told(struct tide_dwarf_info *info, uint64_t offset,
                                 uint32_t *unit)
{
    size_t header;
    Dwarf_Off next;
    Dwarf_Die die;
    Dwarf_Die root;
    *unit = TIDE_NOT_THERE;
    if (!tide_debug_image_part(info->image, TIDE_IMAGE_INFO, offset) ||
        dwarf_next_unit(info->dwarf, offset, &next, &header, NULL, NULL, NULL, NULL,
                        NULL, NULL) != 0)
        return TIDE_OK;
    const Dwarf_Off first = offset + header;
    if (!dwarf_offdie(info->dwarf, first, &die) ||
        !dwarf_diecu(&die, &root, NULL, NULL) || dwarf_dieoffset(&root) != first ||
        dwarf_cuoffset(&root) != header || !may_have_code(&root))
        return TIDE_OK;
    const enum tide_status status = add_unit(info, &root);
    if (!status)
        *unit = info->unit_count - 1;
    return status;
}

/* The unit of ADDRESS by .debug_aranges; TIDE_NO_OWNER when it does not say. */
static enum tide_status find_told(struct tide_dwarf_info *info, uint64_t address,
                                  uint32_t *unit)
{
    *unit = TIDE_NO_OWNER;
    const uint32_t at = tide_span_table_find(&info->aranges.spans, address);
    if (at == TIDE_NO_OWNER)
        return TIDE_OK;
    if (info->told[at] == TIDE_NO_OWNER) {
        const enum tide_status status =
            add_told(info, info->aranges.units[at], &info->told[at]);
        if (status)
            return status;
    }
    if (info->told[at] != TIDE_NOT_THERE)
        *unit = info->told[at];
    return TIDE_OK;
}

/* The unit of ADDRESS by what units say of themselves. */
static enum tide_status find_listed(struct tide_dwarf_info *info, uint64_t address,
                                    uint32_t *unit)
{
    enum tide_status status = list_units(info);
    if (status)
        return status;
    *unit = tide_span_table_find(&info->covered, address);
    if (*unit != TIDE_NO_OWNER)
        return TIDE_OK;
    status = scan_stray_units(info);
    *unit = tide_span_table_find(&info->stray, address);
    return status;
}

/* The unit of ADDRESS, with its functions; NULL when there is none. */
static enum tide_status find_unit(struct tide_dwarf_info *info, uint64_t address,
                                  struct tide_dwarf_unit **out)
{
    *out = NULL;
    uint32_t unit;
    enum tide_status status = find_told(info, address, &unit);
    if (!status && unit == TIDE_NO_OWNER)
        status = find_listed(info, address, &unit);
    if (status || unit == TIDE_NO_OWNER)
        return status;
    *out = &info->units[unit];
    return tide_dwarf_unit_scan(*out);
}

static const char *scope_name(struct tide_dwarf_info *info,
                              struct tide_dwarf_unit *unit, struct tide_scope *scope)
{
    Dwarf_Die die;
    if (!scope->named &&
        dwarf_offdie(dwarf_cu_getdwarf(unit->body.cu), scope->die, &die))
        scope->name = tide_dwarf_names_of(&info->names, &die, &unit->body);
    scope->named = true;
    return scope->name;
}

/* Does a relative FILE belong into FOLDER?  Reproducible builds write "." for their
 * root into both names, so that joining them would say the same twice; but what goes
 * up must go up from somewhere. */
static bool belongs_into(const char *file, const char *folder)
{
    return folder && (folder[0] == '/' || strncmp(file, "../", 3) == 0);
}

static const char *shown_path(struct tide_dwarf_info *info,
                              struct tide_dwarf_unit *unit, const char *file)
{
    if (!file)
        return NULL;
    const char *const folder = file[0] == '/' ? NULL : tide_dwarf_unit_folder(unit);
    if (!belongs_into(file, folder))
        return tide_name_pool_add_path(info->pool, file);
    struct tide_text path = {0};
    tide_text_addf(&path, "%s/%s", folder, file);
    const char *const shown =
        path.failed ? NULL : tide_name_pool_add_path(info->pool, path.bytes);
    tide_text_release(&path);
    return shown;
}

/* From SCOPE outwards: each function with its name, and with the line where the one
 * before it was called. */
static void fill(struct tide_dwarf_info *info, struct tide_dwarf_unit *unit,
                 uint32_t scope, struct tide_location *locations)
{
    for (size_t i = 0; scope != TIDE_NO_OWNER; i++) {
        struct tide_scope *const at = &unit->scopes[scope];
        locations[i].function = scope_name(info, unit, at);
        if (at->parent != TIDE_NO_OWNER) {
            const char *const file = tide_dwarf_unit_file(unit, at->call_file);
            locations[i + 1].file = shown_path(info, unit, file);
            locations[i + 1].line = at->call_line;
        }
        scope = at->parent;
    }
}

enum tide_status tide_dwarf_info_find(struct tide_dwarf_info *info, uint64_t address,
                                      struct tide_location **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    struct tide_dwarf_unit *unit;
    const enum tide_status status = find_unit(info, address, &unit);
    if (status || !unit)
        return status;

    const uint32_t innermost = tide_span_table_find(&unit->functions, address);
    size_t depth = 0;
    for (uint32_t scope = innermost; scope != TIDE_NO_OWNER;
         scope = unit->scopes[scope].parent)
        depth++;
    const char *file;
    uint32_t line;
    const bool lined = tide_dwarf_unit_line(unit, address, &file, &line);
    if (depth == 0 && !lined)
        return TIDE_OK;

    *count = depth > 0 ? depth : 1;
    *out = tide_arena_take(&info->pool->arena, *count * sizeof(**out));
    if (!*out) {
        *count = 0;
        return TIDE_ENOMEM;
    }
    if (lined) {
        (*out)[0].file = shown_path(info, unit, file);
        (*out)[0].line = line;
    }
    fill(info, unit, innermost, *out);
    return TIDE_OK;
}
