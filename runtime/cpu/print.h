/* print.h - what a kernel's printf writes: a format and its arguments become text (CUDA Programming Guide, "Formatted Output"). */
#ifndef CPU_PRINT_H
#define CPU_PRINT_H

#include <stddef.h>
#include <stdint.h>

enum { CPU_PRINT_STRING_LIMIT = 1 << 16 };

/* Where the arguments come from and the text goes. */
typedef struct cpu_print {
    void *user;
    uint64_t (*take)(void *user, uint32_t bytes);               /* the next argument, of 4 or 8 bytes */
    const char *(*string)(void *user, uint64_t address);        /* a string of the device; valid until the next call */
    void (*append)(void *user, const char *text, size_t length);
} cpu_print;

void cpu_print_format(const cpu_print *print, const char *format);

#endif
