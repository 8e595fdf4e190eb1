// Maps codes of CUDA and HIP to canonical ones, by one table, and describes
// failures. Calls shim_status.c only.
#include "gpu/gpu_status.h"

#include <stdarg.h>
#include <stdio.h>

#include "gpu/gpu_internal.h"

const char* shim__gpu_code_name(int code) {
  switch (code) {
#define NAME(number, status, permanent, name) \
  case number:                                \
    return #name;
    SHIM__GPU_CODES(NAME)
#undef NAME
    default:
      return "an unknown code";
  }
}

static shim_status_t status_of(int code) {
  switch (code) {
#define STATUS(number, status, permanent, name) \
  case number:                                  \
    return SHIM_##status;
    SHIM__GPU_CODES(STATUS)
#undef STATUS
    default:
      return SHIM_UNKNOWN;
  }
}

bool shim__gpu_is_permanent(int code) {
  switch (code) {
#define PERMANENT(number, status, permanent, name) \
  case number:                                     \
    return permanent;
    SHIM__GPU_CODES(PERMANENT)
#undef PERMANENT
    default:
      return false;
  }
}

static shim_status_t lost(const shim_gpu_device_t* device,
                          shim_error_t* error) {
  int32_t cause = atomic_load(&device->cause);
  return shim_error_set(error, SHIM_ABORTED, cause,
                        "device '%s' is lost: %s (%d)", device->name,
                        shim__gpu_code_name(cause), cause);
}

shim_status_t shim__gpu_fail(shim_gpu_device_t* device, int code,
                             shim_error_t* error, const char* format, ...) {
  if (device && shim__gpu_is_permanent(code)) {
    int32_t none = 0;
    atomic_compare_exchange_strong(&device->cause, &none, code);
    atomic_store_explicit(&device->lost, true, memory_order_release);
    return lost(device, error);
  }
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  return shim_error_set(error, status_of(code), code,
                        "%s failed with %s (%d)%s%s%s", what,
                        shim__gpu_code_name(code), code,
                        device ? " on device '" : "",
                        device ? device->name : "", device ? "'" : "");
}

shim_status_t shim__gpu_enter(shim_gpu_device_t* device, shim_error_t* error) {
  if (atomic_load_explicit(&device->lost, memory_order_acquire)) {
    return lost(device, error);
  }
  int code = SHIM__GPU_TABLE(device)->context_push(device->context);
  return code ? shim__gpu_fail(device, code, error, "making a context current")
              : SHIM_OK;
}

bool shim__gpu_enter_to_free(shim_gpu_device_t* device) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (!table->context_push(device->context)) return true;
  return !table->context_push(device->context);  // what is not freed is lost
}

void shim__gpu_leave(shim_gpu_device_t* device) {
  sgpu_context_t popped = NULL;
  SHIM__GPU_TABLE(device)->context_pop(&popped);
}

void shim__gpu_count(shim_gpu_device_t* device, int32_t kind, int64_t by) {
  atomic_fetch_add(&device->live[kind], by);
}

shim_status_t shim__gpu_made(shim_gpu_device_t* device, int code, int32_t kind,
                             const void* object, uint64_t* out_handle,
                             shim_error_t* error, const char* what) {
  shim_status_t status = SHIM_OK;
  if (code) {
    status = shim__gpu_fail(device, code, error, "%s", what);
  } else {
    shim__gpu_count(device, kind, 1);
    *out_handle = (uint64_t)(uintptr_t)object;
  }
  shim__gpu_leave(device);
  return status;
}
