/* lexer.h - PTX text to tokens.
 *
 * One token is read ahead. Nothing is allocated and nothing is copied: a token points into the
 * text, which ends in PTX_TEXT_PADDING zero bytes, so that eight bytes may be read anywhere in it.
 */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include <stdbool.h>
#include <stdint.h>
#include "ptx/module.h"

enum { PTX_TEXT_PADDING = 16 };

/* Single characters are their own kind: ',' ';' '{' … */
typedef enum ptx_token_kind {
    PTX_TOKEN_END = 0,
    PTX_TOKEN_NAME = 128,          /* identifier, also %register and _ */
    PTX_TOKEN_WORD,                /* .word, the dot included in the text; `::` may be inside */
    PTX_TOKEN_INT,
    PTX_TOKEN_FLOAT,
    PTX_TOKEN_STRING,
    PTX_TOKEN_SHL, PTX_TOKEN_SHR, PTX_TOKEN_LE, PTX_TOKEN_GE, PTX_TOKEN_EQ, PTX_TOKEN_NE,
    PTX_TOKEN_ANDAND, PTX_TOKEN_OROR,
    PTX_TOKEN_BAD                  /* text that is no token; message says why */
} ptx_token_kind;

typedef struct ptx_token {
    const char *start;
    uint32_t length;
    uint32_t line, column;
    ptx_token_kind kind;
    bool is_unsigned;              /* INT: U suffix, or too large for s64 */
    bool is_single;                /* FLOAT written 0f…: value holds 32 bits; else the 64 bits of a double */
    uint64_t value;
    const char *message;           /* BAD */
} ptx_token;

typedef struct ptx_lexer {
    const char *cursor, *end;
    const char *line_start;
    uint32_t line;
} ptx_lexer;

void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t length);
void ptx_lexer_next(ptx_lexer *lexer, ptx_token *token);

/* Reads a token again as a number: the word ".5" where an expression is expected. */
void ptx_lexer_number(ptx_lexer *lexer, ptx_token *token);

/* Extends a NAME that is followed by dots without white space to a whole opcode: add -> add.rn.f32. */
void ptx_lexer_opcode(ptx_lexer *lexer, ptx_token *token);

/* Moves to the end of the line; for @@DWARF lines. */
void ptx_lexer_skip_line(ptx_lexer *lexer);

static inline ptx_location ptx_token_at(const ptx_token *token)
{
    return (ptx_location){token->line, token->column};
}

#endif
