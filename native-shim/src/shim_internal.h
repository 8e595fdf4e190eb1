// Functions that tests replace, and declarations that files share. Private to
// the shim.
#ifndef IREE4J_SHIM_INTERNAL_H_
#define IREE4J_SHIM_INTERNAL_H_

#include <stdbool.h>

#include "shim.h"

// Sets the error that there is no memory for |what|, of |bytes| bytes, and
// returns RESOURCE_EXHAUSTED.
shim_status_t shim__no_memory(shim_error_t* error, uint64_t bytes,
                              const char* what);

// Refuses the size and alignment of a slab that no system can allocate.
shim_status_t shim__slab_check(uint64_t size, uint64_t alignment,
                               shim_error_t* error);

// What both ways of making views refuse: a range that sealed memory of |whole|
// bytes does not have.
shim_status_t shim__view_check(uint64_t whole, uint64_t offset, uint64_t length,
                               shim_error_t* error);

// x86_64: the features of |field| without those that use tiles, unless
// |request| obtains the system's permission. Asks where there are such
// features, and once: |answer| is 0 until then.
uint64_t shim__cpu_allowed_features(uint64_t field, bool (*request)(void),
                                    _Atomic int* answer);

// What views of sealed memory use.
typedef struct shim_sealed_t shim_sealed_t;
int shim__sealed_descriptor(const shim_sealed_t* sealed);

// ioctl, or a test's replacement.
typedef int (*shim__ioctl_t)(int fd, unsigned long request, void* argument);

// shim_event_outcome passes the kernel's ioctl.
shim_status_t shim__event_outcome(int32_t fd, shim__ioctl_t query,
                                  int32_t* out_code, shim_error_t* error);

// The struct of SYNC_IOC_FILE_INFO (<linux/sync_file.h>).
typedef struct shim__sync_file_info_t {
  char name[32];
  int32_t status;  // 1 signalled, 0 active, negative errno
  uint32_t flags;
  uint32_t fence_count;
  uint32_t reserved;
  uint64_t fences;
} shim__sync_file_info_t;

_Static_assert(sizeof(shim__sync_file_info_t) == 56, "the kernel's");

// _IOWR('>', 4, struct sync_file_info)
#define SHIM__SYNC_FILE_INFO 0xC0383E04ul

#endif  // IREE4J_SHIM_INTERNAL_H_
