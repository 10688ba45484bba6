/* kernels.cu - the kernels for NVIDIA GPUs. */

/* to[i] = value for every thread i of the grid: shows that a device runs our code. */
extern "C" __global__ void sfu_probe(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
