// Properties of an instance's devices, without opening them. Calls
// vulkan_features.c.
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

static uint32_t extension_bit(const char* name) {
#define BIT(index, code, text) \
  if (strcmp(name, text) == 0) return 1u << index;
  SHIM__VK_EXTENSIONS(BIT)
#undef BIT
  return 0;
}

static shim_status_t query_extensions(const shim_vulkan_api_t* api,
                                      shim__vk_physical_t* physical,
                                      shim_error_t* error) {
  uint32_t count = 0;
  svk_result_t result = api->table.vkEnumerateDeviceExtensionProperties(
      physical->handle, NULL, &count, NULL);
  svk_extension_properties_t* all = NULL;
  if (result >= 0) {
    all = calloc(count + 1, sizeof(*all));
    if (!all) {
      return shim__no_memory(error, count * sizeof(*all), "extensions");
    }
    result = api->table.vkEnumerateDeviceExtensionProperties(
        physical->handle, NULL, &count, all);
  }
  for (uint32_t i = 0; result >= 0 && i < count; ++i) {
    physical->extensions |= extension_bit(all[i].extensionName);
  }
  free(all);
  return result < 0 ? shim__vk_fail(NULL, result, error,
                                    "vkEnumerateDeviceExtensionProperties")
                    : SHIM_OK;
}

static bool has(const shim__vk_physical_t* physical, uint32_t extension) {
  return (physical->extensions >> extension) & 1;
}

static uint64_t bit(int32_t feature) { return 1ull << feature; }

// Whether timelines can be exported as descriptors, which drivers may support
// for other semaphores only.
static bool timelines_can_be_exported(const shim_vulkan_api_t* api,
                                      const shim__vk_physical_t* physical) {
  svk_semaphore_type_create_info_t type = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .semaphoreType = SVK_SEMAPHORE_TYPE_TIMELINE,
  };
  svk_physical_device_external_semaphore_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
      .pNext = &type,
      .handleType = SVK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
  };
  svk_external_semaphore_properties_t properties = {
      .sType = SVK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES,
  };
  api->table.vkGetPhysicalDeviceExternalSemaphoreProperties(physical->handle,
                                                            &info, &properties);
  const uint32_t both = SVK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                        SVK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
  return (properties.externalSemaphoreFeatures & both) == both;
}

static bool buffers_can_be(const shim_vulkan_api_t* api,
                           const shim__vk_physical_t* physical,
                           uint32_t handle_type, uint32_t wanted) {
  svk_physical_device_external_buffer_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
      .usage = SHIM__VK_BUFFER_USAGE,
      .handleType = handle_type,
  };
  svk_external_buffer_properties_t properties = {
      .sType = SVK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES,
  };
  api->table.vkGetPhysicalDeviceExternalBufferProperties(physical->handle,
                                                         &info, &properties);
  return (properties.externalMemoryProperties.externalMemoryFeatures &
          wanted) == wanted;
}

static uint64_t query_features(const shim_vulkan_api_t* api,
                               const shim__vk_physical_t* physical) {
  shim__vk_features_t features;
  shim__vk_features_link(&features, (uint32_t)physical->info.api_version,
                         physical->extensions);
  api->table.vkGetPhysicalDeviceFeatures2(physical->handle, &features.base);
  uint64_t bits = shim__vk_features_read(&features);
  if (has(physical, SHIM__VK_EXTENSION_PUSH_DESCRIPTOR)) {
    bits |= bit(SHIM_VULKAN_FEATURE_PUSH_DESCRIPTOR);
  }
  if (has(physical, SHIM__VK_EXTENSION_EXTERNAL_MEMORY_FD) &&
      buffers_can_be(api, physical,
                     SVK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                     SVK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
                         SVK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)) {
    bits |= bit(SHIM_VULKAN_FEATURE_EXTERNAL_MEMORY_FD);
  }
  if (has(physical, SHIM__VK_EXTENSION_EXTERNAL_MEMORY_HOST) &&
      physical->info.min_imported_host_pointer_alignment &&
      buffers_can_be(api, physical,
                     SVK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                     SVK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)) {
    bits |= bit(SHIM_VULKAN_FEATURE_EXTERNAL_MEMORY_HOST);
  }
  if (has(physical, SHIM__VK_EXTENSION_EXTERNAL_SEMAPHORE_FD) &&
      timelines_can_be_exported(api, physical)) {
    bits |= bit(SHIM_VULKAN_FEATURE_EXTERNAL_SEMAPHORE_FD);
  }
  return bits;
}

static void copy_limits(const svk_physical_device_limits_t* limits,
                        shim_vulkan_device_info_t* info) {
  info->max_storage_buffer_range = limits->maxStorageBufferRange;
  // Storage and uniform bindings may be anywhere in one buffer.
  info->min_storage_buffer_offset_alignment =
      limits->minStorageBufferOffsetAlignment >
              limits->minUniformBufferOffsetAlignment
          ? limits->minStorageBufferOffsetAlignment
          : limits->minUniformBufferOffsetAlignment;
  info->non_coherent_atom_size = limits->nonCoherentAtomSize;
  info->max_push_constants_size = limits->maxPushConstantsSize;
  info->max_bound_descriptor_sets = limits->maxBoundDescriptorSets;
  info->max_per_stage_descriptor_storage_buffers =
      limits->maxPerStageDescriptorStorageBuffers;
  for (int i = 0; i < 3; ++i) {
    info->max_compute_work_group_count[i] = limits->maxComputeWorkGroupCount[i];
    info->max_compute_work_group_size[i] = limits->maxComputeWorkGroupSize[i];
  }
  info->max_compute_work_group_invocations =
      limits->maxComputeWorkGroupInvocations;
  info->max_compute_shared_memory_size = limits->maxComputeSharedMemorySize;
  info->max_memory_allocation_count = limits->maxMemoryAllocationCount;
  info->timestamp_period_picoseconds =
      (uint64_t)((double)limits->timestampPeriod * 1000.0);
}

static void query_properties(const shim_vulkan_api_t* api,
                             shim__vk_physical_t* physical) {
  svk_physical_device_properties_t old;
  memset(&old, 0, sizeof(old));
  api->table.vkGetPhysicalDeviceProperties(physical->handle, &old);
  svk_physical_device_push_descriptor_properties_t push = {
      .sType =
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR,
  };
  svk_physical_device_external_memory_host_properties_t host = {
      .sType =
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
  };
  svk_physical_device_subgroup_size_control_properties_t subgroup = {
      .sType =
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
  };
  svk_physical_device_vulkan_1_1_properties_t v11 = {
      .sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
  };
  svk_physical_device_vulkan_1_2_properties_t v12 = {
      .sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
      .pNext = &v11,
  };
  svk_physical_device_properties_2_t properties;
  memset(&properties, 0, sizeof(properties));
  properties.sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  if (old.apiVersion >= SVK_API_VERSION(1, 2)) {
    properties.pNext = &v12;
    if (old.apiVersion >= SVK_API_VERSION(1, 3) ||
        has(physical, SHIM__VK_EXTENSION_SUBGROUP_SIZE_CONTROL)) {
      subgroup.pNext = properties.pNext;
      properties.pNext = &subgroup;
    }
  }
  if (has(physical, SHIM__VK_EXTENSION_PUSH_DESCRIPTOR)) {
    push.pNext = properties.pNext;
    properties.pNext = &push;
  }
  if (has(physical, SHIM__VK_EXTENSION_EXTERNAL_MEMORY_HOST)) {
    host.pNext = properties.pNext;
    properties.pNext = &host;
  }
  // A Vulkan 1.0 device lacks the second query; it is only listed.
  if (old.apiVersion >= SVK_API_VERSION(1, 1)) {
    api->table.vkGetPhysicalDeviceProperties2(physical->handle, &properties);
  } else {
    properties.properties = old;
  }
  const svk_physical_device_properties_t* plain = &properties.properties;
  shim_vulkan_device_info_t* info = &physical->info;
  info->type = (uint64_t)plain->deviceType;
  info->vendor_id = plain->vendorID;
  info->device_id = plain->deviceID;
  info->api_version = plain->apiVersion;
  info->driver_version = plain->driverVersion;
  memcpy(info->device_uuid, v11.deviceUUID, sizeof(info->device_uuid));
  memcpy(info->pipeline_cache_uuid, plain->pipelineCacheUUID,
         sizeof(info->pipeline_cache_uuid));
  copy_limits(&plain->limits, info);
  info->max_memory_allocation_size = v11.maxMemoryAllocationSize;
  info->max_timeline_semaphore_value_difference =
      v12.maxTimelineSemaphoreValueDifference;
  info->subgroup_size = v11.subgroupSize;
  bool any_size = subgroup.requiredSubgroupSizeStages &
                  SVK_SHADER_STAGE_COMPUTE_BIT;
  info->min_subgroup_size =
      any_size ? subgroup.minSubgroupSize : v11.subgroupSize;
  info->max_subgroup_size =
      any_size ? subgroup.maxSubgroupSize : v11.subgroupSize;
  info->max_push_descriptors = push.maxPushDescriptors;
  info->min_imported_host_pointer_alignment =
      host.minImportedHostPointerAlignment;
  memcpy(info->name, plain->deviceName, sizeof(info->name) - 1);
  memcpy(info->driver_name, v12.driverName, sizeof(info->driver_name) - 1);
  memcpy(info->driver_info, v12.driverInfo, sizeof(info->driver_info) - 1);
}

static void query_memory(const shim_vulkan_api_t* api,
                         shim__vk_physical_t* physical) {
  svk_physical_device_memory_properties_2_t memory;
  memset(&memory, 0, sizeof(memory));
  memory.sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  api->table.vkGetPhysicalDeviceMemoryProperties2(physical->handle, &memory);
  const svk_physical_device_memory_properties_t* all = &memory.memoryProperties;
  shim_vulkan_device_info_t* info = &physical->info;
  for (uint32_t i = 0;
       i < all->memoryHeapCount && i < SHIM_VULKAN_MAX_HEAPS; ++i) {
    info->heaps[i][0] = all->memoryHeaps[i].size;
    info->heaps[i][1] = all->memoryHeaps[i].flags;
    info->heap_count = i + 1;
  }
  for (uint32_t i = 0;
       i < all->memoryTypeCount && i < SHIM_VULKAN_MAX_TYPES; ++i) {
    info->types[i][0] = all->memoryTypes[i].propertyFlags;
    info->types[i][1] = all->memoryTypes[i].heapIndex;
    info->type_count = i + 1;
  }
}

static void query_families(const shim_vulkan_api_t* api,
                           shim__vk_physical_t* physical) {
  svk_queue_family_properties_2_t families[SHIM_VULKAN_MAX_FAMILIES];
  memset(families, 0, sizeof(families));
  for (uint32_t i = 0; i < SHIM_VULKAN_MAX_FAMILIES; ++i) {
    families[i].sType = SVK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
  }
  uint32_t count = SHIM_VULKAN_MAX_FAMILIES;
  api->table.vkGetPhysicalDeviceQueueFamilyProperties2(physical->handle, &count,
                                                       families);
  physical->info.family_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    physical->info.families[i][0] =
        families[i].queueFamilyProperties.queueFlags;
    physical->info.families[i][1] =
        families[i].queueFamilyProperties.queueCount;
  }
}

shim_status_t shim__vk_physicals_query(shim_vulkan_api_t* api,
                                       shim_error_t* error) {
  uint32_t count = 0;
  svk_result_t result =
      api->table.vkEnumeratePhysicalDevices(api->instance, &count, NULL);
  // Loaders return this when no driver works; report no devices.
  if (result == SHIM__VK_INITIALIZATION_FAILED) return SHIM_OK;
  if (result < 0) {
    return shim__vk_fail(NULL, result, error, "vkEnumeratePhysicalDevices");
  }
  svk_physical_device_t* handles = calloc(count + 1, sizeof(*handles));
  api->physicals = calloc(count + 1, sizeof(*api->physicals));
  if (!handles || !api->physicals) {
    free(handles);
    return shim__no_memory(
        error, count * (sizeof(*handles) + sizeof(*api->physicals)), "devices");
  }
  // INCOMPLETE when a device appeared since: ignore it.
  result =
      api->table.vkEnumeratePhysicalDevices(api->instance, &count, handles);
  shim_status_t status =
      result < 0
          ? shim__vk_fail(NULL, result, error, "vkEnumeratePhysicalDevices")
          : SHIM_OK;
  for (uint32_t i = 0; i < count && !status; ++i) {
    shim__vk_physical_t* physical = &api->physicals[i];
    physical->handle = handles[i];
    status = query_extensions(api, physical, error);
    if (status) break;
    query_properties(api, physical);
    if (physical->info.api_version >= SVK_API_VERSION(1, 1)) {
      physical->info.features = query_features(api, physical);
      query_memory(api, physical);
      query_families(api, physical);
    }
    api->physical_count = i + 1;
  }
  free(handles);
  return status;
}

uint32_t shim_vulkan_device_count(const shim_vulkan_api_t* api) {
  return api->physical_count;
}

shim_status_t shim_vulkan_device_query(const shim_vulkan_api_t* api,
                                       uint32_t index, void* out_info,
                                       size_t size, shim_error_t* error) {
  if (size != sizeof(shim_vulkan_device_info_t)) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "the description of a device has %zu bytes, the "
                          "caller knows %zu",
                          sizeof(shim_vulkan_device_info_t), size);
  }
  if (index >= api->physical_count) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "device %u of '%s', which has %u", index, api->name,
                          api->physical_count);
  }
  memcpy(out_info, &api->physicals[index].info, size);
  return SHIM_OK;
}
