/* shim.c - stands for ptxbridge's own libcuda.so.1, which the NVIDIA device must not take for a driver. */
__attribute__((visibility("default"))) extern const int pxb_shim;
const int pxb_shim = 1;
