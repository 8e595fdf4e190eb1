// Devices that are lost: everything fails with ABORTED, and releasing works.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/driver_test.h"

// One object of each kind.
typedef struct objects_t {
  uint64_t memory, module, store, event, graph;
  pinned_t pinned;
  void* own;
} objects_t;

static objects_t new_objects(void) {
  objects_t objects = {.memory = new_memory(64),
                       .module = new_module(),
                       .event = new_event(),
                       .pinned = new_pinned(64),
                       .own = aligned_alloc(65536, 65536)};
  CHECK(objects.own);
  objects.store = function_of(objects.module, "store");
  uint64_t address = 0;
  OK(shim_gpu_host_register(device, objects.own, 65536, 0, &address, &error));
  words_t words = {0};
  add_fill(&words, objects.memory, 64, 1, 4);
  OK(shim_gpu_graph_make(device, &(shim_gpu_branch_t){stream, 0}, 1, words.values, words.count,
                         &objects.graph, &error));
  for (int32_t i = 0; i < SHIM_GPU_KIND_COMMUNICATORS; ++i) CHECK_EQ(live(i), 1);
  return objects;
}

#define IS_LOST(call) FAILS(call, SHIM_ABORTED, "' is lost: ")

static void check_all_calls_fail(const objects_t* objects) {
  CHECK(shim_gpu_device_is_lost(device));
  uint64_t out[2] = {7, 7};
  IS_LOST(shim_gpu_memory_allocate(device, 4, 0, out, &error));
  CHECK_EQ(out[0], 0);
  IS_LOST(shim_gpu_host_allocate(device, 4, out, &error));
  CHECK(!out[0] && !out[1]);
  char other[16];
  out[0] = 7;
  IS_LOST(shim_gpu_host_register(device, other, 16, 0, out, &error));
  CHECK_EQ(out[0], 0);
  char log[8] = "x";
  out[0] = 7;
  IS_LOST(shim_gpu_module_load(device, kernels, log, sizeof(log), out, &error));
  CHECK_EQ(out[0], 0);
  CHECK_EQ(log[0], 0);
  shim_gpu_function_t function = {.handle = 7};
  IS_LOST(shim_gpu_module_function(device, objects->module, "store", 0,
                                   &function, &error));
  CHECK_EQ(function.handle, 0);
  out[0] = 7;
  IS_LOST(shim_gpu_stream_create(device, out, &error));
  CHECK_EQ(out[0], 0);
  out[0] = 7;
  IS_LOST(shim_gpu_event_create(device, out, &error));
  CHECK_EQ(out[0], 0);
  IS_LOST(shim_gpu_event_wait(device, objects->event, 1000, &error));
  int32_t over = 7;
  IS_LOST(shim_gpu_event_query(device, objects->event, &over, &error));
  CHECK_EQ(over, 0);
  words_t words = {0};
  add_fill(&words, objects->memory, 64, 1, 4);
  IS_LOST(run(&words, &error));
  words.count = 0;
  IS_LOST(run(&words, &error));
  uint64_t graph = objects->graph;
  IS_LOST(shim_gpu_graph_make(device, &(shim_gpu_branch_t){stream, 0}, 1, words.values, words.count, &graph,
                              &error));
  CHECK_EQ(graph, objects->graph);
  for (int32_t i = 0; i < SHIM_GPU_KIND_COMMUNICATORS; ++i) CHECK_EQ(live(i), 1);
}

static void release_all(objects_t* objects) {
  DONE(shim_gpu_graph_release(device, objects->graph));
  DONE(shim_gpu_event_release(device, objects->event));
  DONE(shim_gpu_module_unload(device, objects->module));
  DONE(shim_gpu_host_unregister(device, objects->own));
  free_pinned(objects->pinned);
  free_memory(objects->memory);
  free(objects->own);
}

static void end_lost(objects_t* objects) {
  check_all_calls_fail(objects);
  release_all(objects);
  end();  // where nothing is left
}

// Gives the commands and waits until they are over, or something fails.
static void lose_by(const words_t* words) {
  shim_error_t failure = {0};
  shim_status_t status = run(words, &failure);
  if (!status) status = finish_on(stream, &failure);
  check_balance();
  CHECK_EQ(status, SHIM_ABORTED);
  CHECK_EQ(failure.status, SHIM_ABORTED);
  CHECK(failure.native_code);
}

static void the_cause_is_told_from_then_on(void) {
  begin("kernel_fault=1");
  objects_t objects = new_objects();
  words_t words = {0};
  add_store(&words, objects.store, objects.memory, 1);
  lose_by(&words);
  FAILS(shim_gpu_event_wait(device, objects.event, 0, &error), SHIM_ABORTED,
        "is lost: ILLEGAL_ADDRESS (700)");
  end_lost(&objects);
}

static void a_loss_is_found_in_any_call(void) {
  for (int i = 0; i < 12; ++i) {
    begin("");
    objects_t objects = new_objects();
    make_file(".lost");
    uint64_t out[2];
    char log[8];
    shim_gpu_function_t function;
    int32_t over = 0;
    words_t words = {0};
    add_fill(&words, objects.memory, 64, 1, 4);
    uint64_t graph = objects.graph;
    shim_error_t failure = {0};
    shim_error_t* error = &failure;
    // A call is made before the loss is known.
    shim_status_t status =
        i == 0   ? shim_gpu_memory_allocate(device, 4, 0, out, error)
        : i == 1 ? shim_gpu_host_allocate(device, 4, out, error)
        : i == 2 ? shim_gpu_host_register(device, log, 8, 0, out, error)
        : i == 3 ? shim_gpu_module_load(device, kernels, log, 8, out, error)
        : i == 4 ? shim_gpu_module_function(device, objects.module, "store", 0,
                                            &function, error)
        : i == 5 ? shim_gpu_stream_create(device, out, error)
        : i == 6 ? shim_gpu_event_create(device, out, error)
        : i == 7 ? shim_gpu_event_wait(device, objects.event, 0, error)
        : i == 8 ? shim_gpu_event_query(device, objects.event, &over, error)
        : i == 9 ? run(&words, error)
        : i == 10
            ? shim_gpu_graph_make(device, &(shim_gpu_branch_t){stream, 0}, 1, words.values, words.count,
                                  &graph, error)
            : finish_on(stream, error);
    check_balance();
    if (status != SHIM_ABORTED) fprintf(stderr, "call %d: %d\n", i, status);
    CHECK_EQ(status, SHIM_ABORTED);
    end_lost(&objects);
    remove_file(".lost");
  }
}

static void a_loss_is_found_while_waiting(void) {
  begin("lost_wait=1 slow=50000");
  objects_t objects = new_objects();
  words_t words = {0};
  add_fill(&words, objects.memory, 64, 1, 4);
  add(&words, SHIM_GPU_RECORD, objects.event);
  OK(run(&words, &error));
  IS_LOST(shim_gpu_event_wait(device, objects.event, 0, &error));
  end_lost(&objects);
}

static void a_loss_ends_a_capture(void) {
  begin("");
  objects_t objects = new_objects();
  words_t words = {0};
  add_launch(&words, function_of(objects.module, "trap"), 1, 0, NULL, 0);
  uint64_t graph = 0;
  OK(shim_gpu_graph_make(device, &(shim_gpu_branch_t){stream, 0}, 1, words.values, words.count, &graph,
                         &error));
  words.count = 0;
  add(&words, SHIM_GPU_GRAPH, graph);
  lose_by(&words);
  DONE(shim_gpu_graph_release(device, graph));
  end_lost(&objects);
}

//===--------------------------------------------------------------------===//
// Threads
//===--------------------------------------------------------------------===//

enum { THREADS = 4 };

static _Atomic uint32_t ready, rounds;

// Works until the device is lost.
static void* work(void* argument) {
  const objects_t* objects = argument;
  uint64_t own = new_stream(), event = new_event(), graph = 0;
  uint64_t memory = new_memory(64);
  atomic_fetch_add(&ready, 1);
  shim_error_t failure = {0};
  shim_status_t status = SHIM_OK;
  while (!status) {
    words_t words = {0};
    add_store(&words, objects->store, memory, 1);
    status = shim_gpu_graph_make(device, &(shim_gpu_branch_t){own, 0}, 1, words.values, words.count, &graph,
                                 &failure);
    add(&words, SHIM_GPU_GRAPH, graph);
    add(&words, SHIM_GPU_RECORD, event);
    if (!status) status = run_on(own, &words, &failure);
    if (!status) status = shim_gpu_event_wait(device, event, 1000, &failure);
    check_balance();
    atomic_fetch_add(&rounds, 1);
  }
  CHECK_EQ(status, SHIM_ABORTED);
  CHECK(shim_gpu_device_is_lost(device));
  if (graph) DONE(shim_gpu_graph_release(device, graph));
  free_memory(memory);
  DONE(shim_gpu_event_release(device, event));
  DONE(shim_gpu_stream_release(device, own));
  return NULL;
}

static void threads_find_the_loss(void) {
  begin("");
  objects_t objects = new_objects();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, work, &objects), 0);
  }
  while (atomic_load(&ready) < THREADS || atomic_load(&rounds) < 50) {
    usleep(1000);
  }
  make_file(".lost");
  for (int i = 0; i < THREADS; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  end_lost(&objects);
  remove_file(".lost");
}

// The last: a process whose kernel faulted cannot use CUDA any more.
static void a_kernel_that_faults_loses_the_device(void) {
  begin("");
  objects_t objects = new_objects();
  words_t words = {0};
  add_launch(&words, function_of(objects.module, "trap"), 1, 0, NULL, 0);
  lose_by(&words);
  end_lost(&objects);
}

void test_driver_loss(void) {
  if (is_fake) {
    RUN(the_cause_is_told_from_then_on);
    RUN(a_loss_is_found_in_any_call);
    RUN(a_loss_is_found_while_waiting);
    RUN(a_loss_ends_a_capture);
    RUN(threads_find_the_loss);
  }
  RUN(a_kernel_that_faults_loses_the_device);
}
