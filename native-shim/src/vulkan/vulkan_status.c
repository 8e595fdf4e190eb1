// Maps Vulkan results to canonical codes, by one table, and describes failures.
// Calls shim_status.c only.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

const char* shim__vk_result_name(svk_result_t result) {
  switch (result) {
#define NAME(number, status, name) \
  case number:                     \
    return "VK_" #name;
    SHIM__VK_RESULTS(NAME)
#undef NAME
    default:
      return "an unknown result";
  }
}

shim_status_t shim__vk_result_status(svk_result_t result) {
  switch (result) {
#define STATUS(number, status, name) \
  case number:                       \
    return SHIM_##status;
    SHIM__VK_RESULTS(STATUS)
#undef STATUS
    default:
      return SHIM_UNKNOWN;
  }
}

static shim_status_t lost(const shim_vulkan_device_t* device,
                          shim_error_t* error) {
  return shim_error_set(error, SHIM_ABORTED, SHIM__VK_DEVICE_LOST,
                        "device '%s' is lost (VK_ERROR_DEVICE_LOST)",
                        device->physical->info.name);
}

shim_status_t shim__vk_check(shim_vulkan_device_t* device,
                             shim_error_t* error) {
  return atomic_load_explicit(&device->lost, memory_order_acquire)
             ? lost(device, error)
             : SHIM_OK;
}

shim_status_t shim__vk_fail(shim_vulkan_device_t* device, svk_result_t result,
                            shim_error_t* error, const char* format, ...) {
  if (result == SHIM__VK_DEVICE_LOST && device) {
    atomic_store_explicit(&device->lost, true, memory_order_release);
    return lost(device, error);
  }
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  return shim_error_set(error, shim__vk_result_status(result), result,
                        "%s failed with %s (%d)%s%s%s", what,
                        shim__vk_result_name(result), result,
                        device ? " on device '" : "",
                        device ? device->physical->info.name : "",
                        device ? "'" : "");
}
