// Opens files of Windows, as descriptors of the C library. Calls shim_status.c
// and windows_memory.c for errors.
#include "windows/windows_error.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim_file.h"
#include "shim_internal.h"

// The longest path, in UTF-16 and UTF-8. Paths with the prefix \\?\ have no
// limit of 260, and are taken literally: absolute, with backslashes.
enum { MOST_UNITS = 32768, MOST_BYTES = 4096 };

static shim_status_t status_of(int code) {
  switch (code) {
    case ENOENT:
      return SHIM_NOT_FOUND;
    case EACCES:
      return SHIM_PERMISSION_DENIED;
    case EMFILE:
    case ENOMEM:
      return SHIM_RESOURCE_EXHAUSTED;
    default:
      return SHIM_UNAVAILABLE;
  }
}

// The absolute path with its prefix, in MOST_UNITS units at |out|; false when
// Windows understands no path in it.
static bool name_of(const char* path, size_t length, wchar_t* out) {
  wchar_t given[MOST_BYTES];
  const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path,
                                        (int)length, given, MOST_BYTES - 1);
  if (units <= 0) return false;
  given[units] = 0;
  static const wchar_t prefix[] = L"\\\\?\\";
  const size_t before = sizeof(prefix) / sizeof(prefix[0]) - 1;
  // Names of other machines and of devices keep their own prefixes.
  const bool is_plain = given[0] != L'\\' && given[0] != L'/';
  memcpy(out, prefix, sizeof(prefix));
  const DWORD filled =
      GetFullPathNameW(given, (DWORD)(MOST_UNITS - before),
                       is_plain ? out + before : out, NULL);
  return filled > 0 && filled < MOST_UNITS - before;
}

static HANDLE open_handle(const wchar_t* name, uint32_t access) {
  const DWORD rights = (access & SHIM_FILE_WRITE ? GENERIC_WRITE : 0) |
                       (access & SHIM_FILE_READ ? GENERIC_READ : 0);
  // Others may do with the file what they may on Linux.
  return CreateFileW(name, rights ? rights : GENERIC_READ,
                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                     NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

static shim_status_t not_a_file(shim_error_t* error) {
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                        "it is not a regular file or a block device");
}

static shim_status_t open_named(const wchar_t* name, uint32_t access,
                                int32_t* out_fd, shim_error_t* error) {
  HANDLE file = open_handle(name, access);
  if (file == INVALID_HANDLE_VALUE) {
    const int code = shim__windows_errno();
    const DWORD attributes = GetFileAttributesW(name);
    if (attributes != INVALID_FILE_ATTRIBUTES &&
        (attributes & FILE_ATTRIBUTE_DIRECTORY)) {
      return not_a_file(error);
    }
    const shim_status_t status = status_of(code);
    return shim_error_set(error, status, code, "%s (errno %d)",
                          status == SHIM_NOT_FOUND ? "it does not exist"
                          : status == SHIM_PERMISSION_DENIED
                              ? "this process may not do that"
                              : "the system refuses",
                          code);
  }
  if (GetFileType(file) != FILE_TYPE_DISK) {
    CloseHandle(file);
    return not_a_file(error);
  }
  const int fd = _open_osfhandle((intptr_t)file, _O_BINARY);
  if (fd < 0) {
    CloseHandle(file);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, EMFILE,
                          "no descriptor for it (errno %d)", EMFILE);
  }
  *out_fd = fd;
  return SHIM_OK;
}

shim_status_t shim_file_open(const char* path, size_t path_length,
                             uint32_t access, int32_t* out_fd,
                             shim_error_t* error) {
  *out_fd = 0;
  const size_t bytes = MOST_UNITS * sizeof(wchar_t);
  wchar_t* name = malloc(bytes);
  if (!name) return shim__no_memory(error, bytes, "a path");
  const shim_status_t status =
      path_length > 0 && path_length < MOST_BYTES &&
              !memchr(path, 0, path_length) && name_of(path, path_length, name)
          ? open_named(name, access, out_fd, error)
          : shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                           "path of %zu bytes is empty, longer than %d, not "
                           "UTF-8 or has a zero in it",
                           path_length, MOST_BYTES - 1);
  free(name);
  return status;
}

shim_status_t shim_file_length(int32_t fd, int64_t* out_length,
                               shim_error_t* error) {
  *out_length = 0;
  LARGE_INTEGER size;
  const HANDLE file = fd < 0 ? INVALID_HANDLE_VALUE : (HANDLE)_get_osfhandle(fd);
  if (file == INVALID_HANDLE_VALUE || !GetFileSizeEx(file, &size)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, EBADF,
                          "the length is not known: errno %d", EBADF);
  }
  *out_length = size.QuadPart;
  return SHIM_OK;
}

void shim_event_close(int32_t fd) { _close(fd); }
