/* tests/unit/model_fixture.c - small models made by hand, for tests of the views. */
#include "model_fixture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

enum {
    TIDE_FIXTURE_MAX = 20000, /* nodes, frames, functions, tree rows */
    TIDE_FIXTURE_DEPTH = 512,
};

static char *copy(struct fixture *fixture, const char *text, size_t length)
{
    char *const copied = tide_arena_copy(&fixture->arena, text, length);
    assert(copied);
    return copied;
}

static void *take(struct fixture *fixture, size_t count, size_t size)
{
    void *const memory = tide_arena_take(&fixture->arena, count * size);
    assert(memory);
    return memory;
}

void fixture_init(struct fixture *fixture)
{
    static const char *argv[] = {"./a.out", NULL};
    *fixture = (struct fixture){0};
    struct tide_trace *const trace = &fixture->trace;
    struct tide_model *const model = &fixture->model;
    trace->fd = -1;
    trace->path = "a.tide";
    trace->complete = true;
    trace->ticks_per_second = 1e9;
    trace->argv = argv;
    trace->cwd = "/home/you";
    trace->host = "laptop";
    trace->version = "1.0";
    trace->options = "";
    trace->processes = take(fixture, 4, sizeof(*trace->processes));
    trace->processes[0] = (struct tide_process){.pid = 4711,
                                                .ppid = 4710,
                                                .main = true,
                                                .ended = true,
                                                .status_known = true,
                                                .exe = "/home/you/a.out",
                                                .argv = argv};
    trace->process_count = 1;
    trace->modules = take(fixture, 4, sizeof(*trace->modules));
    trace->modules[0] =
        (struct tide_module){.path = "/home/you/a.out", .build_id = "abcdef012345"};
    trace->module_count = 1;

    model->trace = trace;
    model->threads = 1;
    model->processes = 1;
    model->honesty.complete = true;
    model->stacks.nodes = take(fixture, TIDE_FIXTURE_MAX, sizeof(struct tide_node));
    model->stacks.frames = take(fixture, TIDE_FIXTURE_MAX, sizeof(struct tide_frame));
    model->symbols = take(fixture, TIDE_FIXTURE_MAX, sizeof(struct tide_symbols));
    model->stacks.node_count = 1;
    fixture->functions = take(fixture, TIDE_FIXTURE_MAX, sizeof(struct tide_function));
    fixture->rows.functions = fixture->functions;
}

void fixture_release(struct fixture *fixture)
{
    free(fixture->model.sites);
    free(fixture->findings.list);
    tide_arena_release(&fixture->arena);
}

/* --- Stacks ------------------------------------------------------------------------ */

/* Split "name@file.c:12" into SYMBOL. */
static void parse_symbol(struct fixture *fixture, const char *word, size_t length,
                         struct tide_symbol *symbol)
{
    const char *const at = memchr(word, '@', length);
    const size_t name = at ? (size_t)(at - word) : length;
    *symbol = (struct tide_symbol){.function = copy(fixture, word, name)};
    if (!at)
        return;
    const size_t rest = length - name - 1;
    const char *const colon = memchr(at + 1, ':', rest);
    const size_t file = colon ? (size_t)(colon - at - 1) : rest;
    symbol->file = copy(fixture, at + 1, file);
    symbol->line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static uint32_t frame_of(struct fixture *fixture, const struct tide_symbol *symbol)
{
    struct tide_model *const model = &fixture->model;
    for (uint32_t i = 0; i < model->stacks.frame_count; i++) {
        const struct tide_symbol *const known = &model->symbols[i].list[0];
        if (same_text(known->function, symbol->function) &&
            same_text(known->file, symbol->file) && known->line == symbol->line)
            return i;
    }
    const uint32_t frame = model->stacks.frame_count++;
    assert(frame < TIDE_FIXTURE_MAX);
    struct tide_symbol *const kept = take(fixture, 1, sizeof(*kept));
    *kept = *symbol;
    model->symbols[frame] = (struct tide_symbols){kept, 1};
    model->stacks.frames[frame] =
        (struct tide_frame){.module = 0, .value = 0x1000u + frame * 16u};
    return frame;
}

static uint32_t child_of(struct fixture *fixture, uint32_t parent, uint32_t frame)
{
    struct tide_stacks *const stacks = &fixture->model.stacks;
    for (uint32_t i = 1; i < stacks->node_count; i++)
        if (stacks->nodes[i].parent == parent && stacks->nodes[i].frame == frame)
            return i;
    assert(stacks->node_count < TIDE_FIXTURE_MAX);
    stacks->nodes[stacks->node_count] =
        (struct tide_node){parent, frame, stacks->nodes[parent].depth + 1};
    return stacks->node_count++;
}

static uint32_t stack_of(struct fixture *fixture, const char *path)
{
    uint32_t node = 0;
    while (*path) {
        const size_t length = strcspn(path, ";");
        struct tide_symbol symbol;
        parse_symbol(fixture, path, length, &symbol);
        node = child_of(fixture, node, frame_of(fixture, &symbol));
        path += length + (path[length] == ';');
    }
    return node;
}

static void add_to_summary(struct tide_summary *summary,
                           const struct fixture_site *site)
{
    summary->alloc_calls += site->calls;
    summary->allocated_bytes += site->bytes;
    summary->free_calls += site->calls - site->live_blocks;
    summary->peak_bytes += site->peak_bytes;
    summary->peak_blocks += site->peak_blocks;
    summary->live_bytes += site->live_bytes;
    summary->live_blocks += site->live_blocks;
    summary->temporary_calls += site->temporary_calls;
    summary->temporary_bytes += site->temporary_bytes;
}

void fixture_add(struct fixture *fixture, const struct fixture_site *site)
{
    struct tide_model *const model = &fixture->model;
    model->sites =
        reallocarray(model->sites, model->site_count + 1, sizeof(*model->sites));
    assert(model->sites);
    model->sites[model->site_count++] = (struct tide_site){
        .stack = stack_of(fixture, site->path),
        .calls = site->calls,
        .bytes = site->bytes,
        .live_blocks = (int64_t)site->live_blocks,
        .live_bytes = (int64_t)site->live_bytes,
        .peak_blocks = (int64_t)site->peak_blocks,
        .peak_bytes = (int64_t)site->peak_bytes,
        .temporary_calls = site->temporary_calls,
        .temporary_bytes = site->temporary_bytes,
    };
    add_to_summary(&model->summary[TIDE_IN_HEAP], site);
    model->honesty.events += 2 * site->calls - site->live_blocks;
}

void fixture_add_finding(struct fixture *fixture, const char *kind, const char *text,
                         uint32_t stack)
{
    struct tide_findings *const findings = &fixture->findings;
    findings->list =
        reallocarray(findings->list, findings->count + 1, sizeof(*findings->list));
    assert(findings->list);
    findings->list[findings->count++] = (struct tide_finding){
        .kind = kind, .text = copy(fixture, text, strlen(text)), .stack = stack};
}

/* --- Rows -------------------------------------------------------------------------- */

static uint32_t function_of(struct fixture *fixture, uint32_t frame)
{
    const struct tide_symbol *const symbol = &fixture->model.symbols[frame].list[0];
    for (uint32_t i = 0; i < fixture->rows.function_count; i++)
        if (same_text(fixture->functions[i].name, symbol->function))
            return i;
    const uint32_t index = (uint32_t)fixture->rows.function_count++;
    assert(index < TIDE_FIXTURE_MAX);
    fixture->functions[index] = (struct tide_function){
        .name = symbol->function,
        .module = fixture->trace.modules[0].path,
        .file = symbol->file,
        .line = symbol->line,
        .resolved = !symbol->function || !strstr(symbol->function, "+0x"),
    };
    return index;
}

static struct tide_stack_row value_of(const struct tide_site *site,
                                      enum tide_metric metric)
{
    switch (metric) {
    case TIDE_METRIC_PEAK:
        return (struct tide_stack_row){0, (uint64_t)site->peak_bytes,
                                       (uint64_t)site->peak_blocks};
    case TIDE_METRIC_LEAKS:
        return (struct tide_stack_row){0, (uint64_t)site->live_bytes,
                                       (uint64_t)site->live_blocks};
    case TIDE_METRIC_CHURN:
        return (struct tide_stack_row){0, site->temporary_bytes, site->temporary_calls};
    case TIDE_METRIC_TOTAL:
    default:
        return (struct tide_stack_row){0, site->bytes, site->calls};
    }
}

static uint32_t tree_child(struct fixture *fixture, uint32_t parent, uint32_t frame)
{
    struct tide_rows *const rows = &fixture->rows;
    const struct tide_symbol *const symbol = &fixture->model.symbols[frame].list[0];
    const uint32_t function = function_of(fixture, frame);
    for (uint32_t c = rows->tree[parent].first_child; c; c = rows->tree[c].next)
        if (rows->tree[c].function == function)
            return c;
    const uint32_t row = (uint32_t)rows->tree_count++;
    assert(row < TIDE_FIXTURE_MAX);
    rows->tree[row] = (struct tide_tree_row){.function = function,
                                             .file = symbol->file,
                                             .line = symbol->line,
                                             .next = rows->tree[parent].first_child};
    rows->tree[parent].first_child = row;
    return row;
}

/* The frames of NODE, callers first. */
static size_t frames_of(const struct fixture *fixture, uint32_t node, uint32_t *frames)
{
    const struct tide_node *const nodes = fixture->model.stacks.nodes;
    const size_t count = nodes[node].depth;
    assert(count <= TIDE_FIXTURE_DEPTH);
    for (size_t i = count; i-- > 0; node = nodes[node].parent)
        frames[i] = nodes[node].frame;
    return count;
}

static void add_flat(struct fixture *fixture, uint32_t function,
                     const struct tide_stack_row *value, bool self, bool inclusive)
{
    struct tide_rows *const rows = &fixture->rows;
    size_t i = 0;
    while (i < rows->flat_count && rows->flat[i].function != function)
        i++;
    if (i == rows->flat_count)
        rows->flat[rows->flat_count++] = (struct tide_flat_row){.function = function};
    rows->flat[i].self_bytes += self ? value->bytes : 0;
    rows->flat[i].self_calls += self ? value->calls : 0;
    rows->flat[i].inclusive_bytes += inclusive ? value->bytes : 0;
    rows->flat[i].inclusive_calls += inclusive ? value->calls : 0;
    rows->flat[i].file = fixture->functions[function].file;
    rows->flat[i].line = fixture->functions[function].line;
}

static void add_site_rows(struct fixture *fixture, uint32_t site,
                          struct tide_stack_row value)
{
    struct tide_rows *const rows = &fixture->rows;
    uint32_t frames[TIDE_FIXTURE_DEPTH];
    const size_t count = frames_of(fixture, fixture->model.sites[site].stack, frames);
    uint32_t row = 0;
    value.site = site;
    rows->total_bytes += value.bytes;
    rows->total_calls += value.calls;
    rows->stacks[rows->stack_count++] = value;
    for (size_t i = 0; i <= count; i++) {
        rows->tree[row].bytes += value.bytes;
        rows->tree[row].calls += value.calls;
        if (i < count)
            row = tree_child(fixture, row, frames[i]);
    }
    rows->tree[row].self_bytes += value.bytes;
    rows->tree[row].self_calls += value.calls;
    for (size_t i = 0; i < count; i++) {
        const uint32_t function = function_of(fixture, frames[i]);
        bool again = false;
        for (size_t j = i + 1; j < count; j++)
            again = again || function_of(fixture, frames[j]) == function;
        add_flat(fixture, function, &value, i == count - 1, !again);
    }
}

static int by_self(const void *a, const void *b)
{
    const struct tide_flat_row *const x = a, *const y = b;
    if (x->self_bytes != y->self_bytes)
        return x->self_bytes < y->self_bytes ? 1 : -1;
    return x->inclusive_bytes < y->inclusive_bytes   ? 1
           : x->inclusive_bytes > y->inclusive_bytes ? -1
                                                     : 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct tide_stack_row *const x = a, *const y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* Sort the children of every row, largest first, by insertion. */
static void sort_tree(struct tide_rows *rows)
{
    for (size_t i = 0; i < rows->tree_count; i++) {
        uint32_t left = rows->tree[i].first_child;
        rows->tree[i].first_child = 0;
        while (left) {
            const uint32_t row = left;
            left = rows->tree[row].next;
            uint32_t *place = &rows->tree[i].first_child;
            while (*place && rows->tree[*place].bytes >= rows->tree[row].bytes)
                place = &rows->tree[*place].next;
            rows->tree[row].next = *place;
            *place = row;
        }
    }
}

void fixture_rows(struct fixture *fixture, enum tide_metric metric)
{
    struct tide_rows *const rows = &fixture->rows;
    const size_t sites = fixture->model.site_count;
    *rows = (struct tide_rows){.metric = metric, .functions = fixture->functions};
    rows->flat = take(fixture, TIDE_FIXTURE_MAX, sizeof(*rows->flat));
    rows->tree = take(fixture, TIDE_FIXTURE_MAX, sizeof(*rows->tree));
    rows->stacks = take(fixture, sites + 1, sizeof(*rows->stacks));
    rows->tree[0].function = UINT32_MAX;
    rows->tree_count = 1;
    for (uint32_t i = 0; i < sites; i++) {
        const struct tide_stack_row value = value_of(&fixture->model.sites[i], metric);
        if (value.bytes > 0 || value.calls > 0)
            add_site_rows(fixture, i, value);
    }
    qsort(rows->flat, rows->flat_count, sizeof(*rows->flat), by_self);
    qsort(rows->stacks, rows->stack_count, sizeof(*rows->stacks), by_bytes);
    sort_tree(rows);
}

/* --- A believable program ---------------------------------------------------------- */

#define MIB (1024ull * 1024ull)
#define MAIN                   \
    "main@src/solver.cpp:212;" \
    "Simulation::run@src/simulation.cpp:88;"

static const struct fixture_site SOLVER[] = {
    {MAIN
     "Simulation::step@src/simulation.cpp:141;Assembler::assemble@assembler.cpp:77;"
     "SparseMatrix<double, int>::reserve(unsigned long)@src/sparse_matrix.h:44",
     8120, 2411 * MIB, 0, 0, 1204, 412 * MIB, 0, 0},
    {MAIN
     "Simulation::step@src/simulation.cpp:141;Assembler::assemble@assembler.cpp:93;"
     "std::vector<Triplet<double>, std::allocator<Triplet<double> > >::"
     "_M_realloc_insert<Triplet<double> >(__gnu_cxx::__normal_iterator<Triplet<double>"
     "*, std::vector<Triplet<double>, std::allocator<Triplet<double> > > >, "
     "Triplet<double>&&)@/usr/include/c++/12/bits/vector.tcc:439",
     90210, 1804 * MIB, 0, 0, 31, 118 * MIB, 12000, 190 * MIB},
    {MAIN
     "Simulation::step@src/simulation.cpp:150;Multigrid::cycle@src/multigrid.cpp:310;"
     "Multigrid::restrict_residual@src/multigrid.cpp:188;xmalloc@src/util.c:12",
     512000, 977 * MIB, 0, 0, 4096, 61 * MIB, 480000, 822 * MIB},
    {MAIN "Mesh::load@src/mesh.cpp:61;Mesh::parse_nodes@src/mesh.cpp:133;"
          "xrealloc@src/util.c:31",
     24, 96 * MIB, 1, 2 * MIB, 3, 48 * MIB, 0, 0},
    {MAIN "Mesh::load@src/mesh.cpp:64;Mesh::parse_elements@src/mesh.cpp:170;"
          "xrealloc@src/util.c:31",
     26, 64 * MIB, 0, 0, 3, 31 * MIB, 0, 0},
    {MAIN "Mesh::load@src/mesh.cpp:70;std::map<int, std::string>::operator[](int "
          "const&)@stl_map.h:511",
     41000, 4 * MIB, 41000, 4 * MIB - 13, 41000, 4 * MIB - 13, 0, 0},
    {MAIN
     "Simulation::step@src/simulation.cpp:160;History::remember@src/history.cpp:29;"
     "strdup@string/strdup.c:42",
     1200, 900 * 1024, 1200, 900 * 1024, 700, 525 * 1024, 0, 0},
    {MAIN "Log::write@src/log.cpp:18;Log::format@src/log.cpp:44", 1900000, 488 * MIB, 0,
     0, 1, 4096, 1899999, 488 * MIB},
    {MAIN "Config::get@src/config.cpp:9", 310, 80 * 1024, 12, 3 * 1024, 310, 80 * 1024,
     0, 0},
    {MAIN "Plugins::load@src/plugins.cpp:71;dlopen@dlfcn/dlopen.c:81", 60, 210 * 1024,
     60, 210 * 1024, 60, 210 * 1024, 0, 0},
    {"Pool::worker@src/pool.cpp:55;"
     "Pool::scratch@src/pool.cpp:23",
     64, 64 * MIB, 0, 0, 8, 8 * MIB, 0, 0},
    {"_dl_start_user;_dl_init@elf/dl-init.c:121;call_init@elf/dl-init.c:74;"
     "__gnu_cxx::__freeres@eh_alloc.cc:123",
     1, 72704, 1, 72704, 1, 72704, 0, 0},
};

static void solver_words(struct fixture *fixture)
{
    static const char *argv[] = {"./solver", "--mesh", "wing section.msh",
                                 "--steps=100", NULL};
    struct tide_model *const model = &fixture->model;
    fixture->trace.argv = argv;
    fixture->trace.path = "solver.tide";
    fixture->trace.modules[0].path = "/home/you/solver/build/solver";
    model->duration_s = 12.4312;
    model->threads = 9;
    model->rss_peak_bytes = 804 * MIB;
    model->rss_peak_exact = true;
    model->summary[TIDE_IN_HEAP].peak_time_s = 7.3122;
    model->summary[TIDE_IN_HEAP].peak_uncertainty_bytes = 12 * 1024;
    model->summary[TIDE_IN_MMAP] =
        (struct tide_summary){.alloc_calls = 34,
                              .peak_bytes = 96 * MIB,
                              .peak_blocks = 12,
                              .peak_time_s = 3.2,
                              .live_bytes = 16 * MIB,
                              .reserved_peak_bytes = 512 * MIB};
    model->honesty.rss_explained = 0.923;
    model->honesty.recorder_bytes = 1300 * 1024;
    model->honesty.collector_bytes = 9 * MIB;
    model->honesty.truncated_stacks = 3;
    model->honesty.unresolved_frames = 12;
    model->alloc_kinds[TIDE_KIND_MALLOC] = 1944000;
    model->alloc_kinds[TIDE_KIND_NEW] = 609014;
}

void fixture_init_solver(struct fixture *fixture)
{
    fixture_init(fixture);
    for (size_t i = 0; i < sizeof(SOLVER) / sizeof(SOLVER[0]); i++)
        fixture_add(fixture, &SOLVER[i]);
    solver_words(fixture);
    fixture_add_finding(fixture, "peak_owner",
                        "SparseMatrix<double, int>::reserve (sparse_matrix.h:44) holds "
                        "60.1 % of the peak, 412 MiB in 1,204 blocks.",
                        fixture->model.sites[0].stack);
    fixture_add_finding(
        fixture, "churn",
        "Log::format makes 1,899,999 temporary blocks, 79.4 % of all: a "
        "buffer that is kept would save them.",
        fixture->model.sites[7].stack);
    struct tide_model *const model = &fixture->model;
    model->timeline_count = TIDE_TIMELINE_POINTS;
    for (uint32_t i = 0; i < TIDE_TIMELINE_POINTS; i++) {
        const uint64_t rise = i < 140 ? i : 140 - (i - 140) * 14 / 10;
        const uint64_t wave = i % 14 < 9 ? i % 14 * 6 : 10;
        model->timeline[i] = (rise * 4 + (i < 10 ? 0 : wave * rise / 60)) * MIB;
    }
}
