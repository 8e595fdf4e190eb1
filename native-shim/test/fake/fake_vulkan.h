// A Vulkan library for tests: enough of Vulkan on the CPU to open devices,
// allocate memory, record, submit to several concurrent queues, and wait; with
// injected failures. It is opened in place of libvulkan.so.1, without loader
// and driver.
//
// Settings are words "name" or "name=value", separated by blanks or lines, from
// the environment variable FAKE_VULKAN and from the file <path of this
// library>.conf, read when an instance is created. Each copy of the library has
// its own settings and state.
//
//   devices=TYPE+TYPE    discrete (default), integrated, cpu;
//                        "none" for no device
//   no_driver            there is a library but no driver
//   no_access            the driver cannot access its devices
//   api=1.2              version of devices, 1.3 by default
//   no_symbol=NAME       that entry point is missing
//   no_timeline, no_sync2, no_address, no_export    a feature is missing
//   unified              one memory that host and device see; else two heaps,
//                        the device's not visible to the host
//   one_queue            one family with one queue; else two queues that
//                        compute and one of another family that only transfers
//   no_layer             no validation layer
//   push                 VK_KHR_push_descriptor
//   update_after_bind    descriptors of recorded commands can change
//   heap_mib=N           size of each heap, 256 by default
//   oom_allocation=N     the N-th allocation of memory fails, counted from 1
//   lost_submit=N        the N-th submission finds the device lost
//   lost_execution=N     the device is lost while it runs the N-th submission
//   lost_wait=N          the N-th wait finds the device lost
//
// The device is also lost once there is a file <path of this library>.lost.
// While there is a file <path of this library>.hang its queues start nothing.
//
// Freed handles and mapped addresses are reused at once. Commands that use
// objects freed since recording are reported and do nothing.
//
// Misuse is reported like validation messages: through a debug messenger, as
// layer VK_LAYER_KHRONOS_validation, and to stderr without one.
#ifndef IREE4J_FAKE_VULKAN_H_
#define IREE4J_FAKE_VULKAN_H_

#include <pthread.h>
#include <stdbool.h>

#include "vulkan/vulkan_types.h"

enum {
  FAKE_OK = 0,
  FAKE_TIMEOUT = 2,
  FAKE_OUT_OF_HOST_MEMORY = -1,
  FAKE_OUT_OF_DEVICE_MEMORY = -2,
  FAKE_INITIALIZATION_FAILED = -3,
  FAKE_DEVICE_LOST = -4,
  FAKE_INCOMPATIBLE_DRIVER = -9,
  FAKE_INVALID_EXTERNAL_HANDLE = -1000072003,
  FAKE_MAX_DEVICES = 4,
  FAKE_MAX_QUEUES = 3,
  FAKE_MAX_BINDINGS = 64,
  FAKE_MAX_SETS = 8,
  FAKE_PUSH_BYTES = 256,
};

typedef struct fake_settings_t {
  int device_count;
  int32_t types[FAKE_MAX_DEVICES];
  uint32_t api;
  char no_symbol[64];
  bool no_driver, no_access, no_layer;
  bool no_timeline, no_sync2, no_address, no_export;
  bool unified, one_queue, push, update_after_bind;
  uint64_t heap_bytes;
  uint64_t oom_allocation, lost_submit, lost_execution, lost_wait;
} fake_settings_t;

// Kinds of objects whose handles are reused.
typedef enum fake_kind_t {
  FAKE_KIND_INSTANCE,
  FAKE_KIND_DEVICE,
  FAKE_KIND_SEMAPHORE,
  FAKE_KIND_MEMORY,
  FAKE_KIND_BUFFER,
  FAKE_KIND_SHADER_MODULE,
  FAKE_KIND_SET_LAYOUT,
  FAKE_KIND_PIPELINE_LAYOUT,
  FAKE_KIND_PIPELINE,
  FAKE_KIND_PIPELINE_CACHE,
  FAKE_KIND_DESCRIPTOR_POOL,
  FAKE_KIND_SET,
  FAKE_KIND_COMMANDS,
  FAKE_KIND_COUNT,
} fake_kind_t;

// A payload that several semaphores can share.
typedef struct fake_payload_t {
  uint64_t value;
  int references;
} fake_payload_t;

typedef struct fake_semaphore_t {
  fake_payload_t* payload;
  int uses;  // by pending submissions
} fake_semaphore_t;

typedef struct fake_memory_t {
  uint8_t* bytes;
  uint64_t size;
  uint64_t room;   // reserved address space of the mapping
  uint32_t type;
  int fd;          // of memory that can be exported, or -1
  bool borrowed;   // of the host
} fake_memory_t;

// Generations distinguish an object from earlier ones with the same handle.
typedef struct fake_buffer_t {
  uint64_t generation;
  uint64_t size;
  fake_memory_t* memory;
} fake_buffer_t;

typedef struct fake_descriptor_t {
  uint32_t binding;
  uint32_t element;
  fake_buffer_t* buffer;
  uint64_t generation;  // of the buffer
  uint64_t offset;
  uint64_t range;
} fake_descriptor_t;

typedef struct fake_set_t {
  uint64_t generation;
  uint32_t count;
  fake_descriptor_t descriptors[FAKE_MAX_BINDINGS];
  bool late;      // may change once recorded
  bool recorded;
  struct fake_set_t* next;
} fake_set_t;

typedef struct fake_pool_t {
  fake_set_t* sets;
} fake_pool_t;

typedef struct fake_set_layout_t {
  bool late;
} fake_set_layout_t;

// A compute pipeline, with the data to run it.
typedef struct fake_pipeline_t {
  uint64_t generation;
  uint32_t* code;
  size_t word_count;
  char entry_point[64];
  uint32_t constants[64];
  uint32_t constant_ids[64];
  uint32_t constant_count;
} fake_pipeline_t;

typedef enum fake_op_kind_t {
  OP_FILL,
  OP_COPY,
  OP_UPDATE,
  OP_DISPATCH,
} fake_op_kind_t;

typedef struct fake_op_t {
  fake_op_kind_t kind;
  fake_buffer_t* source;  // or of indirect counts
  fake_buffer_t* target;
  uint64_t source_offset, target_offset, size;
  uint32_t pattern;
  uint8_t* data;
  const fake_pipeline_t* pipeline;
  fake_set_t* sets[FAKE_MAX_SETS];
  uint64_t source_generation, target_generation, pipeline_generation;
  uint64_t set_generations[FAKE_MAX_SETS];
  fake_set_t* pushed;  // owned
  uint32_t pushed_set;
  uint8_t push[FAKE_PUSH_BYTES];
  uint32_t groups[3];
} fake_op_t;

typedef struct svk_command_buffer_s {
  struct svk_device_s* device;
  fake_op_t* ops;
  size_t count, room;
  bool recording, recorded;
  int pending;
  fake_op_t state;  // the state of the next dispatch
} fake_commands_t;

typedef struct fake_submission_t {
  struct fake_submission_t* next;
  uint64_t number;
  uint32_t wait_count, signal_count, command_count;
  fake_semaphore_t** semaphores;  // waits, then signals
  uint64_t* values;
  fake_commands_t** commands;
} fake_submission_t;

typedef struct svk_queue_s {
  struct svk_device_s* device;
  uint32_t family;
  pthread_t thread;
  bool running;
  fake_submission_t* head;  // stays until complete
  fake_submission_t* tail;
} fake_queue_t;

typedef struct svk_physical_device_s {
  struct svk_instance_s* instance;
  int index;
  int32_t type;
} fake_physical_t;

typedef struct svk_device_s {
  fake_physical_t* physical;
  bool lost;
  bool stopping;
  uint64_t used[2];  // bytes of each heap
  fake_queue_t queues[FAKE_MAX_QUEUES];
} fake_device_t;

typedef struct svk_instance_s {
  fake_physical_t physicals[FAKE_MAX_DEVICES];
} fake_instance_t;

// Guards everything below, except running commands.
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern fake_settings_t fake_settings;
extern uint64_t fake_allocations, fake_submissions, fake_waits;
extern char fake_lost_file[4096], fake_hang_file[4096];

// Reports misuse; the lock may be held.
void fake_complain(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

// A zeroed object: the last dropped one of its kind, if any.
void* fake_make(fake_kind_t kind, size_t size);
void fake_drop(fake_kind_t kind, void* object, size_t size);

// A unique number.
uint64_t fake_generation(void);

// Maps memory, or a file, where something was last unmapped; NULL on failure.
// |room| is the reserved address space.
uint8_t* fake_map(uint64_t size, int fd, uint64_t* out_room);
void fake_unmap(uint8_t* address, uint64_t room);

// Whether the device is lost by now. Holds the lock.
bool fake_is_lost(fake_device_t* device);
void fake_lose(fake_device_t* device);

// Waits until the queues of a lost device have released their objects, which
// the caller may then free, and returns the result to report. Holds the lock;
// not for threads of queues.
svk_result_t fake_tell_loss(fake_device_t* device);

// Waits a little for a change, at most until |deadline_ns| of the monotonic
// clock unless that is negative. Holds the lock.
void fake_pause(int64_t deadline_ns);
int64_t fake_now(void);

// Starts, and ends, the threads of a device's queues.
void fake_queues_start(fake_device_t* device);
void fake_queues_stop(fake_device_t* device);

// Whether a pending submission uses the buffer, or its memory.
bool fake_in_use(fake_device_t* device, const fake_buffer_t* buffer,
                 const fake_memory_t* memory);

// Runs one dispatch of |groups| workgroups. fake_spirv.c.
void fake_dispatch(const fake_op_t* op, const uint32_t groups[3]);

// The entry points of each file: the address or NULL.
svk_function_t fake_device_function(const char* name);
svk_function_t fake_queue_function(const char* name);
svk_function_t fake_object_function(const char* name);
svk_function_t fake_command_function(const char* name);

#define FAKE_FUNCTION(symbol) \
  if (strcmp(name, #symbol) == 0) return (svk_function_t)symbol

#endif  // IREE4J_FAKE_VULKAN_H_
