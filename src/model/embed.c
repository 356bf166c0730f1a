/* model/embed.c - the names of all frames of a model, as notes for its trace.
 *
 * Names are interned, so a name's number is found by its address.
 */
#include "model/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "model/grow.h"
#include "model/symbolize.h"
#include "trace/format.h"

enum {
    TIDE_NOTE_FULL = 64 * 1024,  /* bytes after which another note begins */
    TIDE_TEXT_MOST = 256 * 1024, /* of a name; what is longer is cut */
    TIDE_TEXT_SLOTS = 1024,      /* at first; a power of two */
};

struct embedding {
    const struct tide_model *model;
    struct tide_text *notes;
    struct tide_text texts;  /* fields of a TEXTS note */
    struct tide_text frames; /* fields of a SYMBOLS note */
    const char **slots;      /* owned: names by address */
    uint32_t *numbers;       /* owned: theirs */
    size_t mask, count;
    uint64_t last; /* address of the note's last frame */
    enum tide_status status;
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
static void end_note(struct embedding *embedding, enum tide_note kind,
                     struct tide_text *fields)
{
    if (fields->failed)
        embedding->status = TIDE_ENOMEM;
    if (!embedding->status && fields->length) {
        put_number(embedding->notes, kind);
        put_number(embedding->notes, fields->length);
        tide_text_add_bytes(embedding->notes, fields->bytes, fields->length);
    }
    tide_text_clear(fields);
}

/* --- Texts ------------------------------------------------------------------------- */

static size_t slot_of(const struct embedding *embedding, const char *text)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 32) & embedding->mask;
    while (embedding->slots[at] && embedding->slots[at] != text)
        at = (at + 1) & embedding->mask;
    return at;
}

static bool widen(struct embedding *embedding)
{
    const size_t old = embedding->slots ? embedding->mask + 1 : 0;
    const size_t slots = old ? old * 2 : TIDE_TEXT_SLOTS;
    const char **const before = embedding->slots;
    uint32_t *const numbers_before = embedding->numbers;
    embedding->slots = calloc(slots, sizeof(*embedding->slots));
    embedding->numbers = calloc(slots, sizeof(*embedding->numbers));
    embedding->mask = slots - 1;
    const bool done = embedding->slots && embedding->numbers;
    for (size_t i = 0; done && i < old; i++) {
        if (!before[i])
            continue;
        const size_t at = slot_of(embedding, before[i]);
        embedding->slots[at] = before[i];
        embedding->numbers[at] = numbers_before[i];
    }
    free(before);
    free(numbers_before);
    return done;
}

/* The number of TEXT, which is written when it is new. */
static uint32_t number_of(struct embedding *embedding, const char *text)
{
    if (!text || embedding->status)
        return 0;
    if ((!embedding->slots || embedding->count > embedding->mask / 2) &&
        !widen(embedding)) {
        embedding->status = TIDE_ENOMEM;
        return 0;
    }
    const size_t at = slot_of(embedding, text);
    if (embedding->slots[at])
        return embedding->numbers[at];
    embedding->slots[at] = text;
    embedding->numbers[at] = (uint32_t)++embedding->count;
    if (!embedding->texts.length)
        put_number(&embedding->texts, embedding->count);
    put_string(&embedding->texts, text);
    if (embedding->texts.length > TIDE_NOTE_FULL)
        end_note(embedding, TIDE_NOTE_TEXTS, &embedding->texts);
    return embedding->numbers[at];
}

/* --- Frames ------------------------------------------------------------------------ */

static bool is_named(const struct tide_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->count; i++)
        if (symbols->list[i].function || symbols->list[i].file)
            return true;
    return false;
}

/* FRAME, in order of address; MODULE is where it is. */
static void add_frame(struct embedding *embedding, const struct tide_module *module,
                      uint32_t frame)
{
    const struct tide_symbols *const symbols = &embedding->model->symbols[frame];
    const uint64_t address =
        tide_call_address(embedding->model->stacks.frames[frame].value);
    struct tide_text *const out = &embedding->frames;
    if (!out->length) {
        put_string(out, module->path);
        put_string(out, module->build_id);
        embedding->last = 0;
    }
    put_number(out, address - embedding->last);
    put_number(out, symbols->count);
    for (uint32_t i = 0; i < symbols->count; i++) {
        put_number(out, number_of(embedding, symbols->list[i].function));
        put_number(out, number_of(embedding, symbols->list[i].file));
        put_number(out, symbols->list[i].line);
    }
    embedding->last = address;
    if (out->length > TIDE_NOTE_FULL)
        end_note(embedding, TIDE_NOTE_SYMBOLS, out);
}

/* The frames of one module, COUNT of them at ASKED, in order of address. */
static void add_module(struct embedding *embedding,
                       const struct tide_asked_frame *asked, size_t count,
                       struct tide_embed_counts *counts, size_t *most)
{
    const struct tide_module *const module =
        &embedding->model->trace->modules[asked[0].module];
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(&embedding->model->symbols[asked[i].frame]))
            continue;
        add_frame(embedding, module, asked[i].frame);
        named++;
    }
    end_note(embedding, TIDE_NOTE_SYMBOLS, &embedding->frames);
    counts->frames += count;
    counts->named += named;
    counts->modules++;
    counts->unknown += named == 0;
    if (count - named > *most) {
        *most = count - named;
        counts->one = module->path;
    }
}

enum tide_status tide_model_embed(const struct tide_model *model,
                                  struct tide_text *notes,
                                  struct tide_embed_counts *counts)
{
    struct embedding embedding = {.model = model, .notes = notes};
    struct tide_asked_frame *asked;
    size_t count, most = 0;
    *counts = (struct tide_embed_counts){0};
    if (!model->symbols)
        return TIDE_EUSAGE;
    embedding.status = tide_model_ask_frames(model, true, &asked, &count);
    for (size_t i = 0; i < count && !embedding.status;) {
        size_t here = 1;
        while (i + here < count && asked[i + here].module == asked[i].module)
            here++;
        if (asked[i].module < model->trace->module_count)
            add_module(&embedding, asked + i, here, counts, &most);
        i += here;
    }
    end_note(&embedding, TIDE_NOTE_TEXTS, &embedding.texts);
    free(asked);
    free(embedding.slots);
    free(embedding.numbers);
    tide_text_release(&embedding.texts);
    tide_text_release(&embedding.frames);
    if (!embedding.status && notes->failed)
        embedding.status = TIDE_ENOMEM;
    return embedding.status;
}
