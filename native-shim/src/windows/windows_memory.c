// Memory of Windows: pages with rights, slabs of pools, sealed memory. Calls
// shim_status.c and windows_file.c.
//
// Windows reserves addresses in units of 64 KiB and gives rights by pages of
// 4 KiB. A page takes memory of the machine and its paging file when it is
// committed, so that a store never fails later.
#include "windows/windows_error.h"

#include <errno.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>

#include "shim_file.h"
#include "shim_internal.h"
#include "shim_system.h"
#include "windows/windows_memory.h"

typedef unsigned long long ull;

//===--------------------------------------------------------------------===//
// Pages
//===--------------------------------------------------------------------===//

int shim__windows_errno(void) {
  switch (GetLastError()) {
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_NO_SYSTEM_RESOURCES:
      return ENOMEM;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:
      return EACCES;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
      return ENOENT;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    default:
      return EINVAL;
  }
}

uint64_t shim__system_page_size(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

static uint64_t round_up(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

uint8_t* shim__system_reserve(uint64_t size, uint64_t alignment,
                              uint64_t remainder, int* out_code) {
  // Unused addresses on both sides stay reserved: a part cannot be given back.
  uint8_t* reserved =
      VirtualAlloc(NULL, size + alignment, MEM_RESERVE, PAGE_NOACCESS);
  if (!reserved) {
    *out_code = shim__windows_errno();
    return NULL;
  }
  const uint64_t before =
      (remainder - (uint64_t)(uintptr_t)reserved) & (alignment - 1);
  return reserved + before;
}

int shim__system_allow(void* pages, uint64_t size, int rights) {
  const DWORD protection =
      (rights & SHIM__RIGHT_EXECUTE)
          ? ((rights & SHIM__RIGHT_WRITE) ? PAGE_EXECUTE_READWRITE
                                          : PAGE_EXECUTE_READ)
      : (rights & SHIM__RIGHT_WRITE) ? PAGE_READWRITE
      : (rights & SHIM__RIGHT_READ)  ? PAGE_READONLY
                                     : PAGE_NOACCESS;
  DWORD before;
  if (!VirtualProtect(pages, size, protection, &before) &&
      !VirtualAlloc(pages, size, MEM_COMMIT, protection)) {
    return shim__windows_errno();
  }
  if (rights & SHIM__RIGHT_EXECUTE) {
    FlushInstructionCache(GetCurrentProcess(), pages, size);
  }
  return 0;
}

static void release(void* inside) {
  MEMORY_BASIC_INFORMATION info;
  if (VirtualQuery(inside, &info, sizeof(info))) {
    VirtualFree(info.AllocationBase, 0, MEM_RELEASE);
  }
}

void shim__system_release(uint8_t* reserved, uint64_t size) {
  (void)size;
  release(reserved);
}

void* shim__system_lines(size_t size) { return _aligned_malloc(size, 64); }

void shim__system_free_lines(void* lines) { _aligned_free(lines); }

uint64_t shim_page_size(void) { return shim__system_page_size(); }

//===--------------------------------------------------------------------===//
// Slabs
//===--------------------------------------------------------------------===//

struct shim_slab_t {
  uint8_t* bytes;
};

static shim_status_t no_memory(shim_error_t* error, uint64_t size, int code) {
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "no memory for %llu bytes, errno %d; close buffers or "
                        "trim pools",
                        (ull)size, code);
}

shim_status_t shim_slab_create(uint64_t size, uint64_t alignment,
                               shim_slab_t** out_slab, shim_error_t* error) {
  *out_slab = NULL;
  const uint64_t page = shim__system_page_size();
  const shim_status_t status = shim__slab_check(size, alignment, error);
  if (status != SHIM_OK) return status;
  const uint64_t boundary = alignment < SHIM__WINDOWS_GRANULE ? SHIM__WINDOWS_GRANULE : alignment;
  const uint64_t length = round_up(size, page);
  shim_slab_t* slab = malloc(sizeof(*slab));
  if (!slab) return shim__no_memory(error, sizeof(*slab), "a slab");
  // A page of zeros stays on each side, see shim_file.h.
  uint8_t* mapping = VirtualAlloc(NULL, boundary + page + length + page,
                                  MEM_RESERVE, PAGE_NOACCESS);
  if (!mapping) {
    free(slab);
    return no_memory(error, size, shim__windows_errno());
  }
  slab->bytes =
      (uint8_t*)(uintptr_t)round_up((uintptr_t)mapping + page, boundary);
  const int code =
      shim__system_allow(slab->bytes - page, page + length + page,
                         SHIM__RIGHT_READ | SHIM__RIGHT_WRITE);
  if (code != 0) {
    shim_slab_release(slab);
    return no_memory(error, size, code);
  }
  *out_slab = slab;
  return SHIM_OK;
}

void* shim_slab_bytes(const shim_slab_t* slab) { return slab->bytes; }

void shim_slab_release(shim_slab_t* slab) {
  if (!slab) return;
  release(slab->bytes);
  free(slab);
}

//===--------------------------------------------------------------------===//
// Sealed memory
//===--------------------------------------------------------------------===//

struct shim_sealed_t {
  uint64_t size;
  HANDLE section;
  void* bytes;
};

HANDLE shim__windows_section(const shim_sealed_t* sealed) {
  return sealed->section;
}

// Maps a section of |file|, or of the paging file, as a whole. Returns 0, or an
// errno.
static int map_section(shim_sealed_t* sealed, HANDLE file, DWORD protection,
                       DWORD access) {
  sealed->section =
      CreateFileMappingW(file, NULL, protection, (DWORD)(sealed->size >> 32),
                         (DWORD)sealed->size, NULL);
  if (!sealed->section) return shim__windows_errno();
  sealed->bytes = MapViewOfFile(sealed->section, access, 0, 0, 0);
  if (sealed->bytes) return 0;
  const int code = shim__windows_errno();
  CloseHandle(sealed->section);
  return code;
}

shim_status_t shim_sealed_create(uint64_t size, shim_sealed_t** out_sealed,
                                 shim_error_t* error) {
  *out_sealed = NULL;
  if (size == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0, "memory of 0 bytes");
  }
  shim_sealed_t* sealed = malloc(sizeof(*sealed));
  if (!sealed) return shim__no_memory(error, sizeof(*sealed), "sealed memory");
  sealed->size = size;
  const int code = map_section(sealed, INVALID_HANDLE_VALUE, PAGE_READWRITE,
                               FILE_MAP_WRITE);
  if (code != 0) {
    free(sealed);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "no memory for %llu bytes: errno %d", (ull)size,
                          code);
  }
  *out_sealed = sealed;
  return SHIM_OK;
}

shim_status_t shim_sealed_map(int32_t fd, shim_sealed_t** out_sealed,
                              shim_error_t* error) {
  *out_sealed = NULL;
  int64_t length = 0;
  if (shim_file_length(fd, &length, NULL) != SHIM_OK || length <= 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "only a file of at least a byte can be mapped");
  }
  shim_sealed_t* sealed = malloc(sizeof(*sealed));
  if (!sealed) return shim__no_memory(error, sizeof(*sealed), "a mapping");
  sealed->size = (uint64_t)length;
  const int code = map_section(sealed, (HANDLE)_get_osfhandle(fd), PAGE_READONLY,
                               FILE_MAP_READ);
  if (code != 0) {
    free(sealed);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "mapping %llu bytes failed with errno %d",
                          (ull)length, code);
  }
  *out_sealed = sealed;
  return SHIM_OK;
}

void* shim_sealed_bytes(const shim_sealed_t* sealed) { return sealed->bytes; }

uint64_t shim_sealed_size(const shim_sealed_t* sealed) { return sealed->size; }

shim_status_t shim_sealed_seal(shim_sealed_t* sealed, shim_error_t* error) {
  DWORD before;
  if (VirtualProtect(sealed->bytes, sealed->size, PAGE_READONLY, &before)) {
    return SHIM_OK;
  }
  const int code = shim__windows_errno();
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "protecting %llu bytes failed with errno %d",
                        (ull)sealed->size, code);
}

void shim_sealed_release(shim_sealed_t* sealed) {
  if (!sealed) return;
  UnmapViewOfFile(sealed->bytes);
  CloseHandle(sealed->section);
  free(sealed);
}
