/* snippet.c - one wave run by hand: registers as the caller sets them, from a symbol to s_endpgm. For tests of instructions. */
#include <stdio.h>
#include <stdlib.h>
#include "runtime/sim/state.h"

/* The wave comes first, so that its address is that of the whole. */
typedef struct snippet {
    sim_wave wave;
    sim_block block;
    sim_launch launch;
} snippet;

sim_wave *sim_wave_new(sim_device *device, uint32_t lds_bytes, uint32_t scratch_bytes)
{
    snippet *s = aligned_alloc(_Alignof(snippet), sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    sim_wave *w = &s->wave;
    w->lanes = device->info.wave;
    w->device = device;
    w->target = &device->info;
    w->block = &s->block;
    s->launch = (sim_launch){.grid = {1, 1, 1}, .block = {w->lanes, 1, 1}};
    s->block = (sim_block){.launch = &s->launch, .nwaves = 1, .waves = w, .lds = calloc(1, lds_bytes + 1), .lds_bytes = lds_bytes};
    w->scratch = calloc(w->lanes, scratch_bytes + 1);
    w->scratch_bytes = scratch_bytes;
    w->active = w->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    sim_set_pair(w, SIM_EXEC, w->active);
    w->mode = 0xf0 | 1 << 8;                                /* denormals kept, round to nearest even, DX10_CLAMP */
    if (s->block.lds && w->scratch) return w;
    sim_wave_free(w);
    return NULL;
}

void sim_wave_free(sim_wave *wave)
{
    if (!wave) return;
    free(wave->block->lds);
    free(wave->scratch);
    free(wave);
}

sim_status sim_run_snippet(sim_module *module, const char *symbol, sim_wave *wave, sim_error *error)
{
    sim_error scratch;
    wave->error = error ? error : &scratch;
    memset(wave->error, 0, sizeof *wave->error);
    uint64_t entry = symbol ? sim_symbol(module, symbol, NULL) : 0;
    if (!entry) entry = module->text;
    wave->code = sim_module_code(module, wave->lanes);
    if (!wave->code || entry < module->text || entry - module->text >= module->text_bytes) {
        sim_set_error(wave->error, SIM_BAD_ARGUMENT, "no text to run");
        return SIM_BAD_ARGUMENT;
    }
    wave->at = (uint32_t)((entry - module->text) / 4);
    wave->state = WAVE_READY;
    for (uint32_t turn = 0; turn < 1000 && wave->state == WAVE_READY; turn++)
        if (!sim_wave_run(wave, 1 << 20)) return wave->error->status;
    if (wave->state == WAVE_ENDED) return SIM_OK;
    sim_set_error(wave->error, SIM_FAULT_TIMEOUT, "the snippet does not end");
    return SIM_FAULT_TIMEOUT;
}
