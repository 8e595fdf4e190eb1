// CUDA and HIP through the shim.
//
//   test_gpu_driver                        on this machine's drivers; skipped
//                                          with a message where there are none
//   test_gpu_driver cuda|hip LIBRARY       on a library, which may be a fake,
//                                          or HIP's interface over CUDA's
//   test_gpu_driver hip LIBRARY FAKE_CUDA  on HIP's interface over a fake of
//                                          CUDA
//
// Here are the tests of the library and its devices; those of the rest are in
// gpu/test_driver_*.c.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "gpu/driver_test.h"
#include "gpu/gpu_internal.h"
#include "shim_system.h"

bool hip, is_fake, is_adapter;
const char* library;
fake_t fake;
shim_gpu_api_t* api;

static char fake_path[64];  // of the copy
static int (*context_push)(sgpu_context_t);
static int (*context_pop)(sgpu_context_t*);
static int (*context_retain)(sgpu_context_t*, int);
static int (*context_release)(int);
static int (*event_create)(sgpu_event_t*, unsigned);
static bool tells_contexts;

// Drivers keep allocations to the end, and synchronize in ways that
// ThreadSanitizer does not see.
const char* __lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char*
__lsan_default_suppressions(void) {
  return "leak:libcuda\nleak:libnvidia\nleak:libamdhip64\nleak:libhsa\n";
}

const char* __tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char*
__tsan_default_suppressions(void) {
  return "race:libcuda.so\nrace:libamdhip64\nrace:libhsa\n"
         "mutex:libcuda.so\nmutex:libamdhip64\nmutex:libhsa\n";
}

static int32_t kind(void) { return hip ? SHIM_GPU_HIP : SHIM_GPU_CUDA; }

static void find(void* handle, const char* name, void* out) {
  void* symbol = dlsym(handle, name);
  memcpy(out, &symbol, sizeof(symbol));
}

void set(const char* settings) {
  setenv(hip && !is_adapter ? "FAKE_HIP" : "FAKE_CUDA", settings, 1);
}

// Finds what the library has besides the shim's table.
static void look(void) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library || !handle) return;
  find(handle, hip ? "hipEventCreateWithFlags" : "cuEventCreate",
       &event_create);
  find(handle, hip ? "hipCtxPushCurrent" : "cuCtxPushCurrent_v2",
       &context_push);
  find(handle, hip ? "hipCtxPopCurrent" : "cuCtxPopCurrent_v2", &context_pop);
  find(handle, hip ? "hipDevicePrimaryCtxRetain" : "cuDevicePrimaryCtxRetain",
       &context_retain);
  find(handle,
       hip ? "hipDevicePrimaryCtxRelease" : "cuDevicePrimaryCtxRelease_v2",
       &context_release);
  dlclose(handle);
  // Others have a context without one that was made current.
  tells_contexts = is_fake || is_adapter || !hip;
  if (!is_fake) return;
  handle = dlopen(fake_path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  CHECK(handle);
  find(handle, "fake_gpu_complaints", &fake.complaints);
  find(handle, "fake_gpu_calls", &fake.calls);
  find(handle, "fake_gpu_forget", &fake.forget);
  dlclose(handle);
}

void open_library(const char* settings) {
  set(settings);
  CHECK_OK(shim_gpu_open(kind(), library, &api, &error));
  look();
  if (is_fake) fake.forget();
}

static void check_no_complaints(void) {
  char text[1024];
  if (!is_fake || !fake.complaints(text, sizeof(text))) return;
  fprintf(stderr, "the fake complained: %s\n", text);
  exit(1);
}

void close_library(void) {
  check_no_complaints();
  shim_gpu_close(api);
  api = NULL;
}

static void unload(const char* path) {
#if !defined(__GLIBC__)
  renew_library(path);
  return;
#endif
  for (void* handle; (handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD));) {
    CHECK_EQ(dlclose(handle), 0);
    CHECK_EQ(dlclose(handle), 0);
  }
}

// Until it is opened again, so that settings for loading are heeded.
static void unload_library(void) {
  tells_contexts = false;
  unload(library);
  unload(fake_path);
}

void check_balance(void) {
  if (!tells_contexts) return;
  sgpu_event_t event = NULL;
  int code = event_create(&event, 0);
  CHECK(code == SGPU_INVALID_CONTEXT || code == SGPU_NOT_INITIALIZED);
}

void make_file(const char* suffix) {
  char name[128];
  snprintf(name, sizeof(name), "%s%s", fake_path, suffix);
  int file = open(name, O_CREAT | O_WRONLY, 0600);
  CHECK(file >= 0);
  close(file);
}

void remove_file(const char* suffix) {
  char name[128];
  snprintf(name, sizeof(name), "%s%s", fake_path, suffix);
  unlink(name);
}

//===--------------------------------------------------------------------===//
// The library
//===--------------------------------------------------------------------===//

static void check_does_not_open(const char* name, const char* text) {
  api = (shim_gpu_api_t*)1;
  FAILS(shim_gpu_open(kind(), name, &api, &error), SHIM_UNAVAILABLE, text);
  CHECK(!api);
}

static void other_libraries_are_refused(void) {
  check_does_not_open("/nonexistent.so", "cannot open '/nonexistent.so'");
  check_does_not_open(
      "libm.so.6", hip ? "'libm.so.6' has no symbol hipInit; update the HIP"
                       : "'libm.so.6' has no symbol cuInit; update the CUDA");
}

// On machines without the vendor's library, which are most.
static void missing_library_is_told_by_each_name_tried(void) {
  shim_error_t error = {0};
  if (!shim_gpu_open(kind(), NULL, &api, &error)) {
    shim_gpu_close(api);
    return;
  }
  if (!strstr(error.message, "there is no")) return;
  CHECK(strstr(error.message,
               hip ? "there is no 'libamdhip64.so.7', 'libamdhip64.so.6', "
                     "'libamdhip64.so.5' or 'libamdhip64.so'; install AMD's"
                   : "there is no 'libcuda.so.1' or 'libcuda.so'; install "
                     "NVIDIA's"));
  CHECK(error.message[strlen(error.message) - 1] == ')');
}

// A driver of another C library or processor, or one that lacks a library.
static void a_library_that_does_not_load_is_not_a_missing_one(void) {
  static const char undefined[] = SHIM_KERNEL_DIR "/undefined.so";
  const char* const names[] = {"libnothing.so.9", undefined, "libnothing.so",
                               NULL};
  char name[256];
  shim_error_t error = {0};
  CHECK(!shim__gpu_open_library(NULL, names, "buy one", name, sizeof(name),
                                &error));
  CHECK_EQ(error.status, SHIM_UNAVAILABLE);
  CHECK(strstr(error.message, "cannot open '"));
  CHECK(strstr(error.message, undefined));
  CHECK(!strstr(error.message, "there is no"));
  const char* const none[] = {"libnothing.so.9", "libnothing.so", NULL};
  CHECK(!shim__gpu_open_library(NULL, none, "buy one", name, sizeof(name),
                                &error));
  CHECK(strcmp(error.message,
               "there is no 'libnothing.so.9' or 'libnothing.so'; buy one") ==
        0);
  // What glibc and musl say: of the library itself, and of one that it needs.
  CHECK(shim__system_lacks("liba.so.1",
                           "liba.so.1: cannot open shared object file: No such "
                           "file or directory"));
  CHECK(!shim__system_lacks("liba.so.1",
                            "libb.so.2: cannot open shared object file: No "
                            "such file or directory"));
  CHECK(shim__system_lacks("liba.so.1",
                           "Error loading shared library liba.so.1: No such "
                           "file or directory"));
  CHECK(!shim__system_lacks(
      "liba.so.1",
      "Error loading shared library ld-linux-x86-64.so.2: No such file or "
      "directory (needed by /usr/lib/liba.so.1)"));
  CHECK(!shim__system_lacks("liba.so.1", "liba.so.1: invalid ELF header"));
}

static void check_without(const char* symbol, bool needed) {
  if (strcmp(symbol, "none") == 0) return;
  char text[128];
  snprintf(text, sizeof(text), "no_symbol=%s", symbol);
  set(text);
  unload_library();
  if (needed) {
    snprintf(text, sizeof(text), "has no symbol %s; update the", symbol);
    check_does_not_open(library, text);
  } else {
    CHECK_OK(shim_gpu_open(kind(), library, &api, &error));
    shim_gpu_close(api);
  }
  unload_library();
}

// The only optional ones that each kind needs are those that copy.
static void entry_points_that_are_missing_are_named(void) {
#define REQUIRED true
#define OPTIONAL false
#define X(need, name, cuda, hip_symbol, arguments)  \
  check_without(hip ? #hip_symbol : #cuda,          \
                need || strstr(#name, "copy") != NULL);
#include "gpu/gpu_symbols.inc"
#undef X
#undef REQUIRED
#undef OPTIONAL
}

static void entry_points_that_are_missing_behind_fail_or_are_not_used(void) {
  unload_library();
  set("no_symbol=cuMemcpyAsync");
  check_does_not_open(library, "starting the HIP driver");
  unload_library();
  begin("no_symbol=cuGraphLaunch no_symbol=cuDeviceGetUuid");
  shim_gpu_device_info_t info;
  OK(shim_gpu_device_query(api, 0, &info, sizeof(info), &error));
  CHECK_EQ(info.uuid[0], 0);
  words_t words = {0};
  add(&words, SHIM_GPU_GRAPH, 1);
  FAILS(run(&words, &error), SHIM_UNIMPLEMENTED, "launching a graph");
  end();
  unload_library();
  setenv("HIP_OVER_CUDA", "/nonexistent.so", 1);
  check_does_not_open(library, "starting the HIP driver");
  setenv("HIP_OVER_CUDA", fake_path, 1);
  unload_library();
}

static void a_driver_that_does_not_start_says_why(void) {
  set("init_error=803");
  check_does_not_open(library, "SYSTEM_DRIVER_MISMATCH (803)");
  set("init_error=999");
  check_does_not_open(library, hip ? "starting the HIP driver of '"
                                   : "starting the CUDA driver of '");
  set("init_error=2");
  CHECK_FAILS(shim_gpu_open(kind(), library, &api, &error),
              SHIM_RESOURCE_EXHAUSTED, "OUT_OF_MEMORY");
  CHECK(!api);
}

static void a_machine_without_devices_is_no_failure(void) {
  open_library("no_device");
  CHECK_EQ(shim_gpu_device_count(api), 0);
  FAILS(shim_gpu_device_open(api, 0, &device, &error), SHIM_UNAVAILABLE,
        "opening device 0 failed with NOT_INITIALIZED (3)");
  CHECK(!device);
  close_library();
  open_library("devices=0");
  CHECK_EQ(shim_gpu_device_count(api), 0);
  FAILS(shim_gpu_device_open(api, 0, &device, &error), SHIM_INVALID_ARGUMENT,
        "opening device 0 failed with INVALID_DEVICE (101)");
  close_library();
}

//===--------------------------------------------------------------------===//
// Devices
//===--------------------------------------------------------------------===//

static void devices_of_the_fake_are_described(void) {
  open_library(hip && !is_adapter
                   ? "devices=2 version=7 heap_mib=3 gfx=gfx1030 attribute=87:5"
                   : "devices=2 version=7 heap_mib=3 compute=10.3 "
                     "attribute=10:5");
  CHECK_EQ(shim_gpu_version(api), 7);
  CHECK_EQ(shim_gpu_device_count(api), 2);
  shim_gpu_device_info_t info, other;
  OK(shim_gpu_device_query(api, 1, &info, sizeof(info), &error));
  CHECK(strstr(info.name, "device 1"));
  CHECK_EQ(info.memory, 3 << 20);
  CHECK_EQ(info.max_threads_per_block, 1024);
  CHECK_EQ(info.max_block_z, 64);
  CHECK_EQ(info.max_grid_x, 0x7FFFFFFF);
  CHECK_EQ(info.max_grid_z, 65535);
  CHECK_EQ(info.shared_bytes_per_block, is_adapter ? 166912
                                        : hip      ? 65536
                                                   : 49152);
  CHECK_EQ(info.shared_bytes_opt_in, hip ? 0 : 166912);
  CHECK_EQ(info.warp_size, 5);
  CHECK_EQ(info.multiprocessors, 4);
  CHECK_EQ(info.maps_host_memory, 1);
  CHECK_EQ(info.registers_host_memory, !hip);
  CHECK_EQ(info.compute_major, 10);
  CHECK_EQ(info.compute_minor, 3);
  OK(shim_gpu_device_query(api, 0, &other, sizeof(other), &error));
  CHECK(memcmp(info.uuid, other.uuid, sizeof(info.uuid)));
  close_library();
  open_library("no_uuid");
  OK(shim_gpu_device_query(api, 0, &info, sizeof(info), &error));
  CHECK_EQ(memcmp(info.uuid, (uint8_t[16]){0}, 16), 0);
  close_library();
  // A driver that is older than an attribute.
  open_library(hip && !is_adapter ? "no_attribute=63" : "no_attribute=16");
  OK(shim_gpu_device_query(api, 0, &info, sizeof(info), &error));
  CHECK_EQ(info.multiprocessors, 0);
  CHECK_EQ(info.max_block_z, 64);
  close_library();
}

static void devices_are_described(void) {
  open_library("");
  shim_gpu_device_info_t info;
  OK(shim_gpu_device_query(api, 0, &info, sizeof(info), &error));
  fprintf(stderr, "%s, compute %d.%d, driver %d\n", info.name,
          info.compute_major, info.compute_minor, shim_gpu_version(api));
  CHECK(info.name[0] && info.memory && info.warp_size > 0);
  FAILS(shim_gpu_device_query(api, 0, &info, sizeof(info) - 4, &error),
        SHIM_INVALID_ARGUMENT, "it has");
  FAILS(shim_gpu_device_query(api, 99, &info, sizeof(info), &error),
        SHIM_INVALID_ARGUMENT, "asking about device 99 failed");
  FAILS(shim_gpu_device_open(api, 99, &device, &error), SHIM_INVALID_ARGUMENT,
        "opening device 99 failed");
  CHECK(!device);
  CHECK(strcmp(shim_gpu_kind_name(SHIM_GPU_KIND_GRAPHS), "GRAPHS") == 0);
  CHECK(!shim_gpu_kind_name(SHIM_GPU_KIND_COUNT));
  CHECK(!shim_gpu_kind_name(-1));
  close_library();
}

static void a_device_is_opened_more_than_once(void) {
  begin("");
  shim_gpu_device_t* same = NULL;
  OK(shim_gpu_device_open(api, 0, &same, &error));
  uint64_t memory = new_memory(4);
  int64_t counts[SHIM_GPU_KIND_COUNT];
  shim_gpu_device_live_objects(same, counts);
  CHECK_EQ(counts[SHIM_GPU_KIND_MEMORY], 0);
  CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 1);
  DONE(shim_gpu_device_release(same));
  DONE(shim_gpu_device_release(NULL));
  words_t words = {0};
  add_fill(&words, memory, 4, 9, 4);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory), 9);
  free_memory(memory);
  end();
}

// The caller may use the driver too.
static void the_context_of_the_caller_stays_current(void) {
  begin("devices=2");
  sgpu_context_t own = NULL, popped = NULL;
  CHECK_EQ(context_retain(&own, 1), 0);
  CHECK_EQ(context_push(own), 0);
  tells_contexts = false;
  uint64_t memory = new_memory(64);
  words_t words = {0};
  add_fill(&words, memory, 64, 3, 4);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory), 3);
  words.values[0] = 99;
  FAILS(run(&words, &error), SHIM_INTERNAL, "begins no command");
  free_memory(memory);
  tells_contexts = true;
  CHECK_EQ(context_pop(&popped), 0);
  CHECK(popped == own);
  check_balance();
  CHECK_EQ(context_release(1), 0);
  end();
}

//===--------------------------------------------------------------------===//
// All of them
//===--------------------------------------------------------------------===//

static bool has_device(void) {
  shim_error_t failure = {0};
  if (shim_gpu_open(kind(), library, &api, &failure)) {
    CHECK_EQ(failure.status, SHIM_UNAVAILABLE);
    fprintf(stderr, "skipped: %s\n",
            is_adapter ? "HIP over CUDA, there is no 'libcuda.so.1'"
                       : failure.message);
    return false;
  }
  uint32_t count = shim_gpu_device_count(api);
  shim_gpu_close(api);
  if (!count) {
    fprintf(stderr, "skipped: %s has no device here\n", hip ? "HIP" : "CUDA");
  }
  return count > 0;
}

static void test_library(void) {
  RUN(other_libraries_are_refused);
  RUN(missing_library_is_told_by_each_name_tried);
  RUN(a_library_that_does_not_load_is_not_a_missing_one);
  if (is_fake && !is_adapter) RUN(entry_points_that_are_missing_are_named);
  if (is_fake && is_adapter) {
    RUN(entry_points_that_are_missing_behind_fail_or_are_not_used);
  }
  if (is_fake) {
    RUN(a_driver_that_does_not_start_says_why);
    RUN(a_machine_without_devices_is_no_failure);
    RUN(devices_of_the_fake_are_described);
    RUN(the_context_of_the_caller_stays_current);
  }
  RUN(devices_are_described);
  RUN(a_device_is_opened_more_than_once);
}

static void run_all(void) {
  if (!is_fake && !has_device()) return;
  test_library();
  test_driver_memory();
  if (hip && !is_fake && !is_adapter) {
    fprintf(stderr, "skipped: kernels on AMD's devices, there is only PTX\n");
    return;
  }
  test_driver_code();
  test_driver_commands();
  test_driver_graphs();
  test_driver_loss();
  test_driver_collectives();
}

// Copies a fake, so that files next to it are of this test alone.
static void copy_fake(const char* built, char* folder) {
  CHECK(mkdtemp(folder));
  snprintf(fake_path, sizeof(fake_path), "%s/fake.so", folder);
  copy_file(built, fake_path);
}

static bool is_a_fake(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  bool found = dlsym(handle, "fake_gpu_complaints") != NULL;
  dlclose(handle);
  return found;
}

static bool is_an_adapter(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  bool found = dlsym(handle, "hip_over_cuda_is_adapter") != NULL;
  dlclose(handle);
  return found;
}

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    run_all();
    hip = true;
    run_all();
    return 0;
  }
  hip = strcmp(arguments[1], "hip") == 0;
  library = arguments[2];
  is_adapter = is_an_adapter(library);
  const char* built = argument_count > 3 ? arguments[3] : library;
  is_fake = is_a_fake(built);
  char folder[] = "/tmp/gpu_driver_XXXXXX";
  if (is_fake) {
    copy_fake(built, folder);
    if (is_adapter) {
      setenv("HIP_OVER_CUDA", fake_path, 1);
    } else {
      library = fake_path;
    }
  }
  run_all();
  if (is_fake) {
    unlink(fake_path);
    rmdir(folder);
  }
  return 0;
}
