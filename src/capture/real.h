/* capture/real.h - the functions behind the hooks.
 *
 * For: capture/.  Each hook forwards to the next definition in the search order, so that
 * another allocator, preloaded or linked as a shared library, stays in use.  Until they
 * are resolved (the loader itself, IFUNC resolvers, dlsym's own allocations) a static
 * arena serves; its blocks stay valid for ever.
 */
#ifndef TIDE_CAPTURE_REAL_H
#define TIDE_CAPTURE_REAL_H

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

struct tide_real {
    bool ready;
    bool glibc; /* malloc is glibc's own: the usable size stands before the block */
    bool exact; /* a sanitizer's: the usable size is what was asked for */
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*free)(void *);
    void (*free_sized)(void *, size_t);                 /* NULL before C23 */
    void (*free_aligned_sized)(void *, size_t, size_t); /* NULL before C23 */
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                          void *);
    int (*thrd_create)(pthread_t *, int (*)(void *), void *);
    int (*pthread_setname)(pthread_t, const char *);
    int (*pthread_join)(pthread_t, void **);
    int (*pthread_tryjoin)(pthread_t, void **);
    int (*pthread_timedjoin)(pthread_t, void **, const struct timespec *);
    int (*pthread_clockjoin)(pthread_t, void **, clockid_t, const struct timespec *);
    int (*thrd_join)(pthread_t, int *);
    pid_t (*wait)(int *);
    pid_t (*waitpid)(pid_t, int *, int);
    pid_t (*wait3)(int *, int, struct rusage *);
    pid_t (*wait4)(pid_t, int *, int, struct rusage *);
    int (*waitid)(idtype_t, id_t, siginfo_t *, int);
    int (*system)(const char *);
    bool other_wait, other_system; /* the next of that name may be anything at all */
    FILE *(*popen)(const char *, const char *);
    int (*pclose)(FILE *);
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                 const posix_spawnattr_t *, char *const[], char *const[]);
    int (*spawn_in_path)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                         const posix_spawnattr_t *, char *const[], char *const[]);
    void (*end_posix)(int); /* _exit */
    void (*end_c)(int);     /* _Exit */
    int (*prctl)(int, ...);
    long (*syscall)(long, long, long, long, long, long, long);
    void *(*dlopen)(const char *, int);
    void *(*dlmopen)(long, const char *, int);
    int (*dlclose)(void *);
    pid_t (*fork_now)(void); /* _Fork */
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execv)(const char *, char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
};

extern struct tide_real tide_real;

/* Before the loader has relocated this library, which hooks may see, neither TLS nor
 * errno nor any function of libc can be used. */
bool tide_is_relocated(void);

/* Resolve them, if that is possible yet.  True when tide_real is ready. */
bool tide_real_resolve(void);

/* The bootstrap arena. */
void *tide_boot_alloc(size_t size, size_t align); /* zeroed; NULL when it is used up */
enum { TIDE_ARENA_BYTES = 256 * 1024 };
extern unsigned char tide_boot_arena[TIDE_ARENA_BYTES];
static inline bool tide_boot_owns(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)tide_boot_arena < TIDE_ARENA_BYTES;
}
size_t tide_boot_size(const void *pointer); /* as asked for */

/* Usable bytes of a block of glibc's: its chunk's size word stands before it. */
static inline size_t tide_glibc_usable(const void *pointer)
{
    const size_t word = ((const size_t *)pointer)[-1];
    return (word & ~(size_t)7) - (word & 2 ? 2 : 1) * sizeof(size_t);
}

/* Has it pages of its own? */
static inline bool tide_glibc_mapped(const void *pointer)
{
    return (((const size_t *)pointer)[-1] & 2) != 0;
}

#endif
