/* view/calls.c - calls of a stack, as all views write them. */
#include "view/calls.h"

#include "view/report_text.h"

void tide_page_call(struct tide_page *page, const struct tide_paths *paths,
                    const struct tide_call *call)
{
    const int room = tide_page_left(page);
    const int wanted = tide_place_columns(call->file, call->line, page->style);
    const int place = wanted > room * 2 / 5 ? room * 2 / 5 : wanted;
    tide_page_function(page, TIDE_INK_BOLD, paths->functions[call->function].name,
                       place > 0 ? room - place - 2 : room);
    if (place > 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_place(page, call->file, call->line, tide_page_left(page));
    }
}

static void add_call(struct tide_json *json, const struct tide_paths *paths,
                     const struct tide_call *call)
{
    const struct tide_function *const function = &paths->functions[call->function];
    tide_json_open_row(json, NULL);
    tide_json_string(json, "function", function->name);
    tide_json_string(json, "module", function->module);
    tide_json_string(json, "file", call->file);
    if (call->file && call->line)
        tide_json_uint(json, "line", call->line);
    else
        tide_json_null(json, "line");
    tide_json_close(json);
}

void tide_json_calls(struct tide_json *json, const char *key, struct tide_paths *paths,
                     uint32_t stack)
{
    if (tide_paths_walk(paths, stack))
        json->out->failed = true;
    tide_json_open(json, key, '[');
    for (size_t i = 0; i < paths->call_count; i++)
        add_call(json, paths, &paths->calls[i]);
    tide_json_close(json);
}
