// Recorded commands when the shim or the driver runs out of memory.
#include "allocation_failures.h"

#include <stdbool.h>

#include "failing.h"
#include "test.h"

enum { WORDS = 1024 };

static shim_status_t commands_are_created(void) {
  shim_vulkan_commands_t* commands = (shim_vulkan_commands_t*)1;
  shim_status_t status = FAILING(
      shim_vulkan_commands_create(device, 0, &commands, failing_error));
  CHECK_EQ(commands == NULL, status != SHIM_OK);
  CALM_VOID(shim_vulkan_commands_release(commands));
  return status;
}

// Commands, their objects, and the value that shows which of them ran.
typedef struct work_t {
  shim_vulkan_memory_t* memory;
  shim_vulkan_memory_info_t info;
  shim_vulkan_pipeline_t* pipelines[KIND_COUNT];
  shim_vulkan_timeline_t* timeline;
  uint64_t value;  // of the timeline
  shim_vulkan_commands_t* commands;
} work_t;

// Words that fill the memory with a number, then record that many dispatches
// with sets, alternating storage and uniform buffers, and, with |push|, one
// that pushes more descriptors than those have.
static size_t write_words(const work_t* work, uint64_t number, bool push,
                          uint64_t words[WORDS]) {
  const uint64_t b = work->info.buffer;
  const uint64_t fill[] = {SHIM_VULKAN_OP_FILL, b, 0, 64, number};
  uint64_t dispatch[] = {SHIM_VULKAN_OP_DISPATCH, 0, SHIM_VULKAN_MODE_SETS, 3,
                         b, 0, 64, b, 64, 64, b, 128, 64, 0, 0, 1, 1, 1};
  size_t count = 0;
  memcpy(words, fill, sizeof(fill));
  count += sizeof(fill) / 8;
  for (uint64_t i = 0; i < number; ++i) {
    dispatch[1] = handle(work->pipelines[i % 2 ? UNIFORM : STORAGE]);
    memcpy(words + count, dispatch, sizeof(dispatch));
    count += sizeof(dispatch) / 8;
  }
  if (!push) return count;
  const uint64_t head[] = {SHIM_VULKAN_OP_DISPATCH,
                           handle(work->pipelines[PUSHED]),
                           SHIM_VULKAN_MODE_PUSH, PUSHED_BINDINGS};
  memcpy(words + count, head, sizeof(head));
  count += sizeof(head) / 8;
  for (int i = 0; i < PUSHED_BINDINGS; ++i) {
    const uint64_t binding[] = {b, 0, 64};
    memcpy(words + count, binding, sizeof(binding));
    count += sizeof(binding) / 8;
  }
  const uint64_t tail[] = {0, 0, 1, 1, 1};
  memcpy(words + count, tail, sizeof(tail));
  return count + sizeof(tail) / 8;
}

static void record(const work_t* work, uint64_t number, bool push) {
  uint64_t words[WORDS];
  size_t count = write_words(work, number, push, words);
  CHECK_OK(shim_vulkan_commands_record(work->commands, words, count, &error));
}

static void bind(const work_t* work, uint32_t ordinal) {
  const uint64_t b = work->info.buffer;
  const uint64_t bindings[] = {b, 256, 4, b, 320, 4, b, 384, 4};
  CHECK_EQ(CALM(shim_vulkan_commands_bind(work->commands, ordinal, bindings, 9,
                                          NULL)),
           SHIM_OK);
}

static work_t work_of(void) {
  work_t work = {.memory = memory_of(0), .timeline = timeline_of(0)};
  for (int i = 0; i < KIND_COUNT; ++i) {
    work.pipelines[i] = pipeline_of((kind_t)i);
  }
  shim_vulkan_memory_query(work.memory, &work.info);
  memset((void*)(uintptr_t)work.info.host, 0, (size_t)work.info.size);
  CHECK_OK(shim_vulkan_commands_create(device, 0, &work.commands, &error));
  return work;
}

static void release(work_t* work) {
  shim_vulkan_commands_release(work->commands);
  shim_vulkan_timeline_release(work->timeline);
  for (int i = 0; i < KIND_COUNT; ++i) {
    shim_vulkan_pipeline_release(work->pipelines[i]);
  }
  shim_vulkan_memory_release(work->memory);
}

// Words of a submission that waits |waits| times for the timeline's value, then
// signals the next.
static size_t write_submission(const work_t* work, uint64_t waits,
                               uint64_t words[WORDS]) {
  words[0] = waits;
  words[1] = 1;
  words[2] = 1;
  for (uint64_t i = 0; i <= waits; ++i) {
    words[3 + 2 * i] = handle(work->timeline);
    words[4 + 2 * i] = i < waits ? work->value : work->value + 1;
  }
  words[5 + 2 * waits] = handle(work->commands);
  return (size_t)(6 + 2 * waits);
}

static uint32_t number_in(const work_t* work) {
  return *(const uint32_t*)(uintptr_t)work->info.host;
}

static void await(work_t* work) {
  const uint64_t wait[] = {handle(work->timeline), ++work->value};
  CHECK_OK(shim_vulkan_wait_any(device, wait, 1, -1, &error));
}

// Runs the recording and returns the number that it filled the memory with.
static uint32_t run(work_t* work) {
  uint64_t words[WORDS];
  size_t count = write_submission(work, 0, words);
  *(uint32_t*)(uintptr_t)work->info.host = 0;
  CHECK_OK(shim_vulkan_submit(device, 0, words, count, &error));
  await(work);
  return number_in(work);
}

static void check_nothing_is_recorded(work_t* work) {
  uint64_t words[WORDS];
  size_t count = write_submission(work, 0, words);
  CHECK_FAILS(shim_vulkan_submit(device, 0, words, count, &error),
              SHIM_FAILED_PRECONDITION, "not recorded");
  const uint64_t b = work->info.buffer;
  const uint64_t bindings[] = {b, 0, 4, b, 64, 4, b, 128, 4};
  CHECK_FAILS(
      shim_vulkan_commands_bind(work->commands, 0, bindings, 9, &error),
      SHIM_FAILED_PRECONDITION, "not recorded");
}

// Whether allocating room failed.
static bool was_room(void) {
  return strcmp(failing_what, "calloc") == 0 ||
         strcmp(failing_what, "vkCreateDescriptorPool") == 0;
}

// Room grows entirely or not at all: without memory, the previous recording and
// its bindings can still be bound and submitted. With memory, the driver may
// still fail; then nothing is recorded.
static shim_status_t record_more(bool bound, bool push) {
  work_t work = work_of();
  record(&work, 1, false);
  if (bound) bind(&work, 0);
  uint64_t words[WORDS];
  const size_t count = write_words(&work, 3, push, words);
  shim_status_t status = FAILING(shim_vulkan_commands_record(
      work.commands, words, count, failing_error));
  if (status) {
    if (was_room()) {
      bind(&work, 0);
      CHECK_EQ(run(&work), 1);
      bind(&work, 0);
    } else {
      check_nothing_is_recorded(&work);
    }
    record(&work, 3, push);
  }
  CHECK_EQ(run(&work), 3);
  bind(&work, 2);
  CHECK_EQ(run(&work), 3);
  release(&work);
  return status;
}

static shim_status_t more_is_recorded(void) {
  return record_more(false, false);
}

static shim_status_t more_is_recorded_once_bound(void) {
  return record_more(true, false);
}

static shim_status_t more_of_each_kind_is_recorded(void) {
  return record_more(true, true);
}

// A recording that fits allocates nothing; only the driver can fail.
static shim_status_t less_is_recorded(void) {
  work_t work = work_of();
  record(&work, 3, true);
  bind(&work, 0);
  uint64_t words[WORDS];
  const size_t count = write_words(&work, 2, true, words);
  shim_status_t status = FAILING(shim_vulkan_commands_record(
      work.commands, words, count, failing_error));
  if (status) {
    CHECK(!was_room());
    check_nothing_is_recorded(&work);
    record(&work, 2, true);
  }
  CHECK_EQ(run(&work), 2);
  release(&work);
  return status;
}

// A failed submission leaves the commands unchanged, bound or not: they can be
// bound and submitted again.
static shim_status_t submit_after(bool bound, uint64_t waits) {
  work_t work = work_of();
  record(&work, 2, true);
  if (bound) bind(&work, 1);
  uint64_t words[WORDS];
  const size_t count = write_submission(&work, waits, words);
  *(uint32_t*)(uintptr_t)work.info.host = 0;
  shim_status_t status =
      FAILING(shim_vulkan_submit(device, 0, words, count, failing_error));
  if (status) {
    bind(&work, 0);
  } else {
    await(&work);
    CHECK_EQ(number_in(&work), 2);
  }
  CHECK_EQ(run(&work), 2);
  bind(&work, 1);
  CHECK_EQ(run(&work), 2);
  release(&work);
  return status;
}

static shim_status_t commands_are_submitted(void) {
  return submit_after(false, 0);
}

static shim_status_t commands_are_submitted_once_bound(void) {
  return submit_after(true, 0);
}

static shim_status_t commands_are_submitted_after_many_waits(void) {
  return submit_after(true, MANY);
}

// If one fails, neither runs.
static shim_status_t two_are_submitted_at_once(void) {
  work_t first = work_of();
  work_t second = work_of();
  record(&first, 1, false);
  bind(&first, 0);
  record(&second, 2, true);
  bind(&second, 1);
  uint64_t words[2 * WORDS];
  size_t count = write_submission(&first, MANY, words);
  count += write_submission(&second, MANY, words + count);
  shim_status_t status =
      FAILING(shim_vulkan_submit(device, 0, words, count, failing_error));
  if (!status) {
    await(&first);
    await(&second);
  }
  CHECK_EQ(number_in(&first), status ? 0 : 1);
  CHECK_EQ(number_in(&second), status ? 0 : 2);
  CHECK_EQ(run(&first), 1);
  CHECK_EQ(run(&second), 2);
  release(&second);
  release(&first);
  return status;
}

//===--------------------------------------------------------------------===//
// Bindings
//===--------------------------------------------------------------------===//

enum { NUMBERS = 100, SCALE = 10, BIAS = 3 };

// A shader that scales numbers and adds to them; NULL without its file.
static shim_vulkan_pipeline_t* scaling(void) {
  static uint32_t code[1024];
  FILE* file = fopen(SHIM_TEST_SHADER, "rb");
  if (!file) {
    fprintf(stderr, "skipped: no '%s'\n", SHIM_TEST_SHADER);
    return NULL;
  }
  size_t size = fread(code, 1, sizeof(code), file);
  fclose(file);
  static const uint64_t layout[] = {1, 2, 0, 7, 1, 1, 7, 1};
  const uint32_t bias = BIAS;
  const shim_vulkan_pipeline_params_t params = {
      .code = code,
      .code_size = size,
      .entry_point = "main",
      .layout = layout,
      .layout_words = sizeof(layout) / sizeof(layout[0]),
      .push_constant_bytes = 8,
      .specialization = &bias,
      .specialization_count = 1,
  };
  shim_vulkan_pipeline_t* pipeline = NULL;
  CHECK_OK(shim_vulkan_pipeline_create(device, &params, &pipeline, &error));
  return pipeline;
}

// After a failure in a submission or a recording, the last bindings are used.
static shim_status_t bind_and_fail(bool recording) {
  shim_vulkan_pipeline_t* pipeline = scaling();
  if (!pipeline) return SHIM_OK;
  work_t work = work_of();
  uint32_t* values = (uint32_t*)(uintptr_t)work.info.host;
  for (uint32_t i = 0; i < NUMBERS; ++i) values[i] = i;
  const uint64_t b = work.info.buffer;
  const uint64_t words[] = {
      SHIM_VULKAN_OP_DISPATCH, handle(pipeline), SHIM_VULKAN_MODE_SETS, 2, b, 0,
      400, b, 1024, 400, 0, 8, (uint64_t)NUMBERS << 32 | SCALE, 4, 1, 1};
  const uint64_t bindings[] = {b, 0, 400, b, 2048, 400};
  CHECK_OK(shim_vulkan_commands_record(
      work.commands, words, sizeof(words) / sizeof(words[0]), &error));
  CHECK_OK(shim_vulkan_commands_bind(work.commands, 0, bindings, 6, &error));
  uint64_t other[WORDS];
  shim_status_t status = SHIM_OK;
  bool keeps = true;
  if (recording) {
    const size_t count = write_words(&work, 3, true, other);
    status = FAILING(shim_vulkan_commands_record(work.commands, other, count,
                                                 failing_error));
    keeps = status && was_room();
  } else {
    const size_t count = write_submission(&work, 0, other);
    status =
        FAILING(shim_vulkan_submit(device, 0, other, count, failing_error));
    if (!status) await(&work);
  }
  if (keeps) {
    const size_t count = write_submission(&work, 0, other);
    CHECK_OK(shim_vulkan_submit(device, 0, other, count, &error));
    await(&work);
    for (uint32_t i = 0; i < NUMBERS; ++i) {
      CHECK_EQ(values[256 + i], 0);
      CHECK_EQ(values[512 + i], SCALE * i + BIAS);
    }
  }
  release(&work);
  shim_vulkan_pipeline_release(pipeline);
  return status;
}

static shim_status_t what_was_bound_runs_after_a_submission(void) {
  return bind_and_fail(false);
}

static shim_status_t what_was_bound_runs_after_a_recording(void) {
  return bind_and_fail(true);
}

void command_allocations_fail(void) {
  FAILING_EACH(commands_are_created);
  FAILING_EACH(more_is_recorded);
  FAILING_EACH(more_is_recorded_once_bound);
  FAILING_EACH(more_of_each_kind_is_recorded);
  FAILING_EACH(less_is_recorded);
  FAILING_EACH(commands_are_submitted);
  FAILING_EACH(commands_are_submitted_once_bound);
  FAILING_EACH(commands_are_submitted_after_many_waits);
  FAILING_EACH(two_are_submitted_at_once);
  FAILING_EACH(what_was_bound_runs_after_a_submission);
  FAILING_EACH(what_was_bound_runs_after_a_recording);
}
