/* builtin.c - functions that compiled programs leave to the system: vprintf, malloc, free, __assertfail
 * (CUDA Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation", "Assertion").
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/memory.h"

enum { TEXT_LIMIT = 64 << 20, STRING_LIMIT = 1 << 16 };

cpu_builtin cpu_builtin_of(const char *name)
{
    static const struct { const char *name; cpu_builtin builtin; } known[] = {
        {"vprintf", CPU_B_VPRINTF}, {"malloc", CPU_B_MALLOC}, {"free", CPU_B_FREE}, {"__assertfail", CPU_B_ASSERTFAIL},
        {"__assert_fail", CPU_B_ASSERTFAIL}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k].name) == 0)
            return known[k].builtin;
    return CPU_B_NONE;
}

void cpu_text_append(cpu_text *text, const char *data, size_t length)
{
    if (length == 0 || text->length + length > TEXT_LIMIT)
        return;
    if (text->length + length > text->capacity) {
        size_t capacity = text->capacity ? text->capacity * 2 : 4096;
        while (capacity < text->length + length)
            capacity *= 2;
        char *grown = realloc(text->data, capacity);
        if (!grown)
            return;
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, data, length);
    text->length += length;
}

static uint64_t argument(cpu_warp *w, const cpu_insn *i, uint32_t k, uint32_t lane)
{
    const cpu_call *call = i->extra;
    const cpu_passed *a = &call->args[k];
    uint64_t v = 0;
    if (k >= call->nargs)
        return 0;
    if (a->in_register)
        return a->class == CPU_CLASS_PRED ? 0 : cpu_get(w->frame->r + i->o[a->index], a->class, lane);
    memcpy(&v, (const void *)(uintptr_t)(w->local_base + lane * w->local_stride + w->frame->local_base + a->offset),
           a->bytes < 8 ? a->bytes : 8);
    return v;
}

static void give_result(cpu_warp *w, const cpu_insn *i, uint32_t lane, uint64_t v)
{
    const cpu_call *call = i->extra;
    if (call->nreturns == 0)
        return;
    const cpu_passed *a = &call->returns[0];
    if (a->in_register && a->class != CPU_CLASS_PRED)
        cpu_put(w->frame->r + i->o[a->index], a->class, lane, v);
    else if (!a->in_register)
        memcpy((void *)(uintptr_t)(w->local_base + lane * w->local_stride + w->frame->local_base + a->offset), &v,
               a->bytes < 8 ? a->bytes : 8);
}

/* A NUL-terminated string in device memory: outside the arena it is an error; a guard page ends in the handler. */
static const char *device_string(cpu_warp *w, uint32_t lane, uint64_t address)
{
    w->addresses[lane] = address;
    w->access_bytes = STRING_LIMIT;
    if (address - w->arena > w->arena_limit - STRING_LIMIT)
        cpu_raise(w, CPU_FAULT_ADDRESS, lane, address, "a string at 0x%llx, which is outside device memory", (unsigned long long)address);
    return (const char *)(uintptr_t)address;
}

/* ------------------------------------------------------------ vprintf */

/* Arguments lie in a buffer, each aligned to its own size (int 4; long, double and pointers 8). */
typedef struct cursor { cpu_warp *w; uint32_t lane; uint64_t at; } cursor;

static uint64_t take(cursor *c, uint32_t bytes)
{
    uint64_t v = 0;
    c->at = (c->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    c->w->addresses[c->lane] = c->at;
    c->w->access_bytes = bytes;
    if (c->at - c->w->arena > c->w->arena_limit - bytes)
        cpu_raise(c->w, CPU_FAULT_ADDRESS, c->lane, c->at, "printf arguments at 0x%llx, which is outside device memory",
                  (unsigned long long)c->at);
    memcpy(&v, (const void *)(uintptr_t)c->at, bytes);
    c->at += bytes;
    return v;
}

static void emit(cpu_text *text, const char *spec, ...)
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
        cpu_text_append(text, out, (size_t)length);
    if (out != small)
        free(out);
    va_end(again);
    va_end(args);
}

/* A width or precision: digits, or '*' for an argument. Kept within what a string may have. */
static int number(cursor *c, const char **f)
{
    int64_t n = 0;
    if (**f == '*') {
        (*f)++;
        n = (int32_t)take(c, 4);
    } else
        for (; isdigit((unsigned char)**f); (*f)++)
            n = n > STRING_LIMIT ? n : n * 10 + (**f - '0');
    return (int)(n > STRING_LIMIT ? STRING_LIMIT : n < -STRING_LIMIT ? -STRING_LIMIT : n);
}

/* One conversion, from behind the '%'; returns where the format goes on. */
static const char *convert(cursor *c, cpu_text *text, const char *f)
{
    char spec[64] = "%";
    size_t n = 1;
    uint32_t longs = 0;
    int width, precision = -1;
    for (; *f && strchr("-+ #0", *f); f++)
        if (n < 8)
            spec[n++] = *f;
    width = number(c, &f);
    if (*f == '.') {
        f++;
        precision = number(c, &f);
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
        cpu_text_append(text, "%", 1);
        return f;
    }
    if (strchr("diouxX", kind)) {
        bool sign = kind == 'd' || kind == 'i';
        uint64_t v = take(c, longs ? 8 : 4);
        memcpy(spec + n, "ll", 2);
        spec[n + 2] = kind;
        spec[n + 3] = 0;
        emit(text, spec, (long long)(longs ? (int64_t)v : sign ? (int64_t)(int32_t)v : (int64_t)(uint32_t)v));
    } else if (strchr("fFeEgGaA", kind)) {
        uint64_t v = take(c, 8);
        double x;
        memcpy(&x, &v, 8);
        spec[n] = kind;
        spec[n + 1] = 0;
        emit(text, spec, x);
    } else if (kind == 'c') {
        spec[n] = 'c';
        spec[n + 1] = 0;
        emit(text, spec, (int)take(c, 4));
    } else if (kind == 'p') {
        uint64_t v = take(c, 8);
        spec[n] = 'p';
        spec[n + 1] = 0;
        emit(text, spec, (void *)(uintptr_t)v);
    } else if (kind == 's') {
        uint64_t v = take(c, 8);
        const char *s = v ? device_string(c->w, c->lane, v) : "(null)";
        spec[n] = 's';
        spec[n + 1] = 0;
        if (n == 1) {
            cpu_text_append(text, s, strnlen(s, STRING_LIMIT));
            return f;
        }
        emit(text, spec, s);
    }
    return f;
}

static void print(cpu_warp *w, uint32_t lane, uint64_t format, uint64_t arguments)
{
    cpu_text *text = &w->context->text;
    const char *f = device_string(w, lane, format);
    cursor c = {w, lane, arguments};
    while (*f) {
        const char *end = strchr(f, '%');
        size_t plain = end ? (size_t)(end - f) : strlen(f);
        cpu_text_append(text, f, plain);
        f += plain;
        if (end)
            f = convert(&c, text, f + 1);
    }
}

void cpu_builtin_call(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_call *call = i->extra;
    cpu_device *d = w->context->worker->device;
    CPU_FOR_LANES(lane, mask)
        switch (call->builtin) {
        case CPU_B_VPRINTF:
            print(w, lane, argument(w, i, 0, lane), argument(w, i, 1, lane));
            give_result(w, i, lane, 0);
            break;
        case CPU_B_MALLOC:
            give_result(w, i, lane, cpu_heap_alloc(d, argument(w, i, 0, lane)));
            break;
        case CPU_B_FREE: {
            uint64_t address = argument(w, i, 0, lane);
            if (!cpu_heap_free(d, address))
                cpu_raise(w, CPU_FAULT_ADDRESS, lane, address, "free of 0x%llx, which malloc did not give", (unsigned long long)address);
            break;
        }
        case CPU_B_ASSERTFAIL: {
            const char *message = device_string(w, lane, argument(w, i, 0, lane));
            const char *file = device_string(w, lane, argument(w, i, 1, lane));
            unsigned line = (unsigned)argument(w, i, 2, lane);
            cpu_raise(w, CPU_FAULT_TRAP, lane, 0, "assertion `%.200s` failed (%.200s:%u)", message, file, line);
        }
        case CPU_B_NONE:
            break;
        }
}
