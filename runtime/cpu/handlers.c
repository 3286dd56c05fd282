/* handlers.c - the handlers of ptx/lib by number of their meaning, one table an instruction-set level.
 *
 * gen/isa_handlers.inc lists the meanings in the order of their numbers, which begin at 1.
 */
#include "runtime/cpu/internal.h"

#define JOIN_(level, name) pxl_##level##_##name
#define JOIN(level, name) JOIN_(level, name)

#ifdef CPU_PARTIAL_HANDLERS      /* for work on ptx/lib: what is not there yet is NULL */
#define DECLARE(level, name) extern void JOIN(level, name)(char *r, const uint32_t *o) __attribute__((weak));
#else
#define DECLARE(level, name) extern void JOIN(level, name)(char *r, const uint32_t *o);
#endif

#if defined(__x86_64__)
/* The build says which levels it holds (PTXBRIDGE_LEVELS). */

#ifdef PTXB_LEVEL_v2
#define ISA_HANDLER(name) DECLARE(v2, name)
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
const cpu_handler pxl_handlers_v2[] = {
    0,
#define ISA_HANDLER(name) JOIN(v2, name),
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
};
#endif

#ifdef PTXB_LEVEL_v3
#define ISA_HANDLER(name) DECLARE(v3, name)
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
const cpu_handler pxl_handlers_v3[] = {
    0,
#define ISA_HANDLER(name) JOIN(v3, name),
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
};
#endif

#ifdef PTXB_LEVEL_v4
#define ISA_HANDLER(name) DECLARE(v4, name)
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
const cpu_handler pxl_handlers_v4[] = {
    0,
#define ISA_HANDLER(name) JOIN(v4, name),
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
};
#endif

#else

#define ISA_HANDLER(name) DECLARE(generic, name)
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER

const cpu_handler pxl_handlers_generic[] = {
    0,
#define ISA_HANDLER(name) JOIN(generic, name),
#include "gen/isa_handlers.inc"
#undef ISA_HANDLER
};

#endif
