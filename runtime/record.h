/* record.h - what cases gave on a device, kept in an .npz file to be compared elsewhere. docs/compare.md has the format.
 *
 * record.c makes records of results and keeps lists of them; record_file.c writes and reads the file. Files may come
 * from anywhere: what is read is checked as case files are.
 */
#ifndef RUNTIME_RECORD_H
#define RUNTIME_RECORD_H

#include "runtime/digest.h"

typedef struct rt_record_output {
    case_array_kind kind;
    const char *name;
    bool changed;                  /* other bits than before the launches */
    bool has_data;                 /* false: it is what it was before, and the case has that */
    rt_array array;                /* shape and dtype are there without data too */
    char sha256[RT_DIGEST_TEXT];   /* of rt_digest_array */
} rt_record_output;

typedef enum rt_record_state {
    RT_RECORD_DONE,                /* the launches ended */
    RT_RECORD_FAULT,               /* one was stopped by a fault */
    RT_RECORD_ERROR                /* the case could not be run: fault_text says why, there are no outputs */
} rt_record_state;

typedef struct rt_record_case {
    const char *name;              /* of the case file, without folder and ".json" */
    const char *description, *entries, *ptx;
    char inputs_sha256[RT_DIGEST_TEXT], ptx_sha256[RT_DIGEST_TEXT];
    const char *device;            /* as it was named: "cpu", "cuda:0" */
    uint32_t nproperties;
    const char **properties;       /* name, value, … */
    pxb_mma_model model;
    bool mma_fast;                 /* matrix cores of an AMD device: no model's bits */
    const char *date, *version;    /* "2026-01-31T12:00:00Z"; of ptxbridge */
    rt_record_state state;
    pxb_status status;             /* fault or error */
    uint32_t fault_line;
    const char *fault_text;
    const char *printed;
    double run_ms;
    uint32_t noutputs;
    rt_record_output *outputs;
    uint32_t nmissing;
    const char **missing;          /* module variables that the device did not give */
} rt_record_case;

typedef struct rt_record {
    rt_pool pool;
    uint32_t ncases;
    rt_record_case *cases;
    rt_record_case rejected;   /* the last run, when it failed and a record of an earlier one is kept in its stead */
} rt_record;

/* The name under which a case is recorded. */
const char *rt_record_name(rt_pool *pool, const char *path);

/* Runs a case with case_options.all set and adds what came out, in place of a record of the same case, device and model.
 * An error of the case is recorded as such, unless there is a record of a run: that one stays, and *out says what went wrong now.
 * What is returned are failures of recording itself. */
pxb_status rt_record_run(pxb_context *ctx, rt_record *r, const char *path, const case_file *file,
                         const case_options *options, const rt_record_case **out);
/* Adds a case that could not even be read: the context's last error says why. */
pxb_status rt_record_unread(pxb_context *ctx, rt_record *r, const char *path, const case_options *options);

/* A property's value, NULL when there is none. */
const char *rt_record_property(const rt_record_case *c, const char *name);

/* How many records there are of a case, on this device if `device` is not NULL; *out is the last. */
uint32_t rt_record_find(const rt_record *r, const char *name, const char *device, const rt_record_case **out);

/* record_file.c */
pxb_status rt_record_write(pxb_context *ctx, const char *path, const rt_record *r);
pxb_status rt_record_read(pxb_context *ctx, const char *path, rt_record *out);   /* *out is always to be freed */
void rt_record_free(rt_record *r);

#endif
