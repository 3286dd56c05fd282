/* text.h - PTX text as it grows. */
#ifndef CONFORM_TEXT_H
#define CONFORM_TEXT_H

#include "conformance/conform.h"

typedef struct conform_text { char *data; size_t length, room; bool failed; } conform_text;

/* Appends as printf does. When memory ends, the rest is dropped and conform_text_end says so. */
void conform_add(conform_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, freed with free(); NULL: no memory. */
char *conform_text_end(conform_text *t);

enum { CONFORM_REGISTER = 8 };
/* The case's instruction; element e lies in register names[e], or "%e<e>" when names is NULL. */
void conform_add_instruction(conform_text *t, const conform_case *c, const char (*names)[CONFORM_REGISTER]);

#endif
