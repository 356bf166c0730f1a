/* view/check_data.c - verdicts for programs: JSON, and JUnit's XML. */
#include <inttypes.h>

#include "view/check_view.h"
#include "view/json.h"
#include "view/names.h"
#include "view/report_json.h"
#include "view/run_words.h"

/* --- JSON ---------------------------------------------------------------------------- */

static void add_check(struct tide_json *json, const struct tide_verdict *check)
{
    struct tide_text note = {0};
    tide_json_open_row(json, NULL);
    tide_json_string(json, "name", check->name);
    tide_json_bool(json, "passed", check->passed);
    if (check->function)
        tide_json_string(json, "function", check->function);
    tide_json_string(json, "unit", check->in_bytes ? "bytes" : "count");
    tide_json_uint(json, "measured", check->measured);
    tide_json_uint(json, "limit", check->limit);
    if (check->suppressed)
        tide_json_uint(json, "suppressed", check->suppressed);
    if (check->compared)
        tide_json_uint(json, "base", check->base);
    if (check->margin)
        tide_json_uint(json, "margin", check->margin);
    if (check->may_exceed)
        tide_json_bool(json, "unsure", true);
    tide_check_note(&note, check, TIDE_UNITS_IEC);
    tide_json_string(json, "note", note.length > 0 ? note.bytes : NULL);
    tide_json_close(json);
    json->out->failed |= note.failed;
    tide_text_release(&note);
}

void tide_view_check_json(struct tide_text *out, const struct tide_check_view *view)
{
    const struct tide_model *const model = view->model;
    struct tide_json json = {.out = out};
    struct tide_text command = {0};
    tide_words_command(&command, model->trace->argv);
    tide_json_open(&json, NULL, '{');
    tide_json_string(&json, "schema", TIDE_CHECK_SCHEMA);
    tide_json_string(&json, "trace", model->trace->path);
    tide_json_string(&json, "command", command.bytes ? command.bytes : "");
    tide_json_string(&json, "baseline", view->baseline);
    tide_json_number(&json, "duration_s", model->duration_s);
    tide_json_bool(&json, "passed", view->checks->failed == 0);
    tide_json_uint(&json, "failed", view->checks->failed);
    tide_json_open(&json, "checks", '[');
    for (size_t i = 0; i < view->checks->count; i++)
        add_check(&json, &view->checks->list[i]);
    tide_json_close(&json);
    tide_json_honesty(&json, model);
    tide_json_close(&json);
    tide_text_release(&command);
}

/* --- JUnit --------------------------------------------------------------------------- */

/* RAW as the value of an attribute or as text. */
static void add_xml(struct tide_text *out, const char *raw)
{
    struct tide_text safe = {0};
    tide_text_add_safe(&safe, raw);
    for (const char *at = safe.bytes; at && *at; at++) {
        if (*at == '&')
            tide_text_add(out, "&amp;");
        else if (*at == '<')
            tide_text_add(out, "&lt;");
        else if (*at == '>')
            tide_text_add(out, "&gt;");
        else if (*at == '"')
            tide_text_add(out, "&quot;");
        else
            tide_text_add_bytes(out, at, 1);
    }
    out->failed |= safe.failed;
    tide_text_release(&safe);
}

static void add_case(struct tide_text *out, const struct tide_check_view *view,
                     const struct tide_verdict *check)
{
    struct tide_text title = {0}, words = {0}, limit = {0};
    tide_check_title(&title, check);
    tide_check_measured(&words, check, TIDE_UNITS_IEC);
    tide_check_limit(&limit, check, TIDE_UNITS_IEC);
    if (limit.length > 0)
        tide_text_addf(&words, ", %s", limit.bytes);
    tide_check_remarks(&words, check, TIDE_UNITS_IEC);
    tide_text_add(out, "    <testcase classname=\"tidemark.");
    add_xml(out, tide_name_base(view->model->trace->path));
    tide_text_add(out, "\" name=\"");
    add_xml(out, title.bytes);
    tide_text_add(out, "\" time=\"0\"");
    if (check->passed && (check->unmet || check->may_exceed)) {
        tide_text_add(out, ">\n      <system-out>");
        add_xml(out, words.bytes);
        tide_text_add(out, "</system-out>\n    </testcase>\n");
    } else if (check->passed) {
        tide_text_add(out, "/>\n");
    } else {
        tide_text_add(out, ">\n      <failure type=\"");
        add_xml(out, check->name);
        tide_text_add(out, "\" message=\"");
        add_xml(out, words.bytes);
        tide_text_addf(out, "\">measured %" PRIu64 ", limit %" PRIu64, check->measured,
                       check->limit);
        if (check->compared)
            tide_text_addf(out, ", baseline %" PRIu64, check->base);
        tide_text_add(out, "</failure>\n    </testcase>\n");
    }
    out->failed |= title.failed || words.failed || limit.failed;
    tide_text_release(&limit);
    tide_text_release(&title);
    tide_text_release(&words);
}

void tide_view_check_junit(struct tide_text *out, const struct tide_check_view *view)
{
    const struct tide_verdicts *const checks = view->checks;
    tide_text_addf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
        "  <testsuite name=\"tidemark check\" tests=\"%zu\" failures=\"%zu\" "
        "errors=\"0\" skipped=\"0\" time=\"0\">\n",
        checks->count, checks->failed, checks->count, checks->failed);
    for (size_t i = 0; i < checks->count; i++)
        add_case(out, view, &checks->list[i]);
    tide_text_add(out, "  </testsuite>\n</testsuites>\n");
}
