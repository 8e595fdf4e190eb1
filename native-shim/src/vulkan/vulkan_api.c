// Opens the library and creates an instance. Calls vulkan_devices.c.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim_system.h"
#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

// The loaders of Vulkan, in the order of attempts, and what to do without.
#if defined(_WIN32)
static const char* const libraries[] = {"vulkan-1.dll", NULL};
#elif defined(__APPLE__)
// MoltenVK is a driver, which serves without a loader, too.
static const char* const libraries[] = {"libvulkan.1.dylib",
                                        "libMoltenVK.dylib", NULL};
#else
static const char* const libraries[] = {"libvulkan.so.1", NULL};
#endif
#if defined(__APPLE__)
// The linker's text lists each place; the remedy must fit in the message.
#define CAUSE "%.60s"
#define REMEDY \
  "install the Vulkan SDK or MoltenVK, where DYLD_FALLBACK_LIBRARY_PATH leads"
#else
#define CAUSE "%s"
#if defined(_WIN32)
#define REMEDY "install the graphics driver of the GPU's vendor"
#else
#define REMEDY \
  "install the Vulkan loader and a driver (libvulkan1, mesa-vulkan-drivers)"
#endif
#endif
// Where the loader finds no driver.
#if defined(_WIN32) || defined(__APPLE__)
#define EXAMPLE ""
#else
#define EXAMPLE ", for example the package mesa-vulkan-drivers"
#endif
#define RESOLVER "vkGetInstanceProcAddr"
#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define DEBUG_EXTENSION "VK_EXT_debug_utils"

static _Atomic int64_t live_objects[SHIM_VULKAN_KIND_COUNT];

void shim__vk_count(shim_vulkan_device_t* device, int32_t kind, int64_t by) {
  atomic_fetch_add(&live_objects[kind], by);
  if (device) atomic_fetch_add(&device->live[kind], by);
}

const char* shim_vulkan_kind_name(int32_t kind) {
  switch (kind) {
#define NAME(number, name) \
  case number:             \
    return #name;
    SHIM_VULKAN_KIND_MAP(NAME)
#undef NAME
    default:
      return NULL;
  }
}

void shim_vulkan_live_objects(int64_t out_counts[SHIM_VULKAN_KIND_COUNT]) {
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) {
    out_counts[i] = atomic_load(&live_objects[i]);
  }
}

static shim_status_t lacks(const shim_vulkan_api_t* api, const char* symbol,
                           shim_error_t* error) {
  return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                        "'%s' has no symbol %s; update the Vulkan loader and "
                        "driver",
                        api->name, symbol);
}

#define REQUIRED_IS_THERE(pointer, name) \
  if (!pointer) return lacks(api, #name, error)
#define OPTIONAL_IS_THERE(pointer, name) (void)0

#define RESOLVE(need, name)                                         \
  do {                                                              \
    svk_function_t function = resolver(api->instance, #name);       \
    memcpy(&api->table.name, &function, sizeof(function));          \
    need##_IS_THERE(function, name);                                \
  } while (0)

static shim_status_t resolve_global(shim_vulkan_api_t* api,
                                    shim__vk_resolver_t resolver,
                                    shim_error_t* error) {
#define PICK_GLOBAL(need, name) RESOLVE(need, name);
#define PICK_INSTANCE(need, name)
#define PICK_DEVICE(need, name)
#define X(scope, need, result, name, arguments) PICK_##scope(need, name)
#include "vulkan/vulkan_symbols.inc"
#undef X
#undef PICK_GLOBAL
#undef PICK_INSTANCE
  return SHIM_OK;
}

static shim_status_t resolve_instance(shim_vulkan_api_t* api,
                                      shim__vk_resolver_t resolver,
                                      shim_error_t* error) {
#define PICK_GLOBAL(need, name)
#define PICK_INSTANCE(need, name) RESOLVE(need, name);
#define X(scope, need, result, name, arguments) PICK_##scope(need, name)
#include "vulkan/vulkan_symbols.inc"
#undef X
#undef PICK_GLOBAL
#undef PICK_INSTANCE
#undef PICK_DEVICE
  return SHIM_OK;
}

// Only out-of-memory is a failure, because the answer is then unknown. A
// library that lists nothing has nothing.
static shim_status_t listed(svk_result_t result, const char* what,
                            shim_error_t* error) {
  return shim__vk_result_status(result) == SHIM_RESOURCE_EXHAUSTED
             ? shim__vk_fail(NULL, result, error, "%s", what)
             : SHIM_OK;
}

static shim_status_t has_extension(const shim_vulkan_api_t* api,
                                   const char* layer, const char* name,
                                   bool* out_has, shim_error_t* error) {
  static const char what[] = "vkEnumerateInstanceExtensionProperties";
  *out_has = false;
  uint32_t count = 0;
  svk_result_t result =
      api->table.vkEnumerateInstanceExtensionProperties(layer, &count, NULL);
  if (result) return listed(result, what, error);
  svk_extension_properties_t* all = calloc(count + 1, sizeof(*all));
  if (!all) {
    return shim__no_memory(error, count * sizeof(*all), "extensions");
  }
  result =
      api->table.vkEnumerateInstanceExtensionProperties(layer, &count, all);
  for (uint32_t i = 0; result >= 0 && i < count && !*out_has; ++i) {
    *out_has = strcmp(all[i].extensionName, name) == 0;
  }
  free(all);
  return listed(result, what, error);
}

static shim_status_t has_layer(const shim_vulkan_api_t* api, const char* name,
                               bool* out_has, shim_error_t* error) {
  static const char what[] = "vkEnumerateInstanceLayerProperties";
  *out_has = false;
  uint32_t count = 0;
  svk_result_t result =
      api->table.vkEnumerateInstanceLayerProperties(&count, NULL);
  if (result) return listed(result, what, error);
  svk_layer_properties_t* all = calloc(count + 1, sizeof(*all));
  if (!all) return shim__no_memory(error, count * sizeof(*all), "layers");
  result = api->table.vkEnumerateInstanceLayerProperties(&count, all);
  for (uint32_t i = 0; result >= 0 && i < count && !*out_has; ++i) {
    *out_has = strcmp(all[i].layerName, name) == 0;
  }
  free(all);
  return listed(result, what, error);
}

// Determines which flags can be active.
static shim_status_t choose_flags(shim_vulkan_api_t* api, uint32_t wanted_flags,
                                  shim_error_t* error) {
  bool has = false;
  shim_status_t status = has_extension(
      api, NULL, "VK_KHR_portability_enumeration", &has, error);
  if (status) return status;
  if (has) api->flags |= SHIM_VULKAN_PORTABILITY;
  if (!(wanted_flags & SHIM_VULKAN_VALIDATION)) return SHIM_OK;
  status = has_layer(api, VALIDATION_LAYER, &has, error);
  if (status || !has) return status;
  api->flags |= SHIM_VULKAN_VALIDATION;
  status = has_extension(api, NULL, DEBUG_EXTENSION, &has, error);
  if (!status && !has) {
    status =
        has_extension(api, VALIDATION_LAYER, DEBUG_EXTENSION, &has, error);
  }
  if (!status && has) api->flags |= SHIM_VULKAN_DEBUG_UTILS;
  return status;
}

static shim_status_t create_instance(shim_vulkan_api_t* api,
                                     shim_error_t* error) {
  const char* layers[1];
  const char* extensions[2];
  svk_application_info_t application = {
      .sType = SVK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "iree4j",
      .pEngineName = "iree4j",
      .apiVersion = SVK_API_VERSION(1, 3),
  };
  svk_instance_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
      .ppEnabledLayerNames = layers,
      .ppEnabledExtensionNames = extensions,
  };
  if (api->flags & SHIM_VULKAN_PORTABILITY) {
    info.flags |= SVK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    extensions[info.enabledExtensionCount++] = "VK_KHR_portability_enumeration";
  }
  svk_debug_utils_messenger_create_info_t messenger = {
      .sType = SVK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = SVK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         SVK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = SVK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
      .pfnUserCallback = shim__vk_message_callback,
      .pUserData = &api->messages,
  };
  if (api->flags & SHIM_VULKAN_VALIDATION) {
    layers[info.enabledLayerCount++] = VALIDATION_LAYER;
  }
  if (api->flags & SHIM_VULKAN_DEBUG_UTILS) {
    extensions[info.enabledExtensionCount++] = DEBUG_EXTENSION;
    info.pNext = &messenger;  // for creation and destruction of the instance
  }
  svk_result_t result = api->table.vkCreateInstance(&info, NULL,
                                                    &api->instance);
  if (result < 0) {
    api->instance = NULL;
    if (shim__vk_result_status(result) == SHIM_RESOURCE_EXHAUSTED) {
      return shim__vk_fail(NULL, result, error, "vkCreateInstance");
    }
    bool no_driver = result == SHIM__VK_INCOMPATIBLE_DRIVER;
    return shim_error_set(
        error, SHIM_UNAVAILABLE, result,
        "'%s' %s: vkCreateInstance failed with %s (%d); install a "
        "driver" EXAMPLE,
        api->name, no_driver ? "finds no Vulkan driver" : "made no instance",
        shim__vk_result_name(result), result);
  }
  shim__vk_count(NULL, SHIM_VULKAN_KIND_INSTANCES, 1);
  return SHIM_OK;
}

static shim_status_t create_messenger(shim_vulkan_api_t* api,
                                      shim_error_t* error) {
  if (!(api->flags & SHIM_VULKAN_DEBUG_UTILS) ||
      !api->table.vkCreateDebugUtilsMessengerEXT ||
      !api->table.vkDestroyDebugUtilsMessengerEXT) {
    api->flags &= ~(uint32_t)SHIM_VULKAN_DEBUG_UTILS;
    return SHIM_OK;
  }
  svk_debug_utils_messenger_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = SVK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         SVK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = SVK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
      .pfnUserCallback = shim__vk_message_callback,
      .pUserData = &api->messages,
  };
  svk_result_t result = api->table.vkCreateDebugUtilsMessengerEXT(
      api->instance, &info, NULL, &api->messenger);
  return result < 0 ? shim__vk_fail(NULL, result, error,
                                    "vkCreateDebugUtilsMessengerEXT")
                    : SHIM_OK;
}

static shim_status_t open_library(shim_vulkan_api_t* api,
                                  const char* const* names,
                                  shim__vk_resolver_t* out_resolver,
                                  shim_error_t* error) {
  shim_status_t status = SHIM_OK;
  bool is_there = false;  // one that does not load
  for (int i = 0; names[i] && !api->library; ++i) {
    snprintf(api->name, sizeof(api->name), "%s", names[i]);
    api->library = dlopen(api->name, RTLD_NOW | RTLD_LOCAL);
    if (api->library || is_there) continue;
    const char* cause = dlerror();
    if (!cause) cause = "no cause given";
    is_there = !shim__system_lacks(api->name, cause);
    status = is_there
                 ? shim_error_set(error, SHIM_UNAVAILABLE, 0,
                                  "cannot open '%s': %s", api->name, cause)
                 : shim_error_set(error, SHIM_UNAVAILABLE, 0,
                                  "cannot open '%s'%s%s%s: " CAUSE "; " REMEDY,
                                  names[0], names[1] ? " and '" : "",
                                  names[1] ? names[1] : "",
                                  names[1] ? "'" : "", cause);
  }
  if (!api->library) return status;
  void* symbol = dlsym(api->library, RESOLVER);
  if (!symbol) return lacks(api, RESOLVER, error);
  memcpy(out_resolver, &symbol, sizeof(symbol));
  return SHIM_OK;
}

static shim_status_t open_api(shim_vulkan_api_t* api, const char* const* names,
                              uint32_t wanted_flags, shim_error_t* error) {
  shim__vk_resolver_t resolver = NULL;
  shim_status_t status = open_library(api, names, &resolver, error);
  if (status) return status;
  status = resolve_global(api, resolver, error);
  if (status) return status;
  svk_result_t result = api->table.vkEnumerateInstanceVersion(&api->version);
  if (result < 0) {
    return shim__vk_fail(NULL, result, error, "vkEnumerateInstanceVersion");
  }
  status = choose_flags(api, wanted_flags, error);
  if (status) return status;
  status = create_instance(api, error);
  if (status) return status;
  status = resolve_instance(api, resolver, error);
  if (status) return status;
  status = create_messenger(api, error);
  if (status) return status;
  return shim__vk_physicals_query(api, error);
}

shim_status_t shim_vulkan_open(const char* name, uint32_t wanted_flags,
                               shim_vulkan_api_t** out_api,
                               shim_error_t* error) {
  *out_api = NULL;
  shim_vulkan_api_t* api = calloc(1, sizeof(*api));
  if (!api) {
    return shim__no_memory(error, sizeof(*api), "a Vulkan library");
  }
  const char* const given[] = {name, NULL};
  shim_status_t status =
      open_api(api, name ? given : libraries, wanted_flags, error);
  if (status) {
    shim_vulkan_close(api);
    return status;
  }
  *out_api = api;
  return SHIM_OK;
}

void shim_vulkan_close(shim_vulkan_api_t* api) {
  if (!api) return;
  if (api->messenger) {
    api->table.vkDestroyDebugUtilsMessengerEXT(api->instance, api->messenger,
                                               NULL);
  }
  if (api->instance) {
    if (api->table.vkDestroyInstance) {
      api->table.vkDestroyInstance(api->instance, NULL);
    }
    shim__vk_count(NULL, SHIM_VULKAN_KIND_INSTANCES, -1);
  }
  if (api->library) dlclose(api->library);
  free(api->physicals);
  free(api);
}

uint32_t shim_vulkan_flags(const shim_vulkan_api_t* api) { return api->flags; }

uint32_t shim_vulkan_version(const shim_vulkan_api_t* api) {
  return api->version;
}
