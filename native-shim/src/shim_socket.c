// Sockets that carry descriptors between processes. Calls shim_status.c only.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "shim_file.h"

// Room for surplus descriptors of a message: the kernel closes those that do
// not fit, we close those that do.
enum { MOST_DESCRIPTORS = 8, BACKLOG = 16 };

static shim_status_t failed(shim_error_t* error, const char* what, int code) {
  shim_status_t status = SHIM_INTERNAL;
  switch (code) {
    case EBADF:
    case ENOTSOCK:
    case EINVAL:
    case EOPNOTSUPP:
      status = SHIM_INVALID_ARGUMENT;
      break;
    case EADDRINUSE:
      status = SHIM_ALREADY_EXISTS;
      break;
    case ENOENT:
    case ENOTDIR:
      status = SHIM_NOT_FOUND;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      status = SHIM_PERMISSION_DENIED;
      break;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ENOTCONN:
    case EPROTOTYPE:
      status = SHIM_UNAVAILABLE;
      break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ETOOMANYREFS:
    case ENOSPC:
      status = SHIM_RESOURCE_EXHAUSTED;
      break;
  }
  return shim_error_set(error, status, code, "%s failed with errno %d", what,
                        code);
}

// Creates a socket and its address.
static shim_status_t create(const char* path, size_t path_length,
                            struct sockaddr_un* out_address, int* out_socket,
                            shim_error_t* error) {
  memset(out_address, 0, sizeof(*out_address));
  *out_socket = -1;
  if (path_length == 0 || path_length >= sizeof(out_address->sun_path) ||
      memchr(path, 0, path_length)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "path of %zu bytes is empty, longer than %zu or has "
                          "a zero in it",
                          path_length, sizeof(out_address->sun_path) - 1);
  }
  out_address->sun_family = AF_UNIX;
  memcpy(out_address->sun_path, path, path_length);
  *out_socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  return *out_socket < 0 ? failed(error, "socket", errno) : SHIM_OK;
}

shim_status_t shim_socket_listen(const char* path, size_t path_length,
                                 int32_t* out_socket, shim_error_t* error) {
  *out_socket = 0;
  struct sockaddr_un address;
  int fd;
  shim_status_t status = create(path, path_length, &address, &fd, error);
  if (status != SHIM_OK) return status;
  if (bind(fd, (struct sockaddr*)&address, sizeof(address)) != 0) {
    status = failed(error, "bind", errno);
    close(fd);
    return status;
  }
  if (listen(fd, BACKLOG) != 0) {
    status = failed(error, "listen", errno);
    unlink(address.sun_path);  // created by bind
    close(fd);
    return status;
  }
  *out_socket = fd;
  return SHIM_OK;
}

shim_status_t shim_socket_connect(const char* path, size_t path_length,
                                  int32_t* out_socket, shim_error_t* error) {
  *out_socket = 0;
  struct sockaddr_un address;
  int fd;
  shim_status_t status = create(path, path_length, &address, &fd, error);
  if (status != SHIM_OK) return status;
  int result;
  do {
    result = connect(fd, (struct sockaddr*)&address, sizeof(address));
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    status = failed(error, "connect", errno);
    close(fd);
    return status;
  }
  *out_socket = fd;
  return SHIM_OK;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Waits until a socket is readable.
static shim_status_t await(int fd, int64_t timeout_ns, shim_error_t* error) {
  int64_t deadline = -1;
  if (timeout_ns >= 0) {
    int64_t now = now_ns();
    deadline = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  }
  for (;;) {
    int timeout = -1;
    if (deadline >= 0) {
      int64_t left = deadline - now_ns();
      int64_t ms = left <= 0 ? 0 : (left + 999999) / 1000000;
      timeout = ms > 1000000 ? 1000000 : (int)ms;
    }
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    int ready = poll(&descriptor, 1, timeout);
    if (ready > 0 && (descriptor.revents & POLLNVAL)) {
      return failed(error, "poll", EBADF);
    }
    if (ready > 0) return SHIM_OK;
    if (ready < 0 && errno != EINTR) return failed(error, "poll", errno);
    if (deadline >= 0 && now_ns() >= deadline) {
      return shim_error_set(error, SHIM_DEADLINE_EXCEEDED, 0,
                            "nothing came within %lld ns",
                            (long long)timeout_ns);
    }
  }
}

shim_status_t shim_socket_accept(int32_t listening, int64_t timeout_ns,
                                 int32_t* out_socket, shim_error_t* error) {
  *out_socket = 0;
  shim_status_t status = await(listening, timeout_ns, error);
  if (status != SHIM_OK) return status;
  int fd;
  do {
    fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return failed(error, "accept", errno);
  *out_socket = fd;
  return SHIM_OK;
}

shim_status_t shim_socket_send(int32_t socket, int32_t fd, uint64_t tag,
                               shim_error_t* error) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof(control));
  struct iovec data = {.iov_base = &tag, .iov_len = sizeof(tag)};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = fd;
  memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)sizeof(tag) ? SHIM_OK
                                      : failed(error, "sendmsg", errno);
}

// Closes the descriptors of a message and counts them; returns the only one
// instead when |keep_one| and there is exactly one, else -1.
static int descriptors_of(struct msghdr* message, int keep_one,
                          int* out_count) {
  int kept = -1;
  int count = 0;
  for (struct cmsghdr* header = CMSG_FIRSTHDR(message); header;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t bytes = header->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + at, sizeof(fd));
      if (keep_one && count == 0) {
        kept = fd;
      } else {
        close(fd);
      }
      ++count;
    }
  }
  if (kept >= 0 && count != 1) {
    close(kept);
    kept = -1;
  }
  *out_count = count;
  return kept;
}

shim_status_t shim_socket_receive(int32_t socket, int64_t timeout_ns,
                                  int32_t* out_fd, uint64_t* out_tag,
                                  shim_error_t* error) {
  *out_fd = 0;
  *out_tag = 0;
  shim_status_t status = await(socket, timeout_ns, error);
  if (status != SHIM_OK) return status;
  uint64_t tag = 0;
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  } control;
  memset(&control, 0, sizeof(control));
  struct iovec data = {.iov_base = &tag, .iov_len = sizeof(tag)};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes)};
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return failed(error, "recvmsg", errno);
  const int whole = received == (ssize_t)sizeof(tag) &&
                    !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
  int count = 0;
  const int fd = descriptors_of(&message, whole, &count);
  if (fd < 0 && received == 0 && message.msg_controllen == 0) {
    return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                          "the other side has closed the socket");
  }
  // The kernel truncates for lack of room, or of descriptors.
  if (fd < 0 && (message.msg_flags & MSG_CTRUNC) && count < MOST_DESCRIPTORS) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, EMFILE,
                          "no room for the descriptor of a message, which is "
                          "lost; raise the limit of open files");
  }
  if (fd < 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "message of %zd bytes, flags %x, is not 8 bytes and "
                          "one descriptor",
                          received, (unsigned)message.msg_flags);
  }
  *out_fd = fd;
  *out_tag = tag;
  return SHIM_OK;
}
