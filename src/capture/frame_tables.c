/* capture/frame_tables.c - frame tables of large files, without their pages staying. */
#include "capture/frame_tables.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/modules.h"
#include "capture/process.h"
#include "capture/reserve.h"

enum {
    TIDE_LARGE_HEADER =
        64 * 1024, /* of 8,000 functions: their tables take five times it */
    TIDE_TABLES_MOST = 32,
    TIDE_WINDOWS_MOST = 32, /* 2 MiB */
    /* Each may be a mapping, of which a process has 65,530: 128 MiB of tables. */
    TIDE_WINDOWS_ALL = 2048,
    TIDE_COMPARED_BYTES = 2048,
    TIDE_ENC_PCREL_SDATA4 = 0x1b,
    TIDE_ENC_UDATA4 = 0x03,
};

static struct tide_frame_tables known[TIDE_TABLES_MOST];
static uint32_t known_count;
static uint32_t all_windows;
_Atomic int32_t tide_windows_there;

struct tide_frame_tables *tide_frame_tables_of(uintptr_t header)
{
    for (uint32_t i = 0; i < known_count; i++)
        if (atomic_load_explicit(&known[i].header, memory_order_relaxed) == header)
            return &known[i];
    return NULL;
}

/* What is mapped stays: others may read there just now. */
void tide_frame_tables_check(void)
{
    struct dl_find_object object;
    for (uint32_t i = 0; i < known_count; i++) {
        const uintptr_t header = known[i].header;
        if (_dl_find_object((void *)header, &object) != 0 ||
            (uintptr_t)object.dlfo_eh_frame != header)
            known[i].header = 0;
    }
}

/* Where window INDEX begins, or the last one ends. */
static uintptr_t window_at(const struct tide_frame_tables *tables, uint32_t index)
{
    const uintptr_t bottom = tables->from & ~(uintptr_t)(TIDE_PAGE - 1);
    const uintptr_t at = ((tables->from >> TIDE_WINDOW_SHIFT) + index)
                         << TIDE_WINDOW_SHIFT;
    return at < bottom ? bottom : at < tables->to ? at : tables->to;
}

static void advise(const struct tide_frame_tables *tables, uint32_t index, int advice)
{
    const uintptr_t at = window_at(tables, index);
    syscall(SYS_madvise, at, window_at(tables, index + 1) - at, advice);
}

/* A window that was not used since this was last asked goes. */
static void age(struct tide_frame_tables *tables, uint32_t index)
{
    _Atomic uint8_t *const window = &tables->window[index];
    uint8_t was = atomic_load_explicit(window, memory_order_relaxed);
    if (was == TIDE_WINDOW_AWAY)
        return;
    if (!atomic_compare_exchange_strong(window, &was, (uint8_t)(was - 1)) ||
        was == TIDE_WINDOW_USED)
        return;
    atomic_fetch_sub(&tide_windows_there, 1);
    /* Another thread may read in it just now: then it comes back. */
    advise(tables, index, MADV_DONTNEED);
}

/* All are looked at in turn, twice at most. */
void tide_frame_tables_rest(void)
{
    static _Atomic uint32_t next_table, next_window;
    const int before = errno;
    uint32_t table = next_table, window = next_window;
    const uint32_t most = 2 * all_windows;
    for (uint32_t i = 0; i < most && tide_windows_there > TIDE_WINDOWS_MOST; i++) {
        age(&known[table], window);
        if (++window < known[table].windows)
            continue;
        window = 0;
        table = (table + 1) % known_count;
    }
    next_table = table;
    next_window = window;
    errno = before;
}

/* --- At start --------------------------------------------------------------------------- */

/* A loaded file, and what is of interest in it. */
struct loaded {
    const struct dl_phdr_info *info;
    const ElfW(Phdr) * header, *segment; /* .eh_frame_hdr; what it is loaded with */
    int file;
};

/* What PART is loaded with, as the file has it; NULL: it is not, or it says so of itself
 * without being true. */
static const ElfW(Phdr) *
    segment_of(const struct dl_phdr_info *info, const ElfW(Phdr) * part)
{
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
        const uint64_t at = part->p_vaddr - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R &&
            at < segment->p_filesz && part->p_filesz <= segment->p_filesz - at &&
            part->p_offset - segment->p_offset == at)
            return segment;
    }
    return NULL;
}

/* False: it has no large tables, or such as the loader may have written to. */
static bool has_large_tables(struct loaded *loaded)
{
    const struct dl_phdr_info *const info = loaded->info;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            loaded->header = &info->dlpi_phdr[i];
    if (!loaded->header || loaded->header->p_filesz < TIDE_LARGE_HEADER)
        return false;
    loaded->segment = segment_of(info, loaded->header);
    return loaded->segment && !(loaded->segment->p_flags & PF_W);
}

/* Does the file have these BYTES at OFFSET? */
static bool file_has(int file, const void *bytes, uint64_t count, uint64_t offset)
{
    static uint8_t read[TIDE_COMPARED_BYTES];
    return count <= sizeof(read) &&
           syscall(SYS_pread64, file, read, count, offset) == (long)count &&
           memcmp(read, bytes, count) == 0;
}

/* Is the file the one that is loaded, and whole?  Its build-id tells, and its segments. */
static bool is_the_one(const struct loaded *loaded)
{
    const struct dl_phdr_info *const info = loaded->info;
    const uint64_t end = loaded->segment->p_offset + loaded->segment->p_filesz;
    ElfW(Ehdr) header;
    bool same_id = false;
    if (syscall(SYS_pread64, loaded->file, &header, sizeof(header), 0) !=
            sizeof(header) ||
        !file_has(loaded->file, info->dlpi_phdr, info->dlpi_phnum * sizeof(ElfW(Phdr)),
                  header.e_phoff))
        return false;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const notes = &info->dlpi_phdr[i];
        const uint8_t *const at = (const uint8_t *)(info->dlpi_addr + notes->p_vaddr);
        const uint8_t *id;
        if (notes->p_type != PT_NOTE || !segment_of(info, notes))
            continue;
        if (!file_has(loaded->file, at, notes->p_filesz, notes->p_offset))
            return false;
        same_id |= tide_notes_build_id(at, at + notes->p_filesz, &id) > 0;
    }
    return same_id && syscall(SYS_lseek, loaded->file, 0, SEEK_END) >= (long)end;
}

/* What .eh_frame_hdr begins with, as every linker writes it. */
struct header_begin {
    uint8_t version, frames_encoding, count_encoding, table_encoding;
    int32_t frames; /* from here to .eh_frame */
    uint32_t count; /* of entries of 8 bytes, which follow */
};

/* Which part of the file: .eh_frame stands behind its header, or before it.  As offsets. */
static bool find_part(const struct loaded *loaded, uint64_t *from, uint64_t *to)
{
    const uint64_t header = loaded->header->p_offset;
    const uint64_t start = loaded->segment->p_offset;
    struct header_begin begin;
    if (syscall(SYS_pread64, loaded->file, &begin, sizeof(begin), header) !=
            sizeof(begin) ||
        begin.version != 1 || begin.frames_encoding != TIDE_ENC_PCREL_SDATA4 ||
        begin.count_encoding != TIDE_ENC_UDATA4 ||
        begin.count > (loaded->header->p_filesz - sizeof(begin)) / 8)
        return false;
    const uint64_t frames = header + offsetof(struct header_begin, frames) +
                            (uint64_t)(int64_t)begin.frames;
    *from = frames < header ? frames : header;
    *to = frames < header ? header + loaded->header->p_filesz
                          : start + loaded->segment->p_filesz;
    return *from >= start && *from < *to &&
           *to - *from <= (uint64_t)(TIDE_TABLES_WINDOWS - 2) << TIDE_WINDOW_SHIFT;
}

/* Linux 6.18 and later map all of a large folio, up to 2 MiB of a file, with its first page
 * that is touched, but never more than one mapping. */
static bool kernel_maps_folios(void)
{
    struct utsname name;
    if (syscall(SYS_uname, &name) != 0)
        return false;
    char *rest;
    const unsigned long major = strtoul(name.release, &rest, 10);
    const unsigned long minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 18);
}

/* Windows that the kernel takes for different mappings, since every other one is not to be in
 * core files.  (As files that nobody has written to are not anyway.) */
static void part_windows(const struct tide_frame_tables *tables)
{
    for (uint32_t i = 1; i < tables->windows; i += 2)
        advise(tables, i, MADV_DONTDUMP);
}

/* Can pages of this mapping be let go?  Not where all that is mapped is locked, until it is
 * unlocked: which some sandboxes, that a program was started in, kill for. */
static bool can_let_go(void *at, uint64_t bytes)
{
    return syscall(SYS_madvise, at, bytes, MADV_DONTNEED) == 0 ||
           (syscall(SYS_munlock, at, bytes) == 0 &&
            syscall(SYS_madvise, at, bytes, MADV_DONTNEED) == 0);
}

/* Not to be read at first: where all that is mapped is locked, it would be in memory at
 * once. */
static void map_part(const struct loaded *loaded, uint64_t from, uint64_t to)
{
    const uint64_t first = from & ~(uint64_t)(TIDE_PAGE - 1);
    const uint64_t bytes = to - first;
    const uintptr_t header = loaded->info->dlpi_addr + loaded->header->p_vaddr;
    void *const at =
        tide_reserve_map(bytes, PROT_NONE, MAP_PRIVATE, loaded->file, first);
    if (!at)
        return;
    if (!can_let_go(at, bytes) || syscall(SYS_mprotect, at, bytes, PROT_READ) != 0) {
        tide_reserve_release(at, bytes);
        return;
    }
    struct tide_frame_tables *const tables = &known[known_count++];
    tables->header = header;
    tables->from = (uintptr_t)at + (from - first);
    tables->to = (uintptr_t)at + bytes;
    tables->elsewhere = header - ((uintptr_t)at + (loaded->header->p_offset - first));
    tables->windows = (uint32_t)(((tables->to - 1) >> TIDE_WINDOW_SHIFT) -
                                 (tables->from >> TIDE_WINDOW_SHIFT) + 1);
    all_windows += tables->windows;
    if (kernel_maps_folios())
        part_windows(tables);
}

static int look_at(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    struct loaded loaded = {.info = info};
    uint64_t from, to;
    (void)bytes;
    (void)unused;
    if (known_count == TIDE_TABLES_MOST)
        return 1;
    if (!has_large_tables(&loaded))
        return 0;
    const char *const path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    loaded.file = (int)syscall(SYS_openat, AT_FDCWD, path,
                               O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (loaded.file == -1)
        return 0;
    if (is_the_one(&loaded) && find_part(&loaded, &from, &to) &&
        all_windows + ((to - from) >> TIDE_WINDOW_SHIFT) < TIDE_WINDOWS_ALL)
        map_part(&loaded, from, to);
    syscall(SYS_close, loaded.file);
    return 0;
}

/* Where address space is limited, it is the program's alone. */
void tide_frame_tables_begin(void)
{
    if (tide_reserve_limit() == UINT64_MAX)
        dl_iterate_phdr(look_at, NULL);
}
