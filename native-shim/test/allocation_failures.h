// The parts of test_allocation_failures.c.
#ifndef IREE4J_SHIM_ALLOCATION_FAILURES_H_
#define IREE4J_SHIM_ALLOCATION_FAILURES_H_

#include "shim_vulkan.h"

// For shim_vulkan.h, on the fake (allocation_failures_vulkan.c).
void vulkan_allocations_fail(void);

// For shim_gpu.h, on the fakes (allocation_failures_gpu.c).
void gpu_allocations_fail(void);
void collective_allocations_fail(void);

// For recorded commands, on the open device (allocation_failures_commands.c).
void command_allocations_fail(void);

enum {
  MANY = 65,  // more than waits and submissions take without allocating
  PUSHED_BINDINGS = 8,
};

// The open device, and objects on it.
extern shim_vulkan_device_t* device;

shim_vulkan_memory_t* memory_of(uint32_t flags);  // 4096 bytes, mapped
shim_vulkan_timeline_t* timeline_of(uint32_t flags);

// Two sets, with one binding and with two, of storage buffers alone or with a
// uniform buffer; or one set to push.
typedef enum kind_t { STORAGE, UNIFORM, PUSHED, KIND_COUNT } kind_t;

shim_vulkan_pipeline_t* pipeline_of(kind_t kind);

static inline uint64_t handle(const void* object) {
  return (uintptr_t)object;
}

#endif  // IREE4J_SHIM_ALLOCATION_FAILURES_H_
