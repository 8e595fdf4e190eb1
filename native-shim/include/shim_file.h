// Files and sealed memory: the part of the shim's interface that reads
// and writes without a thread per operation, holds the bytes of modules, and
// passes descriptors between processes. The rules of shim.h apply.
#ifndef IREE4J_SHIM_FILE_H_
#define IREE4J_SHIM_FILE_H_

#include "shim.h"

#ifdef __cplusplus
extern "C" {
#endif

//===--------------------------------------------------------------------===//
// Files
//===--------------------------------------------------------------------===//

#define SHIM_FILE_READ 1u
#define SHIM_FILE_WRITE 2u

// Opens a file for transfers at any offset; |access| is some of SHIM_FILE_*.
// |path| need not be NUL-terminated. |*out_fd| is owned by the caller, who
// closes it with shim_event_close. NOT_FOUND; PERMISSION_DENIED;
// INVALID_ARGUMENT for files without random access (directories, pipes,
// terminals); RESOURCE_EXHAUSTED without descriptors; UNAVAILABLE for anything
// else.
shim_status_t shim_file_open(const char* path, size_t path_length,
                             uint32_t access, int32_t* out_fd,
                             shim_error_t* error);

// The length in bytes.
shim_status_t shim_file_length(int32_t fd, int64_t* out_length,
                               shim_error_t* error);

//===--------------------------------------------------------------------===//
// Sealed memory
//===--------------------------------------------------------------------===//

// Page-aligned memory that is filled once and read-only from then on.
typedef struct shim_sealed_t shim_sealed_t;

// Zeroed memory of |size| bytes, above 0, writable until sealed.
// RESOURCE_EXHAUSTED without memory or descriptors. |*out_sealed| is owned by
// the caller.
shim_status_t shim_sealed_create(uint64_t size, shim_sealed_t** out_sealed,
                                 shim_error_t* error);

// Maps a regular file that is open for reading. Later writes to the file are
// visible here, and reads beyond a truncation raise SIGBUS. The caller keeps
// the descriptor. INVALID_ARGUMENT for other files and for an empty file;
// RESOURCE_EXHAUSTED. |*out_sealed| is owned by the caller.
shim_status_t shim_sealed_map(int32_t fd, shim_sealed_t** out_sealed,
                              shim_error_t* error);

// Bytes.
uint64_t shim_sealed_size(const shim_sealed_t* sealed);

// The first byte.
void* shim_sealed_bytes(const shim_sealed_t* sealed);

// Makes stores into it fault from now on.
shim_status_t shim_sealed_seal(shim_sealed_t* sealed, shim_error_t* error);

// The bytes must not be in use.
void shim_sealed_release(shim_sealed_t* sealed);

// Bytes of a page of memory: 4096 on x86_64, and up to 65536 on arm64.
uint64_t shim_page_size(void);

// Memory of a pool.
typedef struct shim_slab_t shim_slab_t;

// Zeroed memory of |size| bytes, above 0, aligned to |alignment|, a power of
// two, and to a page. Its pages are committed when this returns, huge ones
// where possible and available. On each side lies an unused page of zeros,
// because kernels speculatively load beyond the bytes. INVALID_ARGUMENT;
// RESOURCE_EXHAUSTED. |*out_slab| is owned by the caller.
shim_status_t shim_slab_create(uint64_t size, uint64_t alignment,
                               shim_slab_t** out_slab, shim_error_t* error);

// Its first byte.
void* shim_slab_bytes(const shim_slab_t* slab);

// The bytes must not be in use.
void shim_slab_release(shim_slab_t* slab);

// A private copy-on-write view of sealed memory: its stores are visible in this
// view only, and unwritten pages are shared. On Linux the first view installs a
// SIGSEGV handler in front of the existing one; a handler installed later must
// chain to it.
typedef struct shim_view_t shim_view_t;

// Creates a view of |length| bytes, above 0, from |offset| on. It may outlive
// the sealed memory. OUT_OF_RANGE; RESOURCE_EXHAUSTED without memory or
// mappings.
// |*out_view| is owned by the caller.
shim_status_t shim_view_create(const shim_sealed_t* sealed, uint64_t offset,
                               uint64_t length, shim_view_t** out_view,
                               shim_error_t* error);

// The byte at |offset|.
void* shim_view_bytes(const shim_view_t* view);

// Whether the view was written since it was created or restored, or may have
// been. True for any thread that sees the stored bytes, under wine unless the
// system has swapped them out.
int shim_view_is_written(const shim_view_t* view);

// Restores the sealed contents. The bytes must not be in use. On failure some
// of them may keep their stored values, or be gone: the view must be released.
shim_status_t shim_view_restore(shim_view_t* view, shim_error_t* error);

// The bytes must not be in use.
void shim_view_release(shim_view_t* view);

//===--------------------------------------------------------------------===//
// Asynchronous transfers (io_uring)
//===--------------------------------------------------------------------===//

// One io_uring. Only one thread at a time may call its functions, and the
// thread that submits must outlive its submissions: the kernel cancels a
// thread's submissions when it exits.
typedef struct shim_file_ring_t shim_file_ring_t;

#define SHIM_FILE_RING_MAX_ENTRIES 4096u

typedef enum shim_file_operation_kind_e {
  SHIM_FILE_OPERATION_READ = 0,
  SHIM_FILE_OPERATION_WRITE = 1,
  // Requests cancellation of the operation whose token is |address|; has no
  // completion of its own.
  SHIM_FILE_OPERATION_CANCEL = 2,
} shim_file_operation_kind_t;

// Makes kernel threads do the transfer even if it would not block: several of
// them copy from the page cache in parallel.
#define SHIM_FILE_OPERATION_PUNT 1u

typedef struct shim_file_operation_t {
  uint64_t token; // identifies the completion
  uint64_t address; // memory, valid until the completion
  uint64_t offset;   // in the file
  uint32_t length;   // bytes, below 2^31
  int32_t fd;        // may be closed once submitted
  uint32_t kind;     // shim_file_operation_kind_t
  uint32_t flags;    // SHIM_FILE_OPERATION_PUNT
} shim_file_operation_t;

_Static_assert(sizeof(shim_file_operation_t) == 40, "shared with Java");

// Creates a ring for |entries| operations in flight, a power of two up to
// SHIM_FILE_RING_MAX_ENTRIES. |*out_ring| is owned by the caller. UNAVAILABLE,
// naming the cause, when the kernel lacks the required io_uring features (5.6)
// or does not permit io_uring to this process.
shim_status_t shim_file_ring_create(uint32_t entries,
                                    shim_file_ring_t** out_ring,
                                    shim_error_t* error);

// Nothing may be in flight: the kernel would continue to write to its memory.
void shim_file_ring_release(shim_file_ring_t* ring);

// The descriptor that is readable while there is something to poll. Borrowed.
int32_t shim_file_ring_fd(const shim_file_ring_t* ring);

// Submits operations to the kernel in order; |*out_count| were accepted, also
// on failure, and each accepted one has exactly one completion. Fewer than
// |count| when the ring is full or the kernel is temporarily out of memory. The
// caller limits operations in flight to the ring's entries.
shim_status_t shim_file_ring_submit(shim_file_ring_t* ring,
                                    const shim_file_operation_t* operations,
                                    uint32_t count, uint32_t* out_count,
                                    shim_error_t* error);

// Consumes up to |capacity| completions: the status, and in native_code the
// number of bytes moved (0 at the end of a file, possibly fewer than requested)
// or errno. CANCELLED when it was cancelled.
uint32_t shim_file_ring_poll(shim_file_ring_t* ring, uint32_t capacity,
                             shim_completion_t* out_completions);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // IREE4J_SHIM_FILE_H_
