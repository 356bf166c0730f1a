/* tests/programs/clean_parser.c - reads settings into a tree, asks it, and takes it down.
 *
 * Its buffer doubles, its nodes go one by one, its text is read through stdio.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 60, SETTINGS = 50 };

struct setting {
    struct setting *next;
    char *name, *value;
};

struct section {
    struct section *next;
    char *name;
    struct setting *settings;
};

struct buffer {
    char *text;
    size_t length, capacity;
};

static void *must(void *block)
{
    if (!block)
        abort();
    return block;
}

static void append(struct buffer *buffer, const char *text)
{
    const size_t length = strlen(text);
    if (buffer->length + length + 1 > buffer->capacity) {
        buffer->capacity = (buffer->length + length + 1) * 2;
        buffer->text = must(realloc(buffer->text, buffer->capacity));
    }
    memcpy(buffer->text + buffer->length, text, length + 1);
    buffer->length += length;
}

static struct buffer write_settings(void)
{
    struct buffer buffer = {0};
    char line[128];
    for (int i = 0; i < SECTIONS; i++) {
        (void)snprintf(line, sizeof(line), "[section-%d]\n", i);
        append(&buffer, line);
        for (int k = 0; k < SETTINGS; k++) {
            (void)snprintf(line, sizeof(line),
                           "name-of-setting-%d = a rather long value %d\n", k, i * k);
            append(&buffer, line);
        }
    }
    return buffer;
}

static char *copy(const char *text, size_t length)
{
    return must(strndup(text, length));
}

static struct section *parse(FILE *file)
{
    struct section *first = NULL;
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        if (*line == '[') {
            struct section *const section = must(calloc(1, sizeof(*section)));
            section->name = copy(line + 1, strcspn(line + 1, "]"));
            section->next = first;
            first = section;
            continue;
        }
        char *const sign = strchr(line, '=');
        if (!sign || !first)
            continue;
        struct setting *const setting = must(calloc(1, sizeof(*setting)));
        setting->name = copy(line, (size_t)(sign - line - 1));
        setting->value = copy(sign + 2, strcspn(sign + 2, "\n"));
        setting->next = first->settings;
        first->settings = setting;
    }
    free(line);
    return first;
}

static size_t take_down(struct section *section)
{
    size_t count = 0;
    while (section) {
        struct section *const next = section->next;
        for (struct setting *at = section->settings; at;) {
            struct setting *const after = at->next;
            count += strlen(at->value) > 20;
            free(at->name);
            free(at->value);
            free(at);
            at = after;
        }
        free(section->name);
        free(section);
        section = next;
    }
    return count;
}

int main(void)
{
    size_t count = 0;
    for (int i = 0; i < 5; i++) {
        struct buffer buffer = write_settings();
        FILE *const file = fmemopen(buffer.text, buffer.length, "r");
        if (!file)
            return 1;
        count += take_down(parse(file));
        (void)fclose(file);
        free(buffer.text);
    }
    printf("%zu\n", count);
    return 0;
}
