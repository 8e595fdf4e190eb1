// HIP's driver interface in front of a library of CUDA's, so that the HIP side
// of the shim runs on NVIDIA's devices, or on the fake of CUDA. The environment
// variable HIP_OVER_CUDA names the library; libcuda.so.1 without it.
//
// Functions are passed on, except where the interfaces differ: numbers of
// attributes, the kind of copies, allocations of no bytes, a count of no
// devices, and shared memory, of which HIP's functions have all there is. One
// that the library lacks fails with 801; without one that the shim needs, init
// does.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_arguments.h"
#include "gpu/gpu_types.h"
#include "shim_gpu.h"

#define EXPORT __attribute__((visibility("default")))

// CUDA's functions, by their common names.
static struct {
#define X(need, name, cuda, hip, arguments) int(*name) arguments;
#include "gpu/gpu_symbols.inc"
#undef X
} table;

#define CALL(name, arguments) (table.name ? table.name arguments : missing())

static int missing(void) {
  return table.init ? SGPU_NOT_SUPPORTED : SGPU_NOT_INITIALIZED;
}

// Functions that are not passed on as they are: they follow below, or are none
// of HIP's.
#define OWN_init , SKIP
#define OWN_device_count , SKIP
#define OWN_device_attribute , SKIP
#define OWN_device_uuid_of_instance , SKIP
#define OWN_memory_allocate , SKIP
#define OWN_memory_free , SKIP
#define OWN_host_allocate , SKIP
#define OWN_host_free , SKIP
#define OWN_memory_managed , SKIP
#define OWN_pool_allocate , SKIP
#define OWN_peer_cuda , SKIP
#define OWN_peer_hip , SKIP
#define OWN_link_create , SKIP
#define OWN_link_add , SKIP
#define OWN_link_complete , SKIP
#define OWN_link_destroy , SKIP
#define OWN_copy_cuda , SKIP
#define OWN_copy_hip , SKIP
#define OWN_module_function , SKIP
#define OWN_function_load , SKIP
#define OWN_function_set_attribute , SKIP
#define OWN_function_parameter , SKIP

#define SKIP(name, symbol, arguments)
#define PASS(name, symbol, arguments) \
  EXPORT int symbol arguments;        \
  int symbol arguments { return CALL(name, ARGUMENTS_##name); }

#define SECOND(...) SECOND_(__VA_ARGS__)
#define SECOND_(first, second, ...) second
#define X(need, name, cuda, hip, arguments) \
  SECOND(OWN_##name, PASS, )(name, hip, arguments)
#include "gpu/gpu_symbols.inc"
#undef X

//===--------------------------------------------------------------------===//
// The library
//===--------------------------------------------------------------------===//

// Tells tests what this is.
EXPORT extern const int hip_over_cuda_is_adapter;
const int hip_over_cuda_is_adapter = 1;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_usable;

static void* symbol_of(void* library, const char* symbol) {
  return strcmp(symbol, "none") == 0 ? NULL : dlsym(library, symbol);
}

static void open_library(void) {
  const char* name = getenv("HIP_OVER_CUDA");
  if (!name) name = "libcuda.so.1";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "hip_over_cuda: cannot open '%s': %s\n", name, dlerror());
    return;
  }
  is_usable = true;
#define IS_REQUIRED true
#define IS_OPTIONAL false
#define X(need, field, cuda, hip, arguments)                             \
  do {                                                                   \
    void* found = symbol_of(library, #cuda);                             \
    memcpy(&table.field, &found, sizeof(found));                         \
    if (!found && (IS_##need || strcmp(#field, "copy_cuda") == 0)) {     \
      fprintf(stderr, "hip_over_cuda: '%s' has no " #cuda "\n", name);   \
      is_usable = false;                                                 \
    }                                                                    \
  } while (0);
#include "gpu/gpu_symbols.inc"
#undef X
}

EXPORT int hipInit(unsigned flags);
int hipInit(unsigned flags) {
  pthread_once(&once, open_library);
  return is_usable ? CALL(init, (flags)) : SGPU_NOT_SUPPORTED;
}

//===--------------------------------------------------------------------===//
// Devices
//===--------------------------------------------------------------------===//

EXPORT int hipGetDeviceCount(int* out_count);
int hipGetDeviceCount(int* out_count) {
  int code = CALL(device_count, (out_count));
  return code || *out_count ? code : SGPU_NO_DEVICE;
}

enum {  // CUDA's numbers
  SHARED_BYTES_PER_BLOCK = 8,
  SHARED_BYTES_OPT_IN = 97,
  MEMORY_POOLS = 115,
};

// CUDA's number of HIP's attribute, or -1.
static int translate(int attribute) {
  static const struct {
    int cuda, hip;
  } numbers[] = {
#define NUMBERS(name, cuda, hip) {cuda, hip},
      SHIM_GPU_ATTRIBUTES(NUMBERS)
#undef NUMBERS
      {MEMORY_POOLS, 88},
  };
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    if (numbers[i].hip == attribute && attribute >= 0) return numbers[i].cuda;
  }
  return -1;
}

EXPORT int hipDeviceGetAttribute(int* out_value, int attribute, int device);
int hipDeviceGetAttribute(int* out_value, int attribute, int device) {
  int number = translate(attribute);
  if (number < 0) return SGPU_INVALID_VALUE;
  if (number == SHARED_BYTES_PER_BLOCK &&
      !CALL(device_attribute, (out_value, SHARED_BYTES_OPT_IN, device))) {
    return SGPU_SUCCESS;
  }
  return CALL(device_attribute, (out_value, number, device));
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

EXPORT int hipMalloc(uint64_t* out_address, size_t size);
int hipMalloc(uint64_t* out_address, size_t size) {
  *out_address = 0;
  return size ? CALL(memory_allocate, (out_address, size)) : SGPU_SUCCESS;
}

EXPORT int hipFree(uint64_t address);
int hipFree(uint64_t address) {
  return address ? CALL(memory_free, (address)) : SGPU_SUCCESS;
}

EXPORT int hipMallocManaged(uint64_t* out_address, size_t size,
                            unsigned flags);
int hipMallocManaged(uint64_t* out_address, size_t size, unsigned flags) {
  *out_address = 0;
  return size ? CALL(memory_managed, (out_address, size, flags))
              : SGPU_INVALID_VALUE;
}

EXPORT int hipMallocFromPoolAsync(uint64_t* out_address, size_t size,
                                  sgpu_pool_t pool, sgpu_stream_t stream);
int hipMallocFromPoolAsync(uint64_t* out_address, size_t size,
                           sgpu_pool_t pool, sgpu_stream_t stream) {
  *out_address = 0;
  return size ? CALL(pool_allocate, (out_address, size, pool, stream))
              : SGPU_SUCCESS;
}

EXPORT int hipDeviceEnablePeerAccess(int peer, unsigned flags);
int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = CALL(context_retain, (&context, peer));
  if (code) return code;
  code = CALL(peer_cuda, (context, flags));
  CALL(context_release, (peer));
  return code;
}

EXPORT int hipHostMalloc(void** out_address, size_t size, unsigned flags);
int hipHostMalloc(void** out_address, size_t size, unsigned flags) {
  *out_address = NULL;
  return size ? CALL(host_allocate, (out_address, size, flags)) : SGPU_SUCCESS;
}

EXPORT int hipHostFree(void* address);
int hipHostFree(void* address) {
  return address ? CALL(host_free, (address)) : SGPU_SUCCESS;
}

EXPORT int hipMemcpyAsync(uint64_t target, uint64_t source, size_t size,
                          int kind, sgpu_stream_t stream);
int hipMemcpyAsync(uint64_t target, uint64_t source, size_t size, int kind,
                   sgpu_stream_t stream) {
  enum { INVALID_DIRECTION = 21 };
  if (kind < 0 || kind > SGPU_COPY_DEFAULT) return INVALID_DIRECTION;
  return CALL(copy_cuda, (target, source, size, stream));
}

//===--------------------------------------------------------------------===//
// Code
//===--------------------------------------------------------------------===//

// Has a function take all the shared memory that a block can have, which is
// asked of the first device; one that cannot stays what it is.
static void give_shared_memory(sgpu_function_t function) {
  int most = 0, own = 0;
  if (CALL(device_attribute, (&most, SHARED_BYTES_OPT_IN, 0)) ||
      CALL(function_attribute, (&own, SGPU_FUNCTION_SHARED_BYTES, function))) {
    return;
  }
  CALL(function_set_attribute,
       (function, SGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, most - own));
}

EXPORT int hipModuleGetFunction(sgpu_function_t* out_function,
                                sgpu_module_t module, const char* name);
int hipModuleGetFunction(sgpu_function_t* out_function, sgpu_module_t module,
                         const char* name) {
  int code = CALL(module_function, (out_function, module, name));
  if (!code && table.function_load) code = table.function_load(*out_function);
  if (!code) give_shared_memory(*out_function);
  return code;
}
