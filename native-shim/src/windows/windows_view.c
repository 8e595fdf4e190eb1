// Copy-on-write views of sealed memory: stores are private to each view. Calls
// windows_memory.c and shim_status.c.
//
// No handler takes part, unlike on Linux (shim_view.c): Windows calls handlers
// directly below the stack pointer of the code that faulted, where kernels may
// keep values (the red zone of the System V convention). A view is writable
// from the beginning, and the system copies a page at its first store. Stores
// are found afterwards, in what the system tells of the pages:
//
//   protection   PAGE_WRITECOPY, and PAGE_READWRITE once a page is a copy, as
//                Microsoft documents. Neighbouring pages are one answer.
//   working set  a page that is a copy is not shared. Wine tells copies so, and
//                leaves the protection. A page outside the working set counts
//                as unwritten: wrong for a copy that was swapped out.
//
// Which of the two this system tells is tried once; without either there are no
// views.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "shim_file.h"
#include "shim_internal.h"
#include "windows/windows_error.h"
#include "windows/windows_memory.h"

#include <psapi.h>

typedef unsigned long long ull;

enum { PAGE = 4096, ASKED = 256 };

struct shim_view_t {
  uint8_t* mapping;  // NULL after a failed restoration
  HANDLE section;
  uint64_t begin;  // of the mapping in the section, a multiple of GRANULE
  uint64_t size;   // of the mapping
  uint64_t lead;   // bytes of the mapping before those of the view
};

//===--------------------------------------------------------------------===//
// Stores
//===--------------------------------------------------------------------===//

typedef enum { BY_PROTECTION, BY_WORKING_SET } evidence_t;

// True also when the system does not answer: a view may then be written.
static bool is_copied(const uint8_t* begin, uint64_t size,
                      evidence_t evidence) {
  const uint8_t* end = begin + size;
  if (evidence == BY_PROTECTION) {
    MEMORY_BASIC_INFORMATION pages;
    for (const uint8_t* at = begin; at < end;
         at = (const uint8_t*)pages.BaseAddress + pages.RegionSize) {
      if (!VirtualQuery(at, &pages, sizeof(pages))) return true;
      if (pages.Protect != PAGE_WRITECOPY) return true;
    }
    return false;
  }
  PSAPI_WORKING_SET_EX_INFORMATION pages[ASKED];
  for (const uint8_t* at = begin; at < end;) {
    uint32_t count = 0;
    for (; count < ASKED && at < end; ++count, at += PAGE) {
      pages[count].VirtualAddress = (void*)at;
    }
    if (!K32QueryWorkingSetEx(GetCurrentProcess(), pages,
                              count * (DWORD)sizeof(*pages))) {
      return true;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const PSAPI_WORKING_SET_EX_BLOCK page = pages[i].VirtualAttributes;
      if (page.Valid && !page.Shared) return true;
    }
  }
  return false;
}

// Whether a store into one of two views is found there, and not in the other.
static bool is_evident(HANDLE section, evidence_t evidence) {
  volatile uint8_t* one = MapViewOfFile(section, FILE_MAP_COPY, 0, 0, PAGE);
  volatile uint8_t* other = MapViewOfFile(section, FILE_MAP_COPY, 0, 0, PAGE);
  bool is_found = false;
  if (one && other && other[0] == 0 &&
      !is_copied((const uint8_t*)one, PAGE, evidence)) {
    one[0] = 1;
    is_found = other[0] == 0 &&
               is_copied((const uint8_t*)one, PAGE, evidence) &&
               !is_copied((const uint8_t*)other, PAGE, evidence);
  }
  if (one) UnmapViewOfFile((const void*)one);
  if (other) UnmapViewOfFile((const void*)other);
  return is_found;
}

// 0: not tried, or without memory; 1: none; otherwise evidence_t + 2.
static _Atomic int known;

static int try_evidence(void) {
  HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL,
                                      PAGE_READWRITE, 0, PAGE, NULL);
  if (!section) return 0;
  const int found = is_evident(section, BY_PROTECTION)    ? BY_PROTECTION + 2
                    : is_evident(section, BY_WORKING_SET) ? BY_WORKING_SET + 2
                                                          : 1;
  CloseHandle(section);
  return found;
}

bool shim__windows_has_views(void) {
  if (atomic_load(&known) == 0) atomic_store(&known, try_evidence());
  return atomic_load(&known) > 1;
}

//===--------------------------------------------------------------------===//
// The interface
//===--------------------------------------------------------------------===//

static uint8_t* map(const shim_view_t* view, void* address) {
  return MapViewOfFileEx(view->section, FILE_MAP_COPY,
                         (DWORD)(view->begin >> 32), (DWORD)view->begin,
                         view->size, address);
}

shim_status_t shim_view_create(const shim_sealed_t* sealed, uint64_t offset,
                               uint64_t length, shim_view_t** out_view,
                               shim_error_t* error) {
  *out_view = NULL;
  const shim_status_t status =
      shim__view_check(shim_sealed_size(sealed), offset, length, error);
  if (status != SHIM_OK) return status;
  if (!shim__windows_has_views()) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "this Windows does not tell which pages of a "
                          "copy-on-write mapping were written");
  }
  shim_view_t* view = calloc(1, sizeof(*view));
  if (!view) return shim__no_memory(error, sizeof(*view), "a view");
  view->lead = offset % SHIM__WINDOWS_GRANULE;
  view->begin = offset - view->lead;
  view->size = view->lead + length;
  if (DuplicateHandle(GetCurrentProcess(), shim__windows_section(sealed),
                      GetCurrentProcess(), &view->section, 0, FALSE,
                      DUPLICATE_SAME_ACCESS)) {
    view->mapping = map(view, NULL);
  }
  if (!view->mapping) {
    const int code = shim__windows_errno();
    shim_view_release(view);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "no memory for a view of %llu bytes: errno %d",
                          (ull)length, code);
  }
  *out_view = view;
  return SHIM_OK;
}

void* shim_view_bytes(const shim_view_t* view) {
  return view->mapping + view->lead;
}

int shim_view_is_written(const shim_view_t* view) {
  // The pages of the view's own bytes: a page has its size here.
  const uint64_t first = view->lead / PAGE * PAGE;
  return is_copied(view->mapping + first, view->size - first,
                   (evidence_t)(atomic_load(&known) - 2));
}

shim_status_t shim_view_restore(shim_view_t* view, shim_error_t* error) {
  uint8_t* before = view->mapping;
  UnmapViewOfFile(before);
  view->mapping = map(view, before);
  if (view->mapping) return SHIM_OK;
  // Another thread may have got these addresses.
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, shim__windows_errno(),
                        "the addresses of a view of %llu bytes are taken",
                        (ull)(view->size - view->lead));
}

void shim_view_release(shim_view_t* view) {
  if (!view) return;
  if (view->mapping) UnmapViewOfFile(view->mapping);
  if (view->section) CloseHandle(view->section);
  free(view);
}
