// The properties of the fake's devices.
#include <stdio.h>
#include <string.h>

#include "fake_vulkan.h"

static bool discrete(void) { return !fake_settings.unified; }

static svk_result_t vkEnumerateDeviceExtensionProperties(
    svk_physical_device_t device, const char* layer, uint32_t* count,
    svk_extension_properties_t* out) {
  (void)device, (void)layer;
  const char* names[8];
  uint32_t there = 0;
  if (fake_settings.api < SVK_API_VERSION(1, 3) && !fake_settings.no_sync2) {
    names[there++] = "VK_KHR_synchronization2";
  }
  if (fake_settings.push) names[there++] = "VK_KHR_push_descriptor";
  if (!fake_settings.no_export) {
    names[there++] = "VK_KHR_external_memory_fd";
    names[there++] = "VK_EXT_external_memory_host";
    names[there++] = "VK_KHR_external_semaphore_fd";
  }
  for (uint32_t i = 0; out && i < there && i < *count; ++i) {
    snprintf(out[i].extensionName, sizeof(out[i].extensionName), "%s",
             names[i]);
    out[i].specVersion = 1;
  }
  *count = there;
  return FAKE_OK;
}

static void vkGetPhysicalDeviceProperties(
    svk_physical_device_t device, svk_physical_device_properties_t* out) {
  memset(out, 0, sizeof(*out));
  out->apiVersion = fake_settings.api;
  out->driverVersion = 1;
  out->vendorID = 0xFA4E;
  out->deviceID = (uint32_t)device->index;
  out->deviceType = device->type;
  snprintf(out->deviceName, sizeof(out->deviceName), "fake device %d",
           device->index);
  memset(out->pipelineCacheUUID, 0xFA, sizeof(out->pipelineCacheUUID));
  out->limits.maxUniformBufferRange = 1u << 16;
  out->limits.maxStorageBufferRange = 1u << 30;
  out->limits.maxPushConstantsSize = FAKE_PUSH_BYTES;
  out->limits.maxMemoryAllocationCount = 4096;
  out->limits.maxBoundDescriptorSets = FAKE_MAX_SETS;
  out->limits.maxPerStageDescriptorStorageBuffers = FAKE_MAX_BINDINGS;
  out->limits.maxComputeSharedMemorySize = 32768;
  out->limits.maxComputeWorkGroupInvocations = 1024;
  for (int i = 0; i < 3; ++i) {
    out->limits.maxComputeWorkGroupCount[i] = 65535;
    out->limits.maxComputeWorkGroupSize[i] = 1024;
  }
  out->limits.minUniformBufferOffsetAlignment = 64;
  out->limits.minStorageBufferOffsetAlignment = 64;
  out->limits.timestampPeriod = 1.0f;
  out->limits.nonCoherentAtomSize = 64;
}

static void vkGetPhysicalDeviceProperties2(
    svk_physical_device_t device, svk_physical_device_properties_2_t* out) {
  vkGetPhysicalDeviceProperties(device, &out->properties);
  for (svk_base_t* next = out->pNext; next; next = next->pNext) {
    switch (next->sType) {
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES: {
        svk_physical_device_vulkan_1_1_properties_t* v11 = (void*)next;
        memset(v11->deviceUUID, 0xF0 + device->index, SVK_UUID_SIZE);
        v11->subgroupSize = 1;
        v11->maxMemoryAllocationSize = 1ull << 30;
        break;
      }
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES: {
        svk_physical_device_vulkan_1_2_properties_t* v12 = (void*)next;
        snprintf(v12->driverName, sizeof(v12->driverName), "fake_vulkan");
        snprintf(v12->driverInfo, sizeof(v12->driverInfo), "for tests");
        v12->maxTimelineSemaphoreValueDifference = 0x7fffffff;
        break;
      }
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR:
        ((svk_physical_device_push_descriptor_properties_t*)next)
            ->maxPushDescriptors = 32;
        break;
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
        ((svk_physical_device_external_memory_host_properties_t*)next)
            ->minImportedHostPointerAlignment = 4096;
        break;
      default:
        break;
    }
  }
}

static void vkGetPhysicalDeviceFeatures2(
    svk_physical_device_t device, svk_physical_device_features_2_t* out) {
  (void)device;
  out->features.shaderInt64 = 1;
  out->features.shaderInt16 = 1;
  out->features.shaderFloat64 = 1;
  for (svk_base_t* next = out->pNext; next; next = next->pNext) {
    switch (next->sType) {
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
        svk_physical_device_vulkan_1_1_features_t* v11 = (void*)next;
        v11->storageBuffer16BitAccess = 1;
        v11->variablePointersStorageBuffer = 1;
        v11->variablePointers = 1;
        break;
      }
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
        svk_physical_device_vulkan_1_2_features_t* v12 = (void*)next;
        v12->timelineSemaphore = !fake_settings.no_timeline;
        v12->bufferDeviceAddress = !fake_settings.no_address;
        v12->scalarBlockLayout = 1;
        v12->storageBuffer8BitAccess = 1;
        v12->shaderInt8 = 1;
        v12->shaderFloat16 = 1;
        v12->vulkanMemoryModel = 1;
        v12->vulkanMemoryModelDeviceScope = 1;
        v12->descriptorBindingStorageBufferUpdateAfterBind =
            fake_settings.update_after_bind;
        v12->descriptorBindingUniformBufferUpdateAfterBind =
            fake_settings.update_after_bind;
        break;
      }
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
        ((svk_physical_device_vulkan_1_3_features_t*)next)->synchronization2 =
            !fake_settings.no_sync2;
        break;
      case SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
        ((svk_physical_device_synchronization_2_features_t*)next)
            ->synchronization2 = !fake_settings.no_sync2;
        break;
      default:
        break;
    }
  }
}

static void vkGetPhysicalDeviceMemoryProperties2(
    svk_physical_device_t device,
    svk_physical_device_memory_properties_2_t* out) {
  (void)device;
  svk_physical_device_memory_properties_t* memory = &out->memoryProperties;
  const uint32_t host = SVK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                        SVK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  memory->memoryHeapCount = discrete() ? 2 : 1;
  memory->memoryHeaps[0] = (svk_memory_heap_t){
      fake_settings.heap_bytes, SVK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory->memoryHeaps[1] = (svk_memory_heap_t){fake_settings.heap_bytes, 0};
  if (discrete()) {
    memory->memoryTypeCount = 3;
    memory->memoryTypes[0] =
        (svk_memory_type_t){SVK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    memory->memoryTypes[1] = (svk_memory_type_t){host, 1};
    memory->memoryTypes[2] =
        (svk_memory_type_t){host | SVK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
  } else {
    memory->memoryTypeCount = 1;
    memory->memoryTypes[0] = (svk_memory_type_t){
        host | SVK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
            SVK_MEMORY_PROPERTY_HOST_CACHED_BIT,
        0};
  }
}

static void vkGetPhysicalDeviceQueueFamilyProperties2(
    svk_physical_device_t device, uint32_t* count,
    svk_queue_family_properties_2_t* out) {
  (void)device;
  uint32_t there = fake_settings.one_queue ? 1 : 2;
  if (out && *count < there) there = *count;
  for (uint32_t i = 0; out && i < there; ++i) {
    out[i].queueFamilyProperties = (svk_queue_family_properties_t){
        .queueFlags = i == 0 ? SVK_QUEUE_COMPUTE_BIT | SVK_QUEUE_TRANSFER_BIT
                             : SVK_QUEUE_TRANSFER_BIT,
        .queueCount = i == 0 && !fake_settings.one_queue ? 2 : 1,
        .timestampValidBits = 64};
  }
  *count = there;
}

static void vkGetPhysicalDeviceExternalSemaphoreProperties(
    svk_physical_device_t device,
    const svk_physical_device_external_semaphore_info_t* info,
    svk_external_semaphore_properties_t* out) {
  (void)device;
  out->exportFromImportedHandleTypes = info->handleType;
  out->compatibleHandleTypes = info->handleType;
  const uint32_t both = SVK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                        SVK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
  out->externalSemaphoreFeatures = fake_settings.no_export ? 0 : both;
}

static void vkGetPhysicalDeviceExternalBufferProperties(
    svk_physical_device_t device,
    const svk_physical_device_external_buffer_info_t* info,
    svk_external_buffer_properties_t* out) {
  (void)device;
  out->externalMemoryProperties = (svk_external_memory_properties_t){
      fake_settings.no_export ? 0
                              : SVK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
                                    SVK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
      info->handleType, info->handleType};
}

svk_function_t fake_device_function(const char* name) {
  FAKE_FUNCTION(vkEnumerateDeviceExtensionProperties);
  FAKE_FUNCTION(vkGetPhysicalDeviceProperties);
  FAKE_FUNCTION(vkGetPhysicalDeviceProperties2);
  FAKE_FUNCTION(vkGetPhysicalDeviceFeatures2);
  FAKE_FUNCTION(vkGetPhysicalDeviceMemoryProperties2);
  FAKE_FUNCTION(vkGetPhysicalDeviceQueueFamilyProperties2);
  FAKE_FUNCTION(vkGetPhysicalDeviceExternalSemaphoreProperties);
  FAKE_FUNCTION(vkGetPhysicalDeviceExternalBufferProperties);
  return NULL;
}
