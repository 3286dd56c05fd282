#!/bin/sh
# Remakes the PTX of every kernel with nvcc and checks all PTX with ptxas. With names, only those.
# Hand-written PTX (no .cu beside it) is checked only. Needs CUDA 13; users of the corpus do not.
set -eu
cd "$(dirname "$0")"

table='
approx_f32 sm_75 nvcc
approx_trig sm_75 nvcc
atomic_cas_loop sm_75 nvcc
atomics sm_90 nvcc
attention sm_90 nvcc
barrier_red sm_75 nvcc
bf16_half2 sm_90 nvcc
bf16_mma sm_80 nvcc
bilateral sm_75 nvcc
bit_ops sm_80 nvcc
bitonic_sort sm_89 nvcc
black_scholes sm_89 nvcc
bulk_pipeline sm_90 nvcc
bulk_reduce sm_90 nvcc
carry128 sm_89 nvcc
const_globals sm_89 nvcc
conv1d_const sm_75 nvcc
convert sm_80 nvcc
coop_grid sm_80 nvcc
coop_tiles sm_90 nvcc
cp_async sm_80 nvcc
crc32 sm_75 nvcc
device_malloc sm_89 nvcc
div_barrier_arms sm_89 nvcc
div_barrier_loop sm_120 nvcc
div_brx sm_75 hand
div_calls sm_80 nvcc
div_irreducible sm_75 hand
div_lane_lock sm_75 nvcc
div_lock_loop sm_75 nvcc
div_mask_loop sm_90 nvcc
div_nested_break sm_80 nvcc
div_predicates sm_89 nvcc
div_recursion sm_75 nvcc
div_ret_barrier sm_89 nvcc
div_ret_shuffle sm_90 nvcc
div_spin_global sm_80 nvcc
div_spin_shared sm_75 nvcc
div_switch sm_75 nvcc
div_trip_counts sm_75 nvcc
dmma_f64 sm_80 nvcc
dot_product sm_89 nvcc
dyn_shared sm_90 nvcc
elect sm_90 nvcc
f32_ftz_sat sm_89 nvcc
f32_rounding sm_75 nvcc
f64_rounding sm_120 nvcc
fault_barrier sm_75 hand
fault_barrier_cross sm_75 nvcc
fault_bulk_size sm_90 nvcc
fault_infinite sm_80 nvcc
fault_misaligned sm_89 nvcc
fault_null_load sm_90 nvcc
fault_oob_store sm_80 nvcc
fault_shared_oob sm_75 nvcc
fault_surface sm_89 nvcc
fault_trap sm_75 nvcc
flash_attention sm_80 nvcc
float_atomics sm_90 nvcc
fp8_convert sm_89 nvcc
fp8_gemm_f16 sm_89 nvcc
fp8_gemm_f32 sm_89 nvcc
function_pointers sm_80 nvcc
generic_spaces sm_75 nvcc
grid_barrier sm_75 hand
half_convert sm_90 nvcc
hgemm_f16acc sm_75 nvcc
hgemm_f16acc_k16 sm_90 nvcc
hgemm_mma sm_80 nvcc
histogram sm_80 nvcc
imma_s4_b1 sm_80 nvcc
imma_s8 sm_80 nvcc
int64 sm_120 nvcc
int8_16 sm_75 nvcc
kmeans_step sm_90 nvcc
layer_norm sm_89 nvcc
life_bytes sm_80 nvcc
local_array sm_75 nvcc
mandelbrot sm_80 nvcc
match_any_all sm_75 nvcc
math_f32 sm_120 nvcc
math_f64 sm_90 nvcc
matmul_tiled sm_90 nvcc
matrix_bytes sm_120a nvcc
matrix_moves sm_90 nvcc
mbarrier sm_90 nvcc
mxfp8_gemm sm_120a nvcc
named_barrier sm_80 nvcc
nbody sm_75 nvcc
noinline_call sm_75 nvcc
nvfp4_gemm sm_120a nvcc
packed_f32x2 sm_120 nvcc
permute sm_120 nvcc
philox sm_120 nvcc
printf_lines sm_75 nvcc
recursion sm_80 nvcc
reduce_block sm_75 nvcc
redux sm_80 nvcc
saxpy sm_75 nvcc
scan_block sm_80 nvcc
scan_shuffle sm_75 nvcc
sha256 sm_120 nvcc
shuffles sm_89 nvcc
softmax sm_80 nvcc
special_registers sm_120 nvcc
sparse_hgemm sm_80 nvcc
sparse_imma sm_80 nvcc
spmv sm_89 nvcc
stencil sm_120 nvcc
struct_param sm_120 nvcc
surface_reduce sm_89 nvcc
surface_write sm_80 nvcc
syncwarp_shared sm_75 nvcc
tex_fetch sm_89 nvcc
tex_linear sm_80 nvcc
tex_modes sm_89 nvcc
tex_options sm_89 nvcc
tf32_mma sm_80 nvcc
transpose sm_90 nvcc
vector_memory sm_80 nvcc
video sm_75 nvcc
volume_sample sm_90 nvcc
votes sm_75 nvcc
warp_aggregate sm_80 nvcc
window_attention sm_89 nvcc
wmma_gemm sm_75 nvcc
wmma_shapes sm_75 nvcc
'

printf '%s\n' "$table" | while read -r name arch kind; do
    [ -n "$name" ] || continue
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    [ "$kind" = hand ] || nvcc -ptx -std=c++17 -arch="$arch" -o "$name.ptx" "$name.cu"
    ptxas -arch="$arch" -o /dev/null "$name.ptx"
done
