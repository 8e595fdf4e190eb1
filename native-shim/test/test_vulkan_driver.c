// Vulkan on this machine's driver, with validation if installed, or on a named
// library; skipped with a message if there is none.
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "shim_vulkan.h"
#include "test.h"

static const char* library;  // NULL: the machine's
static shim_vulkan_api_t* api;
static shim_vulkan_device_t* device;
static shim_vulkan_device_info_t info;
static uint32_t family, type;

// Drivers and layers may keep allocations to the end. They stay loaded here, so
// that the leak sanitizer can name them.
const char* __lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char*
__lsan_default_suppressions(void) {
  return "leak:libvulkan\nleak:libVkLayer\nleak:libLLVM\nleak:libdrm\n"
         "leak:libxcb\nleak:libX11\nleak:libwayland\n";
}

// Layers and drivers synchronize in ways that ThreadSanitizer does not see.
const char* __tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char*
__tsan_default_suppressions(void) {
  return "race:libVkLayer\nrace:libvulkan_\nrace:libLLVM\n"
         "mutex:libVkLayer\nmutex:libvulkan_\n"
         "deadlock:libVkLayer\ndeadlock:libvulkan_\n";
}

static int keep_loaded(struct dl_phdr_info* module, size_t size, void* unused) {
  (void)size, (void)unused;
  if (module->dlpi_name[0]) {
    dlopen(module->dlpi_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
  return 0;
}

static bool open_driver(void) {
  shim_error_t failure = {0};
  if (shim_vulkan_open(library, SHIM_VULKAN_VALIDATION, &api, &failure)) {
    fprintf(stderr, "skipped: %s\n", failure.message);
    return false;
  }
  if (!shim_vulkan_device_count(api)) {
    fprintf(stderr, "skipped: Vulkan has no device here\n");
    shim_vulkan_close(api);
    return false;
  }
  CHECK_OK(shim_vulkan_device_query(api, 0, &info, sizeof(info), &error));
  fprintf(stderr, "%s, %s validation\n", info.name,
          shim_vulkan_flags(api) & SHIM_VULKAN_VALIDATION ? "with" : "without");
  while (!(info.families[family][0] & 2)) ++family;
  while ((info.types[type][0] & 6) != 6) ++type;
  CHECK_OK(shim_vulkan_device_open(api, 0, &family, 1, UINT64_MAX, &device,
                                   &error));
  dl_iterate_phdr(keep_loaded, NULL);
  return true;
}

static uint64_t handle(const void* object) { return (uintptr_t)object; }

static void run(shim_vulkan_commands_t* commands) {
  shim_vulkan_timeline_t* timeline = NULL;
  CHECK_OK(shim_vulkan_timeline_create(device, 0, 0, &timeline, &error));
  const uint64_t submission[] = {0, 1, 1, handle(timeline), 1,
                                 handle(commands)};
  CHECK_OK(shim_vulkan_submit(device, 0, submission, 6, &error));
  const uint64_t words[] = {handle(timeline), 1};
  CHECK_OK(shim_vulkan_wait_any(device, words, 1, -1, &error));
  shim_vulkan_timeline_release(timeline);
}

static void fills_copies_and_updates_reach_memory(void) {
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_commands_t* commands = NULL;
  shim_vulkan_memory_info_t where;
  CHECK_OK(shim_vulkan_memory_create(device, 4096, type, 0, &memory, &error));
  CHECK_OK(shim_vulkan_commands_create(device, family, &commands, &error));
  shim_vulkan_memory_query(memory, &where);
  const uint64_t b = where.buffer;
  const uint64_t transfer = 0x1000;
  const uint64_t words[] = {
      SHIM_VULKAN_OP_FILL,    b,        0,    64,       0x01020304,
      SHIM_VULKAN_OP_UPDATE,  b,        64,   12,       0x1111111122222222,
      0x33333333,             1,        transfer, 0x1000, transfer,
      0x800,                  SHIM_VULKAN_OP_COPY, b, 1, b,
      1001,                   71};
  CHECK_OK(shim_vulkan_commands_record(
      commands, words, sizeof(words) / sizeof(words[0]), &error));
  run(commands);
  const uint8_t* bytes = (const uint8_t*)(uintptr_t)where.host;
  CHECK_EQ(bytes[0], 4);
  CHECK_EQ(bytes[63], 1);
  CHECK_EQ(bytes[64], 0x22);
  CHECK_EQ(bytes[75], 0x33);
  CHECK_EQ(memcmp(bytes + 1, bytes + 1001, 71), 0);
  shim_vulkan_commands_release(commands);
  shim_vulkan_memory_release(memory);
}

static size_t read_shader(uint32_t* code, size_t capacity) {
  FILE* file = fopen(SHIM_TEST_SHADER, "rb");
  if (!file) return 0;
  size_t size = fread(code, 1, capacity, file);
  fclose(file);
  return size;
}

static void dispatches_run(void) {
  uint32_t code[1024];
  size_t size = read_shader(code, sizeof(code));
  if (!size) {
    fprintf(stderr, "skipped: no '%s'\n", SHIM_TEST_SHADER);
    return;
  }
  static const uint64_t layout[] = {1, 2, 0, 7, 1, 1, 7, 1};
  const uint32_t bias = 3;
  const shim_vulkan_pipeline_params_t params = {
      .code = code,
      .code_size = size,
      .entry_point = "main",
      .layout = layout,
      .layout_words = 8,
      .push_constant_bytes = 8,
      .specialization = &bias,
      .specialization_count = 1,
  };
  shim_vulkan_pipeline_t* pipeline = NULL;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_commands_t* commands = NULL;
  shim_vulkan_memory_info_t where;
  CHECK_OK(shim_vulkan_pipeline_create(device, &params, &pipeline, &error));
  CHECK_OK(shim_vulkan_memory_create(device, 4096, type, 0, &memory, &error));
  CHECK_OK(shim_vulkan_commands_create(device, family, &commands, &error));
  shim_vulkan_memory_query(memory, &where);
  uint32_t* values = (uint32_t*)(uintptr_t)where.host;
  for (uint32_t i = 0; i < 100; ++i) values[i] = i;
  const uint64_t b = where.buffer;
  const uint64_t words[] = {
      SHIM_VULKAN_OP_DISPATCH, handle(pipeline), SHIM_VULKAN_MODE_SETS, 2, b, 0,
      400, b, 1024, 400, 0, 8, 100ull << 32 | 10, 4, 1, 1};
  CHECK_OK(shim_vulkan_commands_record(
      commands, words, sizeof(words) / sizeof(words[0]), &error));
  run(commands);
  for (uint32_t i = 0; i < 100; ++i) CHECK_EQ(values[256 + i], 10 * i + bias);
  const uint64_t bindings[] = {b, 1024, 400, b, 2048, 400};
  CHECK_OK(shim_vulkan_commands_bind(commands, 0, bindings, 6, &error));
  run(commands);
  for (uint32_t i = 0; i < 100; ++i) {
    CHECK_EQ(values[512 + i], 10 * (10 * i + bias) + bias);
  }
  shim_vulkan_commands_release(commands);
  shim_vulkan_memory_release(memory);
  shim_vulkan_pipeline_release(pipeline);
}

static void nothing_is_left_and_nothing_was_complained_about(void) {
  int64_t counts[SHIM_VULKAN_KIND_COUNT];
  shim_vulkan_device_live_objects(device, counts);
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) {
    CHECK_EQ(counts[i], i == SHIM_VULKAN_KIND_DEVICES);
  }
  shim_vulkan_device_release(device);
  for (uint64_t i = 0; i < shim_vulkan_message_count(api); ++i) {
    char text[1024];
    size_t length = shim_vulkan_message(api, i, text, sizeof(text));
    fprintf(stderr, "%.*s\n", (int)length, text);
  }
  CHECK_EQ(shim_vulkan_message_count(api), 0);
  shim_vulkan_close(api);
  shim_vulkan_live_objects(counts);
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) CHECK_EQ(counts[i], 0);
}

static void a_loader_without_drivers_says_so(void) {
  setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
  setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
  CHECK_FAILS(shim_vulkan_open(NULL, 0, &api, &error), SHIM_UNAVAILABLE,
              "finds no Vulkan driver");
  CHECK(!api);
}

int main(int argument_count, char** arguments) {
  if (argument_count > 1) library = arguments[1];
  if (!open_driver()) return 0;
  RUN(fills_copies_and_updates_reach_memory);
  RUN(dispatches_run);
  RUN(nothing_is_left_and_nothing_was_complained_about);
  if (!library) RUN(a_loader_without_drivers_says_so);
  return 0;
}
