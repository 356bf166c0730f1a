/* view/export_sqlite.c - a run as tables, for those who ask in SQL.
 *
 * Stacks and blocks have the numbers that they have in the other exports.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/format.h"
#include "view/export.h"
#include "view/export_table.h"
#include "view/run_words.h"

static const char SCHEMA[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value);"
    "CREATE TABLE summary (space TEXT PRIMARY KEY, alloc_calls INTEGER,"
    " free_calls INTEGER, realloc_calls INTEGER, failed_calls INTEGER,"
    " allocated_bytes INTEGER, peak_bytes INTEGER, peak_blocks INTEGER,"
    " peak_with_realloc_bytes INTEGER, peak_usable_bytes INTEGER, peak_time_s REAL,"
    " peak_uncertainty_bytes INTEGER, live_bytes INTEGER, live_blocks INTEGER,"
    " temporary_calls INTEGER, temporary_bytes INTEGER);"
    "CREATE TABLE processes (id INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER,"
    " exe TEXT, begin_s REAL, end_s REAL, rss_peak_bytes INTEGER);"
    "CREATE TABLE threads (process_id INTEGER, tid INTEGER, name TEXT, begin_s REAL);"
    "CREATE TABLE modules (id INTEGER PRIMARY KEY, path TEXT, build_id TEXT);"
    "CREATE TABLE frames (id INTEGER PRIMARY KEY, module_id INTEGER,"
    " address INTEGER, function TEXT, file TEXT, line INTEGER, inlined INTEGER);"
    "CREATE TABLE stack_frames (stack_id INTEGER, position INTEGER, frame_id INTEGER,"
    " PRIMARY KEY (stack_id, position)) WITHOUT ROWID;"
    "CREATE TABLE sites (id INTEGER PRIMARY KEY, stack_id INTEGER, space TEXT,"
    " alloc_calls INTEGER, allocated_bytes INTEGER, freed_calls INTEGER,"
    " freed_bytes INTEGER, temporary_calls INTEGER, temporary_bytes INTEGER,"
    " live_blocks INTEGER, live_bytes INTEGER, peak_blocks INTEGER,"
    " peak_bytes INTEGER, first_s REAL, last_s REAL);"
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, space TEXT, kind TEXT,"
    " process_id INTEGER, tid INTEGER, address INTEGER, size INTEGER, usable INTEGER,"
    " live_bytes INTEGER, birth_s REAL, death_s REAL, death_tid INTEGER,"
    " moved_from INTEGER, label TEXT, stack_id INTEGER);"
    "CREATE TABLE rss (process_id INTEGER, t_s REAL, bytes INTEGER);";

/* Made when all rows are there, which is faster.  by_function is inclusive: a function
 * counts once for each stack that it is in. */
static const char VIEWS[] =
    "CREATE INDEX sites_by_stack ON sites (stack_id);"
    "CREATE INDEX blocks_by_stack ON blocks (stack_id);"
    "CREATE VIEW leaks AS SELECT * FROM sites WHERE live_blocks > 0"
    " ORDER BY live_bytes DESC;"
    "CREATE VIEW by_function AS"
    " SELECT space, function, path AS module, SUM(peak_bytes) AS peak_bytes,"
    " SUM(peak_blocks) AS peak_blocks, SUM(live_bytes) AS live_bytes,"
    " SUM(live_blocks) AS live_blocks, SUM(allocated_bytes) AS allocated_bytes,"
    " SUM(alloc_calls) AS alloc_calls FROM"
    " (SELECT DISTINCT stack_id, function, path FROM stack_frames"
    " JOIN frames ON frames.id = frame_id LEFT JOIN modules ON modules.id = module_id)"
    " JOIN sites USING (stack_id) GROUP BY space, function, path;";

struct writer {
    struct tide_tables tables;
    const struct tide_export *what;
    const struct tide_trace *trace;
    uint64_t *frame_rows; /* owned, per frame: its innermost row, 0: none yet */
    bool *stacks_done;    /* owned, per node */
    uint64_t frame_count; /* rows so far */
    struct tide_text name;
};

/* --- The run ----------------------------------------------------------------------- */

static void add_fact(struct tide_table *table, const char *key, const char *value)
{
    tide_table_text(table, key);
    tide_table_text(table, value);
    tide_table_row(table);
}

static void add_count(struct tide_table *table, const char *key, uint64_t value)
{
    tide_table_text(table, key);
    tide_table_uint(table, value);
    tide_table_row(table);
}

static void add_meta(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    const struct tide_honesty *const honesty = &model->honesty;
    struct tide_table table;
    struct tide_text command = {0};
    tide_words_command(&command, writer->trace->argv);
    tide_table_begin(&table, &writer->tables, "meta", 2);
    add_fact(&table, "schema", "tidemark.sqlite/1");
    add_fact(&table, "exporter", TIDE_EXPORTER);
    add_fact(&table, "command", command.bytes ? command.bytes : "");
    add_fact(&table, "host", writer->trace->host);
    add_count(&table, "start_unix_ns", writer->trace->start_unix_ns);
    tide_table_text(&table, "duration_s");
    tide_table_real(&table, model->duration_s);
    tide_table_row(&table);
    add_count(&table, "all_blocks", writer->what->all);
    add_count(&table, "events", honesty->events);
    add_count(&table, "dropped", honesty->dropped);
    add_count(&table, "unmatched_frees", honesty->unmatched_frees);
    add_count(&table, "inherited_frees", honesty->inherited_frees);
    add_count(&table, "truncated_stacks", honesty->truncated_stacks);
    add_count(&table, "unfinished_stacks", honesty->unfinished_stacks);
    add_count(&table, "complete", honesty->complete);
    tide_table_end(&table);
    tide_text_release(&command);
}

static void add_summary(struct tide_table *table, const struct tide_summary *summary)
{
    tide_table_uint(table, summary->alloc_calls);
    tide_table_uint(table, summary->free_calls);
    tide_table_uint(table, summary->realloc_calls);
    tide_table_uint(table, summary->failed_calls);
    tide_table_uint(table, summary->allocated_bytes);
    tide_table_uint(table, summary->peak_bytes);
    tide_table_uint(table, summary->peak_blocks);
    tide_table_uint(table, summary->peak_with_realloc_bytes);
    tide_table_uint(table, summary->peak_usable_bytes);
    tide_table_real(table, summary->peak_time_s);
    tide_table_uint(table, summary->peak_uncertainty_bytes);
    tide_table_uint(table, summary->live_bytes);
    tide_table_uint(table, summary->live_blocks);
    tide_table_uint(table, summary->temporary_calls);
    tide_table_uint(table, summary->temporary_bytes);
}

static void add_summaries(struct writer *writer)
{
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "summary", 16);
    for (int space = 0; space < TIDE_SPACES; space++) {
        tide_table_text(&table, tide_space_name((enum tide_space)space));
        add_summary(&table, &writer->what->model->summary[space]);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

static void add_moment(const struct writer *writer, struct tide_table *table,
                       uint64_t ticks)
{
    tide_table_real(table, tide_trace_seconds(writer->trace, ticks));
}

static void add_processes(struct writer *writer)
{
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "processes", 7);
    for (size_t i = 0; i < writer->trace->process_count; i++) {
        const struct tide_process *const process = &writer->trace->processes[i];
        tide_table_uint(&table, i);
        tide_table_uint(&table, process->pid);
        tide_table_uint(&table, process->ppid);
        tide_table_text(&table, process->exe);
        add_moment(writer, &table, process->begin_ticks);
        if (process->ended)
            add_moment(writer, &table, process->end_ticks);
        else
            tide_table_null(&table);
        tide_table_uint(&table, process->rss_peak);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

static void add_threads(struct writer *writer)
{
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "threads", 4);
    for (size_t i = 0; i < writer->trace->thread_count; i++) {
        const struct tide_thread *const thread = &writer->trace->threads[i];
        tide_table_uint(&table, thread->process);
        tide_table_uint(&table, thread->tid);
        tide_table_text(&table, thread->name);
        add_moment(writer, &table, thread->ticks);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

static void add_modules(struct writer *writer)
{
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "modules", 3);
    for (size_t i = 0; i < writer->trace->module_count; i++) {
        tide_table_uint(&table, i);
        tide_table_text(&table, writer->trace->modules[i].path);
        tide_table_text(&table, writer->trace->modules[i].build_id);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

static void add_resident(struct writer *writer)
{
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "rss", 3);
    for (size_t i = 0; i < writer->trace->rss_count; i++) {
        tide_table_uint(&table, writer->trace->rss[i].process);
        add_moment(writer, &table, writer->trace->rss[i].ticks);
        tide_table_uint(&table, writer->trace->rss[i].bytes);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

/* --- Stacks ------------------------------------------------------------------------ */

/* A row for each function of FRAME: those that were inlined come first. */
static void add_frame(struct writer *writer, struct tide_table *table, uint32_t frame)
{
    const struct tide_model *const model = writer->what->model;
    const struct tide_frame *const about = &model->stacks.frames[frame];
    const struct tide_symbols symbols = tide_frame_symbols(model, frame);
    writer->frame_rows[frame] = writer->frame_count + 1;
    for (uint32_t i = 0; i < symbols.count; i++) {
        const struct tide_symbol *const symbol = &symbols.list[i];
        tide_table_uint(table, ++writer->frame_count);
        if (about->module < writer->trace->module_count)
            tide_table_uint(table, about->module);
        else
            tide_table_null(table);
        tide_table_uint(table, about->value);
        tide_text_clear(&writer->name);
        tide_frame_name(&writer->name, model, frame, symbol);
        tide_table_text(table, writer->name.bytes);
        tide_table_text(table, symbol->file);
        tide_table_known(table, symbol->line);
        tide_table_uint(table, symbol->inlined);
        tide_table_row(table);
    }
}

/* The tables that a stack goes to. */
struct stack_tables {
    struct tide_table frames, stack_frames;
};

static void add_stack(struct writer *writer, struct stack_tables *tables,
                      uint32_t stack)
{
    const struct tide_model *const model = writer->what->model;
    uint64_t position = 0;
    for (uint32_t node = tide_frame_outside(model, stack); node;
         node = tide_frame_outside(model, model->stacks.nodes[node].parent)) {
        const uint32_t frame = model->stacks.nodes[node].frame;
        const uint32_t symbols = tide_frame_symbols(model, frame).count;
        if (!writer->frame_rows[frame])
            add_frame(writer, &tables->frames, frame);
        for (uint32_t i = 0; i < symbols; i++) {
            tide_table_uint(&tables->stack_frames, stack);
            tide_table_uint(&tables->stack_frames, position++);
            tide_table_uint(&tables->stack_frames, writer->frame_rows[frame] + i);
            tide_table_row(&tables->stack_frames);
        }
    }
}

static void add_stacks(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    struct stack_tables tables;
    tide_table_begin(&tables.frames, &writer->tables, "frames", 7);
    tide_table_begin(&tables.stack_frames, &writer->tables, "stack_frames", 3);
    for (size_t i = 0; i < model->site_count && !writer->tables.failed; i++) {
        const uint32_t stack = model->sites[i].stack;
        if (stack >= model->stacks.node_count || writer->stacks_done[stack])
            continue;
        writer->stacks_done[stack] = true;
        add_stack(writer, &tables, stack);
    }
    tide_table_end(&tables.frames);
    tide_table_end(&tables.stack_frames);
}

static void add_sites(struct writer *writer)
{
    const struct tide_model *const model = writer->what->model;
    struct tide_table table;
    tide_table_begin(&table, &writer->tables, "sites", 15);
    for (size_t i = 0; i < model->site_count && !writer->tables.failed; i++) {
        const struct tide_site *const site = &model->sites[i];
        tide_table_uint(&table, i);
        tide_table_uint(&table, site->stack);
        tide_table_text(&table, tide_space_name((enum tide_space)site->space));
        tide_table_uint(&table, site->calls);
        tide_table_uint(&table, site->bytes);
        tide_table_uint(&table, site->freed_calls);
        tide_table_uint(&table, site->freed_bytes);
        tide_table_uint(&table, site->temporary_calls);
        tide_table_uint(&table, site->temporary_bytes);
        tide_table_uint(&table, (uint64_t)site->live_blocks);
        tide_table_uint(&table, (uint64_t)site->live_bytes);
        tide_table_uint(&table, (uint64_t)site->peak_blocks);
        tide_table_uint(&table, (uint64_t)site->peak_bytes);
        add_moment(writer, &table, site->first_ticks);
        add_moment(writer, &table, site->last_ticks);
        tide_table_row(&table);
    }
    tide_table_end(&table);
}

/* --- Blocks ------------------------------------------------------------------------ */

struct block_writer {
    struct writer *writer;
    struct tide_table table;
};

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct block_writer *const blocks = user;
    const struct writer *const writer = blocks->writer;
    struct tide_table *const table = &blocks->table;
    if (death && !writer->what->all)
        return TIDE_OK;
    tide_table_uint(table, life->id);
    tide_table_text(table, tide_space_name((enum tide_space)life->space));
    tide_table_text(table, tide_life_kind(life));
    tide_table_uint(table, life->process);
    tide_table_known(table, life->tid);
    tide_table_uint(table, life->address);
    tide_table_uint(table, life->size);
    tide_table_uint(table, life->usable);
    tide_table_uint(table, life->left);
    add_moment(writer, table, life->birth_ticks);
    if (death)
        add_moment(writer, table, death->ticks);
    else
        tide_table_null(table);
    tide_table_known(table, death ? death->tid : 0);
    tide_table_known(table, life->moved_from);
    tide_table_text(table, life->label ? tide_trace_name(writer->trace, life->process,
                                                         life->label - 1)
                                       : NULL);
    tide_table_uint(table, life->stack);
    tide_table_row(table);
    return writer->tables.failed;
}

static enum tide_status add_blocks(struct writer *writer)
{
    struct block_writer blocks = {.writer = writer};
    const struct tide_block_watch watch = {.user = &blocks, .block = on_block};
    tide_table_begin(&blocks.table, &writer->tables, "blocks", 15);
    const enum tide_status status =
        tide_block_stream(writer->what->model, &watch, &writer->what->progress);
    tide_table_end(&blocks.table);
    return status;
}

static enum tide_status add_all(struct writer *writer)
{
    tide_tables_run(&writer->tables, SCHEMA);
    add_meta(writer);
    add_summaries(writer);
    add_processes(writer);
    add_threads(writer);
    add_modules(writer);
    add_resident(writer);
    add_stacks(writer);
    add_sites(writer);
    const enum tide_status status =
        writer->tables.failed ? writer->tables.failed : add_blocks(writer);
    if (!status)
        tide_tables_run(&writer->tables, VIEWS);
    return status;
}

enum tide_status tide_export_sqlite(const char *path, const struct tide_export *what,
                                    struct tide_text *why)
{
    const struct tide_stacks *const stacks = &what->model->stacks;
    struct writer writer = {.what = what, .trace = what->model->trace};
    enum tide_status status = TIDE_ENOMEM;
    writer.frame_rows = calloc((size_t)stacks->frame_count + 1, sizeof(uint64_t));
    writer.stacks_done = calloc((size_t)stacks->node_count + 1, sizeof(bool));
    if (writer.frame_rows && writer.stacks_done) {
        tide_tables_open(&writer.tables, path, why);
        status = add_all(&writer);
        const enum tide_status closed = tide_tables_close(&writer.tables);
        if (!status)
            status = closed;
    }
    free(writer.frame_rows);
    free(writer.stacks_done);
    tide_text_release(&writer.name);
    return status;
}
