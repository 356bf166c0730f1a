/* caliper/cali.h - Caliper's annotations, for tidemark.
 *
 * Put tidemark's include/tidemark/compat in the include path, in place of Caliper's own
 * folder: that one is enough, and nothing has to be linked.  Without the recorder, each
 * call that marks something is a test of one pointer.
 *
 * Regions, functions, phases and loops become tidemark's regions.  So do attributes that
 * are nested; all are columns of `tidemark query`.
 */
#ifndef TIDEMARK_COMPAT_CALI_H
#define TIDEMARK_COMPAT_CALI_H

#include "cali_attributes.h"
#include "cali_control.h"
#include "cali_datatracker.h"
#include "cali_snapshots.h"

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

/* --- Attributes by number -------------------------------------------------------------- */

static inline void cali_begin(cali_id_t attribute)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_BEGIN,
                                cali_make_variant_from_bool(true));
}
static inline void cali_begin_int(cali_id_t attribute, int value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_BEGIN,
                                cali_make_variant_from_int(value));
}
static inline void cali_begin_double(cali_id_t attribute, double value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_BEGIN,
                                cali_make_variant_from_double(value));
}
static inline void cali_begin_string(cali_id_t attribute, const char *value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_BEGIN,
                                cali_make_variant_from_string(value));
}
static inline void cali_begin_variant(cali_id_t attribute, cali_variant_t value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_BEGIN, value);
}
/* Of the SIZE bytes at VALUE, which are of the attribute's type. */
static inline void cali_set(cali_id_t attribute, const void *value, size_t size)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(
            attribute, CALI_TIDE_SET,
            cali_make_variant(cali_attribute_type(attribute), value, size));
}
static inline void cali_set_int(cali_id_t attribute, int value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_SET,
                                cali_make_variant_from_int(value));
}
static inline void cali_set_double(cali_id_t attribute, double value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_SET,
                                cali_make_variant_from_double(value));
}
static inline void cali_set_string(cali_id_t attribute, const char *value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_SET,
                                cali_make_variant_from_string(value));
}
static inline void cali_set_variant(cali_id_t attribute, cali_variant_t value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_number(attribute, CALI_TIDE_SET, value);
}
static inline void cali_end(cali_id_t attribute)
{
    if (CALI_TIDE_TOLD)
        cali_tide_stop_number(attribute);
}
/* The innermost value ends, whatever it is. */
static inline void cali_safe_end_string(cali_id_t attribute, const char *value)
{
    (void)value;
    cali_end(attribute);
}

/* --- Attributes by name ---------------------------------------------------------------- */

static inline void cali_begin_byname(const char *name)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_BEGIN, cali_make_variant_from_bool(true));
}
static inline void cali_begin_int_byname(const char *name, int value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_BEGIN, cali_make_variant_from_int(value));
}
static inline void cali_begin_double_byname(const char *name, double value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_BEGIN,
                              cali_make_variant_from_double(value));
}
static inline void cali_begin_string_byname(const char *name, const char *value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_BEGIN,
                              cali_make_variant_from_string(value));
}
static inline void cali_set_int_byname(const char *name, int value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_SET, cali_make_variant_from_int(value));
}
static inline void cali_set_double_byname(const char *name, double value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_SET,
                              cali_make_variant_from_double(value));
}
static inline void cali_set_string_byname(const char *name, const char *value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_change_name(name, CALI_TIDE_SET,
                              cali_make_variant_from_string(value));
}
static inline void cali_end_byname(const char *name)
{
    if (CALI_TIDE_TOLD)
        cali_tide_stop_name(name);
}

#ifdef __cplusplus
#    include "Annotation.h"
#endif

#endif
