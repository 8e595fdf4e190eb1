// Handles of the fakes. Last freed is first reused, so that a stale handle
// refers to another object, as in drivers with free lists.
#include <stdlib.h>
#include <string.h>

#include "fake_gpu.h"

enum { CHUNK_OBJECTS = 64 };

typedef struct chunk_t {
  struct chunk_t* next;
  char objects[];
} chunk_t;

static chunk_t* chunks[FAKE_KIND_COUNT];
static fake_object_t* idle[FAKE_KIND_COUNT];
static uint64_t generations;

static const struct {
  const char* name;
  size_t size;
} kinds[FAKE_KIND_COUNT] = {
    [FAKE_CONTEXT] = {"context", sizeof(struct sgpu_context)},
    [FAKE_STREAM] = {"stream", sizeof(struct sgpu_stream)},
    [FAKE_EVENT] = {"event", sizeof(struct sgpu_event)},
    [FAKE_MODULE] = {"module", sizeof(struct sgpu_module)},
    [FAKE_FUNCTION] = {"function", sizeof(struct sgpu_function)},
    [FAKE_GRAPH] = {"graph", sizeof(struct sgpu_graph)},
    [FAKE_GRAPH_EXEC] = {"executable graph", sizeof(struct sgpu_graph_exec)},
    [FAKE_POOL] = {"pool", sizeof(struct sgpu_pool)},
    [FAKE_LINK] = {"link", sizeof(struct sgpu_link)},
    [FAKE_COMM] = {"communicator", sizeof(struct sgpu_comm)},
};

static fake_object_t* at(const chunk_t* chunk, fake_kind_t kind, size_t index) {
  return (fake_object_t*)(uintptr_t)(chunk->objects + index * kinds[kind].size);
}

static void grow(fake_kind_t kind) {
  chunk_t* chunk = calloc(1, sizeof(*chunk) + CHUNK_OBJECTS * kinds[kind].size);
  chunk->next = chunks[kind];
  chunks[kind] = chunk;
  for (size_t i = CHUNK_OBJECTS; i-- > 0;) {
    fake_object_t* object = at(chunk, kind, i);
    object->next_idle = idle[kind];
    idle[kind] = object;
  }
}

void* fake_make(fake_kind_t kind, sgpu_context_t context) {
  if (!idle[kind]) grow(kind);
  fake_object_t* object = idle[kind];
  idle[kind] = object->next_idle;
  memset(object, 0, kinds[kind].size);
  object->live = true;
  object->generation = ++generations;
  object->context = context;
  return object;
}

void fake_drop(fake_kind_t kind, void* handle) {
  fake_object_t* object = handle;
  object->live = false;
  object->next_idle = idle[kind];
  idle[kind] = object;
}

bool fake_is_live(fake_kind_t kind, const void* handle) {
  uintptr_t address = (uintptr_t)handle;
  size_t size = kinds[kind].size;
  for (const chunk_t* chunk = chunks[kind]; chunk; chunk = chunk->next) {
    uintptr_t offset = address - (uintptr_t)chunk->objects;
    if (offset < CHUNK_OBJECTS * size) {
      return offset % size == 0 && at(chunk, kind, offset / size)->live;
    }
  }
  return false;
}

int fake_check(fake_kind_t kind, const void* handle, sgpu_context_t context) {
  if (!fake_is_live(kind, handle)) {
    fake_complain("%p is no %s, or one that is gone", handle, kinds[kind].name);
    return kind == FAKE_CONTEXT ? SGPU_INVALID_CONTEXT : FAKE_INVALID_HANDLE;
  }
  if (context && ((const fake_object_t*)handle)->context != context) {
    fake_complain("the %s is of another context", kinds[kind].name);
    return FAKE_INVALID_HANDLE;
  }
  return SGPU_SUCCESS;
}

void* fake_next(fake_kind_t kind, sgpu_context_t context,
                const void* previous) {
  bool found = !previous;
  for (const chunk_t* chunk = chunks[kind]; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < CHUNK_OBJECTS; ++i) {
      fake_object_t* object = at(chunk, kind, i);
      if (found && object->live && object->context == context) return object;
      if (object == previous) found = true;
    }
  }
  return NULL;
}

__attribute__((destructor)) static void free_chunks(void) {
  if (fake_has_contexts()) return;  // streams still run
  for (int kind = 0; kind < FAKE_KIND_COUNT; ++kind) {
    while (chunks[kind]) {
      chunk_t* next = chunks[kind]->next;
      free(chunks[kind]);
      chunks[kind] = next;
    }
  }
}
