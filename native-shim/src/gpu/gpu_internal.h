// What the files of CUDA and HIP share. Private to the shim.
#ifndef IREE4J_GPU_INTERNAL_H_
#define IREE4J_GPU_INTERNAL_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "gpu/gpu_types.h"
#include "shim_gpu.h"
#include "shim_internal.h"

// The entry points, by their common names.
typedef struct shim__gpu_table_t {
#define X(need, name, cuda, hip, arguments) int(*name) arguments;
#include "gpu/gpu_symbols.inc"
#undef X
} shim__gpu_table_t;

// The same of the library of collectives.
typedef struct shim__comm_table_t {
#define X(need, name, symbol, arguments) int(*name) arguments;
#include "gpu/collective_symbols.inc"
#undef X
  const char* (*error_text)(int code);
  const char* (*last_error)(sgpu_comm_t comm);  // NULL where there is none
} shim__comm_table_t;

struct shim_gpu_collectives_t {
  int32_t kind;
  shim__comm_table_t table;
  char name[256];
};

struct shim_gpu_api_t {
  int32_t kind;
  shim__gpu_table_t table;
  int version;
  int device_count;
  char name[256];
};

struct shim_gpu_device_t {
  shim_gpu_api_t* api;
  sgpu_context_t context;
  int device;  // the library's number
  sgpu_pool_t pool;  // of its memory; NULL where the library has none
  _Atomic(sgpu_stream_t) pool_stream;  // NULL before its first use
  _Atomic bool lost;
  _Atomic int32_t cause;  // the code of the loss
  _Atomic int64_t live[SHIM_GPU_KIND_COUNT];
  char name[256];
};

const char* shim__gpu_code_name(int code);

// Whether all later calls on the context fail like the one that returned this.
bool shim__gpu_is_permanent(int code);

// Fills the error of a call that returned |code|, and loses |device|, which may
// be NULL, if that is permanent.
shim_status_t shim__gpu_fail(shim_gpu_device_t* device, int code,
                             shim_error_t* error, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Makes the device's context current; ABORTED when it is lost. Each success is
// followed by one shim__gpu_leave.
shim_status_t shim__gpu_enter(shim_gpu_device_t* device, shim_error_t* error);
void shim__gpu_leave(shim_gpu_device_t* device);

// The same for what frees: a lost device still has objects.
bool shim__gpu_enter_to_free(shim_gpu_device_t* device);

void shim__gpu_count(shim_gpu_device_t* device, int32_t kind, int64_t by);

// Ends a call in an entered context that returned |code|: counts |object|, whose
// handle goes to |out_handle|, or says that |what| has failed.
shim_status_t shim__gpu_made(shim_gpu_device_t* device, int code, int32_t kind,
                             const void* object, uint64_t* out_handle,
                             shim_error_t* error, const char* what);

// Frees an object of |kind| by |call|, an entry point with its arguments.
#define SHIM__GPU_FREE(device, kind, call)               \
  do {                                                   \
    if (shim__gpu_enter_to_free(device)) {               \
      SHIM__GPU_TABLE(device)->call;                     \
      shim__gpu_leave(device);                           \
    }                                                    \
    shim__gpu_count(device, SHIM_GPU_KIND_##kind, -1);   \
  } while (0)

// Opens the library by |name|, or the first of |names|, which end with NULL;
// its name goes to |out_name|. |remedy| is for when there is none of them; the
// error of one that is there and does not load has the cause.
void* shim__gpu_open_library(const char* name, const char* const* names,
                             const char* remedy, char* out_name,
                             size_t capacity, shim_error_t* error);

#define SHIM__GPU_TABLE(device) (&(device)->api->table)

#endif  // IREE4J_GPU_INTERNAL_H_
