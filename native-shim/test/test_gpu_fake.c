// The fakes of CUDA's and HIP's drivers themselves: what they promise to tests
// of what uses them. Everything runs on both.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "gpu/fake_gpu_test.h"

bool hip;
const char* path;
void* library;
table_t gpu;
sgpu_context_t context;
sgpu_stream_t stream;

static void* symbol(const char* cuda_name, const char* hip_name) {
  const char* name = hip ? hip_name : cuda_name;
  return strcmp(name, "none") ? dlsym(library, name) : NULL;
}

void open_fake(const char* settings) {
  setenv(hip ? "FAKE_HIP" : "FAKE_CUDA", settings, 1);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
#define FILL(member, value)                       \
  do {                                            \
    void* value_ = (value);                       \
    memcpy(&gpu.member, &value_, sizeof(value_)); \
  } while (0)
#define X(need, name, cuda, hip, arguments) FILL(name, symbol(#cuda, #hip));
#include "gpu/gpu_symbols.inc"
#undef X
  FILL(complaints, dlsym(library, "fake_gpu_complaints"));
  FILL(calls, dlsym(library, "fake_gpu_calls"));
  FILL(forget, dlsym(library, "fake_gpu_forget"));
#undef FILL
}

void close_fake(void) {
  CHECK_EQ(gpu.complaints(NULL, 0), 0);
  CHECK_EQ(dlclose(library), 0);
  renew_library(path);
  CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));  // so settings are read again
}

void complained(const char* text) {
  char out[1024];
  if (gpu.complaints(out, sizeof(out)) != 1 || !strstr(out, text)) {
    fprintf(stderr, "expected one complaint with '%s': %s\n", text, out);
    exit(1);
  }
  gpu.forget();
}

void begin(const char* settings) {
  open_fake(settings);
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.context_retain(&context, 0), 0);
  CHECK_EQ(gpu.context_push(context), 0);
  stream = new_stream();
}

void end_dead(int code) {
  CHECK_EQ(gpu.stream_destroy(stream), code);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  close_fake();
}

void end(void) { end_dead(0); }

static void path_of(const char* suffix, char* out, size_t size) {
  snprintf(out, size, "%s%s", path, suffix);
}

void make_file(const char* suffix) {
  char name[4096];
  path_of(suffix, name, sizeof(name));
  int file = open(name, O_CREAT | O_WRONLY, 0600);
  CHECK(file >= 0);
  close(file);
}

void remove_file(const char* suffix) {
  char name[4096];
  path_of(suffix, name, sizeof(name));
  unlink(name);
}

int copy(sgpu_stream_t into, uint64_t target, uint64_t source, size_t size) {
  return hip ? gpu.copy_hip(target, source, size, SGPU_COPY_DEFAULT, into)
             : gpu.copy_cuda(target, source, size, into);
}

int finish(sgpu_stream_t of) {
  sgpu_event_t event = NULL;
  int code = gpu.event_create(&event, SGPU_EVENT_DISABLE_TIMING);
  if (code) return code;
  code = gpu.event_record(event, of);
  if (!code) code = gpu.event_synchronize(event);
  int other = gpu.event_destroy(event);
  return code ? code : other;
}

sgpu_event_t new_event(void) {
  sgpu_event_t event = NULL;
  CHECK_EQ(gpu.event_create(&event, SGPU_EVENT_DISABLE_TIMING), 0);
  return event;
}

sgpu_stream_t new_stream(void) {
  sgpu_stream_t made = NULL;
  CHECK_EQ(gpu.stream_create(&made, SGPU_STREAM_NON_BLOCKING), 0);
  return made;
}

uint64_t new_memory(size_t size) {
  uint64_t memory = 0;
  CHECK_EQ(gpu.memory_allocate(&memory, size), 0);
  return memory;
}

void* new_pinned(size_t size) {
  void* memory = NULL;
  CHECK_EQ(gpu.host_allocate(&memory, size, SGPU_HOST_ALLOC_MAPPED), 0);
  return memory;
}

//===--------------------------------------------------------------------===//
// The library
//===--------------------------------------------------------------------===//

static void miss(const char* cuda_name, const char* hip_name) {
  const char* name = hip ? hip_name : cuda_name;
  if (strcmp(name, "none") == 0) return;
  open_fake("");
  CHECK(dlsym(library, name));
  close_fake();
  char settings[128];
  snprintf(settings, sizeof(settings), "no_symbol=%s", name);
  open_fake(settings);
  CHECK(!dlsym(library, name));
  close_fake();
}

static void every_symbol_is_there_and_can_be_missing(void) {
#define X(need, name, cuda, hip, arguments) miss(#cuda, #hip);
#include "gpu/gpu_symbols.inc"
#undef X
}

static void settings_are_in_a_file_too(void) {
  char name[4096];
  path_of(".conf", name, sizeof(name));
  FILE* file = fopen(name, "w");
  CHECK(file);
  fprintf(file, "devices=3\nheap_mib=1 version=7\n");
  fclose(file);
  open_fake("version=8");
  CHECK_EQ(gpu.init(0), 0);
  int number = 0;
  CHECK_EQ(gpu.device_count(&number), 0);
  CHECK_EQ(number, 3);
  CHECK_EQ(gpu.driver_version(&number), 0);
  CHECK_EQ(number, 8);
  size_t bytes = 0;
  CHECK_EQ(gpu.device_memory(&bytes, 2), 0);
  CHECK_EQ(bytes, 1 << 20);
  unlink(name);
  close_fake();
}

static void devices_are_described(void) {
  open_fake(hip ? "gfx=gfx1030 attribute=87:32 devices=2"
                : "compute=10.3 attribute=10:32 devices=2");
  int value = 0;
  CHECK_EQ(gpu.device_count(&value), SGPU_NOT_INITIALIZED);
  CHECK_EQ(gpu.init(1), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.init(0), 0);
  char name[64];
  CHECK_EQ(gpu.device_name(name, sizeof(name), 1), 0);
  CHECK_EQ(strcmp(name, hip ? "fake HIP device 1" : "fake CUDA device 1"), 0);
  CHECK_EQ(gpu.device_name(name, sizeof(name), 2), SGPU_INVALID_DEVICE);
  sgpu_uuid_t one, two;
  CHECK_EQ(gpu.device_uuid(&one, 0), 0);
  CHECK_EQ(gpu.device_uuid(&two, 1), 0);
  CHECK(memcmp(&one, &two, sizeof(one)));
  const int numbers[][3] = {
      {75, 23, 10}, {76, 61, 3}, {10, 87, 32}, {1, 56, 1024}, {4, 28, 64}};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    CHECK_EQ(gpu.device_attribute(&value, numbers[i][hip], 0), 0);
    CHECK_EQ(value, numbers[i][2]);
  }
  CHECK_EQ(gpu.device_attribute(&value, 9999, 0), SGPU_INVALID_VALUE);
  int device = -1;
  CHECK_EQ(gpu.device_get(&device, 1), 0);
  CHECK_EQ(device, 1);
  CHECK_EQ(gpu.calls("device_name"), 2);
  CHECK_EQ(gpu.calls(hip ? "hipDeviceGetName" : "cuDeviceGetName"), 2);
  close_fake();

  open_fake("no_device");
  CHECK_EQ(gpu.init(0), hip ? SGPU_INVALID_DEVICE : SGPU_NO_DEVICE);
  close_fake();
  open_fake("devices=0 no_uuid");
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.device_count(&value), hip ? SGPU_NO_DEVICE : 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(gpu.device_get(&device, 0), SGPU_INVALID_DEVICE);
  close_fake();
  open_fake("no_uuid");
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.device_uuid(&one, 0), SGPU_NOT_SUPPORTED);
  close_fake();
  open_fake("devices=2 instances");
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.device_uuid(&one, 0), 0);
  CHECK_EQ(gpu.device_uuid(&two, 1), 0);
  CHECK_EQ(memcmp(&one, &two, sizeof(one)), 0);
  if (!hip) CHECK_EQ(gpu.device_uuid_of_instance(&two, 1), 0);
  CHECK(hip || memcmp(&one, &two, sizeof(one)));
  close_fake();
}

static void run_all(void) {
  RUN(every_symbol_is_there_and_can_be_missing);
  RUN(settings_are_in_a_file_too);
  RUN(devices_are_described);
  test_gpu_objects();
  test_gpu_memory();
  test_gpu_code();
  test_gpu_graphs();
}

// Copies the library, so that files next to it are of this test alone.
static void run_on(const char* built, bool is_hip) {
  char folder[] = "/tmp/fake_gpu_XXXXXX";
  CHECK(mkdtemp(folder));
  char copied[64];
  snprintf(copied, sizeof(copied), "%s/fake.so", folder);
  copy_file(built, copied);
  path = copied;
  hip = is_hip;
  run_all();
  unlink(copied);
  rmdir(folder);
}

int main(void) {
  run_on(FAKE_CUDA_LIBRARY, false);
  run_on(FAKE_HIP_LIBRARY, true);
  return 0;
}
