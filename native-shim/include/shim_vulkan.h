// Vulkan, as the runtime uses it: devices, memory, timelines, pipelines,
// recorded commands, submissions. The rules of shim.h apply.
//
// The library is opened at run time, never linked. Handles are trusted, counts
// are not: words from Java are bounds-checked, and the objects they name must
// be alive. Queues are locked for the call. The caller ensures that memory,
// pipelines and timelines outlive the submitted work that uses them, and
// releases all objects of a device before it.
//
// A lost device stays lost: each call that needs it fails at once with ABORTED
// and "device '...' is lost". Only releasing still works.
#ifndef IREE4J_SHIM_VULKAN_H_
#define IREE4J_SHIM_VULKAN_H_

#include "shim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shim_vulkan_api_t shim_vulkan_api_t;
typedef struct shim_vulkan_device_t shim_vulkan_device_t;
typedef struct shim_vulkan_memory_t shim_vulkan_memory_t;
typedef struct shim_vulkan_timeline_t shim_vulkan_timeline_t;
typedef struct shim_vulkan_pipeline_cache_t shim_vulkan_pipeline_cache_t;
typedef struct shim_vulkan_pipeline_t shim_vulkan_pipeline_t;
typedef struct shim_vulkan_commands_t shim_vulkan_commands_t;

// Features of devices. X(bit, NAME); mirrored by VulkanFeature.java, a test
// compares the lists.
#define SHIM_VULKAN_FEATURE_MAP(X)              \
  X(0, TIMELINE_SEMAPHORE)                      \
  X(1, SYNCHRONIZATION_2)                       \
  X(2, SCALAR_BLOCK_LAYOUT)                     \
  X(3, BUFFER_DEVICE_ADDRESS)                   \
  X(4, SUBGROUP_SIZE_CONTROL)                   \
  X(5, COMPUTE_FULL_SUBGROUPS)                  \
  X(6, STORAGE_BUFFER_8BIT)                     \
  X(7, UNIFORM_AND_STORAGE_BUFFER_8BIT)         \
  X(8, PUSH_CONSTANT_8)                         \
  X(9, STORAGE_BUFFER_16BIT)                    \
  X(10, UNIFORM_AND_STORAGE_BUFFER_16BIT)       \
  X(11, PUSH_CONSTANT_16)                       \
  X(12, SHADER_FLOAT16)                         \
  X(13, SHADER_FLOAT64)                         \
  X(14, SHADER_INT8)                            \
  X(15, SHADER_INT16)                           \
  X(16, SHADER_INT64)                           \
  X(17, SHADER_BUFFER_INT64_ATOMICS)            \
  X(18, SHADER_SHARED_INT64_ATOMICS)            \
  X(19, INTEGER_DOT_PRODUCT)                    \
  X(20, VULKAN_MEMORY_MODEL)                    \
  X(21, VULKAN_MEMORY_MODEL_DEVICE_SCOPE)       \
  X(22, VARIABLE_POINTERS_STORAGE_BUFFER)       \
  X(23, VARIABLE_POINTERS)                      \
  X(24, COOPERATIVE_MATRIX)                     \
  X(25, STORAGE_BUFFER_UPDATE_AFTER_BIND)       \
  X(26, UNIFORM_BUFFER_UPDATE_AFTER_BIND)       \
  X(27, PUSH_DESCRIPTOR)                        \
  X(28, EXTERNAL_MEMORY_FD)                     \
  X(29, EXTERNAL_MEMORY_HOST)                   \
  X(30, EXTERNAL_SEMAPHORE_FD)

enum {
#define SHIM_VULKAN_FEATURE_ENUM(bit, name) \
  SHIM_VULKAN_FEATURE_##name = bit,
  SHIM_VULKAN_FEATURE_MAP(SHIM_VULKAN_FEATURE_ENUM)
#undef SHIM_VULKAN_FEATURE_ENUM
  SHIM_VULKAN_FEATURE_COUNT
};

// The name of a feature, NULL for any other number. Static storage.
const char* shim_vulkan_feature_name(int32_t bit);

// Kinds of objects whose live instances are counted. X(index, NAME); mirrored
// by VulkanApi.java.
#define SHIM_VULKAN_KIND_MAP(X) \
  X(0, INSTANCES)               \
  X(1, DEVICES)                 \
  X(2, MEMORY)                  \
  X(3, BUFFERS)                 \
  X(4, SEMAPHORES)              \
  X(5, SHADER_MODULES)          \
  X(6, SET_LAYOUTS)             \
  X(7, PIPELINE_LAYOUTS)        \
  X(8, PIPELINES)               \
  X(9, PIPELINE_CACHES)         \
  X(10, DESCRIPTOR_POOLS)       \
  X(11, COMMAND_POOLS)

enum {
#define SHIM_VULKAN_KIND_ENUM(index, name) SHIM_VULKAN_KIND_##name = index,
  SHIM_VULKAN_KIND_MAP(SHIM_VULKAN_KIND_ENUM)
#undef SHIM_VULKAN_KIND_ENUM
  SHIM_VULKAN_KIND_COUNT
};

// The name of a kind, NULL for any other number. Static storage.
const char* shim_vulkan_kind_name(int32_t kind);

// Writes how many objects of each kind are live in this process.
void shim_vulkan_live_objects(int64_t out_counts[SHIM_VULKAN_KIND_COUNT]);

//===--------------------------------------------------------------------===//
// The library
//===--------------------------------------------------------------------===//

enum {
  SHIM_VULKAN_VALIDATION = 1,   // requested; active
  SHIM_VULKAN_DEBUG_UTILS = 2,  // messages are collected
  SHIM_VULKAN_PORTABILITY = 4,  // non-conformant devices are listed
};

// Opens the Vulkan library |name| (NULL is "libvulkan.so.1"), creates an
// instance and enumerates its devices. Validation is active when requested and
// installed, see shim_vulkan_flags. UNAVAILABLE when there is no such library,
// naming it, when it lacks an entry point, naming that, or when it refuses an
// instance, as without a driver. Having no devices is not a failure.
// RESOURCE_EXHAUSTED also when memory ran out while querying what is installed.
shim_status_t shim_vulkan_open(const char* name, uint32_t wanted_flags,
                               shim_vulkan_api_t** out_api,
                               shim_error_t* error);

// Release its devices before.
void shim_vulkan_close(shim_vulkan_api_t* api);

// The active flags, SHIM_VULKAN_* or-ed.
uint32_t shim_vulkan_flags(const shim_vulkan_api_t* api);

// The version of the library, packed as in Vulkan.
uint32_t shim_vulkan_version(const shim_vulkan_api_t* api);

// The number of validation messages since the library was opened.
uint64_t shim_vulkan_message_count(const shim_vulkan_api_t* api);

// Copies the text of message |number|, counted from 0, truncated to |capacity|
// bytes, and returns its length in |out|; 0 when it is too old or being
// written.
size_t shim_vulkan_message(const shim_vulkan_api_t* api, uint64_t number,
                           char* out, size_t capacity);

//===--------------------------------------------------------------------===//
// Devices
//===--------------------------------------------------------------------===//

enum {
  SHIM_VULKAN_MAX_HEAPS = 16,
  SHIM_VULKAN_MAX_TYPES = 32,
  SHIM_VULKAN_MAX_FAMILIES = 16,
  SHIM_VULKAN_MAX_QUEUES = 64,
};

// Properties of a device that is not open. VulkanDeviceProperties.java reads it
// in this order: words, then texts.
typedef struct shim_vulkan_device_info_t {
  uint64_t type;  // Vulkan's number: 1 integrated, 2 discrete, 4 CPU
  uint64_t vendor_id;
  uint64_t device_id;
  uint64_t api_version;
  uint64_t driver_version;
  uint8_t device_uuid[16];
  uint8_t pipeline_cache_uuid[16];
  uint64_t features;  // bits SHIM_VULKAN_FEATURE_*
  uint64_t max_storage_buffer_range;
  uint64_t min_storage_buffer_offset_alignment;
  uint64_t non_coherent_atom_size;
  uint64_t max_push_constants_size;
  uint64_t max_bound_descriptor_sets;
  uint64_t max_per_stage_descriptor_storage_buffers;
  uint64_t max_compute_work_group_count[3];
  uint64_t max_compute_work_group_size[3];
  uint64_t max_compute_work_group_invocations;
  uint64_t max_compute_shared_memory_size;
  uint64_t max_memory_allocation_count;
  uint64_t max_memory_allocation_size;
  uint64_t max_timeline_semaphore_value_difference;
  uint64_t subgroup_size;
  uint64_t min_subgroup_size;
  uint64_t max_subgroup_size;
  uint64_t max_push_descriptors;
  uint64_t timestamp_period_picoseconds;
  uint64_t min_imported_host_pointer_alignment;  // 0: import not supported
  uint64_t heap_count;
  uint64_t heaps[SHIM_VULKAN_MAX_HEAPS][2];  // size, flags
  uint64_t type_count;
  uint64_t types[SHIM_VULKAN_MAX_TYPES][2];  // property flags, heap
  uint64_t family_count;
  uint64_t families[SHIM_VULKAN_MAX_FAMILIES][2];  // flags, number of queues
  char name[256];
  char driver_name[256];
  char driver_info[256];
} shim_vulkan_device_info_t;

_Static_assert(offsetof(shim_vulkan_device_info_t, features) == 9 * 8,
               "shared with Java");
_Static_assert(offsetof(shim_vulkan_device_info_t, heap_count) == 33 * 8,
               "shared with Java");
_Static_assert(sizeof(shim_vulkan_device_info_t) == 164 * 8 + 3 * 256,
               "shared with Java");

uint32_t shim_vulkan_device_count(const shim_vulkan_api_t* api);

// OUT_OF_RANGE when there is no such device; INCOMPATIBLE when |size| is not
// that of the struct.
shim_status_t shim_vulkan_device_query(const shim_vulkan_api_t* api,
                                       uint32_t index, void* out_info,
                                       size_t size, shim_error_t* error);

// Opens a device with one queue per element of |families|: the first element
// that names a family is its first queue. Enables its features that
// |wanted_features| names. INCOMPATIBLE when it lacks a required feature,
// naming it; OUT_OF_RANGE for families and queues that it does not have.
shim_status_t shim_vulkan_device_open(shim_vulkan_api_t* api, uint32_t index,
                                      const uint32_t* families,
                                      uint32_t queue_count,
                                      uint64_t wanted_features,
                                      shim_vulkan_device_t** out_device,
                                      shim_error_t* error);

// May block: waits until the device is idle, unless it is lost. Release all its
// objects before.
void shim_vulkan_device_release(shim_vulkan_device_t* device);

// The enabled features.
uint64_t shim_vulkan_device_features(const shim_vulkan_device_t* device);

// Whether the device was found lost.
int shim_vulkan_device_is_lost(const shim_vulkan_device_t* device);

// Writes how many objects of each kind the device has.
void shim_vulkan_device_live_objects(
    const shim_vulkan_device_t* device,
    int64_t out_counts[SHIM_VULKAN_KIND_COUNT]);

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

enum { SHIM_VULKAN_MEMORY_EXPORTABLE = 1 };

// One allocation with one buffer over all of it, permanently mapped when its
// type is host-visible and coherent.
typedef struct shim_vulkan_memory_info_t {
  uint64_t buffer;          // for the words of recordings
  uint64_t device_address;  // 0 without that feature
  uint64_t host;            // address of the mapping or 0
  uint64_t size;            // of the buffer, as requested
  uint64_t type;            // index of the memory type
} shim_vulkan_memory_info_t;

_Static_assert(sizeof(shim_vulkan_memory_info_t) == 40, "shared with Java");

// RESOURCE_EXHAUSTED when out of such memory; INVALID_ARGUMENT for a type that
// does not support buffers; UNIMPLEMENTED for an export that the device does
// not support.
shim_status_t shim_vulkan_memory_create(shim_vulkan_device_t* device,
                                        uint64_t size, uint32_t type,
                                        uint32_t flags,
                                        shim_vulkan_memory_t** out_memory,
                                        shim_error_t* error);

// Imports host memory for use in place. Address and size are multiples of
// min_imported_host_pointer_alignment; the memory must outlive the result.
// UNIMPLEMENTED without that feature.
shim_status_t shim_vulkan_memory_import_host(shim_vulkan_device_t* device,
                                             void* address, uint64_t size,
                                             shim_vulkan_memory_t** out_memory,
                                             shim_error_t* error);

// Imports memory exported by shim_vulkan_memory_export, here or in another
// process, with its original size and type. The driver owns the descriptor on
// success, the caller on failure.
shim_status_t shim_vulkan_memory_import_fd(shim_vulkan_device_t* device,
                                           int32_t fd, uint64_t size,
                                           uint32_t type,
                                           shim_vulkan_memory_t** out_memory,
                                           shim_error_t* error);

void shim_vulkan_memory_query(const shim_vulkan_memory_t* memory,
                              shim_vulkan_memory_info_t* out_info);

// A descriptor of the memory, owned by the caller. FAILED_PRECONDITION unless
// it was created exportable.
shim_status_t shim_vulkan_memory_export(shim_vulkan_memory_t* memory,
                                        int32_t* out_fd, shim_error_t* error);

void shim_vulkan_memory_release(shim_vulkan_memory_t* memory);

//===--------------------------------------------------------------------===//
// Timelines
//===--------------------------------------------------------------------===//

enum { SHIM_VULKAN_TIMELINE_EXPORTABLE = 1 };

// UNIMPLEMENTED for an export that the device does not support, naming the
// extension.
shim_status_t shim_vulkan_timeline_create(shim_vulkan_device_t* device,
                                          uint64_t initial, uint32_t flags,
                                          shim_vulkan_timeline_t** out_timeline,
                                          shim_error_t* error);

void shim_vulkan_timeline_release(shim_vulkan_timeline_t* timeline);

shim_status_t shim_vulkan_timeline_value(shim_vulkan_timeline_t* timeline,
                                         uint64_t* out_value,
                                         shim_error_t* error);

// Signals a value from the host, greater than the current one and than any
// signal submitted before.
shim_status_t shim_vulkan_timeline_signal(shim_vulkan_timeline_t* timeline,
                                          uint64_t value, shim_error_t* error);

// A descriptor of the timeline, owned by the caller.
shim_status_t shim_vulkan_timeline_export(shim_vulkan_timeline_t* timeline,
                                          int32_t* out_fd, shim_error_t* error);

// Replaces the timeline's payload with that of |fd|. The driver owns the
// descriptor on success, the caller on failure.
shim_status_t shim_vulkan_timeline_import(shim_vulkan_timeline_t* timeline,
                                          int32_t fd, shim_error_t* error);

// May block. Waits until one of |count| timelines reaches its value. |words|
// are |count| timelines, then |count| values. DEADLINE_EXCEEDED after
// |timeout_ns| nanoseconds, without a description; a negative timeout is
// infinite.
shim_status_t shim_vulkan_wait_any(shim_vulkan_device_t* device,
                                   const uint64_t* words, uint32_t count,
                                   int64_t timeout_ns, shim_error_t* error);

//===--------------------------------------------------------------------===//
// Pipelines
//===--------------------------------------------------------------------===//

// |data| is the result of shim_vulkan_pipeline_cache_data, or empty.
// INCOMPATIBLE when its header does not match this device and driver.
shim_status_t shim_vulkan_pipeline_cache_create(
    shim_vulkan_device_t* device, const void* data, size_t size,
    shim_vulkan_pipeline_cache_t** out_cache, shim_error_t* error);

void shim_vulkan_pipeline_cache_release(shim_vulkan_pipeline_cache_t* cache);

// Copies up to |capacity| bytes and returns the total size.
shim_status_t shim_vulkan_pipeline_cache_data(
    shim_vulkan_pipeline_cache_t* cache, void* out, size_t capacity,
    size_t* out_size, shim_error_t* error);

enum {
  SHIM_VULKAN_MAX_SETS = 32,
  SHIM_VULKAN_MAX_DESCRIPTORS = 1024,
  SHIM_VULKAN_MAX_SPECIALIZATION = 1024,
};

typedef struct shim_vulkan_pipeline_params_t {
  const uint32_t* code;  // SPIR-V; only its header is checked
  size_t code_size;      // bytes
  const char* entry_point;
  // Words: number of sets; per set the number of its bindings; then per binding
  // its number, type (6 uniform buffer, 7 storage buffer), and count.
  const uint64_t* layout;
  size_t layout_words;
  uint32_t push_constant_bytes;
  uint32_t push_descriptors;       // whether its only set is pushed
  const uint32_t* specialization;  // element i is constant i
  uint32_t specialization_count;
  uint32_t subgroup_size;                // 0: any
  shim_vulkan_pipeline_cache_t* cache;  // or NULL
} shim_vulkan_pipeline_params_t;

_Static_assert(offsetof(shim_vulkan_pipeline_params_t, layout_words) == 32,
               "shared with Java");
_Static_assert(offsetof(shim_vulkan_pipeline_params_t, specialization) == 48,
               "shared with Java");
_Static_assert(offsetof(shim_vulkan_pipeline_params_t, cache) == 64,
               "shared with Java");

// INVALID_ARGUMENT for parameters that violate the rules above or that the
// driver refuses; UNIMPLEMENTED for push descriptors or a subgroup size that
// the device does not support.
shim_status_t shim_vulkan_pipeline_create(
    shim_vulkan_device_t* device, const shim_vulkan_pipeline_params_t* params,
    shim_vulkan_pipeline_t** out_pipeline, shim_error_t* error);

void shim_vulkan_pipeline_release(shim_vulkan_pipeline_t* pipeline);

//===--------------------------------------------------------------------===//
// Recorded commands
//===--------------------------------------------------------------------===//

// Words of a recording: operations with their operands. Mirrored by
// VulkanWords.java.
enum {
  SHIM_VULKAN_OP_BARRIER = 1,  // stage, access, of the source then the target
  SHIM_VULKAN_OP_FILL = 2,     // buffer offset size pattern
  SHIM_VULKAN_OP_COPY = 3,     // source offset, target offset, size
  // pipeline mode binding_count (buffer offset range)* push_offset push_bytes
  // (8 bytes per word)* x y z
  SHIM_VULKAN_OP_DISPATCH = 4,
  // as above with buffer offset in place of x y z
  SHIM_VULKAN_OP_DISPATCH_INDIRECT = 5,
  SHIM_VULKAN_OP_UPDATE = 6,  // buffer offset bytes (8 bytes per word)*
};

enum {
  SHIM_VULKAN_MODE_PUSH = 0,  // descriptors are recorded
  SHIM_VULKAN_MODE_SETS = 1,  // descriptors can be changed between submissions
  SHIM_VULKAN_MODE_NONE = 2,  // no descriptors
};

// A command buffer for queues of one family. Only one thread at a time may
// record, bind, submit or release it, and none may record, bind or release it
// while submitted work uses it. It can be submitted again before earlier
// submissions have completed.
shim_status_t shim_vulkan_commands_create(
    shim_vulkan_device_t* device, uint32_t family,
    shim_vulkan_commands_t** out_commands, shim_error_t* error);

void shim_vulkan_commands_release(shim_vulkan_commands_t* commands);

// Replaces the recording. INVALID_ARGUMENT or OUT_OF_RANGE for malformed words,
// with the number of the operation; RESOURCE_EXHAUSTED without memory for them:
// the previous recording and bindings stay. When the driver fails later, during
// recording, nothing is recorded.
shim_status_t shim_vulkan_commands_record(shim_vulkan_commands_t* commands,
                                          const uint64_t* words, size_t count,
                                          shim_error_t* error);

// Changes the descriptors of a dispatch recorded in mode SETS, the |ordinal|-th
// of all dispatches. |words| are (buffer offset range)*, as many as were
// recorded. Takes effect with the next submission. If the device cannot change
// descriptors of recorded commands, that submission records them again; if it
// fails, binding and submitting can be retried.
shim_status_t shim_vulkan_commands_bind(shim_vulkan_commands_t* commands,
                                        uint32_t ordinal,
                                        const uint64_t* words, size_t count,
                                        shim_error_t* error);

// Submits to a queue, in one driver call. Words, for each of one or more
// submissions: wait_count signal_count command_count, (timeline value)* to wait
// for, (timeline value)* to signal, commands*.
shim_status_t shim_vulkan_submit(shim_vulkan_device_t* device, uint32_t queue,
                                 const uint64_t* words, size_t count,
                                 shim_error_t* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // IREE4J_SHIM_VULKAN_H_
