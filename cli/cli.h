/* cli.h - what the subcommands of `ptxbridge` share.
 *
 * Exit status: 0 done, 1 the answer is "no" (a failed expectation, a kernel that faulted, damaged cache entries),
 * 2 wrong use or bad input, 3 the device is not available.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "include/ptxbridge.h"
#include "runtime/case.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3 };

typedef struct command {
    const char *name, *summary;
    const char *usage;         /* text of --help */
    int (*run)(pxb_context *ctx, int argc, char **argv);   /* argv[0] is the command's name */
} command;

extern const command command_conform;   /* in builds with MPFR: PTXBRIDGE_CONFORM */
extern const command command_exec;      /* on Linux: PTXBRIDGE_EXEC */
extern const command command_run, command_record, command_compare, command_translate, command_inspect, command_devices,
    command_cache;

/* Prints the context's last error to stderr; returns the exit status for it. */
int report_error(const pxb_context *ctx);
int exit_of(pxb_status status);
/* Of several answers the gravest counts: wrong use before device before "no". */
int graver(int a, int b);
/* "ptxbridge run: message" and a hint to --help; returns EXIT_USAGE. */
int usage_error(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What getopt_long's '?' and ':' mean. */
int option_error(const command *c, int result, char **argv);
/* The option that getopt_long gave as `value` cannot be optarg. */
int value_error(const command *c, const struct option *options, int value);
int print_usage(const command *c);

/* Whether a device has matrix cores that --mma fast could use; NULL is the CPU. */
bool has_matrix_cores(const char *device);

/* A number from 0 to `most`; false when the text is anything else. */
bool parse_number(const char *text, uint64_t most, uint64_t *out);
/* "fast" or "exact". */
bool parse_mma(const char *text, bool *fast);

/* A JSON string of any bytes: those that are not UTF-8 become '?'. */
json_t *json_text(const char *text);
/* A distance; null for that of a NaN from a number, a real beyond 63 bits. */
json_t *json_ulp(const rt_difference *d, uint64_t ulp);
/* Prints JSON indented with a newline; takes the value over. */
int print_json(json_t *json);

/* Progress on one line of stderr, only if that is a terminal. */
void show_progress(void *user, const char *phase, uint32_t done, uint32_t of);
void clear_progress(void);
/* case_options.remark: to stderr, once for the two sides of a comparison. */
void show_remark(const char *text);

/* A table: cells are copied; the first row is the head. Numbers are right-aligned by a '>' at a column's place in `align`. */
typedef struct table { char ***rows; uint32_t nrows, ncols; const char *align; } table;
void table_start(table *t, uint32_t ncols, const char *align);
void table_row(table *t, const char *const *cells);
void table_print(table *t, FILE *to, int indent);   /* and frees it */
void table_free(table *t);

/* ------------------------------------------------------------ run */

typedef struct named_file { const char *name, *path; } named_file;

typedef struct run_arguments {
    case_options options;
    bool json, timing, quiet;
    named_file *png, *npy;
    uint32_t npng, nnpy;
    const char *out_dir;
    /* a launch without a case file */
    const char *entry, *grid, *block;
    uint64_t shared;
    bool cooperative;
    char **args;
    uint32_t nargs;
} run_arguments;

/* cmd_run_direct.c: makes a case of `run K.ptx --entry … --arg …`. Returns NULL after printing why. */
case_file *direct_case(pxb_context *ctx, const char *ptx, const run_arguments *a);

/* run_report.c */
void report_case(const char *title, const case_file *file, const run_arguments *a, const case_result *result);
json_t *json_of_case(const char *title, const case_file *file, const run_arguments *a, const case_result *result);

#endif
