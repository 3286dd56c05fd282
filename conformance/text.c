/* text.c - see text.h. */
#include "conformance/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void conform_add(conform_text *t, const char *format, ...)
{
    va_list args;
    while (!t->failed) {
        va_start(args, format);
        int n = vsnprintf(t->data ? t->data + t->length : NULL, t->room - t->length, format, args);
        va_end(args);
        if (n < 0 || t->length + (size_t)n < t->room) {
            t->length += n < 0 ? 0 : (size_t)n;
            return;
        }
        const size_t room = 2 * t->room + (size_t)n + 256;
        char *more = realloc(t->data, room);
        t->failed = more == NULL;
        if (more) {
            t->data = more;
            t->room = room;
        }
    }
}

char *conform_text_end(conform_text *t)
{
    char *data = t->data;
    if (t->failed) {
        free(data);
        data = NULL;
    }
    *t = (conform_text){0};
    return data;
}
