// The fakes of CUDA's and HIP's drivers themselves: what they promise to tests
// of what uses them. Everything runs on both.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/gpu_types.h"
#include "test.h"

static bool hip;
static const char* path;

typedef struct table_t {
#define X(need, name, cuda, hip, arguments) int(*name) arguments;
#include "gpu/gpu_symbols.inc"
#undef X
  int (*complaints)(char* out, int size);
  int64_t (*calls)(const char* name);
  void (*forget)(void);
} table_t;

static void* library;
static table_t gpu;

static void* symbol(const char* cuda_name, const char* hip_name) {
  const char* name = hip ? hip_name : cuda_name;
  return strcmp(name, "none") ? dlsym(library, name) : NULL;
}

// Opens the library with settings.
static void open_fake(const char* settings) {
  setenv(hip ? "FAKE_HIP" : "FAKE_CUDA", settings, 1);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
#define FILL(member, value)                 \
  do {                                      \
    void* address_ = (value);               \
    memcpy(&member, &address_, sizeof(address_)); \
  } while (0)
#define X(need, name, cuda, hip, arguments) \
  FILL(gpu.name, symbol(#cuda, #hip));
#include "gpu/gpu_symbols.inc"
#undef X
  FILL(gpu.complaints, dlsym(library, "fake_gpu_complaints"));
  FILL(gpu.calls, dlsym(library, "fake_gpu_calls"));
  FILL(gpu.forget, dlsym(library, "fake_gpu_forget"));
}

static void close_fake(void) {
  CHECK_EQ(gpu.complaints(NULL, 0), 0);
  CHECK_EQ(dlclose(library), 0);
  CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));  // so that settings are read
}

// Checks that there was one complaint, with that text, and forgets it.
__attribute__((unused)) static void complained(const char* text) {
  char out[1024];
  if (gpu.complaints(out, sizeof(out)) != 1 || !strstr(out, text)) {
    fprintf(stderr, "expected one complaint with '%s': %s\n", text, out);
    exit(1);
  }
  gpu.forget();
}

static sgpu_context_t context;
static sgpu_stream_t stream;

// Opens device 0 and a stream.
static void begin(const char* settings) {
  open_fake(settings);
  CHECK_EQ(gpu.init(0), 0);
  CHECK_EQ(gpu.context_retain(&context, 0), 0);
  CHECK_EQ(gpu.context_push(context), 0);
  CHECK_EQ(gpu.stream_create(&stream, SGPU_STREAM_NON_BLOCKING), 0);
}

static void end(void) {
  CHECK_EQ(gpu.stream_destroy(stream), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  close_fake();
}

static int copy(uint64_t target, uint64_t source, size_t size) {
  return hip ? gpu.copy_hip(target, source, size, SGPU_COPY_DEFAULT, stream)
             : gpu.copy_cuda(target, source, size, stream);
}

static uint64_t address(const void* pointer) { return (uintptr_t)pointer; }

// Waits for what was enqueued.
static int finish(void) {
  sgpu_event_t event = NULL;
  int code = gpu.event_create(&event, SGPU_EVENT_DISABLE_TIMING);
  if (code) return code;
  code = gpu.event_record(event, stream);
  if (!code) code = gpu.event_synchronize(event);
  int other = gpu.event_destroy(event);
  return code ? code : other;
}

static void fills_and_copies_run(void) {
  begin("");
  uint64_t memory = 0;
  uint32_t* host = NULL;
  CHECK_EQ(gpu.memory_allocate(&memory, 4096), 0);
  CHECK_EQ(gpu.host_allocate((void**)&host, 4096, 0), 0);
  CHECK_EQ(host[0], 0xCDCDCDCD);
  CHECK_EQ(gpu.fill_32(memory, 0x01020304, 10, stream), 0);
  CHECK_EQ(copy(address(host), memory, 4096), 0);
  CHECK_EQ(finish(), 0);
  CHECK_EQ(host[9], 0x01020304);
  CHECK_EQ(host[10], 0xCDCDCDCD);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  end();
}

static void run_all(void) {
  RUN(fills_and_copies_run);
}

int main(void) {
  path = FAKE_CUDA_LIBRARY;
  run_all();
  hip = true;
  path = FAKE_HIP_LIBRARY;
  run_all();
  return 0;
}
