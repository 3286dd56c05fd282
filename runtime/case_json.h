/* case_json.h - strict reading of a case file's JSON: what its parts share (internal to case_*.c). */
#ifndef RUNTIME_CASE_JSON_H
#define RUNTIME_CASE_JSON_H

#include <jansson.h>
#include "runtime/case.h"
#include "runtime/json_path.h"

typedef struct case_parser {
    pxb_context *ctx;
    const char *path, *folder;     /* folder ends in '/' or is empty */
    const char *text;
    size_t length;
    case_file *file;
    rt_pool *pool;
} case_parser;

/* A value and how it was reached. Nodes live on the stack of the function that reads them. */
typedef struct case_node {
    json_step step;
    json_t *json;
} case_node;

/* "case.json:3:9: error: $.grid: reason". */
pxb_status case_fail(const case_parser *p, const case_node *n, const char *format, ...) RT_PRINTF(3, 4);
void case_position(const case_parser *p, const case_node *n, uint32_t *line, uint32_t *column);

/* Member of an object; json is NULL when it is absent. */
case_node case_member(const case_node *n, const char *key);
case_node case_element(const case_node *n, size_t index);

/* Every key of the object must be in the NULL-terminated list. */
pxb_status case_check_keys(const case_parser *p, const case_node *n, const char *const *keys);
/* Required type; the message says what was wanted. */
pxb_status case_want(const case_parser *p, const case_node *n, json_type type, const char *what);
pxb_status case_string(const case_parser *p, const case_node *n, const char **out);
pxb_status case_unsigned(const case_parser *p, const case_node *n, uint64_t most, uint64_t *out);
pxb_status case_real(const case_parser *p, const case_node *n, double *out);
pxb_status case_bool(const case_parser *p, const case_node *n, bool *out);
/* Index of a string member among names; *out is left alone when the key is absent. `what` names them all. */
pxb_status case_choice(const case_parser *p, const case_node *n, const char *const *names, const char *what, int *out);
/* A path relative to the case file's folder. */
pxb_status case_path(const case_parser *p, const case_node *n, const char **out);

/* A copy of the text in which integers from 2^63 to 2^64 - 1, which jansson does not read, are strings; NULL when memory is exhausted. */
char *case_quote_large(const char *text, size_t length, size_t *out_length);

/* Bits of one element: a number, or "0x…" (bits), "nan", "inf", "-inf". */
pxb_status case_element_bits(const case_parser *p, const case_node *n, rt_dtype dtype, uint64_t *out);

/* case_source.c: the keys of a source in object n. */
pxb_status case_parse_source(const case_parser *p, const case_node *n, case_source *out);

/* case_image.c: a texture or surface, and then, when all arrays are known, whose texels it has. */
pxb_status case_parse_image(const case_parser *p, const case_node *n, case_array *out);
pxb_status case_parse_image_source(const case_parser *p, const case_node *n, case_array *out);

/* case_pointers.c */
pxb_status case_parse_pointers(const case_parser *p, const case_node *n, bool expected, case_pointers *out);

/* case_params.c */
pxb_status case_parse_params(const case_parser *p, const case_node *n, case_launch *launch);

#endif
