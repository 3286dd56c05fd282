// A spin lock that every lane takes in each turn of a loop: the loop that waits lies in another and shares its head.
extern "C" __global__ void div_lock_loop(unsigned *lock, volatile unsigned *total, int turns)
{
    for (int k = 0; k < turns; k++) {
        while (atomicCAS(lock, 0u, 1u) != 0u)
            ;
        __threadfence();
        total[0] = total[0] + threadIdx.x * (k + 1);
        total[1] = total[1] + 1;
        __threadfence();
        atomicExch(lock, 0u);
    }
}
