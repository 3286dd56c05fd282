/* library.c - images that a program loads itself. */
#include "runtime/cudart/internal.h"

API cudart_error cudaLibraryLoadData(cu_library *library, const void *image, int32_t *options, void **values, uint32_t count,
                                     int32_t *library_options, void **library_values, uint32_t library_count)
{
    return CALL(driver.cuLibraryLoadData(library, image, options, values, count, library_options, library_values, library_count));
}

API cudart_error cudaLibraryLoadFromFile(cu_library *library, const char *path, int32_t *options, void **values, uint32_t count,
                                         int32_t *library_options, void **library_values, uint32_t library_count)
{
    return CALL(driver.cuLibraryLoadFromFile(library, path, options, values, count, library_options, library_values, library_count));
}

API cudart_error cudaLibraryUnload(cu_library library)
{
    return CALL(driver.cuLibraryUnload(library));
}

API cudart_error cudaLibraryGetKernel(cu_kernel *kernel, cu_library library, const char *name)
{
    return CALL(driver.cuLibraryGetKernel(kernel, library, name));
}

API cudart_error cudaLibraryGetGlobal(void **pointer, size_t *bytes, cu_library library, const char *name)
{
    return CALL(driver.cuLibraryGetGlobal((cu_address *)(void *)pointer, bytes, library, name));
}

API cudart_error cudaLibraryGetManaged(void **pointer, size_t *bytes, cu_library library, const char *name)
{
    return CALL(driver.cuLibraryGetManaged((cu_address *)(void *)pointer, bytes, library, name));
}

API cudart_error cudaLibraryGetUnifiedFunction(void **function, cu_library library, const char *name)
{
    return CALL(driver.cuLibraryGetUnifiedFunction(function, library, name));
}

API cudart_error cudaLibraryGetKernelCount(uint32_t *count, cu_library library)
{
    return CALL(driver.cuLibraryGetKernelCount(count, library));
}

API cudart_error cudaLibraryEnumerateKernels(cu_kernel *kernels, uint32_t count, cu_library library)
{
    return CALL(driver.cuLibraryEnumerateKernels(kernels, count, library));
}
