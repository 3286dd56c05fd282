/* dump.h - launches as case files (docs/case_files.md), for `ptxbridge exec --dump`.
 *
 * What writes cases (dump.c, dump_image.c) knows no device: who launches describes the launch and answers questions about memory, arrays and
 * texture objects. That is our own driver (dump_own.c), or the real one that calls are forwarded to.
 */
#ifndef DRIVER_DUMP_H
#define DRIVER_DUMP_H

#include "runtime/driver/driver.h"

/* What an address leads to. A variable: of a module. The heap: a block that a kernel allocated, or what was one, of no size then. */
typedef enum dr_dump_place { DR_DUMP_NOWHERE, DR_DUMP_MEMORY, DR_DUMP_VARIABLE, DR_DUMP_HEAP } dr_dump_place;

/* What a texture or surface object was made from. */
typedef struct dr_dump_object {
    bool surface, has_view;
    cu_resource resource;
    cu_texture_desc desc;              /* textures */
    cu_view_desc view;
} dr_dump_object;

/* A launch. All pointers live until dr_dump_after() has returned. */
typedef struct dr_dump_source dr_dump_source;
struct dr_dump_source {
    const ptx_module *module;
    char **file;                       /* the module's own: NULL, or the name that its text has in the folder; set here, by malloc */
    const ptx_function *entry;
    const void *params;                /* entry->param_size bytes, NULL for none */
    uint32_t grid[3], block[3], shared_bytes;
    bool cooperative;
    const char *mma_model;             /* as case files name it; NULL: the case does not say */
    const char *lost;                  /* why no case of it can be whole, or NULL */
    uint64_t low, high;                /* all that place() knows of lies in [low, high) */
    uint64_t first_handle, last_handle;    /* all that object() knows of lies in [first_handle, last_handle] */
    uint64_t first_function, last_function;    /* the same of function() */

    /* The allocation or variable that holds an address. */
    dr_dump_place (*place)(const dr_dump_source *s, uint64_t address, uint64_t *base, uint64_t *bytes);
    bool (*read)(const dr_dump_source *s, void *to, uint64_t from, uint64_t bytes);
    /* A .global or .const variable of the module. */
    bool (*variable)(const dr_dump_source *s, const ptx_variable *v, uint64_t *base, uint64_t *bytes);

    /* The function of the module that has this address, NULL: none does. */
    const char *(*function)(const dr_dump_source *s, uint64_t address);

    /* The object of a handle; false: it is no handle that exists. */
    bool (*object)(const dr_dump_source *s, uint64_t handle, dr_dump_object *out);
    /* What a texture or surface reference of the module is bound to; false: nothing. */
    bool (*reference)(const dr_dump_source *s, const ptx_variable *v, dr_dump_object *out);
    /* Levels of a mipmapped array, 0 when there is no such thing, and one of them, NULL likewise. */
    uint32_t (*levels)(const dr_dump_source *s, cu_mipmap mipmap);
    cu_array (*level)(const dr_dump_source *s, cu_mipmap mipmap, uint32_t level);
    bool (*describe)(const dr_dump_source *s, cu_array array, cu_array3d_desc *out);
    /* All texels of an array: rows, slices and layers one after another without gaps. */
    bool (*texels)(const dr_dump_source *s, cu_array array, void *to, uint64_t bytes);
};

/* Before and after a launch, one at a time. False: it is not dumped, and there is no after. */
bool dr_dump_before(const dr_dump_source *s, const char *folder);
/* `fault`: what stopped the launch, as case files name it, NULL for what only the result tells; `disturbed`: memory was changed by something
 * else meanwhile. */
void dr_dump_after(const dr_dump_source *s, cu_result result, const char *fault, bool disturbed);
/* In place of after: nothing was launched, and there is no case. */
void dr_dump_drop(void);

#endif
