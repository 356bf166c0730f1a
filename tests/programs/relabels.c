/* tests/programs/relabels.c - names blocks, names them again and takes the names away,
 * at random by SEED, its argument, and says itself what each name should count.
 *
 * A block counts under the last name that it had before it lost one, if it ever did; at a
 * moment it has the name that it has then, which counts from its birth on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tidemark/tidemark.h>

enum { ACTIONS = 4000, LIVE = 40, NAMES = 5 };

static const char *const NAME[NAMES + 1] = {"", "a", "b", "c", "d", "e"};

/* A block; realloc ends one and begins another. */
struct story {
    char *at; /* NULL: dead */
    size_t bytes;
    int counted, now; /* names; 0: none */
    int renamed;      /* it lost one */
    int at_peak;      /* it stood; what it was called then, if renamed by then */
    int peak_renamed, peak_name;
};

static struct story stories[ACTIONS];
static int count;
static size_t live, peak;

static void look(void)
{
    if (live <= peak)
        return;
    peak = live;
    for (int i = 0; i < count; i++) {
        stories[i].at_peak = stories[i].at != NULL;
        stories[i].peak_renamed = stories[i].renamed;
        stories[i].peak_name = stories[i].now;
    }
}

static void begin(char *at, size_t bytes, int name)
{
    stories[count++] =
        (struct story){.at = at, .bytes = bytes, .counted = name, .now = name};
    live += bytes;
    look();
}

static void end(struct story *story)
{
    live -= story->bytes;
    story->at = NULL;
}

static void name_it(struct story *story, int name)
{
    if (name == 0) {
        tide_unlabel(story->at);
        story->renamed |= story->now != 0;
        story->now = 0;
        return;
    }
    tide_label(story->at, NAME[name], story->bytes);
    story->now = name;
    if (!story->renamed)
        story->counted = name;
}

/* One that lives, or a new one. */
static struct story *choose(void)
{
    int seen = 0;
    const int which = rand() % LIVE;
    for (int i = 0; i < count; i++)
        if (stories[i].at && seen++ == which)
            return &stories[i];
    const size_t bytes = (size_t)(rand() % 5000);
    begin(malloc(bytes), bytes, 0);
    return &stories[count - 1];
}

static void act(void)
{
    struct story *const story = choose();
    const int what = rand() % 10;
    if (what < 3) {
        name_it(story, rand() % NAMES + 1);
    } else if (what < 6) {
        name_it(story, 0);
    } else if (what < 8) {
        const struct story old = *story;
        const size_t bytes = (size_t)(rand() % 9000) + 1;
        end(story); /* a block that moves counts once */
        begin(realloc(old.at, bytes), bytes, old.now);
    } else {
        free(story->at);
        end(story);
    }
}

static void tell(const char *what, const size_t *calls, const size_t *bytes)
{
    printf("\"%s\": {", what);
    for (int i = 0; i <= NAMES; i++)
        printf("%s\"%s\": [%zu, %zu]", i ? ", " : "", NAME[i], calls[i], bytes[i]);
    printf("}");
}

int main(int argc, char **argv)
{
    size_t calls[3][NAMES + 1] = {{0}}, bytes[3][NAMES + 1] = {{0}};
    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    setvbuf(stdout, NULL, _IONBF, 0); /* nothing but what is counted here */
    for (int i = 0; i < ACTIONS - 10; i++)
        act();
    for (int i = 0; i < count; i++) {
        const struct story *const story = &stories[i];
        const int then = story->peak_renamed ? story->peak_name : story->counted;
        const int names[] = {story->counted, then, story->now};
        const int counts[] = {1, story->at_peak, story->at != NULL};
        for (int j = 0; j < 3; j++) {
            calls[j][names[j]] += (size_t)counts[j];
            bytes[j][names[j]] += counts[j] ? story->bytes : 0;
        }
    }
    printf("{");
    tell("total", calls[0], bytes[0]);
    printf(", ");
    tell("peak", calls[1], bytes[1]);
    printf(", ");
    tell("leaks", calls[2], bytes[2]);
    printf("}\n");
    return 0;
}
