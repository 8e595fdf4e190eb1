// Memory of pools on Linux and macOS, on huge pages where the system provides
// them on request. Calls shim_system.h and shim_status.c.
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "shim_file.h"
#include "shim_internal.h"
#include "shim_system.h"

struct shim_slab_t {
  void* mapping;
  uint64_t size;  // of the mapping
  uint8_t* bytes;
};

static shim_status_t no_memory(shim_error_t* error, uint64_t size, int code) {
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "no memory for %llu bytes, errno %d; close buffers or "
                        "trim pools",
                        (unsigned long long)size, code);
}

uint64_t shim_page_size(void) { return shim__system_page_size(); }

static uint64_t round_up(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

shim_status_t shim_slab_create(uint64_t size, uint64_t alignment,
                               shim_slab_t** out_slab, shim_error_t* error) {
  *out_slab = NULL;
  uint64_t page = shim_page_size();
  const shim_status_t status = shim__slab_check(size, alignment, error);
  if (status != SHIM_OK) return status;
  uint64_t boundary = alignment < page ? page : alignment;
  if (size >= SHIM__LARGE_PAGE && boundary < SHIM__LARGE_PAGE) {
    boundary = SHIM__LARGE_PAGE;
  }
  uint64_t length = round_up(size, page);
  shim_slab_t* slab = malloc(sizeof(*slab));
  if (!slab) return shim__no_memory(error, sizeof(*slab), "a slab");
  // A page of zeros stays on each side, see shim_file.h. The rest of the
  // mapping is unused and takes only address space.
  slab->size = page + boundary + length + page;
  slab->mapping = mmap(NULL, slab->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slab->mapping == MAP_FAILED) {
    int code = errno;
    free(slab);
    return no_memory(error, size, code);
  }
  slab->bytes = (uint8_t*)(uintptr_t)round_up(
      (uintptr_t)slab->mapping + page, boundary);
  int code = shim__system_commit(slab->bytes, length);
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
  munmap(slab->mapping, slab->size);
  free(slab);
}
