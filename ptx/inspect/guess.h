/* guess.h - what an epilogue seems to do: named operations, each with what in the text speaks for it. */
#ifndef PTX_INSPECT_GUESS_H
#define PTX_INSPECT_GUESS_H

#include "ptx/inspect/epilogues.h"
#include "ptx/inspect/formula.h"

/* Fills the guesses of all epilogues. `sources` are PTI_ROLES for each phase. False when memory is exhausted. */
bool pti_guess_epilogues(const pti_statements *s, const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes,
                         const pti_sources *sources, pti_epilogues *epilogues);

#endif
