/* inspect_html.c - an inspection as one HTML file that needs nothing else: a strip of phases and epilogues, epilogues as blocks, and the
 * statements of whatever is clicked. Its content security policy forbids anything from outside; without scripts all of it is shown.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/inspect_phases.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#1c1c1c;background:#fff;max-width:90rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.2rem;margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem;overflow-wrap:anywhere}"
    "h3{font-size:1.05rem}h4{font-size:.95rem;margin-bottom:.2rem}"
    "table{border-collapse:collapse;margin:.6rem 0;display:block;overflow-x:auto}"
    "th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #e4e4e4;vertical-align:top}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "code,pre{font:12.5px/1.45 ui-monospace,monospace}pre{background:#f5f5f3;padding:.6rem .8rem;overflow:auto;max-height:36rem}"
    "button{font:inherit;color:inherit;cursor:pointer;text-align:left}"
    ".strip{display:flex;height:3.2rem;margin:1rem 0;overflow-x:auto}"
    ".strip button{border:0;border-right:1px solid #fff;padding:0;min-width:13px;overflow:hidden;font-size:10px;text-align:center}"
    ".phase{background:hsl(var(--hue) 55% 45%);color:#fff}.epilogue{background:#dedbd2}"
    ".blocks{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.5rem}"
    ".blocks button{border:1px solid #d8d4c8;border-radius:4px;background:#faf9f6;padding:.4rem .6rem;font-size:13px;line-height:1.35}"
    ".blocks b{display:block}.blocks small{color:#666;display:block}"
    "button.on{outline:3px solid #c7541a;outline-offset:-3px}"
    ".grid td{border:1px solid #e4e4e4;text-align:center;padding:.1rem .4rem;min-width:1.4rem}";

/* A click shows the statements of one phase or epilogue and hides the others. */
static const char script[] =
    "addEventListener('DOMContentLoaded',()=>{const all=[...document.querySelectorAll('.segment')];"
    "const show=id=>{for(const s of all)s.hidden=s.id!==id;"
    "for(const b of document.querySelectorAll('[data-show]'))b.classList.toggle('on',b.dataset.show===id)};"
    "show('');document.addEventListener('click',e=>{const b=e.target.closest('[data-show]');if(!b)return;show(b.dataset.show);"
    "document.getElementById(b.dataset.show).scrollIntoView({block:'nearest'})})});";

static void put(FILE *f, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc((unsigned char)*text < 0x20 ? '?' : *text, f);
        }
}

/* ------------------------------------------------------------ strip and blocks */

/* Widths are logarithms: an epilogue of six thousand statements stands beside one of seven. */
static double width_of(uint32_t statements)
{
    return 1 + log2(1 + (double)statements);
}

static void write_strip(FILE *f, const inspection *x, uint32_t number)
{
    char range[32], name[900];
    fputs("<div class=strip>\n", f);
    for (uint32_t e = 0; e < x->epilogues.count; e++) {
        const pti_epilogue *q = &x->epilogues.list[e];
        if (q->end > q->first) {
            fprintf(f, "<button class=epilogue data-show=\"f%u-E%u\" style=\"flex:%.2f\" title=\"E%u, %s: ", number, e, width_of(q->end - q->first), e,
                    range_text(q->first, q->end - 1, range));
            put(f, epilogue_name(x, e, name, sizeof name));
            fprintf(f, "\">E%u</button>\n", e);
        }
        if (e == x->phases.count)
            break;
        const pti_phase *p = &x->phases.list[e];
        fprintf(f, "<button class=phase data-show=\"f%u-P%u\" style=\"flex:%.2f;--hue:%u\" title=\"P%u, %s: M %u, N %u, K %u, %u mma\">P%u</button>\n",
                number, e + 1, width_of(p->nmma), p->group * 137 % 360, e + 1, range_text(p->first, p->last, range), p->M, p->N, p->K, p->nmma, e + 1);
    }
    fputs("</div>\n", f);
}

static void write_blocks(FILE *f, const inspection *x, uint32_t number)
{
    char range[32], name[900];
    fputs("<div class=blocks>\n", f);
    for (uint32_t e = 0; e < x->epilogues.count; e++) {
        const pti_epilogue *q = &x->epilogues.list[e];
        if (q->end == q->first)
            continue;
        fprintf(f, "<button data-show=\"f%u-E%u\"><b>E%u</b>", number, e, e);
        put(f, epilogue_name(x, e, name, sizeof name));
        fprintf(f, "<small>%s, %u statements, shape %012" PRIx64, range_text(q->first, q->end - 1, range), q->end - q->first, q->shape & 0xffffffffffff);
        if (q->like != e)
            fprintf(f, " as E%u", q->like);
        fputs("</small></button>\n", f);
    }
    fputs("</div>\n", f);
}

/* ------------------------------------------------------------ what a click shows */

static void write_statements(FILE *f, const inspection *x, uint32_t first, uint32_t end)
{
    char small[512], *text = small;
    fputs("<pre>", f);
    for (uint32_t i = first; i < end; i++) {
        size_t n = pti_statement_text(&x->statements, i, small, sizeof small);
        text = small;
        if (n >= sizeof small && (text = malloc(n + 1)))
            pti_statement_text(&x->statements, i, text, n + 1);
        fprintf(f, "s%-6u L%-6u ", i + 1, x->statements.list[i].first_line);
        put(f, text ? text : small);
        fputc('\n', f);
        if (text != small)
            free(text);
    }
    fputs("</pre>\n", f);
}

/* Tiles as a grid: how many slices of k each adds up. */
static void write_grid(FILE *f, const pti_phase *p, uint32_t product)
{
    const pti_product *q = &p->products[product];
    uint32_t cells = q->rows * q->columns, *steps;
    if (q->rows > 64 || q->columns > 64 || !(steps = calloc(cells, sizeof *steps)))
        return;
    for (uint32_t i = 0; i < p->nmma; i++)
        if (p->mma[i].product == product)
            steps[p->mma[i].row * q->columns + p->mma[i].column]++;
    fprintf(f, "<p>M %u, N %u, K %u: %u×%u tiles; in each how many instructions add up</p>\n<table class=grid><tbody>\n", q->M, q->N, q->K, q->rows,
            q->columns);
    for (uint32_t i = 0; i < q->rows; i++) {
        fputs("<tr>", f);
        for (uint32_t j = 0; j < q->columns; j++)
            fprintf(f, "<td>%u</td>", steps[i * q->columns + j]);
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table>\n", f);
    free(steps);
}

static void write_phase(FILE *f, const inspection *x, uint32_t number, uint32_t p)
{
    const pti_phase *q = &x->phases.list[p];
    report r = {.f = f, .style = REPORT_HTML};
    char range[32], text[1600];
    fprintf(f, "<section class=segment id=\"f%u-P%u\">\n", number, p + 1);
    report_heading(&r, 3, "P%u: %s", p + 1, range_text(q->first, q->last, range));
    report_item(&r, "%u %s", q->nmma, phase_opcode(x, p));
    for (uint32_t i = p * PTI_ROLES; i < (p + 1) * PTI_ROLES; i++) {
        report_item(&r, "%c: %s", "ABC"[i % PTI_ROLES], source_text(x, &x->sources[i], text, sizeof text));
        if (x->stored[i].nstores)
            report_item(&r, "%c, %s", "ABC"[i % PTI_ROLES], stored_text(x, &x->stored[i], text, sizeof text));
    }
    report_end(&r);
    for (uint32_t i = 0; i < q->nproducts && i < 8; i++)
        write_grid(f, q, i);
    write_statements(f, x, q->first, q->last + 1);
    fputs("</section>\n", f);
}

static void write_epilogue(FILE *f, const inspection *x, uint32_t number, uint32_t e)
{
    const pti_epilogue *q = &x->epilogues.list[e];
    report r = {.f = f, .style = REPORT_HTML};
    char range[32];
    if (q->end == q->first)
        return;
    fprintf(f, "<section class=segment id=\"f%u-E%u\">\n", number, e);
    report_heading(&r, 3, "E%u: %s", e, range_text(q->first, q->end - 1, range));
    for (uint32_t i = 0; i < q->nguesses; i++)
        report_item(&r, "%s: %s", q->guesses[i].name, q->guesses[i].evidence);
    report_end(&r);
    write_statements(f, x, q->first, q->end);
    fputs("</section>\n", f);
}

/* ------------------------------------------------------------ the page */

static void write_function(FILE *f, const inspection *x, uint32_t number)
{
    report r = {.f = f, .style = REPORT_HTML};
    report_heading(&r, 2, "%s %s", x->function->is_entry ? "Entry" : "Function", x->function->name);
    report_paragraph(&r, "%u statements, %u instructions, %u phases. The strip is the text from its first statement to its last: phases in colour, one "
                         "colour for those that go on with the same accumulators. A click on a phase or a block shows its statements.",
                     x->statements.count, x->function->ninsns, x->phases.count);
    if (x->function->why)
        report_paragraph(&r, "It cannot be run: line %u: %s.", x->function->why->at.line, x->function->why->message);
    write_strip(f, x, number);
    for (uint32_t e = 0; e < x->epilogues.count; e++) {
        write_epilogue(f, x, number, e);
        if (e < x->phases.count)
            write_phase(f, x, number, e);
    }
    write_blocks(f, x, number);
    report_phases(&r, x);
    report_epilogues(&r, x);
    report_memory(&r, x);
    report_end(&r);
}

void write_inspection_page(FILE *f, const inspection *list, uint32_t n)
{
    const char *name = list[0].module->file ? list[0].module->file : "PTX";
    fputs("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=viewport content=\"width=device-width\">\n<title>", f);
    put(f, name);
    fprintf(f, "</title>\n<style>%s</style>\n<script>%s</script>\n</head>\n<body>\n<h1>", style, script);
    put(f, name);
    fputs("</h1>\n", f);
    for (uint32_t i = 0; i < n; i++)
        write_function(f, &list[i], i);
    fputs("</body>\n</html>\n", f);
}
