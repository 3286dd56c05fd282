/* lexer.c - see lexer.h. PTX ISA, "Syntax": comments, identifiers, constants. */
#include "ptx/lexer.h"

#include <stdlib.h>
#include <string.h>

/* Classes of characters, as bits. */
enum { C_NAME = 1, C_START = 2, C_DIGIT = 4, C_HEX = 8, C_BLANK = 16, C_DOT = 32 };

#define L (C_NAME | C_START)
#define H (C_NAME | C_START | C_HEX)
#define D (C_NAME | C_DIGIT | C_HEX)
static const uint8_t classes[256] = {
    ['\t'] = C_BLANK, ['\r'] = C_BLANK, ['\v'] = C_BLANK, ['\f'] = C_BLANK, [' '] = C_BLANK,
    ['$'] = L, ['_'] = L, ['.'] = C_DOT,
    ['0'] = D, ['1'] = D, ['2'] = D, ['3'] = D, ['4'] = D, ['5'] = D, ['6'] = D, ['7'] = D, ['8'] = D, ['9'] = D,
    ['A'] = H, ['B'] = H, ['C'] = H, ['D'] = H, ['E'] = H, ['F'] = H, ['G'] = L, ['H'] = L, ['I'] = L, ['J'] = L,
    ['K'] = L, ['L'] = L, ['M'] = L, ['N'] = L, ['O'] = L, ['P'] = L, ['Q'] = L, ['R'] = L, ['S'] = L, ['T'] = L,
    ['U'] = L, ['V'] = L, ['W'] = L, ['X'] = L, ['Y'] = L, ['Z'] = L,
    ['a'] = H, ['b'] = H, ['c'] = H, ['d'] = H, ['e'] = H, ['f'] = H, ['g'] = L, ['h'] = L, ['i'] = L, ['j'] = L,
    ['k'] = L, ['l'] = L, ['m'] = L, ['n'] = L, ['o'] = L, ['p'] = L, ['q'] = L, ['r'] = L, ['s'] = L, ['t'] = L,
    ['u'] = L, ['v'] = L, ['w'] = L, ['x'] = L, ['y'] = L, ['z'] = L,
};
#undef L
#undef H
#undef D

static inline bool is(const char *p, uint32_t class)
{
    return classes[(unsigned char)*p] & class;
}

void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t length)
{
    *lexer = (ptx_lexer){.cursor = text, .end = text + length, .line_start = text, .line = 1};
}

static void new_line(ptx_lexer *lexer, const char *after)
{
    lexer->line++;
    lexer->line_start = after;
}

/* Skips a C comment; false when it does not end. */
static bool skip_comment(ptx_lexer *lexer)
{
    const char *p = lexer->cursor + 2;
    for (; p < lexer->end; p++) {
        if (*p == '\n')
            new_line(lexer, p + 1);
        if (*p == '*' && p[1] == '/') {
            lexer->cursor = p + 2;
            return true;
        }
    }
    lexer->cursor = lexer->end;
    return false;
}

void ptx_lexer_skip_line(ptx_lexer *lexer)
{
    const char *eol = memchr(lexer->cursor, '\n', (size_t)(lexer->end - lexer->cursor));
    lexer->cursor = eol ? eol : lexer->end;
}

static void begin(ptx_lexer *lexer, ptx_token *token, ptx_token_kind kind)
{
    token->start = lexer->cursor;
    token->line = lexer->line;
    token->column = (uint32_t)(lexer->cursor - lexer->line_start) + 1;
    token->kind = kind;
}

static void finish(ptx_lexer *lexer, ptx_token *token, const char *end)
{
    token->length = (uint32_t)(end - token->start);
    lexer->cursor = end;
}

static void bad(ptx_lexer *lexer, ptx_token *token, const char *end, const char *message)
{
    token->kind = PTX_TOKEN_BAD;
    token->message = message;
    finish(lexer, token, end);
}

/* Blanks, line ends, comments and line directives of a preprocessor. False at an unterminated comment. */
static bool skip_blanks(ptx_lexer *lexer, ptx_token *token)
{
    for (;;) {
        const char *p = lexer->cursor;
        while (is(p, C_BLANK))
            p++;
        lexer->cursor = p;
        if (*p == '\n') {
            lexer->cursor++;
            new_line(lexer, p + 1);
        } else if (*p == '/' && p[1] == '/') {
            ptx_lexer_skip_line(lexer);
        } else if (*p == '/' && p[1] == '*') {
            begin(lexer, token, PTX_TOKEN_BAD);
            if (!skip_comment(lexer)) {
                bad(lexer, token, token->start + 2, "this comment does not end");
                lexer->cursor = lexer->end;
                return false;
            }
        } else if (*p == '#') {
            ptx_lexer_skip_line(lexer);
        } else {
            return true;
        }
    }
}

static uint32_t digit_value(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* Hexadecimal digits of an exact number, e.g. the 8 of 0f3F800000; NULL when there are not just so many. */
static const char *exact_hex(const char *p, int digits, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, p++) {
        if (!is(p, C_HEX))
            return NULL;
        *value = *value << 4 | digit_value(*p);
    }
    return is(p, C_NAME) ? NULL : p;
}

static void lex_float_bits(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = token->start;
    token->is_single = (p[1] | 32) == 'f';
    token->kind = PTX_TOKEN_FLOAT;
    const char *end = exact_hex(p + 2, token->is_single ? 8 : 16, &token->value);
    if (end) {
        finish(lexer, token, end);
        return;
    }
    for (end = p + 2; is(end, C_NAME);)
        end++;
    bad(lexer, token, end,
        token->is_single ? "0f is followed by 8 hexadecimal digits" : "0d is followed by 16 hexadecimal digits");
}

/* Decimal floating point: 1.5 5. .5 1e3. The text is copied since strtod needs an end. */
static void lex_decimal_float(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = token->start;
    while (is(p, C_DIGIT))
        p++;
    if (*p == '.')
        p++;
    while (is(p, C_DIGIT))
        p++;
    if ((*p | 32) == 'e') {
        const char *e = p + 1;
        if (*e == '+' || *e == '-')
            e++;
        if (is(e, C_DIGIT)) {
            while (is(e, C_DIGIT))
                e++;
            p = e;
        }
    }
    char buffer[512];
    size_t length = (size_t)(p - token->start);
    if (length >= sizeof buffer) {
        bad(lexer, token, p, "a number of more than 511 characters");
        return;
    }
    if (is(p, C_NAME)) {
        while (is(p, C_NAME))
            p++;
        bad(lexer, token, p, "malformed number");
        return;
    }
    memcpy(buffer, token->start, length);
    buffer[length] = 0;
    double value = strtod(buffer, NULL);
    token->kind = PTX_TOKEN_FLOAT;
    token->is_single = false;
    memcpy(&token->value, &value, sizeof value);
    finish(lexer, token, p);
}

static void lex_integer(ptx_lexer *lexer, ptx_token *token, const char *p, uint32_t base)
{
    const char *first = p;
    uint64_t value = 0;
    bool too_large = false;
    for (; is(p, C_HEX) && digit_value(*p) < base; p++) {
        uint64_t next = value * base + digit_value(*p);
        too_large |= value > UINT64_MAX / base || next < value * base;
        value = next;
    }
    bool empty = p == first && base != 8;
    bool u = *p == 'U';
    if (u)
        p++;
    if (empty || is(p, C_NAME)) {
        while (is(p, C_NAME))
            p++;
        bad(lexer, token, p, "malformed number");
        return;
    }
    if (too_large)
        value = UINT64_MAX;        /* as ptxas has it: the largest number, wrapped into the type later */
    token->kind = PTX_TOKEN_INT;
    token->is_unsigned = u || value > INT64_MAX;
    token->value = value;
    finish(lexer, token, p);
}

void ptx_lexer_number(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = token->start;
    if (*p == '0') {
        int second = p[1] | 32;
        if (second == 'x') {
            lex_integer(lexer, token, p + 2, 16);
            return;
        }
        if (second == 'f' || second == 'd') {
            lex_float_bits(lexer, token);
            return;
        }
        if (second == 'b') {
            lex_integer(lexer, token, p + 2, 2);
            return;
        }
    }
    const char *q = p;
    while (is(q, C_DIGIT))
        q++;
    if (*q == '.' || (*q | 32) == 'e')
        lex_decimal_float(lexer, token);
    else
        lex_integer(lexer, token, *p == '0' ? p + 1 : p, *p == '0' ? 8 : 10);
}

static void lex_string(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = token->start + 1;
    while (p < lexer->end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < lexer->end && p[1] != '\n' ? 2 : 1;
    if (p < lexer->end && *p == '"')
        finish(lexer, token, p + 1);
    else
        bad(lexer, token, p, "this string does not end");
}

/* After the dot of a word: name characters and `::`. */
static const char *word_end(const char *p)
{
    for (;;) {
        while (is(p, C_NAME))
            p++;
        if (p[0] == ':' && p[1] == ':' && is(p + 2, C_NAME))
            p += 2;
        else
            return p;
    }
}

static ptx_token_kind two_characters(const char *p)
{
    switch (*p) {
    case '<': return p[1] == '<' ? PTX_TOKEN_SHL : p[1] == '=' ? PTX_TOKEN_LE : '<';
    case '>': return p[1] == '>' ? PTX_TOKEN_SHR : p[1] == '=' ? PTX_TOKEN_GE : '>';
    case '=': return p[1] == '=' ? PTX_TOKEN_EQ : '=';
    case '!': return p[1] == '=' ? PTX_TOKEN_NE : '!';
    case '&': return p[1] == '&' ? PTX_TOKEN_ANDAND : '&';
    default: return p[1] == '|' ? PTX_TOKEN_OROR : '|';
    }
}

static void lex_other(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = token->start;
    switch (*p) {
    case '"':
        token->kind = PTX_TOKEN_STRING;
        lex_string(lexer, token);
        return;
    case '<': case '>': case '=': case '!': case '&': case '|':
        token->kind = two_characters(p);
        finish(lexer, token, p + (token->kind >= 128 ? 2 : 1));
        return;
    case ',': case ';': case '{': case '}': case '[': case ']': case '(': case ')': case ':': case '@':
    case '+': case '-': case '*': case '/': case '%': case '~': case '^': case '?': case '.':
        token->kind = (ptx_token_kind)*p;
        finish(lexer, token, p + 1);
        return;
    default:
        bad(lexer, token, p + 1, "a character that PTX does not have");
        return;
    }
}

void ptx_lexer_next(ptx_lexer *lexer, ptx_token *token)
{
    if (!skip_blanks(lexer, token))
        return;
    begin(lexer, token, PTX_TOKEN_NAME);
    const char *p = lexer->cursor;
    if (is(p, C_START) || (*p == '%' && is(p + 1, C_NAME))) {
        do
            p++;
        while (is(p, C_NAME));
        finish(lexer, token, p);
    } else if (*p == '.' && is(p + 1, C_NAME)) {
        token->kind = PTX_TOKEN_WORD;
        finish(lexer, token, word_end(p + 1));
    } else if (is(p, C_DIGIT)) {
        ptx_lexer_number(lexer, token);
    } else if (p >= lexer->end) {
        token->kind = PTX_TOKEN_END;
        finish(lexer, token, p);
    } else {
        lex_other(lexer, token);
    }
}

void ptx_lexer_opcode(ptx_lexer *lexer, ptx_token *token)
{
    const char *p = lexer->cursor;
    while (*p == '.' && is(p + 1, C_NAME))
        p = word_end(p + 1);
    finish(lexer, token, p);
}
