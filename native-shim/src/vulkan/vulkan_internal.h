// Shared by the files of this directory only.
#ifndef IREE4J_SHIM_VULKAN_INTERNAL_H_
#define IREE4J_SHIM_VULKAN_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "shim_internal.h"
#include "shim_vulkan.h"
#include "vulkan/vulkan_types.h"

// The loader's only entry point that is looked up by name.
typedef svk_function_t (*shim__vk_resolver_t)(svk_instance_t instance,
                                              const char* name);

// Entry points, from the list of symbols: those of the library and its instance
// once per library, those of a device once per device, without the loader's
// detour.
#define SHIM__VK_MEMBER_GLOBAL(result, name, arguments) result(*name) arguments;
#define SHIM__VK_MEMBER_INSTANCE SHIM__VK_MEMBER_GLOBAL
#define SHIM__VK_MEMBER_DEVICE(result, name, arguments)
typedef struct shim__vk_instance_table_t {
#define X(scope, need, result, name, arguments) \
  SHIM__VK_MEMBER_##scope(result, name, arguments)
#include "vulkan/vulkan_symbols.inc"
#undef X
} shim__vk_instance_table_t;
#undef SHIM__VK_MEMBER_GLOBAL
#undef SHIM__VK_MEMBER_INSTANCE
#undef SHIM__VK_MEMBER_DEVICE

#define SHIM__VK_MEMBER_GLOBAL(result, name, arguments)
#define SHIM__VK_MEMBER_INSTANCE SHIM__VK_MEMBER_GLOBAL
#define SHIM__VK_MEMBER_DEVICE(result, name, arguments) result(*name) arguments;
typedef struct shim__vk_device_table_t {
#define X(scope, need, result, name, arguments) \
  SHIM__VK_MEMBER_##scope(result, name, arguments)
#include "vulkan/vulkan_symbols.inc"
#undef X
} shim__vk_device_table_t;
#undef SHIM__VK_MEMBER_GLOBAL
#undef SHIM__VK_MEMBER_INSTANCE
#undef SHIM__VK_MEMBER_DEVICE

//===--------------------------------------------------------------------===//
//Validation messages
//===--------------------------------------------------------------------===//

enum {
  SHIM__VK_MESSAGES = 64,  // kept; a power of two
  SHIM__VK_MESSAGE_WORDS = 128,
};

// One message, from any thread. |state| is 2 * number + 1 while it is written
// and 2 * number + 2 once it can be read; 0 before the first.
typedef struct shim__vk_message_t {
  _Atomic uint64_t state;
  _Atomic uint64_t text[SHIM__VK_MESSAGE_WORDS];
} shim__vk_message_t;

typedef struct shim__vk_messages_t {
  _Atomic uint64_t count;
  shim__vk_message_t slots[SHIM__VK_MESSAGES];
} shim__vk_messages_t;

// Called by drivers. Only copies text.
svk_bool_t shim__vk_message_callback(
    uint32_t severity, uint32_t types,
    const svk_debug_utils_messenger_callback_data_t* data, void* messages);

//===--------------------------------------------------------------------===//
// Library and physical devices
//===--------------------------------------------------------------------===//
//Device extensions that are enabled where available.
// X(index, CODE, "name")
#define SHIM__VK_EXTENSIONS(X)                                     \
  X(0, SYNCHRONIZATION_2, "VK_KHR_synchronization2")               \
  X(1, SUBGROUP_SIZE_CONTROL, "VK_EXT_subgroup_size_control")      \
  X(2, INTEGER_DOT_PRODUCT, "VK_KHR_shader_integer_dot_product")   \
  X(3, COOPERATIVE_MATRIX, "VK_KHR_cooperative_matrix")            \
  X(4, PUSH_DESCRIPTOR, "VK_KHR_push_descriptor")                  \
  X(5, EXTERNAL_MEMORY_FD, "VK_KHR_external_memory_fd")            \
  X(6, EXTERNAL_MEMORY_HOST, "VK_EXT_external_memory_host")        \
  X(7, EXTERNAL_SEMAPHORE_FD, "VK_KHR_external_semaphore_fd")      \
  X(8, PORTABILITY_SUBSET, "VK_KHR_portability_subset")

enum {
#define SHIM__VK_EXTENSION_ENUM(index, code, name) \
  SHIM__VK_EXTENSION_##code = index,
  SHIM__VK_EXTENSIONS(SHIM__VK_EXTENSION_ENUM)
#undef SHIM__VK_EXTENSION_ENUM
  SHIM__VK_EXTENSION_COUNT
};

typedef struct shim__vk_physical_t {
  svk_physical_device_t handle;
  uint32_t extensions;  // bits SHIM__VK_EXTENSION_*
  shim_vulkan_device_info_t info;
} shim__vk_physical_t;

struct shim_vulkan_api_t {
  void* library;
  char name[256];
  uint32_t flags;
  uint32_t version;
  shim__vk_instance_table_t table;
  svk_instance_t instance;
  svk_handle_t messenger;
  uint32_t physical_count;
  shim__vk_physical_t* physicals;
  shim__vk_messages_t messages;
};

// Usages of every buffer, except the device address.
#define SHIM__VK_BUFFER_USAGE                                              \
  (SVK_BUFFER_USAGE_TRANSFER_SRC_BIT | SVK_BUFFER_USAGE_TRANSFER_DST_BIT | \
   SVK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |                                   \
   SVK_BUFFER_USAGE_STORAGE_BUFFER_BIT | SVK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)

// Queries the properties of an instance's devices.
shim_status_t shim__vk_physicals_query(shim_vulkan_api_t* api,
                                       shim_error_t* error);

// The structures that report a driver's features and enable them.
typedef struct shim__vk_features_t {
  svk_physical_device_features_2_t base;
  svk_physical_device_vulkan_1_1_features_t v11;
  svk_physical_device_vulkan_1_2_features_t v12;
  svk_physical_device_vulkan_1_3_features_t v13;
  svk_physical_device_synchronization_2_features_t synchronization;
  svk_physical_device_subgroup_size_control_features_t subgroup;
  svk_physical_device_shader_integer_dot_product_features_t dot_product;
  svk_physical_device_cooperative_matrix_features_t cooperative_matrix;
} shim__vk_features_t;

// Zeroes the structures and chains those known to a device with that version
// and those extensions.
void shim__vk_features_link(shim__vk_features_t* features, uint32_t api_version,
                            uint32_t extensions);

// Bits of the features that are set in the structures.
uint64_t shim__vk_features_read(const shim__vk_features_t* features);

// Sets the features of those bits.
void shim__vk_features_write(shim__vk_features_t* features, uint64_t bits);

//===--------------------------------------------------------------------===//
// Devices
//===--------------------------------------------------------------------===//

typedef struct shim__vk_queue_t {
  svk_queue_t handle;
  uint32_t family;
  pthread_mutex_t mutex;  // Vulkan allows one thread at a time
} shim__vk_queue_t;

struct shim_vulkan_device_t {
  shim_vulkan_api_t* api;
  const shim__vk_physical_t* physical;
  svk_device_t handle;
  shim__vk_device_table_t table;
  uint64_t features;
  atomic_bool lost;
  _Atomic int64_t live[SHIM_VULKAN_KIND_COUNT];
  uint32_t queue_count;
  shim__vk_queue_t queues[SHIM_VULKAN_MAX_QUEUES];
};

static inline bool shim__vk_has(const shim_vulkan_device_t* device,
                                int32_t feature) {
  return (device->features >> feature) & 1;
}

// Counts objects of the process, and of |device| unless it is NULL.
void shim__vk_count(shim_vulkan_device_t* device, int32_t kind, int64_t by);

//===--------------------------------------------------------------------===//
// Status
//===--------------------------------------------------------------------===//

// The name of a result, "an unknown result" for others. Static storage.
const char* shim__vk_result_name(svk_result_t result);

// The canonical code of a result.
shim_status_t shim__vk_result_status(svk_result_t result);

// Describes the failure of an entry point; records the loss of the device.
shim_status_t shim__vk_fail(shim_vulkan_device_t* device, svk_result_t result,
                            shim_error_t* error, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Fails when the device was lost before.
shim_status_t shim__vk_check(shim_vulkan_device_t* device, shim_error_t* error);

//===--------------------------------------------------------------------===//
// Objects
//===--------------------------------------------------------------------===//

struct shim_vulkan_timeline_t {
  shim_vulkan_device_t* device;
  svk_handle_t semaphore;
  bool exportable;
};

struct shim_vulkan_pipeline_cache_t {
  shim_vulkan_device_t* device;
  svk_handle_t cache;
};

// The location of a pipeline's i-th descriptor.
typedef struct shim__vk_slot_t {
  uint32_t set;
  uint32_t binding;
  uint32_t element;
  int32_t type;
} shim__vk_slot_t;

struct shim_vulkan_pipeline_t {
  shim_vulkan_device_t* device;
  svk_handle_t pipeline;
  svk_handle_t layout;
  uint32_t set_count;
  svk_handle_t sets[SHIM_VULKAN_MAX_SETS];
  bool pushed;           // its descriptors are recorded
  bool late;             // its descriptors can change once recorded
  uint32_t push_constant_bytes;
  uint32_t uniform_count;
  uint32_t storage_count;
  uint32_t slot_count;
  shim__vk_slot_t slots[];
};

// Records bindings changed since; called by submissions.
shim_status_t shim__vk_commands_flush(shim_vulkan_commands_t* commands,
                                      shim_error_t* error);

svk_command_buffer_t shim__vk_commands_handle(
    const shim_vulkan_commands_t* commands);

#endif  // IREE4J_SHIM_VULKAN_INTERNAL_H_
