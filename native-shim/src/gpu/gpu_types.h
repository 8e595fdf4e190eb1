// Types and numbers of CUDA's and HIP's driver interface, as far as the shim
// uses them; the same in both unless two are given. Written from the public
// documentation, so that no SDK is needed.
#ifndef IREE4J_GPU_TYPES_H_
#define IREE4J_GPU_TYPES_H_

#include <stddef.h>
#include <stdint.h>

typedef struct sgpu_context* sgpu_context_t;
typedef struct sgpu_stream* sgpu_stream_t;
typedef struct sgpu_event* sgpu_event_t;
typedef struct sgpu_module* sgpu_module_t;
typedef struct sgpu_function* sgpu_function_t;
typedef struct sgpu_graph* sgpu_graph_t;
typedef struct sgpu_graph_exec* sgpu_graph_exec_t;
typedef struct sgpu_pool* sgpu_pool_t;
typedef struct sgpu_link* sgpu_link_t;

typedef struct sgpu_comm* sgpu_comm_t;

typedef struct sgpu_uuid_t {
  uint8_t bytes[16];
} sgpu_uuid_t;

typedef struct sgpu_pool_params_t {
  int type, handle_types, location, device;
  void* security;
  uint64_t reserved[8];
} sgpu_pool_params_t;

typedef struct sgpu_pool_access_t {
  int location, device, rights;
} sgpu_pool_access_t;

enum {
  SGPU_STREAM_NON_BLOCKING = 1,
  SGPU_EVENT_BLOCKING_SYNC = 1,
  SGPU_EVENT_DISABLE_TIMING = 2,
  SGPU_HOST_ALLOC_PORTABLE = 1,
  SGPU_HOST_ALLOC_MAPPED = 2,
  SGPU_HOST_REGISTER_PORTABLE = 1,
  SGPU_HOST_REGISTER_MAPPED = 2,
  SGPU_HOST_REGISTER_READ_ONLY = 8,
  SGPU_CAPTURE_THREAD_LOCAL = 1,
  SGPU_MANAGED_GLOBAL = 1,
  SGPU_POOL_PINNED = 1,
  SGPU_LOCATION_DEVICE = 1,
  SGPU_POOL_READ_WRITE = 3,
  SGPU_LINK_PTX = 1,
  SGPU_COPY_DEFAULT = 4,  // HIP's kind of copy: by addresses

  SGPU_FUNCTION_MAX_THREADS = 0,
  SGPU_FUNCTION_SHARED_BYTES = 1,
  SGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,

  SGPU_JIT_ERROR_LOG = 5,
  SGPU_JIT_ERROR_LOG_BYTES = 6,
};

// NCCL's and RCCL's. A configuration of version 2.14 has no more than this;
// newer libraries take it by its size and version.
typedef struct sgpu_unique_id_t {
  char bytes[128];
} sgpu_unique_id_t;

typedef struct sgpu_comm_config_t {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
} sgpu_comm_config_t;

enum {
  SGPU_COMM_MAGIC = (int)0xcafebeef,
  SGPU_COMM_CONFIG_VERSION = 21400,

  SGPU_COMM_SUCCESS = 0,
  SGPU_COMM_UNHANDLED = 1,
  SGPU_COMM_SYSTEM = 2,
  SGPU_COMM_INTERNAL = 3,
  SGPU_COMM_INVALID_ARGUMENT = 4,
  SGPU_COMM_INVALID_USAGE = 5,
  SGPU_COMM_REMOTE = 6,
  SGPU_COMM_IN_PROGRESS = 7,
  SGPU_COMM_TIMEOUT = 8,

};

// Codes of errors that both libraries share.
enum {
  SGPU_SUCCESS = 0,
  SGPU_INVALID_VALUE = 1,
  SGPU_OUT_OF_MEMORY = 2,
  SGPU_NOT_INITIALIZED = 3,
  SGPU_DEINITIALIZED = 4,
  SGPU_NO_DEVICE = 100,
  SGPU_INVALID_DEVICE = 101,
  SGPU_INVALID_IMAGE = 200,
  SGPU_INVALID_CONTEXT = 201,
  SGPU_NO_BINARY_FOR_GPU = 209,
  SGPU_PEER_ACCESS_UNSUPPORTED = 217,
  SGPU_INVALID_PTX = 218,
  SGPU_NOT_FOUND = 500,
  SGPU_NOT_READY = 600,
  SGPU_ILLEGAL_ADDRESS = 700,
  SGPU_OUT_OF_RESOURCES = 701,
  SGPU_LAUNCH_TIMEOUT = 702,
  SGPU_PEER_ACCESS_ALREADY_ENABLED = 704,
  SGPU_HOST_MEMORY_ALREADY_REGISTERED = 712,
  SGPU_LAUNCH_FAILED = 719,
  SGPU_NOT_PERMITTED = 800,
  SGPU_NOT_SUPPORTED = 801,
};

#endif  // IREE4J_GPU_TYPES_H_
