/* case.h - case files: one launch or several, with what goes in and what must come out.
 *
 * docs/case_files.md describes the format. case_parse.c (with case_source.c and case_params.c) turns the text into a
 * case_file without touching anything else; case_run.c loads, runs and reads back; case_expect.c judges. The command
 * line builds the same case_file from its arguments.
 */
#ifndef RUNTIME_CASE_H
#define RUNTIME_CASE_H

#include "runtime/array.h"
#include "runtime/compare.h"

typedef enum case_source_kind { CASE_ZEROS, CASE_VALUES, CASE_RANDOM, CASE_NPY, CASE_NPZ, CASE_RAW, CASE_PNG } case_source_kind;

/* Where an array comes from. */
typedef struct case_source {
    case_source_kind kind;
    const char *path, *member;     /* NPY NPZ RAW PNG */
    rt_dtype dtype;                /* ZEROS VALUES RANDOM; RAW: u8, if nothing else is said */
    bool typed;                    /* RAW: it is said, so that this is no array of bytes that takes any dtype */
    uint32_t ndim;
    uint64_t shape[RT_MAX_DIMS];
    const uint64_t *bits;          /* VALUES: one per element */
    uint64_t count;                /* VALUES */
    uint64_t seed;                 /* RANDOM */
    double low, high;
    int64_t low_i;
    uint64_t span;
} case_source;

typedef enum case_array_kind { CASE_BUFFER, CASE_TEXTURE, CASE_SURFACE, CASE_GLOBAL } case_array_kind;

/* Eight bytes of an array that hold an address or a handle. */
typedef struct case_pointer {
    uint64_t offset;               /* in the array */
    const struct case_array *array;    /* the buffer that it leads to, or the texture or surface; or */
    const char *global;            /* a variable of the module, or */
    const char *function;          /* a function of the module, or */
    bool heap;                     /* expected: anything in the heap of kernels' malloc */
    uint64_t target_offset;        /* bytes into array or variable */
    uint32_t line, column;
} case_pointer;

typedef struct case_pointers { bool given; uint32_t count; const case_pointer *list; } case_pointers;

/* Which geometry of PTX' texture and surface instructions an image has. */
typedef enum case_image_kind { CASE_BY_SHAPE, CASE_1D, CASE_2D, CASE_3D, CASE_1D_LAYERED, CASE_2D_LAYERED, CASE_CUBE, CASE_CUBE_LAYERED } case_image_kind;

enum { CASE_LAST = UINT32_MAX };   /* the last level or layer that there is */

/* A texture or surface. */
typedef struct case_image {
    bool own;                      /* texels of its own, else */
    const struct case_array *of;   /* those of a buffer, or of another texture or surface */
    bool has_format;
    pxb_texel format;
    case_image_kind kind;
    uint32_t ndim, shape[4];       /* of level 0 as an array; ndim 0: the source's */
    uint32_t levels;               /* own texels */
    uint32_t channels;             /* another's texels: 0 if as there */
    uint32_t first_level, last_level, first_layer, last_layer;
    uint64_t offset, pitch;        /* of a buffer, bytes; pitch 0: rows without gaps */
    pxb_sampler sampler;           /* textures */
    bool extended;                 /* something of these, which pxb_sampler lacks, is given */
    bool srgb;
    pxb_filter level_filter;
    float lod_bias, min_lod, max_lod;
    double border[4];
    uint32_t line, column;
} case_image;

typedef struct case_array {
    case_array_kind kind;
    const char *name;
    case_source source;            /* not of an image of another's texels */
    case_pointers pointers;        /* buffers and globals */
    bool heap;                     /* a buffer that kernels' malloc gives, for kernels to free */
    case_image image;              /* textures and surfaces */
} case_array;

typedef enum case_value_kind { CASE_SCALARS, CASE_ADDRESS, CASE_HANDLE, CASE_NULL, CASE_FUNCTION, CASE_VARIABLE } case_value_kind;

/* A value at an offset of a parameter. */
typedef struct case_field {
    uint64_t offset;               /* in the parameter */
    case_value_kind kind;
    rt_dtype dtype;                /* SCALARS: count elements of bits */
    uint32_t count;
    const uint64_t *bits;
    const case_array *array;       /* ADDRESS of a buffer, HANDLE of a texture or surface */
    uint64_t array_offset;         /* ADDRESS, VARIABLE: bytes into the buffer or variable */
    const char *function;          /* FUNCTION, VARIABLE: its name */
} case_field;

typedef struct case_param {
    bool is_struct;
    uint64_t size;                 /* struct: bytes; else 0: the one field's own size */
    uint32_t nfields;
    const case_field *fields;
    uint32_t line, column;
} case_param;

typedef struct case_launch {
    const char *entry;
    uint32_t grid[3], block[3];
    uint32_t shared;
    bool cooperative;              /* all blocks at once */
    uint32_t nparams;
    const case_param *params;
    uint32_t line, column;
} case_launch;

typedef enum case_expect_kind { CASE_EXPECT_ARRAY, CASE_EXPECT_PRINTF, CASE_EXPECT_PRINTF_SORTED, CASE_EXPECT_FAULT } case_expect_kind;

typedef struct case_expect {
    case_expect_kind kind;
    const case_array *array;       /* buffer or surface, or */
    const char *global;            /* a module variable */
    case_source source;
    case_pointers pointers;        /* not given: those of the array */
    rt_format format;
    rt_tolerance tolerance;
    const char *text;              /* printf */
    pxb_status fault;
    uint32_t line, column;
} case_expect;

/* Everything lives in the pool. */
typedef struct case_file {
    rt_pool pool;
    const char *path;              /* for messages; NULL when made from arguments */
    const char *description;
    const char *ptx;               /* path */
    bool has_model;
    pxb_mma_model model;
    uint32_t timeout_ms;           /* 0 = none given */
    uint32_t narrays;
    const case_array *arrays;      /* buffers, textures, surfaces, globals, in this order, each as written */
    uint32_t nlaunches;
    const case_launch *launches;
    uint32_t nexpects;
    const case_expect *expects;
} case_file;

/* Parses text; `path` gives messages their name and relative paths their folder. *out is freed by case_free. */
pxb_status case_parse(pxb_context *ctx, const char *path, const char *text, size_t length, case_file **out);
pxb_status case_read(pxb_context *ctx, const char *path, case_file **out);
void case_free(case_file *file);

const case_array *case_find(const case_file *file, case_array_kind kind, const char *name);
const char *case_array_kind_name(case_array_kind kind);
bool case_texel_from_name(const char *name, pxb_texel *out);
/* The texel format that holds elements of a dtype; false for 64-bit ones. */
bool case_texel_of_dtype(rt_dtype dtype, pxb_texel *out);
rt_dtype case_dtype_of_texel(pxb_texel texel);

/* case_pointers.c: whether pointers lie in an array of so many bytes. */
pxb_status case_check_pointers(pxb_context *ctx, const case_file *file, const case_pointers *pointers, const char *name, uint64_t bytes);
/* Puts what pointers mean in their places, and what one pointer means if its place holds its address on a device. */
void case_name_pointers(const case_file *file, const case_pointers *pointers, void *data);
bool case_name_pointer(const case_file *file, const case_pointer *pointer, uint64_t address, void *data);

/* Bytes that take the dtype of what they are compared with. */
static inline bool case_is_untyped(const case_source *s) { return s->kind == CASE_RAW && !s->typed; }
/* Reads or makes the array of a source. */
pxb_status case_load_source(pxb_context *ctx, const case_source *source, rt_array *out);
/* The same for an array of the case that has one; bytes of an image with format and shape become texels. */
pxb_status case_load_array(pxb_context *ctx, const case_array *array, rt_array *out);
/* Bits of a number for a dtype: integers in range, floats rounded once. False when it does not fit. */
bool case_integer_bits(rt_dtype dtype, int64_t value, uint64_t *bits);
uint64_t case_float_bits(rt_dtype dtype, double value);

/* ------------------------------------------------------------ running */

typedef struct case_options {
    const char *device;            /* NULL = cpu */
    bool has_model;                /* else the file's */
    pxb_mma_model model;
    bool mma_fast;                 /* mma on matrix cores where the device has them */
    bool check;
    bool has_timeout;
    uint32_t timeout_ms;
    uint32_t repeat;               /* at least 1: parse, decode and run are repeated and timed */
    const char *const *wanted;     /* further arrays to read back, by name */
    uint32_t nwanted;
    bool all;                      /* read back every buffer and surface, and the module's variables that changed */
    void (*progress)(void *user, const char *phase, uint32_t done, uint32_t of);   /* may be NULL */
    void *progress_user;
    void (*remark)(const char *text);   /* takes what rt_module_remarks found; may be NULL */
} case_options;

/* An array as it was after the launches. */
typedef struct case_output {
    case_array_kind kind;
    const char *name;
    rt_array array;
    bool changed;                  /* other bits than before the launches */
} case_output;

typedef struct case_verdict {
    const case_expect *expect;
    const char *kind, *name;       /* "buffer" "y", "printf" "", "fault" "trap" */
    const char *array_text;        /* "f32[1024]" or "" */
    const char *tolerance_text;    /* "exact", "4 ulp", "abs 1e-6 rel 1e-5", "" */
    bool passed;
    rt_difference difference;      /* arrays */
    const char *detail;            /* why it failed, one line, or NULL */
} case_verdict;

typedef struct case_result {
    rt_pool pool;
    bool passed;                   /* no launch faulted unexpectedly and all verdicts passed */
    pxb_status fault;              /* of the launches, PXB_OK if none */
    const char *fault_text;        /* the error's message */
    uint32_t fault_line;           /* PTX line */
    const char *printed;           /* what printf wrote */
    uint32_t noutputs;
    case_output *outputs;
    uint32_t nmissing;             /* module variables that could not be read back (case_options.all) */
    const char **missing;
    uint32_t ncounters;            /* what the device counted in one run of the launches */
    pxb_counter *counters;
    uint32_t nproperties;          /* of the device: name, value, name, value … */
    const char **properties;
    uint32_t nverdicts;
    case_verdict *verdicts;
    uint32_t repeat;
    double *parse_ms, *decode_ms, *run_ms;   /* `repeat` each */
} case_result;

/* Runs a case and judges it. PXB_OK also when expectations fail or a kernel faults: see result->passed. Other errors
 * (bad input, no such device, a parameter that does not fit) are returned. The result is always to be freed, and before
 * the file, whose strings it uses. */
pxb_status case_run(pxb_context *ctx, const case_file *file, const case_options *options, case_result *result);
void case_result_free(case_result *result);

/* One launch at a time, with records (runtime/trace.h). The result takes what printf and faults leave. */
typedef struct case_session case_session;
struct rt_trace;
pxb_status case_session_open(pxb_context *ctx, const case_file *file, const case_options *options, case_result *result,
                             case_session **out);
const ptx_module *case_session_module(const case_session *s);
/* The device's address of a buffer or handle of an image; 0 for globals. */
uint64_t case_session_place(const case_session *s, const case_array *array);
/* Address of a module variable, 0 when the device has none. */
uint64_t case_session_variable(const case_session *s, const char *name);
/* Writes all arrays anew, runs the launches before number `launch`, then this one with records. *faulted: a launch was
 * stopped; records were kept until then if it was this one. */
pxb_status case_session_trace(case_session *s, uint32_t launch, struct rt_trace *trace, bool *faulted);
void case_session_close(case_session *s);

/* case_expect.c: judges arrays, printf and fault; fills result->verdicts and ->passed. */
pxb_status case_judge(pxb_context *ctx, const case_file *file, case_result *result);

#endif
