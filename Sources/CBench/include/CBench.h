#ifndef HEARTH_BENCH_H
#define HEARTH_BENCH_H

#include <stdint.h>

/// How many blocks the calling thread has asked for since it began; a block that was made larger counts once more.
/// Always 0 where the C library's allocator can't be stood in for.
uint64_t hearth_thread_allocations(void);

/// Whether allocations are counted.
int hearth_counts_allocations(void);

/// The calling thread's number in the system; 0 where threads can't be placed.
int32_t hearth_thread_id(void);

/// The index-th of the CPUs that the process was given when this was first asked, -1 if there are not as many.
int32_t hearth_allowed_cpu(int32_t index);

/// Lets a thread run on one CPU only, or with -1 on all that the process was given. Returns 0 on success.
/// Not to be called from two threads at once.
int32_t hearth_place_thread(int32_t thread, int32_t cpu);

#endif
