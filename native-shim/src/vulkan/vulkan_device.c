// Opens and closes logical devices. Calls vulkan_features.c.
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_internal.h"

#define WANTED(feature) (1ull << SHIM_VULKAN_FEATURE_##feature)

static shim_status_t check_baseline(const shim__vk_physical_t* physical,
                                    shim_error_t* error) {
  const shim_vulkan_device_info_t* info = &physical->info;
  if (info->api_version < SVK_API_VERSION(1, 2)) {
    return shim_error_set(
        error, SHIM_INCOMPATIBLE, 0,
        "device '%s' has Vulkan %u.%u, the runtime needs 1.2; update its "
        "driver",
        info->name, (uint32_t)info->api_version >> 22 & 0x7f,
        (uint32_t)info->api_version >> 12 & 0x3ff);
  }
  const char* missing =
      !(info->features & WANTED(TIMELINE_SEMAPHORE)) ? "timelineSemaphore"
      : !(info->features & WANTED(SYNCHRONIZATION_2)) ? "synchronization2"
                                                      : NULL;
  if (missing) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "device '%s' lacks the feature %s, which the runtime "
                          "needs; update its driver",
                          info->name, missing);
  }
  return SHIM_OK;
}

// Counts the queues of each family and numbers the requested ones.
static shim_status_t check_queues(const shim__vk_physical_t* physical,
                                  const uint32_t* families, uint32_t count,
                                  uint32_t out_counts[SHIM_VULKAN_MAX_FAMILIES],
                                  shim_error_t* error) {
  const shim_vulkan_device_info_t* info = &physical->info;
  if (count == 0 || count > SHIM_VULKAN_MAX_QUEUES) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%u queues of device '%s'; 1 to %d can be opened",
                          count, info->name, SHIM_VULKAN_MAX_QUEUES);
  }
  memset(out_counts, 0, SHIM_VULKAN_MAX_FAMILIES * sizeof(*out_counts));
  for (uint32_t i = 0; i < count; ++i) {
    if (families[i] >= info->family_count) {
      return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                            "queue family %u of device '%s', which has %u",
                            families[i], info->name,
                            (uint32_t)info->family_count);
    }
    if (++out_counts[families[i]] > info->families[families[i]][1]) {
      return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                            "%u queues of family %u of device '%s', which has "
                            "%u",
                            out_counts[families[i]], families[i], info->name,
                            (uint32_t)info->families[families[i]][1]);
    }
  }
  return SHIM_OK;
}

// The extensions that |features| need.
static uint32_t pick_extensions(const shim__vk_physical_t* physical,
                                uint64_t features, const char** out_names,
                                uint32_t* out_mask) {
  static const struct {
    uint32_t extension;
    uint64_t features;  // any of them; 0: always
    bool promoted;      // part of Vulkan 1.3
  } rules[] = {
      {SHIM__VK_EXTENSION_SYNCHRONIZATION_2, WANTED(SYNCHRONIZATION_2), true},
      {SHIM__VK_EXTENSION_SUBGROUP_SIZE_CONTROL,
       WANTED(SUBGROUP_SIZE_CONTROL) | WANTED(COMPUTE_FULL_SUBGROUPS), true},
      {SHIM__VK_EXTENSION_INTEGER_DOT_PRODUCT, WANTED(INTEGER_DOT_PRODUCT),
       true},
      {SHIM__VK_EXTENSION_COOPERATIVE_MATRIX, WANTED(COOPERATIVE_MATRIX),
       false},
      {SHIM__VK_EXTENSION_PUSH_DESCRIPTOR, WANTED(PUSH_DESCRIPTOR), false},
      {SHIM__VK_EXTENSION_EXTERNAL_MEMORY_FD, WANTED(EXTERNAL_MEMORY_FD),
       false},
      {SHIM__VK_EXTENSION_EXTERNAL_MEMORY_HOST, WANTED(EXTERNAL_MEMORY_HOST),
       false},
      {SHIM__VK_EXTENSION_EXTERNAL_SEMAPHORE_FD, WANTED(EXTERNAL_SEMAPHORE_FD),
       false},
      {SHIM__VK_EXTENSION_PORTABILITY_SUBSET, 0, false},
  };
  static const char* const names[] = {
#define NAME(index, code, text) text,
      SHIM__VK_EXTENSIONS(NAME)
#undef NAME
  };
  uint32_t count = 0;
  *out_mask = 0;
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
    if (!(physical->extensions >> rules[i].extension & 1)) continue;
    if (rules[i].features && !(rules[i].features & features)) continue;
    if (rules[i].promoted &&
        physical->info.api_version >= SVK_API_VERSION(1, 3)) {
      continue;
    }
    out_names[count++] = names[rules[i].extension];
    *out_mask |= 1u << rules[i].extension;
  }
  return count;
}

static svk_function_t resolve(const shim_vulkan_device_t* device,
                              const char* name, bool promoted) {
  svk_function_t function =
      device->api->table.vkGetDeviceProcAddr(device->handle, name);
  if (function || !promoted) return function;
  char older[64];
  size_t length = strlen(name);
  memcpy(older, name, length);
  memcpy(older + length, "KHR", 4);
  return device->api->table.vkGetDeviceProcAddr(device->handle, older);
}

static shim_status_t lacks_symbol(const shim_vulkan_device_t* device,
                                  const char* symbol, shim_error_t* error) {
  return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                        "the driver of device '%s' has no symbol %s; update it",
                        device->physical->info.name, symbol);
}

static shim_status_t resolve_all(shim_vulkan_device_t* device,
                                 shim_error_t* error) {
#define REQUIRED true, false
#define PROMOTED true, true
#define OPTIONAL false, false
#define PICK(symbol, needed, promoted)                                     \
  do {                                                                    \
    svk_function_t function = resolve(device, #symbol, promoted);         \
    memcpy(&device->table.symbol, &function, sizeof(function));           \
    if (needed && !function) return lacks_symbol(device, #symbol, error); \
  } while (0);
#define PICK_GLOBAL(name, ...)
#define PICK_INSTANCE(name, ...)
#define PICK_DEVICE(name, ...) PICK(name, __VA_ARGS__)
#define X(scope, need, result, name, arguments) PICK_##scope(name, need)
#include "vulkan/vulkan_symbols.inc"
#undef X
#undef REQUIRED
#undef PROMOTED
#undef OPTIONAL
  return SHIM_OK;
}

static shim_status_t create_device(shim_vulkan_device_t* device,
                                   const uint32_t* counts,
                                   uint64_t wanted_features,
                                   shim_error_t* error) {
  const shim__vk_physical_t* physical = device->physical;
  const char* extensions[SHIM__VK_EXTENSION_COUNT];
  float priorities[SHIM_VULKAN_MAX_QUEUES];
  for (int i = 0; i < SHIM_VULKAN_MAX_QUEUES; ++i) priorities[i] = 0.5f;
  svk_device_queue_create_info_t queues[SHIM_VULKAN_MAX_FAMILIES];
  uint32_t queue_infos = 0;
  for (uint32_t i = 0; i < SHIM_VULKAN_MAX_FAMILIES; ++i) {
    if (!counts[i]) continue;
    queues[queue_infos++] = (svk_device_queue_create_info_t){
        .sType = SVK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = i,
        .queueCount = counts[i],
        .pQueuePriorities = priorities,
    };
  }
  device->features =
      physical->info.features & (wanted_features | WANTED(TIMELINE_SEMAPHORE) |
                                 WANTED(SYNCHRONIZATION_2));
  uint32_t enabled = 0;
  uint32_t extension_count =
      pick_extensions(physical, device->features, extensions, &enabled);
  shim__vk_features_t features;
  shim__vk_features_link(&features, (uint32_t)physical->info.api_version,
                         enabled);
  shim__vk_features_write(&features, device->features);
  svk_device_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &features.base,
      .queueCreateInfoCount = queue_infos,
      .pQueueCreateInfos = queues,
      .enabledExtensionCount = extension_count,
      .ppEnabledExtensionNames = extensions,
  };
  svk_result_t result = device->api->table.vkCreateDevice(
      physical->handle, &info, NULL, &device->handle);
  if (result < 0) {
    device->handle = NULL;
    return shim__vk_fail(device, result, error, "vkCreateDevice");
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_DEVICES, 1);
  return resolve_all(device, error);
}

static void fetch_queues(shim_vulkan_device_t* device,
                         const uint32_t* families) {
  uint32_t next[SHIM_VULKAN_MAX_FAMILIES] = {0};
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    shim__vk_queue_t* queue = &device->queues[i];
    queue->family = families[i];
    device->table.vkGetDeviceQueue(device->handle, families[i],
                                   next[families[i]]++, &queue->handle);
  }
}

shim_status_t shim_vulkan_device_open(shim_vulkan_api_t* api, uint32_t index,
                                      const uint32_t* families,
                                      uint32_t queue_count,
                                      uint64_t wanted_features,
                                      shim_vulkan_device_t** out_device,
                                      shim_error_t* error) {
  *out_device = NULL;
  if (index >= api->physical_count) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "device %u of '%s', which has %u", index, api->name,
                          api->physical_count);
  }
  const shim__vk_physical_t* physical = &api->physicals[index];
  shim_status_t status = check_baseline(physical, error);
  if (status) return status;
  uint32_t counts[SHIM_VULKAN_MAX_FAMILIES];
  status = check_queues(physical, families, queue_count, counts, error);
  if (status) return status;
  shim_vulkan_device_t* device = calloc(1, sizeof(*device));
  if (!device) {
    return shim__no_memory(error, sizeof(*device), "a device");
  }
  device->api = api;
  device->physical = physical;
  status = create_device(device, counts, wanted_features, error);
  if (status) {
    shim_vulkan_device_release(device);
    return status;
  }
  device->queue_count = queue_count;
  for (uint32_t i = 0; i < queue_count; ++i) {
    pthread_mutex_init(&device->queues[i].mutex, NULL);
  }
  fetch_queues(device, families);
  *out_device = device;
  return SHIM_OK;
}

void shim_vulkan_device_release(shim_vulkan_device_t* device) {
  if (!device) return;
  if (device->handle) {
    if (device->table.vkDeviceWaitIdle && device->queue_count) {
      device->table.vkDeviceWaitIdle(device->handle);
    }
    if (device->table.vkDestroyDevice) {
      device->table.vkDestroyDevice(device->handle, NULL);
    }
    shim__vk_count(device, SHIM_VULKAN_KIND_DEVICES, -1);
  }
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    pthread_mutex_destroy(&device->queues[i].mutex);
  }
  free(device);
}

uint64_t shim_vulkan_device_features(const shim_vulkan_device_t* device) {
  return device->features;
}

int shim_vulkan_device_is_lost(const shim_vulkan_device_t* device) {
  return atomic_load_explicit(&device->lost, memory_order_acquire);
}

void shim_vulkan_device_live_objects(
    const shim_vulkan_device_t* device,
    int64_t out_counts[SHIM_VULKAN_KIND_COUNT]) {
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) {
    out_counts[i] = atomic_load(&device->live[i]);
  }
}
