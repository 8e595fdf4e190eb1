// Streams of the fakes: a thread each that runs operations in order; fills and
// copies.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_gpu.h"

static fake_queue_t* queues;
static int queue_count;  // ever made
static uint64_t op_count;  // ever enqueued

//===--------------------------------------------------------------------===//
// Operations
//===--------------------------------------------------------------------===//

void fake_use(fake_op_t* op, uint64_t address, uint64_t size) {
  fake_range_t* range = fake_find(address, size);
  if (!range) return;
  if (range->leaving) fake_complain("memory is used after it was given back");
  if (op->use_count == op->use_room) {
    op->use_room = op->use_room * 2 + 4;
    op->uses = realloc(op->uses, op->use_room * sizeof(fake_range_t*));
  }
  op->uses[op->use_count++] = range;
  fake_retain(range);
}

void fake_free_op(fake_op_t* op) {
  for (size_t i = 0; i < op->use_count; ++i) fake_release(op->uses[i]);
  free(op->uses);
  fake_release_record(op->record);
  fake_release_launch(op->launch);
  fake_release_nodes(op->nodes);
  fake_release_part(op->part);
}

static void use_memory(fake_op_t* op) {
  switch (op->kind) {
    case OP_COPY:
      fake_use(op, op->source, op->size);
      fake_use(op, op->target, op->size);
      break;
    case OP_FILL:
      fake_use(op, op->target, op->size);
      break;
    case OP_LAUNCH:
      fake_use_launch(op, op->launch);
      break;
    case OP_GRAPH:
      fake_use_nodes(op, op->nodes);
      break;
    case OP_COLLECTIVE:
      fake_use_part(op, op->part);
      break;
    default:
      break;
  }
}

static void* pointer(uint64_t address) { return (void*)(uintptr_t)address; }

static void fill(const fake_op_t* op) {
  uint8_t* bytes = pointer(op->target);
  if (op->element == 1) {
    memset(bytes, (int)op->value, op->size);
    return;
  }
  for (uint64_t i = 0; i < op->size; i += op->element) {
    memcpy(bytes + i, &op->value, op->element);
  }
}

// Fills and copies.
static int run_transfer(const fake_op_t* op) {
  fake_range_t* target = fake_find(op->target, op->size);
  fake_range_t* source =
      op->kind == OP_COPY ? fake_find(op->source, op->size) : NULL;
  if (!target || (op->kind == OP_COPY && !source)) return SGPU_ILLEGAL_ADDRESS;
  fake_open(target);
  if (source) fake_open(source);
  pthread_mutex_unlock(&fake_lock);
  if (source) {
    memmove(pointer(op->target), pointer(op->source), op->size);
  } else {
    fill(op);
  }
  pthread_mutex_lock(&fake_lock);
  fake_close(target);
  if (source) fake_close(source);
  return SGPU_SUCCESS;
}

int fake_run(sgpu_context_t context, fake_op_t* op) {
  if (fake_settings.slow_us) {
    useconds_t time = (useconds_t)fake_settings.slow_us;
    pthread_mutex_unlock(&fake_lock);
    usleep(time);
    pthread_mutex_lock(&fake_lock);
  }
  switch (op->kind) {
    case OP_FILL:
    case OP_COPY:
      return run_transfer(op);
    case OP_LAUNCH:
      return fake_run_launch(context, op->launch);
    case OP_GRAPH:
      return fake_run_nodes(context, op->nodes);
    case OP_COLLECTIVE:
      return fake_run_part(op->part);
    case OP_ALLOCATE:
      fake_end_allocation(op->target);
      return SGPU_SUCCESS;
    case OP_FREE:
      fake_end_free(op->target);
      return SGPU_SUCCESS;
    default:
      return SGPU_SUCCESS;
  }
}

//===--------------------------------------------------------------------===//
// Queues
//===--------------------------------------------------------------------===//

static bool is_dead(const fake_queue_t* queue) {
  return queue->stopping || queue->context->error;
}

static bool can_begin(const fake_queue_t* queue) {
  const fake_op_t* op = queue->head;
  if (is_dead(queue)) return true;
  // The driver does these, not the device.
  if (op->kind == OP_ALLOCATE || op->kind == OP_FREE) return true;
  return (op->kind != OP_WAIT || op->record->done) &&
         !fake_is_hung(queue->number) &&
         (op->kind != OP_COLLECTIVE || fake_part_can_begin(op->part));
}

static void pop(fake_queue_t* queue) {
  fake_op_t* op = queue->head;
  if (op->record && op->kind != OP_WAIT) op->record->done = true;
  queue->head = op->next;
  if (!queue->head) queue->tail = NULL;
  --queue->count;
  fake_free_op(op);
  free(op);
  pthread_cond_broadcast(&fake_changed);
}

static void* run_queue(void* argument) {
  fake_queue_t* queue = argument;
  pthread_mutex_lock(&fake_lock);
  while (!queue->stopping && (queue->head || !queue->closed)) {
    if (!queue->head) {
      pthread_cond_wait(&fake_changed, &fake_lock);
    } else if (!can_begin(queue)) {
      fake_pause();
    } else {
      int code =
          is_dead(queue) ? SGPU_SUCCESS : fake_run(queue->context, queue->head);
      if (code) fake_kill(queue->context, code);
      pop(queue);
    }
  }
  while (queue->head) pop(queue);
  queue->ended = true;
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  return NULL;
}

bool fake_has_work(sgpu_context_t context) {
  for (const fake_queue_t* queue = queues; queue; queue = queue->next) {
    if (queue->context == context && queue->head) return true;
  }
  return false;
}

static bool has_work_up_to(sgpu_context_t context, uint64_t number) {
  for (const fake_queue_t* queue = queues; queue; queue = queue->next) {
    if (queue->context == context && queue->head &&
        queue->head->number <= number) {
      return true;
    }
  }
  return false;
}

void fake_await_work(sgpu_context_t context) {
  if (fake_settings.implicit_sync) fake_await_all(context);
}

void fake_await_all(sgpu_context_t context) {
  const uint64_t last = op_count;
  while (!fake_error(context) && has_work_up_to(context, last)) fake_pause();
}

bool fake_is_pending(const struct fake_program_t* program) {
  for (const fake_queue_t* queue = queues; queue; queue = queue->next) {
    for (const fake_op_t* op = queue->head; op; op = op->next) {
      if (op->launch && fake_program_of(op->launch) == program) return true;
      if (op->nodes && fake_nodes_use(op->nodes, program)) return true;
    }
  }
  return false;
}

void fake_leave_queues(struct fake_capture_t* capture) {
  for (fake_queue_t* queue = queues; queue; queue = queue->next) {
    fake_leave_if(queue, capture);
  }
}

// Frees the queues that have ended.
static void reap(void) {
  for (fake_queue_t** at = &queues; *at;) {
    fake_queue_t* queue = *at;
    if (!queue->ended) {
      at = &queue->next;
      continue;
    }
    *at = queue->next;
    pthread_join(queue->thread, NULL);  // holds the lock no more
    free(queue);
  }
}

static bool has_queue(sgpu_context_t context) {
  for (const fake_queue_t* queue = queues; queue; queue = queue->next) {
    if (queue->context == context && !queue->ended) return true;
  }
  return false;
}

uint64_t fake_stop_queues(sgpu_context_t context) {
  uint64_t pending = 0;
  for (fake_queue_t* queue = queues; queue; queue = queue->next) {
    if (queue->context != context) continue;
    pending += queue->count;
    queue->stopping = true;
    fake_leave_capture(queue);
  }
  __atomic_store_n(&context->stop, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&fake_changed);
  while (has_queue(context)) fake_pause();
  reap();
  return pending;
}

int fake_submit(sgpu_stream_t stream, fake_op_t value) {
  fake_queue_t* queue = stream->queue;
  if (queue->capture) return fake_capture_op(queue, value);
  fake_op_t* op = malloc(sizeof(*op));
  *op = value;
  uint64_t generation = stream->object.generation;
  int code = SGPU_SUCCESS;
  while (queue->count >= fake_settings.capacity && !code) {
    fake_pause();
    if (!fake_is_live(FAKE_STREAM, stream) ||
        stream->object.generation != generation) {
      fake_complain("a stream is destroyed while a call enqueues into it");
      code = FAKE_INVALID_HANDLE;
    } else {
      code = fake_error(queue->context);
    }
  }
  if (code) {
    if (op->record) op->record->done = true;
    fake_free_op(op);
    free(op);
    return code;
  }
  use_memory(op);
  op->number = ++op_count;
  *(queue->tail ? &queue->tail->next : &queue->head) = op;
  queue->tail = op;
  ++queue->count;
  pthread_cond_broadcast(&fake_changed);
  return SGPU_SUCCESS;
}

//===--------------------------------------------------------------------===//
// Entry points
//===--------------------------------------------------------------------===//

int fake_stream_create(sgpu_stream_t* out_stream, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_create, &context);
  if (!code && flags & ~(unsigned)SGPU_STREAM_NON_BLOCKING) {
    code = SGPU_INVALID_VALUE;
  }
  if (code) return fake_end(code);
  reap();
  fake_queue_t* queue = calloc(1, sizeof(*queue));
  queue->context = context;
  queue->number = queue_count;
  if (pthread_create(&queue->thread, NULL, run_queue, queue)) {
    free(queue);
    return fake_end(SGPU_OUT_OF_MEMORY);
  }
  ++queue_count;
  queue->next = queues;
  queues = queue;
  sgpu_stream_t stream = fake_make(FAKE_STREAM, context);
  stream->queue = queue;
  *out_stream = stream;
  return fake_end(SGPU_SUCCESS);
}

// Returns at once; what is enqueued still runs.
int fake_stream_destroy(sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_STREAM, stream, context);
    if (!own) {
      if (stream->queue->capture) {
        // On a dead one it cannot be ended.
        if (!code) fake_complain("a stream is destroyed while it captures");
        fake_leave_capture(stream->queue);
      }
      stream->queue->closed = true;
      fake_drop(FAKE_STREAM, stream);
      pthread_cond_broadcast(&fake_changed);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}

int fake_stream_synchronize(sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_synchronize, &context);
  if (!code) code = fake_refuse_capture();
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (code) return fake_end(code);
  const fake_queue_t* queue = stream->queue;
  uint64_t generation = stream->object.generation;
  while (!code && queue->head) {
    fake_pause();
    if (!fake_is_live(FAKE_STREAM, stream) ||
        stream->object.generation != generation) {
      fake_complain("a stream is destroyed while a call waits for it");
      return fake_end(FAKE_INVALID_HANDLE);
    }
    code = fake_error(context);
  }
  if (!code) fake_trim(context);
  return fake_end(code);
}

int fake_stream_wait_event(sgpu_stream_t stream, sgpu_event_t event,
                           unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_stream_wait_event, &context);
  if (!code && flags & ~1u) code = SGPU_INVALID_VALUE;
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  // The event may be of another device.
  if (!code) code = fake_check(FAKE_EVENT, event, NULL);
  if (!code && (stream->queue->capture || event->capture)) {
    code = fake_capture_wait(stream->queue, event);
  } else if (!code && event->record && !event->record->done) {
    ++event->record->references;
    code = fake_submit(stream,
                       (fake_op_t){.kind = OP_WAIT, .record = event->record});
  }
  return fake_end(code);
}

// Enqueues a copy from the host to the host and waits until it is over, as the
// drivers do.
static int copy_and_wait(sgpu_stream_t stream, fake_op_t op) {
  sgpu_context_t context = stream->queue->context;
  fake_record_t* record = calloc(1, sizeof(*record));
  record->references = 2;
  op.record = record;
  int code = fake_submit(stream, op);
  while (!code && !record->done) {
    fake_pause();
    code = fake_error(context);
  }
  fake_release_record(record);
  return code;
}

static bool is_of_host(uint64_t address, uint64_t size) {
  const fake_range_t* range = fake_find(address, size);
  return range && (range->kind == FAKE_MEMORY_PINNED ||
                   range->kind == FAKE_MEMORY_REGISTERED);
}

// Fills and copies. The memory must be known at the time of the call.
static int transfer(fake_call_t call, sgpu_stream_t stream, fake_op_t op) {
  sgpu_context_t context = NULL;
  int code = fake_begin(call, &context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code && op.kind == OP_FILL && op.target % op.element) {
    code = SGPU_INVALID_VALUE;
  }
  if (code || !op.size) return fake_end(code);
  const uint64_t ends[] = {op.target, op.source};
  for (int i = 0; i < (op.kind == OP_COPY ? 2 : 1); ++i) {
    const fake_range_t* range = fake_find(ends[i], op.size);
    if (range && op.kind == OP_FILL && !fake_reaches(context, range)) {
      fake_complain("memory of another device is filled");
      return fake_end(SGPU_INVALID_VALUE);
    }
    if (range && i == 0 && range->read_only) {
      fake_complain("memory that is registered to be read is written");
      return fake_end(SGPU_INVALID_VALUE);
    }
    if (range) continue;
    fake_complain("%s %llu bytes at %#llx, which are not of one allocation",
                  i ? "a copy reads" : "a fill or copy writes",
                  (unsigned long long)op.size, (unsigned long long)ends[i]);
    return fake_end(SGPU_INVALID_VALUE);
  }
  bool waits = op.kind == OP_COPY && !stream->queue->capture &&
               is_of_host(op.target, op.size) && is_of_host(op.source, op.size);
  return fake_end(waits ? copy_and_wait(stream, op) : fake_submit(stream, op));
}

int fake_fill_8(uint64_t address, unsigned char value, size_t count,
                sgpu_stream_t stream) {
  return transfer(CALL_fill_8, stream,
                  (fake_op_t){.kind = OP_FILL,
                              .target = address,
                              .size = count,
                              .value = value,
                              .element = 1});
}

int fake_fill_16(uint64_t address, unsigned short value, size_t count,
                 sgpu_stream_t stream) {
  return transfer(CALL_fill_16, stream,
                  (fake_op_t){.kind = OP_FILL,
                              .target = address,
                              .size = (uint64_t)count * 2,
                              .value = value,
                              .element = 2});
}

int fake_fill_32(uint64_t address, int value, size_t count,
                 sgpu_stream_t stream) {
  return transfer(CALL_fill_32, stream,
                  (fake_op_t){.kind = OP_FILL,
                              .target = address,
                              .size = (uint64_t)count * 4,
                              .value = (uint32_t)value,
                              .element = 4});
}

#ifdef FAKE_HIP
int fake_copy_hip(uint64_t target, uint64_t source, size_t size, int kind,
                  sgpu_stream_t stream) {
  if (kind < 0 || kind > SGPU_COPY_DEFAULT) {
    fake_begin_bare(CALL_copy_hip);
    return fake_end(21);  // hipErrorInvalidMemcpyDirection
  }
  return transfer(
      CALL_copy_hip, stream,
      (fake_op_t){
          .kind = OP_COPY, .target = target, .source = source, .size = size});
}
#else
int fake_copy_cuda(uint64_t target, uint64_t source, size_t size,
                   sgpu_stream_t stream) {
  return transfer(
      CALL_copy_cuda, stream,
      (fake_op_t){
          .kind = OP_COPY, .target = target, .source = source, .size = size});
}
#endif
