/* unit/trace_notes.c - the other half of the builder: bytes and notes. */
#include <stdlib.h>
#include <string.h>

#include "trace_builder.h"

void tide_buffer_put(struct tide_buffer *buffer, const void *bytes, size_t length)
{
    if (buffer->length + length > buffer->capacity) {
        buffer->capacity = (buffer->length + length) * 2 + 64;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
        if (!buffer->bytes)
            abort();
    }
    if (length)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
}

void tide_buffer_varint(struct tide_buffer *buffer, uint64_t value)
{
    for (; value > 127; value /= 128) {
        const uint8_t byte = (uint8_t)(value % 128 + 128);
        tide_buffer_put(buffer, &byte, 1);
    }
    const uint8_t last = (uint8_t)value;
    tide_buffer_put(buffer, &last, 1);
}

void tide_buffer_string(struct tide_buffer *buffer, const char *text)
{
    tide_buffer_varint(buffer, strlen(text));
    tide_buffer_put(buffer, text, strlen(text));
}

void tide_buffer_release(struct tide_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct tide_buffer){0};
}

void tide_builder_note(struct tide_buffer *notes, uint64_t kind, const uint64_t *values,
                       size_t count, const char *const *texts)
{
    struct tide_buffer fields = {0};
    for (size_t i = 0; i < count; i++)
        tide_buffer_varint(&fields, values[i]);
    for (; texts && *texts; texts++)
        tide_buffer_string(&fields, *texts);
    tide_buffer_varint(notes, kind);
    tide_buffer_varint(notes, fields.length);
    tide_buffer_put(notes, fields.bytes, fields.length);
    tide_buffer_release(&fields);
}

void tide_builder_clock(struct tide_builder *builder, uint64_t start, uint64_t after,
                        double seconds)
{
    const uint64_t moment = 1700000000000000000u; /* in 2023 */
    const uint64_t later = moment + (uint64_t)(seconds * 1e9);
    tide_builder_note(&builder->run, TIDE_NOTE_CLOCK, (const uint64_t[]){start, moment},
                      2, NULL);
    tide_builder_note(&builder->run, TIDE_NOTE_CLOCK,
                      (const uint64_t[]){start + after, later}, 2, NULL);
}

void tide_builder_module(struct tide_builder *builder, uint32_t process,
                         const uint64_t id_epoch_start_end_bias[5], const char *path)
{
    const char *texts[] = {"\x01\x23\xab\xcd", path, NULL};
    tide_builder_note(&builder->notes[process], TIDE_NOTE_MODULE,
                      id_epoch_start_end_bias, 5, texts);
}

static void cut_notes(struct tide_builder *builder, struct tide_buffer *notes,
                      uint16_t kind, uint32_t process)
{
    if (!notes->length)
        return;
    const struct tide_format_chunk head = {.kind = kind, .process = process};
    tide_builder_chunk(builder, head, notes);
    notes->length = 0;
}

void tide_builder_cut_notes(struct tide_builder *builder)
{
    cut_notes(builder, &builder->run, TIDE_CHUNK_RUN, TIDE_NO_PROCESS);
    for (uint32_t i = 0; i < TIDE_BUILDER_PROCESSES; i++)
        cut_notes(builder, &builder->notes[i], TIDE_CHUNK_NOTES, i);
}

void tide_builder_finish(struct tide_builder *builder)
{
    for (size_t i = 0; i < TIDE_BUILDER_PROCESSES; i++)
        for (size_t j = 0; builder->lanes[i] && j < TIDE_BUILDER_LANES; j++)
            if (builder->lanes[i][j])
                tide_out_cut(builder->lanes[i][j]);
    tide_builder_cut_notes(builder);
    const uint64_t values[] = {builder->clock, builder->chunks, 4096, 0, 1};
    struct tide_buffer note = {0};
    tide_builder_note(&note, TIDE_NOTE_END, values, 5, NULL);
    cut_notes(builder, &note, TIDE_CHUNK_END, TIDE_NO_PROCESS);
    tide_buffer_release(&note);
}
