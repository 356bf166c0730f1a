/* collect/notes_out.c - the collector's own notes, as bytes.
 *
 * A note says its length first, so its fields are put together before it is added.
 */
#include "collect/notes_out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"

static void put_number(struct tide_text *out, uint64_t value)
{
    uint8_t bytes[TIDE_VARINT_MAX];
    const uint8_t *const end = tide_put_varint(bytes, value);
    tide_text_add_bytes(out, (const char *)bytes, (size_t)(end - bytes));
}

static void put_bytes(struct tide_text *out, const char *bytes, size_t length)
{
    put_number(out, length);
    if (length > 0)
        tide_text_add_bytes(out, bytes, length);
}

static void put_string(struct tide_text *out, const char *string)
{
    put_bytes(out, string, string ? strlen(string) : 0);
}

/* Move the fields at FIELDS to NOTES as one note, and give them back. */
static void add_note(struct tide_text *notes, enum tide_note kind,
                     struct tide_text *fields)
{
    const size_t before = notes->length;
    if (fields->failed) {
        notes->failed = true;
    } else {
        put_number(notes, kind);
        put_bytes(notes, fields->bytes, fields->length);
    }
    if (notes->failed)
        notes->length = before; /* whole notes, or nothing */
    tide_text_release(fields);
}

static void add_numbers(struct tide_text *notes, enum tide_note kind,
                        const uint64_t *numbers, size_t count)
{
    struct tide_text fields = {0};
    for (size_t i = 0; i < count; i++)
        put_number(&fields, numbers[i]);
    add_note(notes, kind, &fields);
}

/* --- Command lines ----------------------------------------------------------------- */

static size_t count_words(const struct tide_image *image)
{
    size_t count = 0;
    for (size_t i = 0; i < image->words_bytes; i++)
        count += image->words[i] == '\0';
    return count;
}

/* Count, then the words; what was cut off when they were read is not missed here. */
static void put_words(struct tide_text *out, const struct tide_image *image)
{
    const size_t count = count_words(image);
    put_number(out, count);
    const char *word = image->words;
    for (size_t i = 0; i < count; i++) {
        put_string(out, word);
        word += strlen(word) + 1;
    }
}

/* How many words of ARGV a note keeps. */
static size_t kept_words(char **argv, size_t *all)
{
    size_t count = 0, kept = 0, bytes = 0;
    for (; argv[count]; count++) {
        bytes += strlen(argv[count]) + 1;
        if (bytes <= TIDE_NOTE_WORDS_BYTES)
            kept = count + 1;
    }
    *all = count;
    return kept;
}

static void put_argv(struct tide_text *out, char **argv)
{
    size_t all;
    const size_t kept = kept_words(argv, &all);
    put_number(out, kept < all ? kept + 1 : all);
    for (size_t i = 0; i < kept; i++)
        put_string(out, argv[i]);
    if (kept < all)
        put_string(out, "...");
}

/* --- The notes --------------------------------------------------------------------- */

void tide_notes_out_run(struct tide_text *notes, const struct tide_run_facts *facts)
{
    struct tide_text fields = {0};
    char host[256] = "";
    (void)gethostname(host, sizeof(host) - 1);
    char *const cwd = getcwd(NULL, 0);
    put_argv(&fields, facts->argv);
    put_string(&fields, cwd);
    put_string(&fields, host);
    put_string(&fields, facts->version);
    put_string(&fields, facts->options);
    free(cwd);
    add_note(notes, TIDE_NOTE_RUN, &fields);
}

void tide_notes_out_begin(struct tide_text *notes, const struct tide_begin_facts *facts)
{
    struct tide_text fields = {0};
    put_number(&fields, facts->process);
    put_number(&fields, facts->pid);
    put_number(&fields, facts->birth);
    put_number(&fields, facts->ticks);
    put_string(&fields, facts->image->exe);
    put_words(&fields, facts->image);
    if (facts->image->rank)
        put_number(&fields, facts->image->rank);
    add_note(notes, TIDE_NOTE_PROCESS_BEGIN, &fields);
}

void tide_notes_out_end(struct tide_text *notes, const struct tide_end_facts *facts)
{
    enum { TIDE_END_FIELDS = 7 };
    uint64_t numbers[TIDE_END_FIELDS + TIDE_DROPS] = {facts->process,
                                                      facts->ticks,
                                                      (uint64_t)facts->status_known,
                                                      (uint32_t)facts->status,
                                                      facts->dropped,
                                                      facts->reason,
                                                      facts->silent};
    memcpy(numbers + TIDE_END_FIELDS, facts->drops, sizeof(facts->drops));
    size_t count = TIDE_END_FIELDS + TIDE_DROPS;
    while (count >= TIDE_END_FIELDS && numbers[count - 1] == 0)
        count--; /* what is missing is 0 */
    add_numbers(notes, TIDE_NOTE_PROCESS_END, numbers,
                count < TIDE_END_FIELDS ? TIDE_END_FIELDS - 1 : count);
}

void tide_notes_out_clock(struct tide_text *notes, uint64_t ticks, uint64_t unix_ns)
{
    const uint64_t numbers[] = {ticks, unix_ns};
    add_numbers(notes, TIDE_NOTE_CLOCK, numbers, 2);
}

void tide_notes_out_rss(struct tide_text *notes, const struct tide_rss_facts *facts)
{
    const uint64_t numbers[] = {facts->process, facts->ticks, facts->bytes, facts->peak,
                                facts->anonymous};
    add_numbers(notes, TIDE_NOTE_RSS, numbers, facts->anonymous ? 5 : 4);
}

void tide_notes_out_rings(struct tide_text *notes, uint64_t bytes)
{
    add_numbers(notes, TIDE_NOTE_RINGS, &bytes, 1);
}

void tide_notes_out_unrecorded(struct tide_text *notes,
                               const struct tide_unrecorded_facts *facts)
{
    struct tide_text fields = {0};
    put_number(&fields, facts->pid);
    put_number(&fields, facts->begin_ticks);
    put_number(&fields, facts->end_ticks);
    put_number(&fields, facts->seen_only);
    put_string(&fields, facts->name);
    put_string(&fields, facts->reason);
    add_note(notes, TIDE_NOTE_UNRECORDED, &fields);
}

void tide_notes_out_trouble(struct tide_text *notes, const char *line)
{
    struct tide_text fields = {0};
    put_string(&fields, line);
    add_note(notes, TIDE_NOTE_TROUBLE, &fields);
}

void tide_notes_out_naming(struct tide_text *notes,
                           const struct tide_naming_facts *facts)
{
    const uint64_t numbers[] = {facts->frames, facts->named, facts->left};
    add_numbers(notes, TIDE_NOTE_NAMING, numbers, 3);
}

void tide_notes_out_file(struct tide_text *notes, const struct tide_file_facts *facts)
{
    struct tide_text fields = {0};
    put_string(&fields, facts->path);
    put_string(&fields, facts->build_id);
    put_number(&fields, facts->bytes);
    put_number(&fields, facts->mtime_ns);
    add_note(notes, TIDE_NOTE_FILE, &fields);
}

static void put_list(struct tide_text *out, const uint64_t *numbers, size_t count)
{
    put_number(out, count);
    for (size_t i = 0; i < count; i++)
        put_number(out, numbers[i]);
}

void tide_notes_out_totals(struct tide_text *notes, const struct tide_totals *totals)
{
    struct tide_text fields = {0};
    put_number(&fields, totals->events);
    put_number(&fields, totals->allocated_bytes);
    put_number(&fields, totals->free_calls);
    put_list(&fields, totals->kinds, TIDE_KINDS);
    put_list(&fields, totals->maps, TIDE_MAP_CALLS);
    put_list(&fields, totals->extras, TIDE_TOTALS_EXTRAS);
    add_note(notes, TIDE_NOTE_TOTALS, &fields);
}

void tide_notes_out_finish(struct tide_text *notes,
                           const struct tide_finish_facts *facts)
{
    const uint64_t numbers[] = {facts->ticks, facts->chunks, facts->peak_rss,
                                (uint32_t)facts->status, facts->processes};
    add_numbers(notes, TIDE_NOTE_END, numbers, 5);
}

size_t tide_notes_out_chunk(const char *notes, size_t length)
{
    if (length <= TIDE_CHUNK_MAX)
        return length;
    struct tide_cursor cursor = tide_cursor_over((const uint8_t *)notes, length);
    size_t whole = 0;
    while (!cursor.failed) {
        const size_t next = length - tide_cursor_left(&cursor);
        if (next > TIDE_CHUNK_MAX)
            break;
        whole = next;
        (void)tide_cursor_varint(&cursor);
        (void)tide_cursor_string(&cursor);
    }
    return whole;
}

void tide_image_release(struct tide_image *image)
{
    free(image->exe);
    free(image->words);
    *image = (struct tide_image){0};
}
