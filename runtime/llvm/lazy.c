/* lazy.c - libLLVM, opened when a device that runs AMD code is, in libraries that are loaded into other people's programs.
 *
 * A CUDA program on the CPU device needs no LLVM, and should neither pay for loading it nor have its symbols beside those of an LLVM that
 * it brings itself. So libcuda.so.1 is not linked with it: for each function of LLVM that the archives inside use (a list made of
 * their symbols) there is a door of the same name here, which jumps through a pointer that rt_llvm_open sets.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include "runtime/llvm/llvm.h"

#define X(name) __attribute__((visibility("hidden"))) void *pxb_door_##name;
#include "llvm_functions.inc"
#undef X

/* The arguments stay where they are: a function's parameters are not known here. */
#if defined(__x86_64__)
#define JUMP(name) "\tjmpq *pxb_door_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "\tadrp x16, pxb_door_" #name "\n\tldr x16, [x16, :lo12:pxb_door_" #name "]\n\tbr x16\n"
#endif
#define X(name) __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name) ".size " #name ", .-" #name "\n");
#include "llvm_functions.inc"
#undef X

static const struct { const char *name; void **door; } doors[] = {
#define X(name) {#name, &pxb_door_##name},
#include "llvm_functions.inc"
#undef X
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[400];

/* The library that this was built with: by its name, where the loader looks, or else where it was found then. */
static void open_llvm(void)
{
    void *library = dlopen(PXB_LLVM_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen(PXB_LLVM_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(failure, sizeof failure, "LLVM cannot be loaded: %.300s", dlerror());
    for (size_t i = 0; i < sizeof doors / sizeof *doors && !failure[0]; i++) {
        *doors[i].door = dlsym(library, doors[i].name);
        if (!*doors[i].door)
            snprintf(failure, sizeof failure, "%s has no function %s: it is another release than ptxbridge was built with", PXB_LLVM_NAME, doors[i].name);
    }
}

const char *rt_llvm_open(void)
{
    pthread_once(&once, open_llvm);
    return failure[0] ? failure : NULL;
}
