/* capture/api.h - the exported functions: what the table holds, and other languages look
 * up by name.
 *
 * For: api.c, api_count.c, attributes.c, windows.c.
 */
#ifndef TIDE_CAPTURE_API_H
#define TIDE_CAPTURE_API_H

#include <tidemark/annotated.h>

#include "capture/hooks.h"

enum { TIDE_SHAPE_DIMENSIONS = 8 };

#define TIDE_EXPORT(type, name, ...)                  \
    TIDE_HOOK type tide_recorder_##name(__VA_ARGS__); \
    TIDE_HOOK type tide_recorder_##name(__VA_ARGS__)

/* The number of NAME in the trace that is being written; 0: it has none, or NAME is NULL. */
struct tide_name;
uint64_t tide_name_number(const struct tide_name *name);

void tide_recorder_snapshot(const char *name);
void tide_recorder_pause(int scope);
void tide_recorder_resume(int scope);
tide_handle tide_recorder_window_start(const char *name, int scope);
int tide_recorder_stop(tide_handle window, struct tide_stats *stats);
int tide_recorder_peek(tide_handle window, struct tide_stats *stats);
int tide_recorder_register(void);
int tide_recorder_deregister(struct tide_stats *stats);
int tide_recorder_monitor_add(tide_alloc_called alloc_called,
                              tide_free_called free_called, void *user,
                              tide_handle *monitor);
int tide_recorder_monitor_remove(tide_handle monitor);
int tide_recorder_hush(int hushed);
int tide_recorder_report(void);
int tide_recorder_find(const void *address, struct tide_found_block *block);
int tide_recorder_counters(struct tide_recorder_counters *counters);
void tide_recorder_set_int(const char *name, int64_t value);
void tide_recorder_set_double(const char *name, double value);
void tide_recorder_set_string(const char *name, const char *value);
void tide_recorder_set_address(const char *name, const void *value);
void tide_recorder_begin_int(const char *name, int64_t value);
void tide_recorder_begin_double(const char *name, double value);
void tide_recorder_begin_string(const char *name, const char *value);
void tide_recorder_begin_address(const char *name, const void *value);
void tide_recorder_end(const char *name);
void tide_recorder_unset(const char *name);
void tide_recorder_share(const char *name);
int tide_recorder_told(tide_told_each each, void *user);

#endif
