// The POSIX side of shim_system.h, for Linux and macOS. Calls nothing of the
// shim.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim_system.h"

#if defined(__APPLE__)
#include <libkern/OSCacheControl.h>
#define SYNCHRONIZE(code, size) sys_icache_invalidate(code, size)
#else
#define SYNCHRONIZE(code, size) __builtin___clear_cache(code, (code) + (size))
#endif

uint64_t shim__system_page_size(void) {
  long size = sysconf(_SC_PAGESIZE);
  return size > 0 ? (uint64_t)size : 4096;
}

uint8_t* shim__system_reserve(uint64_t size, uint64_t alignment,
                              uint64_t remainder, int* out_code) {
  const uint64_t slack = alignment - shim__system_page_size();
  uint8_t* reserved = mmap(NULL, (size_t)(size + slack), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    *out_code = errno;
    return NULL;
  }
  const uint64_t before =
      (remainder - (uint64_t)(uintptr_t)reserved) & (alignment - 1);
  if (before > 0) munmap(reserved, (size_t)before);
  if (slack > before) munmap(reserved + before + size, (size_t)(slack - before));
  return reserved + before;
}

int shim__system_allow(void* pages, uint64_t size, int rights) {
  int protection = PROT_NONE;
  if (rights & SHIM__RIGHT_READ) protection |= PROT_READ;
  if (rights & SHIM__RIGHT_WRITE) protection |= PROT_WRITE;
  if (rights & SHIM__RIGHT_EXECUTE) protection |= PROT_EXEC;
  if (mprotect(pages, (size_t)size, protection) != 0) return errno;
  if (rights & SHIM__RIGHT_EXECUTE) SYNCHRONIZE((char*)pages, (size_t)size);
  return 0;
}

void shim__system_release(uint8_t* reserved, uint64_t size) {
  munmap(reserved, (size_t)size);
}

void* shim__system_lines(size_t size) { return aligned_alloc(64, size); }

void shim__system_free_lines(void* lines) { free(lines); }

bool shim__system_lacks(const char* name, const char* cause) {
#if defined(__APPLE__)
  // "dlopen(name, flags): tried: 'place' (what was there), ..."
  (void)name;
  const char* at = strstr(cause, "tried: ");
  if (!at || strstr(cause, "Library not loaded")) return false;
  while ((at = strstr(at, " ("))) {
    at += 2;
    if (strncmp(at, "no such file", strlen("no such file")) != 0 &&
        strncmp(at, "not in dyld cache", strlen("not in dyld cache")) != 0) {
      return false;
    }
  }
  return true;
#else
  // A library that |name| needs is named instead, by glibc, or in front, by
  // musl. The system's text is in the language of the process.
  return strstr(cause, strerror(ENOENT)) && strstr(cause, name) &&
         !strstr(cause, "needed by");
#endif
}
