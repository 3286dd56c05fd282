/* error.c - the last error, names and texts. */
#include "runtime/cudart/internal.h"

API cudart_error cudaGetLastError(void)
{
    cudart_error last = thread.last;
    thread.last = RT_cudaSuccess;
    return last;
}

API cudart_error cudaPeekAtLastError(void)
{
    return thread.last;
}

API const char *cudaGetErrorName(cudart_error error)
{
#define NAME(name, value, text)                                                                                        \
    case value:                                                                                                        \
        return #name;
    switch (error) {
    case 0:
        return "cudaSuccess";
        CUDART_ERRORS(NAME)
    }
    return "unrecognized error code";
}

API const char *cudaGetErrorString(cudart_error error)
{
#define TEXT(name, value, text)                                                                                        \
    case value:                                                                                                        \
        return text;
    switch (error) {
    case 0:
        return "no error";
        CUDART_ERRORS(TEXT)
    }
    return "unrecognized error code";
}
