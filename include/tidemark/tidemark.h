/* tidemark/tidemark.h - tell tidemark what your program is doing.
 *
 *     #include <tidemark/tidemark.h>
 *
 *     tide_region_begin("solve");
 *     double *x = malloc(n * sizeof(*x));
 *     tide_label(x, "x", n * sizeof(*x));
 *     ...
 *     tide_region_end("solve");
 *
 * Header only: nothing to link.  When the program is not recorded every call is a test of
 * one pointer.  All functions may be called from any thread.  Strings are copied.
 */
#ifndef TIDEMARK_TIDEMARK_H
#define TIDEMARK_TIDEMARK_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's entry points.  Not called directly: they exist only while recorded. */
void tide_recorder_region_begin(const char *name);
void tide_recorder_region_end(const char *name);
void tide_recorder_label(const void *block, const char *name, size_t bytes);
void tide_recorder_event(uint64_t id);
void tide_recorder_snapshot(const char *name);

#ifdef __cplusplus
}
#endif

/* Look NAME up once.  *CACHE remembers; it points at itself for "not there".  Two threads
 * at once only look twice. */
static inline void *tide_lookup(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_DEFAULT, name);
        if (!found)
            found = cache;
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found == (void *)cache ? NULL : found;
}

/* A phase of this thread begins; phases nest. */
static inline void tide_region_begin(const char *name)
{
    static void *cache;
    void (*call)(const char *);
    void *found = tide_lookup(&cache, "tide_recorder_region_begin");
    memcpy(&call, &found, sizeof(call));
    if (call)
        call(name);
}

/* The innermost phase ends.  NAME is checked against it by the reports. */
static inline void tide_region_end(const char *name)
{
    static void *cache;
    void (*call)(const char *);
    void *found = tide_lookup(&cache, "tide_recorder_region_end");
    memcpy(&call, &found, sizeof(call));
    if (call)
        call(name);
}

/* Name the block at BLOCK, of BYTES bytes. */
static inline void tide_label(const void *block, const char *name, size_t bytes)
{
    static void *cache;
    void (*call)(const void *, const char *, size_t);
    void *found = tide_lookup(&cache, "tide_recorder_label");
    memcpy(&call, &found, sizeof(call));
    if (call)
        call(block, name, bytes);
}

/* Iteration ID of the program's outer loop begins. */
static inline void tide_event(uint64_t id)
{
    static void *cache;
    void (*call)(uint64_t);
    void *found = tide_lookup(&cache, "tide_recorder_event");
    memcpy(&call, &found, sizeof(call));
    if (call)
        call(id);
}

/* Remember this moment under NAME: reports can show what lived then. */
static inline void tide_snapshot(const char *name)
{
    static void *cache;
    void (*call)(const char *);
    void *found = tide_lookup(&cache, "tide_recorder_snapshot");
    memcpy(&call, &found, sizeof(call));
    if (call)
        call(name);
}

#endif
