// Opens the library and describes its devices. Calls gpu_status.c.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"
#include "shim_system.h"

#if defined(_WIN32)
static const char* const cuda_libraries[] = {"nvcuda.dll", NULL};
static const char* const hip_libraries[] = {"amdhip64_7.dll", "amdhip64_6.dll",
                                            "amdhip64.dll", NULL};
#define CUDA_REMEDY "install NVIDIA's driver"
#define HIP_REMEDY "install AMD's driver with its HIP runtime"
#elif defined(__APPLE__)
static const char* const cuda_libraries[] = {NULL};
static const char* const hip_libraries[] = {NULL};
#define CUDA_REMEDY ""
#define HIP_REMEDY ""
#else
static const char* const cuda_libraries[] = {"libcuda.so.1", "libcuda.so",
                                             NULL};
static const char* const hip_libraries[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
    "libamdhip64.so", NULL};
#define CUDA_REMEDY                                                   \
  "install NVIDIA's driver, or in a container give it the GPU (--gpus " \
  "all)"
#define HIP_REMEDY                                                         \
  "install AMD's ROCm runtime, or in a container give it the GPU (--device=" \
  "/dev/kfd --device=/dev/dri)"
#endif

static const char* kind_name(int32_t kind) {
  return kind == SHIM_GPU_CUDA ? "CUDA" : "HIP";
}

// 'a', 'b' or 'c': all names that were tried.
static void list(const char* const* names, char* out, size_t capacity) {
  size_t length = 0;
  for (int i = 0; names[i] && length < capacity; ++i) {
    const char* between = i == 0 ? "" : names[i + 1] ? ", " : " or ";
    length += (size_t)snprintf(out + length, capacity - length, "%s'%s'",
                               between, names[i]);
  }
}

// Reports why dlopen failed; whether there is no such library.
static bool cannot_open(const char* name, shim_error_t* error) {
  const char* cause = dlerror();
  if (!cause) cause = "no cause given";
  shim_error_set(error, SHIM_UNAVAILABLE, 0, "cannot open '%s': %s", name,
                 cause);
  return shim__system_lacks(name, cause);
}

void* shim__gpu_open_library(const char* name, const char* const* names,
                             const char* remedy, char* out_name,
                             size_t capacity, shim_error_t* error) {
  if (name) {
    snprintf(out_name, capacity, "%s", name);
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) cannot_open(name, error);
    return library;
  }
  bool is_there = false;
  for (int i = 0; names[i]; ++i) {
    void* library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) {
      snprintf(out_name, capacity, "%s", names[i]);
      return library;
    }
    if (!is_there) is_there = !cannot_open(names[i], error);
  }
  if (is_there) return NULL;
  if (names[0]) {
    char tried[128];
    list(names, tried, sizeof(tried));
    shim_error_set(error, SHIM_UNAVAILABLE, 0, "there is no %s; %s", tried,
                   remedy);
  } else {
    shim_error_set(error, SHIM_UNAVAILABLE, 0,
                   "its vendor has none for macOS; use the driver 'vulkan'");
  }
  return NULL;
}

static bool is_none(const char* symbol) { return strcmp(symbol, "none") == 0; }

static shim_status_t resolve(shim_gpu_api_t* api, void* library,
                             shim_error_t* error) {
  bool cuda = api->kind == SHIM_GPU_CUDA;
#define REQUIRED_SYMBOL 1
#define OPTIONAL_SYMBOL 0
#define X(need, field, cuda_symbol, hip_symbol, arguments)                  \
  do {                                                                      \
    const char* symbol = cuda ? #cuda_symbol : #hip_symbol;                 \
    void* found = is_none(symbol) ? NULL : dlsym(library, symbol);          \
    if (!found && need##_SYMBOL) {                                          \
      return shim_error_set(error, SHIM_UNAVAILABLE, 0,                     \
                            "'%s' has no symbol %s; update the %s driver",  \
                            api->name, symbol, kind_name(api->kind));       \
    }                                                                       \
    memcpy(&api->table.field, &found, sizeof(found));                       \
  } while (0);
#include "gpu/gpu_symbols.inc"
#undef X
  if (!api->table.copy_cuda && !api->table.copy_hip) {
    return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                          "'%s' has no symbol %s; update the %s driver",
                          api->name, cuda ? "cuMemcpyAsync" : "hipMemcpyAsync",
                          kind_name(api->kind));
  }
  return SHIM_OK;
}

// What the driver says where it finds nothing; HIP's has another word for it
// when it starts.
static bool is_no_device(const shim_gpu_api_t* api, int code) {
  return code == SGPU_NO_DEVICE ||
         (api->kind == SHIM_GPU_HIP && code == SGPU_INVALID_DEVICE);
}

// Whatever else keeps a driver from starting than a lack of memory, there is no
// use of it.
static shim_status_t does_not_start(const shim_gpu_api_t* api, int code,
                                    shim_error_t* error) {
  shim_status_t status = shim__gpu_fail(
      NULL, code, error, "starting the %s driver of '%s'",
      kind_name(api->kind), api->name);
  if (status == SHIM_RESOURCE_EXHAUSTED) return status;
  if (error) error->status = SHIM_UNAVAILABLE;
  return SHIM_UNAVAILABLE;
}

static shim_status_t start(shim_gpu_api_t* api, shim_error_t* error) {
  int code = api->table.init(0);
  if (is_no_device(api, code)) return SHIM_OK;
  if (!code) code = api->table.driver_version(&api->version);
  if (!code) {
    code = api->table.device_count(&api->device_count);
    if (is_no_device(api, code)) code = api->device_count = 0;
  }
  return code ? does_not_start(api, code, error) : SHIM_OK;
}

shim_status_t shim_gpu_open(int32_t kind, const char* name,
                            shim_gpu_api_t** out_api, shim_error_t* error) {
  *out_api = NULL;
  shim_gpu_api_t* api = calloc(1, sizeof(*api));
  if (!api) return shim__no_memory(error, sizeof(*api), "a GPU library");
  api->kind = kind;
  bool cuda = kind == SHIM_GPU_CUDA;
  void* library = shim__gpu_open_library(
      name, cuda ? cuda_libraries : hip_libraries,
      cuda ? CUDA_REMEDY : HIP_REMEDY, api->name, sizeof(api->name), error);
  shim_status_t status = library ? SHIM_OK : SHIM_UNAVAILABLE;
  if (!status) status = resolve(api, library, error);
  if (!status) status = start(api, error);
  if (status) {
    free(api);
    return status;
  }
  *out_api = api;
  return SHIM_OK;
}

void shim_gpu_close(shim_gpu_api_t* api) { free(api); }

int32_t shim_gpu_version(const shim_gpu_api_t* api) { return api->version; }

uint32_t shim_gpu_device_count(const shim_gpu_api_t* api) {
  return (uint32_t)api->device_count;
}

static int attribute(const shim_gpu_api_t* api, int cuda, int hip, int device,
                     int32_t* out) {
  int number = api->kind == SHIM_GPU_CUDA ? cuda : hip;
  *out = 0;
  if (number < 0) return 0;
  int value = 0;
  int code = api->table.device_attribute(&value, number, device);
  *out = code ? 0 : value;
  // A driver that is older than the attribute does not have what it is about.
  return code == SGPU_INVALID_VALUE ? 0 : code;
}

// Of an instance, which is a part of a device, the older entry point tells the
// UUID of the whole device: it is not asked where there is the newer one, whose
// failure leaves the UUID unknown.
static void read_uuid(const shim_gpu_api_t* api, int device,
                      uint8_t out_uuid[16]) {
  const shim__gpu_table_t* table = &api->table;
  sgpu_uuid_t uuid = {{0}};
  int code = table->device_uuid_of_instance
                 ? table->device_uuid_of_instance(&uuid, device)
             : table->device_uuid ? table->device_uuid(&uuid, device)
                                  : SGPU_NOT_SUPPORTED;
  if (!code) memcpy(out_uuid, uuid.bytes, sizeof(uuid.bytes));
}

shim_status_t shim_gpu_device_query(const shim_gpu_api_t* api, uint32_t index,
                                    void* out_info, size_t size,
                                    shim_error_t* error) {
  shim_gpu_device_info_t* info = out_info;
  if (size != sizeof(*info)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "info of %zu bytes, it has %zu", size, sizeof(*info));
  }
  memset(info, 0, sizeof(*info));
  int device = 0;
  int code = api->table.device_get(&device, (int)index);
  if (!code) {
    code = api->table.device_name(info->name, sizeof(info->name) - 1, device);
  }
  size_t bytes = 0;
  if (!code) code = api->table.device_memory(&bytes, device);
  info->memory = bytes;
#define QUERY(name, cuda, hip) \
  if (!code) code = attribute(api, cuda, hip, device, &info->name);
  SHIM_GPU_ATTRIBUTES(QUERY)
#undef QUERY
  if (code) {
    return shim__gpu_fail(NULL, code, error, "asking about device %u", index);
  }
  read_uuid(api, device, info->uuid);
  return SHIM_OK;
}
