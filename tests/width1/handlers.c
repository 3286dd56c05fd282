/* handlers.c - the table of width-1 handlers by meaning id; NULL where a family has none. */
#include <stdint.h>

typedef void (*handler)(char *r, const uint32_t *o);

#define ISA_HANDLER(name) extern void pxl_width1_##name(char *, const uint32_t *) __attribute__((weak));
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER

extern const handler pxl_handlers_width1[];
const handler pxl_handlers_width1[] = {
    0,
#define ISA_HANDLER(name) pxl_width1_##name,
#include "gen/isa_handlers.inc"
};
