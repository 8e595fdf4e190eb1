// The part of the Vulkan interface that the shim uses, with the layouts and
// member names of the specification. The build needs no vendor SDK;
// test_vulkan_types.c compares every line with <vulkan/vulkan_core.h> where
// installed.
//
// Type VkX of the specification is svk_x_t here, constant VK_X is SVK_X. Unused
// members are gaps. 64-bit platforms only: there a non-dispatchable handle is a
// uint64_t.
#ifndef IREE4J_SHIM_VULKAN_TYPES_H_
#define IREE4J_SHIM_VULKAN_TYPES_H_

#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(void*) == 8, "handles are declared for 64 bits");

typedef int32_t svk_result_t;
typedef uint32_t svk_bool_t;
typedef uint64_t svk_handle_t;  // VkSemaphore, VkBuffer and so on
typedef struct svk_instance_s* svk_instance_t;
typedef struct svk_physical_device_s* svk_physical_device_t;
typedef struct svk_device_s* svk_device_t;
typedef struct svk_queue_s* svk_queue_t;
typedef struct svk_command_buffer_s* svk_command_buffer_t;
typedef void (*svk_function_t)(void);

// X(number, NAME) of structure types.
#define SVK_STRUCTURE_TYPES(X)                                             \
  X(0, APPLICATION_INFO)                                                   \
  X(1, INSTANCE_CREATE_INFO)                                               \
  X(2, DEVICE_QUEUE_CREATE_INFO)                                           \
  X(3, DEVICE_CREATE_INFO)                                                 \
  X(5, MEMORY_ALLOCATE_INFO)                                               \
  X(9, SEMAPHORE_CREATE_INFO)                                              \
  X(12, BUFFER_CREATE_INFO)                                                \
  X(16, SHADER_MODULE_CREATE_INFO)                                         \
  X(17, PIPELINE_CACHE_CREATE_INFO)                                        \
  X(18, PIPELINE_SHADER_STAGE_CREATE_INFO)                                 \
  X(29, COMPUTE_PIPELINE_CREATE_INFO)                                      \
  X(30, PIPELINE_LAYOUT_CREATE_INFO)                                       \
  X(32, DESCRIPTOR_SET_LAYOUT_CREATE_INFO)                                 \
  X(33, DESCRIPTOR_POOL_CREATE_INFO)                                       \
  X(34, DESCRIPTOR_SET_ALLOCATE_INFO)                                      \
  X(35, WRITE_DESCRIPTOR_SET)                                              \
  X(39, COMMAND_POOL_CREATE_INFO)                                          \
  X(40, COMMAND_BUFFER_ALLOCATE_INFO)                                      \
  X(42, COMMAND_BUFFER_BEGIN_INFO)                                         \
  X(49, PHYSICAL_DEVICE_VULKAN_1_1_FEATURES)                               \
  X(50, PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)                             \
  X(51, PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)                               \
  X(52, PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES)                             \
  X(53, PHYSICAL_DEVICE_VULKAN_1_3_FEATURES)                               \
  X(54, PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES)                             \
  X(1000059000, PHYSICAL_DEVICE_FEATURES_2)                                \
  X(1000059001, PHYSICAL_DEVICE_PROPERTIES_2)                              \
  X(1000059005, QUEUE_FAMILY_PROPERTIES_2)                                 \
  X(1000059006, PHYSICAL_DEVICE_MEMORY_PROPERTIES_2)                       \
  X(1000060000, MEMORY_ALLOCATE_FLAGS_INFO)                                \
  X(1000071002, PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO)                      \
  X(1000071003, EXTERNAL_BUFFER_PROPERTIES)                                \
  X(1000072000, EXTERNAL_MEMORY_BUFFER_CREATE_INFO)                        \
  X(1000072002, EXPORT_MEMORY_ALLOCATE_INFO)                               \
  X(1000074000, IMPORT_MEMORY_FD_INFO_KHR)                                 \
  X(1000074002, MEMORY_GET_FD_INFO_KHR)                                    \
  X(1000076000, PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO)                   \
  X(1000076001, EXTERNAL_SEMAPHORE_PROPERTIES)                             \
  X(1000077000, EXPORT_SEMAPHORE_CREATE_INFO)                              \
  X(1000079000, IMPORT_SEMAPHORE_FD_INFO_KHR)                              \
  X(1000079001, SEMAPHORE_GET_FD_INFO_KHR)                                 \
  X(1000080000, PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR)            \
  X(1000128004, DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT)                     \
  X(1000161000, DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO)           \
  X(1000178000, IMPORT_MEMORY_HOST_POINTER_INFO_EXT)                       \
  X(1000178001, MEMORY_HOST_POINTER_PROPERTIES_EXT)                        \
  X(1000178002, PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)       \
  X(1000207002, SEMAPHORE_TYPE_CREATE_INFO)                                \
  X(1000207004, SEMAPHORE_WAIT_INFO)                                       \
  X(1000207005, SEMAPHORE_SIGNAL_INFO)                                     \
  X(1000225000, PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)          \
  X(1000225001, PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)  \
  X(1000225002, PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES)            \
  X(1000244001, BUFFER_DEVICE_ADDRESS_INFO)                                \
  X(1000280000, PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES)       \
  X(1000314000, MEMORY_BARRIER_2)                                          \
  X(1000314003, DEPENDENCY_INFO)                                           \
  X(1000314004, SUBMIT_INFO_2)                                             \
  X(1000314005, SEMAPHORE_SUBMIT_INFO)                                     \
  X(1000314006, COMMAND_BUFFER_SUBMIT_INFO)                                \
  X(1000314007, PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES)

// X(number, NAME) of other constants.
#define SVK_NUMBERS(X)                                      \
  X(1, INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR)       \
  X(1, DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT)        \
  X(0x100, DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT)    \
  X(0x1000, DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)     \
  X(2, DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT)         \
  X(1, QUEUE_GRAPHICS_BIT)                                  \
  X(2, QUEUE_COMPUTE_BIT)                                   \
  X(4, QUEUE_TRANSFER_BIT)                                  \
  X(1, MEMORY_PROPERTY_DEVICE_LOCAL_BIT)                    \
  X(2, MEMORY_PROPERTY_HOST_VISIBLE_BIT)                    \
  X(4, MEMORY_PROPERTY_HOST_COHERENT_BIT)                   \
  X(8, MEMORY_PROPERTY_HOST_CACHED_BIT)                     \
  X(1, MEMORY_HEAP_DEVICE_LOCAL_BIT)                        \
  X(1, BUFFER_USAGE_TRANSFER_SRC_BIT)                       \
  X(2, BUFFER_USAGE_TRANSFER_DST_BIT)                       \
  X(0x10, BUFFER_USAGE_UNIFORM_BUFFER_BIT)                  \
  X(0x20, BUFFER_USAGE_STORAGE_BUFFER_BIT)                  \
  X(0x100, BUFFER_USAGE_INDIRECT_BUFFER_BIT)                \
  X(0x20000, BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)        \
  X(2, MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT)                  \
  X(1, SEMAPHORE_TYPE_TIMELINE)                             \
  X(1, SEMAPHORE_WAIT_ANY_BIT)                              \
  X(1, EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)        \
  X(1, EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT)           \
  X(2, EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT)           \
  X(1, EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT)           \
  X(0x80, EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) \
  X(2, EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT)              \
  X(4, EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)              \
  X(0x20, SHADER_STAGE_COMPUTE_BIT)                         \
  X(6, DESCRIPTOR_TYPE_UNIFORM_BUFFER)                      \
  X(7, DESCRIPTOR_TYPE_STORAGE_BUFFER)                      \
  X(1, DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR)  \
  X(2, DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT) \
  X(1, DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT)            \
  X(2, DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT)        \
  X(1, PIPELINE_BIND_POINT_COMPUTE)                         \
  X(2, PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) \
  X(0x10000, PIPELINE_STAGE_2_ALL_COMMANDS_BIT)             \
  X(4, COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT)           \
  X(1, COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)            \
  X(256, MAX_EXTENSION_NAME_SIZE)                           \
  X(256, MAX_DESCRIPTION_SIZE)                              \
  X(256, MAX_PHYSICAL_DEVICE_NAME_SIZE)                     \
  X(256, MAX_DRIVER_NAME_SIZE)                              \
  X(256, MAX_DRIVER_INFO_SIZE)                              \
  X(16, UUID_SIZE)                                          \
  X(32, MAX_MEMORY_TYPES)                                   \
  X(16, MAX_MEMORY_HEAPS)

enum {
#define SVK_ENUM(number, name) SVK_STRUCTURE_TYPE_##name = number,
  SVK_STRUCTURE_TYPES(SVK_ENUM)
#undef SVK_ENUM
#define SVK_ENUM(number, name) SVK_##name = number,
  SVK_NUMBERS(SVK_ENUM)
#undef SVK_ENUM
  // From an extension newer than the headers of many systems.
  SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
      1000506000,
};

#define SVK_API_VERSION(major, minor) \
  (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12))

// The first members of structures filled in by the caller, and by the driver.
#define SVK_INPUT \
  int32_t sType;  \
  const void* pNext
#define SVK_OUTPUT \
  int32_t sType;   \
  void* pNext

// Bytes of unused members.
#define SVK_GAP(name, bytes) uint8_t name[bytes]

//===--------------------------------------------------------------------===//
// Instances and physical devices
//===--------------------------------------------------------------------===//

typedef struct svk_base_t {
  SVK_OUTPUT;
} svk_base_t;

typedef struct svk_application_info_t {
  SVK_INPUT;
  const char* pApplicationName;
  uint32_t applicationVersion;
  const char* pEngineName;
  uint32_t engineVersion;
  uint32_t apiVersion;
} svk_application_info_t;

typedef struct svk_instance_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  const svk_application_info_t* pApplicationInfo;
  uint32_t enabledLayerCount;
  const char* const* ppEnabledLayerNames;
  uint32_t enabledExtensionCount;
  const char* const* ppEnabledExtensionNames;
} svk_instance_create_info_t;

typedef struct svk_extension_properties_t {
  char extensionName[SVK_MAX_EXTENSION_NAME_SIZE];
  uint32_t specVersion;
} svk_extension_properties_t;

typedef struct svk_layer_properties_t {
  char layerName[SVK_MAX_EXTENSION_NAME_SIZE];
  uint32_t specVersion;
  uint32_t implementationVersion;
  char description[SVK_MAX_DESCRIPTION_SIZE];
} svk_layer_properties_t;

typedef struct svk_debug_utils_messenger_callback_data_t {
  SVK_INPUT;
  uint32_t flags;
  const char* pMessageIdName;
  int32_t messageIdNumber;
  const char* pMessage;
  SVK_GAP(unused, 48);
} svk_debug_utils_messenger_callback_data_t;

typedef svk_bool_t (*svk_debug_utils_callback_t)(
    uint32_t severity, uint32_t types,
    const svk_debug_utils_messenger_callback_data_t* data, void* user_data);

typedef struct svk_debug_utils_messenger_create_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t messageSeverity;
  uint32_t messageType;
  svk_debug_utils_callback_t pfnUserCallback;
  void* pUserData;
} svk_debug_utils_messenger_create_info_t;

typedef struct svk_physical_device_limits_t {
  SVK_GAP(unused_0, 24);
  uint32_t maxUniformBufferRange;
  uint32_t maxStorageBufferRange;
  uint32_t maxPushConstantsSize;
  uint32_t maxMemoryAllocationCount;
  SVK_GAP(unused_40, 24);
  uint32_t maxBoundDescriptorSets;
  SVK_GAP(unused_68, 8);
  uint32_t maxPerStageDescriptorStorageBuffers;
  SVK_GAP(unused_80, 136);
  uint32_t maxComputeSharedMemorySize;
  uint32_t maxComputeWorkGroupCount[3];
  uint32_t maxComputeWorkGroupInvocations;
  uint32_t maxComputeWorkGroupSize[3];
  SVK_GAP(unused_248, 72);
  uint64_t minUniformBufferOffsetAlignment;
  uint64_t minStorageBufferOffsetAlignment;
  SVK_GAP(unused_336, 88);
  float timestampPeriod;
  SVK_GAP(unused_428, 68);
  uint64_t nonCoherentAtomSize;
} svk_physical_device_limits_t;

typedef struct svk_physical_device_properties_t {
  uint32_t apiVersion;
  uint32_t driverVersion;
  uint32_t vendorID;
  uint32_t deviceID;
  int32_t deviceType;
  char deviceName[SVK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
  uint8_t pipelineCacheUUID[SVK_UUID_SIZE];
  svk_physical_device_limits_t limits;
  SVK_GAP(sparse_properties, 24);
} svk_physical_device_properties_t;

typedef struct svk_physical_device_properties_2_t {
  SVK_OUTPUT;
  svk_physical_device_properties_t properties;
} svk_physical_device_properties_2_t;

typedef struct svk_physical_device_vulkan_1_1_properties_t {
  SVK_OUTPUT;
  uint8_t deviceUUID[SVK_UUID_SIZE];
  uint8_t driverUUID[SVK_UUID_SIZE];
  SVK_GAP(unused_48, 16);
  uint32_t subgroupSize;
  SVK_GAP(unused_68, 36);
  uint64_t maxMemoryAllocationSize;
} svk_physical_device_vulkan_1_1_properties_t;

typedef struct svk_physical_device_vulkan_1_2_properties_t {
  SVK_OUTPUT;
  int32_t driverID;
  char driverName[SVK_MAX_DRIVER_NAME_SIZE];
  char driverInfo[SVK_MAX_DRIVER_INFO_SIZE];
  SVK_GAP(unused_532, 188);
  uint64_t maxTimelineSemaphoreValueDifference;
  SVK_GAP(unused_728, 8);
} svk_physical_device_vulkan_1_2_properties_t;

typedef struct svk_physical_device_subgroup_size_control_properties_t {
  SVK_OUTPUT;
  uint32_t minSubgroupSize;
  uint32_t maxSubgroupSize;
  uint32_t maxComputeWorkgroupSubgroups;
  uint32_t requiredSubgroupSizeStages;
} svk_physical_device_subgroup_size_control_properties_t;

typedef struct svk_physical_device_push_descriptor_properties_t {
  SVK_OUTPUT;
  uint32_t maxPushDescriptors;
} svk_physical_device_push_descriptor_properties_t;

typedef struct svk_physical_device_external_memory_host_properties_t {
  SVK_OUTPUT;
  uint64_t minImportedHostPointerAlignment;
} svk_physical_device_external_memory_host_properties_t;

typedef struct svk_physical_device_features_t {
  SVK_GAP(unused_0, 156);
  svk_bool_t shaderFloat64;
  svk_bool_t shaderInt64;
  svk_bool_t shaderInt16;
  SVK_GAP(unused_168, 52);
} svk_physical_device_features_t;

typedef struct svk_physical_device_features_2_t {
  SVK_OUTPUT;
  svk_physical_device_features_t features;
} svk_physical_device_features_2_t;

typedef struct svk_physical_device_vulkan_1_1_features_t {
  SVK_OUTPUT;
  svk_bool_t storageBuffer16BitAccess;
  svk_bool_t uniformAndStorageBuffer16BitAccess;
  svk_bool_t storagePushConstant16;
  SVK_GAP(unused_28, 16);
  svk_bool_t variablePointersStorageBuffer;
  svk_bool_t variablePointers;
  SVK_GAP(unused_52, 12);
} svk_physical_device_vulkan_1_1_features_t;

typedef struct svk_physical_device_vulkan_1_2_features_t {
  SVK_OUTPUT;
  SVK_GAP(unused_16, 8);
  svk_bool_t storageBuffer8BitAccess;
  svk_bool_t uniformAndStorageBuffer8BitAccess;
  svk_bool_t storagePushConstant8;
  svk_bool_t shaderBufferInt64Atomics;
  svk_bool_t shaderSharedInt64Atomics;
  svk_bool_t shaderFloat16;
  svk_bool_t shaderInt8;
  SVK_GAP(unused_52, 44);
  svk_bool_t descriptorBindingUniformBufferUpdateAfterBind;
  SVK_GAP(unused_100, 8);
  svk_bool_t descriptorBindingStorageBufferUpdateAfterBind;
  SVK_GAP(unused_112, 28);
  svk_bool_t scalarBlockLayout;
  SVK_GAP(unused_144, 20);
  svk_bool_t timelineSemaphore;
  svk_bool_t bufferDeviceAddress;
  SVK_GAP(unused_172, 8);
  svk_bool_t vulkanMemoryModel;
  svk_bool_t vulkanMemoryModelDeviceScope;
  SVK_GAP(unused_188, 20);
} svk_physical_device_vulkan_1_2_features_t;

typedef struct svk_physical_device_vulkan_1_3_features_t {
  SVK_OUTPUT;
  SVK_GAP(unused_16, 28);
  svk_bool_t subgroupSizeControl;
  svk_bool_t computeFullSubgroups;
  svk_bool_t synchronization2;
  SVK_GAP(unused_56, 12);
  svk_bool_t shaderIntegerDotProduct;
  SVK_GAP(unused_72, 8);
} svk_physical_device_vulkan_1_3_features_t;

typedef struct svk_physical_device_synchronization_2_features_t {
  SVK_OUTPUT;
  svk_bool_t synchronization2;
} svk_physical_device_synchronization_2_features_t;

typedef struct svk_physical_device_subgroup_size_control_features_t {
  SVK_OUTPUT;
  svk_bool_t subgroupSizeControl;
  svk_bool_t computeFullSubgroups;
} svk_physical_device_subgroup_size_control_features_t;

typedef struct svk_physical_device_shader_integer_dot_product_features_t {
  SVK_OUTPUT;
  svk_bool_t shaderIntegerDotProduct;
} svk_physical_device_shader_integer_dot_product_features_t;

typedef struct svk_physical_device_cooperative_matrix_features_t {
  SVK_OUTPUT;
  svk_bool_t cooperativeMatrix;
  svk_bool_t cooperativeMatrixRobustBufferAccess;
} svk_physical_device_cooperative_matrix_features_t;

typedef struct svk_memory_type_t {
  uint32_t propertyFlags;
  uint32_t heapIndex;
} svk_memory_type_t;

typedef struct svk_memory_heap_t {
  uint64_t size;
  uint32_t flags;
} svk_memory_heap_t;

typedef struct svk_physical_device_memory_properties_t {
  uint32_t memoryTypeCount;
  svk_memory_type_t memoryTypes[SVK_MAX_MEMORY_TYPES];
  uint32_t memoryHeapCount;
  svk_memory_heap_t memoryHeaps[SVK_MAX_MEMORY_HEAPS];
} svk_physical_device_memory_properties_t;

typedef struct svk_physical_device_memory_properties_2_t {
  SVK_OUTPUT;
  svk_physical_device_memory_properties_t memoryProperties;
} svk_physical_device_memory_properties_2_t;

typedef struct svk_queue_family_properties_t {
  uint32_t queueFlags;
  uint32_t queueCount;
  uint32_t timestampValidBits;
  uint32_t minImageTransferGranularity[3];
} svk_queue_family_properties_t;

typedef struct svk_queue_family_properties_2_t {
  SVK_OUTPUT;
  svk_queue_family_properties_t queueFamilyProperties;
} svk_queue_family_properties_2_t;

typedef struct svk_physical_device_external_semaphore_info_t {
  SVK_INPUT;
  uint32_t handleType;
} svk_physical_device_external_semaphore_info_t;

typedef struct svk_external_semaphore_properties_t {
  SVK_OUTPUT;
  uint32_t exportFromImportedHandleTypes;
  uint32_t compatibleHandleTypes;
  uint32_t externalSemaphoreFeatures;
} svk_external_semaphore_properties_t;

typedef struct svk_physical_device_external_buffer_info_t {
  SVK_INPUT;
  uint32_t flags;
  uint32_t usage;
  uint32_t handleType;
} svk_physical_device_external_buffer_info_t;

typedef struct svk_external_memory_properties_t {
  uint32_t externalMemoryFeatures;
  uint32_t exportFromImportedHandleTypes;
  uint32_t compatibleHandleTypes;
} svk_external_memory_properties_t;

typedef struct svk_external_buffer_properties_t {
  SVK_OUTPUT;
  svk_external_memory_properties_t externalMemoryProperties;
} svk_external_buffer_properties_t;

#include "vulkan/vulkan_types_device.h"

#endif  // IREE4J_SHIM_VULKAN_TYPES_H_
