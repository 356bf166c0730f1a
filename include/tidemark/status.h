/* tidemark/status.h - what can go wrong, and the words for it.
 *
 * One list gives both the codes and their words.
 */
#ifndef TIDEMARK_STATUS_H
#define TIDEMARK_STATUS_H

#define TIDE_STATUSES(X)                                      \
    X(OK, "no error")                                         \
    X(ENOMEM, "out of memory")                                \
    X(EIO, "the file cannot be read or written")              \
    X(ENOENT, "no such file")                                 \
    X(EEXIST, "the file exists already")                      \
    X(ENOTTRACE, "this is not a tidemark trace")              \
    X(EVERSION, "this trace was written by another tidemark") \
    X(ETRUNCATED, "the file ends too early")                  \
    X(ECORRUPT, "the file is damaged")                        \
    X(ELIMIT, "a limit was reached")                          \
    X(ESYSTEM, "the system refused")                          \
    X(EUSAGE, "the arguments make no sense")

enum tide_status {
#define TIDE_STATUS_CODE(code, words) TIDE_##code,
    TIDE_STATUSES(TIDE_STATUS_CODE)
#undef TIDE_STATUS_CODE
};

/* The words for STATUS; never NULL. */
const char *tide_status_words(enum tide_status status);

#endif
