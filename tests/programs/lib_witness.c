/* tests/programs/lib_witness.c - libunwind's word on where each block was made.
 *
 * Preloaded beside the recorder it is the allocator that the recorder's hooks call, so it
 * sees the same calls of the same run, one by one.  For each it lets libunwind walk, leaves
 * out its own frames and the recorder's, and writes address, size, thread and stack to the
 * file named by $WITNESS_FILE (see witness.h), which e2e/compare_stacks.c holds against the
 * trace.  libunwind.so.8 is to be preloaded after it: then its thread-local memory is there
 * without being allocated.  Forked children are left out, and calls from handlers that
 * interrupted this file.
 */
#include "witness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

enum {
    MOST_FRAMES = 4096,
    OUR_FRAMES = 16, /* of the recorder and this file: no deeper inside */
    TABLE_LOG2 = 21,
    PAGE_BYTES = 4096,
};
static const size_t FILE_BYTES = (size_t)1 << 31; /* with holes */

/* A stack that was written already: where in the file. */
struct known {
    uint64_t end; /* of its first word; 0: there is none */
    uint32_t id;
};

static struct witness_file *file; /* NULL: off */
static struct known *table;
static uint32_t stacks;
static pid_t home;
static bool begun;
static _Atomic bool unloaded; /* code, by dlclose */
static void *frames[MOST_FRAMES];
static atomic_flag lock = ATOMIC_FLAG_INIT; /* guards all of these */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* Code of the recorder and of this library. */
static struct {
    uintptr_t low, high;
} own[2];

static bool is_own(uintptr_t pc)
{
    return pc - own[0].low < own[0].high - own[0].low ||
           pc - own[1].low < own[1].high - own[1].low;
}

/* --- Walking ---------------------------------------------------------------------------- */

/* libunwind's functions, by the names that its header hides behind macros. */
static struct {
    int (*backtrace)(void **frames, int most);
    int (*get_context)(ucontext_t *context);
    int (*begin)(uint64_t *cursor, ucontext_t *context);
    int (*step)(uint64_t *cursor);
    int (*get_register)(uint64_t *cursor, int number, uint64_t *value);
    void (*flush)(void *space, uint64_t low, uint64_t high);
    void **space;
} unwind;

static bool find(void *slot, const char *name)
{
    void *const symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(slot, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool find_libunwind(void)
{
    return find(&unwind.backtrace, "unw_backtrace") &&
           find(&unwind.get_context, "_Ux86_64_getcontext") &&
           find(&unwind.begin, "_ULx86_64_init_local") &&
           find(&unwind.step, "_ULx86_64_step") &&
           find(&unwind.get_register, "_ULx86_64_get_reg") &&
           find(&unwind.flush, "_Ux86_64_flush_cache") &&
           find(&unwind.space, "_ULx86_64_local_addr_space");
}

/* unw_backtrace keeps, for each thread, what it knows of a place in the code, and nothing
 * makes it forget: once code was unloaded we go step by step. */
static int walk(void)
{
    enum { CURSOR_WORDS = 256, RIP = 16 };
    static ucontext_t context;
    static uint64_t cursor[CURSOR_WORDS];
    uint64_t pc = 0;
    int count = 0;
    if (!unloaded)
        return unwind.backtrace(frames, MOST_FRAMES);
    unwind.get_context(&context);
    unwind.begin(cursor, &context);
    do {
        unwind.get_register(cursor, RIP, &pc);
        memcpy(&frames[count++], &pc, sizeof(pc));
    } while (count < MOST_FRAMES && unwind.step(cursor) > 0);
    return count;
}

int dlclose(void *library)
{
    int (*real)(void *);
    void *const next = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&real, &next, sizeof(real));
    const int result = real(library);
    if (file)
        unwind.flush(*unwind.space, 0, 0);
    unloaded = true;
    return result;
}

/* --- Start ------------------------------------------------------------------------------ */

/* Which of own[] the object is; -1: neither. */
static int owner(const struct dl_phdr_info *info)
{
    const char *const slash = strrchr(info->dlpi_name, '/');
    const char *const name = slash ? slash + 1 : info->dlpi_name;
    return strcmp(name, "libtidemark.so") == 0   ? 0
           : strcmp(name, "lib_witness.so") == 0 ? 1
                                                 : -1;
}

static int find_own(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    const int which = owner(info);
    (void)bytes;
    (void)unused;
    for (int i = 0; which >= 0 && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        own[which].low = info->dlpi_addr + part->p_vaddr;
        own[which].high = own[which].low + part->p_memsz;
    }
    return 0;
}

static void *map(size_t bytes, int flags, int fd)
{
    void *const at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* At the first call, since constructors of other libraries may run before ours would.
 * Without the recorder this is `tidemark run` itself, and nothing is written. */
static void begin(void)
{
    dl_iterate_phdr(find_own, NULL);
    const char *const path = own[0].high ? getenv("WITNESS_FILE") : NULL;
    const int fd =
        path && find_libunwind() ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, (off_t)FILE_BYTES) != 0)
        return;
    home = getpid();
    table = map(sizeof(*table) << TABLE_LOG2, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    file = table ? map(FILE_BYTES, MAP_SHARED, fd) : NULL;
    close(fd);
    unsetenv("WITNESS_FILE"); /* who is executed next is not asked */
}

/* --- Writing ---------------------------------------------------------------------------- */

static void put(uint64_t word)
{
    if ((file->used + 2) * sizeof(word) < FILE_BYTES)
        file->words[file->used++] = word;
    else
        file->full = 1;
}

static bool is_stack_at(uint64_t at, void *const *pcs, int count, uint64_t head)
{
    return file->words[at] == head &&
           memcmp(&file->words[at + 1], pcs, (size_t)count * sizeof(*pcs)) == 0;
}

/* The number of the stack PCS, which is written unless it was before. */
static uint32_t stack_number(void *const *pcs, int count, uint64_t head)
{
    uint64_t hash = head;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uintptr_t)pcs[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    struct known *slot = &table[hash >> (64 - TABLE_LOG2)];
    if (slot->end && is_stack_at(slot->end - 1, pcs, count, head))
        return slot->id;
    *slot = (struct known){file->used + 1, stacks++};
    put(head);
    for (int i = 0; i < count; i++)
        put((uintptr_t)pcs[i]);
    return slot->id;
}

static void write_call(const void *block, size_t size)
{
    const int count = walk();
    int first = 0;
    while (first < count && is_own((uintptr_t)frames[first]))
        first++;
    int second = first;
    for (int i = first; i < count && i < OUR_FRAMES; i++)
        if (is_own((uintptr_t)frames[i]))
            second = i + 1;
    const int left = count - first;
    const uint64_t head = WITNESS_HEAD((uint64_t)(second - first), (uint64_t)left);
    const uint32_t number = stack_number(frames + first, left, head);
    put((uint64_t)syscall(SYS_gettid) << 32 | number);
    put((uintptr_t)block);
    put(size);
}

static void *born(void *block, size_t size)
{
    if (!block || inside)
        return block;
    const int before = errno;
    inside = true;
    while (atomic_flag_test_and_set(&lock))
        sched_yield();
    if (!begun)
        begin();
    begun = true;
    if (file && syscall(SYS_getpid) == home)
        write_call(block, size);
    atomic_flag_clear(&lock);
    inside = false;
    errno = before;
    return block;
}

/* --- The allocator ---------------------------------------------------------------------- */

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
    return born(__libc_realloc(block, size), size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return born(__libc_realloc(block, bytes), bytes);
}

void *memalign(size_t alignment, size_t size)
{
    return born(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return born(__libc_memalign(alignment, size), size);
}

void *valloc(size_t size)
{
    return born(__libc_memalign(PAGE_BYTES, size), size);
}

void *pvalloc(size_t size)
{
    const size_t bytes = (size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    return born(__libc_memalign(PAGE_BYTES, bytes), bytes);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *const block = born(__libc_memalign(alignment, size), size);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void free(void *block)
{
    __libc_free(block);
}
