// Drivers of CUDA and HIP with injected failures: wraps each entry point, and
// what finds it in a library.
#include <dlfcn.h>
#include <string.h>

#include "failing.h"
#include "gpu/gpu_arguments.h"
#include "gpu/gpu_internal.h"

bool failing_gpu_enters = true;

// The wrapped functions.
static shim__gpu_table_t behind;
static shim__comm_table_t comm_behind;

// Whether an entry point may fail without consequences: functions that free
// have done so then, and a device may have no UUID. What a pool does not take
// back is freed in another way.
static bool can_fail(const char* name) {
  return strstr(name, "_free") || strstr(name, "_destroy") ||
         strstr(name, "_unload") || strstr(name, "_unregister") ||
         strcmp(name, "context_release") == 0 ||
         strcmp(name, "context_pop") == 0 || strstr(name, "device_uuid");
}

// Whether an entry point fails now, and if so, whether it works all the same.
static bool fails(const char* name, bool* out_works) {
  *out_works = true;
  if (strcmp(name, "context_push") == 0 && !failing_gpu_enters) return false;
  if (!failing_here(name)) return false;
  *out_works = can_fail(name) && strcmp(name, "pool_free");
  if (can_fail(name)) failing_expected = SHIM_OK;
  return true;
}

#define X(need, name, cuda, hip, arguments)              \
  static int wrapped_##name arguments {                  \
    bool works;                                          \
    const bool fails_here = fails(#name, &works);        \
    int code = works ? behind.name ARGUMENTS_##name : 0; \
    return fails_here ? SGPU_OUT_OF_MEMORY : code;       \
  }
#include "gpu/gpu_symbols.inc"
#undef X

// NCCL's code 2 is that the system has no more. What ends a communicator or a
// group call does so even then.
static bool comm_fails(const char* name, bool* out_works) {
  *out_works = true;
  if (!failing_here(name)) return false;
  bool ends = strcmp(name, "comm_destroy") == 0 ||
              strcmp(name, "comm_abort") == 0;
  *out_works = ends || strcmp(name, "group_end") == 0;
  failing_expected = ends ? SHIM_OK : SHIM_UNAVAILABLE;
  return true;
}

#define X(need, name, symbol, arguments)                      \
  static int wrapped_##name arguments {                       \
    bool works;                                               \
    const bool fails_here = comm_fails(#name, &works);        \
    int code = works ? comm_behind.name ARGUMENTS_##name : 0; \
    return fails_here ? SGPU_COMM_SYSTEM : code;              \
  }
#include "gpu/collective_symbols.inc"
#undef X

// Ends a capture even if it fails, as drivers do.
static int end_capture(sgpu_stream_t stream, sgpu_graph_t* out_graph) {
  int code = wrapped_stream_end_capture(stream, out_graph);
  if (code == SGPU_OUT_OF_MEMORY) {
    behind.stream_end_capture(stream, out_graph);
    behind.graph_destroy(*out_graph);
    *out_graph = NULL;
  }
  return code;
}

//===--------------------------------------------------------------------===//
// Resolving
//===--------------------------------------------------------------------===//

#define OPTIONAL_EXPECTED SHIM_OK
#define REQUIRED_EXPECTED SHIM_UNAVAILABLE

// The optional ones without which there is no use of a library copy.
static shim_status_t expected_without(const char* name, shim_status_t status) {
  return strstr(name, "copy") ? SHIM_UNAVAILABLE : status;
}

void* failing_gpu_symbol(const char* symbol, void* found) {
#define X(need, name, cuda, hip, arguments)                             \
  if (strcmp(symbol, #cuda) == 0 || strcmp(symbol, #hip) == 0) {        \
    if (failing_here("dlsym")) {                                        \
      failing_expected = expected_without(#name, need##_EXPECTED);      \
      return NULL;                                                      \
    }                                                                   \
    memcpy(&behind.name, &found, sizeof(found));                        \
    int(*ours) arguments = wrapped_##name;                              \
    memcpy(&found, &ours, sizeof(found));                               \
  }
#include "gpu/gpu_symbols.inc"
#undef X
#define X(need, name, name_of, arguments)                \
  if (strcmp(symbol, #name_of) == 0) {                   \
    if (failing_here("dlsym")) {                         \
      failing_expected = need##_EXPECTED;                \
      return NULL;                                       \
    }                                                    \
    memcpy(&comm_behind.name, &found, sizeof(found));    \
    int(*ours) arguments = wrapped_##name;               \
    memcpy(&found, &ours, sizeof(found));                \
  }
#include "gpu/collective_symbols.inc"
#undef X
  if (strcmp(symbol, "ncclGetErrorString") == 0 && failing_here("dlsym")) {
    failing_expected = SHIM_UNAVAILABLE;
    return NULL;
  }
  if (strcmp(symbol, "ncclGetLastError") == 0 && failing_here("dlsym")) {
    failing_expected = SHIM_OK;
    return NULL;
  }
  if (strstr(symbol, "StreamEndCapture")) {
    int (*ours)(sgpu_stream_t, sgpu_graph_t*) = end_capture;
    memcpy(&found, &ours, sizeof(found));
  }
  return found;
}

static bool is_gpu(const char* library) {
  return library && (strcmp(library, FAKE_CUDA_LIBRARY) == 0 ||
                     strcmp(library, FAKE_HIP_LIBRARY) == 0);
}

void* __real_dlopen(const char* library, int flags);
void* __wrap_dlopen(const char* library, int flags);
void* __wrap_dlopen(const char* library, int flags) {
  if (!is_gpu(library) || !failing_here("dlopen")) {
    return __real_dlopen(library, flags);
  }
  failing_expected = SHIM_UNAVAILABLE;
  return NULL;
}
