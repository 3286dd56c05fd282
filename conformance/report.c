/* report.c - see report.h. */
#include "conformance/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILIES = 32, SHOWN = 50 };

typedef struct family { const char *name; uint32_t cases, swept, bad; uint64_t inputs; double ms; } family;

const char *conform_verdict_name(conform_verdict v)
{
    return v == CONFORM_PASSED ? "passed" : v == CONFORM_FAILED ? "failed" : "broken";
}

void conform_summarise(conform_summary *s, const char *device, const conform_result *results, uint32_t count)
{
    *s = (conform_summary){.device = device ? device : "cpu", .results = results, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        s->passed += results[i].verdict == CONFORM_PASSED;
        s->failed += results[i].verdict == CONFORM_FAILED;
        s->broken += results[i].verdict == CONFORM_BROKEN;
        s->inputs += results[i].inputs;
        s->ms += results[i].ms;
    }
}

static uint32_t by_family(const conform_summary *s, family out[FAMILIES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const conform_result *r = &s->results[i];
        uint32_t k = 0;
        while (k < n && strcmp(out[k].name, r->c->form->family) != 0)
            k++;
        if (k == n) {
            if (n == FAMILIES)
                continue;
            out[n++] = (family){.name = r->c->form->family};
        }
        out[k].cases++;
        out[k].swept += r->swept;
        out[k].bad += r->verdict != CONFORM_PASSED;
        out[k].inputs += r->inputs;
        out[k].ms += r->ms;
    }
    return n;
}

static void print_families(const conform_summary *s, FILE *to)
{
    family f[FAMILIES];
    const uint32_t n = by_family(s, f);
    fprintf(to, "%-10s %7s %9s %14s %7s %9s\n", "family", "cases", "complete", "inputs", "bad", "seconds");
    for (uint32_t i = 0; i < n; i++)
        fprintf(to, "%-10s %7u %9u %14" PRIu64 " %7u %9.2f\n", f[i].name, f[i].cases, f[i].swept, f[i].inputs, f[i].bad, f[i].ms / 1e3);
}

static void print_errors(const conform_summary *s, FILE *to)
{
    bool any = false;
    for (uint32_t i = 0; i < s->count; i++) {
        const conform_result *r = &s->results[i];
        if (r->largest_ulp <= 0)
            continue;
        if (!any)
            fprintf(to, "\nlargest errors of approximate functions:\n");
        any = true;
        fprintf(to, "  %-28s %.6g ulp at 0x%" PRIx64 "\n", r->c->name, r->largest_ulp, r->largest_at);
    }
}

void conform_print_text(const conform_summary *s, FILE *to)
{
    uint32_t shown = 0;
    print_families(s, to);
    print_errors(s, to);
    for (uint32_t i = 0; i < s->count; i++) {
        const conform_result *r = &s->results[i];
        if (r->verdict == CONFORM_PASSED || ++shown > SHOWN)
            continue;
        fprintf(to, "\n%s %s", conform_verdict_name(r->verdict), r->c->name);
        if (r->verdict == CONFORM_FAILED)
            fprintf(to, " (%" PRIu64 " results of %" PRIu64 " inputs differ)", r->differing, r->inputs);
        fprintf(to, "\n  %s\n", r->message);
    }
    if (shown > SHOWN)
        fprintf(to, "\n… and %u more\n", shown - SHOWN);
    fprintf(to, "\n%s: %u cases passed, %u failed, %u could not be run; %" PRIu64 " inputs, %.1f s\n", s->device, s->passed, s->failed,
            s->broken, s->inputs, s->ms / 1e3);
}

/* ------------------------------------------------------------ JSON */

static json_t *case_json(const conform_result *r)
{
    char text[32];
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(r->c->name));
    json_object_set_new(o, "family", json_string(r->c->form->family));
    json_object_set_new(o, "meaning", json_string(r->c->meaning));
    json_object_set_new(o, "clause", json_string(r->c->form->clause));
    json_object_set_new(o, "verdict", json_string(conform_verdict_name(r->verdict)));
    json_object_set_new(o, "inputs", json_integer((json_int_t)r->inputs));
    json_object_set_new(o, "differing", json_integer((json_int_t)r->differing));
    json_object_set_new(o, "complete", json_boolean(r->swept));
    if (r->swept) {
        snprintf(text, sizeof text, "%016" PRIx64, r->digest);
        json_object_set_new(o, "digest", json_string(text));
    }
    if (r->largest_ulp > 0) {
        snprintf(text, sizeof text, "0x%" PRIx64, r->largest_at);
        json_object_set_new(o, "largest_ulp", isinf(r->largest_ulp) ? json_string("inf") : json_real(r->largest_ulp));
        json_object_set_new(o, "largest_at", json_string(text));
    }
    if (r->message[0])
        json_object_set_new(o, "message", json_string_nocheck(r->message));
    json_object_set_new(o, "ms", json_real(r->ms));
    return o;
}

bool conform_write_json(const conform_summary *s, FILE *to)
{
    json_t *cases = json_array();
    for (uint32_t i = 0; i < s->count; i++)
        json_array_append_new(cases, case_json(&s->results[i]));
    json_t *o = json_pack("{s:s s:s s:i s:i s:i s:I s:o}", "device", s->device, "version", pxb_version(), "passed", (int)s->passed, "failed",
                          (int)s->failed, "broken", (int)s->broken, "inputs", (json_int_t)s->inputs, "cases", cases);
    bool good = o && json_dumpf(o, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    json_decref(o);
    return good && fputc('\n', to) != EOF;
}

/* ------------------------------------------------------------ JUnit and HTML */

static void escaped(const char *text, FILE *to)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<') fputs("&lt;", to);
        else if (c == '>') fputs("&gt;", to);
        else if (c == '&') fputs("&amp;", to);
        else if (c == '"') fputs("&quot;", to);
        else if (c >= 32 || c == '\n' || c == '\t') fputc(c, to);
        else fputc('?', to);
    }
}

bool conform_write_junit(const conform_summary *s, FILE *to)
{
    fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ptxbridge conform %s\" tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%.3f\">\n",
            s->device, s->count, s->failed, s->broken, s->ms / 1e3);
    for (uint32_t i = 0; i < s->count; i++) {
        const conform_result *r = &s->results[i];
        fprintf(to, "  <testcase classname=\"%s\" name=\"", r->c->form->family);
        escaped(r->c->name, to);
        fprintf(to, "\" time=\"%.6f\"", r->ms / 1e3);
        if (r->verdict == CONFORM_PASSED) {
            fputs("/>\n", to);
            continue;
        }
        fprintf(to, "><%s message=\"", r->verdict == CONFORM_FAILED ? "failure" : "error");
        escaped(r->message, to);
        fputs("\"/></testcase>\n", to);
    }
    fputs("</testsuite>\n", to);
    return !ferror(to);
}

static void html_row(const conform_result *r, FILE *to)
{
    fprintf(to, "<tr class=\"%s\"><td>", conform_verdict_name(r->verdict));
    escaped(r->c->name, to);
    fprintf(to, "</td><td>%s</td><td>%s</td><td class=n>%" PRIu64 "%s</td><td class=n>%" PRIu64 "</td><td class=n>", r->c->form->family,
            conform_verdict_name(r->verdict), r->inputs, r->swept ? " (all)" : "", r->differing);
    if (r->largest_ulp > 0)
        fprintf(to, "%.6g", r->largest_ulp);
    fputs("</td><td>", to);
    escaped(r->message, to);
    fputs("</td></tr>\n", to);
}

bool conform_write_html(const conform_summary *s, FILE *to)
{
    family f[FAMILIES];
    const uint32_t n = by_family(s, f);
    fprintf(to, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>ptxbridge conform: %s</title><style>"
                "body{font:14px system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse;margin:1em 0}"
                "td,th{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}.n{text-align:right}"
                ".failed td,.broken td{background:#fdd}label{margin-right:1em}</style></head><body>\n"
                "<h1>Conformance on %s</h1><p>%u cases passed, %u failed, %u could not be run; %" PRIu64 " inputs.</p>\n",
            s->device, s->device, s->passed, s->failed, s->broken, s->inputs);
    fputs("<table id=\"families\"><tr><th>family</th><th class=n>cases</th><th class=n>complete</th><th class=n>inputs</th><th class=n>bad</th></tr>\n", to);
    for (uint32_t i = 0; i < n; i++)
        fprintf(to, "<tr%s><td>%s</td><td class=n>%u</td><td class=n>%u</td><td class=n>%" PRIu64 "</td><td class=n>%u</td></tr>\n",
                f[i].bad ? " class=\"failed\"" : "", f[i].name, f[i].cases, f[i].swept, f[i].inputs, f[i].bad);
    fputs("</table>\n<p><label>Find <input id=\"find\" size=\"40\"></label><label><input type=\"checkbox\" id=\"bad\"> only what did not pass</label></p>\n"
          "<table id=\"cases\"><tr><th>instruction</th><th>family</th><th>verdict</th><th class=n>inputs</th><th class=n>differing</th><th class=n>largest ulp</th><th>note</th></tr>\n",
          to);
    for (uint32_t i = 0; i < s->count; i++)
        html_row(&s->results[i], to);
    fputs("</table>\n<script>\nconst rows=[...document.querySelectorAll('#cases tr')].slice(1),find=document.getElementById('find'),bad=document.getElementById('bad');\n"
          "function show(){const t=find.value.toLowerCase();for(const r of rows)r.hidden=(bad.checked&&r.className==='passed')||!r.cells[0].textContent.toLowerCase().includes(t);}\n"
          "find.oninput=bad.onchange=show;\n</script></body></html>\n", to);
    return !ferror(to);
}

/* ------------------------------------------------------------ digests */

static int by_name(const void *a, const void *b)
{
    const conform_result *const *p = a, *const *q = b;
    return strcmp((*p)->c->name, (*q)->c->name);
}

bool conform_write_digests(const conform_summary *s, FILE *to)
{
    const conform_result **sorted = malloc((s->count + 1) * sizeof *sorted);
    uint32_t n = 0;
    if (!sorted)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->results[i].swept && s->results[i].verdict == CONFORM_PASSED)
            sorted[n++] = &s->results[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < n; i++)
        fprintf(to, "%016" PRIx64 " %10" PRIu64 " %s\n", sorted[i]->digest, sorted[i]->inputs, sorted[i]->c->name);
    free(sorted);
    return !ferror(to);
}
