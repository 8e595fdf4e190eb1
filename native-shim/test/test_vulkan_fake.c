// Vulkan without hardware: missing features, exhaustion, device loss, malformed
// words, several threads on several queues.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "shim_vulkan.h"
#include "test.h"
#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

#define ALL UINT64_MAX

static shim_vulkan_api_t* open_fake(const char* settings) {
  setenv("FAKE_VULKAN", settings, 1);
  renew_library(FAKE_VULKAN_LIBRARY);
  shim_vulkan_api_t* api = NULL;
  CHECK_OK(shim_vulkan_open(FAKE_VULKAN_LIBRARY, SHIM_VULKAN_VALIDATION, &api,
                            &error));
  return api;
}

static shim_vulkan_device_t* open_device(shim_vulkan_api_t* api) {
  const uint32_t families[] = {0, 0, 1};
  shim_vulkan_device_t* device = NULL;
  CHECK_OK(shim_vulkan_device_open(api, 0, families, 3, ALL, &device, &error));
  return device;
}

// Ends a test: no objects are left and there were no validation messages.
static void finish(shim_vulkan_api_t* api, shim_vulkan_device_t* device) {
  shim_vulkan_device_release(device);
  CHECK_EQ(shim_vulkan_message_count(api), 0);
  shim_vulkan_close(api);
  int64_t counts[SHIM_VULKAN_KIND_COUNT];
  shim_vulkan_live_objects(counts);
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) CHECK_EQ(counts[i], 0);
}

static uint64_t handle(const void* object) { return (uintptr_t)object; }

static shim_vulkan_timeline_t* timeline_of(shim_vulkan_device_t* device) {
  shim_vulkan_timeline_t* timeline = NULL;
  CHECK_OK(shim_vulkan_timeline_create(device, 0, 0, &timeline, &error));
  return timeline;
}

static void wait_for(shim_vulkan_device_t* device,
                     shim_vulkan_timeline_t* timeline, uint64_t value) {
  const uint64_t words[] = {handle(timeline), value};
  CHECK_OK(shim_vulkan_wait_any(device, words, 1, -1, &error));
}

static void a_library_that_is_not_there_is_named(void) {
  shim_vulkan_api_t* api = (shim_vulkan_api_t*)1;
  CHECK_FAILS(shim_vulkan_open("libnothing.so.9", 0, &api, &error),
              SHIM_UNAVAILABLE, "cannot open 'libnothing.so.9'");
  CHECK(!api);
  CHECK_FAILS(shim_vulkan_open("libc.so.6", 0, &api, &error), SHIM_UNAVAILABLE,
              "'libc.so.6' has no symbol vkGetInstanceProcAddr");
  // There is no use in installing what is there and does not load.
  shim_error_t error = {0};
  static const char undefined[] = SHIM_KERNEL_DIR "/undefined.so";
  CHECK_EQ(shim_vulkan_open(undefined, 0, &api, &error), SHIM_UNAVAILABLE);
  CHECK(strstr(error.message, "cannot open '"));
  CHECK(strstr(error.message, undefined));
  CHECK(!strstr(error.message, "install"));
}

// Opens the library and a device without one symbol, and returns the status.
static shim_status_t open_without(const char* symbol, shim_error_t* error) {
  char settings[128];
  snprintf(settings, sizeof(settings), "no_symbol=%s push", symbol);
  setenv("FAKE_VULKAN", settings, 1);
  renew_library(FAKE_VULKAN_LIBRARY);
  shim_vulkan_api_t* api = NULL;
  shim_vulkan_device_t* device = NULL;
  const uint32_t family = 0;
  shim_status_t status = shim_vulkan_open(FAKE_VULKAN_LIBRARY, 0, &api, error);
  if (!status) {
    status = shim_vulkan_device_open(api, 0, &family, 1, ALL, &device, error);
  }
  shim_vulkan_device_release(device);
  shim_vulkan_close(api);
  return status;
}

static void every_symbol_that_is_needed_is_missed_by_name(void) {
// Without the two destroying functions, objects would leak.
#define MISS_REQUIRED(symbol)                                       \
  if (strcmp(symbol, "vkDestroyDevice") && \
      strcmp(symbol, "vkDestroyInstance")) {                        \
    CHECK_FAILS(open_without(symbol, &error), SHIM_UNAVAILABLE,     \
                "has no symbol " symbol);                           \
  }
#define MISS_PROMOTED(symbol) MISS_PROMOTED_(symbol)
// The fake has the older names of two symbols.
#define MISS_PROMOTED_(symbol)                                           \
  if (strcmp(symbol, "vkQueueSubmit2") &&                                \
      strcmp(symbol, "vkCmdPipelineBarrier2")) {                         \
    MISS_REQUIRED(symbol)                                                \
  } else {                                                               \
    CHECK_OK(open_without(symbol, &error));                              \
  }
#define MISS_OPTIONAL(symbol) CHECK_OK(open_without(symbol, &error));
#define X(scope, need, result, name, arguments) MISS_##need(#name)
#include "vulkan/vulkan_symbols.inc"
#undef X
}

static void results_have_codes_and_names(void) {
#define RESULT(number, status, name)                                \
  CHECK_EQ(shim__vk_result_status(number), SHIM_##status);          \
  CHECK(strcmp(shim__vk_result_name(number), "VK_" #name) == 0);
  SHIM__VK_RESULTS(RESULT)
#undef RESULT
  CHECK_EQ(shim__vk_result_status(-77), SHIM_UNKNOWN);
}

static void devices_are_described_and_checked(void) {
  shim_vulkan_api_t* api = open_fake("devices=cpu+discrete");
  CHECK_EQ(shim_vulkan_device_count(api), 2);
  shim_vulkan_device_info_t info;
  CHECK_OK(shim_vulkan_device_query(api, 1, &info, sizeof(info), &error));
  CHECK_EQ(info.type, 2);
  CHECK_EQ(info.heap_count, 2);
  CHECK_EQ(info.family_count, 2);
  CHECK(strcmp(info.name, "fake device 1") == 0);
  CHECK_FAILS(shim_vulkan_device_query(api, 2, &info, sizeof(info), &error),
              SHIM_OUT_OF_RANGE, "device 2");
  CHECK_FAILS(shim_vulkan_device_query(api, 1, &info, 8, &error),
              SHIM_INCOMPATIBLE, "the caller knows 8");
  shim_vulkan_device_t* device = NULL;
  const uint32_t many[] = {0, 0, 0};
  CHECK_FAILS(shim_vulkan_device_open(api, 0, many, 3, ALL, &device, &error),
              SHIM_OUT_OF_RANGE, "3 queues of family 0");
  CHECK_FAILS(shim_vulkan_device_open(api, 0, many, 0, ALL, &device, &error),
              SHIM_OUT_OF_RANGE, "0 queues");
  const uint32_t other = 7;
  CHECK_FAILS(shim_vulkan_device_open(api, 0, &other, 1, ALL, &device, &error),
              SHIM_OUT_OF_RANGE, "queue family 7");
  CHECK_FAILS(shim_vulkan_device_open(api, 9, many, 1, ALL, &device, &error),
              SHIM_OUT_OF_RANGE, "device 9");
  CHECK_OK(shim_vulkan_device_open(api, 0, many, 1, 0, &device, &error));
  CHECK_EQ(shim_vulkan_device_features(device), 3);
  finish(api, device);
}

static void what_is_lost_stays_lost(void) {
  shim_vulkan_api_t* api = open_fake("lost_wait=1");
  shim_vulkan_device_t* device = open_device(api);
  shim_vulkan_timeline_t* timeline = timeline_of(device);
  const uint64_t words[] = {handle(timeline), 1};
  const char* lost = "device 'fake device 0' is lost";
  CHECK(!shim_vulkan_device_is_lost(device));
  CHECK_FAILS(shim_vulkan_wait_any(device, words, 0, -1, &error),
              SHIM_OUT_OF_RANGE, "0 timelines");
  CHECK_FAILS(shim_vulkan_wait_any(device, words, UINT32_MAX, -1, &error),
              SHIM_OUT_OF_RANGE, "4294967295 timelines");
  CHECK_FAILS(shim_vulkan_wait_any(device, words, 1, -1, &error), SHIM_ABORTED,
              lost);
  CHECK(shim_vulkan_device_is_lost(device));
  shim_vulkan_memory_t* memory = NULL;
  CHECK_FAILS(shim_vulkan_memory_create(device, 64, 0, 0, &memory, &error),
              SHIM_ABORTED, lost);
  CHECK_FAILS(shim_vulkan_timeline_signal(timeline, 1, &error), SHIM_ABORTED,
              lost);
  const uint64_t nothing[] = {0, 0, 0};
  CHECK_FAILS(shim_vulkan_submit(device, 0, nothing, 3, &error), SHIM_ABORTED,
              lost);
  shim_vulkan_timeline_release(timeline);
  finish(api, device);
}

static void memory_is_freed_wherever_making_it_fails(void) {
  shim_vulkan_api_t* api = open_fake("oom_allocation=1");
  shim_vulkan_device_t* device = open_device(api);
  shim_vulkan_memory_t* memory = (shim_vulkan_memory_t*)1;
  CHECK_FAILS(shim_vulkan_memory_create(device, 64, 1, 0, &memory, &error),
              SHIM_RESOURCE_EXHAUSTED, "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)");
  CHECK(!memory);
  CHECK_FAILS(shim_vulkan_memory_create(device, 64, 3, 0, &memory, &error),
              SHIM_OUT_OF_RANGE, "memory type 3");
  CHECK_FAILS(shim_vulkan_memory_import_fd(device, -1, 64, 1, &memory, &error),
              SHIM_INVALID_ARGUMENT, "descriptor -1 is not open");
  int other = open("/dev/null", O_RDWR);
  CHECK_FAILS(
      shim_vulkan_memory_import_fd(device, other, 64, 1, &memory, &error),
      SHIM_INVALID_ARGUMENT, "INVALID_EXTERNAL_HANDLE");
  CHECK_EQ(close(other), 0);  // still owned by the test
  CHECK_OK(shim_vulkan_memory_create(device, 64, 1, 0, &memory, &error));
  int32_t fd = 7;
  CHECK_FAILS(shim_vulkan_memory_export(memory, &fd, &error),
              SHIM_FAILED_PRECONDITION, "exportable");
  CHECK_EQ(fd, 0);
  shim_vulkan_memory_release(memory);
  CHECK_OK(shim_vulkan_memory_create(device, 64, 1,
                                     SHIM_VULKAN_MEMORY_EXPORTABLE, &memory,
                                     &error));
  CHECK_OK(shim_vulkan_memory_export(memory, &fd, &error));
  shim_vulkan_memory_t* same = NULL;
  CHECK_OK(
      shim_vulkan_memory_import_fd(device, fd, 64, 1, &same, &error));
  CHECK_EQ(fcntl(fd, F_GETFD), -1);  // owned by the driver
  shim_vulkan_memory_release(same);
  shim_vulkan_memory_release(memory);
  finish(api, device);
}

//===--------------------------------------------------------------------===//
// Words
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

static shim_vulkan_pipeline_t* pipeline_of(shim_vulkan_device_t* device) {
  static const uint64_t layout[] = {2, 1, 0, 7, 1, 1, 5, 7, 2};
  const shim_vulkan_pipeline_params_t params = {
      .code = code,
      .code_size = sizeof(code),
      .entry_point = "main",
      .layout = layout,
      .layout_words = sizeof(layout) / sizeof(layout[0]),
      .push_constant_bytes = 16,
  };
  shim_vulkan_pipeline_t* pipeline = NULL;
  CHECK_OK(shim_vulkan_pipeline_create(device, &params, &pipeline, &error));
  return pipeline;
}

static uint64_t seed;

static uint64_t random_below(uint64_t bound) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (seed >> 33) % bound;
}

// Recording any words gives a status: no crash and no access outside of them.
// Handles are valid or in positions where none belongs.
static void random_words_never_do_harm(void) {
  const char* given = getenv("SHIM_FUZZ_SEED");
  seed = given ? strtoull(given, NULL, 0) : 20240607;
  fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
  shim_vulkan_api_t* api = open_fake("");
  shim_vulkan_device_t* device = open_device(api);
  shim_vulkan_pipeline_t* pipeline = pipeline_of(device);
  shim_vulkan_commands_t* commands = NULL;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_memory_info_t info;
  CHECK_OK(shim_vulkan_commands_create(device, 0, &commands, &error));
  CHECK_OK(shim_vulkan_memory_create(device, 1 << 16, 1, 0, &memory, &error));
  shim_vulkan_memory_query(memory, &info);
  const uint64_t b = info.buffer, p = handle(pipeline);
  const uint64_t operations[][24] = {
      {5, SHIM_VULKAN_OP_BARRIER, 1, 2, 3, 4},
      {5, SHIM_VULKAN_OP_FILL, b, 64, 64, 9},
      {6, SHIM_VULKAN_OP_COPY, b, 0, b, 4096, 64},
      {6, SHIM_VULKAN_OP_UPDATE, b, 0, 12, 1, 2},
      {19, SHIM_VULKAN_OP_DISPATCH, p, 1, 3, b, 0, 64, b, 64, 64, b, 128, 64, 0,
       8, 5, 1, 1, 1},
      {20, SHIM_VULKAN_OP_DISPATCH_INDIRECT, p, 1, 3, b, 0, 64, b, 64, 64, b,
       128, 64, 4, 12, 5, 6, b, 8},
  };
  int recorded = 0;
  for (int run = 0; run < 20000; ++run) {
    // On the heap with exact size, so that a sanitizer sees overruns.
    uint64_t words[256];
    size_t count = 0;
    for (uint64_t i = random_below(6); i > 0; --i) {
      const uint64_t* operation = operations[random_below(6)];
      memcpy(words + count, operation + 1, operation[0] * 8);
      count += operation[0];
    }
    if (count && random_below(3)) {
      count -= random_below(count < 20 ? count : 20);
    }
    uint64_t* exact = malloc(count * 8 + 1);
    CHECK(exact);
    memcpy(exact, words, count * 8);
    shim_status_t status =
        shim_vulkan_commands_record(commands, exact, count, NULL);
    CHECK(status == SHIM_OK || status == SHIM_OUT_OF_RANGE ||
          status == SHIM_INVALID_ARGUMENT);
    recorded += status == SHIM_OK;
    free(exact);
  }
  CHECK(recorded > 1000);
  // Counts and numbers of every size in every position without a handle.
  for (int run = 0; run < 20000; ++run) {
    const uint64_t* operation = operations[random_below(6)];
    size_t count = (size_t)operation[0];
    uint64_t* exact = malloc(count * 8);
    CHECK(exact);
    memcpy(exact, operation + 1, count * 8);
    size_t at = random_below(count);
    if (exact[at] != b && exact[at] != p && at) {
      uint64_t old = exact[at];
      exact[at] = random_below(2) ? UINT64_MAX >> random_below(64)
                                  : exact[at] + random_below(8);
      // The caller is responsible for ranges of fills and copies; drivers trust
      // them.
      if (exact[0] >= SHIM_VULKAN_OP_DISPATCH || exact[0] == 1) {
        shim_vulkan_commands_record(commands, exact, count, NULL);
      }
      exact[at] = old;
    }
    free(exact);
  }
  shim_vulkan_commands_release(commands);
  shim_vulkan_memory_release(memory);
  shim_vulkan_pipeline_release(pipeline);
  shim_vulkan_device_release(device);
  shim_vulkan_close(api);
}

// The same for the words of layouts.
static void random_layouts_never_do_harm(void) {
  shim_vulkan_api_t* api = open_fake("push");
  shim_vulkan_device_t* device = open_device(api);
  int made = 0;
  for (int run = 0; run < 20000; ++run) {
    size_t count = (size_t)random_below(12);
    uint64_t* layout = malloc(count * 8 + 1);
    CHECK(layout);
    for (size_t i = 0; i < count; ++i) {
      layout[i] = random_below(20)  ? random_below(4)
                  : random_below(2) ? 7
                                    : UINT64_MAX >> random_below(64);
    }
    const shim_vulkan_pipeline_params_t params = {
        .code = code,
        .code_size = sizeof(code),
        .entry_point = "main",
        .layout = layout,
        .layout_words = count,
        .push_descriptors = (uint32_t)random_below(2),
    };
    shim_vulkan_pipeline_t* pipeline = NULL;
    made += shim_vulkan_pipeline_create(device, &params, &pipeline, NULL) ==
            SHIM_OK;
    shim_vulkan_pipeline_release(pipeline);
    free(layout);
  }
  CHECK(made > 100);
  finish(api, device);
}

static void bindings_change_with_and_without_help_of_the_device(void) {
  const char* settings[] = {"", "update_after_bind"};
  for (int i = 0; i < 2; ++i) {
    shim_vulkan_api_t* api = open_fake(settings[i]);
    shim_vulkan_device_t* device = open_device(api);
    shim_vulkan_pipeline_t* pipeline = pipeline_of(device);
    shim_vulkan_timeline_t* timeline = timeline_of(device);
    shim_vulkan_commands_t* commands = NULL;
    shim_vulkan_memory_t* memory = NULL;
    shim_vulkan_memory_info_t info;
    CHECK_OK(shim_vulkan_commands_create(device, 0, &commands, &error));
    CHECK_OK(shim_vulkan_memory_create(device, 1 << 16, 1, 0, &memory, &error));
    shim_vulkan_memory_query(memory, &info);
    const uint64_t b = info.buffer;
    const uint64_t words[] = {SHIM_VULKAN_OP_FILL, b, 0, 64, 1,
                              SHIM_VULKAN_OP_DISPATCH, handle(pipeline), 1, 3,
                              b, 0, 64, b, 64, 64, b, 128, 64, 0, 0, 1, 1, 1};
    CHECK_OK(shim_vulkan_commands_record(
        commands, words, sizeof(words) / sizeof(words[0]), &error));
    for (uint64_t run = 1; run <= 3; ++run) {
      const uint64_t bindings[] = {b, 64 * run, 4, b, 256, 4, b, 512, 4};
      CHECK_OK(shim_vulkan_commands_bind(commands, 0, bindings, 9, &error));
      const uint64_t submission[] = {0, 1, 1, handle(timeline), run,
                                     handle(commands)};
      CHECK_OK(shim_vulkan_submit(device, 0, submission, 6, &error));
      wait_for(device, timeline, run);
    }
    const uint64_t bad[] = {b, 1, 4, b, 256, 4, b, 512, 4};
    CHECK_FAILS(shim_vulkan_commands_bind(commands, 0, bad, 9, &error),
                SHIM_INVALID_ARGUMENT, "multiple of 64");
    CHECK_FAILS(shim_vulkan_commands_bind(commands, 0, bad, 8, &error),
                SHIM_INVALID_ARGUMENT, "8 words for the 3 bindings");
    CHECK_FAILS(shim_vulkan_commands_bind(commands, 1, bad, 9, &error),
                SHIM_FAILED_PRECONDITION, "dispatch 1");
    shim_vulkan_commands_release(commands);
    shim_vulkan_memory_release(memory);
    shim_vulkan_pipeline_release(pipeline);
    shim_vulkan_timeline_release(timeline);
    finish(api, device);
  }
}

//===--------------------------------------------------------------------===//
// Threads
//===--------------------------------------------------------------------===//

enum { THREADS = 4, ROUNDS = 100 };

static void* submit_rounds(void* argument) {
  shim_vulkan_device_t* device = argument;
  shim_vulkan_timeline_t* timeline = timeline_of(device);
  shim_vulkan_commands_t* commands = NULL;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_memory_info_t info;
  CHECK_OK(shim_vulkan_commands_create(device, 0, &commands, &error));
  CHECK_OK(shim_vulkan_memory_create(device, 4096, 1, 0, &memory, &error));
  shim_vulkan_memory_query(memory, &info);
  for (uint64_t i = 1; i <= ROUNDS; ++i) {
    const uint64_t words[] = {SHIM_VULKAN_OP_FILL, info.buffer, 0, 4096, i};
    CHECK_OK(shim_vulkan_commands_record(commands, words, 5, &error));
    const uint64_t submission[] = {0, 1, 1, handle(timeline), i,
                                   handle(commands)};
    CHECK_OK(shim_vulkan_submit(device, i % 2, submission, 6, &error));
    wait_for(device, timeline, i);
    CHECK_EQ(((const uint32_t*)(uintptr_t)info.host)[1023], i);
  }
  shim_vulkan_commands_release(commands);
  shim_vulkan_memory_release(memory);
  shim_vulkan_timeline_release(timeline);
  return NULL;
}

static void threads_share_queues(void) {
  shim_vulkan_api_t* api = open_fake("");
  shim_vulkan_device_t* device = open_device(api);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, submit_rounds, device), 0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  finish(api, device);
}

static void* complain(void* messages) {
  for (int i = 0; i < 1000; ++i) {
    char text[64];
    snprintf(text, sizeof(text), "complaint %d %d", i, i);
    const svk_debug_utils_messenger_callback_data_t data = {.pMessage = text};
    shim__vk_message_callback(0x1000, 2, &data, messages);
  }
  return NULL;
}

static void messages_are_read_whole_while_others_write(void) {
  shim_vulkan_api_t* api = open_fake("");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, complain, &api->messages), 0);
  }
  char text[256];
  for (uint64_t seen = 0; seen < THREADS * 1000;) {
    seen = shim_vulkan_message_count(api);
    for (uint64_t i = seen > 64 ? seen - 64 : 0; i < seen; ++i) {
      size_t length = shim_vulkan_message(api, i, text, sizeof(text) - 1);
      if (!length) continue;
      text[length] = 0;
      int one = -1, two = -2;
      CHECK_EQ(sscanf(text, "complaint %d %d", &one, &two), 2);
      CHECK_EQ(one, two);
    }
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  CHECK_EQ(shim_vulkan_message_count(api), THREADS * 1000);
  char longer[3000];
  memset(longer, 'x', sizeof(longer));
  longer[sizeof(longer) - 1] = 0;
  const svk_debug_utils_messenger_callback_data_t data = {.pMessage = longer};
  shim__vk_message_callback(0x1000, 2, &data, &api->messages);
  CHECK_EQ(shim_vulkan_message(api, THREADS * 1000, longer, sizeof(longer)),
           SHIM__VK_MESSAGE_WORDS * 8 - 1);
  shim_vulkan_close(api);
}

int main(void) {
  RUN(a_library_that_is_not_there_is_named);
  RUN(every_symbol_that_is_needed_is_missed_by_name);
  RUN(results_have_codes_and_names);
  RUN(devices_are_described_and_checked);
  RUN(what_is_lost_stays_lost);
  RUN(memory_is_freed_wherever_making_it_fails);
  RUN(random_words_never_do_harm);
  RUN(random_layouts_never_do_harm);
  RUN(bindings_change_with_and_without_help_of_the_device);
  RUN(threads_share_queues);
  RUN(messages_are_read_whole_while_others_write);
  return 0;
}
