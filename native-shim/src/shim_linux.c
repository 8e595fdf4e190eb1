// What Linux alone has: memory that is committed when asked for, files in
// memory, and the map of the process. Calls shim_status.c only.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim_fault.h"
#include "shim_internal.h"
#include "shim_system.h"

typedef unsigned long long ull;

// Headers for glibc 2.28 lack it; kernels before 5.14 answer EINVAL.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

uint32_t shim_capabilities(void) {
  return SHIM_CAPABILITY_EVENTS | SHIM_CAPABILITY_VIEWS |
         SHIM_CAPABILITY_SYSTEM_LIBRARIES | SHIM_CAPABILITY_AFFINITY;
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

int shim__system_commit(uint8_t* pages, uint64_t size) {
  // Works without huge pages, too.
  if (size >= SHIM__LARGE_PAGE) madvise(pages, size, MADV_HUGEPAGE);
  if (madvise(pages, size, MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno;
  shim__system_touch(pages, size);
  return 0;
}

// Commits pages: without them the first store would raise SIGBUS.
static int take_pages(int fd, uint64_t size) {
  int result;
  do {
    result = fallocate(fd, 0, 0, (off_t)size);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

shim_status_t shim__system_sealable(uint64_t size, int* out_fd,
                                    void** out_bytes, shim_error_t* error) {
  const int fd = memfd_create("iree4j", MFD_CLOEXEC);
  if (fd < 0) {
    const int code = errno;
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "memfd_create failed with errno %d; raise the limit "
                          "of open files",
                          code);
  }
  int code = take_pages(fd, size);
  void* bytes = MAP_FAILED;
  if (code == 0) {
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    code = errno;
  }
  if (bytes == MAP_FAILED) {
    close(fd);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "no memory for %llu bytes: errno %d", (ull)size,
                          code);
  }
  *out_fd = fd;
  *out_bytes = bytes;
  return SHIM_OK;
}

//===--------------------------------------------------------------------===//
// The memory map
//===--------------------------------------------------------------------===//

// A line of /proc/self/maps: "begin-end rights offset device inode   name".
static bool read_mapping(const char* line, uintptr_t address,
                         shim__mapping_t* out_mapping) {
  ull begin = 0;
  ull end = 0;
  int name = 0;
  if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end,
             out_mapping->rights, &name) < 3 ||
      address < begin || address >= end) {
    return false;
  }
  const size_t length = name > 0 ? strlen(line + name) : 0;
  const size_t cut = length >= sizeof(out_mapping->name)
                         ? length - sizeof(out_mapping->name) + 1
                         : 0;
  snprintf(out_mapping->name, sizeof(out_mapping->name), "%s",
           name > 0 ? line + name + cut : "");
  return true;
}

shim__mapped_t shim__fault_mapping(uintptr_t address,
                                   shim__mapping_t* out_mapping) {
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return SHIM__MAPPED_UNKNOWN;
  char line[4096 + 128];  // a path, and the fields before it
  size_t filled = 0;
  bool found = false;
  ssize_t count;
  for (;;) {
    count = read(file, line + filled, sizeof(line) - 1 - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += (size_t)count;
    line[filled] = '\0';
    char* begin = line;
    for (char* end; !found && (end = strchr(begin, '\n')); begin = end + 1) {
      *end = '\0';
      found = read_mapping(begin, address, out_mapping);
    }
    filled -= (size_t)(begin - line);
    memmove(line, begin, filled);
    if (found || filled == sizeof(line) - 1) break;
  }
  close(file);
  if (found) return SHIM__MAPPED;
  return count == 0 ? SHIM__MAPPED_NOT : SHIM__MAPPED_UNKNOWN;
}
