// Names of the canonical codes and the function that fills errors. Calls
// nothing of the shim.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "shim_internal.h"

uint32_t shim_abi_version(void) { return SHIM_ABI_VERSION; }

const char* shim_status_name(shim_status_t status) {
  switch (status) {
#define SHIM_STATUS_NAME(number, name) \
  case number:                         \
    return #name;
    SHIM_STATUS_MAP(SHIM_STATUS_NAME)
#undef SHIM_STATUS_NAME
    default:
      return "UNKNOWN";
  }
}

shim_status_t shim_error_set(shim_error_t* error, shim_status_t status,
                             int32_t native_code, const char* format, ...) {
  if (error) {
    error->status = status;
    error->native_code = native_code;
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    if (written < 0) error->message[0] = '\0';
  }
  return status;
}

shim_status_t shim__no_memory(shim_error_t* error, uint64_t bytes,
                              const char* what) {
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, ENOMEM,
                        "no memory for %s of %llu bytes", what,
                        (unsigned long long)bytes);
}

shim_status_t shim__slab_check(uint64_t size, uint64_t alignment,
                               shim_error_t* error) {
  if (size == 0 || size > (uint64_t)INT64_MAX / 2 ||
      (alignment & (alignment - 1)) != 0 || alignment > (uint64_t)1 << 40) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "slab of %llu bytes at multiples of %llu",
                          (unsigned long long)size,
                          (unsigned long long)alignment);
  }
  return SHIM_OK;
}

shim_status_t shim__view_check(uint64_t whole, uint64_t offset, uint64_t length,
                               shim_error_t* error) {
  if (length == 0 || offset > whole || length > whole - offset) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%llu bytes at %llu are not in memory of %llu",
                          (unsigned long long)length,
                          (unsigned long long)offset,
                          (unsigned long long)whole);
  }
  return SHIM_OK;
}
