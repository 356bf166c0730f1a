/* capture/modules.c - notice ELF files as their code turns up in stacks.
 *
 * The list only grows; readers need no lock: an entry is written before the count that
 * covers it.  Lookup is linear, newest first, and happens only when a frame is new since
 * the lane's last reset.
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

static bool is_known(uint64_t address)
{
    const uint32_t count = atomic_load(&tide_process->module_count);
    for (uint32_t i = count; i-- > 0;) {
        const struct tide_known_module *module = &tide_process->modules[i];
        if (!atomic_load(&module->gone) &&
            address - module->start < module->end - module->start)
            return true;
    }
    return false;
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
static uint32_t write_module(uint32_t id, const struct dl_find_object *object)
{
    const uint8_t *build_id = note_buffer;
    const uint32_t id_bytes = find_build_id(object, &build_id);
    const char *path = find_path(object->dlfo_link_map);
    uint8_t *out = tide_put_varint(note_buffer, id);
    out = tide_put_varint(out, atomic_load(&tide_process->epoch));
    out = tide_put_varint(out, (uintptr_t)object->dlfo_map_start);
    out = tide_put_varint(out, (uintptr_t)object->dlfo_map_end);
    out = tide_put_varint(out, object->dlfo_link_map->l_addr);
    out = put_bytes(out, build_id, id_bytes);
    out = put_bytes(out, path, (uint32_t)strnlen(path, TIDE_PATH_BYTES));
    return (uint32_t)(out - note_buffer);
}

/* A place in the table, of a module that is gone if there is one. */
static uint32_t find_place(void)
{
    const uint32_t count = atomic_load(&tide_process->module_count);
    uint32_t place = 0;
    while (place < count && !atomic_load(&tide_process->modules[place].gone))
        place++;
    return place;
}

/* Others read the table meanwhile: a place is whole before it counts. */
static void keep(uint32_t place, uint32_t id, const struct dl_find_object *object)
{
    struct tide_known_module *module = &tide_process->modules[place];
    module->start = (uintptr_t)object->dlfo_map_start;
    module->end = (uintptr_t)object->dlfo_map_end;
    module->id = id;
    atomic_store(&module->gone, false);
    if (place == atomic_load(&tide_process->module_count))
        atomic_store(&tide_process->module_count, place + 1);
}

static void learn(uint64_t address)
{
    struct dl_find_object object;
    const uint32_t place = find_place();
    if (!tide_process
             ->notes_stream) /* the torn hook of a child: there is no process yet */
        return;
    if (place == TIDE_MODULES_MAX || is_known(address) ||
        _dl_find_object((void *)(uintptr_t)address, &object) != 0)
        return;
    const uint32_t id = tide_process->next_module_id++;
    const uint32_t bytes = write_module(id, &object);
    tide_process_note_locked(TIDE_NOTE_MODULE, note_buffer, bytes);
    keep(place, id, &object);
}

void tide_modules_see(uint64_t address)
{
    if (is_known(address))
        return;
    const int saved = errno;
    tide_lock(&tide_process->lock);
    learn(address);
    tide_unlock(&tide_process->lock);
    errno = saved;
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
        struct tide_known_module *module = &tide_process->modules[i];
        if (atomic_load(&module->gone) || is_loaded(module))
            continue;
        uint8_t payload[2 * TIDE_VARINT_MAX];
        uint8_t *out = tide_put_varint(payload, module->id);
        out = tide_put_varint(out, epoch);
        tide_process_note_locked(TIDE_NOTE_MODULE_GONE, payload,
                                 (uint32_t)(out - payload));
        atomic_store(&module->gone, true);
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
