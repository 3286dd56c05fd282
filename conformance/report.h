/* report.h - results of a conformance run as text, JSON, JUnit XML, one HTML page, and digests. */
#ifndef CONFORM_REPORT_H
#define CONFORM_REPORT_H

#include <stdio.h>
#include "conformance/conform.h"

typedef struct conform_summary {
    const char *device;
    const conform_result *results;
    uint32_t count;
    uint32_t passed, failed, broken;
    uint64_t inputs;
    double ms;
} conform_summary;

void conform_summarise(conform_summary *s, const char *device, const conform_result *results, uint32_t count);
const char *conform_verdict_name(conform_verdict v);

/* By family: cases, inputs, failures; then each failure; then the largest errors of approximate functions. */
void conform_print_text(const conform_summary *s, FILE *to);
/* The next four return false when the file cannot be written. */
bool conform_write_json(const conform_summary *s, FILE *to);
bool conform_write_junit(const conform_summary *s, FILE *to);
bool conform_write_html(const conform_summary *s, FILE *to);
/* A line "digest inputs name" for every case whose operands were tried completely, in the order of names. */
bool conform_write_digests(const conform_summary *s, FILE *to);

#endif
