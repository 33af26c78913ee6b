#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>

// Avahi reads its descriptors itself, so the event loop needs to learn that one is ready without reading it. NIO can't
// do this: its channels always read. With these calls the kernel turns the readiness of a set of descriptors into a
// count on an eventfd, which a channel can read. They are in C because `syscall` is variadic.

/// Creates a set of descriptors (an epoll instance); -1 on failure.
static inline int hearth_set_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Creates an eventfd counter that a channel can read; -1 on failure.
static inline int hearth_counter_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Adds a descriptor to the set, or changes its events. `events` are those of poll(2), which epoll shares.
static inline int hearth_set_watch(int set, int descriptor, short events) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = (uint32_t)(uint16_t)events;
  event.data.fd = descriptor;
  if (epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
  return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

/// Removes a descriptor from the set. Closed descriptors are removed automatically.
static inline void hearth_set_forget(int set, int descriptor) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
}

/// Returns which of `events` are ready on a descriptor, without waiting.
static inline short hearth_ready(int descriptor, short events) {
  struct pollfd entry = {.fd = descriptor, .events = events, .revents = 0};
  return poll(&entry, 1, 0) > 0 ? entry.revents : 0;
}

/// Creates a context for kernel AIO. Returns 0 or an error number.
static inline int hearth_aio_make(unsigned long *context) {
  *context = 0;
  return syscall(SYS_io_setup, 1, context) == 0 ? 0 : errno;
}

/// Adds one to the counter once a descriptor of the set is ready. One-shot. Returns 0 or an error number.
static inline int hearth_aio_arm(unsigned long context, int set, int counter) {
  struct io_event done;
  struct timespec none = {0, 0};
  // Reaps the previous, completed request to free its slot.
  syscall(SYS_io_getevents, context, 0, 1, &done, &none);
  struct iocb request;
  memset(&request, 0, sizeof request);
  request.aio_lio_opcode = IOCB_CMD_POLL;
  request.aio_fildes = (uint32_t)set;
  request.aio_buf = POLLIN;
  request.aio_flags = IOCB_FLAG_RESFD;
  request.aio_resfd = (uint32_t)counter;
  struct iocb *list[1] = {&request};
  return syscall(SYS_io_submit, context, 1, list) == 1 ? 0 : errno;
}

static inline void hearth_aio_destroy(unsigned long context) { syscall(SYS_io_destroy, context); }

/// Returns 1 if the kernel's clock is synchronized by a time service, 0 if not, -1 if unknown. Sets `error` to the
/// maximum error in microseconds. Reads only: no mode is set.
static inline int hearth_clock_synchronized(long *error) {
  struct timex state;
  memset(&state, 0, sizeof state);
  int result = adjtimex(&state);
  if (result < 0) return -1;
  *error = state.maxerror;
  return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// Returns freed memory to the operating system.
static inline void hearth_release_freed_memory(void) { malloc_trim(0); }
