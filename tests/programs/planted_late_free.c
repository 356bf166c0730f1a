/* tests/programs/planted_late_free.c - the last of twenty images outlives the others. */
#include "planted.h"

enum { IMAGES = 20, IMAGE = 2 << 20, PARTS = 40 };

APART static char *load_image(unsigned number)
{
    char *const image = malloc(IMAGE);
    memset(image, (int)number, IMAGE);
    return image;
}

int main(void)
{
    char *last = NULL;
    for (unsigned i = 0; i < IMAGES; i++) {
        char *const image = load_image(i);
        honest_work(i);
        if (i + 1 == IMAGES)
            last = image;
        else
            free(image);
    }
    for (unsigned i = 0; i < PARTS; i++) {
        honest_work(i);
        rest(2.0 / PARTS);
    }
    free(last);
    confess("late_free", "load_image", IMAGE, 1);
    return 0;
}
