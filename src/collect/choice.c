/* collect/choice.c - which programs of a run are recorded.
 *
 * A program goes by several names: its file's, the one it was called by (a link, a shell's
 * "-sh"), and for a script the script's, which the kernel keeps as the name of the process.
 */
#include "collect/choice.h"

#include <fnmatch.h>
#include <string.h>

#include "trace/ring.h"

enum {
    TIDE_NAME_MOST = 256,
    TIDE_SCRIPT_WORDS = 4, /* interpreter, its option, the script */
};

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is NAME one of LIST? */
static bool is_listed(const char *list, const char *name)
{
    char pattern[TIDE_NAME_MOST];
    while (*list) {
        const size_t length = strcspn(list, ",");
        if (length > 0 && length < sizeof(pattern)) {
            memcpy(pattern, list, length);
            pattern[length] = '\0';
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

/* The base name of the program's file, which may be gone by now. */
static bool file_is_listed(const char *list, const char *exe)
{
    static const char gone[] = " (deleted)";
    char name[TIDE_NAME_MOST + sizeof(gone)];
    const char *const base = base_name(exe);
    size_t length = strlen(base);
    if (length >= sizeof(name))
        return false;
    memcpy(name, base, length + 1);
    const size_t ending = sizeof(gone) - 1;
    if (length > ending && strcmp(name + length - ending, gone) == 0)
        name[length - ending] = '\0';
    return is_listed(list, name);
}

/* COMM holds 15 characters; the script whose name it cuts is among the first words. */
static bool script_is_listed(const char *list, const struct tide_image *image,
                             const char *comm)
{
    const size_t length = strlen(comm);
    const char *word = image->words;
    const char *const end = word ? word + image->words_bytes : NULL;
    for (int i = 0; i < TIDE_SCRIPT_WORDS && word < end; i++) {
        const char *const name = base_name(word);
        if (length > 0 && strncmp(name, comm, length) == 0 && is_listed(list, name))
            return true;
        word += strlen(word) + 1;
    }
    return false;
}

bool tide_choice_matches(const char *list, const struct tide_image *image,
                         const char *comm)
{
    if (image->exe && file_is_listed(list, image->exe))
        return true;
    if (image->words && is_listed(list, base_name(image->words)))
        return true;
    return is_listed(list, comm) || script_is_listed(list, image, comm);
}

/* Remember a program that was not wanted. */
static void remember(struct tide_choice *choice, const char *comm)
{
    int i = 0;
    while (i < TIDE_SEEN_MOST && choice->seen[i][0] &&
           strcmp(choice->seen[i], comm) != 0)
        i++;
    if (i == TIDE_SEEN_MOST)
        choice->seen_more = true;
    else
        memcpy(choice->seen[i], comm, TIDE_COMM_BYTES);
}

static bool is_followed(const struct tide_choice *choice, uint32_t pid)
{
    switch ((enum tide_follow)choice->follow) {
    case TIDE_FOLLOW_EXEC:
        return pid == choice->main_pid;
    case TIDE_FOLLOW_NONE:
        return pid == choice->main_pid && choice->main_images == 1;
    case TIDE_FOLLOW_ALL:
        break;
    }
    return true;
}

bool tide_choice_wants(struct tide_choice *choice, uint32_t pid,
                       const struct tide_image *image)
{
    choice->main_images += pid == choice->main_pid;
    if (!is_followed(choice, pid))
        return false;
    if (!choice->targets)
        return true;
    char comm[TIDE_COMM_BYTES];
    tide_procfs_comm(pid, comm);
    if (tide_choice_matches(choice->targets, image, comm))
        return true;
    remember(choice, comm);
    return false;
}

void tide_choice_explain(const struct tide_choice *choice, struct tide_text *out)
{
    static const char *const words[] = {"started", "executed by the program itself",
                                        "the program itself"};
    tide_text_addf(out, "no program named %s was %s", choice->targets,
                   words[choice->follow]);
    if (choice->follow != TIDE_FOLLOW_ALL)
        tide_text_add(out, " (see --follow)");
    for (int i = 0; i < TIDE_SEEN_MOST && choice->seen[i][0]; i++)
        tide_text_addf(out, "%s%s",
                       i > 0 ? ", " : "; programs seen: ", choice->seen[i]);
    if (choice->seen_more)
        tide_text_add(out, ", ...");
}
