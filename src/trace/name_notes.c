/* trace/name_notes.c - names of frames, as notes for a trace.
 *
 * Equal names have one pointer, so a name's number is found by its address.
 */
#include "trace/name_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"
#include "trace/format.h"
#include "trace/writer.h"

enum {
    TIDE_NOTE_FULL = 64 * 1024,     /* bytes after which another note begins */
    TIDE_TEXT_MOST = 256 * 1024,    /* of a name; what is longer is cut */
    TIDE_TEXT_SLOTS = 1024,         /* at first; a power of two */
    TIDE_NAMES_CHUNK = 1024 * 1024, /* raw bytes of a chunk of names, about */
};

static void put_number(struct tide_text *out, uint64_t value)
{
    uint8_t bytes[TIDE_VARINT_MAX];
    const uint8_t *const end = tide_put_varint(bytes, value);
    tide_text_add_bytes(out, (const char *)bytes, (size_t)(end - bytes));
}

static void put_string(struct tide_text *out, const char *text)
{
    const size_t length = strnlen(text, TIDE_TEXT_MOST);
    put_number(out, length);
    if (length)
        tide_text_add_bytes(out, text, length);
}

/* FIELDS become a note of KIND. */
static void end_note(struct tide_name_notes *names, enum tide_note kind,
                     struct tide_text *fields)
{
    names->failed |= fields->failed;
    if (!names->failed && fields->length) {
        put_number(&names->notes, kind);
        put_number(&names->notes, fields->length);
        tide_text_add_bytes(&names->notes, fields->bytes, fields->length);
    }
    tide_text_clear(fields);
}

/* --- Texts ------------------------------------------------------------------------- */

static size_t slot_of(const struct tide_name_notes *names, const char *text)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 32) & names->mask;
    while (names->slots[at] && names->slots[at] != text)
        at = (at + 1) & names->mask;
    return at;
}

static bool widen(struct tide_name_notes *names)
{
    const size_t old = names->slots ? names->mask + 1 : 0;
    const size_t slots = old ? old * 2 : TIDE_TEXT_SLOTS;
    const char **const before = names->slots;
    uint32_t *const numbers_before = names->numbers;
    names->slots = calloc(slots, sizeof(*names->slots));
    names->numbers = calloc(slots, sizeof(*names->numbers));
    names->mask = slots - 1;
    const bool done = names->slots && names->numbers;
    for (size_t i = 0; done && i < old; i++) {
        if (!before[i])
            continue;
        const size_t at = slot_of(names, before[i]);
        names->slots[at] = before[i];
        names->numbers[at] = numbers_before[i];
    }
    free(before);
    free(numbers_before);
    return done;
}

/* The number of TEXT, which is written when it is new. */
static uint32_t number_of(struct tide_name_notes *names, const char *text)
{
    if (!text || names->failed)
        return 0;
    if ((!names->slots || names->count > names->mask / 2) && !widen(names)) {
        names->failed = true;
        return 0;
    }
    const size_t at = slot_of(names, text);
    if (names->slots[at])
        return names->numbers[at];
    names->slots[at] = text;
    names->numbers[at] = (uint32_t)++names->count;
    if (!names->texts.length)
        put_number(&names->texts, names->count);
    put_string(&names->texts, text);
    if (names->texts.length > TIDE_NOTE_FULL)
        end_note(names, TIDE_NOTE_TEXTS, &names->texts);
    return names->numbers[at];
}

/* --- Frames ------------------------------------------------------------------------ */

static void begin_module(struct tide_name_notes *names,
                         const struct tide_module *module)
{
    if (names->module != module)
        end_note(names, TIDE_NOTE_SYMBOLS, &names->frames);
    names->module = module;
    if (names->frames.length)
        return;
    put_string(&names->frames, module->path);
    put_string(&names->frames, module->build_id);
    names->last = 0;
}

void tide_name_notes_add(struct tide_name_notes *names,
                         const struct tide_module *module, uint64_t address,
                         const struct tide_embedded_place *places, size_t count)
{
    begin_module(names, module);
    put_number(&names->frames, address - names->last);
    put_number(&names->frames, count);
    for (size_t i = 0; i < count; i++) {
        put_number(&names->frames, number_of(names, places[i].function));
        put_number(&names->frames, number_of(names, places[i].file));
        put_number(&names->frames, places[i].line);
    }
    names->last = address;
    if (names->frames.length > TIDE_NOTE_FULL)
        end_note(names, TIDE_NOTE_SYMBOLS, &names->frames);
}

enum tide_status tide_name_notes_end(struct tide_name_notes *names)
{
    end_note(names, TIDE_NOTE_SYMBOLS, &names->frames);
    end_note(names, TIDE_NOTE_TEXTS, &names->texts);
    return names->failed || names->notes.failed ? TIDE_ENOMEM : TIDE_OK;
}

void tide_name_notes_release(struct tide_name_notes *names)
{
    tide_text_release(&names->notes);
    tide_text_release(&names->texts);
    tide_text_release(&names->frames);
    free(names->slots);
    free(names->numbers);
    *names = (struct tide_name_notes){0};
}

/* --- Chunks ------------------------------------------------------------------------ */

/* How many of the LENGTH bytes of notes at BYTES go into the next chunk: whole ones, one
 * at least. */
static size_t next_part(const char *bytes, size_t length)
{
    struct tide_cursor cursor = tide_cursor_over((const uint8_t *)bytes, length);
    size_t part = 0;
    while (tide_cursor_left(&cursor)) {
        (void)tide_cursor_varint(&cursor);
        (void)tide_cursor_part(&cursor, tide_cursor_varint(&cursor));
        const size_t read = length - tide_cursor_left(&cursor);
        if (part && read > TIDE_NAMES_CHUNK)
            break;
        part = read;
    }
    return part;
}

enum tide_status tide_name_notes_write(struct tide_writer *writer,
                                       const struct tide_text *notes)
{
    const struct tide_chunk_label label = {.kind = TIDE_CHUNK_RUN,
                                           .process = TIDE_NO_PROCESS};
    enum tide_status status = TIDE_OK;
    for (size_t done = 0; done < notes->length && !status;) {
        const size_t part = next_part(notes->bytes + done, notes->length - done);
        status = tide_writer_spare_chunk(writer, &label, notes->bytes + done, part);
        done += part;
    }
    return status;
}
