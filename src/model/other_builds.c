/* model/other_builds.c - which modules of a trace are other files today. */
#include "model/other_builds.h"

#include <sys/stat.h>

#include "symbol/name_child.h"
#include "symbol/symbolizer.h"
#include "trace/embedded.h"

/* Has the file of MODULE changed since the run, as far as its size and time tell? */
static bool has_changed(const struct tide_module *module)
{
    struct stat about;
    if (module->file_bytes == 0 || stat(module->path, &about))
        return false;
    const uint64_t mtime_ns =
        (uint64_t)about.st_mtim.tv_sec * 1000000000 + (uint64_t)about.st_mtim.tv_nsec;
    return (uint64_t)about.st_size != module->file_bytes ||
           mtime_ns != module->file_mtime_ns;
}

static bool is_other(const struct tide_module *module, struct tide_name_child *child)
{
    const struct tide_symbolizer_options options = {
        .file = {module->file_bytes, module->file_mtime_ns}, .child = child};
    const uint64_t nowhere = 0;
    struct tide_symbolizer *symbolizer;
    if (tide_symbolizer_open(module->path, module->build_id, &options, &symbolizer))
        return false;
    (void)tide_symbolizer_expect(symbolizer, &nowhere, 1);
    const bool other = tide_symbolizer_state(symbolizer) == TIDE_MODULE_OTHER;
    tide_symbolizer_close(symbolizer);
    return other;
}

void tide_find_other_builds(struct tide_trace *trace)
{
    struct tide_embedded *embedded = NULL;
    struct tide_name_child *child = NULL;
    if (tide_embedded_open(trace, &embedded))
        return;
    for (size_t i = 0; i < trace->module_count; i++) {
        struct tide_module *const module = &trace->modules[i];
        if (tide_embedded_names(embedded, (uint32_t)i) || !has_changed(module))
            continue;
        if (!child && tide_name_child_new(NULL, &child))
            break;
        module->other_build = is_other(module, child);
    }
    tide_name_child_free(child);
    tide_embedded_close(embedded);
}
