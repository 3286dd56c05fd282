// check.h - what the programs of this folder share: stop at a failed call, report a wrong result.
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_),          \
                         cudaGetErrorString(error_));                                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                                \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

#endif
