// Libraries of CUDA's and HIP's drivers for tests, without hardware: contexts,
// streams with a thread each, events, memory, modules in PTX that run on the
// processor, captured graphs; with injected failures. One set of sources, built
// twice: libfake_cuda.so, and with FAKE_HIP libfake_hip.so. Their entry points
// are those of gpu_symbols.inc, and those of collective_symbols.inc: they are a
// library of collectives as well, for devices of the same process.
//
// Settings are words "name" or "name=value", separated by blanks or lines, from
// the file <path of this library>.conf and from the environment variable
// FAKE_CUDA or FAKE_HIP, read by init while there is no context. Each copy of a
// library has its own settings and state.
//
//   devices=N            devices, 1 by default, at most 8
//   no_device            init finds none and returns 100, HIP's 101
//   init_error=N         init returns N
//   no_symbol=NAME       that entry point is missing; read when the library is
//                        loaded, and may be given several times
//   no_uuid              devices tell no UUID
//   instances            devices are instances of one: cuDeviceGetUuid, and
//                        HIP's, tells the same of all, cuDeviceGetUuid_v2 that
//                        of each
//   version=N            of the driver
//   compute=8.0          compute capability; CUDA's images and PTX for another
//                        device fail with 209
//   gfx=gfx90a           the device of HIP; images for others fail with 209
//   attribute=N:VALUE    the device attribute N has that value; several times
//   no_attribute=N       there is no such attribute; several times
//   no_files             memory of files that are mapped is not registered
//   heap_mib=N           memory of each device, 256 by default
//   alignment=N          addresses are odd multiples of N, a power of two below
//                        65536; by default they are multiples of 65536
//   peer                 devices can use the memory of one another
//   visible              device memory is visible to the host; else it has no
//                        access rights while no operation uses it
//   capacity=N           operations of a stream, 1024 by default; a call that
//                        finds it full blocks
//   slow=N               each operation takes N microseconds more
//   implicit_sync        a call that makes, frees, registers or unregisters
//                        memory other than that of pools, loads or unloads a
//                        module, or makes an executable graph, returns once
//                        what the streams of its context had is over
//   lazy                 functions of CUDA are not loaded with their module: a
//                        launch of one that function_load was not called for,
//                        or its capture, is misuse, and waits like the calls of
//                        implicit_sync; so does function_load with that
//   oom_allocation=N     the N-th allocation, of any memory, fails,
//                        counted from 1
//   launch_error=N       the N-th launch returns 1
//   kernel_fault=N       the N-th kernel that runs faults with 700
//   lost_wait=N          the N-th event_synchronize finds the device lost
//   fail=NAME:N:CODE     the N-th call of that entry point, by its name in
//                        gpu_symbols.inc, returns CODE and does nothing;
//                        codes of faults, 700 and the like, end the context
//                        that is current or pushed; several times
//   comm_error=RANK:N    the N-th collective of participants of that rank does
//                        not begin, and its communicator has the error 6, as
//                        if another process were gone
//   join_slow=N          a communicator is not ready before its state was asked
//                        N times after the last participant joined
//
// While there is a file <path of this library>.hang its streams begin nothing;
// with a number in it, only the stream with that number, counted from 0.
// Once there is a file <path of this library>.lost its devices are lost: 719
// from every call, which also ends waits.
//
// A context whose kernel faulted, or whose device is lost, is dead: its pending
// operations end without effect and every call on it returns the same code.
//
// Freed handles and addresses are reused at once. Misuse is reported to stderr
// and counted; see the functions below. What a context has left when its last
// reference is released is reported too, unless it is dead.
//
// Memory of the host is registered by pages: each must be mapped, with the
// rights to read and to write, or only to read with the flag for that where the
// device has attribute 113; none may be registered already.
//
// Stricter than the drivers: there is no default stream and no pageable memory
// in copies, and HIP has no current context unless one was pushed.
#ifndef IREE4J_FAKE_GPU_H_
#define IREE4J_FAKE_GPU_H_

#include <pthread.h>
#include <stdbool.h>

#include "gpu/gpu_types.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

// The number of complaints about misuse. The latest of them, in lines, go to
// |out|, which may be NULL.
FAKE_EXPORT int fake_gpu_complaints(char* out, int size);

// Calls of an entry point, by its name in gpu_symbols.inc or in the library; of
// all with NULL.
FAKE_EXPORT int64_t fake_gpu_calls(const char* name);

// Forgets complaints and calls.
FAKE_EXPORT void fake_gpu_forget(void);

#ifdef FAKE_HIP
#define FAKE_PICK(cuda, hip) hip
#else
#define FAKE_PICK(cuda, hip) cuda
#endif

// Each entry point is a function fake_NAME here, exported as its symbol.
#define FAKE_LABEL(symbol) FAKE_LABEL_(symbol)
#define FAKE_LABEL_(symbol) #symbol
#define X(need, name, cuda, hip, arguments) \
  FAKE_EXPORT int fake_##name arguments     \
      __asm__(FAKE_LABEL(FAKE_PICK(cuda, hip)));
#include "gpu/gpu_symbols.inc"
#undef X
#define X(need, name, symbol, arguments) \
  FAKE_EXPORT int fake_##name arguments __asm__(#symbol);
#include "gpu/collective_symbols.inc"
#undef X

typedef enum fake_call_t {
#define X(need, name, cuda, hip, arguments) CALL_##name,
#include "gpu/gpu_symbols.inc"
#undef X
#define X(need, name, symbol, arguments) CALL_##name,
#include "gpu/collective_symbols.inc"
#undef X
  CALL_COUNT,
} fake_call_t;

enum {
  FAKE_CONTEXT_IS_DESTROYED = 709,
  FAKE_HOST_MEMORY_NOT_REGISTERED = 713,
  FAKE_ILLEGAL_INSTRUCTION = 715,
  FAKE_MISALIGNED_ADDRESS = 716,
  FAKE_INVALID_HANDLE = 400,
  FAKE_ILLEGAL_STATE = 401,
  FAKE_CAPTURE_UNSUPPORTED = 900,
  FAKE_CAPTURE_INVALIDATED = 901,
  FAKE_CAPTURE_MERGE = 902,
  FAKE_CAPTURE_UNMATCHED = 903,
  FAKE_CAPTURE_UNJOINED = 904,
  FAKE_CAPTURE_ISOLATION = 905,
  FAKE_CAPTURED_EVENT = 907,
  FAKE_CAPTURE_WRONG_THREAD = 908,
  FAKE_GRAPH_UPDATE_FAILURE = 910,

  FAKE_MAX_DEVICES = 8,
  FAKE_MAX_OVERRIDES = 16,
  FAKE_MAX_FAILURES = 8,
  FAKE_NO_ATTRIBUTE = -0x7FFFFFFF,
  FAKE_MAX_SHARED_BYTES = FAKE_PICK(49152, 65536),
  FAKE_MAX_OPTIN_BYTES = FAKE_PICK(166912, 65536),
};

// A call that fails.
typedef struct fake_failure_t {
  char name[40];
  uint64_t left;  // calls until then, this one included
  int code;
} fake_failure_t;

typedef struct fake_settings_t {
  int device_count;
  bool no_device, no_uuid, instances, no_files, visible, peer;
  bool implicit_sync, lazy;
  int init_error;
  int version, major, minor;
  char gfx[16];
  int attributes[FAKE_MAX_OVERRIDES][2];
  int attribute_count;
  fake_failure_t failures[FAKE_MAX_FAILURES];
  int failure_count;
  uint64_t heap_bytes, others_bytes, alignment, capacity, slow_us;
  uint64_t oom_allocation, launch_error, kernel_fault, lost_wait;
  int comm_error_rank;
  uint64_t comm_error_at, join_slow;
} fake_settings_t;

// Guards everything here, except running operations.
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern fake_settings_t fake_settings;
extern uint64_t fake_allocations, fake_launches, fake_kernels, fake_waits;

//===--------------------------------------------------------------------===//
// Calls. fake_gpu_main.c
//===--------------------------------------------------------------------===//

// Reports misuse; the lock may be held.
void fake_complain(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

// Tells what is not misuse, to stderr.
void fake_tell(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Counts a call and takes the lock. Every entry point begins with one of these
// and ends with fake_end, also on failure.
//   fake_begin_bare: needs nothing.
//   fake_begin_driver: init was called, and this call is to succeed.
//   fake_begin: also sets the current context, NULL if there is none, and
//   returns its error if it is dead.
void fake_begin_bare(fake_call_t call);
int fake_begin_driver(fake_call_t call);
int fake_begin(fake_call_t call, sgpu_context_t* out_context);
int fake_end(int code);

// The code of a call that is to fail, or 0. Holds the lock.
int fake_next_failure(fake_call_t call);

// Whether a code is that of a fault, after which the context is dead.
bool fake_stays(int code);

// Whether a stream may begin nothing now, and whether devices are lost.
bool fake_is_hung(int stream);
bool fake_is_lost(void);

// Waits a little for a change. Holds the lock.
void fake_pause(void);

//===--------------------------------------------------------------------===//
// Objects: handles that are validated without being read, last freed first
// reused. fake_gpu_objects.c. All hold the lock.
//===--------------------------------------------------------------------===//

typedef enum fake_kind_t {
  FAKE_CONTEXT,
  FAKE_STREAM,
  FAKE_EVENT,
  FAKE_MODULE,
  FAKE_FUNCTION,
  FAKE_GRAPH,
  FAKE_GRAPH_EXEC,
  FAKE_COMM,
  FAKE_POOL,
  FAKE_LINK,
  FAKE_KIND_COUNT,
} fake_kind_t;

typedef struct fake_object_t {
  bool live;
  uint64_t generation;     // differs from that of earlier objects
  sgpu_context_t context;  // of a context: itself
  struct fake_object_t* next_idle;
} fake_object_t;

void* fake_make(fake_kind_t kind, sgpu_context_t context);
void fake_drop(fake_kind_t kind, void* object);

// Whether the handle is that of a live object.
bool fake_is_live(fake_kind_t kind, const void* handle);

// 0 if the handle is that of a live object of the context, or of any with NULL;
// else complains and returns a code.
int fake_check(fake_kind_t kind, const void* handle, sgpu_context_t context);

// The next live object of a context after |previous|, or the first with NULL.
void* fake_next(fake_kind_t kind, sgpu_context_t context, const void* previous);

//===--------------------------------------------------------------------===//
// Contexts. fake_gpu_context.c
//===--------------------------------------------------------------------===//

struct sgpu_context {
  fake_object_t object;
  int device;
  int references;
  int error;  // sticky; 0 while alive
  int stop;   // not 0 ends kernels
  uint64_t peers[FAKE_MAX_DEVICES];  // generations of contexts it can use
};

// The current context of this thread. Holds the lock.
int fake_current(sgpu_context_t* out_context);
bool fake_has_contexts(void);

// The value of an attribute of a device. Holds the lock.
int fake_attribute_of(int device, int attribute, int* out_value);

// The context of a device, or NULL. Holds the lock.
sgpu_context_t fake_primary(int device);

// Makes the context dead. Holds the lock.
void fake_kill(sgpu_context_t context, int code);

// Its error, once no operation of it runs any more, so that the caller may free
// what they used; 0 while it is alive. Notices lost devices. Holds the lock.
int fake_error(sgpu_context_t context);

//===--------------------------------------------------------------------===//
// Memory. fake_gpu_memory.c. All hold the lock.
//===--------------------------------------------------------------------===//

typedef enum fake_memory_kind_t {
  FAKE_MEMORY_DEVICE,
  FAKE_MEMORY_PINNED,
  FAKE_MEMORY_REGISTERED,
  FAKE_MEMORY_MANAGED,
  FAKE_MEMORY_KIND_COUNT,
} fake_memory_kind_t;

// A range of addresses that operations can use.
typedef struct fake_range_t {
  fake_memory_kind_t kind;
  sgpu_context_t context;
  int device;
  uint64_t address, size;
  uint64_t room;  // reserved address space
  int uses;       // by enqueued operations
  int open;       // by running operations
  bool freed;     // but still used
  bool read_only;    // operations may not write it
  sgpu_pool_t pool;  // it came from, or NULL
  bool pending;      // its stream has not come to the allocation
  bool leaving;      // it goes back to the pool
} fake_range_t;

// The range that holds all of it, or NULL.
fake_range_t* fake_find(uint64_t address, uint64_t size);

// Marks a range as used by an enqueued operation.
void fake_retain(fake_range_t* range);
void fake_release(fake_range_t* range);

// Memory of a pool: an address, its allocation, its way back, its end. What was
// given back stays the pool's until it is trimmed.
int fake_take_from_pool(sgpu_pool_t pool, uint64_t size, uint64_t* out);
void fake_end_allocation(uint64_t address);
int fake_begin_free(uint64_t address);
void fake_end_free(uint64_t address);
void fake_trim_pool(sgpu_pool_t pool);

// Has all memory be of no pool; whether there was any.
bool fake_leave_pool(sgpu_pool_t pool);

// Trims the pools of a context, as what waits for the device does.
void fake_trim(sgpu_context_t context);

// Whether code of a context may use a range. fake_gpu_pool.c
bool fake_reaches(sgpu_context_t context, const fake_range_t* range);

// Gives running operations access.
void fake_open(fake_range_t* range);
void fake_close(fake_range_t* range);

// Frees what is left of a context; the numbers of what it was go to |counts|.
void fake_free_memory(sgpu_context_t context,
                      int counts[FAKE_MEMORY_KIND_COUNT]);

//===--------------------------------------------------------------------===//
// Operations and streams. fake_gpu_stream.c. All hold the lock.
//===--------------------------------------------------------------------===//

// A recording of an event.
typedef struct fake_record_t {
  int references;
  bool done;
} fake_record_t;

struct fake_launch_t;
struct fake_nodes_t;
struct fake_part_t;

typedef enum fake_op_kind_t {
  OP_FILL,
  OP_COPY,
  OP_LAUNCH,
  OP_RECORD,
  OP_WAIT,
  OP_GRAPH,
  OP_COLLECTIVE,
  OP_ALLOCATE,
  OP_FREE,
} fake_op_kind_t;

typedef struct fake_op_t {
  struct fake_op_t* next;
  uint64_t number;  // of all that were ever enqueued
  fake_op_kind_t kind;
  uint64_t target, source, size;  // fills and copies, in bytes
  uint32_t value, element;        // fills: pattern and its size
  struct fake_launch_t* launch;
  fake_record_t* record;
  struct fake_nodes_t* nodes;
  struct fake_part_t* part;
  fake_range_t** uses;
  size_t use_count, use_room;
} fake_op_t;

// Nodes of a graph without which another one must not begin.
typedef struct fake_frontier_t {
  uint32_t* nodes;
  uint32_t count;
} fake_frontier_t;

struct sgpu_pool {
  fake_object_t object;
  uint64_t unused;  // bytes that were given back
  unsigned users;   // other devices
};

struct fake_capture_t;

// What a stream is behind its handle; lives until its operations have ended.
typedef struct fake_queue_t {
  struct fake_queue_t* next;
  sgpu_context_t context;
  pthread_t thread;
  int number;      // of the streams of this library
  fake_op_t* head;  // stays until complete
  fake_op_t* tail;
  uint64_t count;
  bool closed;    // ends once empty
  bool stopping;  // ends now
  bool ended;
  struct fake_capture_t* capture;
  fake_frontier_t frontier;
} fake_queue_t;

struct sgpu_stream {
  fake_object_t object;
  fake_queue_t* queue;
};

struct sgpu_event {
  fake_object_t object;
  fake_record_t* record;
  struct fake_capture_t* capture;  // of the latest recording, or NULL
  fake_frontier_t frontier;
};

// Enqueues a copy of the operation, or adds it to the graph that the stream
// captures. Takes over its references. Blocks while the stream is full.
int fake_submit(sgpu_stream_t stream, fake_op_t op);

// Frees what an operation refers to.
void fake_free_op(fake_op_t* op);

// Adds a use, if there is such memory.
void fake_use(fake_op_t* op, uint64_t address, uint64_t size);

// Runs an operation; 0 or what kills the context. The lock is released
// meanwhile.
int fake_run(sgpu_context_t context, fake_op_t* op);

bool fake_has_work(sgpu_context_t context);

// Waits until what the streams of a context have now is over, or the context is
// dead: always, or with implicit_sync, at the end of a call. Others change
// everything meanwhile.
void fake_await_all(sgpu_context_t context);
void fake_await_work(sgpu_context_t context);

// Whether an enqueued operation runs code of the program.
struct fake_program_t;
bool fake_is_pending(const struct fake_program_t* program);

// Lets all streams leave a capture.
void fake_leave_queues(struct fake_capture_t* capture);

// Ends the streams of a context, and tells the number of operations that were
// pending.
uint64_t fake_stop_queues(sgpu_context_t context);

void fake_release_record(fake_record_t* record);

//===--------------------------------------------------------------------===//
// Modules and launches. fake_gpu_module.c, fake_gpu_launch.c
//===--------------------------------------------------------------------===//

// What a module holds, which may be used after the module is unloaded.
struct fake_program_t;

struct sgpu_module {
  fake_object_t object;
  struct fake_program_t* program;
};

struct ptx_function_t;

struct sgpu_function {
  fake_object_t object;
  sgpu_module_t module;
  struct fake_program_t* program;
  const struct ptx_function_t* kernel;  // NULL: cannot run
  int max_dynamic_bytes;
  bool loaded;
  char name[200];
};

struct fake_program_t* fake_retain_program(struct fake_program_t* program);
void fake_release_program(struct fake_program_t* program);
bool fake_is_unloaded(const struct fake_program_t* program);
void fake_free_modules(sgpu_context_t context);

int fake_run_launch(sgpu_context_t context, struct fake_launch_t* launch);
void fake_release_launch(struct fake_launch_t* launch);
void fake_use_launch(fake_op_t* op, const struct fake_launch_t* launch);
const struct fake_program_t* fake_program_of(
    const struct fake_launch_t* launch);

struct sgpu_link {
  fake_object_t object;
  char* text;
  void* image;
};

void fake_free_link(sgpu_link_t link);

// What is compiled of PTX.
void* fake_make_image(const char* text, size_t* out_size);

//===--------------------------------------------------------------------===//
// Captures and graphs. fake_gpu_graph.c. All hold the lock.
//===--------------------------------------------------------------------===//

struct sgpu_graph {
  fake_object_t object;
  struct fake_nodes_t* nodes;
};

struct sgpu_graph_exec {
  fake_object_t object;
  struct fake_nodes_t* nodes;
};

// Adds an operation to the capture of a stream; takes it over.
int fake_capture_op(fake_queue_t* queue, fake_op_t op);
void fake_capture_record(sgpu_event_t event, fake_queue_t* queue);
int fake_capture_wait(fake_queue_t* queue, sgpu_event_t event);

// 900, and an invalid capture, if this thread captures; for calls that it then
// must not make.
int fake_refuse_capture(void);

// Ends the part of a stream, or of an event, in a capture.
void fake_leave_capture(fake_queue_t* queue);
void fake_leave_if(fake_queue_t* queue, struct fake_capture_t* capture);
void fake_forget_capture(sgpu_event_t event);

int fake_run_nodes(sgpu_context_t context, struct fake_nodes_t* nodes);
void fake_release_nodes(struct fake_nodes_t* nodes);
void fake_use_nodes(fake_op_t* op, const struct fake_nodes_t* nodes);
bool fake_nodes_use(const struct fake_nodes_t* nodes,
                    const struct fake_program_t* program);

//===--------------------------------------------------------------------===//
// Collectives. fake_gpu_collective.c. All hold the lock.
//===--------------------------------------------------------------------===//

struct fake_clique_t;

struct sgpu_comm {
  fake_object_t object;
  struct fake_clique_t* clique;
  int rank;
  int code;        // its error, or 0
  uint64_t left;   // questions for its state until it is ready
  uint64_t given;  // collectives
  bool finalized;
  bool waited;  // its state was asked since the last call that may go on
};

// A participant's part in a collective that its stream has come to: whether it
// may begin or is over. A part whose communicator is aborted is over.
bool fake_part_can_begin(struct fake_part_t* part);
int fake_run_part(struct fake_part_t* part);
void fake_use_part(fake_op_t* op, const struct fake_part_t* part);
void fake_release_part(struct fake_part_t* part);

#endif  // IREE4J_FAKE_GPU_H_
