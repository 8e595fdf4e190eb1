// Layouts that Java reads directly, functions that tests replace, and
// declarations that files share. Private to the shim.
#ifndef IREE4J_SHIM_INTERNAL_H_
#define IREE4J_SHIM_INTERNAL_H_

#include <stdatomic.h>

#include "shim.h"

typedef struct shim__ring_slot_t {
  _Atomic uint64_t sequence;     // see shim_ring.c
  shim_completion_t completion;  // owned as |sequence| says
  uint64_t reserved;
} shim__ring_slot_t;

// One cache line per writer: the producers, the poller, and rarely written
// fields.
struct shim_ring_t {
  _Atomic uint64_t tail;  // next position to claim; producers
  char padding0[56];
  _Atomic uint64_t head;  // next position to consume; poller only
  char padding1[56];
  _Atomic uint32_t lossy;     // sticky; producers
  _Atomic uint32_t sleeping;  // set by the poller, cleared by both
  uint32_t capacity;          // never changes, like the next
  int32_t event_fd;
  char padding2[48];
  shim__ring_slot_t slots[];
};

// Sets the error that there is no memory for |what|, of |bytes| bytes, and
// returns RESOURCE_EXHAUSTED.
shim_status_t shim__no_memory(shim_error_t* error, uint64_t bytes,
                              const char* what);

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

_Static_assert(sizeof(shim__ring_slot_t) == 32, "shared with Java");
_Static_assert(offsetof(shim__ring_slot_t, completion) == 8,
               "shared with Java");
_Static_assert(offsetof(struct shim_ring_t, head) == 64, "shared with Java");
_Static_assert(offsetof(struct shim_ring_t, lossy) == 128, "shared with Java");
_Static_assert(offsetof(struct shim_ring_t, slots) == 192, "shared with Java");

#endif  // IREE4J_SHIM_INTERNAL_H_
