/* isa_gen.c - makes everything that follows from isa.def: `isa_gen DIRECTORY` writes
 *
 *     isa_table.inc         tables for isa.c
 *     isa_meanings.inc      ISA_MEANING(id, name) in the sorted order of names
 *     isa_handlers.inc      ISA_HANDLER(name) in the same order
 *     isa_wrap_<family>.h   wrappers around the meanings of a family, see isa_gen_emit.c
 *     isa.md                the list of forms for docs/
 *
 * A meaning may be reached from several rows (selp.b32 and selp.f32); it is emitted once, and
 * rows that give one name different signatures or families end the build.
 */
#include "ptx/isa_gen.h"
#include "ptx/isa_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const isa_row rows[] = {
#define I(family, pattern, operands, meaning, ptx_version, sm, clause) \
    {__FILE__, __LINE__, #family, pattern, operands, meaning, ptx_version, sm, clause},
#include "ptx/isa.def"
#undef I
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct entry { isa_form form; const isa_row *row; uint32_t order; } entry;
static entry table[ROWS];

/* ------------------------------------------------------------ small tools */

void *gen_allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fprintf(stderr, "isa_gen: out of memory\n");
        exit(1);
    }
    return p;
}

FILE *gen_open(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f, "%s\n", strstr(name, ".md") ? "<!-- made by isa_gen from ptx/isa.def -->" : "/* made by isa_gen from ptx/isa.def */");
    return f;
}

void gen_close(FILE *f, const char *name)
{
    if (ferror(f) | fclose(f)) {
        perror(name);
        exit(1);
    }
}

/* ------------------------------------------------------------ tuples */

static bool is_lowered(const isa_form *form)
{
    return form->meaning[0] != 0 && form->meaning[0] != '@';
}

/* Groups that the meaning's name or the operands depend on. */
static uint32_t relevant_groups(const isa_form *form)
{
    uint32_t set = 0;
    for (uint32_t g = 0; g < form->ngroups; g++)
        if (form->groups[g].stride)
            set |= 1u << g;
    for (uint32_t i = 0; i < form->noperands; i++) {
        const isa_operand *o = &form->operands[i];
        if (o->type_group >= 0)
            set |= 1u << o->type_group;
        if (o->count_group >= 0)
            set |= 1u << o->count_group;
        if (o->when_group >= 0)
            set |= 1u << o->when_group;
    }
    return set;
}

static void first_tuple(const isa_form *form, isa_tuple *t)
{
    memset(t, 0, sizeof *t);
    for (uint32_t g = 0; g < form->ngroups; g++)
        t->choice[g] = form->groups[g].optional ? 0 : 1;
}

/* Steps to the next tuple over the groups of `set`; false after the last. */
static bool next_tuple(const isa_form *form, uint32_t set, isa_tuple *t)
{
    for (uint32_t g = 0; g < form->ngroups; g++) {
        if (!(set >> g & 1))
            continue;
        if (t->choice[g] < form->groups[g].count) {
            t->choice[g]++;
            return true;
        }
        t->choice[g] = form->groups[g].optional ? 0 : 1;
    }
    return false;
}

/* ------------------------------------------------------------ meanings */

static gen_meaning *meanings;
static uint32_t nmeanings, room;
static double ntuples;

static void check_name(const isa_row *row, const char *name)
{
    for (const char *p = name; *p; p++)
        if (!(*p == '_' || (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9')))
            isa_row_fault(row, "\"%s\" is no name of a function", name);
}

static void add_meaning(const isa_row *row, const isa_form *form, const isa_tuple *tuple)
{
    char name[128];
    if (!isa_meaning_name(form, tuple, name, sizeof name))
        isa_row_fault(row, "a meaning's name is too long");
    check_name(row, name);
    if (nmeanings == room) {
        room = room ? 2 * room : 1024;
        meanings = realloc(meanings, room * sizeof *meanings);
        if (!meanings)
            exit(1);
    }
    gen_meaning *m = &meanings[nmeanings++];
    m->name = strcpy(gen_allocate(strlen(name) + 1, 1), name);
    m->family = form->family;
    m->row = row;
    m->nelems = isa_signature(form, tuple, m->elems);
    if (m->nelems >= ISA_MAX_ELEMS)
        isa_row_fault(row, "a signature of %d elements or more", ISA_MAX_ELEMS);
}

static void collect(uint32_t i)
{
    const isa_form *form = &table[i].form;
    isa_tuple t;
    double n = 1;
    for (uint32_t g = 0; g < form->ngroups; g++)
        n *= form->groups[g].count + (form->groups[g].optional ? 1 : 0);
    ntuples += n;
    if (!is_lowered(form))
        return;
    for (uint32_t k = 0; k < form->noperands; k++)
        if (form->operands[k].optional)
            isa_row_fault(table[i].row, "a meaning cannot have operands that may be left out");
    uint32_t set = relevant_groups(form);
    first_tuple(form, &t);
    do
        add_meaning(table[i].row, form, &t);
    while (next_tuple(form, set, &t));
}

static int by_name(const void *a, const void *b)
{
    const gen_meaning *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->row->line > y->row->line) - (x->row->line < y->row->line);
}

static void require_same(const gen_meaning *a, const gen_meaning *b)
{
    bool same = a->nelems == b->nelems;
    for (uint32_t i = 0; same && i < a->nelems; i++)
        same = a->elems[i].role == b->elems[i].role && strcmp(gen_lane_type(a->elems[i].type), gen_lane_type(b->elems[i].type)) == 0;
    if (!same)
        isa_row_fault(b->row, "%s has another signature here than in line %d", a->name, a->row->line);
    if (strcmp(a->family, b->family) != 0)
        isa_row_fault(b->row, "%s is of another family here than in line %d", a->name, a->row->line);
}

static void sort_meanings(void)
{
    qsort(meanings, nmeanings, sizeof *meanings, by_name);
    uint32_t n = 0;
    for (uint32_t i = 0; i < nmeanings; i++) {
        if (n && strcmp(meanings[n - 1].name, meanings[i].name) == 0)
            require_same(&meanings[n - 1], &meanings[i]);
        else
            meanings[n++] = meanings[i];
    }
    nmeanings = n;
}

static uint32_t meaning_id(const char *name)
{
    gen_meaning key = {.name = name, .row = &rows[0]};
    uint32_t low = 0, high = nmeanings;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strcmp(meanings[middle].name, key.name);
        if (order == 0)
            return middle + 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* ------------------------------------------------------------ words */

static const char *words[ISA_WORD_SLOTS];
static bool is_mnemonic[ISA_WORD_SLOTS];
static uint16_t slots[ISA_WORD_SLOTS];
static uint32_t nwords = 1;

static uint16_t word_id(const char *text)
{
    uint32_t slot = isa_word_hash(text, (uint32_t)strlen(text));
    while (slots[slot] && strcmp(words[slots[slot]], text) != 0)
        slot = (slot + 1) & (ISA_WORD_SLOTS - 1);
    if (!slots[slot]) {
        if (nwords > ISA_WORD_SLOTS / 2) {
            fprintf(stderr, "isa_gen: enlarge ISA_WORD_SLOTS\n");
            exit(1);
        }
        words[nwords] = text;
        slots[slot] = (uint16_t)nwords++;
    }
    return slots[slot];
}

static bool keeps_order(const char *word)
{
    return ptx_type_from_name(word, (uint32_t)strlen(word)) != PTX_TYPE_NONE || strcmp(word, "row") == 0 || strcmp(word, "col") == 0;
}

static void collect_words(void)
{
    words[0] = "";
    for (uint32_t i = 0; i < ROWS; i++) {
        is_mnemonic[word_id(table[i].form.mnemonic)] = true;
        for (uint32_t g = 0; g < table[i].form.ngroups; g++)
            for (uint32_t c = 0; c < table[i].form.groups[g].count; c++)
                word_id(table[i].form.groups[g].choices[c]);
    }
}

static void emit_words(FILE *f)
{
    fprintf(f, "static const char *const isa_words[] = {\n");
    for (uint32_t i = 0; i < nwords; i++)
        fprintf(f, "    \"%s\",\n", words[i]);
    fprintf(f, "};\nstatic const uint8_t isa_word_lengths[] = {");
    for (uint32_t i = 0; i < nwords; i++)
        fprintf(f, "%s%zu,", i % 32 ? " " : "\n    ", strlen(words[i]));
    fprintf(f, "\n};\nstatic const bool isa_word_ordered[] = {");
    for (uint32_t i = 0; i < nwords; i++)
        fprintf(f, "%s%d,", i % 32 ? " " : "\n    ", keeps_order(words[i]));
    fprintf(f, "\n};\nstatic const uint16_t isa_word_slots[ISA_WORD_SLOTS] = {");
    for (uint32_t i = 0; i < ISA_WORD_SLOTS; i++)
        fprintf(f, "%s%u,", i % 32 ? " " : "\n    ", slots[i]);
    fprintf(f, "\n};\nstatic const mnemonic_forms isa_mnemonics[] = {\n");
    for (uint32_t w = 0; w < nwords; w++) {
        uint32_t first = 0, count = 0;
        for (uint32_t i = 0; is_mnemonic[w] && i < ROWS; i++)
            if (strcmp(table[i].form.mnemonic, words[w]) == 0 && count++ == 0)
                first = i;
        fprintf(f, "    {%u, %u},\n", first, count);
    }
    fprintf(f, "};\n");
}

/* ------------------------------------------------------------ table */

static int by_mnemonic(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->form.mnemonic, y->form.mnemonic);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static uint32_t emit_meaning_numbers(FILE *f, const isa_form *form, uint32_t base)
{
    uint32_t size = 1;
    for (uint32_t g = 0; g < form->ngroups; g++)
        if (form->groups[g].stride)
            size *= form->groups[g].count + 1u;
    uint16_t *numbers = gen_allocate(size, sizeof *numbers);
    uint32_t set = relevant_groups(form);
    isa_tuple t;
    first_tuple(form, &t);
    do {
        char name[128];
        uint32_t index = 0;
        isa_meaning_name(form, &t, name, sizeof name);
        for (uint32_t g = 0; g < form->ngroups; g++)
            index += form->groups[g].stride * t.choice[g];
        numbers[index] = (uint16_t)meaning_id(name);
    } while (next_tuple(form, set, &t));
    for (uint32_t i = 0; i < size; i++)
        fprintf(f, "%s%u,", (base + i) % 24 ? " " : "\n    ", numbers[i]);
    free(numbers);
    return size;
}

static void emit_group(FILE *f, const isa_group *g)
{
    fprintf(f, "    {\"%s\", %d, %u, (const char *const[]){", g->name, g->optional, g->count);
    for (uint32_t i = 0; i < g->count; i++)
        fprintf(f, "\"%s\",", g->choices[i]);
    fprintf(f, "}, (const char *const[]){");
    for (uint32_t i = 0; i < g->count; i++)
        fprintf(f, "\"%s\",", g->names[i]);
    fprintf(f, "}, (const uint16_t[]){");
    for (uint32_t i = 0; i < g->count; i++)
        fprintf(f, "%u,", word_id(g->choices[i]));
    fprintf(f, "}, (const uint8_t[]){");
    for (uint32_t i = 0; i < g->count; i++)
        fprintf(f, "%u,", g->types[i]);
    fprintf(f, "}, (const uint16_t[]){");
    for (uint32_t i = 0; i < g->count; i++)
        fprintf(f, "%u,", g->numbers[i]);
    fprintf(f, "}, %u},\n", g->stride);
}

static void emit_operand(FILE *f, const isa_operand *o)
{
    fprintf(f, "    {%d, %d, %d, %d, %u, %u, %d, %u, %u, %d, %d, %d, %d, %d, %d, %d, %d},\n", o->kind, o->optional, o->type, o->type_group,
            o->type_scale, o->count, o->count_group, o->count_mul, o->count_div, o->when_group, o->with_pred, o->pred_optional, o->with_index, o->map,
            o->ranged, o->low, o->high);
}

/* Words of literals that are always there, or all words that may be. */
static uint64_t words_of(const isa_form *form, bool always)
{
    uint64_t set = 0;
    for (uint32_t g = 0; g < form->ngroups; g++)
        for (uint32_t c = 0; c < form->groups[g].count; c++)
            if (!always || (!form->groups[g].optional && form->groups[g].count == 1))
                set |= 1ull << (word_id(form->groups[g].choices[c]) & 63);
    return set;
}

static void emit_forms(FILE *f)
{
    uint32_t group = 0, operand = 0, base = 0;
    fprintf(f, "static const isa_group isa_groups[] = {\n");
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t g = 0; g < table[i].form.ngroups; g++)
            emit_group(f, &table[i].form.groups[g]);
    fprintf(f, "};\nstatic const isa_operand isa_operands[] = {\n");
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < table[i].form.noperands; k++)
            emit_operand(f, &table[i].form.operands[k]);
    fprintf(f, "};\nstatic const uint16_t isa_meaning_table[] = {");
    for (uint32_t i = 0; i < ROWS; i++)
        if (is_lowered(&table[i].form)) {
            table[i].form.meaning_base = base;
            base += emit_meaning_numbers(f, &table[i].form, base);
        }
    fprintf(f, "\n    0\n};\nconst isa_form isa_forms[] = {\n");
    for (uint32_t i = 0; i < ROWS; i++) {
        const isa_form *m = &table[i].form;
        fprintf(f, "    {\"%s\", \"%s\", \"%s\", %u, %u, %u, isa_groups + %u, isa_operands + %u, \"%s\", %u, 0x%llxull, 0x%llxull, %u, %u, \"%s\"},\n", m->family,
                m->mnemonic, m->pattern, m->ngroups, m->noperands, m->nrequired, group, operand, m->meaning, m->meaning_base,
                (unsigned long long)words_of(m, true), (unsigned long long)words_of(m, false), m->ptx_version, m->sm, m->clause);
        group += m->ngroups;
        operand += m->noperands;
    }
    fprintf(f, "};\nconst uint32_t isa_form_count = sizeof isa_forms / sizeof *isa_forms;\n");
}

/* ------------------------------------------------------------ documentation */

static void emit_family(FILE *f, const char *family)
{
    fprintf(f, "\n## %s\n\n| form | operands | PTX | sm | state | clause |\n| --- | --- | --- | --- | --- | --- |\n", family);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (strcmp(table[i].form.family, family) != 0)
            continue;
        const isa_row *r = table[i].row;
        char state[160];
        if (is_lowered(&table[i].form))
            snprintf(state, sizeof state, "lowered");
        else if (r->meaning[0])
            snprintf(state, sizeof state, "operation `%s`", r->meaning);
        else
            snprintf(state, sizeof state, "not lowered");
        fprintf(f, "| `");
        for (const char *p = r->pattern; *p; p++)
            fprintf(f, *p == '|' ? "\\|" : "%c", *p);
        fprintf(f, "` | `");
        for (const char *p = r->operands; *p; p++)
            fprintf(f, *p == '|' ? "\\|" : "%c", *p);
        fprintf(f, "` | %d.%d | %d | %s | %s |\n", r->ptx_version / 10, r->ptx_version % 10, r->sm, state, r->clause);
    }
}

static void emit_docs(const char *directory)
{
    FILE *f = gen_open(directory, "isa.md");
    uint32_t lowered = 0, operations = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        lowered += is_lowered(&table[i].form);
        operations += rows[i].meaning[0] == '@';
    }
    fprintf(f, "# Instructions\n\nEvery form that the front end parses and checks: %d forms of %u families. The meanings of %u forms are "
            "functions of `ptx/lib` (\"lowered\", %u functions); %u are operations that each target writes itself; %u are parsed and "
            "checked, and a function that uses them says so when it is loaded.\n\nThe notation of forms and operands is described in "
            "`ptx/isa.h`.\n", ROWS, gen_family_count(), lowered, nmeanings, operations, ROWS - lowered - operations);
    fputs("\n## What is not lowered, and why\n\n"
          "Loading a function that holds one of these is an error that names line and instruction; the other functions of the module run.\n\n"
          "| instructions | why |\n| --- | --- |\n"
          "| `wgmma` | matrix products of four warps out of shared memory, of sm_90a alone: no later architecture has them |\n"
          "| `tcgen05` | tensor memory, a memory space that sm_100 and its kin alone have |\n"
          "| `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`, `tensormap` | "
          "tensor maps: objects of 128 bytes that the driver makes, in a format that is not published |\n"
          "| `multimem` | addresses that stand for memory of several GPUs at once |\n", f);
    for (uint32_t i = 0; i < gen_family_count(); i++)
        emit_family(f, gen_family(i));
    gen_close(f, "isa.md");
}

/* ------------------------------------------------------------ families */

static const char *families[64];
static uint32_t nfamilies;

const char *gen_family(uint32_t i) { return families[i]; }
uint32_t gen_family_count(void) { return nfamilies; }

static void collect_family(const char *name)
{
    for (uint32_t i = 0; i < nfamilies; i++)
        if (strcmp(families[i], name) == 0)
            return;
    families[nfamilies++] = name;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: isa_gen DIRECTORY\n");
        return 2;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        table[i].form = isa_read_row(&rows[i]);
        table[i].row = &rows[i];
        table[i].order = i;
        collect_family(rows[i].family);
    }
    qsort(table, ROWS, sizeof *table, by_mnemonic);
    for (uint32_t i = 0; i < ROWS; i++)
        collect(i);
    sort_meanings();
    collect_words();
    FILE *f = gen_open(argv[1], "isa_table.inc");
    emit_words(f);
    emit_forms(f);
    gen_close(f, "isa_table.inc");
    gen_emit_meanings(argv[1], meanings, nmeanings);
    emit_docs(argv[1]);
    printf("isa_gen: %d forms, %.0f tuples, %u meanings\n", ROWS, ntuples, nmeanings);
    return 0;
}
