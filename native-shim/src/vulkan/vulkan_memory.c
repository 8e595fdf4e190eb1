// Memory: one allocation, one buffer over all of it, one mapping.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "vulkan/vulkan_internal.h"

struct shim_vulkan_memory_t {
  shim_vulkan_device_t* device;
  svk_handle_t memory;
  svk_handle_t buffer;
  bool exportable;
  shim_vulkan_memory_info_t info;
};

// The source of imported or exportable memory.
typedef struct source_t {
  uint32_t handle_type;  // of the import or export; 0 for none
  const void* chain;     // the structure that requests it
  int* fd;               // set to -1 once the driver owns it; or NULL
} source_t;

static uint64_t type_flags(const shim_vulkan_device_t* device, uint32_t type) {
  return device->physical->info.types[type][0];
}

static shim_status_t create_buffer(shim_vulkan_memory_t* memory, uint64_t size,
                                   uint32_t handle_type, shim_error_t* error) {
  shim_vulkan_device_t* device = memory->device;
  svk_external_memory_buffer_create_info_t external = {
      .sType = SVK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
      .handleTypes = handle_type,
  };
  // Queues of all families use it in turn; semaphores make a family's writes
  // visible. Hence concurrent sharing.
  uint32_t families[SHIM_VULKAN_MAX_FAMILIES];
  uint32_t family_count = 0;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    uint32_t family = device->queues[i].family;
    uint32_t known = 0;
    while (known < family_count && families[known] != family) ++known;
    if (known == family_count) families[family_count++] = family;
  }
  svk_buffer_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .pNext = handle_type ? &external : NULL,
      .size = size,
      .usage = SHIM__VK_BUFFER_USAGE,
      .sharingMode = family_count > 1,
      .queueFamilyIndexCount = family_count > 1 ? family_count : 0,
      .pQueueFamilyIndices = families,
  };
  if (shim__vk_has(device, SHIM_VULKAN_FEATURE_BUFFER_DEVICE_ADDRESS)) {
    info.usage |= SVK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  }
  svk_result_t result = device->table.vkCreateBuffer(device->handle, &info,
                                                     NULL, &memory->buffer);
  if (result < 0) {
    memory->buffer = 0;
    return shim__vk_fail(device, result, error, "vkCreateBuffer of %llu bytes",
                         (unsigned long long)size);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_BUFFERS, 1);
  return SHIM_OK;
}

static shim_status_t allocate(shim_vulkan_memory_t* memory, uint64_t size,
                              const void* chain, shim_error_t* error) {
  shim_vulkan_device_t* device = memory->device;
  svk_memory_allocate_flags_info_t flags = {
      .sType = SVK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .pNext = chain,
      .flags = SVK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
  };
  svk_memory_allocate_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .pNext = shim__vk_has(device, SHIM_VULKAN_FEATURE_BUFFER_DEVICE_ADDRESS)
                   ? &flags
                   : chain,
      .allocationSize = size,
      .memoryTypeIndex = (uint32_t)memory->info.type,
  };
  svk_result_t result = device->table.vkAllocateMemory(device->handle, &info,
                                                       NULL, &memory->memory);
  if (result < 0) {
    memory->memory = 0;
    return shim__vk_fail(device, result, error,
                         "vkAllocateMemory of %llu bytes of type %u",
                         (unsigned long long)size, info.memoryTypeIndex);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_MEMORY, 1);
  return SHIM_OK;
}

static shim_status_t bind_and_map(shim_vulkan_memory_t* memory,
                                  shim_error_t* error) {
  shim_vulkan_device_t* device = memory->device;
  svk_result_t result = device->table.vkBindBufferMemory(
      device->handle, memory->buffer, memory->memory, 0);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkBindBufferMemory");
  }
  memory->info.buffer = memory->buffer;
  if (shim__vk_has(device, SHIM_VULKAN_FEATURE_BUFFER_DEVICE_ADDRESS) &&
      device->table.vkGetBufferDeviceAddress) {
    svk_buffer_device_address_info_t info = {
        .sType = SVK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = memory->buffer,
    };
    memory->info.device_address =
        device->table.vkGetBufferDeviceAddress(device->handle, &info);
  }
  const uint64_t mappable = SVK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                            SVK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if (memory->info.host ||
      (type_flags(device, (uint32_t)memory->info.type) & mappable) !=
          mappable) {
    return SHIM_OK;
  }
  void* host = NULL;
  result = device->table.vkMapMemory(device->handle, memory->memory, 0,
                                     UINT64_MAX, 0, &host);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkMapMemory of %llu bytes",
                         (unsigned long long)memory->info.size);
  }
  memory->info.host = (uint64_t)(uintptr_t)host;
  return SHIM_OK;
}

static shim_status_t check_request(shim_vulkan_device_t* device, uint64_t size,
                                   uint32_t type, shim_error_t* error) {
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (type >= device->physical->info.type_count) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "memory type %u of device '%s', which has %u", type,
                          device->physical->info.name,
                          (uint32_t)device->physical->info.type_count);
  }
  if (size == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "an allocation of no bytes");
  }
  uint64_t limit = device->physical->info.max_memory_allocation_size;
  uint64_t heap = device->physical->info
                      .heaps[device->physical->info.types[type][1]][0];
  if (limit == 0 || limit > heap) limit = heap;
  if (size > limit) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "an allocation of %llu bytes on device '%s', whose "
                          "limit for memory type %u is %llu",
                          (unsigned long long)size,
                          device->physical->info.name, type,
                          (unsigned long long)limit);
  }
  return SHIM_OK;
}

// Fills |memory|, whose type and host address are set.
static shim_status_t fill_in(shim_vulkan_memory_t* memory, uint64_t size,
                             source_t source, bool of_its_own_size,
                             shim_error_t* error) {
  shim_vulkan_device_t* device = memory->device;
  memory->info.size = size;
  shim_status_t status =
      create_buffer(memory, size, source.handle_type, error);
  if (status) return status;
  svk_memory_requirements_t needs = {0};
  device->table.vkGetBufferMemoryRequirements(device->handle, memory->buffer,
                                              &needs);
  if (!(needs.memoryTypeBits >> memory->info.type & 1)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "buffers of device '%s' cannot have memory type %u",
                          device->physical->info.name,
                          (uint32_t)memory->info.type);
  }
  // Imported memory has a fixed size.
  if (of_its_own_size && needs.size > size) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "%llu bytes of the host are %llu for device '%s'; "
                          "round up",
                          (unsigned long long)size,
                          (unsigned long long)needs.size,
                          device->physical->info.name);
  }
  status = allocate(memory, of_its_own_size ? size : needs.size, source.chain,
                    error);
  if (status) return status;
  if (source.fd) *source.fd = -1;
  return bind_and_map(memory, error);
}

static shim_status_t create(shim_vulkan_device_t* device, uint64_t size,
                            uint32_t type, uint64_t host, bool exportable,
                            source_t source, shim_vulkan_memory_t** out_memory,
                            shim_error_t* error) {
  *out_memory = NULL;
  shim_vulkan_memory_t* memory = calloc(1, sizeof(*memory));
  if (!memory) {
    return shim__no_memory(error, sizeof(*memory), "the record of memory");
  }
  memory->device = device;
  memory->info.type = type;
  memory->info.host = host;
  memory->exportable = exportable;
  shim_status_t status = fill_in(memory, size, source, host != 0, error);
  if (status) {
    shim_vulkan_memory_release(memory);
    return status;
  }
  *out_memory = memory;
  return SHIM_OK;
}

static shim_status_t lacks(const shim_vulkan_device_t* device,
                           const char* extension, shim_error_t* error) {
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                        "device '%s' does not have %s for buffers",
                        device->physical->info.name, extension);
}

shim_status_t shim_vulkan_memory_create(shim_vulkan_device_t* device,
                                        uint64_t size, uint32_t type,
                                        uint32_t flags,
                                        shim_vulkan_memory_t** out_memory,
                                        shim_error_t* error) {
  *out_memory = NULL;
  shim_status_t status = check_request(device, size, type, error);
  if (status) return status;
  svk_export_memory_allocate_info_t chain = {
      .sType = SVK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
      .handleTypes = SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
  };
  source_t source = {0};
  bool exportable = flags & SHIM_VULKAN_MEMORY_EXPORTABLE;
  if (exportable) {
    if (!shim__vk_has(device, SHIM_VULKAN_FEATURE_EXTERNAL_MEMORY_FD)) {
      return lacks(device, "VK_KHR_external_memory_fd", error);
    }
    source.handle_type = SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    source.chain = &chain;
  }
  return create(device, size, type, 0, exportable, source, out_memory, error);
}

shim_status_t shim_vulkan_memory_import_host(shim_vulkan_device_t* device,
                                             void* address, uint64_t size,
                                             shim_vulkan_memory_t** out_memory,
                                             shim_error_t* error) {
  *out_memory = NULL;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (!shim__vk_has(device, SHIM_VULKAN_FEATURE_EXTERNAL_MEMORY_HOST) ||
      !device->table.vkGetMemoryHostPointerPropertiesEXT) {
    return lacks(device, "VK_EXT_external_memory_host", error);
  }
  uint64_t alignment =
      device->physical->info.min_imported_host_pointer_alignment;
  if (!address || !size || (uintptr_t)address % alignment || size % alignment) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "memory to import of %llu bytes; address and size "
                          "must be multiples of %llu",
                          (unsigned long long)size,
                          (unsigned long long)alignment);
  }
  svk_memory_host_pointer_properties_t properties = {
      .sType = SVK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
  };
  svk_result_t result = device->table.vkGetMemoryHostPointerPropertiesEXT(
      device->handle, SVK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
      address, &properties);
  if (result < 0) {
    return shim__vk_fail(device, result, error,
                         "vkGetMemoryHostPointerPropertiesEXT");
  }
  const uint64_t usable = SVK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                          SVK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (type < device->physical->info.type_count &&
         (!(properties.memoryTypeBits >> type & 1) ||
          (type_flags(device, type) & usable) != usable)) {
    ++type;
  }
  if (type == device->physical->info.type_count) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "memory of this kind cannot be imported by device "
                          "'%s'",
                          device->physical->info.name);
  }
  svk_import_memory_host_pointer_info_t chain = {
      .sType = SVK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
      .handleType = SVK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
      .pHostPointer = address,
  };
  source_t source = {SVK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                     &chain, NULL};
  return create(device, size, type, (uint64_t)(uintptr_t)address, false, source,
                out_memory, error);
}

static int duplicate(int fd) {
#if defined(_WIN32)
  return dup(fd);  // no driver there has the extension
#else
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
#endif
}

shim_status_t shim_vulkan_memory_import_fd(shim_vulkan_device_t* device,
                                           int32_t fd, uint64_t size,
                                           uint32_t type,
                                           shim_vulkan_memory_t** out_memory,
                                           shim_error_t* error) {
  *out_memory = NULL;
  shim_status_t status = check_request(device, size, type, error);
  if (status) return status;
  if (!shim__vk_has(device, SHIM_VULKAN_FEATURE_EXTERNAL_MEMORY_FD)) {
    return lacks(device, "VK_KHR_external_memory_fd", error);
  }
  // A copy, because the import consumes it even if a later step fails.
  int copy = duplicate(fd);
  if (copy < 0) {
    int code = errno;
    return code == EMFILE
               ? shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                                "no room for a copy of descriptor %d; raise "
                                "the limit of open files",
                                fd)
               : shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                                "descriptor %d is not open", fd);
  }
  svk_import_memory_fd_info_t chain = {
      .sType = SVK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
      .handleType = SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
      .fd = copy,
  };
  source_t source = {SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &chain,
                     &copy};
  status = create(device, size, type, 0, false, source, out_memory, error);
  if (copy >= 0) close(copy);
  if (!status) close(fd);
  return status;
}

void shim_vulkan_memory_query(const shim_vulkan_memory_t* memory,
                              shim_vulkan_memory_info_t* out_info) {
  *out_info = memory->info;
}

shim_status_t shim_vulkan_memory_export(shim_vulkan_memory_t* memory,
                                        int32_t* out_fd, shim_error_t* error) {
  *out_fd = 0;
  shim_vulkan_device_t* device = memory->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (!memory->exportable || !device->table.vkGetMemoryFdKHR) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "the memory was not created exportable");
  }
  svk_memory_get_fd_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
      .memory = memory->memory,
      .handleType = SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
  };
  int fd = -1;
  svk_result_t result =
      device->table.vkGetMemoryFdKHR(device->handle, &info, &fd);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkGetMemoryFdKHR");
  }
  *out_fd = fd;
  return SHIM_OK;
}

void shim_vulkan_memory_release(shim_vulkan_memory_t* memory) {
  if (!memory) return;
  shim_vulkan_device_t* device = memory->device;
  if (memory->buffer) {
    device->table.vkDestroyBuffer(device->handle, memory->buffer, NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_BUFFERS, -1);
  }
  if (memory->memory) {  // also unmaps it
    device->table.vkFreeMemory(device->handle, memory->memory, NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_MEMORY, -1);
  }
  free(memory);
}
