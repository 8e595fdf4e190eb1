// Streams, events and commands through the shim.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "gpu/driver_test.h"

static void events_are_recorded_and_waited_for(void) {
  begin("");
  uint64_t event = new_event();
  CHECK_EQ(live(SHIM_GPU_KIND_EVENTS), 1);
  int32_t over = 0;
  OK(shim_gpu_event_query(device, event, &over, &error));
  CHECK_EQ(over, 1);  // it was never recorded
  OK(shim_gpu_event_wait(device, event, 0, &error));
  words_t words = {0};
  add(&words, SHIM_GPU_RECORD, event);
  OK(run(&words, &error));
  OK(shim_gpu_event_wait(device, event, 0, &error));
  OK(shim_gpu_event_query(device, event, &over, &error));
  CHECK_EQ(over, 1);
  DONE(shim_gpu_event_release(device, event));
  end();
}

static void events_are_not_over_before_what_they_follow(void) {
  begin("");
  uint64_t event = new_event();
  uint64_t memory = new_memory(4);
  words_t words = {0};
  add_fill(&words, memory, 4, 1, 4);
  add(&words, SHIM_GPU_RECORD, event);
  make_file(".hang");
  OK(run(&words, &error));
  int32_t over = 7;
  OK(shim_gpu_event_query(device, event, &over, &error));
  CHECK_EQ(over, 0);
  remove_file(".hang");
  OK(shim_gpu_event_wait(device, event, 0, &error));
  OK(shim_gpu_event_query(device, event, &over, &error));
  CHECK_EQ(over, 1);
  CHECK_EQ(value_at(memory), 1);
  DONE(shim_gpu_event_release(device, event));
  free_memory(memory);
  end();
}

// Each of three, of which the driver itself waits in the first two.
static void a_wait_looks_for_a_while(void) {
  begin("slow=50000");
  uint64_t event = new_event();
  uint64_t memory = new_memory(4);
  const int64_t spins[] = {-1, 1, INT64_MAX};
  for (int i = 0; i < 3; ++i) {
    words_t words = {0};
    add_fill(&words, memory, 4, 1, 4);
    add(&words, SHIM_GPU_RECORD, event);
    OK(run(&words, &error));
    const int64_t before = fake.calls("event_synchronize");
    OK(shim_gpu_event_wait(device, event, spins[i], &error));
    CHECK_EQ(fake.calls("event_synchronize") - before, i < 2);
  }
  DONE(shim_gpu_event_release(device, event));
  free_memory(memory);
  end();
}

static void a_stream_waits_for_another(void) {
  begin("slow=500");
  uint64_t other = new_stream();
  CHECK_EQ(live(SHIM_GPU_KIND_STREAMS), 2);
  uint64_t event = new_event();
  uint64_t memory = new_memory(64);
  pinned_t pinned = new_pinned(64);
  words_t first = {0}, second = {0};
  for (uint32_t i = 1; i <= 9; ++i) add_fill(&first, memory, 64, i, 4);
  add(&first, SHIM_GPU_RECORD, event);
  add(&second, SHIM_GPU_WAIT, event);
  add_copy(&second, pinned.address, memory, 64);
  OK(run(&first, &error));
  OK(run_on(other, &second, &error));
  OK(finish_on(other, &error));
  CHECK_EQ(pinned.host[15], 9);
  finish();
  free_pinned(pinned);
  free_memory(memory);
  DONE(shim_gpu_event_release(device, event));
  DONE(shim_gpu_stream_release(device, other));
  end();
}

static void fills_have_units(void) {
  begin("");
  uint64_t memory = new_memory(4096);
  pinned_t pinned = new_pinned(16);
  words_t words = {0};
  add_fill(&words, memory, 16, 0, 4);
  add_fill(&words, memory + 1, 3, 0x11, 1);
  add_fill(&words, memory + 6, 2, 0x3322, 2);
  add_fill(&words, memory + 8, 4, 0x77665544, 4);
  add_fill(&words, memory + 12, 0, 0x99, 4);
  add_copy(&words, pinned.address, memory, 16);
  OK(run(&words, &error));
  finish();
  const uint8_t expected[16] = {0,    0x11, 0x11, 0x11, 0,    0, 0x22, 0x33,
                                0x44, 0x55, 0x66, 0x77, 0,    0, 0,    0};
  CHECK_EQ(memcmp((const void*)pinned.host, expected, 16), 0);
  free_pinned(pinned);
  free_memory(memory);
  end();
}

static void check_refused_fill(uint64_t address, uint64_t bytes,
                               uint32_t unit) {
  words_t words = {0};
  add_fill(&words, address, bytes, 1, unit);
  FAILS(run(&words, &error), SHIM_INVALID_ARGUMENT,
        "a fill failed with INVALID_VALUE (1) on device '");
}

static void fills_of_other_units_and_addresses_are_refused(void) {
  begin("");
  uint64_t memory = new_memory(64);
  check_refused_fill(memory + 1, 8, 2);
  check_refused_fill(memory + 2, 8, 4);
  check_refused_fill(memory, 7, 2);
  check_refused_fill(memory, 6, 4);
  check_refused_fill(memory, 8, 0);
  check_refused_fill(memory, 8, 3);
  check_refused_fill(memory, 8, 8);
  free_memory(memory);
  end();
}

static void commands_are_called(void) {
  begin("");
  uint64_t memory = new_memory(8);
  words_t called = {0}, none = {0}, words = {0};
  add_fill(&called, memory, 8, 4, 4);
  add_call(&words, &called);
  add_call(&words, &none);
  add_fill(&words, memory + 4, 4, 5, 4);
  OK(run(&words, &error));
  OK(run(&none, &error));
  CHECK_EQ(value_at(memory), 4);
  CHECK_EQ(value_at(memory + 4), 5);
  free_memory(memory);
  end();
}

//===--------------------------------------------------------------------===//
// Words that are no commands, and commands that fail
//===--------------------------------------------------------------------===//

// The memory has that value, once the words, which end badly, were given.
static void check_fails_after(words_t* words, uint64_t memory, uint32_t value,
                              shim_status_t status, const char* text) {
  FAILS(run(words, &error), status, text);
  CHECK_EQ(value_at(memory), value);
}

// What comes before was given, and nothing that comes after.
static void bad_words_end_it(void) {
  begin("");
  uint64_t memory = new_memory(4);
  const uint64_t bad[][6] = {
      {0}, {SHIM_GPU_BRANCH + 1}, {UINT64_MAX}, {1ull << 32 | SHIM_GPU_FILL},
      {SHIM_GPU_LAUNCH, 0, 0, 0, 0, pair(0xFFFFFFFF, 1)},
  };
  uint32_t value = 0;
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    words_t words = {0};
    add_fill(&words, memory, 4, ++value, 4);
    for (int j = 0; j < 6; j += 2) add(&words, bad[i][j], bad[i][j + 1]);
    add_fill(&words, memory, 4, 1000, 4);
    char text[64];
    snprintf(text, sizeof(text), "word 4 of 14, %llu, begins no command",
             (unsigned long long)bad[i][0]);
    check_fails_after(&words, memory, value, SHIM_INTERNAL, text);
  }
  free_memory(memory);
  end();
}

static void words_that_are_cut_off_are_refused(void) {
  begin("");
  uint64_t event = new_event();
  uint64_t memory = new_memory(4);
  words_t each[5] = {0};
  add(&each[0], SHIM_GPU_WAIT, event);
  add(&each[1], SHIM_GPU_RECORD, event);
  add_fill(&each[2], memory, 4, 100, 4);
  add_copy(&each[3], memory, memory, 4);
  add_launch(&each[4], 1, 1, 0, (uint64_t[]){1, 2}, 2);
  uint32_t value = 0;
  for (int i = 0; i < 5; ++i) {
    for (size_t cut = 1; cut < each[i].count; ++cut) {
      words_t words = {0};
      add_fill(&words, memory, 4, ++value, 4);
      memcpy(words.values + words.count, each[i].values, cut * 8);
      words.count += cut;
      check_fails_after(&words, memory, value, SHIM_INTERNAL,
                        "begins no command");
    }
  }
  DONE(shim_gpu_event_release(device, event));
  free_memory(memory);
  end();
}

static void calls_within_calls_are_refused(void) {
  begin("");
  uint64_t memory = new_memory(4);
  words_t inner = {0}, called = {0}, words = {0};
  add_fill(&inner, memory, 4, 100, 4);
  add_fill(&called, memory, 4, 6, 4);
  add_call(&called, &inner);
  add_call(&words, &called);
  add_fill(&words, memory, 4, 200, 4);
  check_fails_after(&words, memory, 6, SHIM_INTERNAL,
                    "word 4 of 7, 6, begins no command");
  free_memory(memory);
  end();
}

static void what_comes_before_a_failure_was_given(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t shared = function_of(module, "shared");
  uint64_t memory = new_memory(4);
  words_t words = {0}, called = {0};
  add_fill(&words, memory, 4, 5, 4);
  add_launch(&words, shared, 65, 0, (uint64_t[]){memory}, 1);
  add_fill(&words, memory, 4, 6, 4);
  check_fails_after(&words, memory, 5, SHIM_INVALID_ARGUMENT,
                    "a launch failed with INVALID_VALUE (1) on device '");
  words.values[3] = pair(7, 4);
  add_call(&called, &words);
  add_fill(&called, memory, 4, 8, 4);
  check_fails_after(&called, memory, 7, SHIM_INVALID_ARGUMENT, "a launch");
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
  if (!is_fake) return;
  begin("launch_error=2");
  module = new_module();
  uint64_t store = function_of(module, "store");
  memory = new_memory(4);
  words.count = 0;
  for (uint32_t i = 1; i < 4; ++i) add_store(&words, store, memory, i);
  check_fails_after(&words, memory, 1, SHIM_INVALID_ARGUMENT, "a launch");
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

//===--------------------------------------------------------------------===//
// Threads
//===--------------------------------------------------------------------===//

static _Atomic bool ran;

static void* run_on_full_stream(void* words) {
  OK(run(words, &error));
  atomic_store(&ran, true);
  return NULL;
}

static void a_full_stream_blocks(void) {
  begin("capacity=3");
  uint64_t memory = new_memory(4);
  words_t words = {0}, more = {0};
  for (uint32_t i = 0; i < 3; ++i) add_fill(&words, memory, 4, i, 4);
  add_fill(&more, memory, 4, 3, 4);
  make_file(".hang");
  OK(run(&words, &error));
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, run_on_full_stream, &more), 0);
  usleep(50000);
  CHECK(!atomic_load(&ran));
  remove_file(".hang");
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(atomic_load(&ran));
  CHECK_EQ(value_at(memory), 3);
  free_memory(memory);
  end();
}

// Each has a stream of its own; all wait for one another's events.
enum { THREADS = 4, ROUNDS = 40 };

static uint64_t shared_event;

static void* work(void* argument) {
  const uint32_t number = *(uint32_t*)argument;
  uint64_t own = new_stream(), event = new_event(), graph = 0;
  uint64_t memory = new_memory(256);
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  pinned_t pinned = new_pinned(256);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    const uint32_t value = number * 1000 + i;
    words_t captured = {0}, words = {0};
    add_fill(&captured, memory, 256, value, 4);
    add_store(&captured, store, memory + 4, value + 1);
    OK(shim_gpu_graph_make(device, &(shim_gpu_branch_t){own, 0}, 1, captured.values, captured.count, &graph,
                           &error));
    add(&words, SHIM_GPU_WAIT, shared_event);
    add(&words, SHIM_GPU_GRAPH, graph);
    add_copy(&words, pinned.address, memory, 256);
    add(&words, SHIM_GPU_RECORD, event);
    OK(run_on(own, &words, &error));
    OK(shim_gpu_event_wait(device, event, 1000 * (i % 2), &error));
    CHECK_EQ(pinned.host[0], value);
    CHECK_EQ(pinned.host[1], value + 1);
    CHECK_EQ(pinned.host[63], value);
    words.count = 0;
    add(&words, SHIM_GPU_RECORD, shared_event);
    OK(run_on(own, &words, &error));
  }
  OK(finish_on(own, &error));
  DONE(shim_gpu_graph_release(device, graph));
  DONE(shim_gpu_module_unload(device, module));
  free_pinned(pinned);
  free_memory(memory);
  DONE(shim_gpu_event_release(device, event));
  DONE(shim_gpu_stream_release(device, own));
  return NULL;
}

static void threads_work_at_the_same_time(void) {
  begin("");
  shared_event = new_event();
  pthread_t threads[THREADS];
  uint32_t numbers[THREADS];
  for (uint32_t i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  DONE(shim_gpu_event_release(device, shared_event));
  end();
}

void test_driver_commands(void) {
  RUN(events_are_recorded_and_waited_for);
  if (is_fake) {
    RUN(events_are_not_over_before_what_they_follow);
    RUN(a_wait_looks_for_a_while);
    RUN(a_full_stream_blocks);
  }
  RUN(a_stream_waits_for_another);
  RUN(fills_have_units);
  RUN(fills_of_other_units_and_addresses_are_refused);
  RUN(commands_are_called);
  RUN(bad_words_end_it);
  RUN(words_that_are_cut_off_are_refused);
  RUN(calls_within_calls_are_refused);
  RUN(what_comes_before_a_failure_was_given);
  RUN(threads_work_at_the_same_time);
}
