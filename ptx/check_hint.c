/* check_hint.c - what was probably meant: the nearest mnemonic, the modifiers that could stand there.
 *
 * Only called for messages that will be kept, so its cost (a pass over the table) is bounded.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 32 };

/* Edit distance, with `limit` for anything not smaller. */
static uint32_t distance(const char *a, uint32_t na, const char *b, uint32_t nb, uint32_t limit)
{
    uint32_t row[LONGEST_WORD + 1];
    if (na > LONGEST_WORD || nb > LONGEST_WORD)
        return limit;
    for (uint32_t j = 0; j <= nb; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            uint32_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            uint32_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < moved ? changed : moved;
        }
    }
    return row[nb] < limit ? row[nb] : limit;
}

static uint32_t word_length(const char *text, uint32_t length)
{
    const char *dot = memchr(text, '.', length);
    return dot ? (uint32_t)(dot - text) : length;
}

void ptx_hint_mnemonic(ptx_parser *p, const char *text, uint32_t length, ptx_location at)
{
    uint32_t n = word_length(text, length), best = n / 2 + 1;
    const char *nearest = NULL;
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const char *m = isa_forms[i].mnemonic;
        if (i && strcmp(m, isa_forms[i - 1].mnemonic) == 0)
            continue;
        uint32_t d = distance(text, n, m, (uint32_t)strlen(m), best);
        if (d < best) {
            best = d;
            nearest = m;
        }
    }
    int shown = n > 40 ? 40 : (int)n;
    if (nearest)
        PTX_FAULT(p, at, "'%.*s' is not an instruction; did you mean '%s'?", shown, text, nearest);
    else
        PTX_FAULT(p, at, "'%.*s' is not an instruction", shown, text);
}

/* ------------------------------------------------------------ modifiers */

typedef struct words { const char *start[ISA_MAX_TOKENS]; uint32_t length[ISA_MAX_TOKENS]; uint32_t n; } words;

static void split(const char *text, uint32_t length, words *out)
{
    uint32_t at = word_length(text, length);
    out->n = 0;
    while (at < length && out->n < ISA_MAX_TOKENS) {
        uint32_t n = word_length(text + at + 1, length - at - 1);
        out->start[out->n] = text + at + 1;
        out->length[out->n++] = n;
        at += n + 1;
    }
}

static bool is_choice(const isa_group *g, const char *text, uint32_t length)
{
    for (uint32_t c = 0; c < g->count; c++)
        if (strlen(g->choices[c]) == length && memcmp(g->choices[c], text, length) == 0)
            return true;
    return false;
}

static bool is_in_form(const isa_form *form, const char *text, uint32_t length)
{
    for (uint32_t g = 0; g < form->ngroups; g++)
        if (is_choice(&form->groups[g], text, length))
            return true;
    return false;
}

static uint32_t words_in_form(const isa_form *form, const words *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++)
        n += is_in_form(form, w->start[i], w->length[i]);
    return n;
}

static void append(char *buffer, size_t size, const char *text)
{
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, "%s", text);
}

static void list_choices(const isa_group *g, char *buffer, size_t size)
{
    for (uint32_t c = 0; c < g->count && c < 24; c++) {
        append(buffer, size, " .");
        append(buffer, size, g->choices[c]);
    }
}

/* The group with the alternative nearest to an unknown word, in the form that has most of the other words. */
static const isa_group *nearest_group(const isa_form *forms, uint32_t n, const words *w, uint32_t unknown)
{
    const isa_group *best_group = NULL;
    uint32_t best = UINT32_MAX, length = w->length[unknown], limit = length / 2 + 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t missing = w->n - words_in_form(&forms[i], w);
        for (uint32_t g = 0; g < forms[i].ngroups; g++)
            for (uint32_t c = 0; c < forms[i].groups[g].count; c++) {
                const char *choice = forms[i].groups[g].choices[c];
                uint32_t d = distance(w->start[unknown], length, choice, (uint32_t)strlen(choice), limit);
                uint32_t score = 16 * missing + d;
                if (d < limit && d < length && score < best) {
                    best = score;
                    best_group = &forms[i].groups[g];
                }
            }
    }
    return best_group;
}

/* All first alternatives that forms of this mnemonic offer, when nothing is near. */
static void list_all(const isa_form *forms, uint32_t n, char *buffer, size_t size)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < n && shown < 16; i++)
        for (uint32_t g = 0; g < forms[i].ngroups && shown < 16; g++)
            for (uint32_t c = 0; c < forms[i].groups[g].count && shown < 16; c++) {
                char word[LONGEST_WORD + 8];
                snprintf(word, sizeof word, " .%s", forms[i].groups[g].choices[c]);
                size_t found = strlen(word);
                const char *hit = strstr(buffer, word);
                if (hit && (hit[found] == ' ' || hit[found] == 0))
                    continue;
                append(buffer, size, word);
                shown++;
            }
}

static const isa_form *best_form(const isa_form *forms, uint32_t n, const words *w)
{
    const isa_form *best = &forms[0];
    for (uint32_t i = 1; i < n; i++)
        if (words_in_form(&forms[i], w) > words_in_form(best, w))
            best = &forms[i];
    return best;
}

/* The first group of the form that must be chosen and is not. */
static const isa_group *missing_group(const isa_form *form, const words *w)
{
    for (uint32_t g = 0; g < form->ngroups; g++) {
        bool found = form->groups[g].optional;
        for (uint32_t i = 0; i < w->n && !found; i++)
            found = is_choice(&form->groups[g], w->start[i], w->length[i]);
        if (!found)
            return &form->groups[g];
    }
    return NULL;
}

void ptx_hint_modifiers(ptx_parser *p, const char *text, uint32_t length, ptx_location at)
{
    words w;
    uint32_t first, nm = word_length(text, length), n = isa_forms_of(text, nm, &first);
    const isa_form *forms = &isa_forms[first];
    char expected[320] = "";
    split(text, length, &w);
    for (uint32_t i = 0; i < w.n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n && !known; k++)
            known = is_in_form(&forms[k], w.start[i], w.length[i]);
        if (known)
            continue;
        const isa_group *group = nearest_group(forms, n, &w, i);
        if (group)
            list_choices(group, expected, sizeof expected);
        else
            list_all(forms, n, expected, sizeof expected);
        ptx_location word_at = {at.line, at.column + (uint32_t)(w.start[i] - text) - 1};
        PTX_FAULT(p, word_at, "'.%.*s' is not a modifier of %.*s%s%s", w.length[i] > 40 ? 40 : (int)w.length[i],
                  w.start[i], (int)nm, text, expected[0] ? "; expected" : ", which has none", expected);
        return;
    }
    const isa_form *form = best_form(forms, n, &w);
    const isa_group *group = missing_group(form, &w);
    if (group && words_in_form(form, &w) == w.n) {
        list_choices(group, expected, sizeof expected);
        PTX_FAULT(p, at, "%.*s lacks a modifier; expected%s%s", length > 80 ? 80 : (int)length, text,
                  group->count > 1 ? " one of" : "", expected);
    } else {
        PTX_FAULT(p, at, "these modifiers do not go together; the nearest form is %s", form->pattern);
    }
}
