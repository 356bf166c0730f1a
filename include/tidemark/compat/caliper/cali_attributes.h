/* caliper/cali_attributes.h - Caliper's attributes, for tidemark: included by cali.h.
 *
 * Regions are values of attributes: of those that Caliper makes (function, annotation, loop,
 * phase, ...) and of those that the program makes with CALI_ATTR_NESTED.  They and all
 * other attributes are columns of `tidemark query`.
 */
#ifndef TIDEMARK_COMPAT_CALI_ATTRIBUTES_H
#define TIDEMARK_COMPAT_CALI_ATTRIBUTES_H

#include <stdio.h>
#include "../../annotated.h"
#include "common/cali_variant.h"

/* Is the recorder there?  All that is not a test of one pointer is done only then. */
#define CALI_TIDE_TOLD __builtin_expect(tide_present(), 0)
/* What is done then: kept out of the program's functions. */
#define CALI_TIDE_FAR  __attribute__((noinline, cold, unused)) static

/* --- What is known of them ------------------------------------------------------------ */

enum {
    CALI_TIDE_ATTRIBUTES = 512, /* a power of two */
    CALI_TIDE_NAME = 120,
    CALI_TIDE_FIRST = 16, /* number of the program's first; Caliper's own are below */
    CALI_TIDE_ITERATION = 1 << 28 /* property: iterations of the loop that is open */
};

struct cali_tide_attribute {
    int state; /* 0: free; 1: being made; 2: name, type and properties are there */
    int type;
    int properties;
    char name[CALI_TIDE_NAME];
};

#ifdef __cplusplus
extern "C" {
#endif
/* One for all sources of a program or library; kept here, since programs shall not find
 * memory of their own that they did not allocate. */
__attribute__((weak, visibility("hidden"))) struct cali_tide_attribute
    cali_tide_known[CALI_TIDE_ATTRIBUTES];

/* Caliper's own, which programs declare themselves. */
#define CALI_TIDE_OWN(name, number) \
    __attribute__((weak, visibility("hidden"))) cali_id_t name = number
CALI_TIDE_OWN(cali_function_attr_id, 1);
CALI_TIDE_OWN(cali_region_attr_id, 2);
CALI_TIDE_OWN(cali_annotation_attr_id, 2);
CALI_TIDE_OWN(cali_loop_attr_id, 3);
CALI_TIDE_OWN(cali_phase_attr_id, 4);
CALI_TIDE_OWN(cali_statement_attr_id, 5);
CALI_TIDE_OWN(cali_comm_region_attr_id, 6);
CALI_TIDE_OWN(cali_class_memoryaddress_attr_id, 7);
CALI_TIDE_OWN(cali_class_symboladdress_attr_id, 8);
CALI_TIDE_OWN(cali_class_iteration_attr_id, 9);
CALI_TIDE_OWN(cali_class_aggregatable_attr_id, 10);
CALI_TIDE_OWN(cali_alias_attr_id, 11);
CALI_TIDE_OWN(cali_unit_attr_id, 12);
#undef CALI_TIDE_OWN
#ifdef __cplusplus
}
#endif

enum { CALI_TIDE_REGIONS = 6, CALI_TIDE_OWN_ONES = 12 };

/* From 1 on; the first CALI_TIDE_REGIONS are regions. */
static inline const char *cali_tide_own_name(unsigned number)
{
    static const char *const names[] = {"",
                                        "function",
                                        "annotation",
                                        "loop",
                                        "phase",
                                        "statement",
                                        "comm.region",
                                        "class.memoryaddress",
                                        "class.symboladdress",
                                        "class.iteration",
                                        "class.aggregatable",
                                        "attribute.alias",
                                        "attribute.unit"};
    return names[number];
}

/* The number of the attribute of Caliper's that is called NAME; 0: there is none. */
static inline unsigned cali_tide_own(const char *name)
{
    unsigned i;
    if (strcmp(name, "region") == 0)
        return 2;
    for (i = CALI_TIDE_OWN_ONES; i && strcmp(cali_tide_own_name(i), name) != 0; i--)
        ;
    return i;
}

/* Is the attribute NAME a region by another name? */
static inline int cali_tide_names_regions(const char *name)
{
    const unsigned own = cali_tide_own(name);
    return own && own <= CALI_TIDE_REGIONS;
}

/* What the program made as ATTRIBUTE; NULL: nothing. */
static inline const struct cali_tide_attribute *cali_tide_about(cali_id_t attribute)
{
    const cali_id_t at = attribute - CALI_TIDE_FIRST;
    if (at >= CALI_TIDE_ATTRIBUTES ||
        __atomic_load_n(&cali_tide_known[at].state, __ATOMIC_ACQUIRE) != 2)
        return NULL;
    return &cali_tide_known[at];
}

static inline unsigned cali_tide_place(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % CALI_TIDE_ATTRIBUTES;
}

/* The attribute that is called NAME, else CALI_INV_ID. */
static inline cali_id_t cali_find_attribute(const char *name)
{
    const unsigned own = cali_tide_own(name), place = cali_tide_place(name);
    unsigned i;
    if (own)
        return own;
    for (i = 0; i < CALI_TIDE_ATTRIBUTES; i++) {
        const unsigned at = (place + i) % CALI_TIDE_ATTRIBUTES;
        const int state = __atomic_load_n(&cali_tide_known[at].state, __ATOMIC_ACQUIRE);
        if (!state)
            break;
        if (state == 2 &&
            strncmp(cali_tide_known[at].name, name, CALI_TIDE_NAME - 1) == 0)
            return CALI_TIDE_FIRST + at;
    }
    return CALI_INV_ID;
}

/* CALI_INV_ID when there are too many: such do nothing. */
static inline cali_id_t cali_create_attribute(const char *name, cali_attr_type type,
                                              int properties)
{
    const cali_id_t known = cali_find_attribute(name);
    const unsigned place = cali_tide_place(name);
    unsigned i;
    for (i = 0; i < CALI_TIDE_ATTRIBUTES && known == CALI_INV_ID; i++) {
        const unsigned at = (place + i) % CALI_TIDE_ATTRIBUTES;
        struct cali_tide_attribute *const made = &cali_tide_known[at];
        int state = 0;
        if (!__atomic_compare_exchange_n(&made->state, &state, 1, 0, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        strncpy(made->name, name, CALI_TIDE_NAME - 1);
        made->type = (int)type;
        made->properties = properties;
        __atomic_store_n(&made->state, 2, __ATOMIC_RELEASE);
        return CALI_TIDE_FIRST + at;
    }
    return known;
}

/* Metadata of attributes is not kept: addresses are known by their type. */
static inline cali_id_t cali_create_attribute_with_metadata(
    const char *name, cali_attr_type type, int properties, int count,
    const cali_id_t attributes[], const cali_variant_t values[])
{
    (void)count;
    (void)attributes;
    (void)values;
    return cali_create_attribute(name, type, properties);
}

/* Iterations of the loop NAME, which is begun as a loop. */
static inline cali_id_t cali_make_loop_iteration_attribute(const char *name)
{
    char text[CALI_TIDE_NAME] = "iteration#";
    strncat(text, name, sizeof(text) - sizeof("iteration#"));
    return cali_create_attribute(text, CALI_TYPE_INT,
                                 (int)CALI_ATTR_ASVALUE | (int)CALI_TIDE_ITERATION);
}

/* NULL: nobody made it. */
static inline const char *cali_attribute_name(cali_id_t attribute)
{
    const struct cali_tide_attribute *const about = cali_tide_about(attribute);
    if (attribute && attribute <= CALI_TIDE_OWN_ONES)
        return cali_tide_own_name((unsigned)attribute);
    return about ? about->name : NULL;
}
static inline cali_attr_type cali_attribute_type(cali_id_t attribute)
{
    const struct cali_tide_attribute *const about = cali_tide_about(attribute);
    if (attribute && attribute <= CALI_TIDE_REGIONS)
        return CALI_TYPE_STRING;
    return about ? (cali_attr_type)about->type : CALI_TYPE_INV;
}
static inline int cali_attribute_properties(cali_id_t attribute)
{
    const struct cali_tide_attribute *const about = cali_tide_about(attribute);
    if (attribute && attribute <= CALI_TIDE_REGIONS)
        return CALI_ATTR_NESTED | CALI_ATTR_SCOPE_THREAD;
    return about ? about->properties & ~CALI_TIDE_ITERATION : CALI_ATTR_DEFAULT;
}

/* --- Their values ----------------------------------------------------------------------- */

enum { CALI_TIDE_SET, CALI_TIDE_BEGIN };

CALI_TIDE_FAR void cali_tide_tell_text(const char *name, int step, const char *text)
{
    if (step == CALI_TIDE_BEGIN)
        tide_begin_string(name, text);
    else
        tide_set_string(name, text);
}

/* A column of queries: NAME is VALUE from here on. */
CALI_TIDE_FAR void cali_tide_tell(const char *name, int step, cali_variant_t value)
{
    char text[1024];
    const int begins = step == CALI_TIDE_BEGIN;
    switch ((int)cali_variant_get_type(value)) {
    case CALI_TYPE_UINT:
    case CALI_TYPE_INT:
        if (cali_variant_get_type(value) == CALI_TYPE_UINT && value.value.v_int < 0) {
            snprintf(text, sizeof(text), "%llu",
                     (unsigned long long)value.value.v_uint);
            cali_tide_tell_text(name, step, text);
        } else if (begins)
            tide_begin_int(name, value.value.v_int);
        else
            tide_set_int(name, value.value.v_int);
        break;
    case CALI_TYPE_DOUBLE:
        if (begins)
            tide_begin_double(name, value.value.v_double);
        else
            tide_set_double(name, value.value.v_double);
        break;
    case CALI_TYPE_ADDR:
    case CALI_TYPE_PTR:
        if (begins)
            tide_begin_address(name, value.value.unmanaged_const_ptr);
        else
            tide_set_address(name, value.value.unmanaged_const_ptr);
        break;
    case CALI_TYPE_BOOL:
        cali_tide_tell_text(name, step, value.value.v_uint ? "true" : "false");
        break;
    case CALI_TYPE_TYPE:
        cali_tide_tell_text(name, step, cali_type2string(value.value.v_type));
        break;
    default:
        cali_tide_tell_text(name, step, cali_tide_text(value, text, sizeof(text)));
    }
}

/* The text of VALUE, in BUFFER if need be. */
CALI_TIDE_FAR const char *cali_tide_word(cali_variant_t value, char *buffer,
                                         size_t size)
{
    switch ((int)cali_variant_get_type(value)) {
    case CALI_TYPE_STRING:
        return cali_tide_text(value, buffer, size);
    case CALI_TYPE_BOOL:
        return value.value.v_uint ? "true" : "false";
    case CALI_TYPE_DOUBLE:
        snprintf(buffer, size, "%g", value.value.v_double);
        return buffer;
    default:
        snprintf(buffer, size, "%lld", (long long)value.value.v_int);
        return buffer;
    }
}

/* One of Caliper's own regions. */
CALI_TIDE_FAR void cali_tide_own_begin(unsigned own, cali_variant_t value)
{
    char text[1024];
    const char *const word = cali_tide_word(value, text, sizeof(text));
    if (own == 3)
        tide_loop_begin(word);
    else if (own <= CALI_TIDE_REGIONS)
        tide_region_begin_as(cali_tide_own_name(own), word);
}

/* NAME has VALUE, until its end or the next set. */
CALI_TIDE_FAR void cali_tide_change(const char *name, int properties, int step,
                                    cali_variant_t value)
{
    char text[1024];
    if (step == CALI_TIDE_BEGIN && properties & CALI_TIDE_ITERATION)
        tide_iteration(cali_variant_to_int64(value, NULL));
    else if (step == CALI_TIDE_BEGIN && properties & CALI_ATTR_NESTED)
        tide_region_begin_as(name, cali_tide_word(value, text, sizeof(text)));
    else
        cali_tide_tell(name, step, value);
    if ((properties & CALI_ATTR_SCOPE_MASK) == CALI_ATTR_SCOPE_PROCESS)
        tide_share(name);
}
CALI_TIDE_FAR void cali_tide_stop(const char *name, int properties)
{
    if (properties & CALI_TIDE_ITERATION)
        tide_iteration_end();
    else if (properties & CALI_ATTR_NESTED)
        tide_region_end_as(name, NULL);
    else
        tide_end(name);
}

/* --- By number and by name -------------------------------------------------------------- */

CALI_TIDE_FAR void cali_tide_change_number(cali_id_t attribute, int step,
                                           cali_variant_t value)
{
    const struct cali_tide_attribute *const about = cali_tide_about(attribute);
    if (about)
        cali_tide_change(about->name, about->properties, step, value);
    else if (attribute && attribute <= CALI_TIDE_REGIONS && step == CALI_TIDE_BEGIN)
        cali_tide_own_begin((unsigned)attribute, value);
}
CALI_TIDE_FAR void cali_tide_stop_number(cali_id_t attribute)
{
    const struct cali_tide_attribute *const about = cali_tide_about(attribute);
    if (about)
        cali_tide_stop(about->name, about->properties);
    else if (attribute && attribute <= CALI_TIDE_REGIONS)
        tide_region_end_as(cali_tide_own_name((unsigned)attribute), NULL);
}

/* One that was not made is made, as Caliper does; without properties, so that nothing is
 * lost when there are too many. */
CALI_TIDE_FAR void cali_tide_change_name(const char *name, int step,
                                         cali_variant_t value)
{
    const unsigned own = cali_tide_own(name);
    const struct cali_tide_attribute *const about =
        own ? NULL
            : cali_tide_about(
                  cali_create_attribute(name, cali_variant_get_type(value), 0));
    if (own && own <= CALI_TIDE_REGIONS && step == CALI_TIDE_BEGIN)
        cali_tide_own_begin(own, value);
    else
        cali_tide_change(name, about ? about->properties : 0, step, value);
}
CALI_TIDE_FAR void cali_tide_stop_name(const char *name)
{
    const unsigned own = cali_tide_own(name);
    const struct cali_tide_attribute *const about =
        own ? NULL : cali_tide_about(cali_find_attribute(name));
    if (own && own <= CALI_TIDE_REGIONS)
        tide_region_end_as(cali_tide_own_name(own), NULL);
    else
        cali_tide_stop(name, about ? about->properties : 0);
}

#endif
