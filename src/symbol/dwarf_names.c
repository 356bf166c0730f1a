/* symbol/dwarf_names.c - what a function is called, by its debug information.
 *
 * An entry may leave its name to another one (the function it was inlined from, the
 * declaration in its class), which may lie in another unit or, after dwz, in another
 * file.
 *
 *   1. A mangled name says everything: it is demangled.
 *   2. Without one (GCC gives none to what is local to a file: static functions,
 *      anonymous namespaces, lambdas) the plain name is put behind the namespaces,
 *      classes and functions around it: `(anonymous namespace)::table::grow`,
 *      `main::{lambda:42}::operator()`, where 42 is the line of the lambda.
 *   3. C has nothing around a function.  The linker's name of a C or Fortran function
 *      (stat64, __mesh_MOD_refine) is not what a programmer wrote, and not used.
 *
 * Rule 2 costs a second walk through the unit, so it waits until such a name is asked
 * for.
 */
#include "symbol/dwarf_names.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/debug_image.h"
#include "symbol/dwarf_paths.h"

enum {
    TIDE_NAME_HOPS_MAX = 16, /* from entry to entry in search of a name */
    TIDE_PATH_PARTS_MAX = 32,
};

void tide_dwarf_names_release(struct tide_dwarf_names *names)
{
    for (size_t i = 0; i < names->path_count; i++)
        tide_dwarf_paths_release(&names->paths[i]);
    free(names->paths);
    *names = (struct tide_dwarf_names){0};
}

/* --- Names ------------------------------------------------------------------------ */

/* What an entry, and those it refers to, say of a function. */
struct description {
    const char *linked; /* borrowed from libdw, as all here; NULL when not said */
    const char *plain;
    Dwarf_Die plain_die; /* where plain stands */
};

static const char *string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* Is what ATTRIBUTE refers to there to be read?  It is where it lies in the same unit, or
 * in another file; elsewhere it may lie anywhere. */
static bool target_ready(struct tide_debug_image *image, Dwarf_Attribute *attribute)
{
    const unsigned form = dwarf_whatform(attribute);
    return (form != DW_FORM_ref_addr && form != DW_FORM_ref_sig8) ||
           tide_debug_image_whole(image, TIDE_IMAGE_INFO);
}

/* Make *DIE the entry that it refers to for everything it does not say itself. */
static bool follow(const struct tide_dwarf_names *names, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
        !dwarf_attr(die, DW_AT_specification, &attribute))
        return false;
    if (!target_ready(names->image, &attribute))
        return false;
    Dwarf_Die next;
    if (!dwarf_formref_die(&attribute, &next))
        return false;
    *die = next;
    return true;
}

static struct description describe(const struct tide_dwarf_names *names,
                                   const Dwarf_Die *die)
{
    struct description found = {0};
    Dwarf_Die at = *die;
    for (int i = 0; i < TIDE_NAME_HOPS_MAX && !found.linked; i++) {
        found.linked = string_of(&at, DW_AT_linkage_name);
        if (!found.linked)
            found.linked = string_of(&at, DW_AT_MIPS_linkage_name);
        if (!found.plain) {
            found.plain = string_of(&at, DW_AT_name);
            found.plain_die = at;
        }
        if (!follow(names, &at))
            break;
    }
    return found;
}

static bool is_mangled(const char *name)
{
    return name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Does the language of UNIT put functions inside of something? */
static bool has_scopes(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

/* One part of a path; COMPLETE: nothing belongs before it. */
static const char *part_name(struct tide_dwarf_names *names, Dwarf_Die *die,
                             const char *inner, bool *complete)
{
    struct tide_name_pool *const pool = names->pool;
    const int tag = dwarf_tag(die);
    const struct description found = describe(names, die);
    *complete = tag == DW_TAG_subprogram && is_mangled(found.linked);
    if (*complete)
        return tide_name_pool_add_demangled(pool, found.linked);
    if (found.plain)
        return found.plain;
    if (tag == DW_TAG_namespace)
        return "(anonymous namespace)";

    int line = 0;
    /* libdw looks for it in what the entry refers to, wherever that is. */
    if (dwarf_hasattr(die, DW_AT_decl_line) ||
        tide_debug_image_whole(names->image, TIDE_IMAGE_INFO))
        (void)dwarf_decl_line(die, &line);
    struct tide_text text = {0};
    tide_text_addf(&text, "{%s:%d}",
                   strcmp(inner, "operator()") == 0 ? "lambda" : "unnamed", line);
    const char *const name = text.failed ? NULL : tide_name_pool_add(pool, text.bytes);
    tide_text_release(&text);
    return name;
}

/* The paths of UNIT, noted now or earlier; NULL without memory. */
static const struct tide_dwarf_paths *paths_of(struct tide_dwarf_names *names,
                                               Dwarf_Die *unit)
{
    for (size_t i = 0; i < names->path_count; i++) {
        if (names->paths[i].unit == unit->addr)
            return &names->paths[i];
    }
    struct tide_dwarf_paths *const more =
        reallocarray(names->paths, names->path_count + 1, sizeof(*more));
    if (!more)
        return NULL;
    names->paths = more;
    struct tide_dwarf_paths *const paths = &more[names->path_count++];
    *paths = (struct tide_dwarf_paths){0};
    tide_dwarf_paths_load(paths, unit);
    return paths;
}

/* The names of what is around a function, innermost first. */
struct parts {
    const char *names[TIDE_PATH_PARTS_MAX];
    size_t count;
};

static struct parts parts_of(struct tide_dwarf_names *names,
                             const struct description *found)
{
    struct parts parts = {0};
    Dwarf_Die die = found->plain_die;
    Dwarf_Die unit;
    if (!dwarf_diecu(&die, &unit, NULL, NULL))
        return parts;
    const struct tide_dwarf_paths *const paths = paths_of(names, &unit);
    if (!paths)
        return parts;

    Dwarf *const dwarf = dwarf_cu_getdwarf(die.cu);
    const char *inner = found->plain;
    uint32_t node = tide_dwarf_paths_find(paths, dwarf_dieoffset(&die));
    bool complete = false;
    while (node != TIDE_NO_PATH && !complete && parts.count < TIDE_PATH_PARTS_MAX) {
        if (!dwarf_offdie(dwarf, paths->nodes[node].die, &die))
            break;
        inner = part_name(names, &die, inner, &complete);
        if (!inner)
            break;
        parts.names[parts.count++] = inner;
        node = paths->nodes[node].parent;
    }
    return parts;
}

static const char *qualified_name(struct tide_dwarf_names *names,
                                  const struct description *found)
{
    const struct parts parts = parts_of(names, found);
    struct tide_text text = {0};
    for (size_t i = parts.count; i > 0; i--)
        tide_text_addf(&text, "%s::", parts.names[i - 1]);
    tide_text_add(&text, found->plain);
    const char *const name =
        text.failed ? NULL : tide_name_pool_add(names->pool, text.bytes);
    tide_text_release(&text);
    return name;
}

const char *tide_dwarf_names_of(struct tide_dwarf_names *names, Dwarf_Die *die,
                                Dwarf_Die *unit)
{
    const struct description found = describe(names, die);
    if (is_mangled(found.linked))
        return tide_name_pool_add_demangled(names->pool, found.linked);
    if (found.plain && has_scopes(unit))
        return qualified_name(names, &found);
    const char *const name = found.plain ? found.plain : found.linked;
    return name ? tide_name_pool_add(names->pool, name) : NULL;
}
