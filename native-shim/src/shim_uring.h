// The used part of the kernel's io_uring interface, declared here so that the
// shim builds with headers of any age. test_file_ring.c compares it with
// <linux/io_uring.h> where present.
#ifndef IREE4J_SHIM_URING_H_
#define IREE4J_SHIM_URING_H_

#include <stddef.h>
#include <stdint.h>

// The same on all architectures.
enum {
  SHIM__URING_SETUP = 425,
  SHIM__URING_ENTER = 426,
  SHIM__URING_REGISTER = 427,
};

enum {
  SHIM__URING_OP_ASYNC_CANCEL = 14,
  SHIM__URING_OP_READ = 22,
  SHIM__URING_OP_WRITE = 23,
};

enum {
  SHIM__URING_FEATURE_SINGLE_MMAP = 1u << 0,
  SHIM__URING_FEATURE_NO_DROP = 1u << 1,
  SHIM__URING_ENTER_GETEVENTS = 1u << 0,
  SHIM__URING_CQ_OVERFLOW = 1u << 1,
  SHIM__URING_ENTRY_ASYNC = 1u << 4,
  SHIM__URING_REGISTER_PROBE = 8,
  SHIM__URING_PROBE_SUPPORTED = 1u << 0,
};

#define SHIM__URING_OFFSET_RINGS 0ll
#define SHIM__URING_OFFSET_ENTRIES 0x10000000ll

typedef struct shim__uring_sq_offsets_t {
  uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, reserved;
  uint64_t user_address;
} shim__uring_sq_offsets_t;

typedef struct shim__uring_cq_offsets_t {
  uint32_t head, tail, ring_mask, ring_entries, overflow, cqes, flags, reserved;
  uint64_t user_address;
} shim__uring_cq_offsets_t;

typedef struct shim__uring_params_t {
  uint32_t sq_entries, cq_entries, flags, sq_thread_cpu, sq_thread_idle;
  uint32_t features, wq_fd, reserved[3];
  shim__uring_sq_offsets_t sq;
  shim__uring_cq_offsets_t cq;
} shim__uring_params_t;

typedef struct shim__uring_entry_t {
  uint8_t opcode;
  uint8_t flags;
  uint16_t priority;
  int32_t fd;
  uint64_t offset;
  uint64_t address;
  uint32_t length;
  uint32_t operation_flags;
  uint64_t user_data;
  uint64_t unused[3];
} shim__uring_entry_t;

typedef struct shim__uring_completion_t {
  uint64_t user_data;
  int32_t result;
  uint32_t flags;
} shim__uring_completion_t;

typedef struct shim__uring_probe_op_t {
  uint8_t op, reserved;
  uint16_t flags;
  uint32_t reserved2;
} shim__uring_probe_op_t;

typedef struct shim__uring_probe_t {
  uint8_t last_op, op_count;
  uint16_t reserved;
  uint32_t reserved2[3];
  shim__uring_probe_op_t ops[32];
} shim__uring_probe_t;

_Static_assert(sizeof(shim__uring_params_t) == 120, "the kernel's");
_Static_assert(sizeof(shim__uring_entry_t) == 64, "the kernel's");
_Static_assert(sizeof(shim__uring_completion_t) == 16, "the kernel's");
_Static_assert(sizeof(shim__uring_probe_op_t) == 8, "the kernel's");
_Static_assert(offsetof(shim__uring_probe_t, ops) == 16, "the kernel's");

#endif  // IREE4J_SHIM_URING_H_
