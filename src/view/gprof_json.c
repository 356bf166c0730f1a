/* view/gprof_json.c - functions with callers and callees, for programs. */
#include "view/gprof.h"
#include "view/report_text.h"

static double share_of(const struct tide_profile *profile, uint64_t bytes)
{
    const uint64_t total = profile->nodes[TIDE_PROFILE_ROOT].bytes;
    return total ? (double)bytes / (double)total : 0.0;
}

static void add_function(struct tide_json *json, const struct tide_profile *profile,
                         uint32_t node)
{
    const struct tide_profile_node *const about = &profile->nodes[node];
    const struct tide_function *const function =
        node == TIDE_PROFILE_ROOT ? NULL : &profile->rows->functions[about->function];
    tide_json_string(json, "function", function ? function->name : NULL);
    tide_json_uint(json, "level", about->level);
    tide_json_string(json, "module", function ? function->module : NULL);
    tide_json_string(json, "file", function ? function->file : NULL);
    if (function && function->file && function->line)
        tide_json_uint(json, "line", function->line);
    else
        tide_json_null(json, "line");
}

static void add_edge(struct tide_json *json, const struct tide_profile *profile,
                     const struct tide_profile_edge *edge, uint32_t other)
{
    tide_json_open_row(json, NULL);
    tide_json_uint(json, "rank", profile->nodes[other].rank);
    tide_json_uint(json, "bytes", edge->bytes);
    tide_json_uint(json, tide_metric_counts(profile->rows->metric), edge->calls);
    tide_json_close(json);
}

static void add_edges(struct tide_json *json, const struct tide_profile *profile,
                      const struct tide_profile_node *node)
{
    tide_json_open(json, "callers", '[');
    for (size_t i = 0; i < node->caller_count; i++) {
        const struct tide_profile_edge *const edge =
            &profile->callers[node->first_caller + i];
        add_edge(json, profile, edge, edge->caller);
    }
    tide_json_close(json);
    tide_json_open(json, "callees", '[');
    for (size_t i = 0; i < node->callee_count; i++) {
        const struct tide_profile_edge *const edge =
            &profile->callees[node->first_callee + i];
        add_edge(json, profile, edge, edge->callee);
    }
    tide_json_close(json);
}

void tide_json_profile(struct tide_json *json, const struct tide_profile *profile,
                       size_t limit)
{
    const char *const counts = tide_metric_counts(profile->rows->metric);
    for (size_t i = 0; i < profile->node_count; i++) {
        const uint32_t index = profile->order[i];
        const struct tide_profile_node *const node = &profile->nodes[index];
        if (limit > 0 && i == limit)
            break;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "rank", node->rank);
        tide_json_uint(json, "bytes", node->self_bytes);
        tide_json_uint(json, counts, node->self_calls);
        tide_json_number(json, "share", share_of(profile, node->self_bytes));
        tide_json_uint(json, "inclusive_bytes", node->bytes);
        tide_json_uint(json, "inclusive_calls", node->calls);
        tide_json_number(json, "inclusive_share", share_of(profile, node->bytes));
        tide_json_uint(json, "children_bytes", node->children_bytes);
        add_function(json, profile, index);
        add_edges(json, profile, node);
        tide_json_close(json);
    }
}
