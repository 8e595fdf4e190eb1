// Read-only memory on Linux and macOS: memory that is filled once, or a mapped
// file. Calls shim_system.h and shim_status.c.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim_file.h"
#include "shim_internal.h"
#include "shim_system.h"

struct shim_sealed_t {
  int fd;  // of the file; -1 for memory without
  uint64_t size;
  void* bytes;
};

// Sizes beyond the machine's memory are refused early; otherwise committing
// page by page would invoke the OOM killer.
static uint64_t most(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return INT64_MAX;
  return (uint64_t)pages * (uint64_t)page;
}

shim_status_t shim_sealed_create(uint64_t size, shim_sealed_t** out_sealed,
                                 shim_error_t* error) {
  *out_sealed = NULL;
  if (size == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0, "memory of 0 bytes");
  }
  if (size > most()) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, ENOMEM,
                          "no memory for %llu bytes, the machine has %llu",
                          (unsigned long long)size,
                          (unsigned long long)most());
  }
  shim_sealed_t* sealed = malloc(sizeof(*sealed));
  if (!sealed) return shim__no_memory(error, sizeof(*sealed), "sealed memory");
  sealed->size = size;
  const shim_status_t status =
      shim__system_sealable(size, &sealed->fd, &sealed->bytes, error);
  if (status != SHIM_OK) {
    free(sealed);
    return status;
  }
  *out_sealed = sealed;
  return SHIM_OK;
}

shim_status_t shim_sealed_map(int32_t fd, shim_sealed_t** out_sealed,
                              shim_error_t* error) {
  *out_sealed = NULL;
  struct stat file;
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size <= 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "only a file of at least a byte can be mapped");
  }
  shim_sealed_t* sealed = malloc(sizeof(*sealed));
  if (!sealed) return shim__no_memory(error, sizeof(*sealed), "a mapping");
  sealed->size = (uint64_t)file.st_size;
  sealed->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (sealed->fd < 0) {
    int code = errno;
    free(sealed);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "no file descriptor: errno %d; raise the limit of "
                          "open files",
                          code);
  }
  sealed->bytes = mmap(NULL, sealed->size, PROT_READ, MAP_SHARED, sealed->fd, 0);
  if (sealed->bytes == MAP_FAILED) {
    int code = errno;
    close(sealed->fd);
    shim_status_t status = shim_error_set(
        error, SHIM_RESOURCE_EXHAUSTED, code,
        "mmap of %llu bytes failed with errno %d",
        (unsigned long long)sealed->size, code);
    free(sealed);
    return status;
  }
  *out_sealed = sealed;
  return SHIM_OK;
}

void* shim_sealed_bytes(const shim_sealed_t* sealed) { return sealed->bytes; }

uint64_t shim_sealed_size(const shim_sealed_t* sealed) { return sealed->size; }

int shim__sealed_descriptor(const shim_sealed_t* sealed) { return sealed->fd; }

shim_status_t shim_sealed_seal(shim_sealed_t* sealed, shim_error_t* error) {
  if (mprotect(sealed->bytes, sealed->size, PROT_READ) == 0) return SHIM_OK;
  int code = errno;
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "mprotect of %llu bytes failed with errno %d",
                        (unsigned long long)sealed->size, code);
}

void shim_sealed_release(shim_sealed_t* sealed) {
  if (!sealed) return;
  munmap(sealed->bytes, sealed->size);
  if (sealed->fd >= 0) close(sealed->fd);
  free(sealed);
}
