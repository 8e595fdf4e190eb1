// Completion ring: order, fullness, sleeping, and many producers at once (run
// under the tsan preset for the memory order).
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"

static shim_ring_t* create(uint32_t capacity) {
  shim_ring_t* ring = NULL;
  CHECK_OK(shim_ring_create(capacity, &ring, &error));
  return ring;
}

static shim_completion_t completion(uint64_t token) {
  return (shim_completion_t){token, (int32_t)(token % 19),
                             -(int32_t)(token % 1000)};
}

static void capacity_is_a_power_of_two(void) {
  shim_ring_t* ring = NULL;
  const uint32_t bad[] = {0, 1, 3, 100, SHIM_RING_MAX_CAPACITY * 2, UINT32_MAX};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    CHECK_FAILS(shim_ring_create(bad[i], &ring, &error), SHIM_INVALID_ARGUMENT,
                "power of two");
    CHECK(!ring);
  }
}

static void records_come_out_in_order_over_many_laps(void) {
  shim_ring_t* ring = create(8);
  uint64_t pushed = 0;
  uint64_t taken = 0;
  for (int lap = 0; lap < 1000; ++lap) {
    uint32_t batch = 1 + (uint32_t)lap % 8;
    for (uint32_t i = 0; i < batch; ++i) {
      CHECK_EQ(shim_ring_push(ring, completion(pushed++)), SHIM_OK);
    }
    shim_completion_t out[8];
    CHECK_EQ(shim_ring_poll(ring, 8, out), batch);
    for (uint32_t i = 0; i < batch; ++i) {
      shim_completion_t expected = completion(taken++);
      CHECK(memcmp(&out[i], &expected, sizeof(expected)) == 0);
    }
  }
  shim_completion_t none;
  CHECK_EQ(shim_ring_poll(ring, 1, &none), 0);
  CHECK(!shim_ring_is_lossy(ring));
  shim_ring_release(ring);
}

static void a_full_ring_drops_and_stays_marked(void) {
  shim_ring_t* ring = create(4);
  for (uint64_t i = 0; i < 4; ++i) {
    CHECK_EQ(shim_ring_push(ring, completion(i)), SHIM_OK);
  }
  CHECK(!shim_ring_is_lossy(ring));
  CHECK_EQ(shim_ring_push(ring, completion(4)), SHIM_RESOURCE_EXHAUSTED);
  CHECK(shim_ring_is_lossy(ring));
  shim_completion_t out[4];
  CHECK_EQ(shim_ring_poll(ring, 4, out), 4);
  CHECK_EQ(out[3].token, 3);
  CHECK_EQ(shim_ring_push(ring, completion(5)), SHIM_OK);
  CHECK(shim_ring_is_lossy(ring));
  shim_ring_release(ring);
}

static void wait_returns_at_once_when_there_is_a_record(void) {
  shim_ring_t* ring = create(4);
  shim_ring_push(ring, completion(1));
  CHECK_OK(shim_ring_wait(ring, -1, &error));
  shim_ring_release(ring);
}

static void wait_ends_with_its_deadline(void) {
  shim_ring_t* ring = create(4);
  CHECK_FAILS(shim_ring_wait(ring, 0, &error), SHIM_DEADLINE_EXCEEDED, "0 ns");
  CHECK_FAILS(shim_ring_wait(ring, 2000000, &error), SHIM_DEADLINE_EXCEEDED,
              "2000000 ns");
  shim_ring_release(ring);
}

static void wake_before_wait_is_not_lost(void) {
  shim_ring_t* ring = create(4);
  shim_ring_wake(ring);
  CHECK_OK(shim_ring_wait(ring, -1, &error));
  shim_ring_release(ring);
}

static void loss_ends_a_wait(void) {
  shim_ring_t* ring = create(2);
  for (uint64_t i = 0; i < 3; ++i) shim_ring_push(ring, completion(i));
  shim_completion_t out[2];
  CHECK_EQ(shim_ring_poll(ring, 2, out), 2);
  CHECK(shim_ring_is_lossy(ring));
  shim_ring_release(ring);
}

enum { PRODUCERS = 4, PER_PRODUCER = 20000, RING_CAPACITY = 64 };

typedef struct shared_t {
  shim_ring_t* ring;
  _Atomic int64_t credits;  // like Java: reserves a slot before a push
  uint64_t payload[PRODUCERS][PER_PRODUCER];  // published by the push
} shared_t;

typedef struct producer_t {
  shared_t* shared;
  uint64_t id;
} producer_t;

static void* produce(void* argument) {
  producer_t* producer = argument;
  shared_t* shared = producer->shared;
  for (uint64_t i = 0; i < PER_PRODUCER;) {
    if (atomic_fetch_sub(&shared->credits, 1) <= 0) {
      atomic_fetch_add(&shared->credits, 1);
      continue;
    }
    shared->payload[producer->id][i] = i * 3;
    CHECK_EQ(shim_ring_push(shared->ring,
                            completion(producer->id << 32 | i)),
             SHIM_OK);
    ++i;
  }
  return NULL;
}

// Also checks that a sleeping poller never misses a record: after a lost
// wake-up the wait below would not end.
static void many_producers_lose_nothing_and_keep_their_order(void) {
  shared_t* shared = calloc(1, sizeof(*shared));
  CHECK(shared);
  shared->ring = create(RING_CAPACITY);
  atomic_init(&shared->credits, RING_CAPACITY);
  pthread_t threads[PRODUCERS];
  producer_t producers[PRODUCERS];
  for (uint64_t i = 0; i < PRODUCERS; ++i) {
    producers[i] = (producer_t){shared, i};
    CHECK_EQ(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
  }
  uint64_t next[PRODUCERS] = {0};
  for (uint64_t total = 0; total < (uint64_t)PRODUCERS * PER_PRODUCER;) {
    CHECK_OK(shim_ring_wait(shared->ring, -1, &error));
    shim_completion_t out[16];
    uint32_t count = shim_ring_poll(shared->ring, 16, out);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t id = out[i].token >> 32;
      uint64_t sequence = out[i].token & UINT32_MAX;
      shim_completion_t expected = completion(out[i].token);
      CHECK(id < PRODUCERS);
      CHECK_EQ(sequence, next[id]++);
      CHECK(memcmp(&out[i], &expected, sizeof(expected)) == 0);
      CHECK_EQ(shared->payload[id][sequence], sequence * 3);
    }
    total += count;
    atomic_fetch_add(&shared->credits, count);
  }
  for (int i = 0; i < PRODUCERS; ++i) pthread_join(threads[i], NULL);
  CHECK(!shim_ring_is_lossy(shared->ring));
  shim_ring_release(shared->ring);
  free(shared);
}

static void release_of_nothing_is_harmless(void) { shim_ring_release(NULL); }

static void an_armed_ring_makes_its_descriptor_readable(void) {
  shim_ring_t* ring = NULL;
  CHECK_OK(shim_ring_create(4, &ring, &error));
  const int32_t fd = shim_ring_event_fd(ring);
  uint64_t count = 0;
  CHECK_EQ(shim_ring_push(ring, (shim_completion_t){.token = 1}), SHIM_OK);
  CHECK_OK(shim_event_take(fd, &count, &error));
  CHECK_EQ(count, 0);
  CHECK_EQ(shim_ring_arm(ring), 1);
  shim_completion_t out;
  CHECK_EQ(shim_ring_poll(ring, 1, &out), 1);
  CHECK_EQ(shim_ring_arm(ring), 0);
  CHECK_EQ(shim_ring_push(ring, (shim_completion_t){.token = 2}), SHIM_OK);
  CHECK_EQ(shim_ring_push(ring, (shim_completion_t){.token = 3}), SHIM_OK);
  CHECK_OK(shim_event_take(fd, &count, &error));
  CHECK_EQ(count, 1);
  shim_ring_release(ring);
}

int main(void) {
  RUN(capacity_is_a_power_of_two);
  RUN(records_come_out_in_order_over_many_laps);
  RUN(a_full_ring_drops_and_stays_marked);
  RUN(wait_returns_at_once_when_there_is_a_record);
  RUN(wait_ends_with_its_deadline);
  RUN(wake_before_wait_is_not_lost);
  RUN(loss_ends_a_wait);
  RUN(many_producers_lose_nothing_and_keep_their_order);
  RUN(release_of_nothing_is_harmless);
  RUN(an_armed_ring_makes_its_descriptor_readable);
  return 0;
}
