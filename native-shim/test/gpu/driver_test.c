// Devices, objects and commands for the tests of shim_gpu.h.
#include "gpu/driver_test.h"

#include <stdlib.h>

shim_gpu_device_t* device;
uint64_t stream;

int64_t live(int32_t kind) {
  int64_t counts[SHIM_GPU_KIND_COUNT];
  shim_gpu_device_live_objects(device, counts);
  return counts[kind];
}

static void check_live(int64_t streams) {
  for (int32_t i = 0; i < SHIM_GPU_KIND_COUNT; ++i) {
    if (live(i) == (i == SHIM_GPU_KIND_STREAMS ? streams : 0)) continue;
    fprintf(stderr, "there are %lld %s\n", (long long)live(i),
            shim_gpu_kind_name(i));
    exit(1);
  }
}

void check_only_the_stream_is_live(void) { check_live(1); }

void open_device(void) {
  OK(shim_gpu_device_open(api, 0, &device, &error));
  CHECK(!shim_gpu_device_is_lost(device));
  stream = new_stream();
}

void close_device(void) {
  DONE(shim_gpu_stream_release(device, stream));
  check_live(0);
  DONE(shim_gpu_device_release(device));
  device = NULL;
}

void begin(const char* settings) {
  open_library(settings);
  open_device();
}

void end(void) {
  close_device();
  close_library();
}

uint64_t new_memory(uint64_t size) {
  uint64_t address = 0;
  OK(shim_gpu_memory_allocate(device, size, 0, &address, &error));
  return address;
}

void free_memory(uint64_t address) {
  OK(shim_gpu_memory_free(device, address, 0, &error));
}

uint64_t new_stream(void) {
  uint64_t made = 0;
  OK(shim_gpu_stream_create(device, &made, &error));
  CHECK(made);
  return made;
}

uint64_t new_event(void) {
  uint64_t made = 0;
  OK(shim_gpu_event_create(device, &made, &error));
  CHECK(made);
  return made;
}

pinned_t new_pinned(uint64_t size) {
  uint64_t addresses[2];
  OK(shim_gpu_host_allocate(device, size, addresses, &error));
  CHECK(addresses[0] && addresses[1]);
  memset((void*)(uintptr_t)addresses[0], 0, size);
  return (pinned_t){(uint32_t*)(uintptr_t)addresses[0], addresses[1]};
}

void free_pinned(pinned_t memory) {
  DONE(shim_gpu_host_free(device, (uintptr_t)memory.host));
}

uint64_t new_module(void) {
  uint64_t module = 0;
  char log[1000];
  shim_error_t failure = {0};
  if (shim_gpu_module_load(device, kernels, log, sizeof(log), &module,
                           &failure)) {
    fprintf(stderr, "%s: %s\n", failure.message, log);
    exit(1);
  }
  return module;
}

uint64_t function_of(uint64_t module, const char* name) {
  shim_gpu_function_t function;
  OK(shim_gpu_module_function(device, module, name, 0, &function, &error));
  CHECK(function.handle);
  return function.handle;
}

//===--------------------------------------------------------------------===//
// Commands
//===--------------------------------------------------------------------===//

static void append(words_t* words, const uint64_t* more, size_t count) {
  CHECK(words->count + count <=
        sizeof(words->values) / sizeof(words->values[0]));
  if (!count) return;
  memcpy(words->values + words->count, more, count * sizeof(*more));
  words->count += count;
}

void add(words_t* words, uint64_t command, uint64_t operand) {
  append(words, (uint64_t[]){command, operand}, 2);
}

void add_fill(words_t* words, uint64_t address, uint64_t bytes,
              uint32_t pattern, uint32_t unit) {
  const uint64_t all[] = {SHIM_GPU_FILL, address, bytes, pair(pattern, unit)};
  append(words, all, 4);
}

void add_copy(words_t* words, uint64_t target, uint64_t source,
              uint64_t bytes) {
  append(words, (uint64_t[]){SHIM_GPU_COPY, target, source, bytes}, 4);
}

void add_call(words_t* words, const words_t* called) {
  append(words,
         (uint64_t[]){SHIM_GPU_CALL, (uintptr_t)called->values, called->count},
         3);
}

void add_launch(words_t* words, uint64_t function, uint32_t threads,
                uint32_t shared_bytes, const uint64_t* params,
                uint32_t count) {
  const uint64_t head[] = {SHIM_GPU_LAUNCH,       function,
                           pair(1, 1),            pair(shared_bytes, 1),
                           pair(1, threads),      pair(count, 1)};
  append(words, head, 6);
  append(words, params, count);
}

void add_store(words_t* words, uint64_t function, uint64_t to, uint32_t value) {
  add_launch(words, function, 1, 0, (uint64_t[]){to, value}, 2);
}

shim_status_t run_on(uint64_t stream_, const words_t* words,
                     shim_error_t* error) {
  return shim_gpu_run(device, stream_, words->values, words->count, error);
}

shim_status_t run(const words_t* words, shim_error_t* error) {
  return run_on(stream, words, error);
}

shim_status_t finish_on(uint64_t stream_, shim_error_t* error) {
  uint64_t event = 0;
  shim_status_t status = shim_gpu_event_create(device, &event, error);
  if (status) return status;
  words_t words = {0};
  add(&words, SHIM_GPU_RECORD, event);
  status = run_on(stream_, &words, error);
  if (!status) status = shim_gpu_event_wait(device, event, 1000, error);
  shim_gpu_event_release(device, event);
  return status;
}

void finish(void) { OK(finish_on(stream, &error)); }

uint32_t value_at(uint64_t address) {
  pinned_t copied = new_pinned(4);
  words_t words = {0};
  add_copy(&words, copied.address, address, 4);
  OK(run(&words, &error));
  finish();
  uint32_t value = *copied.host;
  free_pinned(copied);
  return value;
}
