/* caliper/cali_control.h - the run, and Caliper itself, for tidemark: included by cali.h.
 *
 * What is recorded is chosen by `tidemark run`, and what is shown by `tidemark report` and
 * `query`: configurations and channels are accepted, do nothing, and the trace says so once.
 */
#ifndef TIDEMARK_COMPAT_CALI_CONTROL_H
#define TIDEMARK_COMPAT_CALI_CONTROL_H

#include "cali_attributes.h"

/* CALL does nothing. */
static inline void cali_tide_idle(const char *call)
{
    TIDE_API_TELL_NEWER(idle, (call));
}

/* --- The run -------------------------------------------------------------------------- */

/* Values of this thread from here on, as others. */
static inline void cali_set_global_int_byname(const char *name, int value)
{
    tide_set_int(name, value);
}
static inline void cali_set_global_uint_byname(const char *name, uint64_t value)
{
    if (CALI_TIDE_TOLD)
        cali_tide_tell(name, CALI_TIDE_SET, cali_make_variant_from_uint(value));
}
static inline void cali_set_global_double_byname(const char *name, double value)
{
    tide_set_double(name, value);
}
static inline void cali_set_global_string_byname(const char *name, const char *value)
{
    tide_set_string(name, value);
}

/* --- Configuration ---------------------------------------------------------------------- */

static inline void cali_config_preset(const char *key, const char *value)
{
    (void)key;
    (void)value;
}
static inline void cali_config_set(const char *key, const char *value)
{
    (void)key;
    (void)value;
    cali_tide_idle("cali_config_set()");
}
static inline void cali_config_allow_read_env(int allow)
{
    (void)allow;
}
static inline void cali_config_define_profile(const char *name, const char *pairs[][2])
{
    (void)name;
    (void)pairs;
}

struct _cali_configset_t;
typedef struct _cali_configset_t *cali_configset_t;

__attribute__((weak, visibility("hidden"))) char cali_tide_configset;

static inline cali_configset_t cali_create_configset(const char *pairs[][2])
{
    (void)pairs;
    return (cali_configset_t)(void *)&cali_tide_configset;
}
static inline void cali_delete_configset(cali_configset_t set)
{
    (void)set;
}
static inline void cali_configset_set(cali_configset_t set, const char *key,
                                      const char *value)
{
    (void)set;
    (void)key;
    (void)value;
}

/* --- Channels ---------------------------------------------------------------------------- */

/* All channels are one: that which tidemark records.  0 is Caliper's default one. */
enum { CALI_TIDE_CHANNELS = 1024 };
struct cali_tide_channels {
    unsigned made;
    unsigned char off[CALI_TIDE_CHANNELS]; /* those that were deactivated */
};
__attribute__((weak,
               visibility("hidden"))) struct cali_tide_channels cali_tide_channels;

static inline void cali_tide_switch(cali_id_t channel, int off)
{
    if (channel < CALI_TIDE_CHANNELS)
        cali_tide_channels.off[channel] = (unsigned char)off;
}
static inline cali_id_t cali_create_channel(const char *name, int flags,
                                            const cali_configset_t set)
{
    const unsigned made =
        __atomic_add_fetch(&cali_tide_channels.made, 1, __ATOMIC_RELAXED);
    (void)name;
    (void)set;
    cali_tide_idle("cali_create_channel()");
    cali_tide_switch(made, flags & CALI_CHANNEL_LEAVE_INACTIVE);
    return made;
}
static inline void cali_activate_channel(cali_id_t channel)
{
    cali_tide_switch(channel, 0);
}
static inline void cali_deactivate_channel(cali_id_t channel)
{
    cali_tide_switch(channel, 1);
}
static inline int cali_channel_is_active(cali_id_t channel)
{
    return channel <= cali_tide_channels.made && channel < CALI_TIDE_CHANNELS &&
           !cali_tide_channels.off[channel];
}
static inline void cali_delete_channel(cali_id_t channel)
{
    cali_tide_switch(channel, 1);
}
static inline void cali_channel_flush(cali_id_t channel, int options)
{
    (void)channel;
    (void)options;
}

/* --- Caliper itself ------------------------------------------------------------------- */

static inline const char *cali_caliper_version(void)
{
    return "2.15.0";
}
static inline void cali_init(void)
{
}
static inline int cali_is_initialized(void)
{
    return 1;
}
static inline void cali_flush(int options)
{
    (void)options;
}

#endif
