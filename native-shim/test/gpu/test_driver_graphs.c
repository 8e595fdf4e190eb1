// Graphs through the shim.
#include "gpu/driver_test.h"

static shim_status_t make(const words_t* words, uint64_t* graph,
                          shim_error_t* error) {
  return shim_gpu_graph_make(device, &(shim_gpu_branch_t){stream, 0}, 1, words->values, words->count, graph,
                             error);
}

static void launch(uint64_t graph) {
  words_t words = {0};
  add(&words, SHIM_GPU_GRAPH, graph);
  OK(run(&words, &error));
  finish();
}

static void graphs_are_made_and_updated(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(8);
  uint64_t graph = 0;
  uint64_t first = 0;
  for (uint32_t i = 1; i < 4; ++i) {
    words_t words = {0}, called = {0};
    add_fill(&words, memory, 4, i, 4);
    add_store(&words, store, memory + 4, i + 100);
    OK(make(&words, &graph, &error));
    CHECK(graph);
    if (i == 1) first = graph;
    CHECK_EQ(graph, first);
    CHECK_EQ(live(SHIM_GPU_KIND_GRAPHS), 1);
    if (i > 1) CHECK_EQ(value_at(memory), i - 1);  // only made
    memset(&words, 0, sizeof(words));              // they were read
    launch(graph);
    CHECK_EQ(value_at(memory), i);
    CHECK_EQ(value_at(memory + 4), i + 100);
    add(&words, SHIM_GPU_GRAPH, graph);
    add_call(&called, &words);
    add_fill(&called, memory, 4, 50, 4);
    OK(run(&called, &error));
    CHECK_EQ(value_at(memory), 50);
    launch(graph);
    CHECK_EQ(value_at(memory), i);
  }
  DONE(shim_gpu_graph_release(device, graph));
  CHECK_EQ(live(SHIM_GPU_KIND_GRAPHS), 0);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

// It stays what it was.
static void graphs_of_other_commands_are_no_update(void) {
  begin("");
  uint64_t memory = new_memory(8);
  words_t words = {0};
  add_fill(&words, memory, 4, 1, 4);
  uint64_t graph = 0;
  OK(make(&words, &graph, &error));
  const uint64_t before = graph;
  words.values[3] = pair(2, 4);
  add_copy(&words, memory, memory + 4, 4);
  FAILS(make(&words, &graph, &error), SHIM_FAILED_PRECONDITION,
        "making a graph failed with GRAPH_UPDATE_FAILURE (910)");
  CHECK_EQ(graph, before);
  launch(graph);
  CHECK_EQ(value_at(memory), 1);
  DONE(shim_gpu_graph_release(device, graph));
  free_memory(memory);
  end();
}

// A graph of words that fail: nothing is left of it, the stream is usable, and
// an older one stays what it was.
static void check_fails(const words_t* words, uint64_t memory, uint64_t older,
                        shim_status_t status, const char* text) {
  uint64_t graph = 0;
  FAILS(make(words, &graph, &error), status, text);
  CHECK_EQ(graph, 0);
  graph = older;
  FAILS(make(words, &graph, &error), status, text);
  CHECK_EQ(graph, older);
  CHECK_EQ(live(SHIM_GPU_KIND_GRAPHS), 1);
  words_t fill = {0};
  add_fill(&fill, memory, 4, 9, 4);
  OK(run(&fill, &error));
  CHECK_EQ(value_at(memory), 9);
  launch(older);
  CHECK_EQ(value_at(memory), 1);
}

static void captured_commands_that_fail_leave_nothing(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t shared = function_of(module, "shared");
  uint64_t event = new_event(), other = new_stream();
  uint64_t memory = new_memory(8);
  words_t fill = {0}, recorded = {0};
  add_fill(&fill, memory, 4, 1, 4);
  uint64_t older = 0;
  OK(make(&fill, &older, &error));
  add(&recorded, SHIM_GPU_RECORD, event);
  OK(run_on(other, &recorded, &error));

  words_t words = fill;
  add_fill(&words, memory + 1, 4, 1, 4);
  check_fails(&words, memory, older, SHIM_INVALID_ARGUMENT, "a fill failed");
  words = fill;
  add_launch(&words, shared, 65, 0, (uint64_t[]){memory}, 1);
  check_fails(&words, memory, older, SHIM_INVALID_ARGUMENT, "a launch failed");
  words = fill;
  add(&words, 99, 0);
  check_fails(&words, memory, older, SHIM_INTERNAL,
              "word 4 of 6, 99, begins no command");
  words = fill;
  words.count = 3;
  check_fails(&words, memory, older, SHIM_INTERNAL, "begins no command");
  // A graph has only what is done at each launch of it.
  words = fill;
  add_call(&words, &fill);
  check_fails(&words, memory, older, SHIM_INTERNAL, "begins no command");
  words = fill;
  add(&words, SHIM_GPU_WAIT, event);
  check_fails(&words, memory, older, SHIM_INTERNAL, "begins no command");
  words = fill;
  add(&words, SHIM_GPU_RECORD, event);
  check_fails(&words, memory, older, SHIM_INTERNAL, "begins no command");
  OK(shim_gpu_event_wait(device, event, 0, &error));

  DONE(shim_gpu_graph_release(device, older));
  DONE(shim_gpu_event_release(device, event));
  DONE(shim_gpu_stream_release(device, other));
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

// Launches that the driver refuses, one by one.
static void a_launch_that_fails_while_captured_leaves_nothing(void) {
  begin("launch_error=2");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(8);
  words_t words = {0};
  add_store(&words, store, memory, 1);
  add_store(&words, store, memory, 2);
  uint64_t graph = 0;
  FAILS(make(&words, &graph, &error), SHIM_INVALID_ARGUMENT, "a launch failed");
  CHECK_EQ(graph, 0);
  OK(make(&words, &graph, &error));
  launch(graph);
  CHECK_EQ(value_at(memory), 2);
  DONE(shim_gpu_graph_release(device, graph));
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

static void graphs_are_released_while_they_run(void) {
  begin("slow=500");
  uint64_t memory = new_memory(8);
  words_t words = {0};
  for (uint32_t i = 1; i < 6; ++i) add_fill(&words, memory, 4, i, 4);
  uint64_t graph = 0;
  OK(make(&words, &graph, &error));
  words.count = 0;
  add(&words, SHIM_GPU_GRAPH, graph);
  OK(run(&words, &error));
  DONE(shim_gpu_graph_release(device, graph));
  CHECK_EQ(value_at(memory), 5);
  free_memory(memory);
  end();
}

// The first stores 1, the second 2 in the same place: only a fake, which runs
// what may run at once in reverse, tells that neither waits for the other.
static void commands_of_a_region_do_not_wait_for_one_another(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(16);
  const shim_gpu_branch_t branches[] = {{stream, new_event()},
                                        {new_stream(), new_event()},
                                        {new_stream(), new_event()}};
  uint64_t graph = 0;
  for (size_t count = 1; count <= 3; ++count) {
    words_t words = {0};
    add_store(&words, store, memory, 9);
    add(&words, SHIM_GPU_REGION, 0);
    --words.count;  // it has no operand
    for (uint32_t i = 1; i <= 5; ++i) {
      if (i > 1) {
        add(&words, SHIM_GPU_BRANCH, 0);
        --words.count;
      }
      add_store(&words, store, memory, i);
    }
    add(&words, SHIM_GPU_REGION, 0);
    --words.count;
    add_copy(&words, memory + 4, memory, 4);
    add_fill(&words, memory, 4, 7, 4);
    OK(shim_gpu_graph_make(device, branches, count, words.values, words.count,
                           &graph, &error));
    launch(graph);
    // The last of the first branch: 1 and 4 of three, 1, 3 and 5 of two.
    const uint32_t last[] = {5, 5, 4};
    CHECK_EQ(value_at(memory + 4), last[count - 1]);
    CHECK_EQ(value_at(memory), 7);
    OK(run(&words, &error));  // in their order
    finish();
    CHECK_EQ(value_at(memory + 4), 5);
    DONE(shim_gpu_graph_release(device, graph));
    graph = 0;
  }
  for (int i = 0; i < 3; ++i) {
    DONE(shim_gpu_event_release(device, branches[i].event));
    if (i) DONE(shim_gpu_stream_release(device, branches[i].stream));
  }
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

void test_driver_graphs(void) {
  RUN(graphs_are_made_and_updated);
  RUN(graphs_of_other_commands_are_no_update);
  RUN(captured_commands_that_fail_leave_nothing);
  if (is_fake) RUN(a_launch_that_fails_while_captured_leaves_nothing);
  RUN(graphs_are_released_while_they_run);
  if (is_fake) RUN(commands_of_a_region_do_not_wait_for_one_another);
}
