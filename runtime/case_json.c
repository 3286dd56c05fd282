/* case_json.c - strict access to JSON values, with errors that say where; see case_json.h. */
#include "runtime/case_json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pxb_status fail_v(const case_parser *p, const case_node *n, bool at_key, const char *format, va_list args)
{
    char reason[1024], path[512];
    uint32_t line = 0, column = 0;
    vsnprintf(reason, sizeof reason, format, args);
    json_path_locate(p->text, p->length, &n->step, at_key, &line, &column);
    json_path_text(&n->step, path, sizeof path);
    return rt_fail_at(p->ctx, PXB_BAD_INPUT, p->path, line, column, "%s: %s", path, reason);
}

pxb_status case_fail(const case_parser *p, const case_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_v(p, n, false, format, args);
    va_end(args);
    return PXB_BAD_INPUT;
}

static pxb_status fail_key(const case_parser *p, const case_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_v(p, n, true, format, args);
    va_end(args);
    return PXB_BAD_INPUT;
}

void case_position(const case_parser *p, const case_node *n, uint32_t *line, uint32_t *column)
{
    /* Each position costs a walk through the text: in large ones, the place of what may yet fail is left unknown. */
    if (p->length <= 256 << 10)
        json_path_locate(p->text, p->length, &n->step, false, line, column);
}

case_node case_member(const case_node *n, const char *key)
{
    return (case_node){{&n->step, key, 0}, json_object_get(n->json, key)};
}

case_node case_element(const case_node *n, size_t index)
{
    return (case_node){{&n->step, NULL, index}, json_array_get(n->json, index)};
}

static const char *type_name(const json_t *json)
{
    switch (json ? json_typeof(json) : JSON_NULL) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    case JSON_NULL: break;
    }
    return json ? "null" : "nothing";
}

pxb_status case_check_keys(const case_parser *p, const case_node *n, const char *const *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach(n->json, key, value)
    {
        bool known = false;
        for (int i = 0; keys[i] && !known; i++)
            known = strcmp(keys[i], key) == 0;
        if (!known) {
            case_node at = {{&n->step, key, 0}, value};
            char list[512] = "";
            for (int i = 0; keys[i]; i++) {
                size_t used = strlen(list);
                snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", keys[i]);
            }
            return fail_key(p, &at, "unknown key \"%.80s\"; possible here: %s", key, list);
        }
    }
    return PXB_OK;
}

pxb_status case_want(const case_parser *p, const case_node *n, json_type type, const char *what)
{
    if (n->json && json_typeof(n->json) == type)
        return PXB_OK;
    if (!n->json && n->step.parent) {
        /* Name the object in which it is missing: the value itself has no place. */
        case_node parent = {*n->step.parent, NULL};
        return case_fail(p, &parent, "key \"%s\" is missing: it gives %s", n->step.key ? n->step.key : "", what);
    }
    return case_fail(p, n, "%s is wanted here, not %s", what, type_name(n->json));
}

pxb_status case_string(const case_parser *p, const case_node *n, const char **out)
{
    pxb_status status = case_want(p, n, JSON_STRING, "a string");
    if (status)
        return status;
    /* JSON_ALLOW_NUL is off: jansson has refused \u0000. */
    *out = rt_pool_strdup(p->pool, json_string_value(n->json));
    return *out ? PXB_OK : rt_no_memory(p->ctx);
}

pxb_status case_unsigned(const case_parser *p, const case_node *n, uint64_t most, uint64_t *out)
{
    pxb_status status = case_want(p, n, JSON_INTEGER, "an integer");
    if (status)
        return status;
    json_int_t v = json_integer_value(n->json);
    if (v < 0 || (uint64_t)v > most)
        return case_fail(p, n, "%lld is out of range: 0 to %llu", (long long)v, (unsigned long long)most);
    *out = (uint64_t)v;
    return PXB_OK;
}

pxb_status case_real(const case_parser *p, const case_node *n, double *out)
{
    if (!json_is_number(n->json))
        return case_want(p, n, JSON_REAL, "a number");
    *out = json_number_value(n->json);
    return PXB_OK;
}

pxb_status case_bool(const case_parser *p, const case_node *n, bool *out)
{
    if (!json_is_boolean(n->json))
        return case_want(p, n, JSON_TRUE, "true or false");
    *out = json_is_true(n->json);
    return PXB_OK;
}

pxb_status case_choice(const case_parser *p, const case_node *n, const char *const *names, const char *what, int *out)
{
    const char *text = NULL;
    if (!n->json)
        return PXB_OK;
    pxb_status status = case_string(p, n, &text);
    if (status)
        return status;
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return PXB_OK;
        }
    }
    return case_fail(p, n, "\"%.40s\" is no %s", text, what);
}

pxb_status case_path(const case_parser *p, const case_node *n, const char **out)
{
    const char *path = NULL;
    pxb_status status = case_string(p, n, &path);
    if (status)
        return status;
    if (!path[0])
        return case_fail(p, n, "the path is empty");
    *out = path[0] == '/' ? path : rt_pool_printf(p->pool, "%s%s", p->folder, path);
    return *out ? PXB_OK : rt_no_memory(p->ctx);
}

/* ------------------------------------------------------------ integers above 2^63 */

/* The value of a decimal number of n digits; false when it is below 2^63, or has more than 64 bits. */
static bool is_large(const char *digits, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t digit = (uint64_t)(digits[i] - '0');
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return v > INT64_MAX;
}

/* Bytes of the word or string that begins here: what may hold digits without being a number of digits alone. */
static size_t word_at(const char *text, size_t length)
{
    size_t n = 1;
    if (text[0] != '"') {
        while (n < length && text[n] && strchr("0123456789.+-eE", text[n]))
            n++;
        return n;
    }
    while (n < length && text[n] != '"')
        n += text[n] == '\\' ? 2 : 1;
    return n < length ? n + 1 : length;
}

char *case_quote_large(const char *text, size_t length, size_t *out_length)
{
    size_t room = length + length / 8 + 4, used = 0;        /* two more for each 19 or more */
    char *copy = malloc(room);
    for (size_t at = 0, n; copy && at < length; at += n) {
        uint64_t v;
        n = strchr("0123456789-\"", text[at]) && text[at] ? word_at(text + at, length - at) : 1;
        const bool large = n >= 19 && is_large(text + at, n, &v);
        if (large)
            copy[used++] = '"';
        memcpy(copy + used, text + at, n);
        used += n;
        if (large)
            copy[used++] = '"';
    }
    *out_length = used;
    return copy;
}

/* ------------------------------------------------------------ elements */

bool case_integer_bits(rt_dtype dtype, int64_t value, uint64_t *bits)
{
    uint32_t n = rt_dtype_bytes(dtype) * 8;
    if (rt_dtype_is_float(dtype)) {
        *bits = case_float_bits(dtype, (double)value);
        return true;
    }
    if (rt_dtype_is_signed(dtype)) {
        if (n < 64 && (value < -((int64_t)1 << (n - 1)) || value >= (int64_t)1 << (n - 1)))
            return false;
    } else if (value < 0 || (n < 64 && value >= (int64_t)1 << n)) {
        return false;
    }
    *bits = (uint64_t)value & (n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX);
    return true;
}

uint64_t case_float_bits(rt_dtype dtype, double value)
{
    uint64_t bits = 0;
    rt_array one = {.dtype = dtype, .count = 1, .bytes = sizeof bits, .data = &bits};
    rt_array_put(&one, 0, value);
    return bits;
}

static pxb_status bits_of_string(const case_parser *p, const case_node *n, rt_dtype dtype, uint64_t *out)
{
    const char *s = json_string_value(n->json);
    uint32_t width = rt_dtype_bytes(dtype) * 8;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        char *end;
        errno = 0;
        unsigned long long v = strtoull(s + 2, &end, 16);
        bool digits = s[2] != '\0' && strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2);
        if (!digits || *end || errno || (width < 64 && v >> width))
            return case_fail(p, n, "\"%.40s\" is no %u-bit pattern", s, width);
        *out = v;
        return PXB_OK;
    }
    uint64_t large;
    if (is_large(s, strlen(s), &large)) {
        if (!rt_dtype_is_float(dtype) && (width < 64 || rt_dtype_is_signed(dtype)))
            return case_fail(p, n, "%s does not fit %s", s, rt_dtype_name(dtype));
        *out = rt_dtype_is_float(dtype) ? case_float_bits(dtype, (double)large) : large;
        return PXB_OK;
    }
    if (rt_dtype_is_float(dtype)) {
        double v = strcmp(s, "nan") == 0    ? (double)NAN
                   : strcmp(s, "inf") == 0  ? (double)INFINITY
                   : strcmp(s, "-inf") == 0 ? -(double)INFINITY
                                            : 0;
        if (v != 0) {
            *out = case_float_bits(dtype, v);
            return PXB_OK;
        }
    }
    return case_fail(p, n, "\"%.40s\" is neither \"0x…\"%s", s,
                     rt_dtype_is_float(dtype) ? " nor \"nan\", \"inf\", \"-inf\"" : "");
}

pxb_status case_element_bits(const case_parser *p, const case_node *n, rt_dtype dtype, uint64_t *out)
{
    if (json_is_string(n->json))
        return bits_of_string(p, n, dtype, out);
    if (json_is_integer(n->json)) {
        json_int_t v = json_integer_value(n->json);
        return case_integer_bits(dtype, v, out)
                   ? PXB_OK
                   : case_fail(p, n, "%lld does not fit %s", (long long)v, rt_dtype_name(dtype));
    }
    if (json_is_real(n->json) && rt_dtype_is_float(dtype)) {
        *out = case_float_bits(dtype, json_real_value(n->json));
        return PXB_OK;
    }
    return case_want(p, n, JSON_INTEGER, rt_dtype_is_float(dtype) ? "a number" : "an integer");
}
