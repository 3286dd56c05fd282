/* json_path.c - see json_path.h. A scanner over valid JSON that skips values without building them. */
#include "runtime/json_path.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 64 };

const char *json_path_text(const json_step *step, char *buffer, size_t size)
{
    const json_step *chain[MAX_STEPS];
    int n = 0;
    for (; step && step->parent && n < MAX_STEPS; step = step->parent)
        chain[n++] = step;
    size_t used = (size_t)snprintf(buffer, size, "$");
    while (n-- > 0 && used < size) {
        if (chain[n]->key)
            used += (size_t)snprintf(buffer + used, size - used, ".%.80s", chain[n]->key);
        else
            used += (size_t)snprintf(buffer + used, size - used, "[%zu]", chain[n]->index);
    }
    return buffer;
}

typedef struct scanner {
    const char *text, *at, *end;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static void skip_string(scanner *s)
{
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
        if (*s->at == '\\' && s->at + 1 < s->end)
            s->at++;
    if (s->at < s->end)
        s->at++;
}

/* Skips one value: brackets are counted, strings jumped over. No recursion, so depth costs nothing. */
static void skip_value(scanner *s)
{
    int depth = 0;
    skip_blanks(s);
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            skip_string(s);
        } else {
            if (depth == 0 && (c == ',' || c == '}' || c == ']'))
                return;
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
            s->at++;
        }
        if (depth == 0 && (c == '"' || c == '}' || c == ']'))
            return;
    }
}

/* Compares a JSON string that starts at s->at with a key. Keys with escapes never match: ours have none. */
static bool key_is(const scanner *s, const char *key)
{
    size_t n = strlen(key);
    return (size_t)(s->end - s->at) >= n + 2 && s->at[0] == '"' && memcmp(s->at + 1, key, n) == 0 &&
           s->at[n + 1] == '"';
}

static bool enter_member(scanner *s, const char *key, const char **key_at)
{
    for (s->at++;;) {
        skip_blanks(s);
        if (s->at >= s->end || *s->at != '"')
            return false;
        bool found = key_is(s, key);
        *key_at = s->at;
        skip_string(s);
        skip_blanks(s);
        s->at += s->at < s->end; /* ':' */
        skip_blanks(s);
        if (found)
            return true;
        skip_value(s);
        skip_blanks(s);
        s->at += s->at < s->end; /* ',' or '}' */
    }
}

static bool enter_element(scanner *s, size_t index)
{
    s->at++;
    for (size_t i = 0; i < index; i++) {
        skip_value(s);
        skip_blanks(s);
        if (s->at >= s->end || *s->at++ != ',')
            return false;
    }
    skip_blanks(s);
    return s->at < s->end && *s->at != ']';
}

bool json_path_locate(const char *text, size_t length, const json_step *step, bool at_key, uint32_t *line,
                      uint32_t *column)
{
    const json_step *chain[MAX_STEPS];
    int n = 0;
    for (; step && step->parent && n < MAX_STEPS; step = step->parent)
        chain[n++] = step;
    scanner s = {text, text, text + length};
    skip_blanks(&s);
    while (n-- > 0) {
        const char *key_at = NULL;
        char open = chain[n]->key ? '{' : '[';
        if (s.at >= s.end || *s.at != open)
            return false;
        if (!(chain[n]->key ? enter_member(&s, chain[n]->key, &key_at) : enter_element(&s, chain[n]->index)))
            return false;
        if (n == 0 && at_key && key_at)
            s.at = key_at;
    }
    *line = *column = 1;
    for (const char *p = text; p < s.at; p++) {
        *line += *p == '\n';
        *column = *p == '\n' ? 1 : *column + 1;
    }
    return true;
}
