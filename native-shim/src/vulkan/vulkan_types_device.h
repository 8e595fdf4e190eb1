// Types for open devices: the second half of vulkan_types.h, which includes
// this file.
#ifndef IREE4J_SHIM_VULKAN_TYPES_DEVICE_H_
#define IREE4J_SHIM_VULKAN_TYPES_DEVICE_H_

typedef struct svk_device_queue_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t queueFamilyIndex;
  uint32_t queueCount;
  const float* pQueuePriorities;
} svk_device_queue_create_info_t;

typedef struct svk_device_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t queueCreateInfoCount;
  const svk_device_queue_create_info_t* pQueueCreateInfos;
  uint32_t enabledLayerCount;
  const char* const* ppEnabledLayerNames;
  uint32_t enabledExtensionCount;
  const char* const* ppEnabledExtensionNames;
  const svk_physical_device_features_t* pEnabledFeatures;
} svk_device_create_info_t;

//===--------------------------------------------------------------------===//
// Semaphores
//===--------------------------------------------------------------------===//

typedef struct svk_semaphore_type_create_info_t {
  SVK_INPUT;
  int32_t semaphoreType;
  uint64_t initialValue;
} svk_semaphore_type_create_info_t;

typedef struct svk_export_semaphore_create_info_t {
  SVK_INPUT;
  uint32_t handleTypes;
} svk_export_semaphore_create_info_t;

typedef struct svk_semaphore_create_info_t {
  SVK_INPUT;
  uint32_t flags;
} svk_semaphore_create_info_t;

typedef struct svk_semaphore_wait_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t semaphoreCount;
  const svk_handle_t* pSemaphores;
  const uint64_t* pValues;
} svk_semaphore_wait_info_t;

typedef struct svk_semaphore_signal_info_t {
  SVK_INPUT;
  svk_handle_t semaphore;
  uint64_t value;
} svk_semaphore_signal_info_t;

typedef struct svk_semaphore_get_fd_info_t {
  SVK_INPUT;
  svk_handle_t semaphore;
  uint32_t handleType;
} svk_semaphore_get_fd_info_t;

typedef struct svk_import_semaphore_fd_info_t {
  SVK_INPUT;
  svk_handle_t semaphore;
  uint32_t flags;
  uint32_t handleType;
  int fd;
} svk_import_semaphore_fd_info_t;

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

typedef struct svk_buffer_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint64_t size;
  uint32_t usage;
  int32_t sharingMode;
  uint32_t queueFamilyIndexCount;
  const uint32_t* pQueueFamilyIndices;
} svk_buffer_create_info_t;

typedef struct svk_external_memory_buffer_create_info_t {
  SVK_INPUT;
  uint32_t handleTypes;
} svk_external_memory_buffer_create_info_t;

typedef struct svk_memory_requirements_t {
  uint64_t size;
  uint64_t alignment;
  uint32_t memoryTypeBits;
} svk_memory_requirements_t;

typedef struct svk_memory_allocate_info_t {
  SVK_INPUT;
  uint64_t allocationSize;
  uint32_t memoryTypeIndex;
} svk_memory_allocate_info_t;

typedef struct svk_memory_allocate_flags_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t deviceMask;
} svk_memory_allocate_flags_info_t;

typedef struct svk_export_memory_allocate_info_t {
  SVK_INPUT;
  uint32_t handleTypes;
} svk_export_memory_allocate_info_t;

typedef struct svk_import_memory_fd_info_t {
  SVK_INPUT;
  uint32_t handleType;
  int fd;
} svk_import_memory_fd_info_t;

typedef struct svk_import_memory_host_pointer_info_t {
  SVK_INPUT;
  uint32_t handleType;
  void* pHostPointer;
} svk_import_memory_host_pointer_info_t;

typedef struct svk_memory_get_fd_info_t {
  SVK_INPUT;
  svk_handle_t memory;
  uint32_t handleType;
} svk_memory_get_fd_info_t;

typedef struct svk_memory_host_pointer_properties_t {
  SVK_OUTPUT;
  uint32_t memoryTypeBits;
} svk_memory_host_pointer_properties_t;

typedef struct svk_buffer_device_address_info_t {
  SVK_INPUT;
  svk_handle_t buffer;
} svk_buffer_device_address_info_t;

//===--------------------------------------------------------------------===//
// Pipelines
//===--------------------------------------------------------------------===//

typedef struct svk_shader_module_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  size_t codeSize;
  const uint32_t* pCode;
} svk_shader_module_create_info_t;

typedef struct svk_pipeline_cache_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  size_t initialDataSize;
  const void* pInitialData;
} svk_pipeline_cache_create_info_t;

typedef struct svk_specialization_map_entry_t {
  uint32_t constantID;
  uint32_t offset;
  size_t size;
} svk_specialization_map_entry_t;

typedef struct svk_specialization_info_t {
  uint32_t mapEntryCount;
  const svk_specialization_map_entry_t* pMapEntries;
  size_t dataSize;
  const void* pData;
} svk_specialization_info_t;

typedef struct svk_pipeline_shader_stage_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t stage;
  svk_handle_t module;
  const char* pName;
  const svk_specialization_info_t* pSpecializationInfo;
} svk_pipeline_shader_stage_create_info_t;

typedef struct svk_pipeline_shader_stage_required_subgroup_size_create_info_t {
  SVK_OUTPUT;
  uint32_t requiredSubgroupSize;
} svk_pipeline_shader_stage_required_subgroup_size_create_info_t;

typedef struct svk_compute_pipeline_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  svk_pipeline_shader_stage_create_info_t stage;
  svk_handle_t layout;
  svk_handle_t basePipelineHandle;
  int32_t basePipelineIndex;
} svk_compute_pipeline_create_info_t;

typedef struct svk_push_constant_range_t {
  uint32_t stageFlags;
  uint32_t offset;
  uint32_t size;
} svk_push_constant_range_t;

typedef struct svk_pipeline_layout_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t setLayoutCount;
  const svk_handle_t* pSetLayouts;
  uint32_t pushConstantRangeCount;
  const svk_push_constant_range_t* pPushConstantRanges;
} svk_pipeline_layout_create_info_t;

typedef struct svk_descriptor_set_layout_binding_t {
  uint32_t binding;
  int32_t descriptorType;
  uint32_t descriptorCount;
  uint32_t stageFlags;
  const svk_handle_t* pImmutableSamplers;
} svk_descriptor_set_layout_binding_t;

typedef struct svk_descriptor_set_layout_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t bindingCount;
  const svk_descriptor_set_layout_binding_t* pBindings;
} svk_descriptor_set_layout_create_info_t;

typedef struct svk_descriptor_set_layout_binding_flags_create_info_t {
  SVK_INPUT;
  uint32_t bindingCount;
  const uint32_t* pBindingFlags;
} svk_descriptor_set_layout_binding_flags_create_info_t;

typedef struct svk_descriptor_pool_size_t {
  int32_t type;
  uint32_t descriptorCount;
} svk_descriptor_pool_size_t;

typedef struct svk_descriptor_pool_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t maxSets;
  uint32_t poolSizeCount;
  const svk_descriptor_pool_size_t* pPoolSizes;
} svk_descriptor_pool_create_info_t;

typedef struct svk_descriptor_set_allocate_info_t {
  SVK_INPUT;
  svk_handle_t descriptorPool;
  uint32_t descriptorSetCount;
  const svk_handle_t* pSetLayouts;
} svk_descriptor_set_allocate_info_t;

typedef struct svk_descriptor_buffer_info_t {
  svk_handle_t buffer;
  uint64_t offset;
  uint64_t range;
} svk_descriptor_buffer_info_t;

typedef struct svk_write_descriptor_set_t {
  SVK_INPUT;
  svk_handle_t dstSet;
  uint32_t dstBinding;
  uint32_t dstArrayElement;
  uint32_t descriptorCount;
  int32_t descriptorType;
  const void* pImageInfo;
  const svk_descriptor_buffer_info_t* pBufferInfo;
  const svk_handle_t* pTexelBufferView;
} svk_write_descriptor_set_t;

//===--------------------------------------------------------------------===//
// Commands and submissions
//===--------------------------------------------------------------------===//

typedef struct svk_command_pool_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t queueFamilyIndex;
} svk_command_pool_create_info_t;

typedef struct svk_command_buffer_allocate_info_t {
  SVK_INPUT;
  svk_handle_t commandPool;
  int32_t level;
  uint32_t commandBufferCount;
} svk_command_buffer_allocate_info_t;

typedef struct svk_command_buffer_begin_info_t {
  SVK_INPUT;
  uint32_t flags;
  const void* pInheritanceInfo;
} svk_command_buffer_begin_info_t;

typedef struct svk_buffer_copy_t {
  uint64_t srcOffset;
  uint64_t dstOffset;
  uint64_t size;
} svk_buffer_copy_t;

typedef struct svk_memory_barrier_2_t {
  SVK_INPUT;
  uint64_t srcStageMask;
  uint64_t srcAccessMask;
  uint64_t dstStageMask;
  uint64_t dstAccessMask;
} svk_memory_barrier_2_t;

typedef struct svk_dependency_info_t {
  SVK_INPUT;
  uint32_t dependencyFlags;
  uint32_t memoryBarrierCount;
  const svk_memory_barrier_2_t* pMemoryBarriers;
  uint32_t bufferMemoryBarrierCount;
  const void* pBufferMemoryBarriers;
  uint32_t imageMemoryBarrierCount;
  const void* pImageMemoryBarriers;
} svk_dependency_info_t;

typedef struct svk_semaphore_submit_info_t {
  SVK_INPUT;
  svk_handle_t semaphore;
  uint64_t value;
  uint64_t stageMask;
  uint32_t deviceIndex;
} svk_semaphore_submit_info_t;

typedef struct svk_command_buffer_submit_info_t {
  SVK_INPUT;
  svk_command_buffer_t commandBuffer;
  uint32_t deviceMask;
} svk_command_buffer_submit_info_t;

typedef struct svk_submit_info_2_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t waitSemaphoreInfoCount;
  const svk_semaphore_submit_info_t* pWaitSemaphoreInfos;
  uint32_t commandBufferInfoCount;
  const svk_command_buffer_submit_info_t* pCommandBufferInfos;
  uint32_t signalSemaphoreInfoCount;
  const svk_semaphore_submit_info_t* pSignalSemaphoreInfos;
} svk_submit_info_2_t;

#endif  // IREE4J_SHIM_VULKAN_TYPES_DEVICE_H_
