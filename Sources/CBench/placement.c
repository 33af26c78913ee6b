#define _GNU_SOURCE
#include "CBench.h"

#if defined(__linux__)

#include <sched.h>
#include <unistd.h>

static cpu_set_t allowed;
static int is_known;

static const cpu_set_t *allowed_cpus(void) {
  if (!is_known) {
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    is_known = 1;
  }
  return &allowed;
}

int32_t hearth_thread_id(void) { return (int32_t)gettid(); }

int32_t hearth_allowed_cpu(int32_t index) {
  const cpu_set_t *set = allowed_cpus();
  for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu += 1) {
    if (CPU_ISSET(cpu, set) && index-- == 0) return cpu;
  }
  return -1;
}

int32_t hearth_place_thread(int32_t thread, int32_t cpu) {
  cpu_set_t set = *allowed_cpus();
  if (cpu >= 0) {
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
  }
  return sched_setaffinity(thread, sizeof(set), &set);
}

#else

int32_t hearth_thread_id(void) { return 0; }
int32_t hearth_allowed_cpu(int32_t index) { return -1; }
int32_t hearth_place_thread(int32_t thread, int32_t cpu) { return -1; }

#endif
