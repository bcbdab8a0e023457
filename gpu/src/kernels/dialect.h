/* What differs between the languages that these sources are compiled as: OpenCL C 1.2, and CUDA C where __CUDACC__ says so. */

#ifdef __CUDACC__
typedef unsigned int uint;
typedef unsigned long long ulong;
#define KERNEL(group) extern "C" __global__ void
#define GLOBAL
#define LOCAL
#define INSIDE static __device__
#define RESTRICT __restrict__
#define SCRATCH_ARGUMENT
#define SCRATCH extern __shared__ __align__(128) uint scratch[];
#define MAKE4(a, b, c, d) make_uint4(a, b, c, d)
#define LOCAL_INDEX threadIdx.x
#define GROUP_INDEX blockIdx.x
#define GROUPS gridDim.x
#ifdef LOCKSTEP
#define BARRIER __syncwarp()
#define BALLOT(flag) __ballot_sync(~0u, flag)
#else
#define BARRIER __syncthreads()
#endif
#define TAKE(counter) atomicAdd(counter, 1u)
#define ADD(counter, more) atomicAdd(counter, more)
#define SET(words, bits) atomicOr(words, bits)
#define ONES(words) ones(words)
#define ADD_SATURATED(a, b) ((a) + (b) < (a) ? ~0ull : (a) + (b))
/* Vectors of VECTOR words of 64 bits, where a kernel has them: here always two. */
typedef ulonglong2 Lanes;
#define NO_LANES make_ulonglong2(0, 0)
static __device__ uint ones(uint word) { return __popc(word); }
static __device__ Lanes ones(Lanes a) { return make_ulonglong2(__popcll(a.x), __popcll(a.y)); }
static __device__ Lanes operator&(Lanes a, Lanes b) { return make_ulonglong2(a.x & b.x, a.y & b.y); }
static __device__ Lanes operator+(Lanes a, Lanes b) { return make_ulonglong2(a.x + b.x, a.y + b.y); }
#else
#ifdef VECTOR
#define JOINED(a, b) a##b
#define WORDS(count) JOINED(ulong, count)
typedef WORDS(VECTOR) Lanes;
#define NO_LANES ((Lanes)(0))
#endif
#define KERNEL(group) __kernel __attribute__((reqd_work_group_size(group, 1, 1))) void
#define GLOBAL __global
#define LOCAL __local
#define INSIDE
#define RESTRICT restrict
/* Drivers align local memory for the type that the argument points to, NVIDIA's to four bytes where that is uint. */
#define SCRATCH_ARGUMENT , __local ulong16 *vectors
#define SCRATCH __local uint *scratch = (__local uint *)vectors;
#define MAKE4(a, b, c, d) ((uint4)(a, b, c, d))
#define LOCAL_INDEX ((uint)get_local_id(0))
#define GROUP_INDEX ((uint)get_group_id(0))
#define GROUPS ((uint)get_num_groups(0))
#ifdef LOCKSTEP
/* NVIDIA's compiler knows no such functions, but its own assembler. */
#define BARRIER __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#define BALLOT(flag) ballot(flag)
INSIDE uint ballot(uint flag)
{
    uint votes;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(votes) : "r"(flag));
    return votes;
}
#else
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define TAKE(counter) atomic_inc(counter)
#define ADD(counter, more) atomic_add(counter, more)
#define SET(words, bits) atomic_or(words, bits)
#define ONES(words) popcount(words)
#define ADD_SATURATED(a, b) add_sat(a, b)
#endif

/*
 * Which of a group's items, 32 at most, say yes: they vote for it, and after the next barrier each one knows who did. Items in
 * lockstep, and one alone, know it at once; others do it by a word of local memory for each question, which was cleared before.
 */
#ifdef LOCKSTEP
#define VOTE(flag, word) BALLOT(flag)
#define VOTES(votes, word) (votes)
#define CLEAR_VOTES(words, count)
#elif defined(GROUP) && GROUP == 1
#define VOTE(flag, word) (flag)
#define VOTES(votes, word) (votes)
#define CLEAR_VOTES(words, count)
#else
#define VOTE(flag, word) ((flag) ? SET(word, 1u << LOCAL_INDEX) : 0)
#define VOTES(votes, word) (*(word))
#define CLEAR_VOTES(words, count)                                                                                               \
    for (uint word = 0; word < (count); word++)                                                                                 \
    (words)[word] = 0
#endif

/* How many of them are before this one. */
#define BEFORE(votes) ONES((votes) & ((1u << LOCAL_INDEX) - 1))

/* A word moved up by a distance, which is given as a power of two as well: NVIDIA's cards multiply beside all else that they do. */
#ifdef LOCKSTEP
#define MOVED_UP(word, power, distance) ((word) * (power))
#else
#define MOVED_UP(word, power, distance) ((word) << (distance))
#endif
