/* inputs/plain.c - a little of everything that a C compiler sees. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct node {
    struct node *left, *right;
    char *word;
    unsigned long count;
};

static struct node *insert(struct node *tree, const char *word)
{
    if (!tree) {
        tree = calloc(1, sizeof(*tree));
        if (tree)
            tree->word = strdup(word);
    } else if (strcmp(word, tree->word) < 0) {
        tree->left = insert(tree->left, word);
    } else if (strcmp(word, tree->word) > 0) {
        tree->right = insert(tree->right, word);
    }
    if (tree)
        tree->count++;
    return tree;
}

static double walk(const struct node *tree)
{
    return tree ? walk(tree->left) + sqrt((double)tree->count) + walk(tree->right) : 0;
}

int main(void)
{
    struct node *tree = NULL;
    char word[32];
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(word, sizeof(word), "%x", i * 2654435761u);
        tree = insert(tree, word);
    }
    printf("%.6f\n", walk(tree));
    return 0;
}
