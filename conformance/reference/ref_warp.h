/* ref_warp.h - reference of the exchanges between lanes. A result that the ISA leaves undefined is reported as such. */
#ifndef REF_WARP_H
#define REF_WARP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 32 lanes of an operation; `executing` lanes take part and each names its own mask of them. */
typedef struct ref_warp {
    uint32_t executing;
    uint64_t a[32];
    uint32_t b[32], c[32], mask[32];
    bool p[32];
    /* Results. */
    uint64_t d[32];
    bool q[32];
    bool undefined[32];
} ref_warp;

/* By the name of the meaning; false when unknown. */
bool ref_warp_eval(const char *meaning, ref_warp *w);

#ifdef __cplusplus
}
#endif
#endif
