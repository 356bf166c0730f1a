/* collect/attend.c - record a program that was not started by us.
 *
 * The program stands still in its start-up until we have answered, so the trace is
 * created and the collector runs before its first event.
 */
#include "collect/attend.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/background.h"
#include "collect/naming.h"
#include "collect/notes_out.h"
#include "collect/procfs.h"

enum { TIDE_WORDS_MOST = 256 };

/* The words of IMAGE's command line; the list ends with NULL. */
static void list_words(const struct tide_image *image, char **words)
{
    size_t count = 0;
    char *word = image->words;
    while (word && word < image->words + image->words_bytes &&
           count < TIDE_WORDS_MOST - 1) {
        words[count++] = word;
        word += strlen(word) + 1;
    }
    words[count] = NULL;
}

static enum tide_status create_trace(struct tide_collector *collector,
                                     const struct tide_attend_options *options)
{
    struct tide_image image;
    char *words[TIDE_WORDS_MOST];
    tide_procfs_image(options->pid, &image);
    list_words(&image, words);

    const struct tide_clock *const clock = &collector->clock;
    const struct tide_name_facts name = {NULL, image.exe ? image.exe : "program",
                                         options->pid};
    const struct tide_writer_start start = {.unix_ns = clock->start_unix_ns,
                                            .ticks = clock->start_ticks,
                                            .ticks_per_second = tide_clock_rate(clock)};
    struct tide_writer *writer = NULL;
    char *trace = NULL;
    enum tide_status status = tide_name_create(&name, &start, &trace, &writer);
    if (status == TIDE_OK) {
        const struct tide_run_facts facts = {words, options->version, options->words};
        status = tide_collector_begin(collector, writer, &facts);
    }
    free(trace);
    tide_image_release(&image);
    return status;
}

static bool answer(const struct tide_attend_options *options, const char *directory)
{
    char line[256];
    const int length = snprintf(line, sizeof(line), "%s\n", directory);
    const bool sent = length > 0 && length < (int)sizeof(line) &&
                      write(options->answer, line, (size_t)length) == length;
    (void)close(options->answer);
    return sent;
}

/* First until the program has come, then until everybody has gone. */
static void follow(struct tide_collector *collector, uint32_t pid)
{
    while (!tide_collector_has_targets(collector) &&
           (kill((pid_t)pid, 0) == 0 || errno == EPERM))
        (void)tide_collector_turn(collector, 100);
    bool busy = true;
    while (busy) {
        do {
            (void)tide_collector_turn(collector, 1000);
        } while (tide_collector_has_targets(collector));
        tide_collector_stop(collector);
        busy = tide_collector_busy(collector) && !tide_collector_start(collector);
    }
}

enum tide_status tide_attend(const struct tide_attend_options *options)
{
    struct tide_collector *collector;
    enum tide_status status = tide_collector_open(&options->wishes, &collector);
    if (status)
        return status;
    status = create_trace(collector, options);
    if (status == TIDE_OK)
        status = tide_collector_start(collector);
    if (status)
        goto close;
    if (answer(options, collector->directory)) {
        struct tide_inherited none = {0};
        tide_background_leave(&none);
        follow(collector, options->pid);
    } else {
        tide_collector_stop(collector);
    }
    tide_collector_finish(collector);
close:
    tide_collector_close(collector);
    return status;
}
