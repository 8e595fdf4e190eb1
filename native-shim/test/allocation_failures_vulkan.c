// Allocations that fail in the entry points of shim_vulkan.h: the shim's own
// and those of the driver, which is the fake. Those of recorded commands are in
// allocation_failures_commands.c.
#include "allocation_failures.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "failing.h"
#include "test.h"

#define ALL UINT64_MAX

shim_vulkan_device_t* device;
static shim_vulkan_api_t* api;
static const uint32_t families[] = {0, 0, 1};

//===--------------------------------------------------------------------===//
// Library and devices
//===--------------------------------------------------------------------===//

static void open_library(void) {
  CHECK_OK(shim_vulkan_open(FAKE_VULKAN_LIBRARY, SHIM_VULKAN_VALIDATION, &api,
                            &error));
}

static void open_device(uint64_t features) {
  open_library();
  CHECK_OK(shim_vulkan_device_open(api, 0, families, 3, features, &device,
                                   &error));
}

// There were no validation messages.
static void close_device(void) {
  shim_vulkan_device_release(device);
  char text[256];
  const uint64_t messages = shim_vulkan_message_count(api);
  if (messages) {
    size_t length = shim_vulkan_message(api, messages - 1, text, sizeof(text));
    fprintf(stderr, "the last validation message: %.*s\n", (int)length, text);
  }
  CHECK_EQ(messages, 0);
  shim_vulkan_close(api);
}

// Requested and available flags are active: a failure is not mistaken for a
// library without validation.
static shim_status_t a_library_is_opened(void) {
  shim_vulkan_api_t* opened = (shim_vulkan_api_t*)1;
  shim_status_t status = FAILING(
      shim_vulkan_open(FAKE_VULKAN_LIBRARY, SHIM_VULKAN_VALIDATION, &opened,
                       failing_error));
  CHECK_EQ(opened == NULL, status != SHIM_OK);
  if (status) return status;
  CHECK_EQ(CALM(shim_vulkan_flags(opened)),
           SHIM_VULKAN_VALIDATION | SHIM_VULKAN_DEBUG_UTILS);
  CHECK_EQ(CALM(shim_vulkan_device_count(opened)), 2);
  CALM_VOID(shim_vulkan_close(opened));
  return status;
}

static shim_status_t a_device_is_opened(void) {
  open_library();
  device = (shim_vulkan_device_t*)1;
  shim_status_t status =
      FAILING(shim_vulkan_device_open(api, 0, families, 3, ALL, &device,
                                      failing_error));
  CHECK_EQ(device == NULL, status != SHIM_OK);
  close_device();
  return status;
}

// Even when waiting for idle fails.
static shim_status_t a_device_is_released(void) {
  open_device(ALL);
  FAILING_VOID(shim_vulkan_device_release(device));
  device = NULL;
  close_device();
  return FAILING_HAS_NO_STATUS;
}

static void what_only_tells_asks_for_nothing(void) {
  open_device(ALL);
  int64_t counts[SHIM_VULKAN_KIND_COUNT];
  shim_vulkan_device_info_t info;
  char text[8];
  CHECK(CALM(shim_vulkan_feature_name(0)));
  CHECK(CALM(shim_vulkan_kind_name(0)));
  CALM_VOID(shim_vulkan_live_objects(counts));
  CHECK(CALM(shim_vulkan_version(api)));
  CHECK_EQ(CALM(shim_vulkan_message_count(api)), 0);
  CHECK_EQ(CALM(shim_vulkan_message(api, 0, text, sizeof(text))), 0);
  CHECK_EQ(CALM(shim_vulkan_device_query(api, 0, &info, sizeof(info),
                                         failing_error)),
           SHIM_OK);
  CHECK(CALM(shim_vulkan_device_features(device)));
  CHECK_EQ(CALM(shim_vulkan_device_is_lost(device)), 0);
  CALM_VOID(shim_vulkan_device_live_objects(device, counts));
  close_device();
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

shim_vulkan_memory_t* memory_of(uint32_t flags) {
  shim_vulkan_memory_t* memory = NULL;
  CHECK_OK(
      shim_vulkan_memory_create(device, 4096, 1, flags, &memory, &error));
  return memory;
}

static shim_status_t memory_is_created(void) {
  shim_vulkan_memory_t* memory = (shim_vulkan_memory_t*)1;
  shim_status_t status = FAILING(shim_vulkan_memory_create(
      device, 4096, 1, SHIM_VULKAN_MEMORY_EXPORTABLE, &memory, failing_error));
  CHECK_EQ(memory == NULL, status != SHIM_OK);
  if (memory) {
    shim_vulkan_memory_info_t info;
    CALM_VOID(shim_vulkan_memory_query(memory, &info));
    CHECK(info.host);
  }
  CALM_VOID(shim_vulkan_memory_release(memory));
  return status;
}

static shim_status_t memory_of_the_host_is_imported(void) {
  static _Alignas(4096) char host[4096];
  shim_vulkan_memory_t* memory = (shim_vulkan_memory_t*)1;
  shim_status_t status = FAILING(shim_vulkan_memory_import_host(
      device, host, sizeof(host), &memory, failing_error));
  CHECK_EQ(memory == NULL, status != SHIM_OK);
  shim_vulkan_memory_release(memory);
  return status;
}

static shim_status_t memory_is_exported(void) {
  shim_vulkan_memory_t* memory = memory_of(SHIM_VULKAN_MEMORY_EXPORTABLE);
  int32_t fd = 7;
  shim_status_t status =
      FAILING(shim_vulkan_memory_export(memory, &fd, failing_error));
  CHECK_EQ(fd == 0, status != SHIM_OK);
  if (fd) close(fd);
  shim_vulkan_memory_release(memory);
  return status;
}

// The caller owns the descriptor until the import has succeeded.
static shim_status_t memory_is_imported(void) {
  shim_vulkan_memory_t* memory = memory_of(SHIM_VULKAN_MEMORY_EXPORTABLE);
  int32_t fd = 0;
  CHECK_OK(shim_vulkan_memory_export(memory, &fd, &error));
  shim_vulkan_memory_t* same = (shim_vulkan_memory_t*)1;
  shim_status_t status = FAILING(shim_vulkan_memory_import_fd(
      device, fd, 4096, 1, &same, failing_error));
  CHECK_EQ(same == NULL, status != SHIM_OK);
  CHECK_EQ(fcntl(fd, F_GETFD) >= 0, status != SHIM_OK);
  if (status) close(fd);
  shim_vulkan_memory_release(same);
  shim_vulkan_memory_release(memory);
  return status;
}

//===--------------------------------------------------------------------===//
// Timelines
//===--------------------------------------------------------------------===//

shim_vulkan_timeline_t* timeline_of(uint32_t flags) {
  shim_vulkan_timeline_t* timeline = NULL;
  CHECK_OK(shim_vulkan_timeline_create(device, 0, flags, &timeline, &error));
  return timeline;
}

static shim_status_t a_timeline_is_created(void) {
  shim_vulkan_timeline_t* timeline = (shim_vulkan_timeline_t*)1;
  shim_status_t status = FAILING(shim_vulkan_timeline_create(
      device, 0, SHIM_VULKAN_TIMELINE_EXPORTABLE, &timeline, failing_error));
  CHECK_EQ(timeline == NULL, status != SHIM_OK);
  CALM_VOID(shim_vulkan_timeline_release(timeline));
  return status;
}

static shim_status_t a_timeline_is_asked(void) {
  shim_vulkan_timeline_t* timeline = timeline_of(0);
  uint64_t value = 7;
  shim_status_t status =
      FAILING(shim_vulkan_timeline_value(timeline, &value, failing_error));
  CHECK_EQ(value, 0);
  shim_vulkan_timeline_release(timeline);
  return status;
}

static shim_status_t a_timeline_is_signalled(void) {
  shim_vulkan_timeline_t* timeline = timeline_of(0);
  shim_status_t status =
      FAILING(shim_vulkan_timeline_signal(timeline, 3, failing_error));
  uint64_t value = 7;
  CHECK_OK(shim_vulkan_timeline_value(timeline, &value, &error));
  CHECK_EQ(value, status ? 0 : 3);
  shim_vulkan_timeline_release(timeline);
  return status;
}

static shim_status_t a_timeline_is_exported(void) {
  shim_vulkan_timeline_t* timeline =
      timeline_of(SHIM_VULKAN_TIMELINE_EXPORTABLE);
  int32_t fd = 7;
  shim_status_t status =
      FAILING(shim_vulkan_timeline_export(timeline, &fd, failing_error));
  CHECK_EQ(fd == 0, status != SHIM_OK);
  if (fd) close(fd);
  shim_vulkan_timeline_release(timeline);
  return status;
}

static shim_status_t a_timeline_is_imported(void) {
  shim_vulkan_timeline_t* timeline =
      timeline_of(SHIM_VULKAN_TIMELINE_EXPORTABLE);
  shim_vulkan_timeline_t* same = timeline_of(0);
  int32_t fd = 0;
  CHECK_OK(shim_vulkan_timeline_export(timeline, &fd, &error));
  shim_status_t status =
      FAILING(shim_vulkan_timeline_import(same, fd, failing_error));
  CHECK_EQ(fcntl(fd, F_GETFD) >= 0, status != SHIM_OK);
  if (status) close(fd);
  shim_vulkan_timeline_release(same);
  shim_vulkan_timeline_release(timeline);
  return status;
}

static shim_status_t many_timelines_are_waited_for(void) {
  shim_vulkan_timeline_t* timeline = timeline_of(0);
  CHECK_OK(shim_vulkan_timeline_signal(timeline, 1, &error));
  uint64_t words[2 * MANY];
  for (int i = 0; i < MANY; ++i) {
    words[i] = handle(timeline);
    words[MANY + i] = 1;
  }
  shim_status_t status =
      FAILING(shim_vulkan_wait_any(device, words, MANY, -1, failing_error));
  shim_vulkan_timeline_release(timeline);
  return status;
}

//===--------------------------------------------------------------------===//
// Pipelines
//===--------------------------------------------------------------------===//

// void main() {}
static const uint32_t code[] = {
    0x07230203, 0x00010000, 0, 5, 0,                // version, bound
    2 << 16 | 17, 1,                                // shader
    3 << 16 | 14, 0, 1,                             // memory model
    5 << 16 | 15, 5, 1, 0x6e69616d, 0,              // %1 is main
    6 << 16 | 16, 1, 17, 1, 1, 1,                   // of size 1
    2 << 16 | 19, 2, 3 << 16 | 33, 3, 2,            // void, void()
    5 << 16 | 54, 2, 1, 0, 3, 2 << 16 | 248, 4,     // function, label
    1 << 16 | 253, 1 << 16 | 56,                    // return, end
};

static const uint64_t layouts[KIND_COUNT][9] = {
    {2, 1, 0, 7, 1, 1, 5, 7, 2},
    {2, 1, 0, 6, 1, 1, 5, 7, 2},
    {1, 1, 0, 7, PUSHED_BINDINGS},
};

static shim_vulkan_pipeline_params_t params_of(kind_t kind) {
  return (shim_vulkan_pipeline_params_t){
      .code = code,
      .code_size = sizeof(code),
      .entry_point = "main",
      .layout = layouts[kind],
      .layout_words = kind == PUSHED ? 5 : 9,
      .push_descriptors = kind == PUSHED,
  };
}

shim_vulkan_pipeline_t* pipeline_of(kind_t kind) {
  const shim_vulkan_pipeline_params_t params = params_of(kind);
  shim_vulkan_pipeline_t* pipeline = NULL;
  CHECK_OK(shim_vulkan_pipeline_create(device, &params, &pipeline, &error));
  return pipeline;
}

static shim_status_t a_cache_is_created(void) {
  shim_vulkan_pipeline_cache_t* cache = (shim_vulkan_pipeline_cache_t*)1;
  shim_status_t status = FAILING(shim_vulkan_pipeline_cache_create(
      device, NULL, 0, &cache, failing_error));
  CHECK_EQ(cache == NULL, status != SHIM_OK);
  CALM_VOID(shim_vulkan_pipeline_cache_release(cache));
  return status;
}

static shim_status_t a_cache_is_read(void) {
  shim_vulkan_pipeline_cache_t* cache = NULL;
  CHECK_OK(
      shim_vulkan_pipeline_cache_create(device, NULL, 0, &cache, &error));
  char data[64];
  size_t size = 7;
  shim_status_t status = FAILING(shim_vulkan_pipeline_cache_data(
      cache, data, sizeof(data), &size, failing_error));
  CHECK_EQ(size == 0, status != SHIM_OK);
  shim_vulkan_pipeline_cache_release(cache);
  return status;
}

static shim_status_t a_pipeline_is_created(void) {
  const shim_vulkan_pipeline_params_t params = params_of(STORAGE);
  shim_vulkan_pipeline_t* pipeline = (shim_vulkan_pipeline_t*)1;
  shim_status_t status = FAILING(
      shim_vulkan_pipeline_create(device, &params, &pipeline, failing_error));
  CHECK_EQ(pipeline == NULL, status != SHIM_OK);
  CALM_VOID(shim_vulkan_pipeline_release(pipeline));
  return status;
}

//===--------------------------------------------------------------------===//
// All of them
//===--------------------------------------------------------------------===//

static void on_a_device(const char* settings, uint64_t features) {
  fprintf(stderr, "on the fake: %s, features %llx\n", settings,
          (unsigned long long)features);
  setenv("FAKE_VULKAN", settings, 1);
  open_device(features);
  FAILING_EACH(memory_is_created);
  FAILING_EACH(memory_of_the_host_is_imported);
  FAILING_EACH(memory_is_exported);
  FAILING_EACH(memory_is_imported);
  FAILING_EACH(a_timeline_is_created);
  FAILING_EACH(a_timeline_is_asked);
  FAILING_EACH(a_timeline_is_signalled);
  FAILING_EACH(a_timeline_is_exported);
  FAILING_EACH(a_timeline_is_imported);
  FAILING_EACH(many_timelines_are_waited_for);
  FAILING_EACH(a_cache_is_created);
  FAILING_EACH(a_cache_is_read);
  FAILING_EACH(a_pipeline_is_created);
  command_allocations_fail();
  close_device();
}

void vulkan_allocations_fail(void) {
  setenv("FAKE_VULKAN", "devices=cpu+discrete", 1);
  FAILING_EACH(a_library_is_opened);
  FAILING_EACH(a_device_is_opened);
  FAILING_EACH(a_device_is_released);
  RUN(what_only_tells_asks_for_nothing);
  on_a_device("push", ALL);
  on_a_device("push update_after_bind", ALL);
  // Some descriptors can change after recording, others cannot.
  const int32_t uniform = SHIM_VULKAN_FEATURE_UNIFORM_BUFFER_UPDATE_AFTER_BIND;
  on_a_device("push update_after_bind", ALL & ~(1ull << uniform));
}
