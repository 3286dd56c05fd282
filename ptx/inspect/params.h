/* params.h - the parameter block of an entry: what is loaded from which byte, and what it becomes. Texture and surface instructions. */
#ifndef PTX_INSPECT_PARAMS_H
#define PTX_INSPECT_PARAMS_H

#include "ptx/inspect/addresses.h"

/* What a parameter's value is used for. */
enum {
    PTI_AS_POINTER = 1,                /* base of accesses to memory */
    PTI_AS_TEXTURE = 2, PTI_AS_SURFACE = 4,
    PTI_IN_ADDRESS = 8,                /* part of an offset: a stride, an origin */
    PTI_IN_COMPARISON = 16,            /* a bound */
    PTI_IN_COORDINATE = 32,            /* of a texture or surface */
    PTI_IN_FLOAT = 64,                 /* float arithmetic or a conversion to float */
    PTI_IN_MATRIX = 128,
    PTI_IN_STORE = 256,                /* stored, or given to a function */
    PTI_IN_BRANCH = 512                /* decides a branch or a guard */
};

typedef struct pti_param {
    uint64_t offset;                   /* in the parameter block */
    ptx_type type;                     /* as it is loaded */
    uint32_t nloads;
    uint32_t first_load, *loads;       /* instructions, ascending; into one array */
    uint32_t uses;                     /* PTI_AS_…, PTI_IN_… */
    uint32_t base;                     /* in addresses->bases, PTI_NONE when no access has it as its pointer */
    uint32_t nhandle;                  /* texture and surface instructions whose handle it is */
} pti_param;

typedef struct pti_texture {
    uint32_t insn;
    bool surface, writes;
    pti_poly handle;
    uint32_t param;                    /* in params->list, PTI_NONE when the handle is no parameter */
    const ptx_variable *variable;      /* of a handle that is named */
    uint32_t ncoordinates;
    pti_poly coordinates[5];
    ptx_type type;                     /* of the coordinates */
} pti_texture;

typedef struct pti_params {
    uint32_t count;
    pti_param *list;                   /* by offset, then type */
    uint32_t nother;                   /* loads from the block whose place is not constant */
    uint32_t ntextures;
    pti_texture *textures;             /* in the order of the text */
    ptx_arena arena;
} pti_params;

/* Free it whatever the answer. */
pti_status pti_find_params(pti_symbols *s, const pti_addresses *a, pti_params *out);
void pti_free_params(pti_params *p);

#endif
