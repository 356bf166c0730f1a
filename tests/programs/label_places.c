/* tests/programs/label_places.c - labels memory of all kinds, and looks into it.
 *
 * A block of the heap, static memory, the stack, a part of a block, and more than a block
 * has; a large block has no label.  `looked.at` is set to addresses in them.  Prints, as
 * JSON, how many bytes have a label before and after each label, and what each look finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { LARGE = 1000 * 1000 };

static char table[300];

static void look(const void *address)
{
    tide_set_address("looked.at", address);
}

int main(void)
{
    char on_stack[200];
    char *volatile large = malloc(LARGE);
    char *volatile small = malloc(500);
    char *volatile brief = malloc(50);
    printf("{\"rows\": [[\"small\", null, 0, 500], [\"table\", null, 500, 300],"
           " [\"on_stack\", null, 800, 200], [\"part\", null, 1000, 100],"
           " [\"longer\", null, 1100, 80], [null, \"table\", 1180, -300],"
           " [null, \"longer\", 880, -80], [null, \"part\", 800, -100],"
           " [null, \"small\", 700, -500],"
           " [\"again\", null, 200, 200], [\"inner\", null, 400, 100],"
           " [\"late\", null, 500, 10]],\n"
           " \"table\": \"%p\",\n"
           " \"looks\": [[\"table\", 10], [\"on_stack\", 20], [\"part\", 5],"
           " [\"longer\", 70], [\"small\", 0], [\"malloc\", 999999], [null, null],"
           " [null, null]]}\n",
           (void *)table);
    fflush(stdout);
    tide_label(small, "small", 500);
    tide_label(table, "table", sizeof(table));
    tide_label(on_stack, "on_stack", sizeof(on_stack));
    tide_label(large + 1000, "part", 100);
    tide_label(brief, "longer", 80);
    look(&table[10]);
    look(&on_stack[20]);
    look(large + 1005);
    look(brief + 70);
    look(small);
    look(large + LARGE - 1);
    tide_unlabel(table);
    look(&table[10]);
    free(brief);
    free(large);
    free(small);
    look(small);
    tide_label(table, "again", 200);
    tide_label(&table[50], "inner", 100);
    tide_label(small, "late", 10); /* nobody's memory */
    return 0;
}
