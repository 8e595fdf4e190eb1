// Public C interface of the shim: the only native code of the runtime.
// No JNI types appear here, so everything is testable without a JVM. General
// rules:
//
// Threads. Every function may be called from any thread, concurrently with any
// other, unless its comment says otherwise. There is no per-thread state:
// callers may be virtual threads that change carriers between calls. A function
// that can block says "May block".
//
// Errors. A function that can fail returns a status and, when |error| is not
// NULL, describes the failure in that struct, which the caller owns. On failure
// every |out_| argument is NULL or 0 and nothing has to be released. Only a
// failing call writes the struct. A call that lacks memory or descriptors fails
// with RESOURCE_EXHAUSTED, changes nothing unless its comment says otherwise,
// and can be retried.
//
// Ownership. |create| returns an object that the caller ends with one
// |release|; release(NULL) does nothing. Arguments are borrowed for the call.
// The result of a query is valid as long as its owner.
#ifndef IREE4J_SHIM_H_
#define IREE4J_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#include "shim_cpu_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of this interface; NativeLibrary.java compares it with its own and
// refuses a mismatch. Incremented with every change of a function or layout
// that Java uses.
#define SHIM_ABI_VERSION 16u

uint32_t shim_abi_version(void);

//===--------------------------------------------------------------------===//
// Status
//===--------------------------------------------------------------------===//

// Canonical codes. X(number, NAME). Mirrored by StatusCode.java; a test
// compares the two lists. Numbers are never reused.
#define SHIM_STATUS_MAP(X)  \
  X(0, OK)                  \
  X(1, CANCELLED)           \
  X(2, UNKNOWN)             \
  X(3, INVALID_ARGUMENT)    \
  X(4, DEADLINE_EXCEEDED)   \
  X(5, NOT_FOUND)           \
  X(6, ALREADY_EXISTS)      \
  X(7, PERMISSION_DENIED)   \
  X(8, RESOURCE_EXHAUSTED)  \
  X(9, FAILED_PRECONDITION) \
  X(10, ABORTED)            \
  X(11, OUT_OF_RANGE)       \
  X(12, UNIMPLEMENTED)      \
  X(13, INTERNAL)           \
  X(14, UNAVAILABLE)        \
  X(15, DATA_LOSS)          \
  X(16, UNAUTHENTICATED)    \
  X(17, DEFERRED)           \
  X(18, INCOMPATIBLE)

typedef int32_t shim_status_t;

enum {
#define SHIM_STATUS_ENUM(number, name) SHIM_##name = number,
  SHIM_STATUS_MAP(SHIM_STATUS_ENUM)
#undef SHIM_STATUS_ENUM
};

// An error, in memory owned by the caller.
typedef struct shim_error_t {
  int32_t status;       // canonical code
  int32_t native_code;  // errno, a vendor's code or a kernel's result; or 0
  char message[248];    // UTF-8, NUL-terminated, truncated
} shim_error_t;

_Static_assert(sizeof(shim_error_t) == 256, "shared with Java");
_Static_assert(offsetof(shim_error_t, native_code) == 4, "shared with Java");
_Static_assert(offsetof(shim_error_t, message) == 8, "shared with Java");

// The name of a canonical code, "UNKNOWN" for any other number. Static storage.
const char* shim_status_name(shim_status_t status);

// Fills |error| when it is not NULL, and returns |status|.
shim_status_t shim_error_set(shim_error_t* error, shim_status_t status,
                             int32_t native_code, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

//===--------------------------------------------------------------------===//
// Capabilities of the operating system
//===--------------------------------------------------------------------===//

// What not every system has. Functions of an absent capability answer
// UNIMPLEMENTED, naming the system. Mirrored by SystemCapability.java.
enum {
  SHIM_CAPABILITY_EVENTS = 1,            // shim_event_*, shim_poller_*
  SHIM_CAPABILITY_VIEWS = 2,             // shim_view_*
  SHIM_CAPABILITY_SYSTEM_LIBRARIES = 4,  // SHIM_CPU_EXECUTABLE_SYSTEM
  SHIM_CAPABILITY_AFFINITY = 8,          // shim_thread_*affinity
};

// Bits of SHIM_CAPABILITY_*.
uint32_t shim_capabilities(void);

//===--------------------------------------------------------------------===//
// Events of the operating system
//===--------------------------------------------------------------------===//

// The outcome of a wait or transfer.
typedef struct shim_completion_t {
  uint64_t token;       // chosen by Java
  int32_t status;       // canonical code
  int32_t native_code;  // bytes, bits of epoll, or an errno
} shim_completion_t;

_Static_assert(sizeof(shim_completion_t) == 16, "shared with Java");

// Creates an eventfd with its counter at 0, non-blocking and closed on exec.
// |*out_fd| is owned by the caller.
shim_status_t shim_event_create(int32_t* out_fd, shim_error_t* error);

// Opens another descriptor of the same event, owned by the caller.
// INVALID_ARGUMENT when |fd| is not open.
shim_status_t shim_event_duplicate(int32_t fd, int32_t* out_fd,
                                   shim_error_t* error);

// No other call on the descriptor may be running or follow.
void shim_event_close(int32_t fd);

// Adds to the counter of a non-blocking eventfd, which makes it readable. Also
// OK when the counter is full, because the eventfd is readable then.
shim_status_t shim_event_signal(int32_t fd, uint64_t amount,
                                shim_error_t* error);

// Resets the counter of a non-blocking eventfd and returns its previous value;
// 0 when it was not signalled.
shim_status_t shim_event_take(int32_t fd, uint64_t* out_count,
                              shim_error_t* error);

// The outcome of the work behind a readable descriptor: |*out_code| is 0, or
// the errno with which the fence of a sync_fd failed. Always 0 for other kinds
// of descriptors.
shim_status_t shim_event_outcome(int32_t fd, int32_t* out_code,
                                 shim_error_t* error);

// Creates a set of descriptors to wait on (epoll). Owned by the caller.
shim_status_t shim_poller_create(int32_t* out_poller, shim_error_t* error);

// No other call on the poller may be running or follow.
void shim_poller_release(int32_t poller);

// Adds |fd|: |token| is reported once when it is or becomes readable or fails.
// Allowed while another thread waits. Remove |fd| before closing it.
// INVALID_ARGUMENT when it is not open or of a kind that cannot be waited for;
// ALREADY_EXISTS when it is in the set, reported or not.
shim_status_t shim_poller_add(int32_t poller, int32_t fd, uint64_t token,
                              shim_error_t* error);

// Like shim_poller_add, but permanently: every wait that finds the descriptor
// readable reports |token|.
shim_status_t shim_poller_keep(int32_t poller, int32_t fd, uint64_t token,
                               shim_error_t* error);

// Removes a descriptor; a concurrent wait may still report it. Does nothing
// when it is not in the set.
void shim_poller_remove(int32_t poller, int32_t fd);

// May block. Waits for up to |capacity| reports: the token, OK when the
// descriptor is readable and UNAVAILABLE when it can no longer become readable,
// and the bits of epoll. |*out_count| is 0 only after |timeout_ns| nanoseconds;
// a negative timeout is infinite.
shim_status_t shim_poller_wait(int32_t poller, int64_t timeout_ns,
                               uint32_t capacity, shim_completion_t* out_events,
                               uint32_t* out_count, shim_error_t* error);

//===--------------------------------------------------------------------===//
// The calling thread
//===--------------------------------------------------------------------===//

// The largest NR_CPUS of Linux kernels.
#define SHIM_MAX_PROCESSORS 8192

// Restricts the calling thread to these processors: bit n % 64 of word n / 64
// is processor n. Not for threads that Java shares, such as carriers of virtual
// threads. INVALID_ARGUMENT when the process may use none of them.
shim_status_t shim_thread_set_affinity(const uint64_t* mask, size_t word_count,
                                       shim_error_t* error);

// Returns the processors that the calling thread may run on. INVALID_ARGUMENT
// when the machine can have more processors than |word_count| * 64.
shim_status_t shim_thread_affinity(uint64_t* out_mask, size_t word_count,
                                   shim_error_t* error);

// Whether floating-point arithmetic on the calling thread flushes any denormals
// to zero. For tests: only kernels run in this mode.
int32_t shim_thread_flushes_denormals(void);

//===--------------------------------------------------------------------===//
// CPU features
//===--------------------------------------------------------------------===//

// The name of this machine's architecture in executable formats
// ("embedded-elf-<name>"): "x86_64" or "arm_64". Static storage.
const char* shim_cpu_architecture(void);

// Writes the feature bits that compiled code may query. A bit is set only if
// the processor has the feature and the operating system saves its registers.
void shim_cpu_features_query(uint64_t out_fields[SHIM_CPU_FIELD_COUNT]);

// 1 if the feature of that name (LLVM's, e.g. "avx512f") is present, 0 if not,
// -1 if this architecture defines no such feature.
int32_t shim_cpu_feature_lookup(const char* name, size_t name_length);

//===--------------------------------------------------------------------===//
// CPU executables
//===--------------------------------------------------------------------===//

typedef struct shim_cpu_executable_t shim_cpu_executable_t;

enum {
  // The system's loader loads the file and its dependencies; it does not
  // tolerate malformed files. Otherwise the shim's own loader does.
  SHIM_CPU_EXECUTABLE_SYSTEM = 1,
  // Faults of its code go to the previous handler, which usually ends the
  // process. Otherwise they end the call.
  SHIM_CPU_EXECUTABLE_UNGUARDED = 2,
};

typedef struct shim_cpu_executable_params_t {
  const char* name;           // for messages; need not be NUL-terminated
  size_t name_length;         //
  const void* elf;            // ELF or FatELF file; any alignment
  size_t elf_size;            //
  const uint32_t* constants;  // specialization constants, copied
  size_t constant_count;      //
  uint32_t flags;             // SHIM_CPU_EXECUTABLE_*
} shim_cpu_executable_params_t;

// Description of an exported function.
typedef struct shim_cpu_export_t {
  uint64_t flags;              // SHIM_CPU_DISPATCH_FLAG_*
  uint32_t local_memory_size;  // bytes per call, a multiple of 4096
  uint32_t constant_count;  // UINT32_MAX when unknown
  uint32_t binding_count;   // UINT32_MAX when unknown
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint32_t workgroup_size_z;
  const char* name;  // NUL-terminated, borrowed from the executable
  uint32_t name_length;
  uint32_t reserved;
} shim_cpu_export_t;

_Static_assert(sizeof(shim_cpu_export_t) == 48, "shared with Java");
_Static_assert(offsetof(shim_cpu_export_t, name) == 32, "shared with Java");

// Loads a compiled library into executable memory and queries its exports. The
// file is untrusted: for any content of its tables this returns a status,
// unless the system's loader loads it. Its machine code cannot be checked:
// creating runs its initializers and its query function, in this process.
//
// INVALID_ARGUMENT malformed; INCOMPATIBLE other machine or library version;
// PERMISSION_DENIED memory that would be writable and executable; UNIMPLEMENTED
// a relocation or feature the loader lacks; UNAVAILABLE an import;
// FAILED_PRECONDITION wrong number of constants; RESOURCE_EXHAUSTED larger than
// the limits or out of memory; INTERNAL, DATA_LOSS or INCOMPATIBLE, as for a
// dispatch, when its code faults, unless the system's loader runs it.
//
// The first guarded executable permanently installs handlers of SIGSEGV,
// SIGBUS, SIGFPE and SIGILL, on arm64 of SIGTRAP too, in front of the existing
// ones.
shim_status_t shim_cpu_executable_create(
    const shim_cpu_executable_params_t* params,
    shim_cpu_executable_t** out_executable, shim_error_t* error);

// No dispatch may be running or follow.
void shim_cpu_executable_release(shim_cpu_executable_t* executable);

uint32_t shim_cpu_executable_export_count(
    const shim_cpu_executable_t* executable);

// OUT_OF_RANGE when there is no such export.
shim_status_t shim_cpu_executable_export_query(
    const shim_cpu_executable_t* executable, uint32_t ordinal,
    shim_cpu_export_t* out_export, shim_error_t* error);

// One call for a range of workgroups.
typedef struct shim_cpu_dispatch_t {
  uint32_t ordinal;
  uint32_t processor_id; // reported to the kernel
  const shim_dispatch_state_t* state;  // shared by all calls of one dispatch
  // Workgroups [begin, end) of the grid, counted with x innermost, then y, then
  // z. May be empty.
  uint64_t begin;
  uint64_t end;
  // Scratch memory exclusive to this call, aligned to 64 bytes, at least the
  // export's local_memory_size; its contents are undefined before and after.
  void* local_memory;
  uint64_t local_memory_size;
} shim_cpu_dispatch_t;

// Runs the workgroups one after the other on this thread, stopping at the first
// that fails: INTERNAL, with the kernel's result in native_code. One that
// faults is stopped, with the signal in native_code: INTERNAL for an invalid
// memory access or a division by zero, DATA_LOSS for a mapped file that cannot
// be read, INCOMPATIBLE for an instruction; its stores so far remain. May be
// called for one executable from many threads concurrently; the caller is
// responsible for constants, bindings and their alignment (compilers assume 64
// bytes). Kernels flush denormals to zero; the calling thread's floating-point
// mode is restored when this returns.
shim_status_t shim_cpu_executable_dispatch(
    const shim_cpu_executable_t* executable,
    const shim_cpu_dispatch_t* dispatch, shim_error_t* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // IREE4J_SHIM_H_
