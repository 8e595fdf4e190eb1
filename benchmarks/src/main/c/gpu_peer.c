/* The work of GpuPeer in plain C over CUDA's driver library: the first device, two streams, no threads. Prints a line of JSON for each
 * measurement: nanoseconds per operation or GB/s, the median and the best of the rounds. Needs no SDK: the library is opened at run time.
 *
 * usage: gpu_peer [SECONDS [LARGEST]]   seconds per measurement (0.5), bytes of the largest copy (1 GiB); called by bin/gpu-run
 * IREE4J_LIBCUDA names another library than libcuda.so.1. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHAIN 512
#define STAGES 1000
#define ELEMENTS 64
#define SAMPLES 20000

typedef struct context* context_t;
typedef struct stream* stream_t;
typedef struct event* event_t;
typedef struct module* module_t;
typedef struct function* function_t;
typedef struct graph* graph_t;
typedef struct graph_exec* graph_exec_t;

enum {
  STREAM_NON_BLOCKING = 1,
  EVENT_BLOCKING_SYNC = 1,
  EVENT_DISABLE_TIMING = 2,
  HOST_MAPPED = 2,
  CAPTURE_THREAD_LOCAL = 1,
};

#define SYMBOLS(X)                                                             \
  X(cuInit, (unsigned))                                                        \
  X(cuDriverGetVersion, (int*))                                                \
  X(cuDeviceGet, (int*, int))                                                  \
  X(cuDeviceGetName, (char*, int, int))                                        \
  X(cuDevicePrimaryCtxRetain, (context_t*, int))                               \
  X(cuCtxPushCurrent_v2, (context_t))                                          \
  X(cuStreamCreate, (stream_t*, unsigned))                                     \
  X(cuStreamWaitEvent, (stream_t, event_t, unsigned))                          \
  X(cuStreamBeginCapture_v2, (stream_t, int))                                  \
  X(cuStreamEndCapture, (stream_t, graph_t*))                                  \
  X(cuEventCreate, (event_t*, unsigned))                                       \
  X(cuEventRecord, (event_t, stream_t))                                        \
  X(cuEventSynchronize, (event_t))                                             \
  X(cuMemAlloc_v2, (uint64_t*, size_t))                                        \
  X(cuMemFree_v2, (uint64_t))                                                  \
  X(cuMemHostAlloc, (void**, size_t, unsigned))                                \
  X(cuMemFreeHost, (void*))                                                    \
  X(cuMemHostGetDevicePointer_v2, (uint64_t*, void*, unsigned))                \
  X(cuMemsetD32Async, (uint64_t, int, size_t, stream_t))                       \
  X(cuMemcpyAsync, (uint64_t, uint64_t, size_t, stream_t))                     \
  X(cuModuleLoadDataEx, (module_t*, const void*, unsigned, int*, void**))      \
  X(cuModuleGetFunction, (function_t*, module_t, const char*))                 \
  X(cuLaunchKernel,                                                            \
    (function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, stream_t, void**, void**))                                      \
  X(cuGraphInstantiateWithFlags, (graph_exec_t*, graph_t, unsigned long long)) \
  X(cuGraphLaunch, (graph_exec_t, stream_t))                                   \
  X(cuGraphDestroy, (graph_t))

#define DECLARE(name, arguments) static int(*name) arguments;
SYMBOLS(DECLARE)

#define CHECK(call)                                   \
  do {                                                \
    int code_ = (call);                               \
    if (code_ != 0) {                                 \
      fprintf(stderr, "%s: code %d\n", #call, code_); \
      exit(1);                                        \
    }                                                 \
  } while (0)

/* scale: out[i] = in[i] * c0 + c1, next to nothing, as in scale.comp. gate: spins until the host writes to a word, for ten seconds at most,
 * so that nothing hangs when this program ends before. */
static const char kernels[] =
    ".version 6.4\n.target sm_52\n.address_size 64\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out,\n"
    "                      .param .u32 c0, .param .u32 c1) {\n"
    "  .reg .b32 %r<6>;\n  .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [in];\n  ld.param.u64 %d2, [out];\n"
    "  ld.param.u32 %r1, [c0];\n  ld.param.u32 %r2, [c1];\n"
    "  cvta.to.global.u64 %d1, %d1;\n  cvta.to.global.u64 %d2, %d2;\n"
    "  mov.u32 %r3, %tid.x;\n  mul.wide.u32 %d3, %r3, 4;\n"
    "  add.s64 %d4, %d1, %d3;\n  add.s64 %d5, %d2, %d3;\n"
    "  ld.global.u32 %r4, [%d4];\n  mad.lo.s32 %r5, %r4, %r1, %r2;\n"
    "  st.global.u32 [%d5], %r5;\n  ret;\n}\n"
    ".visible .entry gate(.param .u64 word) {\n"
    "  .reg .b32 %r<2>;\n  .reg .b64 %d<5>;\n  .reg .pred %p<3>;\n"
    "  ld.param.u64 %d1, [word];\n  cvta.to.global.u64 %d1, %d1;\n"
    "  mov.u64 %d2, %globaltimer;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r1, [%d1];\n  setp.ne.u32 %p1, %r1, 0;\n"
    "  @%p1 bra done;\n"
    "  mov.u64 %d3, %globaltimer;\n  sub.u64 %d4, %d3, %d2;\n"
    "  setp.lt.u64 %p2, %d4, 10000000000;\n  @%p2 bra again;\n"
    "done:\n  ret;\n}\n";

static double seconds = 0.5;
static size_t largest = (size_t)1 << 30;
static stream_t streams[2];
static event_t done, done_blocking, edges[STAGES];
static function_t scale, gate;
static uint64_t buffers[2];
static graph_exec_t graph;
static uint32_t* gate_word;
static uint64_t gate_address;
static uint64_t source, target; /* of the copy being measured */
static size_t bytes;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static void print_line(const char* name, const char* unit, double median,
                       double best, int count) {
  printf(
      "{\"side\":\"c\",\"driver\":\"cuda\",\"name\":\"%s\",\"unit\":\"%s\","
      "\"median\":%.3f,\"best\":%.3f,\"samples\":%d}\n",
      name, unit, median, best, count);
  fflush(stdout);
}

static void print_times(const char* name, const char* what, uint64_t* times,
                        int count, double operations) {
  char full[64];
  snprintf(full, sizeof full, "%s%s", name, what);
  qsort(times, (size_t)count, sizeof *times, ascending);
  print_line(full, "ns", (double)times[count / 2] / operations,
             (double)times[0] / operations, count);
}

/* An action returns the time of the end of submission, once all is done. */
typedef uint64_t (*action_t)(void);

/* Runs an action for the given time, after a fifth of the time as warm-up. */
static int sample(action_t action, uint64_t* enqueued, uint64_t* completed) {
  uint64_t until = now() + (uint64_t)(seconds * 0.2e9);
  do {
    action();
  } while (now() < until);
  int count = 0;
  until = now() + (uint64_t)(seconds * 1e9);
  do {
    uint64_t begin = now(), submitted = action();
    enqueued[count] = submitted - begin;
    completed[count] = now() - begin;
    ++count;
  } while (count < SAMPLES && (now() < until || count < 5));
  return count;
}

static void measure(const char* name, double operations, action_t action,
                    int with_enqueue) {
  static uint64_t enqueued[SAMPLES], completed[SAMPLES];
  int count = sample(action, enqueued, completed);
  if (with_enqueue)
    print_times(name, ".enqueue", enqueued, count, operations);
  print_times(name, with_enqueue ? ".complete" : "", completed, count,
              operations);
}

static void measure_rate(const char* name, action_t action) {
  static uint64_t enqueued[SAMPLES], completed[SAMPLES];
  int count = sample(action, enqueued, completed);
  qsort(completed, (size_t)count, sizeof *completed, ascending);
  print_line(name, "GB/s", (double)bytes / (double)completed[count / 2],
             (double)bytes / (double)completed[0], count);
}

static void launch(int i, stream_t stream) {
  uint32_t c0 = 1, c1 = 1;
  void* params[] = {&buffers[i & 1], &buffers[(i & 1) ^ 1], &c0, &c1};
  CHECK(cuLaunchKernel(scale, 1, 1, 1, ELEMENTS, 1, 1, 0, stream, params,
                       NULL));
}

static uint64_t finish(event_t event) {
  CHECK(cuEventRecord(event, streams[0]));
  uint64_t submitted = now();
  CHECK(cuEventSynchronize(event));
  return submitted;
}

static uint64_t one(void) {
  launch(0, streams[0]);
  return finish(done);
}

static uint64_t one_blocking(void) {
  launch(0, streams[0]);
  return finish(done_blocking);
}

static uint64_t chain(void) {
  for (int i = 0; i < CHAIN; ++i) launch(i, streams[0]);
  return finish(done);
}

/* As chain, with an event after each launch, for others to wait for. */
static uint64_t chain_with_events(void) {
  for (int i = 0; i < CHAIN; ++i) {
    launch(i, streams[0]);
    CHECK(cuEventRecord(edges[i], streams[0]));
  }
  return finish(done);
}

static uint64_t run_graph(void) {
  CHECK(cuGraphLaunch(graph, streams[0]));
  return finish(done);
}

static void alternate(int count) {
  for (int i = 0; i < count; ++i) {
    stream_t stream = streams[i & 1];
    if (i > 0) CHECK(cuStreamWaitEvent(stream, edges[i - 1], 0));
    launch(i, stream);
    CHECK(cuEventRecord(edges[i], stream));
  }
  CHECK(cuStreamWaitEvent(streams[0], edges[count - 1], 0));
}

static uint64_t cross(void) {
  alternate(CHAIN);
  return finish(done);
}

/* All is submitted before the first runs. Counted from before the first submission until all is submitted; the caller's time includes
 * both. */
static uint64_t pipeline(void) {
  void* params[] = {&gate_address};
  __atomic_store_n(gate_word, 0, __ATOMIC_SEQ_CST);
  CHECK(cuLaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, streams[0], params, NULL));
  alternate(STAGES);
  CHECK(cuEventRecord(done, streams[0]));
  uint64_t submitted = now();
  __atomic_store_n(gate_word, 1, __ATOMIC_SEQ_CST);
  CHECK(cuEventSynchronize(done));
  return submitted;
}

static uint64_t copy(void) {
  CHECK(cuMemcpyAsync(target, source, bytes, streams[0]));
  return finish(done);
}

static uint64_t fill(void) {
  CHECK(cuMemsetD32Async(target, 7, bytes / 4, streams[0]));
  return finish(done);
}

static void open_library(void) {
  const char* name = getenv("IREE4J_LIBCUDA");
  if (name == NULL || *name == 0) name = "libcuda.so.1";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define RESOLVE(symbol, arguments)                             \
  *(void**)(&symbol) = dlsym(library, #symbol);                \
  if (symbol == NULL) {                                        \
    fprintf(stderr, "'%s' has no symbol %s\n", name, #symbol); \
    exit(1);                                                   \
  }
  SYMBOLS(RESOLVE)
}

static void open_device(void) {
  int device, version;
  char name[128] = "";
  context_t context;
  CHECK(cuInit(0));
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxPushCurrent_v2(context));
  printf(
      "{\"side\":\"c\",\"driver\":\"cuda\",\"device\":\"%s\",\"version\":%d}\n",
      name, version);
  for (int i = 0; i < 2; ++i) {
    CHECK(cuStreamCreate(&streams[i], STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc_v2(&buffers[i], ELEMENTS * 4));
    CHECK(cuMemsetD32Async(buffers[i], 0, ELEMENTS, streams[0]));
  }
  CHECK(cuEventCreate(&done, EVENT_DISABLE_TIMING));
  CHECK(cuEventCreate(&done_blocking,
                      EVENT_DISABLE_TIMING | EVENT_BLOCKING_SYNC));
  for (int i = 0; i < STAGES; ++i)
    CHECK(cuEventCreate(&edges[i], EVENT_DISABLE_TIMING));
  module_t module;
  CHECK(cuModuleLoadDataEx(&module, kernels, 0, NULL, NULL));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CHECK(cuModuleGetFunction(&gate, module, "gate"));
  void* word;
  CHECK(cuMemHostAlloc(&word, 4096, HOST_MAPPED));
  gate_word = word;
  CHECK(cuMemHostGetDevicePointer_v2(&gate_address, word, 0));
  graph_t recorded;
  CHECK(cuStreamBeginCapture_v2(streams[0], CAPTURE_THREAD_LOCAL));
  for (int i = 0; i < CHAIN; ++i) launch(i, streams[0]);
  CHECK(cuStreamEndCapture(streams[0], &recorded));
  CHECK(cuGraphInstantiateWithFlags(&graph, recorded, 0));
  CHECK(cuGraphDestroy(recorded));
}

static int pipeline_fits; /* in the driver's queue, without making the caller wait */

/* A chain must leave the values computed by the chain's dispatches in order. */
static void check_chain(const char* name, action_t action, int added) {
  const uint32_t* values = gate_word + 16;
  CHECK(cuMemsetD32Async(buffers[0], 5, ELEMENTS, streams[0]));
  uint64_t begin = now();
  action();
  pipeline_fits = now() - begin < 5000000000u;
  CHECK(cuMemcpyAsync((uint64_t)(uintptr_t)values, buffers[added & 1],
                      ELEMENTS * 4, streams[0]));
  finish(done);
  for (int i = 0; i < ELEMENTS; ++i) {
    if (values[i] != 5 + (uint32_t)added) {
      fprintf(stderr, "%s: element %d is %u, expected %d\n", name, i, values[i],
              5 + added);
      exit(1);
    }
  }
}

static void copies(void) {
  static const struct {
    const char* name;
    size_t bytes;
  } sizes[] = {{"64KiB", 64 << 10},
               {"1MiB", 1 << 20},
               {"64MiB", 64 << 20},
               {"1GiB", (size_t)1 << 30}};
  uint64_t device[2];
  void* pinned;
  for (int i = 0; i < 2; ++i) CHECK(cuMemAlloc_v2(&device[i], largest));
  CHECK(cuMemHostAlloc(&pinned, largest, 0));
  void* pageable = aligned_alloc(4096, largest);
  memset(pinned, 1, largest);
  memset(pageable, 2, largest);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    if (sizes[i].bytes > largest) continue;
    bytes = sizes[i].bytes;
    const struct {
      const char* name;
      const char* kind;
      uint64_t target, source;
    } ways[] = {
        {"h2d", ".pinned", device[0], (uint64_t)(uintptr_t)pinned},
        {"d2h", ".pinned", (uint64_t)(uintptr_t)pinned, device[0]},
        {"h2d", ".pageable", device[0], (uint64_t)(uintptr_t)pageable},
        {"d2h", ".pageable", (uint64_t)(uintptr_t)pageable, device[0]},
        {"d2d", "", device[1], device[0]},
    };
    char name[64];
    for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
      target = ways[k].target;
      source = ways[k].source;
      /* A library for tests may refuse ordinary memory. */
      if (cuMemcpyAsync(target, source, bytes, streams[0]) != 0) continue;
      snprintf(name, sizeof name, "copy.%s.%s%s", ways[k].name, sizes[i].name,
               ways[k].kind);
      measure_rate(name, copy);
    }
    target = device[0];
    snprintf(name, sizeof name, "fill.%s", sizes[i].name);
    measure_rate(name, fill);
  }
  free(pageable);
  CHECK(cuMemFreeHost(pinned));
  for (int i = 0; i < 2; ++i) CHECK(cuMemFree_v2(device[i]));
}

int main(int argc, char** argv) {
  if (argc > 1) seconds = atof(argv[1]);
  if (argc > 2) largest = strtoull(argv[2], NULL, 0);
  open_library();
  open_device();
  check_chain("chain", chain, CHAIN);
  check_chain("graph", run_graph, CHAIN);
  check_chain("edges", cross, CHAIN);
  check_chain("pipeline", pipeline, STAGES);
  measure("latency", 1, one, 0);
  measure("latency.blocking", 1, one_blocking, 0);
  measure("chain512", CHAIN, chain, 1);
  measure("chain512.events", CHAIN, chain_with_events, 1);
  measure("graph512", CHAIN, run_graph, 1);
  measure("edges512", CHAIN, cross, 1);
  if (pipeline_fits) {
    measure("pipeline1000", STAGES, pipeline, 1);
  } else {
    fprintf(stderr,
            "the driver took no 1,000 stages before the first had run\n");
  }
  copies();
  return 0;
}
