/* print.c - conversions of printf, one by one through the C library's: a width or precision is first read out of the format,
 * so that only checked specifications get there.
 */
#include "runtime/cpu/print.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void emit(const cpu_print *p, const char *spec, ...)
{
    char small[512], *out = small;
    va_list args, again;
    va_start(args, spec);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, spec, args);
    if (length >= (int)sizeof small) {
        out = malloc((size_t)length + 1);
        if (out)
            length = vsnprintf(out, (size_t)length + 1, spec, again);
    }
    if (out && length > 0)
        p->append(p->user, out, (size_t)length);
    if (out != small)
        free(out);
    va_end(again);
    va_end(args);
}

/* A width or precision: digits, or '*' for an argument. Kept within what a string may have. */
static int number(const cpu_print *p, const char **f)
{
    int64_t n = 0;
    if (**f == '*') {
        (*f)++;
        n = (int32_t)p->take(p->user, 4);
    } else
        for (; isdigit((unsigned char)**f); (*f)++)
            n = n > CPU_PRINT_STRING_LIMIT ? n : n * 10 + (**f - '0');
    return (int)(n > CPU_PRINT_STRING_LIMIT ? CPU_PRINT_STRING_LIMIT : n < -CPU_PRINT_STRING_LIMIT ? -CPU_PRINT_STRING_LIMIT : n);
}

/* One conversion, from behind the '%'; returns where the format goes on. */
static const char *convert(const cpu_print *p, const char *f)
{
    char spec[64] = "%";
    size_t n = 1;
    uint32_t longs = 0;
    int width, precision = -1;
    for (; *f && strchr("-+ #0", *f); f++)
        if (n < 8)
            spec[n++] = *f;
    width = number(p, &f);
    if (*f == '.') {
        f++;
        precision = number(p, &f);
    }
    if (width < 0 && n < 8)
        spec[n++] = '-';
    if (width)
        n += (size_t)snprintf(spec + n, 16, "%d", abs(width));
    if (precision >= 0)
        n += (size_t)snprintf(spec + n, 16, ".%d", precision);
    for (; *f && strchr("hlLjzt", *f); f++)
        longs += *f == 'l' || *f == 'j' || *f == 'z' || *f == 't' ? 1 : 0;
    if (!*f)
        return f;
    char kind = *f++;
    spec[n] = 0;
    if (kind == '%') {
        p->append(p->user, "%", 1);
        return f;
    }
    if (strchr("diouxX", kind)) {
        bool sign = kind == 'd' || kind == 'i';
        uint64_t v = p->take(p->user, longs ? 8 : 4);
        memcpy(spec + n, "ll", 2);
        spec[n + 2] = kind;
        spec[n + 3] = 0;
        emit(p, spec, (long long)(longs ? (int64_t)v : sign ? (int64_t)(int32_t)v : (int64_t)(uint32_t)v));
    } else if (strchr("fFeEgGaA", kind)) {
        uint64_t v = p->take(p->user, 8);
        double x;
        memcpy(&x, &v, 8);
        spec[n] = kind;
        spec[n + 1] = 0;
        emit(p, spec, x);
    } else if (kind == 'c') {
        spec[n] = 'c';
        spec[n + 1] = 0;
        emit(p, spec, (int)p->take(p->user, 4));
    } else if (kind == 'p') {
        uint64_t v = p->take(p->user, 8);
        spec[n] = 'p';
        spec[n + 1] = 0;
        emit(p, spec, (void *)(uintptr_t)v);
    } else if (kind == 's') {
        uint64_t v = p->take(p->user, 8);
        const char *s = v ? p->string(p->user, v) : "(null)";
        spec[n] = 's';
        spec[n + 1] = 0;
        if (n == 1) {
            p->append(p->user, s, strnlen(s, CPU_PRINT_STRING_LIMIT));
            return f;
        }
        emit(p, spec, s);
    }
    return f;
}

void cpu_print_format(const cpu_print *p, const char *f)
{
    while (*f) {
        const char *end = strchr(f, '%');
        size_t plain = end ? (size_t)(end - f) : strlen(f);
        p->append(p->user, f, plain);
        f += plain;
        if (end)
            f = convert(p, f + 1);
    }
}
