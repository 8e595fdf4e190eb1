// The fakes' captures and graphs.
#include "gpu/fake_gpu_test.h"

enum {
  ILLEGAL_STATE = 401,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  CAPTURE_MERGE = 902,
  CAPTURE_UNMATCHED = 903,
  CAPTURE_UNJOINED = 904,
  CAPTURE_ISOLATION = 905,
  CAPTURED_EVENT = 907,
  CAPTURE_WRONG_THREAD = 908,
  UPDATE_FAILURE = 910,
};

static int begin_capture(sgpu_stream_t of) {
  return gpu.stream_begin_capture(of, SGPU_CAPTURE_THREAD_LOCAL);
}

static int end_capture(sgpu_stream_t of) {
  sgpu_graph_t graph = NULL;
  int code = gpu.stream_end_capture(of, &graph);
  CHECK(!graph == (code != 0));
  if (graph) CHECK_EQ(gpu.graph_destroy(graph), 0);
  return code;
}

// A graph that fills memory and copies it.
static sgpu_graph_t fill_graph(uint64_t memory, const void* host, int value,
                               int fills) {
  sgpu_graph_t graph = NULL;
  CHECK_EQ(begin_capture(stream), 0);
  for (int i = 0; i < fills; ++i) {
    CHECK_EQ(gpu.fill_32(memory, value, 1, stream), 0);
  }
  CHECK_EQ(copy(stream, address(host), memory, 4), 0);
  CHECK_EQ(gpu.stream_end_capture(stream, &graph), 0);
  return graph;
}

static void graphs_are_launched_and_updated(void) {
  begin("");
  uint64_t memory = new_memory(4);
  volatile uint32_t* host = new_pinned(4);
  sgpu_graph_t one = fill_graph(memory, (void*)host, 1, 1);
  sgpu_graph_t two = fill_graph(memory, (void*)host, 2, 1);
  sgpu_graph_t longer = fill_graph(memory, (void*)host, 3, 2);
  sgpu_graph_exec_t exec = NULL;
  CHECK_EQ(gpu.graph_instantiate(&exec, one, 0), 0);
  CHECK_EQ(gpu.graph_destroy(one), 0);
  CHECK_EQ(*host, 0xCDCDCDCD);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(gpu.graph_launch(exec, stream), 0);
    CHECK_EQ(finish(stream), 0);
    CHECK_EQ(*host, 1);
    *host = 0;
  }
  // What was launched before an update stays what it was.
  make_file(".hang");
  CHECK_EQ(gpu.graph_launch(exec, stream), 0);
  void* node = &exec;
  int result = -1;
  CHECK_EQ(gpu.graph_update(exec, two, &node, &result), 0);
  CHECK(!node);
  CHECK_EQ(result, 0);
  remove_file(".hang");
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(*host, 1);
  CHECK_EQ(gpu.graph_update(exec, longer, &node, &result), UPDATE_FAILURE);
  CHECK_EQ(result, 2);
  CHECK_EQ(gpu.graph_launch(exec, stream), 0);
  CHECK_EQ(gpu.graph_exec_destroy(exec), 0);  // while it runs
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(*host, 2);
  CHECK_EQ(gpu.graph_launch(exec, stream), 400);
  complained("is no executable graph");
  CHECK_EQ(gpu.graph_destroy(two), 0);
  CHECK_EQ(gpu.graph_destroy(longer), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free((void*)host), 0);
  end();
}

static void memory_of_a_graph_is_used_while_it_is_launched(void) {
  begin("");
  uint64_t memory = new_memory(4);
  void* host = new_pinned(4);
  sgpu_graph_t graph = fill_graph(memory, host, 1, 1);
  sgpu_graph_exec_t exec = NULL;
  CHECK_EQ(gpu.graph_instantiate(&exec, graph, 0), 0);
  CHECK_EQ(gpu.graph_destroy(graph), 0);
  make_file(".hang");
  CHECK_EQ(gpu.graph_launch(exec, stream), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  complained("pinned memory is freed while operations use it");
  remove_file(".hang");
  CHECK_EQ(finish(stream), SGPU_ILLEGAL_ADDRESS);
  CHECK_EQ(gpu.memory_free(memory), SGPU_ILLEGAL_ADDRESS);
  CHECK_EQ(gpu.graph_exec_destroy(exec), SGPU_ILLEGAL_ADDRESS);
  end_dead(SGPU_ILLEGAL_ADDRESS);
}

static void captures_fork_and_join(void) {
  begin("");
  sgpu_stream_t other = new_stream();
  sgpu_event_t fork = new_event(), join = new_event();
  uint64_t memory = new_memory(8);
  uint32_t* host = new_pinned(8);
  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(gpu.fill_32(memory, 1, 2, stream), 0);
  CHECK_EQ(gpu.event_record(fork, stream), 0);
  CHECK_EQ(gpu.stream_wait_event(other, fork, 0), 0);
  CHECK_EQ(gpu.fill_32(memory + 4, 2, 1, other), 0);
  CHECK_EQ(end_capture(other), CAPTURE_UNMATCHED);
  CHECK_EQ(end_capture(stream), CAPTURE_INVALIDATED);

  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(begin_capture(stream), ILLEGAL_STATE);
  CHECK_EQ(gpu.fill_32(memory, 1, 2, stream), 0);
  CHECK_EQ(gpu.event_record(fork, stream), 0);
  CHECK_EQ(gpu.stream_wait_event(other, fork, 0), 0);
  CHECK_EQ(gpu.fill_32(memory + 4, 2, 1, other), 0);
  CHECK_EQ(end_capture(stream), CAPTURE_UNJOINED);

  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(gpu.fill_32(memory, 1, 2, stream), 0);
  CHECK_EQ(gpu.event_record(fork, stream), 0);
  CHECK_EQ(gpu.stream_wait_event(other, fork, 0), 0);
  CHECK_EQ(gpu.fill_32(memory + 4, 2, 1, other), 0);
  CHECK_EQ(gpu.event_record(join, other), 0);
  CHECK_EQ(gpu.stream_wait_event(stream, join, 0), 0);
  CHECK_EQ(copy(stream, address(host), memory, 8), 0);
  sgpu_graph_t graph = NULL;
  CHECK_EQ(gpu.stream_end_capture(stream, &graph), 0);
  CHECK_EQ(gpu.event_query(fork), CAPTURED_EVENT);
  CHECK_EQ(gpu.event_synchronize(fork), CAPTURED_EVENT);
  CHECK_EQ(gpu.event_record(fork, other), 0);  // no longer captured
  CHECK_EQ(gpu.event_synchronize(fork), 0);
  sgpu_graph_exec_t exec = NULL;
  CHECK_EQ(gpu.graph_instantiate(&exec, graph, 0), 0);
  CHECK_EQ(gpu.graph_launch(exec, other), 0);
  CHECK_EQ(finish(other), 0);
  CHECK_EQ(host[0], 1);
  CHECK_EQ(host[1], 2);
  CHECK_EQ(gpu.graph_exec_destroy(exec), 0);
  CHECK_EQ(gpu.graph_destroy(graph), 0);
  CHECK_EQ(gpu.event_destroy(fork), 0);
  CHECK_EQ(gpu.event_destroy(join), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  CHECK_EQ(gpu.stream_destroy(other), 0);
  end();
}

static void* end_elsewhere(void* argument) {
  CHECK_EQ(gpu.context_push(context), 0);
  CHECK_EQ(end_capture(stream), *(int*)argument);
  // Only the thread that captures must not allocate.
  CHECK_EQ(gpu.memory_free(new_memory(4)), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  return NULL;
}

static void calls_that_a_capture_forbids_end_it(void) {
  begin("");
  sgpu_event_t event = new_event();
  sgpu_stream_t other = new_stream();
  uint64_t memory = 0;
  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(gpu.memory_allocate(&memory, 4), CAPTURE_UNSUPPORTED);
  CHECK_EQ(gpu.fill_8(4096, 0, 0, stream), 0);
  CHECK_EQ(end_capture(stream), CAPTURE_INVALIDATED);
  CHECK_EQ(end_capture(stream), ILLEGAL_STATE);

  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(gpu.event_query(event), CAPTURE_UNSUPPORTED);
  CHECK_EQ(end_capture(stream), CAPTURE_INVALIDATED);

  memory = new_memory(4);
  CHECK_EQ(gpu.event_record(event, other), 0);
  CHECK_EQ(gpu.event_synchronize(event), 0);  // nothing is pending at the end
  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(gpu.stream_wait_event(stream, event, 0), CAPTURE_ISOLATION);
  CHECK_EQ(gpu.fill_8(memory, 0, 4, stream), CAPTURE_INVALIDATED);
  CHECK_EQ(end_capture(stream), CAPTURE_INVALIDATED);

  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(begin_capture(other), 0);
  CHECK_EQ(gpu.event_record(event, other), 0);
  CHECK_EQ(gpu.stream_wait_event(stream, event, 0), CAPTURE_MERGE);
  CHECK_EQ(end_capture(other), CAPTURE_INVALIDATED);
  CHECK_EQ(end_capture(stream), CAPTURE_INVALIDATED);

  int expected = CAPTURE_WRONG_THREAD;
  pthread_t thread;
  CHECK_EQ(begin_capture(stream), 0);
  CHECK_EQ(pthread_create(&thread, NULL, end_elsewhere, &expected), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(end_capture(stream), 0);

  CHECK_EQ(begin_capture(other), 0);
  CHECK_EQ(gpu.stream_destroy(other), 0);
  complained("a stream is destroyed while it captures");
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.event_destroy(event), 0);
  end();
}

static void a_loss_ends_captures(void) {
  begin("");
  CHECK_EQ(begin_capture(stream), 0);
  make_file(".lost");
  CHECK_EQ(end_capture(stream), SGPU_LAUNCH_FAILED);
  remove_file(".lost");
  end_dead(SGPU_LAUNCH_FAILED);
}

void test_gpu_graphs(void) {
  RUN(graphs_are_launched_and_updated);
  RUN(memory_of_a_graph_is_used_while_it_is_launched);
  RUN(captures_fork_and_join);
  RUN(calls_that_a_capture_forbids_end_it);
  RUN(a_loss_ends_captures);
}
