// Captures and graphs of the fakes. A capture collects the operations of its
// streams as nodes, each with the nodes that it must not overtake: those that
// its stream has come to, called the stream's frontier. A launch of a graph is
// one operation, which runs the nodes in another order where they allow it.
#include <stdlib.h>
#include <string.h>

#include "fake_gpu.h"

enum { RELAXED = 2 };  // mode of a capture that forbids nothing

typedef struct node_t {
  fake_op_t op;
  fake_frontier_t after;
} node_t;

typedef struct fake_nodes_t {
  int references;
  uint32_t count, room;
  node_t* items;
} fake_nodes_t;

typedef struct fake_capture_t {
  struct fake_capture_t* next;
  int references;  // of its streams and events
  pthread_t thread;
  int mode;
  bool ended, invalid;
  fake_queue_t* origin;
  fake_nodes_t* nodes;
} fake_capture_t;

// Captures under way; the origin of each refers to it.
static fake_capture_t* active;

//===--------------------------------------------------------------------===//
// Nodes
//===--------------------------------------------------------------------===//

void fake_release_nodes(fake_nodes_t* nodes) {
  if (!nodes || --nodes->references) return;
  for (uint32_t i = 0; i < nodes->count; ++i) {
    fake_free_op(&nodes->items[i].op);
    free(nodes->items[i].after.nodes);
  }
  free(nodes->items);
  free(nodes);
}

static void set(fake_frontier_t* frontier, const uint32_t* nodes,
                uint32_t count) {
  uint32_t* copy = malloc((count + 1) * sizeof(*copy));
  if (count) memcpy(copy, nodes, count * sizeof(*copy));
  free(frontier->nodes);
  *frontier = (fake_frontier_t){copy, count};
}

static void join(fake_frontier_t* frontier, const fake_frontier_t* other) {
  for (uint32_t i = 0; i < other->count; ++i) {
    uint32_t at = 0;
    while (at < frontier->count && frontier->nodes[at] != other->nodes[i]) ++at;
    if (at < frontier->count) continue;
    frontier->nodes =
        realloc(frontier->nodes, (frontier->count + 1) * sizeof(uint32_t));
    frontier->nodes[frontier->count++] = other->nodes[i];
  }
}

void fake_use_nodes(fake_op_t* op, const fake_nodes_t* nodes) {
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const fake_op_t* node = &nodes->items[i].op;
    if (node->kind == OP_LAUNCH) {
      fake_use_launch(op, node->launch);
    } else {
      fake_use(op, node->target, node->size);
      if (node->kind == OP_COPY) fake_use(op, node->source, node->size);
    }
  }
}

bool fake_nodes_use(const fake_nodes_t* nodes,
                    const struct fake_program_t* program) {
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const fake_op_t* op = &nodes->items[i].op;
    if (op->launch && fake_program_of(op->launch) == program) return true;
  }
  return false;
}

static bool may_run(const node_t* node, const bool* done) {
  for (uint32_t i = 0; i < node->after.count; ++i) {
    if (!done[node->after.nodes[i]]) return false;
  }
  return true;
}

// Runs the last one that may run, again and again: as unlike the order of
// capture as edges allow, since drivers keep no other order.
int fake_run_nodes(sgpu_context_t context, fake_nodes_t* nodes) {
  bool* done = calloc((size_t)nodes->count + 1, sizeof(*done));
  int code = SGPU_SUCCESS;
  uint32_t first = 0;  // all before are done
  uint32_t left = nodes->count;
  while (left && !code && !context->error) {
    while (done[first]) ++first;
    uint32_t at = first + 63 < nodes->count ? first + 63 : nodes->count - 1;
    while (done[at] || !may_run(&nodes->items[at], done)) --at;
    code = fake_run(context, &nodes->items[at].op);
    done[at] = true;
    --left;
  }
  free(done);
  return code;
}

//===--------------------------------------------------------------------===//
// Captures
//===--------------------------------------------------------------------===//

__attribute__((noinline)) static void release(fake_capture_t* capture) {
  if (!capture || --capture->references) return;
  fake_release_nodes(capture->nodes);
  free(capture);
}

// Ends it; the last reference may be that of a stream.
static void close_capture(fake_capture_t* capture) {
  fake_capture_t** at = &active;
  while (*at != capture) at = &(*at)->next;
  *at = capture->next;
  capture->ended = true;
  fake_leave_queues(capture);
}

static void enter(fake_queue_t* queue, fake_capture_t* capture) {
  ++capture->references;
  queue->capture = capture;
  set(&queue->frontier, NULL, 0);
}

static void leave(fake_queue_t* queue) {
  fake_capture_t* capture = queue->capture;
  queue->capture = NULL;
  free(queue->frontier.nodes);
  queue->frontier = (fake_frontier_t){0};
  release(capture);
}

void fake_leave_capture(fake_queue_t* queue) {
  fake_capture_t* capture = queue->capture;
  if (!capture) return;
  capture->invalid = true;
  if (capture->origin == queue) {
    close_capture(capture);
  } else {
    leave(queue);
  }
}

// Lets a stream leave that belongs to the capture.
void fake_leave_if(fake_queue_t* queue, fake_capture_t* capture) {
  if (queue->capture == capture) leave(queue);
}

void fake_forget_capture(sgpu_event_t event) {
  free(event->frontier.nodes);
  event->frontier = (fake_frontier_t){0};
  release(event->capture);
  event->capture = NULL;
}

int fake_refuse_capture(void) {
  for (fake_capture_t* at = active; at; at = at->next) {
    if (at->mode == RELAXED || !pthread_equal(at->thread, pthread_self())) {
      continue;
    }
    at->invalid = true;
    return FAKE_CAPTURE_UNSUPPORTED;
  }
  return SGPU_SUCCESS;
}

int fake_capture_op(fake_queue_t* queue, fake_op_t op) {
  fake_capture_t* capture = queue->capture;
  if (op.kind == OP_GRAPH) capture->invalid = true;
  if (capture->invalid) {
    fake_free_op(&op);
    return op.kind == OP_GRAPH ? FAKE_CAPTURE_UNSUPPORTED
                               : FAKE_CAPTURE_INVALIDATED;
  }
  fake_nodes_t* nodes = capture->nodes;
  if (nodes->count == nodes->room) {
    nodes->room = nodes->room * 2 + 16;
    nodes->items = realloc(nodes->items, nodes->room * sizeof(*nodes->items));
  }
  nodes->items[nodes->count] = (node_t){.op = op, .after = queue->frontier};
  queue->frontier = (fake_frontier_t){0};
  set(&queue->frontier, &nodes->count, 1);
  ++nodes->count;
  return SGPU_SUCCESS;
}

void fake_capture_record(sgpu_event_t event, fake_queue_t* queue) {
  ++queue->capture->references;
  fake_forget_capture(event);
  event->capture = queue->capture;
  set(&event->frontier, queue->frontier.nodes, queue->frontier.count);
}

int fake_capture_wait(fake_queue_t* queue, sgpu_event_t event) {
  fake_capture_t* capture = event->capture;
  if (!capture) {
    // A dependency on what is outside.
    if (!event->record) return SGPU_SUCCESS;
    queue->capture->invalid = true;
    return FAKE_CAPTURE_ISOLATION;
  }
  if (capture->ended) {
    if (queue->capture) queue->capture->invalid = true;
    return FAKE_CAPTURED_EVENT;
  }
  if (queue->capture && queue->capture != capture) {
    queue->capture->invalid = true;
    capture->invalid = true;
    return FAKE_CAPTURE_MERGE;
  }
  if (capture->invalid) return FAKE_CAPTURE_INVALIDATED;
  if (!queue->capture) enter(queue, capture);
  join(&queue->frontier, &event->frontier);
  return SGPU_SUCCESS;
}

int fake_stream_begin_capture(sgpu_stream_t stream, int mode) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_begin_capture, &context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code && (mode < 0 || mode > RELAXED)) code = SGPU_INVALID_VALUE;
  if (!code && stream->queue->capture) code = FAKE_ILLEGAL_STATE;
  if (code) return fake_end(code);
  fake_capture_t* capture = calloc(1, sizeof(*capture));
  capture->thread = pthread_self();
  capture->mode = mode;
  capture->origin = stream->queue;
  capture->nodes = calloc(1, sizeof(*capture->nodes));
  capture->nodes->references = 1;
  enter(stream->queue, capture);
  capture->next = active;
  active = capture;
  return fake_end(SGPU_SUCCESS);
}

// Whether all nodes come before the frontier.
static bool is_joined(const fake_nodes_t* nodes,
                      const fake_frontier_t* frontier) {
  bool* before = calloc((size_t)nodes->count + 1, sizeof(*before));
  for (uint32_t i = 0; i < frontier->count; ++i) {
    before[frontier->nodes[i]] = true;
  }
  bool all = true;
  for (uint32_t i = nodes->count; i-- > 0;) {
    all = all && before[i];
    const fake_frontier_t* after = &nodes->items[i].after;
    for (uint32_t j = 0; j < after->count; ++j) before[after->nodes[j]] = true;
  }
  free(before);
  return all;
}

static int end_capture(sgpu_context_t context, fake_queue_t* queue,
                       sgpu_graph_t* out_graph) {
  fake_capture_t* capture = queue->capture;
  if (!capture) return FAKE_ILLEGAL_STATE;
  if (capture->origin != queue) {
    capture->invalid = true;
    return FAKE_CAPTURE_UNMATCHED;
  }
  if (capture->mode != RELAXED &&
      !pthread_equal(capture->thread, pthread_self())) {
    return FAKE_CAPTURE_WRONG_THREAD;
  }
  int code = capture->invalid ? FAKE_CAPTURE_INVALIDATED : SGPU_SUCCESS;
  if (!code && !is_joined(capture->nodes, &queue->frontier)) {
    code = FAKE_CAPTURE_UNJOINED;
  }
  if (!code) {
    sgpu_graph_t graph = fake_make(FAKE_GRAPH, context);
    graph->nodes = capture->nodes;
    ++graph->nodes->references;
    *out_graph = graph;
  }
  close_capture(capture);
  return code;
}

int fake_stream_end_capture(sgpu_stream_t stream, sgpu_graph_t* out_graph) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_end_capture, &context);
  *out_graph = NULL;
  if (!context) fake_current(&context);
  int own = context ? fake_check(FAKE_STREAM, stream, context) : code;
  if (!own) own = end_capture(context, stream->queue, out_graph);
  if (code && *out_graph) {  // it is to fail, and ends the capture all the same
    fake_release_nodes((*out_graph)->nodes);
    fake_drop(FAKE_GRAPH, *out_graph);
    *out_graph = NULL;
  }
  return fake_end(code ? code : own);
}

//===--------------------------------------------------------------------===//
// Graphs
//===--------------------------------------------------------------------===//

int fake_graph_destroy(sgpu_graph_t graph) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_graph_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_GRAPH, graph, context);
    if (!own) {
      fake_release_nodes(graph->nodes);
      fake_drop(FAKE_GRAPH, graph);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}

int fake_graph_instantiate(sgpu_graph_exec_t* out_exec, sgpu_graph_t graph,
                           unsigned long long flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_graph_instantiate, &context);
  if (!code && flags & ~15ull) code = SGPU_INVALID_VALUE;
  if (!code) code = fake_check(FAKE_GRAPH, graph, context);
  if (!code) {
    sgpu_graph_exec_t exec = fake_make(FAKE_GRAPH_EXEC, context);
    exec->nodes = graph->nodes;
    ++exec->nodes->references;
    *out_exec = exec;
    fake_await_work(context);
  }
  return fake_end(code);
}

int fake_graph_exec_destroy(sgpu_graph_exec_t exec) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_graph_exec_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_GRAPH_EXEC, exec, context);
    if (!own) {
      fake_release_nodes(exec->nodes);
      fake_drop(FAKE_GRAPH_EXEC, exec);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}

// What makes another graph one of another shape: 0, or the result to report.
static int difference(const fake_nodes_t* old, const fake_nodes_t* new) {
  enum { TOPOLOGY_CHANGED = 2, KIND_CHANGED = 3 };
  if (old->count != new->count) return TOPOLOGY_CHANGED;
  for (uint32_t i = 0; i < old->count; ++i) {
    const node_t* a = &old->items[i];
    const node_t* b = &new->items[i];
    if (a->op.kind != b->op.kind) return KIND_CHANGED;
    if (a->after.count != b->after.count ||
        memcmp(a->after.nodes, b->after.nodes,
               a->after.count * sizeof(uint32_t))) {
      return TOPOLOGY_CHANGED;
    }
  }
  return 0;
}

// Launches that are under way keep what they had.
int fake_graph_update(sgpu_graph_exec_t exec, sgpu_graph_t graph,
                      void** out_node, int* out_result) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_graph_update, &context);
  if (!code) code = fake_check(FAKE_GRAPH_EXEC, exec, context);
  if (!code) code = fake_check(FAKE_GRAPH, graph, context);
  if (!code) {
    *out_node = NULL;
    *out_result = difference(exec->nodes, graph->nodes);
    if (*out_result) {
      code = FAKE_GRAPH_UPDATE_FAILURE;
    } else {
      ++graph->nodes->references;
      fake_release_nodes(exec->nodes);
      exec->nodes = graph->nodes;
    }
  }
  return fake_end(code);
}

static int check_programs(const fake_nodes_t* nodes) {
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const fake_op_t* op = &nodes->items[i].op;
    if (op->launch && fake_is_unloaded(fake_program_of(op->launch))) {
      fake_complain("a graph is launched whose module was unloaded");
      return FAKE_INVALID_HANDLE;
    }
  }
  return SGPU_SUCCESS;
}

int fake_graph_launch(sgpu_graph_exec_t exec, sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_graph_launch, &context);
  if (!code) code = fake_check(FAKE_GRAPH_EXEC, exec, context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code) code = check_programs(exec->nodes);
  if (!code) {
    ++exec->nodes->references;
    code = fake_submit(stream,
                       (fake_op_t){.kind = OP_GRAPH, .nodes = exec->nodes});
  }
  return fake_end(code);
}
