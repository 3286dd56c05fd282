/* host.h - keeps the calling program's floating-point environment and locale out of what we read and compute.
 *
 * A program may have set another rounding mode, flushing of subnormals (which -ffast-math does at its start), traps, or a
 * locale whose numbers have a comma, before it calls us. Numbers in PTX mean the same in all of them.
 */
#ifndef PTX_HOST_H
#define PTX_HOST_H

#include <fenv.h>
#include <locale.h>

typedef struct ptx_host {
    fenv_t floats;
    locale_t neutral, before;
} ptx_host;

/* Sets the defaults for this thread, and keeps what was there. */
static inline void ptx_host_leave(ptx_host *h)
{
    fegetenv(&h->floats);
    fesetenv(FE_DFL_ENV);
    h->neutral = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    h->before = uselocale(h->neutral);
}

static inline void ptx_host_return(const ptx_host *h)
{
    uselocale(h->before);
    if (h->neutral)
        freelocale(h->neutral);
    fesetenv(&h->floats);
}

#endif
