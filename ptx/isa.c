/* isa.c - look-ups in the generated instruction table, and the matching of modifiers.
 *
 * isa_table.inc comes from isa_gen: forms sorted by mnemonic, words (mnemonics and
 * alternatives) numbered and hashed, and for every form the numbers of its meanings in a
 * table indexed by the choices of the groups that the meaning depends on.
 */
#include "ptx/isa.h"
#include "ptx/isa_words.h"

#include <string.h>

typedef struct mnemonic_forms { uint32_t first, count; } mnemonic_forms;

#include "isa_table.inc"

const char *const isa_meaning_names[] = {
    "",
#define ISA_MEANING(id, name) #name,
#include "isa_meanings.inc"
#undef ISA_MEANING
};
const uint32_t isa_meaning_count = sizeof isa_meaning_names / sizeof *isa_meaning_names - 1;

uint16_t isa_word_id(const char *text, uint32_t length)
{
    for (uint32_t slot = isa_word_hash(text, length);; slot = (slot + 1) & (ISA_WORD_SLOTS - 1)) {
        uint16_t id = isa_word_slots[slot];
        if (id == 0 || (isa_word_lengths[id] == length && memcmp(isa_words[id], text, length) == 0))
            return id;
    }
}

uint32_t isa_forms_of(const char *mnemonic, uint32_t length, uint32_t *first)
{
    mnemonic_forms forms = isa_mnemonics[isa_word_id(mnemonic, length)];
    *first = forms.first;
    return forms.count;
}

uint32_t isa_meaning_id(const char *name)
{
    uint32_t low = 1, high = isa_meaning_count + 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strcmp(isa_meaning_names[middle], name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

uint32_t isa_meaning_of(const isa_form *form, const isa_tuple *tuple)
{
    if (form->meaning[0] == '@' || form->meaning[0] == 0)
        return 0;
    uint32_t index = form->meaning_base;
    for (uint32_t g = 0; g < form->ngroups; g++)
        index += form->groups[g].stride * tuple->choice[g];
    return isa_meaning_table[index];
}

/* ------------------------------------------------------------ matching */

typedef struct matcher {
    const isa_form *form;
    const uint16_t *words;
    uint32_t nwords;
    isa_tuple *out;
} matcher;

/* Position + 1 of a word among a group's alternatives, 0 when it is not there. */
static uint32_t choice_of(const isa_group *group, uint16_t word)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->words[i] == word)
            return i + 1;
    return 0;
}

static bool match_in_order(const matcher *m, uint32_t group, uint32_t word)
{
    if (group == m->form->ngroups)
        return word == m->nwords;
    const isa_group *g = &m->form->groups[group];
    uint32_t choice = word < m->nwords ? choice_of(g, m->words[word]) : 0;
    m->out->choice[group] = (uint8_t)choice;
    if (choice && match_in_order(m, group + 1, word + 1))
        return true;
    m->out->choice[group] = 0;
    return g->optional && match_in_order(m, group + 1, word);
}

/* Gives each word to a group that is still free; `ordered` is the group after the last one
 * that took a type or a layout: the next of these words must go to it or a later one. */
static bool match_as_set(const matcher *m, uint32_t word, uint32_t ordered)
{
    if (word == m->nwords) {
        for (uint32_t g = 0; g < m->form->ngroups; g++)
            if (!m->form->groups[g].optional && m->out->choice[g] == 0)
                return false;
        return true;
    }
    bool keeps_order = isa_word_ordered[m->words[word]];
    for (uint32_t g = keeps_order ? ordered : 0; g < m->form->ngroups; g++) {
        uint32_t choice = m->out->choice[g] ? 0 : choice_of(&m->form->groups[g], m->words[word]);
        if (choice == 0)
            continue;
        m->out->choice[g] = (uint8_t)choice;
        if (match_as_set(m, word + 1, keeps_order ? g + 1 : ordered))
            return true;
        m->out->choice[g] = 0;
    }
    return false;
}

static bool match_words(const isa_form *form, const uint16_t *words, uint32_t nwords, bool any_order, isa_tuple *out)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < nwords; i++)
        set |= 1ull << (words[i] & 63);
    if (nwords > form->ngroups || nwords < form->nrequired || (form->must & ~set) || (set & ~form->may))
        return false;
    matcher m = {form, words, nwords, out};
    if (!any_order)
        return match_in_order(&m, 0, 0);
    return match_as_set(&m, 0, 0);
}

bool isa_match(const isa_form *form, const isa_token *tokens, uint32_t ntokens, isa_tuple *out)
{
    uint16_t words[ISA_MAX_TOKENS];
    *out = (isa_tuple){{0}};
    if (ntokens > ISA_MAX_TOKENS)
        return false;
    for (uint32_t i = 0; i < ntokens; i++)
        if ((words[i] = isa_word_id(tokens[i].text, tokens[i].length)) == 0)
            return false;
    if (match_words(form, words, ntokens, false, out))
        return true;
    *out = (isa_tuple){{0}};
    return match_words(form, words, ntokens, true, out);
}

/* Splits at dots; returns the number of words or UINT32_MAX when there are too many or an unknown one. */
static uint32_t split(const char *text, uint32_t length, uint16_t words[ISA_MAX_TOKENS])
{
    uint32_t n = 0;
    for (uint32_t start = 0; start < length;) {
        const char *dot = memchr(text + start, '.', length - start);
        uint32_t end = dot ? (uint32_t)(dot - text) : length;
        if (n == ISA_MAX_TOKENS || (words[n] = isa_word_id(text + start, end - start)) == 0)
            return UINT32_MAX;
        n++;
        start = end + 1;
    }
    return n;
}

uint32_t isa_match_opcode(const char *opcode, uint32_t length, isa_candidate out[ISA_MAX_CANDIDATES], bool *known)
{
    const char *dot = memchr(opcode, '.', length);
    uint32_t stem = dot ? (uint32_t)(dot - opcode) : length, first;
    uint32_t count = isa_forms_of(opcode, stem, &first);
    *known = count != 0;
    uint16_t words[ISA_MAX_TOKENS];
    uint32_t nwords = stem < length ? split(opcode + stem + 1, length - stem - 1, words) : 0;
    if (count == 0 || nwords == UINT32_MAX)
        return 0;
    uint32_t found = 0;
    for (uint32_t any_order = 0; any_order < 2 && found == 0; any_order++)
        for (uint32_t i = first; i < first + count && found < ISA_MAX_CANDIDATES; i++) {
            out[found] = (isa_candidate){&isa_forms[i], {{0}}};
            found += match_words(&isa_forms[i], words, nwords, any_order != 0, &out[found].tuple);
        }
    return found;
}
