/* caliper/cali.h - Caliper's annotations, for tidemark.
 *
 * Put tidemark's include/tidemark/compat in the include path, in place of Caliper's own
 * folder: that one is enough, and nothing has to be linked.  Regions, functions, phases and
 * loops become tidemark's regions.  So do attributes that are nested, or are regions by
 * another name ("function", "region", "annotation", "loop", "phase"); others are columns of
 * `tidemark query`.  Metadata of the run and the control of Caliper's own services are
 * accepted and do nothing.
 */
#ifndef TIDEMARK_COMPAT_CALI_H
#define TIDEMARK_COMPAT_CALI_H

#include <string.h>
#include "../../tidemark.h"
#include "cali_datatracker.h"

typedef uint64_t cali_id_t;
#define CALI_INV_ID UINT64_MAX

typedef enum {
    CALI_TYPE_INV,
    CALI_TYPE_USR,
    CALI_TYPE_INT,
    CALI_TYPE_UINT,
    CALI_TYPE_STRING,
    CALI_TYPE_ADDR,
    CALI_TYPE_DOUBLE,
    CALI_TYPE_BOOL,
    CALI_TYPE_TYPE,
    CALI_TYPE_PTR
} cali_attr_type;

enum {
    CALI_ATTR_DEFAULT = 0,
    CALI_ATTR_ASVALUE = 1,
    CALI_ATTR_NOMERGE = 2,
    CALI_ATTR_SCOPE_PROCESS = 12,
    CALI_ATTR_SCOPE_THREAD = 20,
    CALI_ATTR_SCOPE_TASK = 24,
    CALI_ATTR_SKIP_EVENTS = 64,
    CALI_ATTR_HIDDEN = 128,
    CALI_ATTR_NESTED = 256,
    CALI_ATTR_GLOBAL = 512,
    CALI_ATTR_UNALIGNED = 1024,
    CALI_ATTR_AGGREGATABLE = 2048
};

/* --- Regions ------------------------------------------------------------------------ */

static inline void cali_begin_region(const char *name)
{
    tide_region_begin_as("annotation", name);
}
static inline void cali_end_region(const char *name)
{
    tide_region_end_as("annotation", name);
}
/* Caliper's phases and communication regions stand among the regions of their thread. */
static inline void cali_begin_phase(const char *name)
{
    tide_region_begin_as("phase", name);
}
static inline void cali_end_phase(const char *name)
{
    tide_region_end_as("phase", name);
}
static inline void cali_begin_comm_region(const char *name)
{
    tide_region_begin_as("comm.region", name);
}
static inline void cali_end_comm_region(const char *name)
{
    tide_region_end_as("comm.region", name);
}

#define CALI_MARK_BEGIN(name)             cali_begin_region(name)
#define CALI_MARK_END(name)               cali_end_region(name)
#define CALI_MARK_FUNCTION_BEGIN          tide_region_begin_as("function", __func__)
#define CALI_MARK_FUNCTION_END            tide_region_end_as("function", __func__)
#define CALI_MARK_PHASE_BEGIN(name)       cali_begin_phase(name)
#define CALI_MARK_PHASE_END(name)         cali_end_phase(name)
#define CALI_MARK_COMM_REGION_BEGIN(name) cali_begin_comm_region(name)
#define CALI_MARK_COMM_REGION_END(name)   cali_end_comm_region(name)
/* The statement may declare something that is used later. */
#define CALI_WRAP_STATEMENT(name, statement) \
    tide_region_begin_as("statement", name); \
    statement;                               \
    tide_region_end_as("statement", name)

/* --- Loops -------------------------------------------------------------------------- */

#define CALI_MARK_LOOP_BEGIN(loop_id, name)         \
    const char *const cali_loop_##loop_id = (name); \
    tide_loop_begin(cali_loop_##loop_id)
#define CALI_MARK_LOOP_END(loop_id)           tide_loop_end(cali_loop_##loop_id)
#define CALI_MARK_ITERATION_BEGIN(loop_id, i) tide_iteration((int64_t)(i))
#define CALI_MARK_ITERATION_END(loop_id)      tide_iteration_end()

/* --- Attributes ---------------------------------------------------------------------- */

/* Is the attribute NAME a region by another name? */
static inline int cali_tide_names_regions(const char *name)
{
    return strcmp(name, "function") == 0 || strcmp(name, "region") == 0 ||
           strcmp(name, "annotation") == 0 || strcmp(name, "loop") == 0 ||
           strcmp(name, "phase") == 0;
}

static inline void cali_begin_string_byname(const char *name, const char *value)
{
    if (cali_tide_names_regions(name))
        tide_region_begin(value);
    else
        tide_begin_string(name, value);
}
static inline void cali_begin_byname(const char *name)
{
    tide_begin_int(name, 1);
}
static inline void cali_begin_int_byname(const char *name, int value)
{
    tide_begin_int(name, value);
}
static inline void cali_begin_double_byname(const char *name, double value)
{
    tide_begin_double(name, value);
}
static inline void cali_end_byname(const char *name)
{
    if (cali_tide_names_regions(name))
        tide_region_end(NULL);
    else
        tide_end(name);
}
static inline void cali_set_string_byname(const char *name, const char *value)
{
    tide_set_string(name, value);
}
static inline void cali_set_int_byname(const char *name, int value)
{
    tide_set_int(name, value);
}
static inline void cali_set_double_byname(const char *name, double value)
{
    tide_set_double(name, value);
}

/* Attributes by number.  Their names are kept here, since recorded programs shall not find
 * memory of their own that they did not allocate. */
enum {
    CALI_TIDE_ATTRIBUTES = 128,
    CALI_TIDE_NAME = 128,
    CALI_TIDE_ITERATION = 1 << 30
};

struct cali_tide_attribute {
    int made; /* 1: name and properties are there */
    int properties;
    char name[CALI_TIDE_NAME];
};

struct cali_tide_table {
    unsigned count; /* places taken, perhaps more than there are */
    struct cali_tide_attribute list[CALI_TIDE_ATTRIBUTES];
};

/* One for all sources of a program or library. */
__attribute__((weak, visibility("hidden"))) struct cali_tide_table cali_tide_known;

/* The attribute that is called NAME, else CALI_INV_ID. */
static inline cali_id_t cali_find_attribute(const char *name)
{
    unsigned i;
    for (i = 0; i < CALI_TIDE_ATTRIBUTES; i++)
        if (__atomic_load_n(&cali_tide_known.list[i].made, __ATOMIC_ACQUIRE) &&
            strncmp(cali_tide_known.list[i].name, name, CALI_TIDE_NAME - 1) == 0)
            return i;
    return CALI_INV_ID;
}

/* CALI_INV_ID without the recorder, and when there are too many: such do nothing. */
static inline cali_id_t cali_create_attribute(const char *name, cali_attr_type type,
                                              int properties)
{
    const cali_id_t known = tide_present() ? cali_find_attribute(name) : CALI_INV_ID;
    unsigned at;
    (void)type;
    if (known != CALI_INV_ID || !tide_present())
        return known;
    at = __atomic_fetch_add(&cali_tide_known.count, 1, __ATOMIC_RELAXED);
    if (at >= CALI_TIDE_ATTRIBUTES)
        return CALI_INV_ID;
    strncpy(cali_tide_known.list[at].name, name, CALI_TIDE_NAME - 1);
    cali_tide_known.list[at].properties = properties;
    __atomic_store_n(&cali_tide_known.list[at].made, 1, __ATOMIC_RELEASE);
    return at;
}

/* Iterations of the loop NAME, which is begun as a loop. */
static inline cali_id_t cali_make_loop_iteration_attribute(const char *name)
{
    char text[CALI_TIDE_NAME] = "iteration#";
    strncat(text, name, sizeof(text) - sizeof("iteration#"));
    return cali_create_attribute(text, CALI_TYPE_INT, CALI_TIDE_ITERATION);
}

/* What is known of ATTRIBUTE; NULL: nothing. */
static inline const struct cali_tide_attribute *cali_tide_about(cali_id_t attribute)
{
    return attribute < CALI_TIDE_ATTRIBUTES ? &cali_tide_known.list[attribute] : NULL;
}

static inline void cali_begin_int(cali_id_t attribute, int value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about && about->properties & CALI_TIDE_ITERATION)
        tide_iteration(value);
    else if (about)
        tide_begin_int(about->name, value);
}
static inline void cali_begin_double(cali_id_t attribute, double value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about)
        tide_begin_double(about->name, value);
}
static inline void cali_begin_string(cali_id_t attribute, const char *value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about && about->properties & CALI_ATTR_NESTED)
        tide_region_begin(value);
    else if (about)
        cali_begin_string_byname(about->name, value);
}
static inline void cali_set_int(cali_id_t attribute, int value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about)
        tide_set_int(about->name, value);
}
static inline void cali_set_double(cali_id_t attribute, double value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about)
        tide_set_double(about->name, value);
}
static inline void cali_set_string(cali_id_t attribute, const char *value)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about)
        tide_set_string(about->name, value);
}
static inline void cali_end(cali_id_t attribute)
{
    const struct cali_tide_attribute *about = cali_tide_about(attribute);
    if (about && about->properties & CALI_TIDE_ITERATION)
        tide_iteration_end();
    else if (about && about->properties & CALI_ATTR_NESTED)
        tide_region_end(NULL);
    else if (about)
        cali_end_byname(about->name);
}

/* --- The run, and Caliper itself ------------------------------------------------------ */

static inline void cali_set_global_int_byname(const char *name, int value)
{
    (void)name;
    (void)value;
}
static inline void cali_set_global_uint_byname(const char *name, uint64_t value)
{
    (void)name;
    (void)value;
}
static inline void cali_set_global_double_byname(const char *name, double value)
{
    (void)name;
    (void)value;
}
static inline void cali_set_global_string_byname(const char *name, const char *value)
{
    (void)name;
    (void)value;
}
static inline void cali_config_preset(const char *key, const char *value)
{
    (void)key;
    (void)value;
}
static inline void cali_config_set(const char *key, const char *value)
{
    (void)key;
    (void)value;
}
static inline void cali_init(void)
{
}
static inline int cali_is_initialized(void)
{
    return tide_present();
}
static inline void cali_flush(int options)
{
    (void)options;
}

#ifdef __cplusplus
#    include "cali_classes.hpp"
#endif

#endif
