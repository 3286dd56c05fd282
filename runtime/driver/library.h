/* library.h - libraries and kernels, which outlive contexts; functions that module.c and library.c share. */
#ifndef DRIVER_LIBRARY_H
#define DRIVER_LIBRARY_H

#include "runtime/driver/driver.h"

/* A kernel of a library; in each context it is a function of that context's module. */
typedef struct dr_kernel {
    dr_object head;
    struct dr_library *library;
    const ptx_function *ptx;
    int32_t attributes[16];        /* set for all contexts, or for later ones */
    uint16_t set;                  /* which: bits */
} dr_kernel;

cu_result dr_kernel_function(dr_kernel *kernel, dr_context *context, dr_function **out);

/* The module of a library is going; under dr_lock. */
void dr_library_lose(dr_module *module);
/* A function as it is before anything was set. */
void dr_function_init(dr_function *f, dr_module *module, const ptx_function *ptx);
uint32_t dr_function_max_threads(const dr_function *f);
uint32_t dr_function_registers(const dr_function *f);
cu_result dr_function_attribute(const dr_function *f, int32_t attribute, int *value);
cu_result dr_function_set_attribute(dr_function *f, int32_t attribute, int value);
cu_result dr_function_param(const ptx_function *f, size_t index, size_t *offset, size_t *size);
cu_result dr_read_file(const char *path, char **out, size_t *bytes);
/* Frees a module's texture references (texref.c). */
void dr_texrefs_free(dr_module *module);

#endif
