// A Vulkan driver with injected out-of-host-memory failures: wraps each entry
// point that has a result.
#include <string.h>

#include "failing.h"
#include "vulkan/vulkan_internal.h"

// The wrapped functions.
static struct {
#define X(scope, need, result, name, arguments) result(*name) arguments;
#include "vulkan/vulkan_symbols.inc"
#undef X
} behind;

#define PLACE(name, parameters, arguments)                              \
  static svk_result_t name parameters {                                 \
    return failing_here(#name) ? OUT_OF_HOST_MEMORY : behind.name arguments; \
  }

enum { OUT_OF_HOST_MEMORY = -1 };

PLACE(vkEnumerateInstanceVersion, (uint32_t * out), (out))
PLACE(vkEnumerateInstanceExtensionProperties,
      (const char* layer, uint32_t* count, svk_extension_properties_t* out),
      (layer, count, out))
PLACE(vkEnumerateInstanceLayerProperties,
      (uint32_t * count, svk_layer_properties_t* out), (count, out))
PLACE(vkCreateInstance,
      (const svk_instance_create_info_t* info, const void* allocator,
       svk_instance_t* out),
      (info, allocator, out))
PLACE(vkEnumeratePhysicalDevices,
      (svk_instance_t instance, uint32_t* count, svk_physical_device_t* out),
      (instance, count, out))
PLACE(vkEnumerateDeviceExtensionProperties,
      (svk_physical_device_t device, const char* layer, uint32_t* count,
       svk_extension_properties_t* out),
      (device, layer, count, out))
PLACE(vkCreateDevice,
      (svk_physical_device_t device, const svk_device_create_info_t* info,
       const void* allocator, svk_device_t* out),
      (device, info, allocator, out))
PLACE(vkCreateDebugUtilsMessengerEXT,
      (svk_instance_t instance,
       const svk_debug_utils_messenger_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (instance, info, allocator, out))

PLACE(vkDeviceWaitIdle, (svk_device_t device), (device))
PLACE(vkQueueSubmit2,
      (svk_queue_t queue, uint32_t count, const svk_submit_info_2_t* infos,
       svk_handle_t fence),
      (queue, count, infos, fence))
PLACE(vkCreateSemaphore,
      (svk_device_t device, const svk_semaphore_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkGetSemaphoreCounterValue,
      (svk_device_t device, svk_handle_t semaphore, uint64_t* out),
      (device, semaphore, out))
PLACE(vkWaitSemaphores,
      (svk_device_t device, const svk_semaphore_wait_info_t* info,
       uint64_t timeout_ns),
      (device, info, timeout_ns))
PLACE(vkSignalSemaphore,
      (svk_device_t device, const svk_semaphore_signal_info_t* info),
      (device, info))
PLACE(vkGetSemaphoreFdKHR,
      (svk_device_t device, const svk_semaphore_get_fd_info_t* info, int* out),
      (device, info, out))
PLACE(vkImportSemaphoreFdKHR,
      (svk_device_t device, const svk_import_semaphore_fd_info_t* info),
      (device, info))
PLACE(vkCreateBuffer,
      (svk_device_t device, const svk_buffer_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkBindBufferMemory,
      (svk_device_t device, svk_handle_t buffer, svk_handle_t memory,
       uint64_t offset),
      (device, buffer, memory, offset))
PLACE(vkAllocateMemory,
      (svk_device_t device, const svk_memory_allocate_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkMapMemory,
      (svk_device_t device, svk_handle_t memory, uint64_t offset, uint64_t size,
       uint32_t flags, void** out),
      (device, memory, offset, size, flags, out))
PLACE(vkGetMemoryFdKHR,
      (svk_device_t device, const svk_memory_get_fd_info_t* info, int* out),
      (device, info, out))
PLACE(vkGetMemoryHostPointerPropertiesEXT,
      (svk_device_t device, uint32_t handle_type, const void* address,
       svk_memory_host_pointer_properties_t* out),
      (device, handle_type, address, out))
PLACE(vkCreateShaderModule,
      (svk_device_t device, const svk_shader_module_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkCreatePipelineCache,
      (svk_device_t device, const svk_pipeline_cache_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkGetPipelineCacheData,
      (svk_device_t device, svk_handle_t cache, size_t* size, void* out),
      (device, cache, size, out))
PLACE(vkCreateComputePipelines,
      (svk_device_t device, svk_handle_t cache, uint32_t count,
       const svk_compute_pipeline_create_info_t* infos, const void* allocator,
       svk_handle_t* out),
      (device, cache, count, infos, allocator, out))
PLACE(vkCreatePipelineLayout,
      (svk_device_t device, const svk_pipeline_layout_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkCreateDescriptorSetLayout,
      (svk_device_t device, const svk_descriptor_set_layout_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkCreateDescriptorPool,
      (svk_device_t device, const svk_descriptor_pool_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkResetDescriptorPool,
      (svk_device_t device, svk_handle_t pool, uint32_t flags),
      (device, pool, flags))
PLACE(vkAllocateDescriptorSets,
      (svk_device_t device, const svk_descriptor_set_allocate_info_t* info,
       svk_handle_t* out),
      (device, info, out))
PLACE(vkCreateCommandPool,
      (svk_device_t device, const svk_command_pool_create_info_t* info,
       const void* allocator, svk_handle_t* out),
      (device, info, allocator, out))
PLACE(vkResetCommandPool,
      (svk_device_t device, svk_handle_t pool, uint32_t flags),
      (device, pool, flags))
PLACE(vkAllocateCommandBuffers,
      (svk_device_t device, const svk_command_buffer_allocate_info_t* info,
       svk_command_buffer_t* out),
      (device, info, out))
PLACE(vkBeginCommandBuffer,
      (svk_command_buffer_t commands,
       const svk_command_buffer_begin_info_t* info),
      (commands, info))
PLACE(vkEndCommandBuffer, (svk_command_buffer_t commands), (commands))

//===--------------------------------------------------------------------===//
// Resolving
//===--------------------------------------------------------------------===//

// Wraps an entry point; those without a result stay. An entry point with a
// result that is missing above does not compile.
static svk_function_t in_front(const char* name, svk_function_t function) {
#define IN_FRONT_svk_result_t(symbol)                       \
  if (strcmp(name, #symbol) == 0) {                         \
    memcpy(&behind.symbol, &function, sizeof(function));    \
    return (svk_function_t)symbol;                          \
  }
#define IN_FRONT_void(symbol)
#define IN_FRONT_uint64_t(symbol)
#define IN_FRONT_svk_function_t(symbol)
#define X(scope, need, result, symbol, arguments) IN_FRONT_##result(symbol)
#include "vulkan/vulkan_symbols.inc"
#undef X
  return function;
}

static svk_function_t resolve_of_device(svk_device_t device, const char* name) {
  svk_function_t function = behind.vkGetDeviceProcAddr(device, name);
  return function ? in_front(name, function) : NULL;
}

static shim__vk_resolver_t resolver;

static svk_function_t resolve(svk_instance_t instance, const char* name) {
  svk_function_t function = resolver(instance, name);
  if (!function) return NULL;
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
    memcpy(&behind.vkGetDeviceProcAddr, &function, sizeof(function));
    return (svk_function_t)resolve_of_device;
  }
  return in_front(name, function);
}

void* __real_dlsym(void* library, const char* name);
void* __wrap_dlsym(void* library, const char* name);
void* __wrap_dlsym(void* library, const char* name) {
  void* symbol = __real_dlsym(library, name);
  if (!symbol) return NULL;
  if (strcmp(name, "vkGetInstanceProcAddr") != 0) {
    return failing_gpu_symbol(name, symbol);
  }
  memcpy(&resolver, &symbol, sizeof(symbol));
  shim__vk_resolver_t ours = resolve;
  memcpy(&symbol, &ours, sizeof(symbol));
  return symbol;
}
