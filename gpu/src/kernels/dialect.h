/* What differs between the languages that these sources are compiled as: OpenCL C 1.2, and CUDA C where __CUDACC__ says so. */

#ifdef __CUDACC__
typedef unsigned int uint;
typedef unsigned long long ulong;
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SCRATCH_ARGUMENT
#define SCRATCH extern __shared__ uint scratch[];
#define LOCAL_INDEX threadIdx.x
#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define TAKE(counter) atomicAdd(counter, 1u)
#else
#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define GLOBAL __global
#define SCRATCH_ARGUMENT , __local uint *scratch
#define SCRATCH
#define LOCAL_INDEX get_local_id(0)
#define GLOBAL_INDEX get_global_id(0)
#define TAKE(counter) atomic_inc(counter)
#endif
