/* trace/notes_parts.h - what the readers of notes share.
 *
 * For: notes_in.c, notes_process.c, notes_settle.c.
 */
#ifndef TIDE_TRACE_NOTES_PARTS_H
#define TIDE_TRACE_NOTES_PARTS_H

#include "trace/cursor.h"
#include "trace/notes_in.h"

/* A new item of LIST; NULL, with the status set, without memory. */
void *tide_notes_add(struct tide_notes *notes, struct tide_list *list);
/* A copy of the string at CURSOR; never NULL. */
const char *tide_notes_string(struct tide_notes *notes, struct tide_cursor *cursor);
/* Process number INDEX, or NULL when there can be no such process. */
struct tide_process *tide_notes_process(struct tide_notes *notes, uint64_t index);

/* Notes of the process INDEX, by kind: enum tide_note. */
void tide_note_process(struct tide_notes *notes, uint32_t index,
                       struct tide_cursor *cursor);
void tide_note_module(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor);
void tide_note_module_gone(struct tide_notes *notes, uint32_t index,
                           struct tide_cursor *cursor);
void tide_note_name(struct tide_notes *notes, uint32_t index,
                    struct tide_cursor *cursor);
void tide_note_thread(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor);
void tide_note_recorder(struct tide_notes *notes, uint32_t index,
                        struct tide_cursor *cursor);
void tide_note_window(struct tide_notes *notes, uint32_t index,
                      struct tide_cursor *cursor);
void tide_note_attribute(struct tide_notes *notes, uint32_t index,
                         struct tide_cursor *cursor);
void tide_note_value(struct tide_notes *notes, uint32_t index,
                     struct tide_cursor *cursor);

/* Names are sorted: of which attribute each is a value. */
void tide_values_settle(struct tide_notes *notes);

/* Names are sorted: the attributes of the trace, each name and type once. */
enum tide_status tide_attributes_settle(struct tide_notes *notes);

#endif
