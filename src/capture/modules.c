/* capture/modules.c - notice ELF files as their code turns up in stacks.
 *
 * Readers of the list need no lock: an entry is written before the count that covers it,
 * and its number is another when it has become one of another module.  Lookup is linear,
 * newest first, and happens only when a frame is new since the lane's last reset.
 *
 * A lane learns of a new epoch between two events.  While one is written, libraries may
 * come and go: its module is noticed in a later epoch than the one that the lane is in, by
 * this thread or by another.  So it is told for the lane's epoch, be that at once or
 * afterwards.  It was there: all lanes are called before the loader lets go of its lock, so
 * an event in what was loaded in place of another finds its lane called.
 */
#include "capture/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/varint.h"
#include "capture/process.h"
#include "capture/session.h"
#include "capture/stack.h"
#include "trace/format.h"

enum { TIDE_BUILD_ID_MAX = 64, TIDE_PATH_BYTES = 4096 };

static char
    program_path[TIDE_PATH_BYTES]; /* set at start: /proc may be out of reach later */

static bool holds(const struct tide_known_module *module, uint64_t address)
{
    const uint32_t number = atomic_load(&module->number);
    const uint64_t start = atomic_load(&module->start);
    const uint64_t end = atomic_load(&module->end);
    return number != 0 && address - start < end - start &&
           atomic_load(&module->number) == number;
}

static struct tide_known_module *find_known(uint64_t address)
{
    for (uint32_t i = atomic_load(&tide_process->module_count); i-- > 0;)
        if (holds(&tide_process->modules[i], address))
            return &tide_process->modules[i];
    return NULL;
}

uint32_t tide_notes_build_id(const uint8_t *note, const uint8_t *end,
                             const uint8_t **id)
{
    ElfW(Nhdr) head;
    while (end - note >= (long)sizeof(head)) {
        memcpy(&head, note, sizeof(head));
        const uint8_t *name = note + sizeof(head);
        const uint64_t name_bytes = ((uint64_t)head.n_namesz + 3) & ~3ull;
        const uint64_t bytes = ((uint64_t)head.n_descsz + 3) & ~3ull;
        if (name_bytes + bytes > (uint64_t)(end - name))
            return 0;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(name, "GNU", 4) == 0 && head.n_descsz <= TIDE_BUILD_ID_MAX) {
            *id = name + name_bytes;
            return head.n_descsz;
        }
        note = name + name_bytes + bytes;
    }
    return 0;
}

/* The build-id stands in a PT_NOTE segment, which is loaded with the rest. */
static uint32_t find_build_id(const struct dl_find_object *object, const uint8_t **id)
{
    const uint8_t *start = object->dlfo_map_start;
    const uint8_t *end = object->dlfo_map_end;
    ElfW(Ehdr) header;
    memcpy(&header, start, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > TIDE_PAGE)
        return 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, start + header.e_phoff + i * sizeof(segment), sizeof(segment));
        const uint64_t at = object->dlfo_link_map->l_addr + segment.p_vaddr;
        if (segment.p_type != PT_NOTE || at < (uintptr_t)start ||
            at + segment.p_memsz > (uintptr_t)end)
            continue;
        const uint8_t *notes = start + (at - (uintptr_t)start);
        const uint32_t bytes = tide_notes_build_id(notes, notes + segment.p_memsz, id);
        if (bytes)
            return bytes;
    }
    return 0;
}

void tide_modules_init(void)
{
    const long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program_path,
                             sizeof(program_path) - 1);
    program_path[got > 0 ? got : 0] = '\0';
}

/* The loader knows every path but the program's own. */
static const char *find_path(const struct link_map *map)
{
    return map->l_name && *map->l_name ? map->l_name : program_path;
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, uint32_t count)
{
    out = tide_put_varint(out, count);
    memcpy(out, bytes, count);
    return out + count;
}

/* In static memory, since the target's stack may be small.  Guarded by process->lock. */
static uint8_t note_buffer[TIDE_PATH_BYTES + 256];

/* The process lock is held. */
static void note_module(uint32_t id, uint64_t epoch,
                        const struct dl_find_object *object)
{
    const uint8_t *build_id = note_buffer;
    const uint32_t id_bytes = find_build_id(object, &build_id);
    const char *path = find_path(object->dlfo_link_map);
    uint8_t *out = tide_put_varint(note_buffer, id);
    out = tide_put_varint(out, epoch);
    out = tide_put_varint(out, (uintptr_t)object->dlfo_map_start);
    out = tide_put_varint(out, (uintptr_t)object->dlfo_map_end);
    out = tide_put_varint(out, object->dlfo_link_map->l_addr);
    out = put_bytes(out, build_id, id_bytes);
    out = put_bytes(out, path, (uint32_t)strnlen(path, TIDE_PATH_BYTES));
    tide_process_note_locked(TIDE_NOTE_MODULE, note_buffer,
                             (uint32_t)(out - note_buffer));
}

/* The same. */
static void note_end(uint32_t id, uint64_t epoch)
{
    uint8_t payload[2 * TIDE_VARINT_MAX];
    uint8_t *out = tide_put_varint(payload, id);
    out = tide_put_varint(out, epoch);
    tide_process_note_locked(TIDE_NOTE_MODULE_GONE, payload, (uint32_t)(out - payload));
}

/* From which epoch on OBJECT is told, met in EPOCH: not while another was in its place.  (With
 * a loader that does not free as glibc's does, it may have come there before the hook of
 * dlclose looked.)  A hook that was torn by a fork has the epoch of its parent. */
static uint64_t first_epoch(const struct dl_find_object *object, uint64_t epoch)
{
    const uint64_t present = atomic_load(&tide_process->epoch);
    const uint32_t count = atomic_load(&tide_process->module_count);
    uint64_t first = epoch < present ? epoch : present;
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_known_module *const other = &tide_process->modules[i];
        if (!other->number && other->start < (uintptr_t)object->dlfo_map_end &&
            (uintptr_t)object->dlfo_map_start < other->end && other->last >= first)
            first = other->last + 1;
    }
    return first;
}

/* A place in the table, of a module that is gone if there is one. */
static uint32_t find_place(void)
{
    const uint32_t count = atomic_load(&tide_process->module_count);
    uint32_t place = 0;
    while (place < count && atomic_load(&tide_process->modules[place].number))
        place++;
    return place;
}

static void learn(const struct dl_find_object *object, uint64_t epoch)
{
    const uint32_t place = find_place();
    if (place == TIDE_MODULES_MAX)
        return;
    struct tide_known_module *const module = &tide_process->modules[place];
    const uint64_t first = first_epoch(object, epoch);
    const uint32_t id = tide_process->next_module_id++;
    note_module(id, first, object);
    module->start = (uintptr_t)object->dlfo_map_start;
    module->end = (uintptr_t)object->dlfo_map_end;
    module->map = object->dlfo_link_map;
    module->first = first;
    module->number = id + 1;
    if (place == atomic_load(&tide_process->module_count))
        atomic_store(&tide_process->module_count, place + 1);
}

/* MODULE, which is OBJECT, was there before it was noticed. */
static void tell_earlier(struct tide_known_module *module,
                         const struct dl_find_object *object, uint64_t epoch)
{
    const uint64_t first = first_epoch(object, epoch);
    if (first >= module->first)
        return;
    const uint32_t id = tide_process->next_module_id++;
    note_module(id, first, object);
    note_end(id, module->first - 1);
    module->first = first;
}

void tide_modules_see(uint64_t address, uint64_t epoch)
{
    struct tide_known_module *module = find_known(address);
    if (module && atomic_load(&module->first) <= epoch)
        return;
    const int saved = errno;
    struct dl_find_object object;
    tide_lock(&tide_process->lock);
    module = find_known(address);
    /* No stream: the torn hook of a child, there is no process yet. */
    if (tide_process->notes_stream &&
        _dl_find_object((void *)(uintptr_t)address, &object) == 0) {
        if (module)
            tell_earlier(module, &object, epoch);
        else
            learn(&object, epoch);
    }
    tide_unlock(&tide_process->lock);
    errno = saved;
}

bool tide_modules_has_map(const void *place)
{
    for (uint32_t i = atomic_load(&tide_process->module_count); i-- > 0;)
        if (atomic_load(&tide_process->modules[i].map) == place)
            return true;
    return false;
}

static bool is_loaded(const struct tide_known_module *module)
{
    struct dl_find_object object;
    return _dl_find_object((void *)(uintptr_t)module->start, &object) == 0 &&
           (uintptr_t)object.dlfo_map_start == module->start &&
           (uintptr_t)object.dlfo_map_end == module->end;
}

void tide_modules_check(void)
{
    bool gone = false;
    tide_lock(&tide_process->lock);
    const uint64_t epoch = atomic_load(&tide_process->epoch);
    const uint32_t count = atomic_load(&tide_process->module_count);
    for (uint32_t i = 0; i < count; i++) {
        struct tide_known_module *const module = &tide_process->modules[i];
        const uint32_t number = atomic_load(&module->number);
        if (!number || is_loaded(module))
            continue;
        note_end(number - 1, epoch);
        module->last = epoch;
        atomic_store(&module->number, 0);
        gone = true;
    }
    if (gone)
        atomic_store(&tide_process->epoch, epoch + 1);
    tide_unlock(&tide_process->lock);
    if (gone) {
        tide_stack_flush();
        tide_stream_call_all(TIDE_ATTENTION_MODULES);
    }
}
