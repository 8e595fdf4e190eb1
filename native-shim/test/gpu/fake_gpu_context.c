// Devices of the fakes, their attributes, and contexts.
#include <stdio.h>
#include <string.h>

#include "fake_gpu.h"

//===--------------------------------------------------------------------===//
// Devices
//===--------------------------------------------------------------------===//

// Numbers of attributes, and values that no setting changes.
static const struct {
  int cuda, hip;
  int value;
} attributes[] = {
    {1, 56, 1024},                   // threads of a block
    {2, 26, 1024},                   // block, x
    {3, 27, 1024},                   // block, y
    {4, 28, 64},                     // block, z
    {5, 29, 0x7FFFFFFF},             // grid, x
    {6, 30, 65535},                  // grid, y
    {7, 31, 65535},                  // grid, z
    {8, 74, FAKE_MAX_SHARED_BYTES},  // shared memory of a block
    {97, 75, FAKE_MAX_OPTIN_BYTES},  // the same, opt-in
    {10, 87, FAKE_PICK(32, 64)},     // threads of a warp
    {12, 71, 65536},                 // registers of a block
    {16, 63, 4},                     // multiprocessors
    {39, 57, 2048},                  // threads of a multiprocessor
    {19, 3, 1},                      // can map host memory
    {31, 8, 1},                      // concurrent kernels
    {40, 2, 2},                      // asynchronous engines
    {41, 85, 1},                     // unified addressing
    {83, 24, 1},                     // managed memory
    {89, 9, 0},                      // the same, concurrent
    {91, 4, 1},                      // host pointers of registered memory
    {99, 90, 1},                     // host memory can be registered
    {113, -2, 1},                    // the same, read-only: CUDA alone
    {115, 88, 1},                    // memory pools
    {20, 6, 0},                      // compute mode: default
    {13, 5, 1000000},                // clock, kHz
    {36, 60, 1000000},               // memory clock, kHz
    {37, 59, 256},                   // memory bus, bits
    {38, 19, 1 << 20},               // cache, bytes
    {50, 69, 0},                     // PCI domain
    {34, 68, 0},                     // PCI device
};

static int check_device(int device) {
  return device >= 0 && device < fake_settings.device_count
             ? SGPU_SUCCESS
             : SGPU_INVALID_DEVICE;
}

int fake_device_count(int* out_count) {
  int code = fake_begin_driver(CALL_device_count);
  if (!code) *out_count = fake_settings.device_count;
#ifdef FAKE_HIP
  if (!code && !*out_count) code = SGPU_NO_DEVICE;
#endif
  return fake_end(code);
}

int fake_device_get(int* out_device, int index) {
  int code = fake_begin_driver(CALL_device_get);
  if (!code) code = check_device(index);
  if (!code) *out_device = index;
  return fake_end(code);
}

int fake_device_name(char* out_name, int capacity, int device) {
  int code = fake_begin_driver(CALL_device_name);
  if (!code) code = check_device(device);
  if (!code && capacity <= 0) code = SGPU_INVALID_VALUE;
  if (!code) {
    snprintf(out_name, (size_t)capacity,
             "fake " FAKE_PICK("CUDA", "HIP") " device %d", device);
  }
  return fake_end(code);
}

static int uuid_of(int device, int number, sgpu_uuid_t* out_uuid) {
  int code = check_device(device);
  if (!code && fake_settings.no_uuid) code = SGPU_NOT_SUPPORTED;
  if (code) return code;
  *out_uuid = (sgpu_uuid_t){0};
  memcpy(out_uuid->bytes, FAKE_PICK("fake CUDA", "fake HIP "), 9);
  out_uuid->bytes[15] = (uint8_t)number;
  return SGPU_SUCCESS;
}

int fake_device_uuid(sgpu_uuid_t* out_uuid, int device) {
  int code = fake_begin_driver(CALL_device_uuid);
  int number = fake_settings.instances ? 0 : device;
  if (!code) code = uuid_of(device, number, out_uuid);
  return fake_end(code);
}

#ifndef FAKE_HIP
int fake_device_uuid_of_instance(sgpu_uuid_t* out_uuid, int device) {
  int code = fake_begin_driver(CALL_device_uuid_of_instance);
  if (!code) code = uuid_of(device, device, out_uuid);
  return fake_end(code);
}
#endif

int fake_attribute_of(int device, int attribute, int* out_value) {
  const fake_settings_t* s = &fake_settings;
  for (int i = 0; i < s->attribute_count; ++i) {
    if (s->attributes[i][0] == attribute) {
      if (s->attributes[i][1] == FAKE_NO_ATTRIBUTE) return SGPU_INVALID_VALUE;
      *out_value = s->attributes[i][1];
      return SGPU_SUCCESS;
    }
  }
  switch (attribute) {
    case FAKE_PICK(75, 23):
      *out_value = s->major;
      return SGPU_SUCCESS;
    case FAKE_PICK(76, 61):
      *out_value = s->minor;
      return SGPU_SUCCESS;
    case FAKE_PICK(33, 67):  // PCI bus
      *out_value = device + 1;
      return SGPU_SUCCESS;
    default:
      break;
  }
  for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); ++i) {
    if (FAKE_PICK(attributes[i].cuda, attributes[i].hip) == attribute) {
      *out_value = attributes[i].value;
      return SGPU_SUCCESS;
    }
  }
  return SGPU_INVALID_VALUE;
}

int fake_device_attribute(int* out_value, int attribute, int device) {
  int code = fake_begin_driver(CALL_device_attribute);
  if (!code) code = check_device(device);
  if (!code) code = fake_attribute_of(device, attribute, out_value);
  return fake_end(code);
}

int fake_device_memory(size_t* out_bytes, int device) {
  int code = fake_begin_driver(CALL_device_memory);
  if (!code) code = check_device(device);
  if (!code) *out_bytes = fake_settings.heap_bytes;
  return fake_end(code);
}

//===--------------------------------------------------------------------===//
// Primary contexts
//===--------------------------------------------------------------------===//

static sgpu_context_t primaries[FAKE_MAX_DEVICES];

sgpu_context_t fake_primary(int device) { return primaries[device]; }

bool fake_has_contexts(void) {
  for (int i = 0; i < FAKE_MAX_DEVICES; ++i) {
    if (primaries[i]) return true;
  }
  return false;
}

void fake_kill(sgpu_context_t context, int code) {
  if (!context->error) context->error = code;
  __atomic_store_n(&context->stop, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&fake_changed);
}

int fake_error(sgpu_context_t context) {
  if (!context->error && fake_is_lost()) fake_kill(context, SGPU_LAUNCH_FAILED);
  while (context->error && fake_has_work(context)) fake_pause();
  return context->error;
}

int fake_context_retain(sgpu_context_t* out_context, int device) {
  int code = fake_begin_driver(CALL_context_retain);
  if (!code) code = check_device(device);
  if (!code && !primaries[device]) {
    sgpu_context_t context = fake_make(FAKE_CONTEXT, NULL);
    context->object.context = context;
    context->device = device;
    primaries[device] = context;
  }
  if (!code) {
    ++primaries[device]->references;
    *out_context = primaries[device];
  }
  return fake_end(code);
}

static int count(fake_kind_t kind, sgpu_context_t context) {
  int number = 0;
  for (void* object = fake_next(kind, context, NULL); object;
       object = fake_next(kind, context, object)) {
    ++number;
  }
  return number;
}

// What the context has left; the kinds whose number is 0 are not named.
static void report_leaks(sgpu_context_t context, const int* memory) {
  const struct {
    int number;
    const char* name;
  } rows[] = {
      {count(FAKE_STREAM, context), "streams"},
      {count(FAKE_EVENT, context), "events"},
      {memory[FAKE_MEMORY_DEVICE], "allocations"},
      {memory[FAKE_MEMORY_PINNED], "pinned allocations"},
      {memory[FAKE_MEMORY_REGISTERED], "registered ranges"},
      {memory[FAKE_MEMORY_MANAGED], "managed allocations"},
      {count(FAKE_POOL, context), "pools"},
      {count(FAKE_LINK, context), "links"},
      {count(FAKE_MODULE, context), "modules"},
      {count(FAKE_GRAPH, context), "graphs"},
      {count(FAKE_GRAPH_EXEC, context), "executable graphs"},
      {count(FAKE_COMM, context), "communicators"},
  };
  char text[256] = "";
  size_t length = 0;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (!rows[i].number) continue;
    length +=
        (size_t)snprintf(text + length, sizeof(text) - length, "%s%d %s",
                         length ? ", " : "", rows[i].number, rows[i].name);
  }
  if (length) {
    fake_complain("the context of device %d is released with %s",
                  context->device, text);
  }
}

static void drop_objects(sgpu_context_t context) {
  for (sgpu_event_t event = fake_next(FAKE_EVENT, context, NULL); event;
       event = fake_next(FAKE_EVENT, context, event)) {
    fake_release_record(event->record);
    fake_forget_capture(event);
  }
  for (sgpu_graph_t graph = fake_next(FAKE_GRAPH, context, NULL); graph;
       graph = fake_next(FAKE_GRAPH, context, graph)) {
    fake_release_nodes(graph->nodes);
  }
  for (sgpu_graph_exec_t exec = fake_next(FAKE_GRAPH_EXEC, context, NULL); exec;
       exec = fake_next(FAKE_GRAPH_EXEC, context, exec)) {
    fake_release_nodes(exec->nodes);
  }
  fake_free_modules(context);
  for (sgpu_link_t link = fake_next(FAKE_LINK, context, NULL); link;
       link = fake_next(FAKE_LINK, context, link)) {
    fake_free_link(link);
  }
  const fake_kind_t kinds[] = {FAKE_STREAM, FAKE_EVENT, FAKE_FUNCTION,
                               FAKE_MODULE, FAKE_GRAPH, FAKE_GRAPH_EXEC,
                               FAKE_POOL,   FAKE_LINK};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    for (void* object = fake_next(kinds[i], context, NULL); object;
         object = fake_next(kinds[i], context, NULL)) {
      fake_drop(kinds[i], object);
    }
  }
}

int fake_context_release(int device) {
  int code = fake_begin_driver(CALL_context_release);
  if (!code) code = check_device(device);
  if (!code && !primaries[device]) {
    fake_complain("device %d has no context to release", device);
    code = SGPU_INVALID_CONTEXT;
  }
  if (code || --primaries[device]->references) return fake_end(code);
  sgpu_context_t context = primaries[device];
  bool alive = context->error == 0;
  uint64_t pending = fake_stop_queues(context);
  if (alive && pending) {
    fake_complain(
        "the context of device %d is released with %llu operations "
        "pending",
        device, (unsigned long long)pending);
  }
  int memory[FAKE_MEMORY_KIND_COUNT] = {0};
  fake_free_memory(context, memory);
  if (alive) report_leaks(context, memory);
  drop_objects(context);
  primaries[device] = NULL;
  fake_drop(FAKE_CONTEXT, context);
  return fake_end(SGPU_SUCCESS);
}

//===--------------------------------------------------------------------===//
// The stack of each thread
//===--------------------------------------------------------------------===//

enum { MAX_DEPTH = 32 };

typedef struct entry_t {
  sgpu_context_t context;
  uint64_t generation;
} entry_t;

static _Thread_local entry_t stack[MAX_DEPTH];
static _Thread_local int depth;

static bool is_there(entry_t entry) {
  return fake_is_live(FAKE_CONTEXT, entry.context) &&
         entry.context->object.generation == entry.generation;
}

int fake_current(sgpu_context_t* out_context) {
  if (!depth) return SGPU_INVALID_CONTEXT;
  if (!is_there(stack[depth - 1])) {
    fake_complain("the current context was released");
    return FAKE_CONTEXT_IS_DESTROYED;
  }
  *out_context = stack[depth - 1].context;
  return SGPU_SUCCESS;
}

// Succeeds for a dead context too, so that its objects can be destroyed.
int fake_context_push(sgpu_context_t context) {
  int code = fake_begin_driver(CALL_context_push);
  if (fake_stays(code) && fake_is_live(FAKE_CONTEXT, context)) {
    fake_kill(context, code);
    return fake_end(fake_error(context));
  }
  if (!code) code = fake_check(FAKE_CONTEXT, context, NULL);
  if (!code && depth == MAX_DEPTH) {
    fake_complain("%d contexts were pushed and not popped", depth);
    code = SGPU_OUT_OF_MEMORY;
  }
  if (!code) {
    stack[depth++] = (entry_t){context, context->object.generation};
  }
  return fake_end(code);
}

int fake_context_pop(sgpu_context_t* out_context) {
  int code = fake_begin_driver(CALL_context_pop);
  sgpu_context_t current = NULL;
  if (fake_stays(code) && depth && !fake_current(&current)) {
    fake_kill(current, code);
    --depth;
    if (out_context) *out_context = current;
    return fake_end(fake_error(current));
  }
  if (!code && !depth) {
    fake_complain("a context is popped from an empty stack");
    code = SGPU_INVALID_CONTEXT;
  }
  if (!code) {
    --depth;
    if (out_context) *out_context = stack[depth].context;
  }
  return fake_end(code);
}
