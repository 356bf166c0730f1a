/* base/status.c - the words for what went wrong. */
#include <tidemark/status.h>

#include <stddef.h>

static const char *const WORDS[] = {
#define TIDE_STATUS_WORDS(code, words) [TIDE_##code] = (words),
    TIDE_STATUSES(TIDE_STATUS_WORDS)
#undef TIDE_STATUS_WORDS
};

const char *tide_status_words(enum tide_status status)
{
    const size_t code = (size_t)status;
    return code < sizeof(WORDS) / sizeof(WORDS[0]) ? WORDS[code] : "unknown error";
}
