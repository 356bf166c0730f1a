/* base/raw/monitor_words.c - the words that choose built-in monitors.
 *
 * All that can be known of a word without obeying it is checked here, by one table.
 */
#include "base/raw/monitor_words.h"

#include <string.h>

enum { TIDE_KEYS = 6 };

/* An option: what its value is, and for numbers how small and how large. */
struct key {
    const char *name, *value;
    uint64_t least, most; /* most 0: not a number */
};

struct monitor {
    const char *name;
    struct key keys[TIDE_KEYS]; /* up to one without a name */
};

static const struct monitor MONITORS[TIDE_MONITORS] = {
    [TIDE_MONITOR_SIMPLE] = {.name = "simple"},
    [TIDE_MONITOR_LOOP] = {"loop", {{.name = "name", .value = "LOOP"}}},
    [TIDE_MONITOR_HISTOGRAM] = {.name = "histogram"},
    [TIDE_MONITOR_PERIODIC] =
        {"periodic",
         {{"ms", "N", 1, UINT64_C(1) << 40}, /* as nanoseconds it is a number still */
          {.name = "file", .value = "PATH"}}},
    [TIDE_MONITOR_REGIONS] = {.name = "regions"},
    [TIDE_MONITOR_THRESHOLD] = {"threshold",
                                {{"single", "SIZE", 1, INT64_MAX},
                                 {"most", "SIZE", 1, INT64_MAX},
                                 {"live", "SIZE", 1, INT64_MAX},
                                 {"skip", "N", 0, INT64_MAX},
                                 {.name = "action", .value = "report|abort"}}},
};

/* --- Values ------------------------------------------------------------------------------ */

const char *tide_monitor_option(struct tide_monitor_options options, const char *key,
                                size_t *length)
{
    const size_t key_length = strlen(key);
    const char *at = options.text;
    while (*at == ':') {
        at++;
        const size_t whole = strcspn(at, ":,");
        if (whole > key_length && strncmp(at, key, key_length) == 0 &&
            at[key_length] == '=') {
            *length = whole - key_length - 1;
            return at + key_length + 1;
        }
        at += whole;
    }
    *length = 0;
    return NULL;
}

/* None may be larger: that many bytes are a signed number still. */
bool tide_monitor_number(struct tide_monitor_options options, const char *key,
                         uint64_t *value)
{
    size_t length, i = 0;
    const char *const text = tide_monitor_option(options, key, &length);
    static const char UNITS[] = "KMGT";
    uint64_t number = 0;
    if (!text)
        return true;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return false;
    const char *const unit = i > 0 && i + 1 == length ? strchr(UNITS, text[i]) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
    if (i == 0 || (i < length && !unit) || number > (uint64_t)INT64_MAX >> shift)
        return false;
    *value = number << shift;
    return true;
}

static bool same(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* --- What is wrong ----------------------------------------------------------------------- */

static void add_some(struct tide_monitor_fault *fault, const char *text, size_t length)
{
    const size_t used = strlen(fault->text);
    const size_t room = sizeof(fault->text) - 1 - used;
    const size_t part = length < room ? length : room;
    memcpy(fault->text + used, text, part);
    fault->text[used + part] = '\0';
}

static void add(struct tide_monitor_fault *fault, const char *text)
{
    add_some(fault, text, strlen(text));
}

static void add_quoted(struct tide_monitor_fault *fault, const char *text,
                       size_t length)
{
    enum { TIDE_LONGEST_QUOTE = 64 };
    add(fault, "'");
    add_some(fault, text, length < TIDE_LONGEST_QUOTE ? length : TIDE_LONGEST_QUOTE);
    add(fault, length > TIDE_LONGEST_QUOTE ? "...'" : "'");
}

static void add_key(struct tide_monitor_fault *fault, const struct key *key)
{
    add(fault, key->name);
    add(fault, "=");
    add(fault, key->value);
}

static void add_monitors(struct tide_monitor_fault *fault)
{
    add(fault, "; there are ");
    for (size_t i = 0; i < TIDE_MONITORS; i++) {
        add(fault, MONITORS[i].name);
        add(fault, ", ");
    }
    add(fault, "own, and for all json, file=PATH");
}

/* "periodic has ms=N, file=PATH" */
static void add_options(struct tide_monitor_fault *fault, const struct monitor *monitor)
{
    add(fault, monitor->name);
    add(fault, monitor->keys[0].name ? " has " : " has no options");
    for (const struct key *key = monitor->keys; key->name; key++) {
        add(fault, key > monitor->keys ? ", " : "");
        add_key(fault, key);
    }
}

/* --- Checks ------------------------------------------------------------------------------ */

static bool is_value(const struct key *key, struct tide_monitor_options options)
{
    size_t length;
    uint64_t number = 0;
    const char *const text = tide_monitor_option(options, key->name, &length);
    if (!text)
        return true;
    if (key->most)
        return tide_monitor_number(options, key->name, &number) &&
               number >= key->least && number <= key->most;
    if (strcmp(key->name, "action") == 0)
        return same(text, length, "report") || same(text, length, "abort");
    return length > 0;
}

static const struct key *find_key(const struct monitor *monitor, const char *text,
                                  size_t length)
{
    for (const struct key *key = monitor->keys; key->name; key++)
        if (same(text, length, key->name))
            return key;
    return NULL;
}

/* What is given at VALUE is not the first of its key; only that one would be obeyed. */
static bool is_second(const struct key *key, struct tide_monitor_options options,
                      const char *value)
{
    size_t length;
    return tide_monitor_option(options, key->name, &length) != value;
}

static void check_keys(const struct monitor *monitor, const char *at,
                       struct tide_monitor_fault *fault)
{
    const struct tide_monitor_options options = {at};
    while (*at == ':' && !fault->text[0]) {
        const size_t whole = strcspn(++at, ":,"), length = strcspn(at, "=:,");
        const struct key *const key = find_key(monitor, at, length);
        if (!key || at[length] != '=') {
            add_quoted(fault, at, whole);
            add(fault, ": ");
            add_options(fault, monitor);
        } else if (is_second(key, options, at + length + 1)) {
            add_quoted(fault, at, whole);
            add(fault, ": ");
            add(fault, key->name);
            add(fault, " is given twice");
        } else if (!is_value(key, options)) {
            add_quoted(fault, at, whole);
            add(fault, ": it is ");
            add_key(fault, key);
            add(fault, key->most ? ", a number such as 100, 64K or 2M" : "");
        }
        at += whole;
    }
}

static void check(enum tide_monitor_kind kind, struct tide_monitor_options options,
                  uint32_t seen, struct tide_monitor_fault *fault)
{
    size_t length;
    check_keys(&MONITORS[kind], options.text, fault);
    if (fault->text[0])
        return;
    if (kind == TIDE_MONITOR_THRESHOLD &&
        !tide_monitor_option(options, "single", &length) &&
        !tide_monitor_option(options, "live", &length))
        add(fault, "threshold needs single=SIZE or live=SIZE, as in"
                   " threshold:single=1M");
    else if (seen & 1u << kind) {
        add(fault, MONITORS[kind].name);
        add(fault, " is named twice");
    }
}

/* The kind of the word at TEXT; TIDE_MONITOR_OWN + 1: there is none. */
static uint32_t kind_of(const char *text, size_t whole)
{
    const size_t name = strcspn(text, ":,");
    for (uint32_t i = 0; i < TIDE_MONITORS; i++)
        if (same(text, name, MONITORS[i].name))
            return i;
    if (same(text, whole, "json"))
        return TIDE_MONITOR_JSON;
    if (same(text, whole, "own"))
        return TIDE_MONITOR_OWN;
    const bool is_file = whole > 5 && strncmp(text, "file=", 5) == 0;
    return is_file ? TIDE_MONITOR_FILE : TIDE_MONITOR_OWN + 1;
}

bool tide_monitor_words_next(struct tide_monitor_words *words,
                             struct tide_monitor_fault *fault)
{
    fault->text[0] = '\0';
    words->rest += strspn(words->rest, ",");
    const char *const text = words->rest;
    const size_t length = strcspn(text, ",");
    if (length == 0) {
        if (!(words->seen & ((1u << TIDE_MONITORS) - 1)) &&
            !(words->seen & 1u << TIDE_MONITOR_OWN)) {
            add(fault, "no monitor is named");
            add_monitors(fault);
        }
        return false;
    }
    words->rest += length;
    const uint32_t kind = kind_of(text, length);
    if (kind > TIDE_MONITOR_OWN) {
        add_quoted(fault, text, length);
        add(fault, " is no monitor");
        add_monitors(fault);
        return true;
    }
    words->kind = (enum tide_monitor_kind)kind;
    words->options = (struct tide_monitor_options){text + strcspn(text, ":,")};
    if (kind < TIDE_MONITORS)
        check(words->kind, words->options, words->seen, fault);
    if (kind == TIDE_MONITOR_FILE) {
        words->path = text + 5;
        words->path_length = length - 5;
    }
    if (!fault->text[0])
        words->seen |= 1u << kind;
    return true;
}
