/* tests/programs/lib_tally.c - another count of a program's calls, to compare ours with.
 *
 * Preloaded, it writes to the file named by $TALLY_FILE, when the program ends, how often
 * and for how many bytes the C functions were called from outside of libc's malloc.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static _Atomic unsigned long calls, bytes, frees, reallocs;

static void *born(void *block, size_t size)
{
    if (block) {
        calls++;
        bytes += size;
    }
    return block;
}

void *malloc(size_t size)
{
    return born(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    return born(__libc_calloc(count, size), count * size);
}

void *realloc(void *block, size_t size)
{
    void *const moved = born(__libc_realloc(block, size), size);
    if (block && (moved || size == 0)) {
        frees++;
        reallocs++;
    }
    return moved;
}

void free(void *block)
{
    frees += block != NULL;
    __libc_free(block);
}

__attribute__((destructor)) static void write_down(void)
{
    char line[200];
    const char *const path = getenv("TALLY_FILE");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    const int length = snprintf(line, sizeof(line),
                                "{\"alloc_calls\": %lu, \"allocated_bytes\": %lu, "
                                "\"free_calls\": %lu, \"realloc_calls\": %lu}\n",
                                calls, bytes, frees, reallocs);
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        _exit(98);
}
