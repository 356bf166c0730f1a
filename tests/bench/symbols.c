/* tests/bench/symbols.c - how long it takes to name addresses of an ELF file.
 *
 * Usage: symbols FRAMES FILE.  Asks for FRAMES different addresses, spread evenly over the
 * file's code and in order, as a report does; opening and closing count.  Prints one line
 * of the table of symbols.py.  CPU time, the least of three runs, each in a process of its
 * own so that nothing is known beforehand.
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbol/elf_file.h"
#include "symbol/symbolizer.h"

enum { RUNS = 3 };

/* The code of a file: its section .text. */
struct code {
    uint64_t start, size;
};

struct outcome {
    double seconds;
    uint64_t named, lined, inlined;
    uint64_t peak_kib;
};

static struct code find_code(const char *path)
{
    struct tide_elf_file *file;
    struct code code = {0};
    size_t names;
    if (tide_elf_file_open(path, &file))
        return code;
    Elf_Scn *section = NULL;
    while (elf_getshdrstrndx(file->elf, &names) == 0 &&
           (section = elf_nextscn(file->elf, section))) {
        GElf_Shdr header;
        const char *const name = gelf_getshdr(section, &header)
                                     ? elf_strptr(file->elf, names, header.sh_name)
                                     : NULL;
        if (name && strcmp(name, ".text") == 0)
            code = (struct code){header.sh_addr, header.sh_size};
    }
    tide_elf_file_close(file);
    return code;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum tide_status name_all(const char *path, struct code code, uint64_t frames,
                                 struct outcome *out)
{
    struct tide_symbolizer *symbolizer;
    const double began = cpu_seconds();
    enum tide_status status = tide_symbolizer_open(path, "", NULL, &symbolizer);
    for (uint64_t i = 0; i < frames && !status; i++) {
        const uint64_t address =
            code.start + (uint64_t)((double)code.size * (double)i / (double)frames);
        const struct tide_location *locations;
        size_t count;
        status = tide_symbolizer_find(symbolizer, address, &locations, &count);
        if (status || count == 0)
            continue;
        out->named += locations[count - 1].function != NULL;
        out->lined += locations[0].line > 0;
        out->inlined += count - 1;
    }
    tide_symbolizer_close(symbolizer);
    out->seconds = cpu_seconds() - began;
    return status;
}

static bool run_apart(const char *path, struct code code, uint64_t frames,
                      struct outcome *shared)
{
    int status;
    struct rusage usage;
    const pid_t child = fork();
    if (child == 0)
        _exit(name_all(path, code, frames, shared) != TIDE_OK);
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    shared->peak_kib = (uint64_t)usage.ru_maxrss;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void print(const char *path, uint64_t frames, const struct outcome *best)
{
    struct stat file;
    const char *const slash = strrchr(path, '/');
    const double bytes = stat(path, &file) == 0 ? (double)file.st_size : 0;
    printf("| %s | %.0f | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
           " | %.2f | %.0f |\n",
           slash ? slash + 1 : path, bytes / 1048576, frames, best->named, best->lined,
           best->inlined, best->seconds, (double)best->peak_kib / 1024);
}

int main(int argc, char **argv)
{
    struct outcome best = {0};
    struct outcome *const shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const uint64_t frames = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    if (frames == 0 || shared == MAP_FAILED) {
        fprintf(stderr, "usage: symbols FRAMES FILE\n");
        return 2;
    }
    const struct code code = find_code(argv[2]);
    if (code.size == 0) {
        fprintf(stderr, "%s: no code\n", argv[2]);
        return 1;
    }
    for (int i = 0; i < RUNS; i++) {
        *shared = (struct outcome){0};
        if (!run_apart(argv[2], code, frames, shared))
            return 1;
        if (i == 0 || shared->seconds < best.seconds)
            best = *shared;
    }
    print(argv[2], frames, &best);
    return 0;
}
