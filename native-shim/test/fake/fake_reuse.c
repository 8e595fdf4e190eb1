// Handles and addresses of the fake: last freed is first reused, as in drivers
// with free lists. A stale handle refers to another object.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_vulkan.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) \
  ((void)(address), (void)(size))
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

//===--------------------------------------------------------------------===//
// Objects
//===--------------------------------------------------------------------===//

typedef struct stack_t {
  void** items;
  size_t count, room;
} stack_t;

static stack_t idle[FAKE_KIND_COUNT];
static uint64_t generations;

void* fake_make(fake_kind_t kind, size_t size) {
  pthread_mutex_lock(&lock);
  stack_t* stack = &idle[kind];
  void* object = stack->count ? stack->items[--stack->count] : NULL;
  pthread_mutex_unlock(&lock);
  if (!object) return calloc(1, size);
  ASAN_UNPOISON_MEMORY_REGION(object, size);
  memset(object, 0, size);
  return object;
}

void fake_drop(fake_kind_t kind, void* object, size_t size) {
  if (!object) return;
  memset(object, 0, size);
  ASAN_POISON_MEMORY_REGION(object, size);
  pthread_mutex_lock(&lock);
  stack_t* stack = &idle[kind];
  if (stack->count == stack->room) {
    stack->room = stack->room * 2 + 16;
    stack->items = realloc(stack->items, stack->room * sizeof(*stack->items));
  }
  stack->items[stack->count++] = object;
  pthread_mutex_unlock(&lock);
}

uint64_t fake_generation(void) {
  pthread_mutex_lock(&lock);
  uint64_t next = ++generations;
  pthread_mutex_unlock(&lock);
  return next;
}

__attribute__((destructor)) static void free_idle(void) {
  for (int kind = 0; kind < FAKE_KIND_COUNT; ++kind) {
    while (idle[kind].count) free(idle[kind].items[--idle[kind].count]);
    free(idle[kind].items);
  }
}

//===--------------------------------------------------------------------===//
// Addresses
//===--------------------------------------------------------------------===//

// Unmapped ranges, last freed first. They stay reserved, so that no other code
// gets them and accesses fault.
typedef struct range_t {
  struct range_t* next;
  uint8_t* address;
  uint64_t room;
} range_t;

static range_t* ranges;

static uint8_t* reserve(uint64_t size, uint64_t* room) {
  pthread_mutex_lock(&lock);
  for (range_t** at = &ranges; *at; at = &(*at)->next) {
    if ((*at)->room < size) continue;
    range_t* found = *at;
    uint8_t* address = found->address;
    *room = found->room;
    *at = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
    return address;
  }
  pthread_mutex_unlock(&lock);
  *room = size;
  uint8_t* address = mmap(NULL, size, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? NULL : address;
}

static void give_back(uint8_t* address, uint64_t room) {
  range_t* range = malloc(sizeof(*range));
  *range = (range_t){.address = address, .room = room};
  pthread_mutex_lock(&lock);
  range->next = ranges;
  ranges = range;
  pthread_mutex_unlock(&lock);
}

uint8_t* fake_map(uint64_t size, int fd, uint64_t* out_room) {
  const uint64_t page = 4096;
  uint8_t* address = reserve((size + page - 1) / page * page, out_room);
  if (!address) return NULL;
  int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (mmap(address, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) ==
      MAP_FAILED) {
    give_back(address, *out_room);
    return NULL;
  }
  return address;
}

void fake_unmap(uint8_t* address, uint64_t room) {
  mmap(address, room, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  give_back(address, room);
}

__attribute__((destructor)) static void release_ranges(void) {
  while (ranges) {
    range_t* next = ranges->next;
    munmap(ranges->address, ranges->room);
    free(ranges);
    ranges = next;
  }
}
