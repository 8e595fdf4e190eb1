// The words of a recording, one operation at a time.
#ifndef IREE4J_SHIM_VULKAN_WORDS_H_
#define IREE4J_SHIM_VULKAN_WORDS_H_

#include "vulkan/vulkan_internal.h"

typedef struct shim__vk_operation_t {
  uint64_t code;
  const uint64_t* operands;  // of barrier, fill, copy and update
  // Of dispatches only.
  shim_vulkan_pipeline_t* pipeline;
  uint32_t mode;
  uint32_t binding_count;
  const uint64_t* bindings;  // (buffer offset range)*
  uint32_t push_offset;
  uint32_t push_bytes;
  const uint64_t* push;
  const uint64_t* target;  // x y z, or buffer offset
} shim__vk_operation_t;

// Reads the operation at |*at|, the |number|-th, and advances. Checks
// everything that does not depend on the named objects.
shim_status_t shim__vk_operation_read(const shim_vulkan_device_t* device,
                                      const uint64_t* words, size_t count,
                                      uint32_t number, size_t* at,
                                      shim__vk_operation_t* out,
                                      shim_error_t* error);

// Checks the bindings of a dispatch of |pipeline|.
shim_status_t shim__vk_bindings_check(const shim_vulkan_pipeline_t* pipeline,
                                      const uint64_t* bindings, uint32_t count,
                                      uint32_t number, shim_error_t* error);

static inline bool shim__vk_is_dispatch(const shim__vk_operation_t* operation) {
  return operation->code == SHIM_VULKAN_OP_DISPATCH ||
         operation->code == SHIM_VULKAN_OP_DISPATCH_INDIRECT;
}

#endif  // IREE4J_SHIM_VULKAN_WORDS_H_
