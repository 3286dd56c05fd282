/* The wrappers of width 32 over the text of width 1: handlers of one lane, for the host. See tests/width1/README.md. */
#undef PXL_WIDTH
#define PXL_WIDTH 32
#include_next "gen/isa_wrap_int.h"
