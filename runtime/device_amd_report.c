/* device_amd_report.c - what a kernel leaves for the host: the text that it printed, and the fault that stopped it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/lib/fault.h"
#include "runtime/cpu/print.h"
#include "runtime/device_amd.h"

/* ------------------------------------------------------------ faults */

static const ptx_insn *find_insn(const ptx_module *m, uint32_t line, uint32_t column)
{
    const ptx_insn *found = NULL;
    for (uint32_t f = 0; f < m->nfunctions; f++)
        for (uint32_t i = 0; i < m->functions[f]->ninsns; i++) {
            const ptx_insn *insn = &m->functions[f]->insns[i];
            if (insn->at.line == line && (insn->at.column == column || !found))
                found = insn;
        }
    return found;
}

pxb_status amd_fault(const amd_kernel *kernel, pxb_status status, const amd_place *place, const char *format, ...)
{
    char reason[512], instruction[256] = "";
    const ptx_module *m = kernel->module->ptx;
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    const ptx_insn *insn = place->line ? find_insn(m, place->line, place->column) : NULL;
    if (insn)
        ptx_format_insn(m, insn, instruction, sizeof instruction);
    pxb_error e = {
        .status = status,
        .reason = reason,
        .file = m->file,
        .line = place->line,
        .column = place->column,
        .kernel = kernel->function->name,
        .instruction = insn ? instruction : NULL,
        .has_thread = place->has_thread,
        .has_address = place->has_address,
        .address = place->address,
    };
    memcpy(e.block, place->block, sizeof e.block);
    memcpy(e.thread, place->thread, sizeof e.thread);
    return rt_fail_with(kernel->module->device->context, &e);
}

/* A string of the device, cut at `size`; a text in brackets when it cannot be read. */
static const char *device_string(pxb_device *device, pxb_address address, char *buffer, size_t size)
{
    const amd_range *r = amd_range_of(amd_of(device), address);
    if (!r) {
        snprintf(buffer, size, "(a string at 0x%" PRIx64 ", outside of global memory)", address);
        return buffer;
    }
    size_t left = r->bytes - (size_t)(address - r->base), n = left < size - 1 ? left : size - 1;
    buffer[0] = 0;
    if (amd_of(device)->backend->read(device, buffer, address, n))
        n = 0;
    buffer[n] = 0;
    return buffer;
}

static pxb_status report_call(const amd_kernel *k, uint64_t target, const amd_place *place)
{
    const char *name, *why = amd_why_not_called(k->module, target, &name);
    if (why)
        return amd_fault(k, PXB_FAULT_CALL, place, "call of %.200s: %.300s", name, why);
    return amd_fault(k, PXB_FAULT_CALL, place, "indirect call to 0x%" PRIx64 ", which is no function", target);
}

static pxb_status report_barrier(const amd_kernel *k, unsigned id, unsigned count, unsigned other, const amd_place *place)
{
    if (id >= PXL_CLUSTER_BARRIER)
        return amd_fault(k, PXB_FAULT_DEADLOCK, place, "there is no barrier %u", id);
    if (count % 32)
        return amd_fault(k, PXB_FAULT_DEADLOCK, place, "the thread count %u of a barrier is not a multiple of the warp size", count);
    return amd_fault(k, PXB_FAULT_DEADLOCK, place, "barrier %u is waited for with different thread counts, %u and %u", id, other, count);
}

static pxb_status report(const amd_kernel *k, const pxl_fault_record *r, const amd_place *place)
{
    pxb_device *device = k->module->device;
    char message[256], file[256];
    amd_place with_address = *place;
    with_address.has_address = true;
    with_address.address = r->detail[0];
    switch (r->code) {
    case PXL_FAULT_ASSERT:
        return amd_fault(k, PXB_FAULT_TRAP, place, "assertion `%.200s` failed (%.200s:%u)",
                         device_string(device, r->detail[0], message, sizeof message),
                         device_string(device, r->detail[1], file, sizeof file), (unsigned)r->detail[2]);
    case PXL_FAULT_HANDLE:
        return amd_fault(k, PXB_FAULT_HANDLE, &with_address, "no texture or surface has the handle 0x%" PRIx64, r->detail[0]);
    case PXL_FAULT_SURFACE:
        return amd_fault(k, PXB_FAULT_ADDRESS, &with_address, "surface access of %u bytes at x = %d, outside the surface",
                         (unsigned)(r->detail[1] >> 32), (int)(uint32_t)r->detail[1]);
    case PXL_FAULT_FREE:
        return amd_fault(k, PXB_FAULT_ADDRESS, &with_address, "free of 0x%" PRIx64 ", which malloc did not give", r->detail[0]);
    case PXL_FAULT_DEADLOCK:
        return amd_fault(k, PXB_FAULT_DEADLOCK, place, "barrier %u can never complete: every thread of the block that has not ended waits",
                         (unsigned)r->detail[0]);
    case PXL_FAULT_BRX:
        return amd_fault(k, PXB_FAULT_CALL, place, "brx.idx index %u, but its list has %u labels", (unsigned)r->detail[0], (unsigned)r->detail[1]);
    case PXL_FAULT_IGNORED:
        return amd_fault(k, PXB_FAULT_ADDRESS, place, "%u and %u bytes to ignore: at most 15 may be", (unsigned)r->detail[0], (unsigned)r->detail[1]);
    case PXL_FAULT_ZEROED:
        if (r->detail[2])
            return amd_fault(k, PXB_FAULT_MISALIGNED, &with_address, "st.bulk of %" PRIu64 " bytes; size and address are multiples of 8", r->detail[1]);
        return amd_fault(k, PXB_FAULT_ADDRESS, &with_address, "st.bulk of %" PRIu64 " bytes outside of shared memory", r->detail[1]);
    case PXL_FAULT_BARRIER: return report_barrier(k, (unsigned)r->detail[0], (unsigned)r->detail[1], (unsigned)r->detail[2], place);
    case PXL_FAULT_BULK:
        if (r->detail[0] % 16 == 0)
            return amd_fault(k, PXB_FAULT_MISALIGNED, place, "a bulk copy of %u bytes, which is not a multiple of 16", (unsigned)r->detail[1]);
        return amd_fault(k, PXB_FAULT_MISALIGNED, &with_address, "a bulk copy of %u bytes at an address that is not a multiple of 16", (unsigned)r->detail[1]);
    case PXL_FAULT_CLUSTER:
        return amd_fault(k, PXB_FAULT_ADDRESS, place, "ctaMask 0x%x names blocks that are not in the cluster: a cluster is one block here", (unsigned)r->detail[0]);
    case PXL_FAULT_PARAM:
        return amd_fault(k, PXB_FAULT_ADDRESS, &with_address, "access of %u bytes at 0x%" PRIx64 ", which is outside the parameters of the kernel",
                         (unsigned)r->detail[1], r->detail[0]);
    case PXL_FAULT_CALL: return report_call(k, r->detail[0], place);
    default: return amd_fault(k, PXB_FAULT_TRAP, place, "the kernel executed a trap");
    }
}

static pxb_status recorded_fault(const amd_kernel *k)
{
    pxb_device *device = k->module->device;
    amd_device *d = amd_of(device);
    static const pxl_fault_record none;
    pxl_fault_record r;
    pxb_status status = d->backend->read(device, &r, d->fault_record, sizeof r);
    if (status || !r.taken)
        return status;
    status = d->backend->write(device, d->fault_record, &none, sizeof none);
    if (status)
        return status;
    amd_place place = {.line = r.line, .column = r.column, .has_thread = true};
    memcpy(place.block, r.block, sizeof place.block);
    memcpy(place.thread, r.thread, sizeof place.thread);
    return report(k, &r, &place);
}

/* ------------------------------------------------------------ printf */

typedef struct printer {
    pxb_device *device;
    const pxb_launch_options *options;
    const pxl_print_record *record;
    uint64_t next, count;                              /* arguments */
    char *string;                                      /* CPU_PRINT_STRING_LIMIT bytes */
} printer;

static uint64_t take(void *user, uint32_t bytes)
{
    printer *p = user;
    uint64_t v = p->next < p->count ? p->record->arguments[p->next++] : 0;
    return bytes == 4 ? (uint32_t)v : v;
}

static const char *string(void *user, uint64_t address)
{
    printer *p = user;
    return device_string(p->device, address, p->string, CPU_PRINT_STRING_LIMIT);
}

static void append(void *user, const char *text, size_t length)
{
    printer *p = user;
    if (p->options->print)
        p->options->print(p->options->print_user, text, length);
    else
        fwrite(text, 1, length, stdout);
}

/* Records stand in the order in which they were made, which is no order; blocks are put in theirs, as on the CPU. */
static int by_block(const void *a, const void *b)
{
    const pxl_print_record *const *p = a, *const *q = b;
    for (int i = 2; i >= 0; i--)
        if ((*p)->block[i] != (*q)->block[i])
            return (*p)->block[i] < (*q)->block[i] ? -1 : 1;
    return *p < *q ? -1 : *p > *q;
}

/* Nothing in the buffer is believed: the kernel could write there. Gives the words of whole records. */
static pxb_status print_records(printer *p, const uint64_t *words, uint64_t nwords, uint64_t *whole)
{
    const uint64_t head = sizeof(pxl_print_record) / 8;
    char *format = malloc(CPU_PRINT_STRING_LIMIT);
    const pxl_print_record **records = calloc(nwords / head + 1, sizeof *records);
    p->string = malloc(CPU_PRINT_STRING_LIMIT);
    pxb_status status = format && records && p->string ? PXB_OK : rt_no_memory(p->device->context);
    size_t n = 0;
    uint64_t at = 0;
    while (!status && nwords - at >= head) {
        const pxl_print_record *r = (const pxl_print_record *)&words[at];
        if (r->words < head || r->words > nwords - at)
            break;
        records[n++] = r;
        at += r->words;
    }
    *whole = at;
    if (!status)
        qsort(records, n, sizeof *records, by_block);
    const cpu_print source = {p, take, string, append};
    for (size_t i = 0; i < n && !status; i++) {
        p->record = records[i];
        p->next = 0;
        p->count = records[i]->words - head;
        cpu_print_format(&source, device_string(p->device, records[i]->format, format, CPU_PRINT_STRING_LIMIT));
    }
    free(format);
    free(records);
    free(p->string);
    return status;
}

static pxb_status amd_print(const amd_kernel *k, const pxb_launch_options *options)
{
    pxb_device *device = k->module->device;
    amd_device *d = amd_of(device);
    pxl_print_buffer head;
    pxb_status status = d->backend->read(device, &head, d->print_buffer, sizeof head);
    if (status || !head.used)
        return status;
    const amd_range *range = amd_range_of(d, d->print_buffer);
    uint64_t most = range->bytes - sizeof head, used = head.used < most ? head.used : most;
    uint64_t *words = malloc((size_t)used + 8);
    if (!words)
        return rt_no_memory(device->context);
    status = d->backend->read(device, words, d->print_buffer + sizeof head, (size_t)used);
    pxl_print_buffer empty = {.capacity = most};
    if (!status)
        status = d->backend->set(device, d->print_buffer + sizeof head, 0, (size_t)used);
    if (!status)
        status = d->backend->write(device, d->print_buffer, &empty, sizeof empty);
    printer p = {.device = device, .options = options};
    uint64_t whole = 0;
    if (!status)
        status = print_records(&p, words, used / 8, &whole);
    /* What does not fit is lost, as on NVIDIA's devices; here it is said. */
    if (!status && head.lost)
        fprintf(stderr, "ptxbridge: printf of kernel \"%s\" overflowed its buffer of %" PRIu64 " bytes: the last %" PRIu64 " calls are lost\n",
                k->function->name, most, head.lost);
    else if (!status && whole < used / 8)
        fprintf(stderr, "ptxbridge: printf of kernel \"%s\": %" PRIu64 " bytes after a call that a fault cut off are lost\n",
                k->function->name, used - 8 * whole);
    free(words);
    return status;
}

/* ------------------------------------------------------------ both */

pxb_status amd_finish_launch(const amd_kernel *k, const pxb_launch_options *o, const amd_object *object, pxb_status status)
{
    /* What was printed before a fault is handed out as well, where the device survives it. */
    const bool readable = !status || amd_of(k->module->device)->backend->survives_faults;
    const pxb_status recorded = object->faults && readable ? recorded_fault(k) : PXB_OK;
    if (!status)
        status = recorded;
    else if (pxb_is_fault(recorded))
        status = recorded;
    if (!object->prints || !readable)
        return status;
    const pxb_status printed = amd_print(k, o);
    return status ? status : printed;
}
