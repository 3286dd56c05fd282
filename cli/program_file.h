/* program_file.h - what an executable file says of the CUDA libraries that it needs. */
#ifndef CLI_PROGRAM_FILE_H
#define CLI_PROGRAM_FILE_H

#include <stdbool.h>

typedef struct program_file {
    bool elf;                /* a 64-bit ELF file of this machine's byte order; else nothing below is known */
    bool narrow;             /* a 32-bit ELF file */
    bool has_kernels;        /* it carries fat binaries that a CUDA runtime registers */
    bool static_runtime;     /* … and the runtime itself, instead of the shared library */
    bool rpath;              /* DT_RPATH, which the loader searches before LD_LIBRARY_PATH */
    char runtime[32];        /* "libcudart.so.13" that it is linked with, or "" */
} program_file;

/* Reads the headers of a file; a file that cannot be read or is damaged is one that nothing is known of. */
void examine_program(const char *path, program_file *out);

#endif
