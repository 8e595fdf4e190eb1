// Devices, their memory and their code. Calls gpu_status.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

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
  if (code) {
    free(device);
    return shim__gpu_fail(NULL, code, error, "opening device %u", index);
  }
  *out_device = device;
  return SHIM_OK;
}

void shim_gpu_device_release(shim_gpu_device_t* device) {
  if (!device) return;
  SHIM__GPU_TABLE(device)->context_release(device->device);
  free(device);
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

shim_status_t shim_gpu_memory_allocate(shim_gpu_device_t* device, uint64_t size,
                                       uint64_t* out_address,
                                       shim_error_t* error) {
  *out_address = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  uint64_t address = 0;
  int code = SHIM__GPU_TABLE(device)->memory_allocate(&address, size);
  status = made(device, code, SHIM_GPU_KIND_MEMORY, error,
                "allocation of device memory", size);
  shim__gpu_leave(device);
  if (!status) *out_address = address;
  return status;
}

void shim_gpu_memory_free(shim_gpu_device_t* device, uint64_t address) {
  if (shim__gpu_enter_to_free(device)) {
    SHIM__GPU_TABLE(device)->memory_free(address);
    shim__gpu_leave(device);
  }
  shim__gpu_count(device, SHIM_GPU_KIND_MEMORY, -1);
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
  if (shim__gpu_enter_to_free(device)) {
    SHIM__GPU_TABLE(device)->host_free((void*)(uintptr_t)host);
    shim__gpu_leave(device);
  }
  shim__gpu_count(device, SHIM_GPU_KIND_HOST_MEMORY, -1);
}

shim_status_t shim_gpu_host_register(shim_gpu_device_t* device, void* host,
                                     uint64_t size, uint64_t* out_address,
                                     shim_error_t* error) {
  *out_address = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  uint64_t address = 0;
  int code = table->host_register(
      host, size, SGPU_HOST_REGISTER_PORTABLE | SGPU_HOST_REGISTER_MAPPED);
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
  if (shim__gpu_enter_to_free(device)) {
    SHIM__GPU_TABLE(device)->host_unregister(host);
    shim__gpu_leave(device);
  }
  shim__gpu_count(device, SHIM_GPU_KIND_REGISTRATIONS, -1);
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
  if (code) {
    status = shim__gpu_fail(device, code, error, "loading a module");
  } else {
    shim__gpu_count(device, SHIM_GPU_KIND_MODULES, 1);
    *out_module = (uint64_t)(uintptr_t)module;
  }
  shim__gpu_leave(device);
  return status;
}

void shim_gpu_module_unload(shim_gpu_device_t* device, uint64_t module) {
  if (shim__gpu_enter_to_free(device)) {
    SHIM__GPU_TABLE(device)->module_unload((sgpu_module_t)(uintptr_t)module);
    shim__gpu_leave(device);
  }
  shim__gpu_count(device, SHIM_GPU_KIND_MODULES, -1);
}

// What is asked of one function, in an entered context.
static int function_of(shim_gpu_device_t* device, uint64_t module,
                       const char* name, uint32_t dynamic_shared_bytes,
                       shim_gpu_function_t* out) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  sgpu_function_t function = NULL;
  int code = table->module_function(&function,
                                    (sgpu_module_t)(uintptr_t)module, name);
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
