/* view/export_blocks.c - a line for each block: CSV, TSV, NDJSON.
 *
 * Live at the end: in the order of birth.  With all: the dead come first, as they died.
 * What is not known is nothing between two separators, or null.
 */
#include <stdlib.h>
#include <string.h>

#include "view/export.h"

enum style {
    TIDE_BLOCKS_CSV,
    TIDE_BLOCKS_TSV,
    TIDE_BLOCKS_NDJSON,
};

static const char *const COLUMNS[] = {
    "id",         "space",  "kind",       "pid",      "tid",     "address",
    "size",       "usable", "live_bytes", "birth_s",  "death_s", "death_tid",
    "moved_from", "label",  "stack",      "function", "file",    "line",
};
enum {
    TIDE_BLOCK_COLUMNS = sizeof(COLUMNS) / sizeof(COLUMNS[0]),
    TIDE_BLOCK_PLACES = 4096, /* remembered */
};

/* The last columns of a stack, as they were written before: most blocks are made at few
 * places. */
struct known_place {
    uint32_t stack; /* + 1; 0: none yet */
    struct tide_text text;
};

struct writer {
    struct tide_out *out;
    const struct tide_export *what;
    enum style style;
    struct tide_text *text; /* where the next value goes */
    size_t column;          /* of the next value */
    struct tide_text name;
    struct known_place *places; /* owned: TIDE_BLOCK_PLACES of them */
};

/* What stands before a value. */
static void begin(struct writer *writer)
{
    struct tide_text *const text = writer->text;
    if (writer->style == TIDE_BLOCKS_NDJSON) {
        tide_text_add(text, writer->column ? ",\"" : "{\"");
        tide_text_add(text, COLUMNS[writer->column]);
        tide_text_add(text, "\":");
    } else if (writer->column) {
        tide_text_add(text, writer->style == TIDE_BLOCKS_CSV ? "," : "\t");
    }
    writer->column++;
}

static void add_nothing(struct writer *writer)
{
    begin(writer);
    if (writer->style == TIDE_BLOCKS_NDJSON)
        tide_text_add(writer->text, "null");
}

static void add_uint(struct writer *writer, uint64_t value)
{
    begin(writer);
    tide_out_uint(writer->text, value);
}

/* A number for which 0 means that it is not known. */
static void add_known(struct writer *writer, uint64_t value)
{
    if (value)
        add_uint(writer, value);
    else
        add_nothing(writer);
}

static void add_seconds(struct writer *writer, uint64_t ticks)
{
    begin(writer);
    tide_out_seconds(writer->text,
                     tide_trace_seconds(writer->what->model->trace, ticks));
}

/* WORD is ours: there is nothing in it that needs care. */
static void add_word(struct writer *writer, const char *word)
{
    const char *const quote = writer->style == TIDE_BLOCKS_NDJSON ? "\"" : "";
    begin(writer);
    tide_text_add(writer->text, quote);
    tide_text_add(writer->text, word);
    tide_text_add(writer->text, quote);
}

/* In hexadecimal: as a word, since JSON has no such numbers. */
static void add_address(struct writer *writer, uint64_t address)
{
    char word[] = "0x0000000000000000";
    size_t at = sizeof(word) - 1;
    do {
        word[--at] = "0123456789abcdef"[address & 15];
        address >>= 4;
    } while (address);
    word[--at] = 'x';
    word[--at] = '0';
    add_word(writer, word + at);
}

/* RFC 4180: in quotes, which are doubled, if there is anything that needs it. */
static void add_quoted(struct tide_text *text, const char *value)
{
    if (!strpbrk(value, "\",")) {
        tide_text_add(text, value);
        return;
    }
    tide_text_add(text, "\"");
    for (; *value; value++)
        tide_text_add_bytes(text, *value == '"' ? "\"\"" : value,
                            *value == '"' ? 2 : 1);
    tide_text_add(text, "\"");
}

/* VALUE, of which control characters are made safe, so that no line or field ends in it. */
static void add_string(struct writer *writer, const char *value)
{
    struct tide_text *const text = writer->text;
    if (!value) {
        add_nothing(writer);
        return;
    }
    begin(writer);
    if (writer->style == TIDE_BLOCKS_NDJSON) {
        tide_out_json(text, value);
    } else if (writer->style == TIDE_BLOCKS_TSV) {
        tide_out_name(text, value);
    } else {
        struct tide_text safe = {0};
        tide_out_name(&safe, value);
        add_quoted(text, safe.length ? safe.bytes : "");
        text->failed = text->failed || safe.failed;
        tide_text_release(&safe);
    }
}

/* The innermost function of STACK. */
static void write_place(struct writer *writer, uint32_t stack)
{
    const struct tide_model *const model = writer->what->model;
    const uint32_t node = tide_frame_outside(model, stack);
    if (!node) {
        add_nothing(writer);
        add_nothing(writer);
        add_nothing(writer);
        return;
    }
    const uint32_t frame = model->stacks.nodes[node].frame;
    const struct tide_symbol *const symbol = tide_frame_symbols(model, frame).list;
    tide_text_clear(&writer->name);
    tide_frame_name(&writer->name, model, frame, symbol);
    add_string(writer, writer->name.bytes);
    add_string(writer, symbol->file);
    add_known(writer, symbol->line);
}

/* The same, written only once while it is remembered. */
static void add_place(struct writer *writer, uint32_t stack)
{
    struct known_place *const known = &writer->places[stack % TIDE_BLOCK_PLACES];
    if (known->stack != stack + 1) {
        known->stack = stack + 1;
        tide_text_clear(&known->text);
        writer->text = &known->text;
        write_place(writer, stack);
        writer->text = &writer->out->text;
    }
    tide_text_add_bytes(writer->text, known->text.bytes, known->text.length);
    writer->text->failed = writer->text->failed || known->text.failed;
}

static void add_death(struct writer *writer, const struct tide_death *death)
{
    if (death)
        add_seconds(writer, death->ticks);
    else
        add_nothing(writer);
    add_known(writer, death ? death->tid : 0);
}

static void add_label(struct writer *writer, const struct tide_life *life)
{
    const struct tide_trace *const trace = writer->what->model->trace;
    add_string(writer, life->label
                           ? tide_trace_name(trace, life->process, life->label - 1)
                           : NULL);
}

/* In the order of COLUMNS. */
static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct writer *const writer = user;
    if (death && !writer->what->all)
        return TIDE_OK;
    writer->column = 0;
    add_uint(writer, life->id);
    add_word(writer, tide_space_name((enum tide_space)life->space));
    add_word(writer, tide_life_kind(life));
    add_uint(writer, writer->what->model->trace->processes[life->process].pid);
    add_known(writer, life->tid);
    add_address(writer, life->address);
    add_uint(writer, life->size);
    add_uint(writer, life->usable);
    add_uint(writer, life->left);
    add_seconds(writer, life->birth_ticks);
    add_death(writer, death);
    add_known(writer, life->moved_from);
    add_label(writer, life);
    add_uint(writer, life->stack);
    add_place(writer, life->stack);
    tide_text_add(writer->text, writer->style == TIDE_BLOCKS_NDJSON ? "}\n" : "\n");
    return tide_out_rest(writer->out) ? TIDE_OK : TIDE_EIO;
}

static void add_header(struct writer *writer)
{
    for (size_t i = 0; i < TIDE_BLOCK_COLUMNS; i++) {
        begin(writer);
        tide_text_add(writer->text, COLUMNS[i]);
    }
    tide_text_add(writer->text, "\n");
}

static void release_places(struct writer *writer)
{
    for (size_t i = 0; writer->places && i < TIDE_BLOCK_PLACES; i++)
        tide_text_release(&writer->places[i].text);
    free(writer->places);
}

static enum tide_status add_blocks(struct tide_out *out, const struct tide_export *what,
                                   enum style style)
{
    struct writer writer = {
        .out = out,
        .what = what,
        .style = style,
        .text = &out->text,
        .places = calloc(TIDE_BLOCK_PLACES, sizeof(*writer.places)),
    };
    const struct tide_block_watch watch = {.user = &writer, .block = on_block};
    if (style != TIDE_BLOCKS_NDJSON)
        add_header(&writer);
    const enum tide_status status =
        writer.places ? tide_block_stream(what->model, &watch, &what->progress)
                      : TIDE_ENOMEM;
    release_places(&writer);
    tide_text_release(&writer.name);
    return status;
}

enum tide_status tide_export_csv(struct tide_out *out, const struct tide_export *what)
{
    return add_blocks(out, what, TIDE_BLOCKS_CSV);
}

enum tide_status tide_export_tsv(struct tide_out *out, const struct tide_export *what)
{
    return add_blocks(out, what, TIDE_BLOCKS_TSV);
}

enum tide_status tide_export_ndjson(struct tide_out *out,
                                    const struct tide_export *what)
{
    return add_blocks(out, what, TIDE_BLOCKS_NDJSON);
}
