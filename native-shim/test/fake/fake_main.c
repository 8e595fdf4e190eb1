// The fake library itself: settings, instances, physical and logical devices.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_vulkan.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed;
fake_settings_t fake_settings;
uint64_t fake_allocations, fake_submissions, fake_waits;
char fake_lost_file[4096], fake_hang_file[4096];

static svk_debug_utils_messenger_create_info_t messenger;
static pthread_once_t once = PTHREAD_ONCE_INIT;

__attribute__((visibility("default"))) svk_function_t vkGetInstanceProcAddr(
    svk_instance_t instance, const char* name);

void fake_complain(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (!messenger.pfnUserCallback) {
    fprintf(stderr, "fake_vulkan: %s\n", text);
    return;
  }
  svk_debug_utils_messenger_callback_data_t data = {
      .pMessageIdName = "fake_vulkan", .pMessage = text};
  messenger.pfnUserCallback(SVK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                            SVK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                            &data, messenger.pUserData);
}

//===--------------------------------------------------------------------===//
// Settings
//===--------------------------------------------------------------------===//

static bool value_of(const char* word, const char* name, const char** value) {
  size_t length = strlen(name);
  if (strncmp(word, name, length) || word[length] != '=') return false;
  *value = word + length + 1;
  return true;
}

static void set_devices(const char* list) {
  fake_settings.device_count = 0;
  char copy[128];
  snprintf(copy, sizeof(copy), "%s", list);
  char* rest = NULL;
  for (char* type = strtok_r(copy, "+", &rest); type;
       type = strtok_r(NULL, "+", &rest)) {
    int32_t number = !strcmp(type, "integrated") ? 1
                     : !strcmp(type, "discrete") ? 2
                     : !strcmp(type, "cpu")      ? 4
                                                 : 0;
    if (number && fake_settings.device_count < FAKE_MAX_DEVICES) {
      fake_settings.types[fake_settings.device_count++] = number;
    }
  }
}

static void set_word(const char* word) {
  fake_settings_t* s = &fake_settings;
  const char* value = NULL;
  unsigned major = 1, minor = 3;
  if (value_of(word, "devices", &value)) {
    set_devices(value);
  } else if (value_of(word, "api", &value)) {
    sscanf(value, "%u.%u", &major, &minor);
    s->api = SVK_API_VERSION(major, minor);
  } else if (value_of(word, "no_symbol", &value)) {
    snprintf(s->no_symbol, sizeof(s->no_symbol), "%s", value);
  } else if (value_of(word, "heap_mib", &value)) {
    s->heap_bytes = strtoull(value, NULL, 10) << 20;
  } else if (value_of(word, "oom_allocation", &value)) {
    s->oom_allocation = strtoull(value, NULL, 10);
  } else if (value_of(word, "lost_submit", &value)) {
    s->lost_submit = strtoull(value, NULL, 10);
  } else if (value_of(word, "lost_execution", &value)) {
    s->lost_execution = strtoull(value, NULL, 10);
  } else if (value_of(word, "lost_wait", &value)) {
    s->lost_wait = strtoull(value, NULL, 10);
  }
#define FLAG(name) \
  if (strcmp(word, #name) == 0) s->name = true
  FLAG(no_driver);
  FLAG(no_access);
  FLAG(no_layer);
  FLAG(no_timeline);
  FLAG(no_sync2);
  FLAG(no_address);
  FLAG(no_export);
  FLAG(unified);
  FLAG(one_queue);
  FLAG(push);
  FLAG(update_after_bind);
#undef FLAG
}

static void set_words(char* text) {
  char* rest = NULL;
  for (char* word = strtok_r(text, " \n", &rest); word;
       word = strtok_r(NULL, " \n", &rest)) {
    set_word(word);
  }
}

static void prepare(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&fake_changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

// Each instance resets the counts.
static void read_settings(void) {
  fake_settings = (fake_settings_t){.device_count = 1,
                                    .types = {2},
                                    .api = SVK_API_VERSION(1, 3),
                                    .heap_bytes = 256u << 20};
  fake_allocations = fake_submissions = fake_waits = 0;
  char text[4096] = "";
  Dl_info self;
  if (dladdr((void*)(uintptr_t)vkGetInstanceProcAddr, &self)) {
    char path[4096];
    snprintf(path, sizeof(path), "%.4000s.conf", self.dli_fname);
    snprintf(fake_lost_file, sizeof(fake_lost_file), "%.4000s.lost",
             self.dli_fname);
    snprintf(fake_hang_file, sizeof(fake_hang_file), "%.4000s.hang",
             self.dli_fname);
    FILE* file = fopen(path, "r");
    if (file) {
      text[fread(text, 1, sizeof(text) - 1, file)] = 0;
      fclose(file);
    }
  }
  set_words(text);
  const char* environment = getenv("FAKE_VULKAN");
  snprintf(text, sizeof(text), "%s", environment ? environment : "");
  set_words(text);
}

//===--------------------------------------------------------------------===//
// Instances and physical devices
//===--------------------------------------------------------------------===//

static svk_result_t vkEnumerateInstanceVersion(uint32_t* out) {
  *out = SVK_API_VERSION(1, 3);
  return FAKE_OK;
}

static svk_result_t list_extensions(const char* const* names, uint32_t there,
                                    uint32_t* count,
                                    svk_extension_properties_t* out) {
  for (uint32_t i = 0; out && i < there && i < *count; ++i) {
    snprintf(out[i].extensionName, sizeof(out[i].extensionName), "%s",
             names[i]);
    out[i].specVersion = 1;
  }
  *count = there;
  return FAKE_OK;
}

static svk_result_t vkEnumerateInstanceExtensionProperties(
    const char* layer, uint32_t* count, svk_extension_properties_t* out) {
  (void)layer;
  static const char* const names[] = {"VK_EXT_debug_utils"};
  return list_extensions(names, 1, count, out);
}

static svk_result_t vkEnumerateInstanceLayerProperties(
    uint32_t* count, svk_layer_properties_t* out) {
  pthread_mutex_lock(&fake_lock);
  if (!fake_settings.api) read_settings();
  pthread_mutex_unlock(&fake_lock);
  if (fake_settings.no_layer) {
    *count = 0;
    return FAKE_OK;
  }
  if (out) {
    snprintf(out->layerName, sizeof(out->layerName),
             "VK_LAYER_KHRONOS_validation");
  }
  *count = 1;
  return FAKE_OK;
}

static svk_result_t vkCreateInstance(const svk_instance_create_info_t* info,
                                     const void* allocator,
                                     svk_instance_t* out) {
  (void)info, (void)allocator;
  pthread_once(&once, prepare);
  pthread_mutex_lock(&fake_lock);
  read_settings();
  pthread_mutex_unlock(&fake_lock);
  if (fake_settings.no_driver) return FAKE_INCOMPATIBLE_DRIVER;
  fake_instance_t* instance =
      fake_make(FAKE_KIND_INSTANCE, sizeof(*instance));
  for (int i = 0; i < fake_settings.device_count; ++i) {
    instance->physicals[i] =
        (fake_physical_t){instance, i, fake_settings.types[i]};
  }
  *out = instance;
  return FAKE_OK;
}

static void vkDestroyInstance(svk_instance_t instance, const void* allocator) {
  (void)allocator;
  fake_drop(FAKE_KIND_INSTANCE, instance, sizeof(*instance));
}

static svk_result_t vkCreateDebugUtilsMessengerEXT(
    svk_instance_t instance,
    const svk_debug_utils_messenger_create_info_t* info, const void* allocator,
    svk_handle_t* out) {
  (void)instance, (void)allocator;
  messenger = *info;
  *out = 1;
  return FAKE_OK;
}

static void vkDestroyDebugUtilsMessengerEXT(svk_instance_t instance,
                                            svk_handle_t handle,
                                            const void* allocator) {
  (void)instance, (void)handle, (void)allocator;
  messenger = (svk_debug_utils_messenger_create_info_t){0};
}

static svk_result_t vkEnumeratePhysicalDevices(svk_instance_t instance,
                                               uint32_t* count,
                                               svk_physical_device_t* out) {
  if (fake_settings.no_access) return FAKE_INITIALIZATION_FAILED;
  uint32_t there = (uint32_t)fake_settings.device_count;
  for (uint32_t i = 0; out && i < there && i < *count; ++i) {
    out[i] = &instance->physicals[i];
  }
  *count = there;
  return FAKE_OK;
}

//===--------------------------------------------------------------------===//
// Logical devices
//===--------------------------------------------------------------------===//

static svk_result_t vkCreateDevice(svk_physical_device_t physical,
                                   const svk_device_create_info_t* info,
                                   const void* allocator, svk_device_t* out) {
  (void)info, (void)allocator;
  fake_device_t* device = fake_make(FAKE_KIND_DEVICE, sizeof(*device));
  device->physical = physical;
  for (uint32_t i = 0; i < FAKE_MAX_QUEUES; ++i) {
    device->queues[i].device = device;
    device->queues[i].family = i == 2;
  }
  fake_queues_start(device);
  *out = device;
  return FAKE_OK;
}

static void vkDestroyDevice(svk_device_t device, const void* allocator) {
  (void)allocator;
  fake_queues_stop(device);
  if (device->used[0] || device->used[1]) {
    fake_complain("a device is destroyed with memory that was not freed");
  }
  fake_drop(FAKE_KIND_DEVICE, device, sizeof(*device));
}

static void vkGetDeviceQueue(svk_device_t device, uint32_t family,
                             uint32_t index, svk_queue_t* out) {
  *out = &device->queues[family ? 2 : index];
}

static svk_function_t vkGetDeviceProcAddr(svk_device_t device,
                                          const char* name) {
  (void)device;
  return vkGetInstanceProcAddr(NULL, name);
}

svk_function_t vkGetInstanceProcAddr(svk_instance_t instance,
                                     const char* name) {
  (void)instance;
  // Settings may not be read yet: the library's own symbols can be missing.
  pthread_once(&once, prepare);
  pthread_mutex_lock(&fake_lock);
  if (!instance && !fake_settings.api) read_settings();
  bool missing = strcmp(name, fake_settings.no_symbol) == 0;
  pthread_mutex_unlock(&fake_lock);
  if (missing) return NULL;
  FAKE_FUNCTION(vkEnumerateInstanceVersion);
  FAKE_FUNCTION(vkEnumerateInstanceExtensionProperties);
  FAKE_FUNCTION(vkEnumerateInstanceLayerProperties);
  FAKE_FUNCTION(vkCreateInstance);
  FAKE_FUNCTION(vkDestroyInstance);
  FAKE_FUNCTION(vkCreateDebugUtilsMessengerEXT);
  FAKE_FUNCTION(vkDestroyDebugUtilsMessengerEXT);
  FAKE_FUNCTION(vkEnumeratePhysicalDevices);
  FAKE_FUNCTION(vkCreateDevice);
  FAKE_FUNCTION(vkDestroyDevice);
  FAKE_FUNCTION(vkGetDeviceQueue);
  FAKE_FUNCTION(vkGetDeviceProcAddr);
  svk_function_t function = fake_device_function(name);
  if (!function) function = fake_object_function(name);
  if (!function) function = fake_queue_function(name);
  if (!function) function = fake_command_function(name);
  return function;
}
