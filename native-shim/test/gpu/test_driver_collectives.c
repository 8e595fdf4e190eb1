// Collectives through the shim, on a fake that is the library of collectives
// as well.
#include "gpu/driver_test.h"

enum { RANKS = 3, SUM = 0, INT = 2 };

static shim_gpu_collectives_t* collectives;
static shim_gpu_device_t* devices[RANKS];
static uint64_t streams[RANKS];
static uint64_t comms[RANKS];
static uint64_t memory[RANKS];  // 4 * RANKS bytes of source, then of target

static shim_status_t open_collectives(shim_error_t* error) {
  return shim_gpu_collectives_open(hip ? SHIM_GPU_HIP : SHIM_GPU_CUDA, library,
                                   &collectives, error);
}

// Makes a device that of the helpers.
static void use(int rank) {
  device = devices[rank];
  stream = streams[rank];
}

static void begin_ranks(const char* settings) {
  char all[200];
  snprintf(all, sizeof(all), "devices=%d %s", RANKS, settings);
  open_library(all);
  OK(open_collectives(&error));
  for (uint32_t i = 0; i < RANKS; ++i) {
    OK(shim_gpu_device_open(api, i, &devices[i], &error));
    device = devices[i];
    streams[i] = new_stream();
    memory[i] = new_memory(8 * RANKS);
  }
}

static void end_ranks(void) {
  for (int i = 0; i < RANKS; ++i) {
    use(i);
    CHECK_EQ(live(SHIM_GPU_KIND_COMMUNICATORS), 0);
    free_memory(memory[i]);
    close_device();
  }
  DONE(shim_gpu_collectives_close(collectives));
  close_library();
}

static shim_status_t state_of(int rank, int32_t* pending, shim_error_t* error) {
  return shim_gpu_comm_state(collectives, devices[rank], comms[rank], pending,
                             error);
}

static void await_state(int rank) {
  for (int32_t pending = 1; pending;) OK(state_of(rank, &pending, &error));
}

static void join(int count) {
  char id[SHIM_GPU_UNIQUE_ID_SIZE];
  OK(shim_gpu_unique_id(collectives, id, &error));
  for (int i = 0; i < count; ++i) {
    int32_t pending = 0;
    OK(shim_gpu_comm_join(collectives, devices[i], id, i, count, &comms[i],
                          &error));
    OK(state_of(i, &pending, &error));
    CHECK(pending || i == count - 1);
  }
  for (int i = 0; i < count; ++i) {
    await_state(i);
    use(i);
    CHECK_EQ(live(SHIM_GPU_KIND_COMMUNICATORS), 1);
  }
}

static void leave(int count) {
  for (int i = 0; i < count; ++i) {
    int32_t pending = 0;
    OK(shim_gpu_comm_finalize(collectives, devices[i], comms[i], &error));
    OK(state_of(i, &pending, &error));
    CHECK_EQ(pending, i < count - 1);
  }
  for (int i = 0; i < count; ++i) {
    await_state(i);
    DONE(shim_gpu_comm_end(collectives, devices[i], comms[i], 0));
  }
}

static void abort_all(int count) {
  for (int i = 0; i < count; ++i) {
    DONE(shim_gpu_comm_end(collectives, devices[i], comms[i], 1));
  }
}

static void put(int rank, uint64_t at, uint32_t value) {
  use(rank);
  words_t words = {0};
  add_fill(&words, memory[rank] + at, 4, value, 4);
  OK(run(&words, &error));
}

static shim_gpu_collective_t call_of(int rank, uint32_t operation,
                                     uint64_t elements) {
  return (shim_gpu_collective_t){.device = (uintptr_t)devices[rank],
                                 .comm = comms[rank],
                                 .stream = streams[rank],
                                 .operation = operation,
                                 .type = INT,
                                 .reduction = SUM,
                                 .elements = elements,
                                 .source = memory[rank],
                                 .target = memory[rank] + 4 * RANKS,
                                 .part_bytes = 4};
}

static void run_calls(const shim_gpu_collective_t* calls, size_t count) {
  OK(shim_gpu_collectives_run(collectives, calls, count, &error));
  for (int i = 0; i < RANKS; ++i) await_state(i);
}

static void check_target(int rank, const uint32_t* expected, int count) {
  use(rank);
  for (int i = 0; i < count; ++i) {
    CHECK_EQ(value_at(memory[rank] + 4 * (uint64_t)(RANKS + i)), expected[i]);
  }
}

static void elements_are_moved_and_reduced(void) {
  begin_ranks("join_slow=2");
  join(RANKS);
  for (int rank = 0; rank < RANKS; ++rank) {
    for (uint32_t i = 0; i < RANKS; ++i) {
      put(rank, 4 * i, 10 * (uint32_t)rank + i + 1);
    }
  }
  const struct {
    uint32_t operation;
    uint64_t elements;
    int32_t root;
    uint32_t expected[RANKS][RANKS];
  } cases[] = {
      {SHIM_GPU_ALL_GATHER, 1, 0, {{1, 11, 21}, {1, 11, 21}, {1, 11, 21}}},
      {SHIM_GPU_ALL_REDUCE, 3, 0, {{33, 36, 39}, {33, 36, 39}, {33, 36, 39}}},
      {SHIM_GPU_ALL_TO_ALL, 1, RANKS, {{1, 11, 21}, {2, 12, 22}, {3, 13, 23}}},
      {SHIM_GPU_BROADCAST, 3, 1, {{11, 12, 13}, {11, 12, 13}, {11, 12, 13}}},
      {SHIM_GPU_REDUCE, 3, 2, {{7, 7, 7}, {7, 7, 7}, {33, 36, 39}}},
      {SHIM_GPU_REDUCE_SCATTER, 1, 0, {{33, 7, 7}, {36, 7, 7}, {39, 7, 7}}},
  };
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
    shim_gpu_collective_t calls[RANKS];
    for (int rank = 0; rank < RANKS; ++rank) {
      for (uint64_t i = 0; i < RANKS; ++i) put(rank, 4 * (RANKS + i), 7);
      calls[rank] = call_of(rank, cases[c].operation, cases[c].elements);
      calls[rank].root = cases[c].root;
    }
    run_calls(calls, RANKS);
    for (int rank = 0; rank < RANKS; ++rank) {
      check_target(rank, cases[c].expected[rank], RANKS);
    }
  }
  // A ring: what one call has of a participant goes on at once.
  shim_gpu_collective_t ring[2 * RANKS];
  for (int rank = 0; rank < RANKS; ++rank) {
    ring[2 * rank] = call_of(rank, SHIM_GPU_SEND, 1);
    ring[2 * rank].root = (rank + 1) % RANKS;
    ring[2 * rank + 1] = call_of(rank, SHIM_GPU_RECEIVE, 1);
    ring[2 * rank + 1].root = (rank + RANKS - 1) % RANKS;
  }
  run_calls(ring, 2 * RANKS);
  check_target(0, (uint32_t[]){21}, 1);
  check_target(1, (uint32_t[]){1}, 1);
  check_target(2, (uint32_t[]){11}, 1);
  leave(RANKS);
  end_ranks();
}

// Work that others do not come for ends when it is aborted, and so does a
// group that is never complete.
static void what_hangs_is_aborted(void) {
  begin_ranks("comm_error=1:1");
  join(RANKS);
  shim_gpu_collective_t calls[RANKS];
  for (int i = 0; i < RANKS; ++i) {
    calls[i] = call_of(i, SHIM_GPU_ALL_REDUCE, 1);
  }
  OK(shim_gpu_collectives_run(collectives, calls, RANKS, &error));
  for (int i = 0; i < RANKS; i += 2) await_state(i);
  for (int32_t pending = 0;;) {
    shim_error_t failure = {0};
    if (state_of(1, &pending, &failure)) {
      CHECK_EQ(failure.status, SHIM_ABORTED);
      CHECK(strstr(failure.message, "a participant failed with REMOTE_ERROR "
                                    "(6) of"));
      CHECK(strstr(failure.message, "another participant is gone"));
      break;
    }
  }
  abort_all(RANKS);
  for (int i = 0; i < RANKS; ++i) {
    use(i);
    finish();
  }
  char id[SHIM_GPU_UNIQUE_ID_SIZE];
  OK(shim_gpu_unique_id(collectives, id, &error));
  OK(shim_gpu_comm_join(collectives, devices[0], id, 1, 2, &comms[0], &error));
  int32_t pending = 0;
  OK(state_of(0, &pending, &error));
  CHECK(pending);
  abort_all(1);
  end_ranks();
}

static void calls_that_fail_say_so(void) {
  begin_ranks(
      "fail=comm_unique_id:2:2 fail=comm_join:4:3 "
      "fail=comm_finalize:1:8 fail=group_start:1:1 fail=all_reduce:1:4");
  join(RANKS);
  char id[SHIM_GPU_UNIQUE_ID_SIZE];
  FAILS(shim_gpu_unique_id(collectives, id, &error), SHIM_UNAVAILABLE,
        "making an id of a group failed with SYSTEM_ERROR (2)");
  uint64_t made = 1;
  FAILS(shim_gpu_comm_join(collectives, devices[0], id, 0, 2, &made, &error),
        SHIM_INTERNAL, "INTERNAL_ERROR (3)");
  CHECK_EQ(made, 0);
  FAILS(shim_gpu_comm_finalize(collectives, devices[0], comms[0], &error),
        SHIM_DEADLINE_EXCEEDED, "leaving a group failed with TIMEOUT (8)");
  const shim_gpu_collective_t call = call_of(0, SHIM_GPU_ALL_REDUCE, 1);
  FAILS(shim_gpu_collectives_run(collectives, &call, 1, &error), SHIM_INTERNAL,
        "beginning a group call failed with UNHANDLED_CUDA_ERROR (1)");
  FAILS(shim_gpu_collectives_run(collectives, &call, 1, &error),
        SHIM_INVALID_ARGUMENT, "a collective failed with INVALID_ARGUMENT (4)");
  shim_gpu_collective_t none = call;
  none.operation = 8;
  FAILS(shim_gpu_collectives_run(collectives, &none, 1, &error),
        SHIM_INVALID_ARGUMENT, "a collective failed");
  abort_all(RANKS);
  end_ranks();
}

static void a_library_that_lacks_something_is_refused(void) {
  open_library("");
  shim_gpu_collectives_t* opened = (shim_gpu_collectives_t*)1;
  FAILS(shim_gpu_collectives_open(SHIM_GPU_CUDA, "/no/libnccl.so.2", &opened,
                                  &error),
        SHIM_UNAVAILABLE, "cannot open '/no/libnccl.so.2'");
  CHECK(!opened);
  FAILS(shim_gpu_collectives_open(SHIM_GPU_CUDA, "libc.so.6", &opened, &error),
        SHIM_UNAVAILABLE,
        "'libc.so.6' has no symbol ncclGetUniqueId; install NCCL 2.14");
  close_library();
}

// On a device that is lost, nothing begins and all can end.
static void communicators_of_a_lost_device_end(void) {
  begin_ranks("");
  join(RANKS);
  make_file(".lost");
  int32_t pending = 0;
  FAILS(state_of(0, &pending, &error), SHIM_ABORTED, "is lost");
  remove_file(".lost");
  const shim_gpu_collective_t call = call_of(0, SHIM_GPU_ALL_REDUCE, 1);
  FAILS(shim_gpu_collectives_run(collectives, &call, 1, &error), SHIM_ABORTED,
        "is lost");
  uint64_t made = 1;
  char id[SHIM_GPU_UNIQUE_ID_SIZE] = {0};
  FAILS(shim_gpu_comm_join(collectives, devices[0], id, 0, 2, &made, &error),
        SHIM_ABORTED, "is lost");
  abort_all(RANKS);
  end_ranks();
}

// The library says that the driver has failed, and the driver why.
static void a_loss_is_found_by_the_state(void) {
  begin_ranks("");
  join(RANKS);
  make_file(".lost");
  int32_t pending = 0;
  FAILS(state_of(0, &pending, &error), SHIM_ABORTED,
        "is lost: LAUNCH_FAILED (719)");
  CHECK(shim_gpu_device_is_lost(devices[0]));
  abort_all(RANKS);
  for (int i = 0; i < RANKS; ++i) {
    use(i);
    free_memory(memory[i]);
    close_device();
  }
  remove_file(".lost");
  DONE(shim_gpu_collectives_close(collectives));
  close_library();
}

void test_driver_collectives(void) {
  if (!is_fake || is_adapter) return;
  RUN(elements_are_moved_and_reduced);
  RUN(what_hangs_is_aborted);
  RUN(calls_that_fail_say_so);
  RUN(a_library_that_lacks_something_is_refused);
  RUN(communicators_of_a_lost_device_end);
  RUN(a_loss_is_found_by_the_state);
}
