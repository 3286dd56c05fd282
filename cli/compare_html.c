/* compare_html.c - comparisons as one HTML file that needs nothing else: styles inside, plots as SVG, maps as PNG in
 * "data:" URLs, no scripts. Its content security policy forbids anything from outside.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/compare.h"
#include "runtime/device.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#1c1c1c;background:#fff;max-width:84rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}h3{font-size:1rem}"
    "table{border-collapse:collapse;margin:.6rem 0;display:block;overflow-x:auto}"
    "th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #e4e4e4;white-space:nowrap}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:#f5f5f3;padding:.6rem .8rem;overflow-x:auto}"
    ".yes{color:#17692c}.no{color:#a3211a;font-weight:600}.note{color:#7a5200}"
    "figure{display:inline-block;vertical-align:top;margin:.5rem 2rem 1rem 0}figcaption{color:#555;font-size:13px}"
    "img.map{image-rendering:pixelated;border:1px solid #bbb}.swatch{display:inline-block;width:.8em;height:.8em;"
    "border:1px solid #999;margin:0 .25em 0 .7em}tr.differs td{background:#fdecea}svg text{font:12px system-ui,sans-serif}";

typedef struct page {
    pxb_context *ctx;
    FILE *f;
    pxb_status status;             /* the first failure */
} page;

/* Text in an element or attribute. Control characters, which HTML forbids, become '?'. */
static void put(page *p, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", p->f); break;
        case '<': fputs("&lt;", p->f); break;
        case '>': fputs("&gt;", p->f); break;
        case '"': fputs("&quot;", p->f); break;
        default: fputc((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t' ? '?' : *text, p->f);
        }
}

static void cell(page *p, const char *text, bool number)
{
    fprintf(p->f, number ? "<td class=n>" : "<td>");
    put(p, text);
    fputs("</td>", p->f);
}

static void number_cell(page *p, uint64_t n)
{
    fprintf(p->f, "<td class=n>%" PRIu64 "</td>", n);
}

static void answer_cell(page *p, bool good, const char *text)
{
    fprintf(p->f, "<td class=%s>", good ? "yes" : "no");
    put(p, text);
    fputs("</td>", p->f);
}

/* ------------------------------------------------------------ kernels */

typedef struct kernel_row {
    const char *entry;
    uint64_t cases, outputs, elements, differing, max_ulp, different_cases;
    double ms[2];
    bool nan;
    const compared_case *traced;
} kernel_row;

static void add_case(kernel_row *k, const compared_case *c)
{
    const rt_comparison *x = &c->comparison;
    k->cases++;
    k->different_cases += !x->equal;
    for (int side = 0; side < 2 && x->sides[side]; side++)
        k->ms[side] += x->sides[side]->run_ms;
    for (uint32_t i = 0; i < x->noutputs; i++) {
        const rt_difference *d = &x->outputs[i].statistics.difference;
        if (!x->outputs[i].changed)
            continue;
        k->outputs++;
        k->elements += d->elements;
        k->differing += d->differing;
        k->nan = k->nan || rt_is_nan_distance(d, d->max_ulp);
        k->max_ulp = d->max_ulp > k->max_ulp ? d->max_ulp : k->max_ulp;
    }
    if (x->traced && x->finding->insn[0] && !k->traced)
        k->traced = c;
}

static uint32_t group(const comparison_report *r, kernel_row *rows)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->ncases; i++) {
        uint32_t k = 0;
        while (k < n && strcmp(rows[k].entry, r->cases[i].entries) != 0)
            k++;
        if (k == n)
            rows[n++] = (kernel_row){.entry = r->cases[i].entries};
        add_case(&rows[k], &r->cases[i]);
    }
    return n;
}

static void write_kernels(page *p, const comparison_report *r)
{
    kernel_row *rows = calloc((size_t)r->ncases + 1, sizeof *rows);
    if (!rows) {
        p->status = rt_no_memory(p->ctx);
        return;
    }
    uint32_t n = group(r, rows);
    fputs("<h2>Kernels</h2>\n<table id=kernels><thead><tr><th>kernel</th><th class=n>cases</th><th class=n>outputs</th>"
          "<th class=n>elements</th><th class=n>differing</th><th class=n>max ulp</th><th class=n>A ms</th><th class=n>B ms</th>"
          "<th>result</th><th>first difference</th></tr></thead><tbody>\n", p->f);
    for (uint32_t i = 0; i < n; i++) {
        char text[64], place[256] = "";
        const kernel_row *k = &rows[i];
        fputs("<tr>", p->f);
        cell(p, k->entry, false);
        number_cell(p, k->cases);
        number_cell(p, k->outputs);
        number_cell(p, k->elements);
        number_cell(p, k->differing);
        cell(p, ulp_text(k->max_ulp, k->nan, text, sizeof text), true);
        fprintf(p->f, "<td class=n>%.2f</td><td class=n>%.2f</td>", k->ms[0], k->ms[1]);
        answer_cell(p, !k->different_cases, k->different_cases ? "different" : "equal");
        cell(p, k->traced ? place_text(&k->traced->comparison, 0, place, sizeof place) : "", false);
        fputs("</tr>\n", p->f);
    }
    fputs("</tbody></table>\n", p->f);
    free(rows);
}

/* ------------------------------------------------------------ plots */

typedef struct bar { char label[32]; uint64_t count; int color; } bar;

static uint32_t bars_of(const rt_statistics *s, bar bars[RT_BINS + 2])
{
    uint32_t n = 0;
    if (s->bits_only) {
        bars[n] = (bar){"bits", s->bits_only, 0};
        n++;
    }
    for (uint32_t i = 0; i < s->nbins; i++, n++) {
        bars[n] = (bar){"", s->bins[i], (int)i};
        bin_text(i, bars[n].label, sizeof bars[n].label);
    }
    if (s->nan) {
        bars[n] = (bar){"NaN", s->nan, RT_BINS};
        n++;
    }
    return n;
}

/* Heights are logarithms, so that one element among a million is seen. */
static void write_histogram(page *p, const rt_compared *o)
{
    bar bars[RT_BINS + 2];
    uint32_t n = bars_of(&o->statistics, bars);
    const uint32_t step = n > 16 ? 30 : 56, height = 150, left = 10, width = 2 * left + n * step;
    double top = 0;
    for (uint32_t i = 0; i < n; i++)
        top = fmax(top, log10(1 + (double)bars[i].count));
    fprintf(p->f, "<figure><svg class=histogram role=img aria-label=\"histogram of distances\" width=%u height=%u viewBox=\"0 0 %u %u\">\n",
            width, height + 60, width, height + 60);
    for (uint32_t i = 0; i < n; i++) {
        char color[8];
        double h = top > 0 ? log10(1 + (double)bars[i].count) / top * height : 0;
        uint32_t x = left + i * step;
        fprintf(p->f, "<rect x=%u y=%.1f width=%u height=%.1f fill=\"%s\"><title>", x + 3, 20 + height - h, step - 6, h,
                map_color(bars[i].color, color));
        put(p, bars[i].label);
        fprintf(p->f, " ulp: %" PRIu64 "</title></rect>\n<text x=%u y=%.1f text-anchor=middle>%" PRIu64 "</text>\n", bars[i].count,
                x + step / 2, 16 + height - h, bars[i].count);
        if (n <= 16 || i % 4 == 0) {
            fprintf(p->f, "<text x=%u y=%u text-anchor=middle>", x + step / 2, height + 36);
            put(p, bars[i].label);
            fputs("</text>\n", p->f);
        }
    }
    fprintf(p->f, "<line x1=%u y1=%u x2=%u y2=%u stroke=\"#888\"/>\n</svg><figcaption>Elements by distance in ulp "
                  "(heights are logarithms)</figcaption></figure>\n", left, height + 20, width - left, height + 20);
}

static void write_legend(page *p, const rt_statistics *s)
{
    char color[8], text[64];
    fprintf(p->f, "<br><span class=swatch style=\"background:%s\"></span>equal", map_color(-1, color));
    if (s->bits_only && !s->bins[0])
        fprintf(p->f, "<span class=swatch style=\"background:%s\"></span>bits only", map_color(0, color));
    for (uint32_t i = 0; i < s->nbins; i++)
        if (s->bins[i])
            fprintf(p->f, "<span class=swatch style=\"background:%s\"></span>%s", map_color((int)i, color), bin_text(i, text, sizeof text));
    if (s->nan)
        fprintf(p->f, "<span class=swatch style=\"background:%s\"></span>NaN", map_color(RT_BINS, color));
}

static void write_map(page *p, const rt_compared *o)
{
    char *url;
    uint32_t width, height, scale;
    pxb_status status = difference_map(p->ctx, o, &url, &width, &height, &scale);
    if (status && !p->status)
        p->status = status;
    if (!url)
        return;
    uint32_t longest = width > height ? width : height, zoom = longest < 256 ? 256 / longest : 1;
    fprintf(p->f, "<figure><img class=map width=%u height=%u alt=\"map of differences of ", width * zoom, height * zoom);
    put(p, o->name);
    fprintf(p->f, "\" src=\"%s\"><figcaption>Where elements differ; a dot is ", url);
    if (scale > 1)
        fprintf(p->f, "%ux%u elements", scale, scale);
    else
        fputs("one element", p->f);
    fputs(", its worst channel where it has several", p->f);
    write_legend(p, &o->statistics);
    fputs("</figcaption></figure>\n", p->f);
    free(url);
}

/* ------------------------------------------------------------ outputs */

static void write_output_row(page *p, const rt_compared *o)
{
    const rt_difference *d = &o->statistics.difference;
    char text[128];
    fputs("<tr>", p->f);
    snprintf(text, sizeof text, "%s %.100s", case_array_kind_name(o->kind), o->name);
    cell(p, text, false);
    answer_cell(p, o->equal, o->problem ? o->problem : d->differing == 0 ? "equal" : o->equal ? "within tolerance" : "different");
    if (o->problem) {
        fputs("<td colspan=6></td>", p->f);
        cell(p, o->tolerance_text, false);
    } else {
        char element[96];
        cell(p, rt_array_describe(&o->a, text, sizeof text), false);
        number_cell(p, d->differing);
        cell(p, d->differing ? ulp_text(o->statistics.median_ulp, rt_is_nan_distance(d, o->statistics.median_ulp), text, sizeof text) : "", true);
        cell(p, d->differing ? ulp_text(d->max_ulp, rt_is_nan_distance(d, d->max_ulp), text, sizeof text) : "", true);
        snprintf(text, sizeof text, "%.3g", d->max_abs);
        cell(p, d->differing ? text : "", true);
        fputs("<td>", p->f);
        if (d->differing) {
            put(p, rt_index_text(&o->a, d->first, text, sizeof text));
            fputs(" A ", p->f);
            put(p, rt_format_text(&o->a, d->first, o->format, element, sizeof element));
            fputs(", B ", p->f);
            put(p, rt_format_text(&o->b, d->first, o->format, element, sizeof element));
        }
        fputs("</td>", p->f);
        cell(p, o->tolerance_text, false);
    }
    fputs("</tr>\n", p->f);
}

static void write_outputs(page *p, const rt_comparison *c)
{
    fputs("<table class=outputs><thead><tr><th>output</th><th>result</th><th>array</th><th class=n>differing</th><th class=n>median ulp</th>"
          "<th class=n>max ulp</th><th class=n>max abs</th><th>first difference</th><th>tolerance</th></tr></thead><tbody>\n", p->f);
    uint32_t unchanged = 0;
    for (uint32_t i = 0; i < c->noutputs; i++) {
        unchanged += !c->outputs[i].changed;
        if (c->outputs[i].changed)
            write_output_row(p, &c->outputs[i]);
    }
    fputs("</tbody></table>\n", p->f);
    if (unchanged)
        fprintf(p->f, "<p>%u arrays that neither side changed are left out.</p>\n", unchanged);
    for (uint32_t i = 0; i < c->noutputs; i++) {
        const rt_compared *o = &c->outputs[i];
        if (o->statistics.difference.differing == 0)
            continue;
        fputs("<h3>", p->f);
        put(p, o->name);
        fputs("</h3>\n", p->f);
        write_histogram(p, o);
        write_map(p, o);
    }
}

/* ------------------------------------------------------------ trace */

static void write_values(page *p, const char *what, const rt_trace_value *values, uint32_t n)
{
    if (n == 0)
        return;
    fprintf(p->f, "<table><thead><tr><th>%s</th><th>type</th><th>A</th><th>B</th></tr></thead><tbody>\n", what);
    for (uint32_t i = 0; i < n; i++) {
        char text[128];
        fputs(values[i].differs ? "<tr class=differs>" : "<tr>", p->f);
        cell(p, values[i].name, false);
        cell(p, ptx_type_name(values[i].type), false);
        cell(p, rt_trace_text(&values[i], 0, text, sizeof text), true);
        cell(p, rt_trace_text(&values[i], 1, text, sizeof text), true);
        fputs("</tr>\n", p->f);
    }
    fputs("</tbody></table>\n", p->f);
}

static void write_insn(page *p, const rt_comparison *c, int side)
{
    char text[512], place[256];
    fputs("<pre>", p->f);
    put(p, place_text(c, side, place, sizeof place));
    fputs(": ", p->f);
    put(p, insn_text(c, side, text, sizeof text));
    fputs("</pre>\n", p->f);
}

static void write_trace(page *p, const rt_comparison *c)
{
    const rt_finding *f = c->finding;
    if (!c->traced && !c->trace_problem)
        return;
    fputs("<h3>Trace</h3>\n<p class=trace>", p->f);
    if (c->trace_problem) {
        put(p, c->trace_problem);
        fputs("</p>\n", p->f);
        return;
    }
    if (!f->insn[0] && !f->insn[1]) {
        put(p, f->kind == RT_FOUND_END ? f->note : "No instruction with another result was found.");
        fputs("</p>\n", p->f);
        return;
    }
    fprintf(p->f, "%s, launch %u, block (%u,%u,%u), thread (%u,%u,%u), warp %u, lane %u, record %" PRIu64 " of the thread:</p>\n",
            f->kind == RT_FOUND_RESULT ? "First result that differs" : "The sides part", f->launch, f->block[0], f->block[1],
            f->block[2], f->thread[0], f->thread[1], f->thread[2], f->warp, f->lane, f->record);
    for (int side = 0; side < 2; side++)
        if (f->insn[side] && (side == 0 || f->insn[0] != f->insn[1]))
            write_insn(p, c, side);
    write_values(p, "operand", f->operands, f->noperands);
    write_values(p, "result", f->results, f->nresults);
    if (f->kind == RT_FOUND_RESULT) {
        fputs("<p>Cause: ", p->f);
        put(p, rt_cause_text(f->cause));
        fputs("</p>\n", p->f);
    }
    fprintf(p->f, "<p>Compared %" PRIu64 " records of %" PRIu64 " threads in %" PRIu64 " of %" PRIu64 " blocks; passed over %" PRIu64
                  " results that are addresses, clocks or races, or made of them.</p>\n", f->records, f->threads, f->blocks, f->blocks_of, f->excused);
}

/* ------------------------------------------------------------ cases */

static void write_side(page *p, const compared_case *k, int side)
{
    const rt_record_case *r = k->comparison.sides[side];
    fprintf(p->f, "<tr><td>%c</td>", "AB"[side]);
    cell(p, r->device, false);
    cell(p, rt_record_property(r, "name"), false);
    cell(p, rt_record_property(r, "driver"), false);
    fputs("<td>", p->f);
    put(p, rt_mma_model_on(r->device, r->model));
    fputs(r->mma_fast ? " (fast)</td>" : "</td>", p->f);
    cell(p, r->date, false);
    cell(p, k->sources[side] ? k->sources[side] : "ran here", false);
    answer_cell(p, r->state == RT_RECORD_DONE, r->state == RT_RECORD_DONE ? "done" : r->fault_text);
    fputs("</tr>\n", p->f);
}

static void write_case(page *p, const compared_case *k)
{
    const rt_comparison *c = &k->comparison;
    fputs("<section class=case><h2>", p->f);
    put(p, k->title);
    fputs("</h2>\n", p->f);
    if (k->problem) {
        fputs("<pre class=no>", p->f);
        put(p, k->problem);
        fputs("</pre></section>\n", p->f);
        return;
    }
    fputs("<table><thead><tr><th></th><th>device</th><th>name</th><th>driver</th><th>mma model</th><th>date</th><th>source</th>"
          "<th>end</th></tr></thead><tbody>\n", p->f);
    write_side(p, k, 0);
    write_side(p, k, 1);
    fputs("</tbody></table>\n", p->f);
    for (uint32_t i = 0; i < c->nnotes; i++) {
        fputs("<p class=note>", p->f);
        put(p, c->notes[i]);
        fputs("</p>\n", p->f);
    }
    if (c->ran && c->comparable) {
        if (!c->same_end)
            fputs("<p class=no>The launches ended differently.</p>\n", p->f);
        if (!c->same_printed)
            fputs("<p class=no>printf wrote different lines.</p>\n", p->f);
        else if (!c->same_printed_order)
            fputs("<p class=note>printf wrote the same lines in another order.</p>\n", p->f);
        write_outputs(p, c);
        write_trace(p, c);
    }
    fputs("</section>\n", p->f);
}

pxb_status write_html(pxb_context *ctx, const char *path, const comparison_report *r)
{
    char *text = NULL;
    size_t length = 0;
    page p = {.ctx = ctx, .f = open_memstream(&text, &length)};
    uint32_t equal = 0;
    if (!p.f)
        return rt_no_memory(ctx);
    for (uint32_t i = 0; i < r->ncases; i++)
        equal += r->cases[i].comparison.equal;
    fprintf(p.f, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n<meta name=viewport "
                 "content=\"width=device-width, initial-scale=1\">\n<title>ptxbridge comparison</title>\n<style>%s</style></head>\n"
                 "<body><h1>Comparison</h1>\n<p>%u of %u cases are equal (tolerance: ", style, equal, r->ncases);
    put(&p, r->tolerance);
    fprintf(p.f, "). ptxbridge %s.</p>\n", pxb_version());
    write_kernels(&p, r);
    for (uint32_t i = 0; i < r->ncases; i++)
        write_case(&p, &r->cases[i]);
    fputs("</body></html>\n", p.f);
    if (fclose(p.f) != 0 && !p.status)
        p.status = rt_no_memory(ctx);
    if (!p.status && strcmp(path, "-") == 0)
        fwrite(text, 1, length, stdout);
    else if (!p.status)
        p.status = rt_write_file(ctx, path, text, length);
    free(text);
    return p.status;
}
