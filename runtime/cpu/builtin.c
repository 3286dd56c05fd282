/* builtin.c - functions that compiled programs leave to the system: vprintf, malloc, free, __assertfail
 * (CUDA Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation", "Assertion").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/memory.h"
#include "runtime/cpu/print.h"

enum { TEXT_LIMIT = 64 << 20, STRING_LIMIT = CPU_PRINT_STRING_LIMIT };

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

static bool reserve(cpu_text *text, size_t length)
{
    if (length <= text->capacity - text->length)
        return true;
    size_t capacity = text->capacity ? text->capacity * 2 : 4096;
    while (capacity < text->length + length)
        capacity *= 2;
    char *grown = realloc(text->data, capacity);
    if (!grown)
        return false;
    text->data = grown;
    text->capacity = capacity;
    return true;
}

/* What does not fit is lost, and everything after it: the text is cut, not thinned out. */
void cpu_text_append(cpu_text *text, const char *data, size_t length)
{
    if (length == 0)
        return;
    if (text->lost || length > TEXT_LIMIT - text->length || !reserve(text, length)) {
        text->lost += length;
        return;
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

static uint64_t take_argument(void *user, uint32_t bytes)
{
    return take(user, bytes);
}

static const char *take_string(void *user, uint64_t address)
{
    cursor *c = user;
    return device_string(c->w, c->lane, address);
}

static void append_text(void *user, const char *data, size_t length)
{
    cursor *c = user;
    cpu_text_append(&c->w->context->text, data, length);
}

static void print(cpu_warp *w, uint32_t lane, uint64_t format, uint64_t arguments)
{
    cursor c = {w, lane, arguments};
    const cpu_print source = {&c, take_argument, take_string, append_text};
    cpu_print_format(&source, device_string(w, lane, format));
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
