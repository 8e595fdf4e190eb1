// Copy-on-write views of sealed memory: stores are private to each view. Calls
// shim_fault.c and shim_status.c.
//
// A view is a private mapping without write permission. The first store into a
// window of it faults; the handler (shim_fault.c) calls this file to make the
// window writable, and the store is retried, into a page that the system
// copies. So unwritten pages cost nothing and are shared by all views.
//
// The handler finds the view in a table of places. Places are filled and
// emptied under a lock, and read by handlers without it:
//
//   changes  odd while the place changes. A handler ignores a place that has
//            changed between its two reads of |changes|: the place of the view
//            that faulted does not change, because that view is in use.
//   end      0: empty.
//   view     used only when the faulting address lies between |begin| and
//            |end|: then its user keeps it alive.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim_fault.h"
#include "shim_file.h"
#include "shim_internal.h"

// How much becomes writable at a time. Each window may cost the process two
// mappings, of which Linux allows 65,530. A guess, not measured.
#define WINDOW ((uintptr_t)1 << 20)

// How often open windows may fault before another is opened: once for each
// thread that was about to enter the handler. An endless fault is not a store.
#define MOST_REPEATED 65536

struct shim_view_t {
  uint8_t* bytes;     // its beginning, for the creator
  uintptr_t begin;    // of the mapping
  uintptr_t end;
  _Atomic int32_t written;
  _Atomic uint32_t repeated;
  _Atomic uint64_t open[];  // a bit per window
};

typedef struct place_t {
  _Atomic uintptr_t changes;
  _Atomic uintptr_t begin;
  _Atomic uintptr_t end;
  _Atomic(shim_view_t*) view;
} place_t;

enum { PLACES = 64 };

// Never freed: handlers walk it.
typedef struct places_t {
  place_t places[PLACES];
  _Atomic(struct places_t*) next;
} places_t;

static places_t first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

//===--------------------------------------------------------------------===//
// In the handler: loads, stores and mprotect, nothing else
//===--------------------------------------------------------------------===//

static shim_view_t* find(uintptr_t address) {
  for (places_t* block = &first; block;
       block = atomic_load_explicit(&block->next, memory_order_acquire)) {
    for (int i = 0; i < PLACES; ++i) {
      place_t* place = &block->places[i];
      uintptr_t changes = atomic_load(&place->changes);
      if (address >= atomic_load(&place->end) ||
          address < atomic_load(&place->begin)) {
        continue;
      }
      shim_view_t* view = atomic_load(&place->view);
      if (changes % 2 == 0 && atomic_load(&place->changes) == changes) {
        return view;
      }
    }
  }
  return NULL;
}

static bool open_window(shim_view_t* view, uintptr_t address) {
  uintptr_t window = (address - view->begin) / WINDOW;
  uint64_t bit = 1ull << (window % 64);
  _Atomic uint64_t* word = &view->open[window / 64];
  // Before the store can succeed: a thread that sees the store sees these.
  atomic_store(&view->written, 1);
  if (!(atomic_fetch_or(word, bit) & bit)) {
    atomic_store(&view->repeated, 0);
  } else if (atomic_fetch_add(&view->repeated, 1) >= MOST_REPEATED) {
    return false;
  }
  // Even if another thread is about to: no thread waits here.
  uintptr_t begin = view->begin + window * WINDOW;
  uintptr_t size = view->end - begin < WINDOW ? view->end - begin : WINDOW;
  return mprotect((void*)begin, size, PROT_READ | PROT_WRITE) == 0;
}

bool shim__view_open(uintptr_t address) {
  shim_view_t* view = find(address);
  return view && open_window(view, address);
}

//===--------------------------------------------------------------------===//
// Under the lock
//===--------------------------------------------------------------------===//

static place_t* free_place(void) {
  places_t* last = &first;
  for (places_t* block = &first; block;
       last = block, block = atomic_load(&block->next)) {
    for (int i = 0; i < PLACES; ++i) {
      if (atomic_load(&block->places[i].end) == 0) return &block->places[i];
    }
  }
  places_t* more = calloc(1, sizeof(*more));
  if (!more) return NULL;
  atomic_store(&last->next, more);
  return &more->places[0];
}

static void set(place_t* place, shim_view_t* view) {
  atomic_fetch_add(&place->changes, 1);
  atomic_store(&place->view, view);
  atomic_store(&place->begin, view ? view->begin : 0);
  atomic_store(&place->end, view ? view->end : 0);
  atomic_fetch_add(&place->changes, 1);
}

static bool enter(shim_view_t* view) {
  shim__fault_install(false);
  pthread_mutex_lock(&lock);
  place_t* place = free_place();
  if (place) set(place, view);
  pthread_mutex_unlock(&lock);
  return place != NULL;
}

static void leave(shim_view_t* view) {
  pthread_mutex_lock(&lock);
  for (places_t* block = &first; block; block = atomic_load(&block->next)) {
    for (int i = 0; i < PLACES; ++i) {
      if (atomic_load(&block->places[i].view) == view) {
        set(&block->places[i], NULL);
      }
    }
  }
  pthread_mutex_unlock(&lock);
}

//===--------------------------------------------------------------------===//
// The interface
//===--------------------------------------------------------------------===//

shim_status_t shim_view_create(const shim_sealed_t* sealed, uint64_t offset,
                               uint64_t length, shim_view_t** out_view,
                               shim_error_t* error) {
  *out_view = NULL;
  const shim_status_t status =
      shim__view_check(shim_sealed_size(sealed), offset, length, error);
  if (status != SHIM_OK) return status;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t lead = offset % page;
  uint64_t size = (lead + length + page - 1) / page * page;
  uint64_t windows = (size + WINDOW - 1) / WINDOW;
  uint64_t words = (windows + 63) / 64;
  uint64_t bytes = sizeof(shim_view_t) + words * sizeof(uint64_t);
  shim_view_t* view = calloc(1, bytes);
  if (!view) return shim__no_memory(error, bytes, "a view");
  void* mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE,
                       shim__sealed_descriptor(sealed), (off_t)(offset - lead));
  if (mapping == MAP_FAILED) {
    int code = errno;
    free(view);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "mmap of %llu bytes failed with errno %d; raise "
                          "vm.max_map_count",
                          (unsigned long long)size, code);
  }
  view->begin = (uintptr_t)mapping;
  view->end = view->begin + size;
  view->bytes = (uint8_t*)mapping + lead;
  if (!enter(view)) {
    munmap(mapping, size);
    free(view);
    return shim__no_memory(error, sizeof(places_t), "places of views");
  }
  *out_view = view;
  return SHIM_OK;
}

void* shim_view_bytes(const shim_view_t* view) { return view->bytes; }

int shim_view_is_written(const shim_view_t* view) {
  return atomic_load((_Atomic int32_t*)&view->written);
}

shim_status_t shim_view_restore(shim_view_t* view, shim_error_t* error) {
  uintptr_t windows = (view->end - view->begin + WINDOW - 1) / WINDOW;
  for (uintptr_t i = 0; i < windows; ++i) {
    uint64_t bit = 1ull << (i % 64);
    if (!(atomic_load(&view->open[i / 64]) & bit)) continue;
    uintptr_t begin = view->begin + i * WINDOW;
    uintptr_t size = view->end - begin < WINDOW ? view->end - begin : WINDOW;
    // Drops the private copies; reads see the sealed contents again.
    if (madvise((void*)begin, size, MADV_DONTNEED) != 0 ||
        mprotect((void*)begin, size, PROT_READ) != 0) {
      int code = errno;
      return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                            "%llu bytes could not be restored: errno %d",
                            (unsigned long long)size, code);
    }
    atomic_fetch_and(&view->open[i / 64], ~bit);
  }
  atomic_store(&view->repeated, 0);
  atomic_store(&view->written, 0);
  return SHIM_OK;
}

void shim_view_release(shim_view_t* view) {
  if (!view) return;
  leave(view);
  munmap((void*)view->begin, view->end - view->begin);
  free(view);
}
