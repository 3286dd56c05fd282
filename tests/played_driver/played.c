/* played.c - what makes of our own libcuda.so.1 a library that plays NVIDIA's driver for another copy of it: tests of forwarding with a
 * driver that has everything. Linked with --wrap, it stands between the library's parts:
 *
 *   getenv              its settings are not those of the copy that forwards: PLAYED_DEVICE (cpu) instead of PTXBRIDGE_DEVICE, and nothing is
 *                       traced, counted or dumped
 *   cuLinkComplete      what a link makes looks like machine code, as NVIDIA's does, and modules are loaded from that
 *   cuModuleGetGlobal, cuArray3DGetDescriptor   handles that do not exist end the process, as they may under NVIDIA's driver: what looks at
 *                       launches must not ask about them
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"

char *__real_getenv(const char *name);
char *__wrap_getenv(const char *name);
cu_result __real_impl_cuLinkComplete(cu_link state, void **cubin_out, size_t *size_out);
cu_result __wrap_impl_cuLinkComplete(cu_link state, void **cubin_out, size_t *size_out);
cu_result __real_dr_image_parse(const void *image, size_t bytes, int capability, dr_jit *jit, ptx_module **out);
cu_result __wrap_dr_image_parse(const void *image, size_t bytes, int capability, dr_jit *jit, ptx_module **out);

cu_result __real_impl_cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name);
cu_result __wrap_impl_cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name);
cu_result __real_impl_cuArray3DGetDescriptor_v2(cu_array3d_desc *desc, cu_array array);
cu_result __wrap_impl_cuArray3DGetDescriptor_v2(cu_array3d_desc *desc, cu_array array);

char *__wrap_getenv(const char *name)
{
    static const char *const others[] = {"PTXBRIDGE_TRACE", "PTXBRIDGE_STATS", "PTXBRIDGE_DUMP", "PTXBRIDGE_DUMP_LAUNCHES",
                                         "PTXBRIDGE_CUDA_LIBRARY", "PTXBRIDGE_LOG"};
    static char cpu[] = "cpu";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return NULL;
    if (strcmp(name, "PTXBRIDGE_DEVICE") != 0)
        return __real_getenv(name);
    char *device = __real_getenv("PLAYED_DEVICE");
    return device ? device : cpu;
}

cu_result __wrap_impl_cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name)
{
    if (!dr_object_of(module, DR_MODULE))
        abort();
    return __real_impl_cuModuleGetGlobal_v2(address, bytes, module, name);
}

cu_result __wrap_impl_cuArray3DGetDescriptor_v2(cu_array3d_desc *desc, cu_array array)
{
    if (!dr_object_of(array, DR_ARRAY))
        abort();
    return __real_impl_cuArray3DGetDescriptor_v2(desc, array);
}

/* ------------------------------------------------------------ machine code: the head of an ELF file, and the text in other letters */

static const char magic[8] = "\177ELFpxb";
typedef struct machine_code { char magic[8]; uint64_t bytes; unsigned char text[]; } machine_code;

cu_result __wrap_impl_cuLinkComplete(cu_link state, void **cubin_out, size_t *size_out)
{
    static machine_code *last;     /* it has to live as long as the link: until the next one is enough for a test */
    size_t bytes;
    void *text;
    cu_result result = __real_impl_cuLinkComplete(state, &text, &bytes);
    if (result)
        return result;
    machine_code *code = malloc(sizeof *code + bytes);
    if (!code)
        return DR_ERROR(OUT_OF_MEMORY);
    memcpy(code->magic, magic, sizeof magic);
    code->bytes = bytes;
    for (size_t i = 0; i < bytes; i++)
        code->text[i] = ((const unsigned char *)text)[i] ^ 0x5a;
    free(last);
    last = code;
    *cubin_out = code;
    if (size_out)
        *size_out = sizeof *code + bytes;
    return CUABI_SUCCESS;
}

cu_result __wrap_dr_image_parse(const void *image, size_t bytes, int capability, dr_jit *jit, ptx_module **out)
{
    const machine_code *code = image;
    if (!image || (bytes && bytes < sizeof *code) || strncmp(image, magic, sizeof magic) != 0)
        return __real_dr_image_parse(image, bytes, capability, jit, out);
    char *text = malloc(code->bytes);
    for (size_t i = 0; text && i < code->bytes; i++)
        text[i] = (char)(code->text[i] ^ 0x5a);
    cu_result result = text ? __real_dr_image_parse(text, code->bytes - 1, capability, jit, out) : DR_ERROR(OUT_OF_MEMORY);
    free(text);
    return result;
}
