// Failures in the entry points of shim_gpu.h: of the shim's own allocations, in
// finding the driver's functions, and in each of their calls. The drivers are
// the fakes of CUDA and HIP.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "allocation_failures.h"
#include "failing.h"
#include "gpu/driver_kernels.h"
#include "shim_gpu.h"
#include "test.h"

static bool hip;
static shim_gpu_api_t* api;
static shim_gpu_device_t* gpu;
static uint64_t stream;

static int32_t kind(void) { return hip ? SHIM_GPU_HIP : SHIM_GPU_CUDA; }

static const char* library(void) {
  return hip ? FAKE_HIP_LIBRARY : FAKE_CUDA_LIBRARY;
}

static void set(const char* settings) {
  setenv(hip ? "FAKE_HIP" : "FAKE_CUDA", settings, 1);
}

//===--------------------------------------------------------------------===//
// Library and devices
//===--------------------------------------------------------------------===//

static void open_library(void) {
  CHECK_OK(shim_gpu_open(kind(), library(), &api, &error));
}

static void open_device(void) {
  open_library();
  CHECK_OK(shim_gpu_device_open(api, 0, &gpu, &error));
  CHECK_OK(shim_gpu_stream_create(gpu, &stream, &error));
  failing_gpu_device = gpu;
}

static void check_no_complaints(void) {
  void* handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
  CHECK(handle);
  int (*complaints)(char*, int) = NULL;
  void* found = dlsym(handle, "fake_gpu_complaints");
  CHECK(found);
  memcpy(&complaints, &found, sizeof(found));
  char text[1024];
  if (complaints(text, sizeof(text))) {
    fprintf(stderr, "the fake complained: %s\n", text);
    exit(1);
  }
  dlclose(handle);
}

static void close_device(void) {
  shim_gpu_stream_release(gpu, stream);
  failing_gpu_device = NULL;
  shim_gpu_device_release(gpu);
  check_no_complaints();
  shim_gpu_close(api);
}

// An optional function that is missing is no failure, here.
static shim_status_t a_gpu_library_is_opened(void) {
  shim_gpu_api_t* opened = (shim_gpu_api_t*)1;
  shim_status_t status =
      FAILING(shim_gpu_open(kind(), library(), &opened, failing_error));
  CHECK_EQ(opened == NULL, status != SHIM_OK);
  if (status) return status;
  CHECK(CALM(shim_gpu_version(opened)) > 0);
  CHECK_EQ(CALM(shim_gpu_device_count(opened)), 1);
  CALM_VOID(shim_gpu_close(opened));
  return status;
}

static shim_status_t a_gpu_device_is_described(void) {
  open_library();
  shim_gpu_device_info_t info;
  shim_status_t status = FAILING(
      shim_gpu_device_query(api, 0, &info, sizeof(info), failing_error));
  if (!status) CHECK_EQ(info.max_threads_per_block, 1024);
  shim_gpu_close(api);
  return status;
}

static shim_status_t a_gpu_device_is_opened(void) {
  open_library();
  shim_gpu_device_t* opened = (shim_gpu_device_t*)1;
  shim_status_t status =
      FAILING(shim_gpu_device_open(api, 0, &opened, failing_error));
  CHECK_EQ(opened == NULL, status != SHIM_OK);
  shim_gpu_device_release(opened);
  check_no_complaints();
  shim_gpu_close(api);
  return status;
}

static shim_status_t a_gpu_device_is_released(void) {
  open_library();
  shim_gpu_device_t* opened = NULL;
  CHECK_OK(shim_gpu_device_open(api, 0, &opened, &error));
  FAILING_VOID(shim_gpu_device_release(opened));
  shim_gpu_close(api);
  return FAILING_HAS_NO_STATUS;
}

static void what_only_tells_asks_the_driver_nothing(void) {
  open_library();
  shim_gpu_device_t* opened = NULL;
  CHECK_OK(shim_gpu_device_open(api, 0, &opened, &error));
  CHECK(CALM(shim_gpu_kind_name(0)));
  int64_t counts[SHIM_GPU_KIND_COUNT];
  CALM_VOID(shim_gpu_device_live_objects(opened, counts));
  CHECK_EQ(CALM(shim_gpu_device_is_lost(opened)), 0);
  shim_gpu_device_release(opened);
  shim_gpu_close(api);
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

static uint64_t gpu_memory(uint64_t size) {
  uint64_t address = 0;
  CHECK_OK(shim_gpu_memory_allocate(gpu, size, 0, &address, &error));
  return address;
}

static shim_status_t gpu_memory_is_allocated(void) {
  uint64_t address = 7;
  shim_status_t status =
      FAILING(shim_gpu_memory_allocate(gpu, 64, 0, &address, failing_error));
  CHECK_EQ(address == 0, status != SHIM_OK);
  if (address) CHECK_OK(shim_gpu_memory_free(gpu, address, 0, &error));
  return status;
}

static shim_status_t managed_memory_is_allocated(void) {
  uint64_t address = 7;
  shim_status_t status =
      FAILING(shim_gpu_memory_allocate(gpu, 64, 1, &address, failing_error));
  CHECK_EQ(address == 0, status != SHIM_OK);
  if (address) CHECK_OK(shim_gpu_memory_free(gpu, address, 1, &error));
  return status;
}

static shim_status_t gpu_memory_is_checked(void) {
  const uint64_t address = gpu_memory(64);
  shim_status_t status =
      FAILING(shim_gpu_memory_check(gpu, address, 64, failing_error));
  CHECK_OK(shim_gpu_memory_free(gpu, address, 0, &error));
  return status;
}

static shim_status_t gpu_memory_is_available(void) {
  uint64_t bytes = 7;
  shim_status_t status =
      FAILING(shim_gpu_memory_available(gpu, &bytes, failing_error));
  CHECK_EQ(bytes == UINT64_MAX, status != SHIM_OK);
  return status;
}

static shim_status_t a_device_reaches_another(void) {
  shim_gpu_device_t* other = NULL;
  CHECK_OK(shim_gpu_device_open(api, 1, &other, &error));
  shim_status_t status =
      FAILING(shim_gpu_device_reach(gpu, other, failing_error));
  shim_gpu_device_release(other);
  return status;
}

static shim_status_t code_is_compiled(void) {
  uint64_t code[3] = {7, 7, 7};
  shim_status_t status = FAILING(shim_gpu_link(
      gpu, (void*)(uintptr_t)kernels, strlen(kernels) + 1, code,
      failing_error));
  CHECK_EQ(code[0] == 0, status != SHIM_OK);
  CHECK_EQ(code[2] == 0, status != SHIM_OK);
  if (!status) shim_gpu_link_release(gpu, code[0]);
  return status;
}

static shim_status_t compiled_code_is_freed(void) {
  uint64_t code[3];
  CHECK_OK(shim_gpu_link(gpu, (void*)(uintptr_t)kernels, strlen(kernels) + 1,
                         code, &error));
  FAILING_VOID(shim_gpu_link_release(gpu, code[0]));
  return FAILING_HAS_NO_STATUS;
}

static shim_status_t gpu_memory_is_freed(void) {
  const uint64_t address = gpu_memory(64);
  CHECK_OK(FAILING(shim_gpu_memory_free(gpu, address, 0, failing_error)));
  return FAILING_HAS_NO_STATUS;
}

static shim_status_t pinned_memory_is_allocated(void) {
  uint64_t addresses[2] = {7, 7};
  shim_status_t status =
      FAILING(shim_gpu_host_allocate(gpu, 64, addresses, failing_error));
  for (int i = 0; i < 2; ++i) CHECK_EQ(addresses[i] == 0, status != SHIM_OK);
  if (!status) shim_gpu_host_free(gpu, addresses[0]);
  return status;
}

static shim_status_t pinned_memory_is_freed(void) {
  uint64_t addresses[2] = {0};
  CHECK_OK(shim_gpu_host_allocate(gpu, 64, addresses, &error));
  FAILING_VOID(shim_gpu_host_free(gpu, addresses[0]));
  return FAILING_HAS_NO_STATUS;
}

static char own[4096];

static shim_status_t memory_is_registered(void) {
  uint64_t address = 7;
  shim_status_t status = FAILING(shim_gpu_host_register(
      gpu, own, sizeof(own), 1, &address, failing_error));
  CHECK_EQ(address == 0, status != SHIM_OK);
  if (!status) shim_gpu_host_unregister(gpu, own);
  return status;
}

static shim_status_t memory_is_unregistered(void) {
  uint64_t address = 0;
  CHECK_OK(shim_gpu_host_register(gpu, own, sizeof(own), 1, &address, &error));
  FAILING_VOID(shim_gpu_host_unregister(gpu, own));
  return FAILING_HAS_NO_STATUS;
}

//===--------------------------------------------------------------------===//
// Code
//===--------------------------------------------------------------------===//

static uint64_t module_of(void) {
  uint64_t module = 0;
  CHECK_OK(shim_gpu_module_load(gpu, kernels, NULL, 0, &module, &error));
  return module;
}

static uint64_t function_of(uint64_t module) {
  shim_gpu_function_t function;
  CHECK_OK(
      shim_gpu_module_function(gpu, module, "store", 0, &function, &error));
  return function.handle;
}

static shim_status_t a_module_is_loaded(void) {
  uint64_t module = 7;
  char log[16] = "x";
  shim_status_t status = FAILING(shim_gpu_module_load(
      gpu, kernels, log, sizeof(log), &module, failing_error));
  CHECK_EQ(module == 0, status != SHIM_OK);
  CHECK_EQ(log[0], 0);
  if (module) shim_gpu_module_unload(gpu, module);
  return status;
}

static shim_status_t a_module_is_unloaded(void) {
  const uint64_t module = module_of();
  FAILING_VOID(shim_gpu_module_unload(gpu, module));
  return FAILING_HAS_NO_STATUS;
}

static shim_status_t a_function_is_found(void) {
  const uint64_t module = module_of();
  shim_gpu_function_t function = {.handle = 7};
  shim_status_t status = FAILING(shim_gpu_module_function(
      gpu, module, "shared", 100, &function, failing_error));
  CHECK_EQ(function.handle == 0, status != SHIM_OK);
  CHECK_EQ(function.shared_bytes, status ? 0 : 1024);
  shim_gpu_module_unload(gpu, module);
  return status;
}

//===--------------------------------------------------------------------===//
// Streams, events, commands
//===--------------------------------------------------------------------===//

static shim_status_t a_stream_is_created(void) {
  uint64_t made = 7;
  shim_status_t status =
      FAILING(shim_gpu_stream_create(gpu, &made, failing_error));
  CHECK_EQ(made == 0, status != SHIM_OK);
  if (made) shim_gpu_stream_release(gpu, made);
  return status;
}

static shim_status_t a_stream_is_released(void) {
  uint64_t made = 0;
  CHECK_OK(shim_gpu_stream_create(gpu, &made, &error));
  FAILING_VOID(shim_gpu_stream_release(gpu, made));
  return FAILING_HAS_NO_STATUS;
}

static uint64_t gpu_event(void) {
  uint64_t made = 0;
  CHECK_OK(shim_gpu_event_create(gpu, &made, &error));
  return made;
}

static shim_status_t a_gpu_event_is_created(void) {
  uint64_t made = 7;
  shim_status_t status =
      FAILING(shim_gpu_event_create(gpu, &made, failing_error));
  CHECK_EQ(made == 0, status != SHIM_OK);
  if (made) shim_gpu_event_release(gpu, made);
  return status;
}

static shim_status_t a_gpu_event_is_released(void) {
  const uint64_t made = gpu_event();
  FAILING_VOID(shim_gpu_event_release(gpu, made));
  return FAILING_HAS_NO_STATUS;
}

static uint64_t pair(uint32_t upper, uint32_t lower) {
  return (uint64_t)upper << 32 | lower;
}

// Waits for what the stream has.
static void finish(void) {
  const uint64_t event = gpu_event();
  const uint64_t words[] = {SHIM_GPU_RECORD, event};
  CHECK_OK(shim_gpu_run(gpu, stream, words, 2, &error));
  CHECK_OK(shim_gpu_event_wait(gpu, event, 0, &error));
  shim_gpu_event_release(gpu, event);
}

// What is to be waited for takes a while.
static shim_status_t a_gpu_event_is_waited_for(void) {
  const uint64_t event = gpu_event(), memory = gpu_memory(64);
  const uint64_t words[] = {SHIM_GPU_FILL, memory, 64, pair(1, 1),
                            SHIM_GPU_RECORD, event};
  CHECK_OK(shim_gpu_run(gpu, stream, words, 6, &error));
  shim_status_t status =
      FAILING(shim_gpu_event_wait(gpu, event, 1, failing_error));
  finish();
  CHECK_OK(shim_gpu_memory_free(gpu, memory, 0, &error));
  shim_gpu_event_release(gpu, event);
  return status;
}

static shim_status_t a_gpu_event_is_looked_at(void) {
  const uint64_t event = gpu_event();
  int32_t over = 7;
  shim_status_t status =
      FAILING(shim_gpu_event_query(gpu, event, &over, failing_error));
  CHECK_EQ(over, status == SHIM_OK);
  shim_gpu_event_release(gpu, event);
  return status;
}

// Memory, a kernel, and a graph that fills the memory with |number|.
typedef struct gpu_work_t {
  uint64_t host, address, module, store, graph, event;
} gpu_work_t;

static gpu_work_t gpu_work_of(uint32_t number) {
  uint64_t addresses[2];
  CHECK_OK(shim_gpu_host_allocate(gpu, 64, addresses, &error));
  gpu_work_t work = {.host = addresses[0],
                     .address = addresses[1],
                     .module = module_of(),
                     .event = gpu_event()};
  work.store = function_of(work.module);
  memset((void*)(uintptr_t)work.host, 0, 64);
  if (!number) return work;
  const uint64_t words[] = {SHIM_GPU_FILL, work.address, 4, pair(number, 4)};
  CHECK_OK(
      shim_gpu_graph_make(gpu, &(shim_gpu_branch_t){stream, 0}, 1, words, 4, &work.graph, &error));
  return work;
}

static void release(const gpu_work_t* work) {
  finish();
  if (work->graph) shim_gpu_graph_release(gpu, work->graph);
  shim_gpu_event_release(gpu, work->event);
  shim_gpu_module_unload(gpu, work->module);
  shim_gpu_host_free(gpu, work->host);
}

static uint32_t number_in(const gpu_work_t* work, int index) {
  return ((const uint32_t*)(uintptr_t)work->host)[index];
}

// Each leaves a number of its own; what comes after a failure leaves none.
static shim_status_t commands_are_run(void) {
  gpu_work_t work = gpu_work_of(1);
  const uint64_t at = work.address;
  const uint64_t called[] = {SHIM_GPU_FILL, at + 4, 4, pair(2, 4)};
  const uint64_t words[] = {
      SHIM_GPU_GRAPH,  work.graph,
      SHIM_GPU_CALL,   (uintptr_t)called, 4,
      SHIM_GPU_FILL,   at + 8, 4, pair(3, 2),
      SHIM_GPU_FILL,   at + 12, 4, pair(4, 1),
      SHIM_GPU_COPY,   at + 16, at + 4, 4,
      SHIM_GPU_LAUNCH, work.store, pair(1, 1), pair(0, 1), pair(1, 1),
      pair(2, 1),      at + 20, 5,
      SHIM_GPU_RECORD, work.event,
      SHIM_GPU_WAIT,   work.event,
      SHIM_GPU_FILL,   at + 24, 4, pair(6, 4)};
  shim_status_t status = FAILING(shim_gpu_run(
      gpu, stream, words, sizeof(words) / sizeof(words[0]), failing_error));
  finish();
  bool gone = false;
  for (int i = 0; i < 7; ++i) {
    if (!number_in(&work, i)) gone = true;
    CHECK(!gone || !number_in(&work, i));
  }
  CHECK_EQ(gone, status != SHIM_OK);
  release(&work);
  return status;
}

// Makes a graph, or has one do something else; on failure it is what it was.
static shim_status_t make_graph(uint32_t before) {
  gpu_work_t work = gpu_work_of(before);
  uint64_t graph = work.graph;
  const uint64_t words[] = {SHIM_GPU_FILL, work.address, 4, pair(2, 4)};
  shim_status_t status =
      FAILING(shim_gpu_graph_make(gpu, &(shim_gpu_branch_t){stream, 0}, 1, words, 4, &graph,
                                  failing_error));
  if (status || before) CHECK_EQ(graph, work.graph);
  work.graph = graph;
  if (graph) {
    const uint64_t launch[] = {SHIM_GPU_GRAPH, graph};
    CHECK_OK(shim_gpu_run(gpu, stream, launch, 2, &error));
  }
  finish();
  CHECK_EQ(number_in(&work, 0), status ? before : 2);
  release(&work);
  return status;
}

static shim_status_t a_graph_is_made(void) { return make_graph(0); }
static shim_status_t a_graph_is_updated(void) { return make_graph(1); }

static shim_status_t a_graph_is_released(void) {
  gpu_work_t work = gpu_work_of(1);
  FAILING_VOID(shim_gpu_graph_release(gpu, work.graph));
  work.graph = 0;
  release(&work);
  return FAILING_HAS_NO_STATUS;
}

//===--------------------------------------------------------------------===//
// All of them
//===--------------------------------------------------------------------===//

static void on_a_library(bool is_hip) {
  hip = is_hip;
  fprintf(stderr, "on the fake: %s\n", hip ? "HIP" : "CUDA");
  set("");
  FAILING_EACH(a_gpu_library_is_opened);
  FAILING_EACH(a_gpu_device_is_described);
  FAILING_EACH(a_gpu_device_is_opened);
  failing_gpu_enters = false;
  FAILING_EACH(a_gpu_device_is_released);
  failing_gpu_enters = true;
  RUN(what_only_tells_asks_the_driver_nothing);
  open_device();
  FAILING_EACH(gpu_memory_is_allocated);
  FAILING_EACH(managed_memory_is_allocated);
  FAILING_EACH(gpu_memory_is_available);
  FAILING_EACH(gpu_memory_is_checked);
  if (!hip) FAILING_EACH(code_is_compiled);
  FAILING_EACH(pinned_memory_is_allocated);
  FAILING_EACH(memory_is_registered);
  FAILING_EACH(a_module_is_loaded);
  FAILING_EACH(a_function_is_found);
  FAILING_EACH(a_stream_is_created);
  FAILING_EACH(a_gpu_event_is_created);
  FAILING_EACH(a_gpu_event_is_looked_at);
  FAILING_EACH(commands_are_run);
  FAILING_EACH(a_graph_is_made);
  FAILING_EACH(a_graph_is_updated);
  failing_gpu_enters = false;
  FAILING_EACH(gpu_memory_is_freed);
  if (!hip) FAILING_EACH(compiled_code_is_freed);
  FAILING_EACH(pinned_memory_is_freed);
  FAILING_EACH(memory_is_unregistered);
  FAILING_EACH(a_module_is_unloaded);
  FAILING_EACH(a_stream_is_released);
  FAILING_EACH(a_gpu_event_is_released);
  FAILING_EACH(a_graph_is_released);
  failing_gpu_enters = true;
  close_device();
  set("devices=2 peer");
  open_device();
  FAILING_EACH(a_device_reaches_another);
  close_device();
  set("slow=20000");
  open_device();
  FAILING_EACH(a_gpu_event_is_waited_for);
  close_device();
}

void gpu_allocations_fail(void) {
  on_a_library(false);
  on_a_library(true);
}
