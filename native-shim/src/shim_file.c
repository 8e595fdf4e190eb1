// Opens files for transfers at any offset, and closes descriptors, on Linux and
// macOS. Calls shim_status.c only.
#include "shim_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static shim_status_t status_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return SHIM_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
      return SHIM_PERMISSION_DENIED;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return SHIM_RESOURCE_EXHAUSTED;
    case EISDIR:
    case ENXIO:
    case ELOOP:
    case ENAMETOOLONG:
      return SHIM_INVALID_ARGUMENT;
    default:
      return SHIM_UNAVAILABLE;
  }
}

shim_status_t shim_file_open(const char* path, size_t path_length,
                             uint32_t access, int32_t* out_fd,
                             shim_error_t* error) {
  *out_fd = 0;
  char name[PATH_MAX];
  if (path_length == 0 || path_length >= sizeof(name) ||
      memchr(path, 0, path_length)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "path of %zu bytes is empty, longer than %zu or has "
                          "a zero in it",
                          path_length, sizeof(name) - 1);
  }
  memcpy(name, path, path_length);
  name[path_length] = 0;
  int flags = access & SHIM_FILE_WRITE
                  ? (access & SHIM_FILE_READ ? O_RDWR : O_WRONLY)
                  : O_RDONLY;
  // Without O_NONBLOCK opening a pipe waits for its other end.
  int fd;
  do {
    fd = open(name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    int code = errno;
    shim_status_t status = status_of(code);
    return shim_error_set(error, status, code, "%s (errno %d)",
                          status == SHIM_NOT_FOUND ? "it does not exist"
                          : status == SHIM_PERMISSION_DENIED
                              ? "this process may not do that"
                              : "the system refuses",
                          code);
  }
  struct stat facts;
  if (fstat(fd, &facts) != 0 ||
      !(S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode))) {
    close(fd);
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "it is not a regular file or a block device");
  }
  *out_fd = fd;
  return SHIM_OK;
}

shim_status_t shim_file_length(int32_t fd, int64_t* out_length,
                               shim_error_t* error) {
  *out_length = 0;
  // Unlike fstat, this works for block devices. The file position is otherwise
  // unused.
  off_t length = lseek(fd, 0, SEEK_END);
  if (length < 0) {
    int code = errno;
    shim_status_t status =
        code == EBADF ? SHIM_INVALID_ARGUMENT : SHIM_DATA_LOSS;
    return shim_error_set(error, status, code,
                          "the length is not known: errno %d", code);
  }
  *out_length = length;
  return SHIM_OK;
}

void shim_event_close(int32_t fd) { close(fd); }
