// Streams, events and commands. Calls gpu_status.c.
#include <string.h>
#include <time.h>

#include "gpu/gpu_internal.h"

#define EVENT(value) ((sgpu_event_t)(uintptr_t)(value))
#define STREAM(value) ((sgpu_stream_t)(uintptr_t)(value))
#define GRAPH(value) ((sgpu_graph_exec_t)(uintptr_t)(value))

shim_status_t shim_gpu_stream_create(shim_gpu_device_t* device,
                                     uint64_t* out_stream,
                                     shim_error_t* error) {
  *out_stream = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  sgpu_stream_t stream = NULL;
  int code = SHIM__GPU_TABLE(device)->stream_create(&stream,
                                                    SGPU_STREAM_NON_BLOCKING);
  return shim__gpu_made(device, code, SHIM_GPU_KIND_STREAMS, stream, out_stream,
                        error, "creating a stream");
}

void shim_gpu_stream_release(shim_gpu_device_t* device, uint64_t stream) {
  SHIM__GPU_FREE(device, STREAMS, stream_destroy(STREAM(stream)));
}

shim_status_t shim_gpu_event_create(shim_gpu_device_t* device,
                                    uint64_t* out_event, shim_error_t* error) {
  *out_event = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  sgpu_event_t event = NULL;
  int code = SHIM__GPU_TABLE(device)->event_create(
      &event, SGPU_EVENT_DISABLE_TIMING | SGPU_EVENT_BLOCKING_SYNC);
  return shim__gpu_made(device, code, SHIM_GPU_KIND_EVENTS, event, out_event,
                        error, "creating an event");
}

void shim_gpu_event_release(shim_gpu_device_t* device, uint64_t event) {
  SHIM__GPU_FREE(device, EVENTS, event_destroy(EVENT(event)));
}

static int64_t now_nanos(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

shim_status_t shim_gpu_event_wait(shim_gpu_device_t* device, uint64_t event,
                                  int64_t spin_nanos, shim_error_t* error) {
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  int code = table->event_query(EVENT(event));
  if (code == SGPU_NOT_READY) {
    int64_t begin = now_nanos();
    while (code == SGPU_NOT_READY && now_nanos() - begin < spin_nanos) {
      code = table->event_query(EVENT(event));
    }
  }
  if (code == SGPU_NOT_READY) code = table->event_synchronize(EVENT(event));
  if (code) {
    status = shim__gpu_fail(device, code, error, "waiting for an event");
  }
  shim__gpu_leave(device);
  return status;
}

shim_status_t shim_gpu_event_query(shim_gpu_device_t* device, uint64_t event,
                                   int32_t* out_over, shim_error_t* error) {
  *out_over = 0;
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  int code = SHIM__GPU_TABLE(device)->event_query(EVENT(event));
  if (code && code != SGPU_NOT_READY) {
    status = shim__gpu_fail(device, code, error, "looking at an event");
  }
  *out_over = !code;
  shim__gpu_leave(device);
  return status;
}

//===--------------------------------------------------------------------===//
// Commands
//===--------------------------------------------------------------------===//

static uint32_t low(uint64_t word) { return (uint32_t)word; }
static uint32_t high(uint64_t word) { return (uint32_t)(word >> 32); }

// A command in words that are within bounds, its name for messages, and how
// many words it has.
typedef struct command_t {
  const uint64_t* words;
  const char* name;
  size_t count;
} command_t;

static int fill(const shim__gpu_table_t* table, sgpu_stream_t stream,
                const uint64_t* words) {
  uint64_t address = words[1];
  size_t bytes = words[2];
  uint32_t pattern = high(words[3]);
  uint32_t unit = low(words[3]);
  if (!unit || address % unit || bytes % unit) return SGPU_INVALID_VALUE;
  switch (unit) {
    case 4:
      return table->fill_32(address, (int)pattern, bytes / 4, stream);
    case 2:
      return table->fill_16(address, (unsigned short)pattern, bytes / 2,
                            stream);
    case 1:
      return table->fill_8(address, (unsigned char)pattern, bytes, stream);
    default:
      return SGPU_INVALID_VALUE;
  }
}

static int copy(const shim__gpu_table_t* table, sgpu_stream_t stream,
                const uint64_t* words) {
  return table->copy_cuda
             ? table->copy_cuda(words[1], words[2], words[3], stream)
             : table->copy_hip(words[1], words[2], words[3], SGPU_COPY_DEFAULT,
                               stream);
}

static int launch(const shim__gpu_table_t* table, sgpu_stream_t stream,
                  const uint64_t* words) {
  void* params[SHIM_GPU_MAX_PARAMS];
  uint32_t count = high(words[5]);
  for (uint32_t i = 0; i < count; ++i) {
    params[i] = (void*)(uintptr_t)(words + 6 + i);
  }
  return table->launch((sgpu_function_t)(uintptr_t)words[1], low(words[2]),
                       high(words[2]), low(words[3]), low(words[4]),
                       high(words[4]), low(words[5]), high(words[3]), stream,
                       params, NULL);
}

// Finds the bounds of a command; false when its words are none.
static bool parse(const uint64_t* words, size_t left, command_t* out) {
  out->words = words;
  switch (words[0]) {
    case SHIM_GPU_WAIT:
      out->name = "waiting for an event on a stream";
      out->count = 2;
      break;
    case SHIM_GPU_RECORD:
      out->name = "recording an event";
      out->count = 2;
      break;
    case SHIM_GPU_FILL:
      out->name = "a fill";
      out->count = 4;
      break;
    case SHIM_GPU_COPY:
      out->name = "a copy";
      out->count = 4;
      break;
    case SHIM_GPU_LAUNCH:
      out->name = "a launch";
      if (left < 6 || high(words[5]) > SHIM_GPU_MAX_PARAMS) return false;
      out->count = 6 + (size_t)high(words[5]);
      break;
    case SHIM_GPU_CALL:
      out->name = "commands";
      out->count = 3;
      break;
    case SHIM_GPU_GRAPH:
      out->name = "launching a graph";
      out->count = 2;
      break;
    case SHIM_GPU_REGION:
    case SHIM_GPU_BRANCH:
      out->name = "ordering commands of a graph";
      out->count = 1;
      break;
    default:
      return false;
  }
  return out->count <= left;
}

static int give(const shim__gpu_table_t* table, sgpu_stream_t stream,
                const uint64_t* words) {
  switch (words[0]) {
    case SHIM_GPU_WAIT:
      return table->stream_wait_event(stream, EVENT(words[1]), 0);
    case SHIM_GPU_RECORD:
      return table->event_record(EVENT(words[1]), stream);
    case SHIM_GPU_FILL:
      return fill(table, stream, words);
    case SHIM_GPU_COPY:
      return copy(table, stream, words);
    case SHIM_GPU_LAUNCH:
      return launch(table, stream, words);
    case SHIM_GPU_REGION:
    case SHIM_GPU_BRANCH:
      return SGPU_SUCCESS;  // a stream keeps the order of its commands
    default:
      return table->graph_launch ? table->graph_launch(GRAPH(words[1]), stream)
                                 : SGPU_NOT_SUPPORTED;
  }
}

// Sets of commands, by their bits.
#define SET_OF(command) (1u << (command))
enum {
  NONE = 0,
  CALLS = SET_OF(SHIM_GPU_CALL),
  ORDERS = SET_OF(SHIM_GPU_REGION) | SET_OF(SHIM_GPU_BRANCH),
  // A graph would keep an event as it is when captured.
  NOT_CAPTURED = CALLS | SET_OF(SHIM_GPU_WAIT) | SET_OF(SHIM_GPU_RECORD),
};

// Branches of a capture. The first is the stream that is captured; others join
// it by its event and leave by theirs.
typedef struct branches_t {
  const shim_gpu_branch_t* items;
  size_t count;
  size_t current;
  size_t forked;  // the last that is part of the region
} branches_t;

// What comes now comes after all branches.
static int join(const shim__gpu_table_t* table, branches_t* branches) {
  const shim_gpu_branch_t* items = branches->items;
  int code = SGPU_SUCCESS;
  for (size_t i = 1; i <= branches->forked && !code; ++i) {
    code = table->event_record(EVENT(items[i].event), STREAM(items[i].stream));
    if (!code) {
      code = table->stream_wait_event(STREAM(items[0].stream),
                                      EVENT(items[i].event), 0);
    }
  }
  branches->current = 0;
  branches->forked = 0;
  return code;
}

static int next(const shim__gpu_table_t* table, branches_t* branches) {
  branches->current = (branches->current + 1) % branches->count;
  if (branches->current <= branches->forked) return SGPU_SUCCESS;
  branches->forked = branches->current;
  return table->stream_wait_event(
      STREAM(branches->items[branches->current].stream),
      EVENT(branches->items[0].event), 0);
}

static int order(const shim__gpu_table_t* table, branches_t* branches,
                 uint64_t command) {
  if (branches->count == 1) return SGPU_SUCCESS;
  if (command == SHIM_GPU_BRANCH) return next(table, branches);
  const shim_gpu_branch_t* first = branches->items;
  int code = join(table, branches);
  return code ? code
              : table->event_record(EVENT(first->event), STREAM(first->stream));
}

// Gives commands, none of them |refused|, to a stream in an entered context, or
// to |branches| of one if there are any.
static shim_status_t run(shim_gpu_device_t* device, uint64_t stream,
                         const uint64_t* words, size_t count, uint32_t refused,
                         branches_t* branches, shim_error_t* error) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  for (size_t at = 0; at < count;) {
    command_t command;
    if (!parse(words + at, count - at, &command) ||
        SET_OF(words[at]) & refused) {
      return shim_error_set(error, SHIM_INTERNAL, 0,
                            "word %zu of %zu, %llu, begins no command", at,
                            count, (unsigned long long)words[at]);
    }
    if (words[at] == SHIM_GPU_CALL) {
      shim_status_t status =
          run(device, stream, (const uint64_t*)(uintptr_t)words[at + 1],
              words[at + 2], CALLS, NULL, error);
      if (status) return status;
    } else {
      int code = SET_OF(words[at]) & ORDERS && branches
                     ? order(table, branches, words[at])
                     : give(table,
                            STREAM(branches
                                       ? branches->items[branches->current].stream
                                       : stream),
                            command.words);
      if (code) return shim__gpu_fail(device, code, error, "%s", command.name);
    }
    at += command.count;
  }
  return SHIM_OK;
}

shim_status_t shim_gpu_run(shim_gpu_device_t* device, uint64_t stream,
                           const uint64_t* words, size_t count,
                           shim_error_t* error) {
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  status = run(device, stream, words, count, NONE, NULL, error);
  shim__gpu_leave(device);
  return status;
}

// Captures commands in an entered context.
static shim_status_t capture(shim_gpu_device_t* device, branches_t* branches,
                             const uint64_t* words, size_t count,
                             sgpu_graph_t* out_graph, shim_error_t* error) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  const uint64_t stream = branches->items[0].stream;
  *out_graph = NULL;
  int code = table->stream_begin_capture(STREAM(stream),
                                         SGPU_CAPTURE_THREAD_LOCAL);
  if (code) {
    return shim__gpu_fail(device, code, error, "beginning to capture");
  }
  shim_status_t status =
      run(device, stream, words, count, NOT_CAPTURED, branches, error);
  if (!status && (code = join(table, branches))) {
    status = shim__gpu_fail(device, code, error, "joining the branches");
  }
  code = table->stream_end_capture(STREAM(stream), out_graph);
  if (!status && code) {
    status = shim__gpu_fail(device, code, error, "capturing a graph");
  }
  if (status && *out_graph) {
    table->graph_destroy(*out_graph);
    *out_graph = NULL;
  }
  return status;
}

// Has an executable graph do what |captured| says.
static int make(shim_gpu_device_t* device, sgpu_graph_t captured,
                uint64_t* graph) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (*graph) {
    void* node = NULL;
    int result = 0;
    return table->graph_update(GRAPH(*graph), captured, &node, &result);
  }
  sgpu_graph_exec_t made = NULL;
  int code = table->graph_instantiate(&made, captured, 0);
  if (!code) {
    *graph = (uint64_t)(uintptr_t)made;
    shim__gpu_count(device, SHIM_GPU_KIND_GRAPHS, 1);
  }
  return code;
}

shim_status_t shim_gpu_graph_make(shim_gpu_device_t* device,
                                  const shim_gpu_branch_t* branches,
                                  size_t branch_count, const uint64_t* words,
                                  size_t count, uint64_t* graph,
                                  shim_error_t* error) {
  const shim__gpu_table_t* table = SHIM__GPU_TABLE(device);
  if (!table->stream_begin_capture || !table->stream_end_capture ||
      !table->graph_instantiate || !table->graph_update ||
      !table->graph_launch || !table->graph_destroy ||
      !table->graph_exec_destroy) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "'%s' has no graphs; update its driver",
                          device->api->name);
  }
  shim_status_t status = shim__gpu_enter(device, error);
  if (status) return status;
  sgpu_graph_t captured = NULL;
  branches_t all = {.items = branches, .count = branch_count};
  status = capture(device, &all, words, count, &captured, error);
  if (!status) {
    int code = make(device, captured, graph);
    table->graph_destroy(captured);
    if (code) status = shim__gpu_fail(device, code, error, "making a graph");
  }
  shim__gpu_leave(device);
  return status;
}

void shim_gpu_graph_release(shim_gpu_device_t* device, uint64_t graph) {
  SHIM__GPU_FREE(device, GRAPHS, graph_exec_destroy(GRAPH(graph)));
}
