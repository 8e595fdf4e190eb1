// Collectives by NCCL or RCCL. Calls gpu_api.c and gpu_status.c.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

#define COMM(value) ((sgpu_comm_t)(uintptr_t)(value))
#define STREAM(value) ((sgpu_stream_t)(uintptr_t)(value))

static const char* const cuda_libraries[] = {"libnccl.so.2", "libnccl.so",
                                             NULL};
static const char* const hip_libraries[] = {"librccl.so.1", "librccl.so", NULL};

//===--------------------------------------------------------------------===//
// The library
//===--------------------------------------------------------------------===//

static const char* code_name(int code) {
  static const char* const names[] = {
      "SUCCESS",        "UNHANDLED_CUDA_ERROR", "SYSTEM_ERROR",
      "INTERNAL_ERROR", "INVALID_ARGUMENT",     "INVALID_USAGE",
      "REMOTE_ERROR",   "IN_PROGRESS",          "TIMEOUT"};
  return code >= 0 && code < (int)(sizeof(names) / sizeof(names[0]))
             ? names[code]
             : "an unknown code";
}

static shim_status_t status_of(int code) {
  switch (code) {
    case SGPU_COMM_SYSTEM:
      return SHIM_UNAVAILABLE;
    case SGPU_COMM_INVALID_ARGUMENT:
      return SHIM_INVALID_ARGUMENT;
    case SGPU_COMM_INVALID_USAGE:
      return SHIM_FAILED_PRECONDITION;
    case SGPU_COMM_REMOTE:
      return SHIM_ABORTED;
    case SGPU_COMM_TIMEOUT:
      return SHIM_DEADLINE_EXCEEDED;
    default:
      return SHIM_INTERNAL;
  }
}

// Describes a call that returned |code|, with what the library says of it;
// |comm| may be NULL.
static shim_status_t fail(const shim_gpu_collectives_t* library, int code,
                          sgpu_comm_t comm, shim_error_t* error,
                          const char* what) {
  const char* text = library->table.error_text(code);
  const char* more =
      library->table.last_error ? library->table.last_error(comm) : NULL;
  return shim_error_set(error, status_of(code), code,
                        "%s failed with %s (%d) of '%s': %.100s%s%.200s", what,
                        code_name(code), code, library->name,
                        text ? text : "no text", more && *more ? "; " : "",
                        more ? more : "");
}

// The same for a communicator of a device in an entered context, which may be
// lost: the library only says that the driver has failed.
static shim_status_t fail_on(const shim_gpu_collectives_t* library,
                             shim_gpu_device_t* device, int code,
                             sgpu_comm_t comm, shim_error_t* error,
                             const char* what) {
  shim_status_t status = fail(library, code, comm, error, what);
  if (code != SGPU_COMM_UNHANDLED) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  sgpu_event_t event = NULL;
  int cause = table->event_create(&event, SGPU_EVENT_DISABLE_TIMING);
  if (!cause) {
    table->event_destroy(event);
    return status;
  }
  shim_error_t lost = {0};
  shim__gpu_fail(device, cause, &lost, "looking at a device");
  if (!shim_gpu_device_is_lost(device)) return status;
  if (error) *error = lost;
  return SHIM_ABORTED;
}

// What is still under way has not failed.
static bool is_failure(int code) {
  return code != SGPU_COMM_SUCCESS && code != SGPU_COMM_IN_PROGRESS;
}

static shim_status_t lacks(const shim_gpu_collectives_t* library,
                           const char* symbol, shim_error_t* error) {
  return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                        "'%s' has no symbol %s; install %s 2.14 or newer",
                        library->name, symbol,
                        library->kind == SHIM_GPU_CUDA ? "NCCL" : "RCCL");
}

static shim_status_t resolve(shim_gpu_collectives_t* library, void* handle,
                             shim_error_t* error) {
#define REQUIRED_SYMBOL 1
#define OPTIONAL_SYMBOL 0
#define X(need, field, symbol, arguments)                      \
  do {                                                         \
    void* found = dlsym(handle, #symbol);                      \
    if (!found && need##_SYMBOL) {                             \
      return lacks(library, #symbol, error);                   \
    }                                                          \
    memcpy(&library->table.field, &found, sizeof(found));      \
  } while (0);
#include "gpu/collective_symbols.inc"
#undef X
  void* text = dlsym(handle, "ncclGetErrorString");
  if (!text) return lacks(library, "ncclGetErrorString", error);
  memcpy(&library->table.error_text, &text, sizeof(text));
  void* last = dlsym(handle, "ncclGetLastError");
  memcpy(&library->table.last_error, &last, sizeof(last));
  return SHIM_OK;
}

shim_status_t shim_gpu_collectives_open(int32_t kind, const char* name,
                                        shim_gpu_collectives_t** out_library,
                                        shim_error_t* error) {
  *out_library = NULL;
  shim_gpu_collectives_t* library = calloc(1, sizeof(*library));
  if (!library) {
    return shim__no_memory(error, sizeof(*library), "a library of collectives");
  }
  library->kind = kind;
  bool cuda = kind == SHIM_GPU_CUDA;
  void* handle = shim__gpu_open_library(
      name, cuda ? cuda_libraries : hip_libraries,
      cuda ? "install NCCL (libnccl2), or name its library in the environment "
             "variable IREE4J_LIBNCCL"
           : "install RCCL (rccl), or name its library in the environment "
             "variable IREE4J_LIBRCCL",
      library->name, sizeof(library->name), error);
  shim_status_t status = handle ? SHIM_OK : SHIM_UNAVAILABLE;
  if (!status) status = resolve(library, handle, error);
  if (status) {
    free(library);
    return status;
  }
  *out_library = library;
  return SHIM_OK;
}

void shim_gpu_collectives_close(shim_gpu_collectives_t* library) {
  free(library);
}

shim_status_t shim_gpu_unique_id(
    const shim_gpu_collectives_t* library,
    char out_id[SHIM_GPU_UNIQUE_ID_SIZE], shim_error_t* error) {
  sgpu_unique_id_t id = {{0}};
  int code = library->table.comm_unique_id(&id);
  memcpy(out_id, id.bytes, sizeof(id.bytes));
  return code ? fail(library, code, NULL, error, "making an id of a group")
              : SHIM_OK;
}

//===--------------------------------------------------------------------===//
// Communicators
//===--------------------------------------------------------------------===//

static sgpu_comm_config_t non_blocking(void) {
  return (sgpu_comm_config_t){.size = sizeof(sgpu_comm_config_t),
                              .magic = (unsigned)SGPU_COMM_MAGIC,
                              .version = SGPU_COMM_CONFIG_VERSION,
                              .blocking = 0};
}

// What a call that makes a communicator returned. One that failed may have
// left something to abort.
static shim_status_t made(const shim_gpu_collectives_t* library,
                          shim_gpu_device_t* device, int code, sgpu_comm_t comm,
                          uint64_t* out_comm, shim_error_t* error,
                          const char* what) {
  if (is_failure(code)) {
    shim_status_t status = fail(library, code, NULL, error, what);
    if (comm) library->table.comm_abort(comm);
    return status;
  }
  if (comm) shim__gpu_count(device, SHIM_GPU_KIND_COMMUNICATORS, 1);
  *out_comm = (uint64_t)(uintptr_t)comm;
  return SHIM_OK;
}

shim_status_t shim_gpu_comm_join(const shim_gpu_collectives_t* library,
                                 shim_gpu_device_t* device,
                                 const char id[SHIM_GPU_UNIQUE_ID_SIZE],
                                 int32_t rank, int32_t count,
                                 uint64_t* out_comm, shim_error_t* error) {
  *out_comm = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  sgpu_unique_id_t unique;
  memcpy(unique.bytes, id, sizeof(unique.bytes));
  sgpu_comm_config_t config = non_blocking();
  sgpu_comm_t comm = NULL;
  int code = library->table.comm_join(&comm, count, unique, rank, &config);
  status = made(library, device, code, comm, out_comm, error,
                "joining a group of participants");
  shim__gpu_leave(device);
  return status;
}

shim_status_t shim_gpu_comm_state(const shim_gpu_collectives_t* library,
                                  shim_gpu_device_t* device, uint64_t comm,
                                  int32_t* out_pending, shim_error_t* error) {
  *out_pending = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  int state = SGPU_COMM_SUCCESS;
  int code = library->table.comm_error(COMM(comm), &state);
  if (!code) code = state;
  if (is_failure(code)) {
    status =
        fail_on(library, device, code, COMM(comm), error, "a participant");
  }
  *out_pending = code == SGPU_COMM_IN_PROGRESS;
  shim__gpu_leave(device);
  return status;
}

shim_status_t shim_gpu_comm_finalize(const shim_gpu_collectives_t* library,
                                     shim_gpu_device_t* device, uint64_t comm,
                                     shim_error_t* error) {
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  int code = library->table.comm_finalize(COMM(comm));
  if (is_failure(code)) {
    status = fail(library, code, COMM(comm), error, "leaving a group");
  }
  shim__gpu_leave(device);
  return status;
}

void shim_gpu_comm_end(const shim_gpu_collectives_t* library,
                       shim_gpu_device_t* device, uint64_t comm,
                       int32_t aborts) {
  if (shim__gpu_enter_to_free(device)) {
    (aborts ? library->table.comm_abort : library->table.comm_destroy)(
        COMM(comm));
    shim__gpu_leave(device);
  }
  shim__gpu_count(device, SHIM_GPU_KIND_COMMUNICATORS, -1);
}

//===--------------------------------------------------------------------===//
// Work
//===--------------------------------------------------------------------===//

// Each sends a part to each, itself included.
static int all_to_all(const shim__comm_table_t* table,
                      const shim_gpu_collective_t* call) {
  int code = SGPU_COMM_SUCCESS;
  for (int32_t i = 0; i < call->root && !is_failure(code); ++i) {
    uint64_t at = (uint64_t)i * call->part_bytes;
    code = table->send(call->source + at, call->elements, call->type, i,
                       COMM(call->comm), STREAM(call->stream));
    if (is_failure(code)) break;
    code = table->receive(call->target + at, call->elements, call->type, i,
                          COMM(call->comm), STREAM(call->stream));
  }
  return code;
}

static int give(const shim__comm_table_t* table,
                const shim_gpu_collective_t* call) {
  sgpu_comm_t comm = COMM(call->comm);
  sgpu_stream_t stream = STREAM(call->stream);
  switch (call->operation) {
    case SHIM_GPU_ALL_GATHER:
      return table->all_gather(call->source, call->target, call->elements,
                               call->type, comm, stream);
    case SHIM_GPU_ALL_REDUCE:
      return table->all_reduce(call->source, call->target, call->elements,
                               call->type, call->reduction, comm, stream);
    case SHIM_GPU_ALL_TO_ALL:
      return all_to_all(table, call);
    case SHIM_GPU_BROADCAST:
      return table->broadcast(call->source, call->target, call->elements,
                              call->type, call->root, comm, stream);
    case SHIM_GPU_REDUCE:
      return table->reduce(call->source, call->target, call->elements,
                           call->type, call->reduction, call->root, comm,
                           stream);
    case SHIM_GPU_REDUCE_SCATTER:
      return table->reduce_scatter(call->source, call->target, call->elements,
                                   call->type, call->reduction, comm, stream);
    case SHIM_GPU_SEND:
      return table->send(call->source, call->elements, call->type, call->root,
                         comm, stream);
    case SHIM_GPU_RECEIVE:
      return table->receive(call->target, call->elements, call->type,
                            call->root, comm, stream);
    default:
      return SGPU_COMM_INVALID_ARGUMENT;
  }
}

shim_status_t shim_gpu_collectives_run(const shim_gpu_collectives_t* library,
                                       const shim_gpu_collective_t* calls,
                                       size_t count, shim_error_t* error) {
  const shim__comm_table_t* table = &library->table;
  int code = table->group_start();
  if (is_failure(code)) {
    return fail(library, code, NULL, error, "beginning a group call");
  }
  shim_status_t status = SHIM_OK;
  for (size_t i = 0; i < count && !status; ++i) {
    shim_gpu_device_t* device = (shim_gpu_device_t*)(uintptr_t)calls[i].device;
    status = shim__gpu_enter(device, error);
    if (status) break;
    code = give(table, &calls[i]);
    if (is_failure(code)) {
      status = fail_on(library, device, code, COMM(calls[i].comm), error,
                       "a collective");
    }
    shim__gpu_leave(device);
  }
  code = table->group_end();
  if (!status && is_failure(code)) {
    status = fail(library, code, count ? COMM(calls[0].comm) : NULL, error,
                  "a group call");
  }
  return status;
}
