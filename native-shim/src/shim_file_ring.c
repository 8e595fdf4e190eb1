// Asynchronous transfers through io_uring. Calls shim_status.c only.
//
// Two rings in memory shared with the kernel. Submissions: we write an entry,
// its index into |array|, and publish by storing |tail|; the kernel consumes at
// |head| during io_uring_enter, so when that returns every entry it counted is
// free again. Completions: the kernel stores |tail|, we consume and store
// |head|. The kernel drops no completion (feature NO_DROP): when the ring is
// full, for example after many cancellations, it queues completions, sets a bit
// in |sq_flags|, and moves them into the ring when asked for events.
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim_file.h"
#include "shim_internal.h"
#include "shim_uring.h"

// Tokens are Java's; completions of cancellations are dropped here.
#define IGNORED UINT64_MAX

struct shim_file_ring_t {
  int fd;
  uint32_t entry_count;
  uint32_t sq_mask;
  uint32_t cq_mask;
  void* rings;
  size_t rings_size;
  shim__uring_entry_t* entries;
  size_t entries_size;
  _Atomic uint32_t* sq_head;  // in |rings|, like the next
  _Atomic uint32_t* sq_tail;
  _Atomic uint32_t* sq_flags;
  uint32_t* sq_array;
  _Atomic uint32_t* cq_head;
  _Atomic uint32_t* cq_tail;
  shim__uring_completion_t* completions;
};

static shim_status_t refused(shim_error_t* error, const char* what, int code) {
  switch (code) {
    case ENOSYS:
      return shim_error_set(error, SHIM_UNAVAILABLE, code,
                            "this kernel has no io_uring");
    case EPERM:
    case EACCES:
      return shim_error_set(error, SHIM_UNAVAILABLE, code,
                            "the kernel does not permit io_uring to this "
                            "process (%s, errno %d): see sysctl "
                            "kernel.io_uring_disabled and the seccomp profile "
                            "of the container",
                            what, code);
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                            "%s failed with errno %d; raise the limits of "
                            "locked memory and open files",
                            what, code);
    default:
      return shim_error_set(error, SHIM_UNAVAILABLE, code,
                            "%s failed with errno %d", what, code);
  }
}

static shim_status_t check_operations(const shim_file_ring_t* ring,
                                      shim_error_t* error) {
  shim__uring_probe_t probe;
  memset(&probe, 0, sizeof(probe));
  const uint32_t room = sizeof(probe.ops) / sizeof(probe.ops[0]);
  if (syscall(SHIM__URING_REGISTER, ring->fd, SHIM__URING_REGISTER_PROBE,
              &probe, room) < 0) {
    return refused(error, "io_uring_register", errno);
  }
  const uint8_t needed[] = {SHIM__URING_OP_ASYNC_CANCEL, SHIM__URING_OP_READ,
                            SHIM__URING_OP_WRITE};
  for (size_t i = 0; i < sizeof(needed); ++i) {
    if (needed[i] > probe.last_op ||
        !(probe.ops[needed[i]].flags & SHIM__URING_PROBE_SUPPORTED)) {
      return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                            "io_uring of this kernel has no operation %u; "
                            "Linux 5.6 has it",
                            needed[i]);
    }
  }
  return SHIM_OK;
}

static shim_status_t map(shim_file_ring_t* ring,
                         const shim__uring_params_t* params,
                         shim_error_t* error) {
  size_t sq_size = params->sq.array + params->sq_entries * sizeof(uint32_t);
  size_t cq_size =
      params->cq.cqes + params->cq_entries * sizeof(shim__uring_completion_t);
  ring->rings_size = sq_size > cq_size ? sq_size : cq_size;
  ring->rings = mmap(NULL, ring->rings_size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, ring->fd,
                     SHIM__URING_OFFSET_RINGS);
  if (ring->rings == MAP_FAILED) {
    ring->rings = NULL;
    return refused(error, "mmap", errno);
  }
  ring->entries_size = params->sq_entries * sizeof(shim__uring_entry_t);
  void* entries = mmap(NULL, ring->entries_size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_POPULATE, ring->fd,
                       SHIM__URING_OFFSET_ENTRIES);
  if (entries == MAP_FAILED) return refused(error, "mmap", errno);
  ring->entries = entries;
  char* base = ring->rings;
  ring->sq_head = (_Atomic uint32_t*)(void*)(base + params->sq.head);
  ring->sq_tail = (_Atomic uint32_t*)(void*)(base + params->sq.tail);
  ring->sq_flags = (_Atomic uint32_t*)(void*)(base + params->sq.flags);
  ring->sq_mask = *(uint32_t*)(void*)(base + params->sq.ring_mask);
  ring->sq_array = (uint32_t*)(void*)(base + params->sq.array);
  ring->cq_head = (_Atomic uint32_t*)(void*)(base + params->cq.head);
  ring->cq_tail = (_Atomic uint32_t*)(void*)(base + params->cq.tail);
  ring->cq_mask = *(uint32_t*)(void*)(base + params->cq.ring_mask);
  ring->completions =
      (shim__uring_completion_t*)(void*)(base + params->cq.cqes);
  return SHIM_OK;
}

shim_status_t shim_file_ring_create(uint32_t entries,
                                    shim_file_ring_t** out_ring,
                                    shim_error_t* error) {
  *out_ring = NULL;
  if (entries == 0 || entries > SHIM_FILE_RING_MAX_ENTRIES ||
      (entries & (entries - 1)) != 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "%u entries are not a power of two up to %u",
                          entries, SHIM_FILE_RING_MAX_ENTRIES);
  }
  shim_file_ring_t* ring = calloc(1, sizeof(*ring));
  if (!ring) {
    return shim__no_memory(error, sizeof(*ring), "a ring of transfers");
  }
  shim__uring_params_t params;
  memset(&params, 0, sizeof(params));
  shim_status_t status = SHIM_OK;
  ring->entry_count = entries;
  ring->fd = (int)syscall(SHIM__URING_SETUP, entries, &params);
  if (ring->fd < 0) {
    status = refused(error, "io_uring_setup", errno);
    goto done;
  }
  const uint32_t features =
      SHIM__URING_FEATURE_SINGLE_MMAP | SHIM__URING_FEATURE_NO_DROP;
  if ((params.features & features) != features) {
    status = shim_error_set(error, SHIM_UNAVAILABLE, 0,
                            "io_uring of this kernel has features %x, %x are "
                            "needed; Linux 5.6 has them",
                            params.features, features);
    goto done;
  }
  status = check_operations(ring, error);
  if (status == SHIM_OK) status = map(ring, &params, error);
done:
  if (status != SHIM_OK) {
    shim_file_ring_release(ring);
    return status;
  }
  *out_ring = ring;
  return SHIM_OK;
}

void shim_file_ring_release(shim_file_ring_t* ring) {
  if (!ring) return;
  if (ring->entries) munmap(ring->entries, ring->entries_size);
  if (ring->rings) munmap(ring->rings, ring->rings_size);
  if (ring->fd >= 0) close(ring->fd);
  free(ring);
}

int32_t shim_file_ring_fd(const shim_file_ring_t* ring) { return ring->fd; }

static void fill(shim__uring_entry_t* entry,
                 const shim_file_operation_t* operation) {
  memset(entry, 0, sizeof(*entry));
  entry->address = operation->address;
  if (operation->kind == SHIM_FILE_OPERATION_CANCEL) {
    entry->opcode = SHIM__URING_OP_ASYNC_CANCEL;
    entry->fd = -1;
    entry->user_data = IGNORED;
    return;
  }
  entry->opcode = operation->kind == SHIM_FILE_OPERATION_READ
                      ? SHIM__URING_OP_READ
                      : SHIM__URING_OP_WRITE;
  entry->flags = operation->flags & SHIM_FILE_OPERATION_PUNT
                     ? SHIM__URING_ENTRY_ASYNC
                     : 0;
  entry->fd = operation->fd;
  entry->offset = operation->offset;
  entry->length = operation->length;
  entry->user_data = operation->token;
}

shim_status_t shim_file_ring_submit(shim_file_ring_t* ring,
                                    const shim_file_operation_t* operations,
                                    uint32_t count, uint32_t* out_count,
                                    shim_error_t* error) {
  *out_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (operations[i].kind > SHIM_FILE_OPERATION_CANCEL ||
        operations[i].length > INT_MAX || operations[i].token == IGNORED) {
      return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                            "operation %u of kind %u has %u bytes", i,
                            operations[i].kind, operations[i].length);
    }
  }
  // Head equals tail here: entries that the kernel did not consume were
  // withdrawn.
  const uint32_t first =
      atomic_load_explicit(ring->sq_tail, memory_order_relaxed);
  uint32_t queued = count < ring->entry_count ? count : ring->entry_count;
  for (uint32_t i = 0; i < queued; ++i) {
    const uint32_t slot = (first + i) & ring->sq_mask;
    fill(&ring->entries[slot], &operations[i]);
    ring->sq_array[slot] = slot;
  }
  atomic_store_explicit(ring->sq_tail, first + queued, memory_order_release);
  shim_status_t status = SHIM_OK;
  uint32_t taken = 0;
  while (taken < queued) {
    long result =
        syscall(SHIM__URING_ENTER, ring->fd, queued - taken, 0, 0, NULL, 0);
    if (result > 0) {
      taken += (uint32_t)result;
    } else if (result < 0 && errno == EINTR) {
      continue;
    } else {
      // Temporarily busy or out of memory: retry later.
      if (result < 0 && errno != EAGAIN && errno != EBUSY) {
        int code = errno;
        status = shim_error_set(error, SHIM_INTERNAL, code,
                                "io_uring_enter failed with errno %d", code);
      }
      break;
    }
  }
  taken = atomic_load_explicit(ring->sq_head, memory_order_acquire) - first;
  atomic_store_explicit(ring->sq_tail, first + taken, memory_order_release);
  *out_count = taken;
  return status;
}

static shim_status_t status_of(int code) {
  switch (code) {
    case ECANCELED:
    case EINTR:
      return SHIM_CANCELLED;
    case EBADF:
    case EINVAL:
    case EFAULT:
      return SHIM_INVALID_ARGUMENT;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
      return SHIM_RESOURCE_EXHAUSTED;
    case EPERM:
    case EACCES:
      return SHIM_PERMISSION_DENIED;
    default:
      return SHIM_DATA_LOSS;
  }
}

uint32_t shim_file_ring_poll(shim_file_ring_t* ring, uint32_t capacity,
                             shim_completion_t* out_completions) {
  if (atomic_load_explicit(ring->sq_flags, memory_order_relaxed) &
      SHIM__URING_CQ_OVERFLOW) {
    syscall(SHIM__URING_ENTER, ring->fd, 0, 0, SHIM__URING_ENTER_GETEVENTS,
            NULL, 0);
  }
  uint32_t head = atomic_load_explicit(ring->cq_head, memory_order_relaxed);
  const uint32_t tail =
      atomic_load_explicit(ring->cq_tail, memory_order_acquire);
  uint32_t count = 0;
  for (; head != tail && count < capacity; ++head) {
    const shim__uring_completion_t* completion =
        &ring->completions[head & ring->cq_mask];
    if (completion->user_data == IGNORED) continue;
    const int32_t result = completion->result;
    out_completions[count++] = (shim_completion_t){
        .token = completion->user_data,
        .status = result < 0 ? status_of(-result) : SHIM_OK,
        .native_code = result < 0 ? -result : result};
  }
  atomic_store_explicit(ring->cq_head, head, memory_order_release);
  return count;
}
