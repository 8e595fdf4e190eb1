// Events of the operating system: eventfd, and waiting for descriptors to
// become readable. Calls shim_status.c only.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "shim_internal.h"

// The most events that one system call returns.
enum { BATCH = 64 };

static shim_status_t out_of_descriptors(shim_error_t* error, const char* what,
                                        int code) {
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "%s failed with errno %d; raise the limit of open "
                        "files",
                        what, code);
}

static shim_status_t not_open(shim_error_t* error, int32_t fd, int code) {
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                        "descriptor %d is not open", fd);
}

shim_status_t shim_event_create(int32_t* out_fd, shim_error_t* error) {
  *out_fd = 0;
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return out_of_descriptors(error, "eventfd", errno);
  *out_fd = fd;
  return SHIM_OK;
}

shim_status_t shim_event_duplicate(int32_t fd, int32_t* out_fd,
                                   shim_error_t* error) {
  *out_fd = 0;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    return errno == EBADF ? not_open(error, fd, errno)
                          : out_of_descriptors(error, "fcntl", errno);
  }
  *out_fd = copy;
  return SHIM_OK;
}

shim_status_t shim_event_signal(int32_t fd, uint64_t amount,
                                shim_error_t* error) {
  ssize_t written;
  do {
    written = write(fd, &amount, sizeof(amount));
  } while (written < 0 && errno == EINTR);
  // A full counter is readable as well.
  if (written == (ssize_t)sizeof(amount) || errno == EAGAIN) return SHIM_OK;
  int code = errno;
  if (code == EBADF) return not_open(error, fd, code);
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                        "descriptor %d is not an eventfd: errno %d", fd, code);
}

shim_status_t shim_event_take(int32_t fd, uint64_t* out_count,
                              shim_error_t* error) {
  *out_count = 0;
  uint64_t count = 0;
  ssize_t taken;
  do {
    taken = read(fd, &count, sizeof(count));
  } while (taken < 0 && errno == EINTR);
  if (taken == (ssize_t)sizeof(count)) {
    *out_count = count;
    return SHIM_OK;
  }
  if (taken < 0 && errno == EAGAIN) return SHIM_OK;
  int code = taken < 0 ? errno : 0;
  if (code == EBADF) return not_open(error, fd, code);
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                        "descriptor %d is not an eventfd: errno %d", fd, code);
}

shim_status_t shim__event_outcome(int32_t fd, shim__ioctl_t query,
                                  int32_t* out_code, shim_error_t* error) {
  *out_code = 0;
  shim__sync_file_info_t info;
  memset(&info, 0, sizeof(info));  // no room for fences: not needed
  if (query(fd, SHIM__SYNC_FILE_INFO, &info) != 0) {
    if (errno == EBADF) return not_open(error, fd, errno);
    return SHIM_OK; // not a sync_fd
  }
  if (info.status < 0) *out_code = -info.status;
  return SHIM_OK;
}

// musl declares the request of ioctl as POSIX does, glibc as Linux does; the
// kernel reads 32 bits.
#if defined(__GLIBC__)
typedef unsigned long request_t;
#else
typedef int request_t;
#endif

static int query_kernel(int fd, unsigned long request, void* argument) {
  int result;
  do {
    result = ioctl(fd, (request_t)request, argument);
  } while (result < 0 && errno == EINTR);
  return result;
}

shim_status_t shim_event_outcome(int32_t fd, int32_t* out_code,
                                 shim_error_t* error) {
  *out_code = 0;
  // Emulators report an unknown request for any descriptor, even a closed one.
  if (fcntl(fd, F_GETFD) < 0) return not_open(error, fd, errno);
  return shim__event_outcome(fd, query_kernel, out_code, error);
}

shim_status_t shim_poller_create(int32_t* out_poller, shim_error_t* error) {
  *out_poller = 0;
  int poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) return out_of_descriptors(error, "epoll_create1", errno);
  *out_poller = poller;
  return SHIM_OK;
}

void shim_poller_release(int32_t poller) { close(poller); }

static shim_status_t poller_add(int32_t poller, int32_t fd, uint64_t token,
                                uint32_t events, shim_error_t* error) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0) return SHIM_OK;
  int code = errno;
  switch (code) {
    case EBADF:
      return not_open(error, fd, code);
    case EEXIST:
      return shim_error_set(error, SHIM_ALREADY_EXISTS, code,
                            "descriptor %d is waited for already", fd);
    case EPERM:
    case EINVAL:
    case ELOOP:
      return shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                            "descriptor %d is of a kind that cannot be waited "
                            "for",
                            fd);
    default:
      return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                            "epoll_ctl failed with errno %d", code);
  }
}

shim_status_t shim_poller_add(int32_t poller, int32_t fd, uint64_t token,
                              shim_error_t* error) {
  return poller_add(poller, fd, token, EPOLLIN | EPOLLONESHOT, error);
}

shim_status_t shim_poller_keep(int32_t poller, int32_t fd, uint64_t token,
                               shim_error_t* error) {
  return poller_add(poller, fd, token, EPOLLIN, error);
}

void shim_poller_remove(int32_t poller, int32_t fd) {
  struct epoll_event ignored = {0};
  epoll_ctl(poller, EPOLL_CTL_DEL, fd, &ignored);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Milliseconds until |deadline|, rounded up so that the wait never spins
// through the last one; -1 for no deadline.
static int wait_timeout(int64_t deadline) {
  if (deadline < 0) return -1;
  int64_t left = deadline - now_ns();
  if (left <= 0) return 0;
  int64_t ms = (left + 999999) / 1000000;
  return ms > 1000000 ? 1000000 : (int)ms;
}

shim_status_t shim_poller_wait(int32_t poller, int64_t timeout_ns,
                               uint32_t capacity, shim_completion_t* out_events,
                               uint32_t* out_count, shim_error_t* error) {
  *out_count = 0;
  int64_t deadline = -1;
  if (timeout_ns >= 0) {
    int64_t now = now_ns();
    deadline = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  }
  struct epoll_event events[BATCH];
  int limit = capacity < BATCH ? (int)capacity : BATCH;
  if (limit == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "no room for events");
  }
  for (;;) {
    int count = epoll_wait(poller, events, limit, wait_timeout(deadline));
    if (count > 0) {
      for (int i = 0; i < count; ++i) {
        bool readable = (events[i].events & EPOLLIN) != 0;
        out_events[i] = (shim_completion_t){
            .token = events[i].data.u64,
            .status = readable ? SHIM_OK : SHIM_UNAVAILABLE,
            .native_code = (int32_t)events[i].events};
      }
      *out_count = (uint32_t)count;
      return SHIM_OK;
    }
    if (count < 0 && errno != EINTR) {
      int code = errno;
      return shim_error_set(error, SHIM_INTERNAL, code,
                            "epoll_wait failed with errno %d", code);
    }
    if (deadline >= 0 && now_ns() >= deadline) return SHIM_OK;
  }
}
