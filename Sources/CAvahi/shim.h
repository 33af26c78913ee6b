#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>

#include <errno.h>
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

// The library reads its descriptors itself, so an event loop has to be told that one is ready without reading it. NIO
// can't watch such a descriptor: its channels always read. These few calls, which Swift can't make because `syscall` is
// variadic, let the kernel turn the readiness of a set of descriptors into a count on an eventfd, which a channel can read.

/// A new set of descriptors (an epoll instance), or -1.
static inline int hearth_set_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// A new counter that a channel can read, or -1.
static inline int hearth_counter_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Puts a descriptor into the set, or changes what it is watched for. `events` are those of poll(2), which epoll shares.
static inline int hearth_set_watch(int set, int descriptor, short events) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = (uint32_t)(uint16_t)events;
  event.data.fd = descriptor;
  if (epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
  return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

/// Takes a descriptor out of the set; one that is closed already is out.
static inline void hearth_set_forget(int set, int descriptor) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
}

/// What a descriptor is ready for now, of `events`; never waits.
static inline short hearth_ready(int descriptor, short events) {
  struct pollfd entry = {.fd = descriptor, .events = events, .revents = 0};
  return poll(&entry, 1, 0) > 0 ? entry.revents : 0;
}

/// A context for kernel AIO; 0 or an error number.
static inline int hearth_aio_make(unsigned long *context) {
  *context = 0;
  return syscall(SYS_io_setup, 1, context) == 0 ? 0 : errno;
}

/// Adds one to the counter as soon as the set has something ready, once. 0 or an error number.
static inline int hearth_aio_arm(unsigned long context, int set, int counter) {
  struct io_event done;
  struct timespec none = {0, 0};
  // The one before is over, and makes room.
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

/// Whether a time service keeps the kernel's clock: 1 if so, 0 if not, -1 if that is not known. `error` becomes the largest error in
/// microseconds. Reads only: no mode is set.
static inline int hearth_clock_synchronized(long *error) {
  struct timex state;
  memset(&state, 0, sizeof state);
  int result = adjtimex(&state);
  if (result < 0) return -1;
  *error = state.maxerror;
  return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
