// Files, sealed memory and sockets: the part of the shim's interface (see
// shim.h, whose rules hold) that reads and writes without a thread per
// operation, keeps the bytes of modules, and passes descriptors between
// processes.
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

// Opens a file for reading at any place, |access| is some of SHIM_FILE_*.
// |path| need not be NUL-terminated. |*out_fd| is owned by the caller, who ends
// it with shim_event_close. NOT_FOUND; PERMISSION_DENIED; INVALID_ARGUMENT for
// what cannot be read at any place (directories, pipes, terminals);
// RESOURCE_EXHAUSTED without descriptors; UNAVAILABLE for anything else.
shim_status_t shim_file_open(const char* path, size_t path_length,
                             uint32_t access, int32_t* out_fd,
                             shim_error_t* error);

// The length in bytes.
shim_status_t shim_file_length(int32_t fd, int64_t* out_length,
                               shim_error_t* error);

//===--------------------------------------------------------------------===//
// Sealed memory
//===--------------------------------------------------------------------===//

// Memory that is filled once and only read from then on, at addresses that are
// multiples of a page.
typedef struct shim_sealed_t shim_sealed_t;

// Zeroed memory of |size| bytes, above 0, which can be written until it is
// sealed. RESOURCE_EXHAUSTED without memory or descriptors. |*out_sealed| is
// owned by the caller.
shim_status_t shim_sealed_create(uint64_t size, shim_sealed_t** out_sealed,
                                 shim_error_t* error);

// The bytes of a regular file that is open for reading, as sealed as the file:
// who writes it elsewhere is seen here, and what was cut off cannot be read
// without SIGBUS. The descriptor stays the caller's. INVALID_ARGUMENT for
// anything else and for an empty file; RESOURCE_EXHAUSTED. |*out_sealed| is
// owned by the caller.
shim_status_t shim_sealed_map(int32_t fd, shim_sealed_t** out_sealed,
                              shim_error_t* error);

// Bytes.
uint64_t shim_sealed_size(const shim_sealed_t* sealed);

// The first byte.
void* shim_sealed_bytes(const shim_sealed_t* sealed);

// Has stores into it fault from now on.
shim_status_t shim_sealed_seal(shim_sealed_t* sealed, shim_error_t* error);

// Nobody may be using the bytes.
void shim_sealed_release(shim_sealed_t* sealed);

// Memory of a pool.
typedef struct shim_slab_t shim_slab_t;

// Zeroed memory of |size| bytes, above 0, that begins at a multiple of
// |alignment|, a power of two, and of a page; its pages are there when this
// returns, large ones where they fit and the system has them for those who
// ask. On each side lies a page of zeros that nobody writes: kernels load there
// what they do not use. INVALID_ARGUMENT; RESOURCE_EXHAUSTED. |*out_slab| is
// released by the caller.
shim_status_t shim_slab_create(uint64_t size, uint64_t alignment,
                               shim_slab_t** out_slab, shim_error_t* error);

// Its first byte.
void* shim_slab_bytes(const shim_slab_t* slab);

// Nobody may be using the bytes. NULL is released by nothing.
void shim_slab_release(shim_slab_t* slab);

// A view of sealed memory that may be written: it sees its own stores, and
// nobody else does. What is not written is in memory once. The first view puts
// a handler of SIGSEGV in front of the one there is; whoever sets another later
// must pass on to it what is not theirs.
typedef struct shim_view_t shim_view_t;

// A view of |length| bytes, above 0, that begin at |offset|. It may outlive the
// sealed memory. OUT_OF_RANGE; RESOURCE_EXHAUSTED without memory or mappings.
// |*out_view| is owned by the caller.
shim_status_t shim_view_create(const shim_sealed_t* sealed, uint64_t offset,
                               uint64_t length, shim_view_t** out_view,
                               shim_error_t* error);

// The byte at |offset|.
void* shim_view_bytes(const shim_view_t* view);

// Whether something was stored there since it was created or restored. Seen by
// whoever sees what was stored.
int shim_view_is_written(const shim_view_t* view);

// Has it read what was sealed again. Nobody may be using the bytes. When it
// fails, some of them may be as they were stored.
shim_status_t shim_view_restore(shim_view_t* view, shim_error_t* error);

// Nobody may be using the bytes.
void shim_view_release(shim_view_t* view);

//===--------------------------------------------------------------------===//
// Asynchronous transfers (io_uring)
//===--------------------------------------------------------------------===//

// Everything that is under way in one io_uring. Its functions may be called by
// one thread at a time, and submissions only by one thread for as long as they
// are under way: the kernel gives up what a thread submitted when it exits.
typedef struct shim_file_ring_t shim_file_ring_t;

#define SHIM_FILE_RING_MAX_ENTRIES 4096u

typedef enum shim_file_operation_kind_e {
  SHIM_FILE_OPERATION_READ = 0,
  SHIM_FILE_OPERATION_WRITE = 1,
  // Asks for the end of the operation whose token is |address|; its own
  // completion says nothing.
  SHIM_FILE_OPERATION_CANCEL = 2,
} shim_file_operation_kind_t;

// Has the kernel's own threads do the transfer, also when it would not block:
// what is in the page cache is copied by several of them.
#define SHIM_FILE_OPERATION_PUNT 1u

typedef struct shim_file_operation_t {
  uint64_t token;    // of the completion
  uint64_t address;  // memory that stays valid until then
  uint64_t offset;   // in the file
  uint32_t length;   // bytes, below 2^31
  int32_t fd;        // may be closed once submitted
  uint32_t kind;     // shim_file_operation_kind_t
  uint32_t flags;    // SHIM_FILE_OPERATION_PUNT
} shim_file_operation_t;

_Static_assert(sizeof(shim_file_operation_t) == 40, "shared with Java");

// Creates a ring of which |entries|, a power of two up to
// SHIM_FILE_RING_MAX_ENTRIES, may be under way. |*out_ring| is owned by the
// caller. UNAVAILABLE, naming the cause, when the kernel has no io_uring with
// what is needed (5.6) or does not permit it to this process.
shim_status_t shim_file_ring_create(uint32_t entries,
                                    shim_file_ring_t** out_ring,
                                    shim_error_t* error);

// Nothing may be under way: the kernel would go on writing to its memory.
void shim_file_ring_release(shim_file_ring_t* ring);

// The descriptor that is readable while there is something to poll. Borrowed.
int32_t shim_file_ring_fd(const shim_file_ring_t* ring);

// Hands operations to the kernel, in their order; |*out_count| were taken, also
// on failure, and each of those has exactly one completion. Fewer than |count|
// when the ring is full or the kernel has no memory for now. The caller keeps
// the number of those under way within the ring's entries.
shim_status_t shim_file_ring_submit(shim_file_ring_t* ring,
                                    const shim_file_operation_t* operations,
                                    uint32_t count, uint32_t* out_count,
                                    shim_error_t* error);

// Takes up to |capacity| completions: the status, and in native_code how many
// bytes were moved (0 at the end of a file, fewer than asked for at times) or
// errno. CANCELLED when it was cancelled.
uint32_t shim_file_ring_poll(shim_file_ring_t* ring, uint32_t capacity,
                             shim_completion_t* out_completions);

//===--------------------------------------------------------------------===//
// Descriptors between processes
//===--------------------------------------------------------------------===//

// Sockets of messages that carry one descriptor each, below a path of the file
// system, at most 107 bytes. All are owned by the caller, who ends them with
// shim_event_close; the path of a listening one is the caller's to remove.

// ALREADY_EXISTS when there is something at the path; NOT_FOUND,
// PERMISSION_DENIED; RESOURCE_EXHAUSTED.
shim_status_t shim_socket_listen(const char* path, size_t path_length,
                                 int32_t* out_socket, shim_error_t* error);

// UNAVAILABLE when nobody listens there.
shim_status_t shim_socket_connect(const char* path, size_t path_length,
                                  int32_t* out_socket, shim_error_t* error);

// May block. DEADLINE_EXCEEDED after |timeout_ns|, which is forever when
// negative.
shim_status_t shim_socket_accept(int32_t listening, int64_t timeout_ns,
                                 int32_t* out_socket, shim_error_t* error);

// May block, while the other side does not receive. Sends another descriptor of
// what |fd| stands for, with a number. UNAVAILABLE when the other side is gone.
shim_status_t shim_socket_send(int32_t socket, int32_t fd, uint64_t tag,
                               shim_error_t* error);

// May block. |*out_fd| is owned by the caller. DEADLINE_EXCEEDED after
// |timeout_ns|, which is forever when negative; UNAVAILABLE when the other side
// is gone; INVALID_ARGUMENT for a message of another form, all of whose
// descriptors are closed; RESOURCE_EXHAUSTED without descriptors: the message
// is gone then, the other side has to send it again.
shim_status_t shim_socket_receive(int32_t socket, int64_t timeout_ns,
                                  int32_t* out_fd, uint64_t* out_tag,
                                  shim_error_t* error);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // IREE4J_SHIM_FILE_H_
