/* llvm.h - what calls LLVM opens it before. */
#ifndef RUNTIME_LLVM_LLVM_H
#define RUNTIME_LLVM_LLVM_H

/* Why LLVM cannot be loaded, or NULL when it is there. Not there at all in what is linked with LLVM (see lazy.c). */
const char *rt_llvm_open(void) __attribute__((weak));

#endif
