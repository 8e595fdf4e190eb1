// The fakes' contexts, streams and events.
#include <unistd.h>

#include "gpu/fake_gpu_test.h"

static void contexts_are_counted_and_stacked(void) {
  open_fake("devices=2");
  uint64_t memory = 0;
  CHECK_EQ(gpu.memory_allocate(&memory, 4), SGPU_NOT_INITIALIZED);
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.memory_allocate(&memory, 4), SGPU_INVALID_CONTEXT);
  sgpu_context_t one = NULL, two = NULL, again = NULL, popped = NULL;
  CHECK_EQ(gpu.context_retain(&one, 2), SGPU_INVALID_DEVICE);
  CHECK_EQ(gpu.context_retain(&one, 0), 0);
  CHECK_EQ(gpu.context_retain(&again, 0), 0);
  CHECK(one == again);
  CHECK_EQ(gpu.context_retain(&two, 1), 0);
  CHECK(one != two);
  CHECK_EQ(gpu.context_push(one), 0);
  sgpu_event_t event = new_event();
  CHECK_EQ(gpu.context_push(two), 0);
  CHECK_EQ(gpu.event_destroy(event), 400);
  complained("the event is of another context");
  CHECK_EQ(gpu.context_pop(&popped), 0);
  CHECK(popped == two);
  CHECK_EQ(gpu.event_destroy(event), 0);
  CHECK_EQ(gpu.event_destroy(event), 400);
  complained("is no event, or one that is gone");
  CHECK_EQ(gpu.context_release(0), 0);
  CHECK_EQ(gpu.memory_allocate(&memory, 4), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  CHECK_EQ(gpu.memory_allocate(&memory, 4), 709);
  complained("the current context was released");
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_pop(NULL), SGPU_INVALID_CONTEXT);
  complained("popped from an empty stack");
  CHECK_EQ(gpu.context_push(one), SGPU_INVALID_CONTEXT);
  complained("is no context");
  CHECK_EQ(gpu.context_release(1), 0);
  CHECK_EQ(gpu.context_release(1), SGPU_INVALID_CONTEXT);
  complained("has no context to release");
  close_fake();
}

static void what_a_context_has_left_is_reported(void) {
  begin("");
  new_event();
  new_event();
  new_memory(100);
  CHECK_EQ(gpu.stream_destroy(stream), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  complained(
      "the context of device 0 is released with 2 events, 1 allocations");
  close_fake();

  begin("");
  make_file(".hang");
  uint64_t memory = new_memory(100);
  CHECK_EQ(gpu.fill_8(memory, 1, 100, stream), 0);
  CHECK_EQ(gpu.stream_destroy(stream), 0);  // which does not wait
  CHECK_EQ(gpu.memory_free(memory), 0);
  complained("memory of a device is freed while operations use it");
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  complained("released with 1 operations pending");
  remove_file(".hang");
  close_fake();
}

static void events_are_of_their_latest_recording(void) {
  begin("");
  sgpu_event_t event = new_event();
  CHECK_EQ(gpu.event_query(event), 0);
  CHECK_EQ(gpu.event_synchronize(event), 0);
  CHECK_EQ(gpu.stream_wait_event(stream, event, 0), 0);
  make_file(".hang");
  CHECK_EQ(gpu.event_record(event, stream), 0);
  CHECK_EQ(gpu.event_query(event), SGPU_NOT_READY);
  sgpu_stream_t other = new_stream();
  CHECK_EQ(gpu.stream_wait_event(other, event, 0), 0);
  sgpu_event_t after = new_event();
  CHECK_EQ(gpu.event_record(after, other), 0);
  CHECK_EQ(gpu.event_record(event, stream), 0);
  remove_file(".hang");
  CHECK_EQ(gpu.event_synchronize(after), 0);
  CHECK_EQ(gpu.event_synchronize(event), 0);
  CHECK_EQ(gpu.event_query(event), 0);
  // It may be destroyed at any time; its handle is used again.
  make_file(".hang");
  CHECK_EQ(gpu.event_record(event, stream), 0);
  CHECK_EQ(gpu.stream_wait_event(other, event, 0), 0);
  CHECK_EQ(gpu.event_destroy(event), 0);
  sgpu_event_t reused = new_event();
  CHECK(reused == event);
  CHECK_EQ(gpu.event_query(reused), 0);
  remove_file(".hang");
  CHECK_EQ(finish(other), 0);
  CHECK_EQ(gpu.event_destroy(reused), 0);
  CHECK_EQ(gpu.event_destroy(after), 0);
  CHECK_EQ(gpu.stream_destroy(other), 0);
  end();
}

static void a_wait_takes_the_recording_of_its_time(void) {
  begin("slow=2000");
  sgpu_stream_t other = new_stream();
  sgpu_event_t event = new_event();
  uint64_t memory = new_memory(4);
  uint32_t* host = new_pinned(4);
  for (int i = 0; i < 5; ++i) CHECK_EQ(gpu.fill_32(memory, i, 1, stream), 0);
  CHECK_EQ(gpu.event_record(event, stream), 0);
  CHECK_EQ(gpu.stream_wait_event(other, event, 0), 0);
  CHECK_EQ(copy(other, address(host), memory, 4), 0);
  CHECK_EQ(finish(other), 0);
  CHECK_EQ(*host, 4);
  CHECK_EQ(gpu.event_query(event), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  CHECK_EQ(gpu.event_destroy(event), 0);
  CHECK_EQ(gpu.stream_destroy(other), 0);
  end();
}

static void* enqueue(void* argument) {
  CHECK_EQ(gpu.context_push(context), 0);
  CHECK_EQ(gpu.fill_8(*(uint64_t*)argument, 1, 1, stream), 0);
  __atomic_store_n((uint64_t*)argument, 0, __ATOMIC_RELEASE);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  return NULL;
}

static void a_full_stream_blocks(void) {
  begin("capacity=3");
  uint64_t memory = new_memory(64);
  make_file(".hang");
  for (int i = 0; i < 3; ++i) CHECK_EQ(gpu.fill_8(memory, 1, 1, stream), 0);
  uint64_t argument = memory;
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, enqueue, &argument), 0);
  usleep(50000);
  CHECK(__atomic_load_n(&argument, __ATOMIC_ACQUIRE));
  remove_file(".hang");
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  end();
}

static void there_is_no_default_stream(void) {
  begin("");
  CHECK_EQ(gpu.fill_8(4096, 1, 1, NULL), 400);
  complained("is no stream");
  CHECK_EQ(gpu.fill_8(4096, 1, 1, (sgpu_stream_t)context), 400);
  complained("is no stream");
  sgpu_stream_t other = NULL;
  CHECK_EQ(gpu.stream_create(&other, 6), SGPU_INVALID_VALUE);
  end();
}

static void a_lost_device_stays_lost(void) {
  begin("lost_wait=2");
  sgpu_event_t event = new_event();
  CHECK_EQ(gpu.event_record(event, stream), 0);
  CHECK_EQ(gpu.event_synchronize(event), 0);
  CHECK_EQ(gpu.event_synchronize(event), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.event_query(event), SGPU_LAUNCH_FAILED);
  uint64_t memory = 0;
  CHECK_EQ(gpu.memory_allocate(&memory, 4), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.event_destroy(event), SGPU_LAUNCH_FAILED);
  end_dead(SGPU_LAUNCH_FAILED);
}

static void* lose(void* argument) {
  (void)argument;
  usleep(30000);
  make_file(".lost");
  return NULL;
}

static void a_loss_ends_waits_and_frees(void) {
  begin("");
  uint64_t memory = new_memory(64);
  void* host = new_pinned(64);
  make_file(".hang");
  CHECK_EQ(copy(stream, memory, address(host), 64), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, lose, NULL), 0);
  CHECK_EQ(finish(stream), SGPU_LAUNCH_FAILED);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(gpu.memory_free(memory), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.host_free(host), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.host_free(host), SGPU_LAUNCH_FAILED);
  complained("but not such memory");
  remove_file(".lost");
  remove_file(".hang");
  end_dead(SGPU_LAUNCH_FAILED);
  begin("");
  end();
}

// Codes of faults stay, from every call on; others are of their call alone.
static void a_code_of_a_fault_ends_the_context(void) {
  static const struct {
    int code;
    bool stays;
  } codes[] = {{46, 1},  {214, 1}, {220, 1}, {700, 1}, {702, 1}, {710, 1},
               {714, 1}, {715, 1}, {718, 1}, {719, 1}, {999, 1}, {1, 0},
               {2, 0},   {304, 0}, {701, 0}, {704, 0}, {705, 0}, {708, 0},
               {711, 0}, {712, 0}, {713, 0}, {720, 0}, {801, 0}, {910, 0}};
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); ++i) {
    const int after = codes[i].stays ? codes[i].code : 0;
    char settings[64];
    snprintf(settings, sizeof(settings), "fail=event_create:2:%d",
             codes[i].code);
    begin(settings);
    sgpu_event_t event = new_event();
    sgpu_event_t other = NULL;
    CHECK_EQ(gpu.event_create(&other, 0), codes[i].code);
    CHECK_EQ(gpu.stream_synchronize(stream), after);
    CHECK_EQ(gpu.event_query(event), after);
    CHECK_EQ(gpu.event_destroy(event), after);
    codes[i].stays ? end_dead(after) : end();
  }
}

static void a_fault_that_is_found_on_entering_stays(void) {
  begin("fail=context_push:2:719");
  CHECK_EQ(gpu.context_push(context), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.context_push(context), 0);
  uint64_t memory = 0;
  CHECK_EQ(gpu.memory_allocate(&memory, 4), SGPU_LAUNCH_FAILED);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  end_dead(SGPU_LAUNCH_FAILED);
  begin("fail=context_pop:1:700");
  CHECK_EQ(gpu.context_push(context), 0);
  sgpu_context_t popped = NULL;
  CHECK_EQ(gpu.context_pop(&popped), SGPU_ILLEGAL_ADDRESS);
  CHECK(popped == context);
  end_dead(SGPU_ILLEGAL_ADDRESS);
}

// Fills, copies and waits of many threads, each with its own stream.
static void* work(void* argument) {
  const int number = *(int*)argument;
  CHECK_EQ(gpu.context_push(context), 0);
  sgpu_stream_t own = new_stream();
  uint64_t memory = new_memory(256);
  uint32_t* host = new_pinned(256);
  sgpu_event_t event = new_event();
  for (int i = 0; i < 100; ++i) {
    CHECK_EQ(gpu.fill_32(memory, number * 1000 + i, 64, own), 0);
    CHECK_EQ(copy(own, address(host), memory, 256), 0);
    CHECK_EQ(gpu.event_record(event, own), 0);
    CHECK_EQ(gpu.stream_wait_event(stream, event, 0), 0);
    CHECK_EQ(gpu.event_synchronize(event), 0);
    CHECK_EQ(host[63], (uint32_t)(number * 1000 + i));
  }
  CHECK_EQ(gpu.event_destroy(event), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  CHECK_EQ(gpu.stream_destroy(own), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  return NULL;
}

static void threads_have_stacks_of_their_own(void) {
  begin("");
  pthread_t threads[4];
  int numbers[4];
  for (int i = 0; i < 4; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
  }
  for (int i = 0; i < 4; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(finish(stream), 0);
  end();
}

void test_gpu_objects(void) {
  RUN(contexts_are_counted_and_stacked);
  RUN(what_a_context_has_left_is_reported);
  RUN(events_are_of_their_latest_recording);
  RUN(a_wait_takes_the_recording_of_its_time);
  RUN(a_full_stream_blocks);
  RUN(there_is_no_default_stream);
  RUN(a_lost_device_stays_lost);
  RUN(a_loss_ends_waits_and_frees);
  RUN(a_code_of_a_fault_ends_the_context);
  RUN(a_fault_that_is_found_on_entering_stays);
  RUN(threads_have_stacks_of_their_own);
}
