/* module.h - a module and where it is loaded (internal). */
#ifndef RUNTIME_MODULE_H
#define RUNTIME_MODULE_H

#include "runtime/internal.h"

/* A kernel that was taken, in a list of its module's residence on a device. */
struct pxb_kernel {
    struct rt_residence *residence;
    const ptx_function *function;
    void *state;               /* the device's */
    pxb_kernel *next;
};

/* A module on one device. */
typedef struct rt_residence {
    pxb_device *device;
    pxb_module *module;
    void *state;               /* the device's */
    pxb_kernel *kernels;
    struct rt_residence *next; /* of the module */
} rt_residence;

struct pxb_module {
    pxb_context *context;
    ptx_module *ptx;
    bool owns_ptx;
    char *diagnostic_text;     /* last text handed out by pxb_module_diagnostic */
    rt_residence *residences;
    pxb_module *next;          /* of the context */
};

/* A module over text that is parsed already. Unless it owns it, the text's owner keeps it as long as the module lives. */
pxb_status rt_module_wrap(pxb_context *context, ptx_module *ptx, bool owns, pxb_module **out);

/* The parser's errors that spoil no function of the module (a variable that is not there, a second definition), as warnings, a
 * line each with source and caret; NULL when there are none. To be freed. */
char *rt_module_remarks(const ptx_module *m);

/* Records why a function of the module cannot be run. */
pxb_status rt_why_broken(pxb_module *module, const ptx_function *f);

/* pxb_launch_packed, with records when `trace` is not NULL (runtime/trace.h). */
struct rt_trace;
pxb_status rt_launch(pxb_kernel *kernel, const pxb_launch_options *options, const void *block, size_t bytes,
                     struct rt_trace *trace);

/* Unloads all modules from a device that is being closed. */
void rt_modules_leave_device(pxb_device *device);

#endif
