// Devices, their memory and their code. Calls gpu_status.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

// Whether the library has pools of its own for the device's memory: returning
// memory to one does not wait for work of the device, freeing memory does.
static int make_pool(shim_gpu_device_t* device) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (!table->pool_create || !table->pool_destroy || !table->pool_allocate ||
      !table->pool_free || !table->stream_synchronize) {
    return SGPU_SUCCESS;
  }
  int has = 0;
  int code = table->device_attribute(
      &has, device->api->kind == SHIM_GPU_CUDA ? 115 : 88, device->device);
  if (!code && has) {
    const sgpu_pool_params_t params = {.type = SGPU_POOL_PINNED,
                                       .location = SGPU_LOCATION_DEVICE,
                                       .device = device->device};
    code = table->pool_create(&device->pool, &params);
  }
  bool lacks = code == SGPU_INVALID_VALUE || code == SGPU_NOT_SUPPORTED;
  return lacks ? SGPU_SUCCESS : code;
}

shim_status_t shim_gpu_device_open(shim_gpu_api_t* api, uint32_t index,
                                   shim_gpu_device_t** out_device,
                                   shim_error_t* error) {
  *out_device = NULL;
  shim_gpu_device_t* device = calloc(1, sizeof(*device));
  if (!device) return shim__no_memory(error, sizeof(*device), "a device");
  device->api = api;
  int code = api->table.device_get(&device->device, (int)index);
  if (!code) {
    code = api->table.device_name(device->name, sizeof(device->name) - 1,
                                  device->device);
  }
  if (!code) code = api->table.context_retain(&device->context, device->device);
  shim_status_t status = SHIM_OK;
  if (!code && !(status = shim__gpu_enter(device, error))) {
    code = make_pool(device);
    shim__gpu_leave(device);
  }
  if (device->context && (code || status)) {
    api->table.context_release(device->device);
  }
  if (code) {
    status = shim__gpu_fail(NULL, code, error, "opening device %u", index);
  }
  if (status) {
    free(device);
  } else {
    *out_device = device;
  }
  return status;
}

void shim_gpu_device_release(shim_gpu_device_t* device) {
  if (!device) return;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (device->pool && shim__gpu_enter_to_free(device)) {
    sgpu_stream_t stream = atomic_load(&device->pool_stream);
    if (stream) {
      table->stream_synchronize(stream);  // a free may not have been waited for
      table->stream_destroy(stream);
    }
    table->pool_destroy(device->pool);
    shim__gpu_leave(device);
  }
  table->context_release(device->device);
  free(device);
}

shim_status_t shim_gpu_device_reach(shim_gpu_device_t* device,
                                    shim_gpu_device_t* other,
                                    shim_error_t* error) {
  if (device->context == other->context) return SHIM_OK;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  int can = 0, code = SGPU_SUCCESS;
  if (table->peer_ask && (!other->pool || table->pool_access)) {
    code = table->peer_ask(&can, device->device, other->device);
  }
  if (!code && !can) code = SGPU_PEER_ACCESS_UNSUPPORTED;
  if (!code && table->peer_cuda) code = table->peer_cuda(other->context, 0);
  if (!code && table->peer_hip) code = table->peer_hip(other->device, 0);
  if (code == SGPU_PEER_ACCESS_ALREADY_ENABLED) code = SGPU_SUCCESS;
  if (!code && other->pool) {
    const sgpu_pool_access_t access = {SGPU_LOCATION_DEVICE, device->device,
                                       SGPU_POOL_READ_WRITE};
    code = table->pool_access(other->pool, &access, 1);
  }
  if (code) {
    status = shim__gpu_fail(device, code, error,
                            "reaching the memory of device '%s'", other->name);
  }
  shim__gpu_leave(device);
  return status;
}

int32_t shim_gpu_device_is_lost(const shim_gpu_device_t* device) {
  return atomic_load_explicit(&device->lost, memory_order_acquire);
}

const char* shim_gpu_kind_name(int32_t kind) {
  switch (kind) {
#define NAME(number, name) \
  case number:             \
    return #name;
    SHIM_GPU_KIND_MAP(NAME)
#undef NAME
    default:
      return NULL;
  }
}

void shim_gpu_device_live_objects(const shim_gpu_device_t* device,
                                  int64_t out_counts[SHIM_GPU_KIND_COUNT]) {
  for (int i = 0; i < SHIM_GPU_KIND_COUNT; ++i) {
    out_counts[i] = atomic_load(&device->live[i]);
  }
}

// Counts what a call made, or describes why it did not.
static shim_status_t made(shim_gpu_device_t* device, int code, int32_t kind,
                          shim_error_t* error, const char* what,
                          uint64_t size) {
  if (!code) {
    shim__gpu_count(device, kind, 1);
    return SHIM_OK;
  }
  return shim__gpu_fail(device, code, error, "%s of %llu bytes", what,
                        (unsigned long long)size);
}

// The stream of the pool: nothing else is on it, so it is never waited for
// long.
static int pool_stream(shim_gpu_device_t* device, sgpu_stream_t* out_stream) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  sgpu_stream_t other = atomic_load(&device->pool_stream);
  *out_stream = other;
  if (other) return SGPU_SUCCESS;
  int code = table->stream_create(out_stream, SGPU_STREAM_NON_BLOCKING);
  if (!code && !atomic_compare_exchange_strong(&device->pool_stream, &other,
                                               *out_stream)) {
    table->stream_destroy(*out_stream);
    *out_stream = other;
  }
  return code;
}

// Synchronizing makes memory usable for all streams, and has a pool give back
// what it does not use. Drivers free a pool's memory without its stream too.
static int free_memory(shim_gpu_device_t* device, uint64_t address,
                       bool pooled) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (!pooled) return table->memory_free(address);
  sgpu_stream_t stream = atomic_load(&device->pool_stream);
  int code = table->pool_free(address, stream);
  if (!code) {
    table->stream_synchronize(stream);
  } else if (!shim__gpu_is_permanent(code)) {
    code = table->memory_free(address);
  }
  return code;
}

static int allocate(shim_gpu_device_t* device, uint64_t size, bool managed,
                    uint64_t* out_address) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (managed) {
    return table->memory_managed ? table->memory_managed(out_address, size,
                                                         SGPU_MANAGED_GLOBAL)
                                 : SGPU_NOT_SUPPORTED;
  }
  if (!device->pool) return table->memory_allocate(out_address, size);
  sgpu_stream_t stream = NULL;
  int code = pool_stream(device, &stream);
  if (!code) {
    code = table->pool_allocate(out_address, size, device->pool, stream);
  }
  if (code) return code;
  code = table->stream_synchronize(stream);
  if (code) free_memory(device, *out_address, true);
  return code;
}

shim_status_t shim_gpu_memory_allocate(shim_gpu_device_t* device, uint64_t size,
                                       int32_t managed, uint64_t* out_address,
                                       shim_error_t* error) {
  *out_address = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  uint64_t address = 0;
  int code = allocate(device, size, managed, &address);
  status = made(device, code, SHIM_GPU_KIND_MEMORY, error,
                managed ? "allocation of managed memory"
                        : "allocation of device memory",
                size);
  shim__gpu_leave(device);
  if (!status) *out_address = address;
  return status;
}

shim_status_t shim_gpu_memory_check(shim_gpu_device_t* device, uint64_t address,
                                    uint64_t size, shim_error_t* error) {
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  uint64_t first = 0;
  size_t bytes = 0;
  int code = table->memory_range ? table->memory_range(&first, &bytes, address)
                                 : SGPU_NOT_SUPPORTED;
  if (code) {
    status = shim__gpu_fail(device, code, error, "finding memory at 0x%llx",
                            (unsigned long long)address);
  } else if (address - first > bytes || size > bytes - (address - first)) {
    status = shim_error_set(
        error, SHIM_INVALID_ARGUMENT, 0,
        "%llu bytes at 0x%llx are not in the allocation of %zu bytes at 0x%llx",
        (unsigned long long)size, (unsigned long long)address, bytes,
        (unsigned long long)first);
  }
  shim__gpu_leave(device);
  return status;
}

shim_status_t shim_gpu_memory_free(shim_gpu_device_t* device, uint64_t address,
                                   int32_t managed, shim_error_t* error) {
  if (shim__gpu_enter_to_free(device)) {
    int code = free_memory(device, address, device->pool && !managed);
    shim__gpu_leave(device);
    if (code && !shim__gpu_is_permanent(code)) {
      return shim__gpu_fail(device, code, error, "freeing memory at 0x%llx",
                            (unsigned long long)address);
    }
  }
  shim__gpu_count(device, SHIM_GPU_KIND_MEMORY, -1);
  return SHIM_OK;
}

shim_status_t shim_gpu_memory_available(shim_gpu_device_t* device,
                                        uint64_t* out_free,
                                        shim_error_t* error) {
  *out_free = UINT64_MAX;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (!table->memory_info) return SHIM_OK;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  size_t left = 0, total = 0;
  int code = table->memory_info(&left, &total);
  if (code) {
    status = shim__gpu_fail(device, code, error, "asking for free memory");
  }
  if (!code) *out_free = left;
  shim__gpu_leave(device);
  return status;
}

shim_status_t shim_gpu_host_allocate(shim_gpu_device_t* device, uint64_t size,
                                     uint64_t out_addresses[2],
                                     shim_error_t* error) {
  out_addresses[0] = out_addresses[1] = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  void* host = NULL;
  uint64_t address = 0;
  int code = table->host_allocate(
      &host, size, SGPU_HOST_ALLOC_PORTABLE | SGPU_HOST_ALLOC_MAPPED);
  if (!code) {
    code = table->host_address(&address, host, 0);
    if (code) table->host_free(host);
  }
  status = made(device, code, SHIM_GPU_KIND_HOST_MEMORY, error,
                "allocation of pinned host memory", size);
  shim__gpu_leave(device);
  if (!status) {
    out_addresses[0] = (uint64_t)(uintptr_t)host;
    out_addresses[1] = address;
  }
  return status;
}

void shim_gpu_host_free(shim_gpu_device_t* device, uint64_t host) {
  SHIM__GPU_FREE(device, HOST_MEMORY, host_free((void*)(uintptr_t)host));
}

// Whether the library has a registration for memory that is only read.
static int ask_read_only(shim_gpu_device_t* device, int* out_has) {
  *out_has = 0;
  if (device->api->kind != SHIM_GPU_CUDA) return SGPU_SUCCESS;
  int code =
      SHIM__GPU_TABLE(device)->device_attribute(out_has, 113, device->device);
  if (code) *out_has = 0;
  // A driver that is older than the attribute does not have what it is about.
  return code == SGPU_INVALID_VALUE ? SGPU_SUCCESS : code;
}

shim_status_t shim_gpu_host_register(shim_gpu_device_t* device, void* host,
                                     uint64_t size, int32_t read_only,
                                     uint64_t* out_address,
                                     shim_error_t* error) {
  *out_address = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  uint64_t address = 0;
  unsigned flags = SGPU_HOST_REGISTER_PORTABLE | SGPU_HOST_REGISTER_MAPPED;
  int code = SGPU_SUCCESS, has_read_only = 0;
  if (read_only) code = ask_read_only(device, &has_read_only);
  if (has_read_only) flags |= SGPU_HOST_REGISTER_READ_ONLY;
  if (!code) code = table->host_register(host, size, flags);
  if (!code) {
    code = table->host_address(&address, host, 0);
    if (code) table->host_unregister(host);
  }
  status = made(device, code, SHIM_GPU_KIND_REGISTRATIONS, error,
                "registration of host memory", size);
  shim__gpu_leave(device);
  if (!status) *out_address = address;
  return status;
}

void shim_gpu_host_unregister(shim_gpu_device_t* device, void* host) {
  SHIM__GPU_FREE(device, REGISTRATIONS, host_unregister(host));
}

shim_status_t shim_gpu_module_load(shim_gpu_device_t* device, const void* image,
                                   char* out_log, size_t log_size,
                                   uint64_t* out_module, shim_error_t* error) {
  *out_module = 0;
  if (log_size) out_log[0] = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  int options[] = {SGPU_JIT_ERROR_LOG, SGPU_JIT_ERROR_LOG_BYTES};
  void* values[] = {out_log, (void*)(uintptr_t)log_size};
  sgpu_module_t module = NULL;
  int code = SHIM__GPU_TABLE(device)->module_load(
      &module, image, log_size ? 2 : 0, options, values);
  if (log_size) out_log[log_size - 1] = 0;
  return shim__gpu_made(device, code, SHIM_GPU_KIND_MODULES, module, out_module,
                        error, "loading a module");
}

shim_status_t shim_gpu_link(shim_gpu_device_t* device, void* text, size_t size,
                            uint64_t out_code[3], shim_error_t* error) {
  memset(out_code, 0, 3 * sizeof(*out_code));
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  bool has = table->link_create && table->link_add && table->link_complete &&
             table->link_destroy;
  sgpu_link_t link = NULL;
  void* image = NULL;
  size_t bytes = 0;
  int code = has ? table->link_create(0, NULL, NULL, &link)
                 : SGPU_NOT_SUPPORTED;
  if (!code) {
    code = table->link_add(link, SGPU_LINK_PTX, text, size, "module", 0, NULL,
                           NULL);
    if (!code) code = table->link_complete(link, &image, &bytes);
    if (code) table->link_destroy(link);
  }
  out_code[1] = (uint64_t)(uintptr_t)image;
  out_code[2] = bytes;
  return shim__gpu_made(device, code, SHIM_GPU_KIND_MODULES, link, &out_code[0],
                        error, "compiling a module");
}

void shim_gpu_link_release(shim_gpu_device_t* device, uint64_t link) {
  SHIM__GPU_FREE(device, MODULES, link_destroy((sgpu_link_t)(uintptr_t)link));
}

void shim_gpu_module_unload(shim_gpu_device_t* device, uint64_t module) {
  SHIM__GPU_FREE(device, MODULES,
                 module_unload((sgpu_module_t)(uintptr_t)module));
}

// Counts the parameters of a function, up to one more than any launch has.
static int count_parameters(const shim__gpu_table_t* table,
                            sgpu_function_t function,
                            shim_gpu_function_t* out) {
  out->parameters = -1;
  out->largest_parameter = 0;
  if (!table->function_parameter) return SGPU_SUCCESS;
  int32_t count = 0;
  int code = SGPU_SUCCESS;
  for (; count <= SHIM_GPU_MAX_PARAMS; ++count) {
    size_t offset = 0, size = 0;
    code = table->function_parameter(function, (size_t)count, &offset, &size);
    if (code) break;
    int32_t bytes = size > INT32_MAX ? INT32_MAX : (int32_t)size;
    if (bytes > out->largest_parameter) out->largest_parameter = bytes;
  }
  if (code == SGPU_NOT_SUPPORTED) return SGPU_SUCCESS;
  if (code && code != SGPU_INVALID_VALUE) return code;
  out->parameters = count;
  return SGPU_SUCCESS;
}

// What is asked of one function, in an entered context.
static int function_of(shim_gpu_device_t* device, uint64_t module,
                       const char* name, uint32_t dynamic_shared_bytes,
                       shim_gpu_function_t* out) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  sgpu_function_t function = NULL;
  int code = table->module_function(&function,
                                    (sgpu_module_t)(uintptr_t)module, name);
  // Not by its first launch, which would wait for what the device does, and that
  // perhaps for the launch. Drivers without this load a function that is found.
  if (!code && table->function_load) code = table->function_load(function);
  int value = 0;
  if (!code) {
    code = table->function_attribute(&value, SGPU_FUNCTION_MAX_THREADS,
                                     function);
    out->max_threads = value;
  }
  if (!code) {
    code = table->function_attribute(&value, SGPU_FUNCTION_SHARED_BYTES,
                                     function);
    out->shared_bytes = value;
  }
  if (!code) code = count_parameters(table, function, out);
  if (!code && dynamic_shared_bytes && table->function_set_attribute) {
    code = table->function_set_attribute(
        function, SGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
        (int)dynamic_shared_bytes);
  }
  out->handle = (uint64_t)(uintptr_t)function;
  return code;
}

shim_status_t shim_gpu_module_function(shim_gpu_device_t* device,
                                       uint64_t module, const char* name,
                                       uint32_t dynamic_shared_bytes,
                                       shim_gpu_function_t* out_function,
                                       shim_error_t* error) {
  memset(out_function, 0, sizeof(*out_function));
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  shim_gpu_function_t found = {0};
  int code =
      function_of(device, module, name, dynamic_shared_bytes, &found);
  if (code) {
    status = shim__gpu_fail(device, code, error,
                            "finding kernel '%.60s' with %u bytes of shared "
                            "memory",
                            name, dynamic_shared_bytes);
  } else {
    *out_function = found;
  }
  shim__gpu_leave(device);
  return status;
}
