// The memory of a recording: a descriptor pool, and arrays that grow together.
#ifndef IREE4J_SHIM_VULKAN_ROOM_H_
#define IREE4J_SHIM_VULKAN_ROOM_H_

#include "vulkan/vulkan_internal.h"

// A dispatch with descriptor sets.
typedef struct shim__vk_bound_t {
  uint32_t ordinal;  // among all dispatches
  const shim_vulkan_pipeline_t* pipeline;
  size_t bindings;  // index of its first binding in the words
  size_t sets;      // index of its first set
} shim__vk_bound_t;

// The needs of a recording, or the available room.
typedef struct shim__vk_totals_t {
  size_t bound;
  size_t sets;
  size_t storage;   // descriptors
  size_t uniform;   // descriptors
  size_t bindings;  // of the dispatch with the most
  size_t words;
} shim__vk_totals_t;

// Room for |size| of each. There is a pool when there are sets.
typedef struct shim__vk_room_t {
  shim__vk_totals_t size;
  svk_handle_t pool;
  shim__vk_bound_t* bound;
  svk_handle_t* sets;
  svk_descriptor_buffer_info_t* infos;  // of |bindings|, like the next
  svk_write_descriptor_set_t* writes;
  uint64_t* words;
} shim__vk_room_t;

// Makes room for |needs|. If there was less, |room| is new and empty on
// success. On failure |room| and its contents do not change.
shim_status_t shim__vk_room_grow(shim_vulkan_device_t* device,
                                 shim__vk_room_t* room,
                                 const shim__vk_totals_t* needs,
                                 shim_error_t* error);

void shim__vk_room_release(shim_vulkan_device_t* device,
                           shim__vk_room_t* room);

#endif  // IREE4J_SHIM_VULKAN_ROOM_H_
