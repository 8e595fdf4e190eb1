// Devices of CUDA and HIP: memory, code, streams and events. The rules of
// shim.h apply. One implementation serves both libraries, whose driver
// interfaces correspond call by call; `kind` picks the names.
//
// Every function makes the device's context current for its own calls and then
// restores the thread's, so threads may be of any kind. Nothing here calls
// back: completion is a wait for an event on a thread of the caller.
//
// A failure that the driver calls permanent (a kernel that faults, a device
// that is gone) loses the device: from then on every call on it fails with
// ABORTED.
#ifndef IREE4J_SHIM_GPU_H_
#define IREE4J_SHIM_GPU_H_

#include "shim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHIM_GPU_CUDA = 0,
  SHIM_GPU_HIP = 1,
};

typedef struct shim_gpu_api_t shim_gpu_api_t;
typedef struct shim_gpu_device_t shim_gpu_device_t;

// Opens a library: |name|, or the usual one of its |kind| when that is NULL.
// UNAVAILABLE, saying why, when there is none, it lacks an entry point, or its
// driver does not start, other than for lack of memory. A driver without
// devices is no failure.
shim_status_t shim_gpu_open(int32_t kind, const char* name,
                            shim_gpu_api_t** out_api, shim_error_t* error);

// Devices must be released before. The library stays loaded: drivers have
// threads and exit handlers of their own.
void shim_gpu_close(shim_gpu_api_t* api);

// The version of the driver's interface, as it counts them.
int32_t shim_gpu_version(const shim_gpu_api_t* api);
uint32_t shim_gpu_device_count(const shim_gpu_api_t* api);

// Attributes of a device, in the order of shim_gpu_device_info_t. X(name,
// CUDA's number, HIP's number); -1 for one that a library does not have: its
// value is 0 then.
#define SHIM_GPU_ATTRIBUTES(X)         \
  X(max_threads_per_block, 1, 56)      \
  X(max_block_x, 2, 26)                \
  X(max_block_y, 3, 27)                \
  X(max_block_z, 4, 28)                \
  X(max_grid_x, 5, 29)                 \
  X(max_grid_y, 6, 30)                 \
  X(max_grid_z, 7, 31)                 \
  X(shared_bytes_per_block, 8, 74)     \
  X(shared_bytes_opt_in, 97, -1)       \
  X(warp_size, 10, 87)                 \
  X(multiprocessors, 16, 63)           \
  X(maps_host_memory, 19, 3)           \
  X(registers_host_memory, 99, -1)     \
  X(concurrent_managed_memory, 89, 9)  \
  X(compute_major, 75, 23)             \
  X(compute_minor, 76, 61)

typedef struct shim_gpu_device_info_t {
  char name[256];
  // Zeros where the library does not tell. Older drivers of CUDA tell the same
  // of all instances (MIG) of a device.
  uint8_t uuid[16];
  uint64_t memory;   // bytes
#define SHIM_GPU_FIELD(name, cuda, hip) int32_t name;
  SHIM_GPU_ATTRIBUTES(SHIM_GPU_FIELD)
#undef SHIM_GPU_FIELD
} shim_gpu_device_info_t;

// Fills |out_info|, of |size| bytes, which must be those of the struct.
shim_status_t shim_gpu_device_query(const shim_gpu_api_t* api, uint32_t index,
                                    void* out_info, size_t size,
                                    shim_error_t* error);

// Opens a device: retains its primary context. |api| must outlive it.
shim_status_t shim_gpu_device_open(shim_gpu_api_t* api, uint32_t index,
                                   shim_gpu_device_t** out_device,
                                   shim_error_t* error);

// Everything of the device was released before.
void shim_gpu_device_release(shim_gpu_device_t* device);
int32_t shim_gpu_device_is_lost(const shim_gpu_device_t* device);

// Lets |device| use memory of |other|, of the same library, as long as both are
// open. UNIMPLEMENTED where the hardware cannot.
shim_status_t shim_gpu_device_reach(shim_gpu_device_t* device,
                                    shim_gpu_device_t* other,
                                    shim_error_t* error);

#define SHIM_GPU_KIND_MAP(X) \
  X(0, STREAMS)              \
  X(1, EVENTS)               \
  X(2, MEMORY)               \
  X(3, HOST_MEMORY)          \
  X(4, REGISTRATIONS)        \
  X(5, MODULES)              \
  X(6, GRAPHS)               \
  X(7, COMMUNICATORS)

enum {
#define SHIM_GPU_KIND_ENUM(number, name) SHIM_GPU_KIND_##name = number,
  SHIM_GPU_KIND_MAP(SHIM_GPU_KIND_ENUM)
#undef SHIM_GPU_KIND_ENUM
  SHIM_GPU_KIND_COUNT = 8,
};

const char* shim_gpu_kind_name(int32_t kind);
void shim_gpu_device_live_objects(const shim_gpu_device_t* device,
                                  int64_t out_counts[SHIM_GPU_KIND_COUNT]);

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

// Handles are addresses. |out_address| is for code of the device; if |managed|
// for the host as well. Other memory comes from a pool of the library where
// there is one.
shim_status_t shim_gpu_memory_allocate(shim_gpu_device_t* device, uint64_t size,
                                       int32_t managed, uint64_t* out_address,
                                       shim_error_t* error);
// Fails when the library has not taken it back: to be tried again.
shim_status_t shim_gpu_memory_free(shim_gpu_device_t* device, uint64_t address,
                                   int32_t managed, shim_error_t* error);

// Bytes that no process has taken, at the moment; |out_free| is UINT64_MAX
// where the library cannot tell.
shim_status_t shim_gpu_memory_available(shim_gpu_device_t* device,
                                        uint64_t* out_free,
                                        shim_error_t* error);

// Checks that some bytes are of one allocation, by any code of the process.
shim_status_t shim_gpu_memory_check(shim_gpu_device_t* device, uint64_t address,
                                    uint64_t size, shim_error_t* error);

// Memory of the host that the device uses: |out_addresses| has the host's and
// the device's address of it.
shim_status_t shim_gpu_host_allocate(shim_gpu_device_t* device, uint64_t size,
                                     uint64_t out_addresses[2],
                                     shim_error_t* error);
void shim_gpu_host_free(shim_gpu_device_t* device, uint64_t host);

// Lets the device use memory of the caller. No byte of its pages may be
// registered already. |read_only| if the device only reads it, for pages that
// are mapped so: drivers that have no such registration may refuse those
// (INVALID_ARGUMENT), and systems may have them refuse pages of files.
shim_status_t shim_gpu_host_register(shim_gpu_device_t* device, void* host,
                                     uint64_t size, int32_t read_only,
                                     uint64_t* out_address,
                                     shim_error_t* error);
void shim_gpu_host_unregister(shim_gpu_device_t* device, void* host);

//===--------------------------------------------------------------------===//
// Code
//===--------------------------------------------------------------------===//

// Loads a module, of which the library knows the length. What the library's
// compiler says about it goes to |out_log|, of |log_size| bytes, or nowhere
// with 0.
shim_status_t shim_gpu_module_load(shim_gpu_device_t* device, const void* image,
                                   char* out_log, size_t log_size,
                                   uint64_t* out_module, shim_error_t* error);
void shim_gpu_module_unload(shim_gpu_device_t* device, uint64_t module);

// Compiles PTX. |out_code| has a handle, and the address and the bytes of an
// image, valid until the handle is released. A handle counts as a module.
// UNIMPLEMENTED where the library does not.
shim_status_t shim_gpu_link(shim_gpu_device_t* device, void* text, size_t size,
                            uint64_t out_code[3], shim_error_t* error);
void shim_gpu_link_release(shim_gpu_device_t* device, uint64_t link);

typedef struct shim_gpu_function_t {
  uint64_t handle;
  int32_t max_threads;   // of one block
  int32_t shared_bytes;  // that it declares itself
  // Parameters that a launch is given, since drivers read as many as the code
  // has; -1 where the library does not tell.
  int32_t parameters;
  int32_t largest_parameter;  // in bytes
} shim_gpu_function_t;

// Finds a function, loads it, and lets it have |dynamic_shared_bytes| of shared
// memory. May block, until the device has done what it has.
shim_status_t shim_gpu_module_function(shim_gpu_device_t* device,
                                       uint64_t module, const char* name,
                                       uint32_t dynamic_shared_bytes,
                                       shim_gpu_function_t* out_function,
                                       shim_error_t* error);

//===--------------------------------------------------------------------===//
// Streams, events, commands
//===--------------------------------------------------------------------===//

shim_status_t shim_gpu_stream_create(shim_gpu_device_t* device,
                                     uint64_t* out_stream, shim_error_t* error);
// May block, until the driver has let go of it.
void shim_gpu_stream_release(shim_gpu_device_t* device, uint64_t stream);

shim_status_t shim_gpu_event_create(shim_gpu_device_t* device,
                                    uint64_t* out_event, shim_error_t* error);
void shim_gpu_event_release(shim_gpu_device_t* device, uint64_t event);

// May block, until everything before the event's last record is over: looks for
// |spin_nanos| first, and has the driver wait then.
shim_status_t shim_gpu_event_wait(shim_gpu_device_t* device, uint64_t event,
                                  int64_t spin_nanos, shim_error_t* error);

// Whether everything before the event's last record is over.
shim_status_t shim_gpu_event_query(shim_gpu_device_t* device, uint64_t event,
                                   int32_t* out_over, shim_error_t* error);

// Commands, as words of 64 bits; "a | b" is a in the upper and b in the lower
// half of one.
enum {
  // event: what follows begins once the event's last record is over
  SHIM_GPU_WAIT = 1,
  // event
  SHIM_GPU_RECORD = 2,
  // address, bytes, pattern | its bytes (1, 2 or 4, of which the address and
  // the bytes are multiples)
  SHIM_GPU_FILL = 3,
  // target, source, bytes
  SHIM_GPU_COPY = 4,
  // function, grid y | x, shared bytes | grid z, block y | x, count of
  // parameters | block z, parameters in a word each
  SHIM_GPU_LAUNCH = 5,
  // address of words, their count: these follow here. Not within such words.
  SHIM_GPU_CALL = 6,
  // graph
  SHIM_GPU_GRAPH = 7,
  // (nothing): in a graph, what follows comes after everything before
  SHIM_GPU_REGION = 8,
  // (nothing): in a graph, what follows comes after what was before the last
  // REGION, and need not after what is between
  SHIM_GPU_BRANCH = 9,
};

// Parameters of one function.
#define SHIM_GPU_MAX_PARAMS 512

// Gives a stream commands. May block while the stream is full. On failure what
// comes before the failed command was given, nothing after it.
shim_status_t shim_gpu_run(shim_gpu_device_t* device, uint64_t stream,
                           const uint64_t* words, size_t count,
                           shim_error_t* error);

// What commands are captured on: a stream, and an event unless there is only
// one of these.
typedef struct shim_gpu_branch_t {
  uint64_t stream;
  uint64_t event;
} shim_gpu_branch_t;

// Makes a graph of commands, without waits, records and calls: |branches|, at
// least one, are not in use elsewhere, and as many commands of a region can
// run at once. |*graph| is 0 for a new one, or one that had the same commands
// with other parameters; on failure it stays what it was. UNIMPLEMENTED where
// the library has no graphs.
shim_status_t shim_gpu_graph_make(shim_gpu_device_t* device,
                                  const shim_gpu_branch_t* branches,
                                  size_t branch_count, const uint64_t* words,
                                  size_t count, uint64_t* graph,
                                  shim_error_t* error);
void shim_gpu_graph_release(shim_gpu_device_t* device, uint64_t graph);

//===--------------------------------------------------------------------===//
// Collectives: NCCL's library or RCCL's, whose interfaces are the same. A
// communicator is one participant of a group, on one device. Nothing waits for
// other participants. One call at a time may use a communicator.
//===--------------------------------------------------------------------===//

typedef struct shim_gpu_collectives_t shim_gpu_collectives_t;

#define SHIM_GPU_UNIQUE_ID_SIZE 128

// Opens a library: |name|, or the usual one for the devices of |kind|.
// UNAVAILABLE, saying why, when there is none or it lacks an entry point.
shim_status_t shim_gpu_collectives_open(int32_t kind, const char* name,
                                        shim_gpu_collectives_t** out_library,
                                        shim_error_t* error);

// Its communicators have ended. The library stays loaded.
void shim_gpu_collectives_close(shim_gpu_collectives_t* library);

// Makes an id for a new group, which all of its participants pass.
shim_status_t shim_gpu_unique_id(
    const shim_gpu_collectives_t* library,
    char out_id[SHIM_GPU_UNIQUE_ID_SIZE], shim_error_t* error);

// Begins to join a group. Once this succeeds, shim_gpu_comm_end follows.
shim_status_t shim_gpu_comm_join(const shim_gpu_collectives_t* library,
                                 shim_gpu_device_t* device,
                                 const char id[SHIM_GPU_UNIQUE_ID_SIZE],
                                 int32_t rank, int32_t count,
                                 uint64_t* out_comm, shim_error_t* error);

// Whether the library still works on the last call for this communicator, or
// why it has failed, then or since.
shim_status_t shim_gpu_comm_state(const shim_gpu_collectives_t* library,
                                  shim_gpu_device_t* device, uint64_t comm,
                                  int32_t* out_pending, shim_error_t* error);

// Begins to leave in agreement with the others, who do the same.
shim_status_t shim_gpu_comm_finalize(const shim_gpu_collectives_t* library,
                                     shim_gpu_device_t* device, uint64_t comm,
                                     shim_error_t* error);

// Frees a communicator: one that has left, or, if |aborts|, any, whose work
// ends without result.
void shim_gpu_comm_end(const shim_gpu_collectives_t* library,
                       shim_gpu_device_t* device, uint64_t comm,
                       int32_t aborts);

// What a participant does.
enum {
  SHIM_GPU_ALL_GATHER = 0,
  SHIM_GPU_ALL_REDUCE = 1,
  SHIM_GPU_ALL_TO_ALL = 2,  // |root| is how many there are
  SHIM_GPU_BROADCAST = 3,
  SHIM_GPU_REDUCE = 4,
  SHIM_GPU_REDUCE_SCATTER = 5,
  SHIM_GPU_SEND = 6,  // to |root|
  SHIM_GPU_RECEIVE = 7,
};

typedef struct shim_gpu_collective_t {
  uint64_t device;  // a shim_gpu_device_t*
  uint64_t comm;
  uint64_t stream;
  uint32_t operation;
  int32_t root;
  int32_t type;       // as the library counts
  int32_t reduction;  // as the library counts
  uint64_t elements;  // of all participants where they differ: of each
  uint64_t source;
  uint64_t target;
  uint64_t part_bytes;  // of an all-to-all: of the elements for each
} shim_gpu_collective_t;

// Gives collectives to streams of devices in one group call. The library may
// still work on it when this returns: what comes after them on the streams is
// given once shim_gpu_comm_state says that it does not. On failure some may
// have been given.
shim_status_t shim_gpu_collectives_run(const shim_gpu_collectives_t* library,
                                       const shim_gpu_collective_t* calls,
                                       size_t count, shim_error_t* error);

#ifdef __cplusplus
}
#endif

#endif  // IREE4J_SHIM_GPU_H_
