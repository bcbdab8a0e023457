/* What the sources share, in OpenCL C 1.2, and what differs between the devices that they are compiled for. */

#define KERNEL(group) __kernel __attribute__((reqd_work_group_size(group, 1, 1))) void
/* Drivers align local memory for the type that the argument points to, NVIDIA's to four bytes where that is uint. */
#define SCRATCH_ARGUMENT , local ulong16 *vectors
#define SCRATCH local uint *scratch = (local uint *)vectors;
#define LOCAL_INDEX ((uint)get_local_id(0))
#define GROUP_INDEX ((uint)get_group_id(0))
#define GROUPS ((uint)get_num_groups(0))
#define OUTER_INDEX ((uint)get_group_id(1))
/* The last that a group does: the host compares how many have done it with how many it has launched. */
#define GROUP_ENDS(ended)                                                                                                       \
    if (LOCAL_INDEX == 0)                                                                                                       \
    atomic_inc(ended)
#ifdef LOCKSTEP
/* NVIDIA's compiler knows no such functions, but its own assembler. */
#define BARRIER __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory")
uint ballot(uint flag)
{
    uint votes;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(votes) : "r"(flag));
    return votes;
}
#else
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif

/*
 * Which of a group's items, 32 at most, say yes: they vote for it, and after the next barrier each one knows who did. Items in
 * lockstep, and one alone, know it at once; others do it by a word of local memory for each question, which was cleared before.
 */
#ifdef LOCKSTEP
#define WORDS_OF_VOTE 0
#define VOTE(flag, word) ballot(flag)
#define VOTES(votes, word) (votes)
#define CLEAR_VOTES(words, count)
#elif GROUP == 1
#define WORDS_OF_VOTE 0
#define VOTE(flag, word) (flag)
#define VOTES(votes, word) (votes)
#define CLEAR_VOTES(words, count)
#else
#define WORDS_OF_VOTE 1
#define VOTE(flag, word) ((flag) ? atomic_or(word, 1u << LOCAL_INDEX) : 0)
#define VOTES(votes, word) (*(word))
#define CLEAR_VOTES(words, count)                                                                                               \
    for (uint word = 0; word < (count); word++)                                                                                 \
    (words)[word] = 0
#endif

/* How many of them are before this one. */
#define BEFORE(votes) popcount((votes) & ((1u << LOCAL_INDEX) - 1))

/* A word moved up by a distance, which is given as a power of two as well: NVIDIA's cards multiply beside all else that they do. */
#ifdef LOCKSTEP
#define MOVED_UP(word, power, distance) ((word) * (power))
/* In OpenCL a distance counts modulo 32, which is an operation more; in NVIDIA's assembler it does not. */
uint MOVED_DOWN(uint word, uint distance)
{
    uint moved;
    __asm__("shr.u32 %0, %1, %2;" : "=r"(moved) : "r"(word), "r"(distance));
    return moved;
}
/* The bits that none of three words has: one operation, of which NVIDIA's compiler makes two by itself. */
uint NONE_OF(uint one, uint two, uint three)
{
    uint none;
    __asm__("lop3.b32 %0, %1, %2, %3, 0x01;" : "=r"(none) : "r"(one), "r"(two), "r"(three));
    return none;
}
#else
#define MOVED_DOWN(word, distance) ((word) >> (distance))
#define NONE_OF(one, two, three) (~((one) | (two) | (three)))
#define MOVED_UP(word, power, distance) ((word) << (distance))
#endif
