// Timelines, and waits for any of several.
#include <stdlib.h>

#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

// The size of a wait without allocation, and the maximum.
enum { FEW = 64, MOST = 1 << 16 };

static shim_status_t lacks_export(const shim_vulkan_device_t* device,
                                  shim_error_t* error) {
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                        "device '%s' does not have "
                        "VK_KHR_external_semaphore_fd for timelines",
                        device->physical->info.name);
}

shim_status_t shim_vulkan_timeline_create(shim_vulkan_device_t* device,
                                          uint64_t initial, uint32_t flags,
                                          shim_vulkan_timeline_t** out_timeline,
                                          shim_error_t* error) {
  *out_timeline = NULL;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  bool exportable = flags & SHIM_VULKAN_TIMELINE_EXPORTABLE;
  if (exportable &&
      !shim__vk_has(device, SHIM_VULKAN_FEATURE_EXTERNAL_SEMAPHORE_FD)) {
    return lacks_export(device, error);
  }
  svk_export_semaphore_create_info_t external = {
      .sType = SVK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
      .handleTypes = SVK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
  };
  svk_semaphore_type_create_info_t type = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .pNext = exportable ? &external : NULL,
      .semaphoreType = SVK_SEMAPHORE_TYPE_TIMELINE,
      .initialValue = initial,
  };
  svk_semaphore_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
      .pNext = &type,
  };
  shim_vulkan_timeline_t* timeline = calloc(1, sizeof(*timeline));
  if (!timeline) {
    return shim__no_memory(error, sizeof(*timeline), "a timeline");
  }
  timeline->device = device;
  timeline->exportable = exportable;
  svk_result_t result = device->table.vkCreateSemaphore(
      device->handle, &info, NULL, &timeline->semaphore);
  if (result < 0) {
    free(timeline);
    return shim__vk_fail(device, result, error, "vkCreateSemaphore");
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_SEMAPHORES, 1);
  *out_timeline = timeline;
  return SHIM_OK;
}

void shim_vulkan_timeline_release(shim_vulkan_timeline_t* timeline) {
  if (!timeline) return;
  shim_vulkan_device_t* device = timeline->device;
  device->table.vkDestroySemaphore(device->handle, timeline->semaphore, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_SEMAPHORES, -1);
  free(timeline);
}

shim_status_t shim_vulkan_timeline_value(shim_vulkan_timeline_t* timeline,
                                         uint64_t* out_value,
                                         shim_error_t* error) {
  *out_value = 0;
  shim_vulkan_device_t* device = timeline->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  uint64_t value = 0;
  svk_result_t result = device->table.vkGetSemaphoreCounterValue(
      device->handle, timeline->semaphore, &value);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkGetSemaphoreCounterValue");
  }
  *out_value = value;
  return SHIM_OK;
}

shim_status_t shim_vulkan_timeline_signal(shim_vulkan_timeline_t* timeline,
                                          uint64_t value, shim_error_t* error) {
  shim_vulkan_device_t* device = timeline->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  svk_semaphore_signal_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
      .semaphore = timeline->semaphore,
      .value = value,
  };
  svk_result_t result = device->table.vkSignalSemaphore(device->handle, &info);
  return result < 0 ? shim__vk_fail(device, result, error,
                                    "vkSignalSemaphore to %llu",
                                    (unsigned long long)value)
                    : SHIM_OK;
}

shim_status_t shim_vulkan_timeline_export(shim_vulkan_timeline_t* timeline,
                                          int32_t* out_fd,
                                          shim_error_t* error) {
  *out_fd = 0;
  shim_vulkan_device_t* device = timeline->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (!device->table.vkGetSemaphoreFdKHR) return lacks_export(device, error);
  if (!timeline->exportable) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "the timeline was not created exportable");
  }
  svk_semaphore_get_fd_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
      .semaphore = timeline->semaphore,
      .handleType = SVK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
  };
  int fd = -1;
  svk_result_t result =
      device->table.vkGetSemaphoreFdKHR(device->handle, &info, &fd);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkGetSemaphoreFdKHR");
  }
  *out_fd = fd;
  return SHIM_OK;
}

shim_status_t shim_vulkan_timeline_import(shim_vulkan_timeline_t* timeline,
                                          int32_t fd, shim_error_t* error) {
  shim_vulkan_device_t* device = timeline->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (!shim__vk_has(device, SHIM_VULKAN_FEATURE_EXTERNAL_SEMAPHORE_FD) ||
      !device->table.vkImportSemaphoreFdKHR) {
    return lacks_export(device, error);
  }
  svk_import_semaphore_fd_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
      .semaphore = timeline->semaphore,
      .handleType = SVK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
      .fd = fd,
  };
  svk_result_t result =
      device->table.vkImportSemaphoreFdKHR(device->handle, &info);
  return result < 0 ? shim__vk_fail(device, result, error,
                                    "vkImportSemaphoreFdKHR of descriptor %d",
                                    fd)
                    : SHIM_OK;
}

static shim_status_t wait_for(shim_vulkan_device_t* device,
                              const uint64_t* words, svk_handle_t* semaphores,
                              uint32_t count, int64_t timeout_ns,
                              shim_error_t* error) {
  for (uint32_t i = 0; i < count; ++i) {
    const shim_vulkan_timeline_t* timeline =
        (const shim_vulkan_timeline_t*)(uintptr_t)words[i];
    semaphores[i] = timeline->semaphore;
  }
  svk_semaphore_wait_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
      .flags = SVK_SEMAPHORE_WAIT_ANY_BIT,
      .semaphoreCount = count,
      .pSemaphores = semaphores,
      .pValues = words + count,
  };
  svk_result_t result = device->table.vkWaitSemaphores(
      device->handle, &info,
      timeout_ns < 0 ? UINT64_MAX : (uint64_t)timeout_ns);
  if (result == SHIM__VK_TIMEOUT) return SHIM_DEADLINE_EXCEEDED;
  return result < 0 ? shim__vk_fail(device, result, error, "vkWaitSemaphores")
                    : SHIM_OK;
}

shim_status_t shim_vulkan_wait_any(shim_vulkan_device_t* device,
                                   const uint64_t* words, uint32_t count,
                                   int64_t timeout_ns, shim_error_t* error) {
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (count == 0 || count > MOST) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%u timelines to wait for; 1 to %d can be", count,
                          MOST);
  }
  svk_handle_t few[FEW];
  if (count <= FEW) {
    return wait_for(device, words, few, count, timeout_ns, error);
  }
  svk_handle_t* many = calloc(count, sizeof(*many));
  if (!many) {
    return shim__no_memory(error, count * sizeof(*many), "a wait");
  }
  status = wait_for(device, words, many, count, timeout_ns, error);
  free(many);
  return status;
}
