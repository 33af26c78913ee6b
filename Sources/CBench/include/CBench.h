#ifndef HEARTH_BENCH_H
#define HEARTH_BENCH_H

#include <stdint.h>

/// Returns the number of allocations of the calling thread; a reallocation counts as one.
/// Always 0 where the allocator of the C library can't be replaced.
uint64_t hearth_thread_allocations(void);

/// Returns 1 if allocations are counted, otherwise 0.
int hearth_counts_allocations(void);

/// Returns the operating system's ID of the calling thread; 0 where threads can't be pinned.
int32_t hearth_thread_id(void);

/// Returns the index-th CPU of the process's affinity mask at the first call, or -1 if it has fewer.
int32_t hearth_allowed_cpu(int32_t index);

/// Pins a thread to one CPU, or with -1 to all CPUs of the process. Returns 0 on success.
/// Not thread-safe.
int32_t hearth_place_thread(int32_t thread, int32_t cpu);

#endif
