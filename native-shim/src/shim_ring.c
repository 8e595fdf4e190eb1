// Completion ring: driver threads push, one poller consumes. Calls
// shim_status.c only.
//
// A bounded queue with a sequence number per slot. Slot i starts with sequence
// i. A producer may fill position p when its slot shows p; it claims p by
// moving |tail| from p to p + 1, writes the record, and publishes it by storing
// p + 1. The poller consumes position p when the slot shows p + 1 and frees the
// slot for the next lap by storing p + capacity. No producer ever waits for
// another; the poller cannot pass a producer that has claimed but not yet
// published; it finds the ring empty there.
//
// Sleeping. The poller stores |sleeping| = 1 and then checks the ring once
// more; a producer publishes and then checks |sleeping|. All four accesses are
// sequentially consistent, so at least one side sees the other. (Not fences:
// ThreadSanitizer does not support them.)
//
// Java reads the slots directly; CompletionRing.java mirrors the layout below.
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "shim_internal.h"

static void ring_signal(shim_ring_t* ring) {
  uint64_t one = 1;
  // Cannot overflow: every wake-up resets the counter.
  ssize_t written = write(ring->event_fd, &one, sizeof(one));
  (void)written;
}

shim_status_t shim_ring_create(uint32_t capacity, shim_ring_t** out_ring,
                               shim_error_t* error) {
  *out_ring = NULL;
  if (capacity < 2 || capacity > SHIM_RING_MAX_CAPACITY ||
      (capacity & (capacity - 1)) != 0) {
    return shim_error_set(
        error, SHIM_INVALID_ARGUMENT, 0,
        "ring capacity %u is not a power of two from 2 to %u", capacity,
        SHIM_RING_MAX_CAPACITY);
  }
  size_t size = sizeof(shim_ring_t) + capacity * sizeof(shim__ring_slot_t);
  shim_ring_t* ring = aligned_alloc(64, size);
  if (!ring) {
    return shim__no_memory(error, size, "a completion ring");
  }
  ring->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (ring->event_fd < 0) {
    int code = errno;
    free(ring);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "eventfd failed with errno %d; raise the limit of "
                          "open files",
                          code);
  }
  ring->capacity = capacity;
  atomic_init(&ring->tail, 0);
  atomic_init(&ring->head, 0);
  atomic_init(&ring->lossy, 0);
  atomic_init(&ring->sleeping, 0);
  for (uint32_t i = 0; i < capacity; ++i) {
    atomic_init(&ring->slots[i].sequence, i);
  }
  *out_ring = ring;
  return SHIM_OK;
}

void shim_ring_release(shim_ring_t* ring) {
  if (!ring) return;
  close(ring->event_fd);
  free(ring);
}

shim_status_t shim_ring_push(shim_ring_t* ring, shim_completion_t completion) {
  shim_status_t status = SHIM_OK;
  uint64_t position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  for (;;) {
    shim__ring_slot_t* slot = &ring->slots[position & (ring->capacity - 1)];
    uint64_t sequence =
        atomic_load_explicit(&slot->sequence, memory_order_acquire);
    int64_t ahead = (int64_t)(sequence - position);
    if (ahead == 0) {
      if (atomic_compare_exchange_weak_explicit(
              &ring->tail, &position, position + 1, memory_order_relaxed,
              memory_order_relaxed)) {
        slot->completion = completion;
        atomic_store_explicit(&slot->sequence, position + 1,
                              memory_order_seq_cst);
        break;
      }
    } else if (ahead < 0) {
      // The slot still holds the previous lap's record: full.
      atomic_store_explicit(&ring->lossy, 1, memory_order_seq_cst);
      status = SHIM_RESOURCE_EXHAUSTED;
      break;
    } else {
      position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    }
  }
  // The exchange lets only one of several producers make the system call.
  if (atomic_load_explicit(&ring->sleeping, memory_order_seq_cst) &&
      atomic_exchange_explicit(&ring->sleeping, 0, memory_order_seq_cst)) {
    ring_signal(ring);
  }
  return status;
}

uint32_t shim_ring_poll(shim_ring_t* ring, uint32_t capacity,
                        shim_completion_t* out_completions) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  uint32_t count = 0;
  while (count < capacity) {
    shim__ring_slot_t* slot = &ring->slots[head & (ring->capacity - 1)];
    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) !=
        head + 1) {
      break;
    }
    out_completions[count++] = slot->completion;
    atomic_store_explicit(&slot->sequence, head + ring->capacity,
                          memory_order_release);
    ++head;
  }
  atomic_store_explicit(&ring->head, head, memory_order_relaxed);
  return count;
}

static bool ring_has_news(shim_ring_t* ring, bool was_lossy) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  shim__ring_slot_t* slot = &ring->slots[head & (ring->capacity - 1)];
  return atomic_load_explicit(&slot->sequence, memory_order_seq_cst) ==
             head + 1 ||
         (!was_lossy && shim_ring_is_lossy(ring));
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Nanoseconds until |deadline| as poll's milliseconds, rounded up so that the
// wait never spins through the last one; -1 for no deadline.
static int poll_timeout(int64_t deadline) {
  if (deadline < 0) return -1;
  int64_t left = deadline - now_ns();
  if (left <= 0) return 0;
  int64_t ms = (left + 999999) / 1000000;
  return ms > 1000000 ? 1000000 : (int)ms;
}

shim_status_t shim_ring_wait(shim_ring_t* ring, int64_t timeout_ns,
                             shim_error_t* error) {
  bool was_lossy = shim_ring_is_lossy(ring);
  int64_t deadline = -1;
  if (timeout_ns >= 0) {
    int64_t now = now_ns();
    deadline = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  }
  shim_status_t status = SHIM_OK;
  for (;;) {
    atomic_store_explicit(&ring->sleeping, 1, memory_order_seq_cst);
    if (ring_has_news(ring, was_lossy)) break;
    struct pollfd descriptor = {.fd = ring->event_fd, .events = POLLIN};
    int ready = poll(&descriptor, 1, poll_timeout(deadline));
    if (ready > 0) {
      uint64_t count = 0;
      if (read(ring->event_fd, &count, sizeof(count)) > 0) break;
    } else if (ready < 0 && errno != EINTR) {
      int code = errno;
      status = shim_error_set(error, SHIM_INTERNAL, code,
                              "poll of a completion ring failed with errno %d",
                              code);
      break;
    } else if (deadline >= 0 && now_ns() >= deadline) {
      status = shim_error_set(error, SHIM_DEADLINE_EXCEEDED, 0,
                              "no completion within %lld ns",
                              (long long)timeout_ns);
      break;
    }
  }
  atomic_store_explicit(&ring->sleeping, 0, memory_order_seq_cst);
  return status;
}

int32_t shim_ring_arm(shim_ring_t* ring) {
  atomic_store_explicit(&ring->sleeping, 1, memory_order_seq_cst);
  return ring_has_news(ring, false);
}

void shim_ring_wake(shim_ring_t* ring) { ring_signal(ring); }

int shim_ring_is_lossy(const shim_ring_t* ring) {
  return atomic_load_explicit(&ring->lossy, memory_order_acquire) != 0;
}

int shim_ring_event_fd(const shim_ring_t* ring) { return ring->event_fd; }
