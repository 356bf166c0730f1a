/* cli/check_words.c - the limits of `tidemark check`, from its arguments and its file.
 *
 * The lines of the file become words of a command line, which are read before those that
 * were typed: so both are read by the same rules, and the last one counts.  Each knows
 * where it stood, for who has made a mistake there.
 */
#include "cli/check_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/memory_limit.h"

static const char CALLS_IN[] = "--max-calls-in";
static const char CONFIG[] = "--config";

/* What a file of limits is read into. */
struct source {
    struct tide_check_words *words;
    const struct tide_command *command;
    const char *file;  /* NULL: the command line */
    const char *place; /* "limits.conf:3", in the arena */
};

/* --- Words --------------------------------------------------------------------------- */

/* A copy of WORD is the next one.  -1 or the exit status. */
static int add_word(struct tide_check_words *words, const char *word)
{
    if (words->count + 1 >= words->capacity) {
        const size_t capacity = words->capacity ? words->capacity * 2 : 16;
        char **const list = realloc(words->list, capacity * sizeof(*list));
        if (!list)
            return tide_fail_memory();
        words->list = list;
        words->capacity = capacity;
    }
    char *const copy = tide_arena_copy(&words->arena, word, strlen(word));
    if (!copy)
        return tide_fail_memory();
    words->list[words->count++] = copy;
    words->list[words->count] = NULL;
    return -1;
}

/* The word of a line of the file.  -1 or the exit status. */
static int add_word_of_file(const struct source *source, const struct tide_text *word)
{
    struct tide_check_words *const words = source->words;
    if (words->setting_count == words->setting_capacity) {
        const size_t capacity = words->setting_capacity * 2 + 8;
        struct tide_check_setting *const list =
            realloc(words->settings, capacity * sizeof(*list));
        if (!list)
            return tide_fail_memory();
        words->settings = list;
        words->setting_capacity = capacity;
    }
    char *const copy =
        word->failed ? NULL : tide_arena_copy(&words->arena, word->bytes, word->length);
    if (!copy)
        return tide_fail_memory();
    words->settings[words->setting_count++] =
        (struct tide_check_setting){.word = copy, .place = source->place};
    return -1;
}

static int fail_calls_in(const struct source *source, const char *value)
{
    return tide_fail_usage(source->command,
                           "%s: '%s' is not FUNCTION=N with a whole number N", CALLS_IN,
                           value);
}

/* VALUE is "FUNCTION=N".  -1 or the exit status. */
static int add_calls_in(const struct source *source, const char *value)
{
    struct tide_check_words *const words = source->words;
    const char *const sign = strrchr(value, '=');
    if (!sign || sign == value || sign[1] < '0' || sign[1] > '9')
        return fail_calls_in(source, value);
    char *end;
    errno = 0;
    const unsigned long long most = strtoull(sign + 1, &end, 10);
    if (errno || *end)
        return fail_calls_in(source, value);
    if (words->calls_in_count == words->calls_in_capacity) {
        const size_t capacity = words->calls_in_capacity * 2 + 4;
        struct tide_call_limit *const list =
            realloc(words->calls_in, capacity * sizeof(*list));
        if (!list)
            return tide_fail_memory();
        words->calls_in = list;
        words->calls_in_capacity = capacity;
    }
    const char *const name =
        tide_arena_copy(&words->arena, value, (size_t)(sign - value));
    if (!name)
        return tide_fail_memory();
    words->calls_in[words->calls_in_count++] =
        (struct tide_call_limit){.function = name, .most = most};
    return -1;
}

/* --- The file ------------------------------------------------------------------------ */

/* TEXT without blanks at both ends, in place. */
static char *trimmed(char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* A switch has the value yes or no; -1 or the exit status. */
static int add_switch(const struct source *source, const char *key, const char *value)
{
    struct tide_text word = {0};
    if (strcmp(value, "no") == 0)
        return -1;
    if (strcmp(value, "yes") != 0)
        return tide_fail_usage(source->command, "%s is yes or no, not '%s'", key,
                               value);
    tide_text_addf(&word, "--%s", key);
    const int done = add_word_of_file(source, &word);
    tide_text_release(&word);
    return done;
}

/* Is KEY one whose value is a file, named as seen from the file of limits? */
static bool names_file(const char *key)
{
    return strcmp(key, "baseline") == 0 || strcmp(key, "suppressions") == 0;
}

static bool is_switch(const char *key)
{
    return strcmp(key, "allow-incomplete") == 0 || strcmp(key, "allow-unknown") == 0 ||
           strcmp(key, "allow-margin") == 0 || strcmp(key, "no-suppressions") == 0;
}

static int add_setting(const struct source *source, const char *key, const char *value)
{
    struct tide_text word = {0};
    if (strcmp(key, "max-calls-in") == 0)
        return add_calls_in(source, value);
    if (is_switch(key))
        return add_switch(source, key, value);
    if (strcmp(key, "config") == 0 || strcmp(key, "help") == 0)
        return tide_fail_usage(source->command, "no %s here", key);
    tide_text_addf(&word, "--%s=", key);
    const char *const slash = strrchr(source->file, '/');
    if (names_file(key) && *value != '/' && slash) /* beside the file */
        tide_text_add_bytes(&word, source->file, (size_t)(slash + 1 - source->file));
    tide_text_add(&word, value);
    const int done = add_word_of_file(source, &word);
    tide_text_release(&word);
    return done;
}

/* LINE without what is behind a # that begins a word. */
static char *without_comment(char *line)
{
    char *sign = strchr(line, '#');
    while (sign && sign > line && sign[-1] != ' ' && sign[-1] != '\t')
        sign = strchr(sign + 1, '#');
    if (sign)
        *sign = '\0';
    return line;
}

static int add_line(const struct source *source, char *line)
{
    char *const start = trimmed(without_comment(line));
    if (*start == '\0')
        return -1;
    char *const sign = strchr(start, '=');
    if (!sign)
        return tide_fail_usage(source->command, "not 'key = value': %s", start);
    *sign = '\0';
    return add_setting(source, trimmed(start), trimmed(sign + 1));
}

/* Where line NUMBER stands; NULL without memory. */
static const char *place_of(const struct source *source, size_t number)
{
    struct tide_text place = {0};
    tide_text_addf(&place, "%s:%zu", source->file, number);
    const char *const kept = place.failed ? NULL
                                          : tide_arena_copy(&source->words->arena,
                                                            place.bytes, place.length);
    tide_text_release(&place);
    return kept;
}

static int add_file(struct source *source, const char *path)
{
    FILE *const file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0, number = 0;
    int done = -1;
    if (!file)
        return tide_fail_usage(source->command, "%s: %s", path, strerrordesc_np(errno));
    source->file = path;
    while (done < 0 && getline(&line, &capacity, file) >= 0) {
        source->place = place_of(source, ++number);
        tide_fail_about(source->place);
        done = source->place ? add_line(source, line) : tide_fail_memory();
        tide_fail_about(NULL);
    }
    if (done < 0 && ferror(file))
        done = tide_fail_usage(source->command, "%s: it cannot be read", path);
    free(line);
    (void)fclose(file);
    source->file = NULL;
    return done;
}

/* --- The command line ---------------------------------------------------------------- */

/* Is the word at *AT the option NAME?  *VALUE becomes its value, which may be the next
 * word, and *AT its last word; NULL when there is none. */
static bool is_option(const char *name, int argc, char **argv, int *at,
                      const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(argv[*at], name, length) != 0)
        return false;
    const char after = argv[*at][length];
    if (after == '=')
        *value = argv[*at] + length + 1;
    else if (after == '\0')
        *value = *at + 1 < argc ? argv[++*at] : NULL;
    return after == '=' || after == '\0';
}

static int fail_without_value(const struct source *source, const char *name)
{
    return tide_fail_usage(source->command, "%s needs a value", name);
}

/* The words of all files first. */
static int add_files(struct source *source, int argc, char **argv)
{
    int done = -1;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && done < 0; i++) {
        const char *value = NULL;
        if (is_option(CONFIG, argc, argv, &i, &value))
            done = value ? add_file(source, value) : fail_without_value(source, CONFIG);
    }
    return done;
}

static int add_arguments(struct source *source, int argc, char **argv)
{
    int done = -1;
    bool options = true;
    for (int i = 1; i < argc && done < 0; i++) {
        const char *value = NULL;
        options = options && strcmp(argv[i], "--") != 0;
        if (options && is_option(CALLS_IN, argc, argv, &i, &value))
            done = value ? add_calls_in(source, value)
                         : fail_without_value(source, CALLS_IN);
        else
            done = add_word(source->words, argv[i]);
    }
    return done;
}

int tide_check_words_read(struct tide_check_words *words,
                          const struct tide_command *command, int argc, char **argv)
{
    struct source source = {.words = words, .command = command};
    *words = (struct tide_check_words){0};
    int done = add_word(words, argv[0]);
    if (done < 0)
        done = add_files(&source, argc, argv);
    if (done < 0)
        done = add_arguments(&source, argc, argv);
    return done;
}

void tide_check_words_release(struct tide_check_words *words)
{
    free(words->list);
    free(words->settings);
    free(words->calls_in);
    tide_arena_release(&words->arena);
    *words = (struct tide_check_words){0};
}
