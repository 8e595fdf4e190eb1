// What neither Windows nor macOS has, or this library does not have there: each
// function says so. Calls shim_status.c only.
//
// Views of sealed memory are left out on macOS, which has no files in memory that
// could be mapped privately: nothing here has run there.
#include <string.h>

#include "cpu/system_image.h"
#include "shim_fault.h"
#include "shim_file.h"

#if defined(_WIN32)
#include "windows/windows_memory.h"
#define SYSTEM "Windows"
uint32_t shim_capabilities(void) {
  return SHIM_CAPABILITY_AFFINITY |
         (shim__windows_has_views() ? SHIM_CAPABILITY_VIEWS : 0);
}
#else
#define SYSTEM "macOS"
uint32_t shim_capabilities(void) { return 0; }
#endif

static shim_status_t missing(const char* what, shim_error_t* error) {
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0, SYSTEM " has no %s",
                        what);
}

#define EVENTS "eventfd and epoll"

shim_status_t shim_event_create(int32_t* out_fd, shim_error_t* error) {
  *out_fd = 0;
  return missing(EVENTS, error);
}

shim_status_t shim_event_duplicate(int32_t fd, int32_t* out_fd,
                                   shim_error_t* error) {
  (void)fd;
  *out_fd = 0;
  return missing(EVENTS, error);
}

shim_status_t shim_event_signal(int32_t fd, uint64_t amount,
                                shim_error_t* error) {
  (void)fd, (void)amount;
  return missing(EVENTS, error);
}

shim_status_t shim_event_take(int32_t fd, uint64_t* out_count,
                              shim_error_t* error) {
  (void)fd;
  *out_count = 0;
  return missing(EVENTS, error);
}

shim_status_t shim_event_outcome(int32_t fd, int32_t* out_code,
                                 shim_error_t* error) {
  (void)fd;
  *out_code = 0;
  return missing(EVENTS, error);
}

shim_status_t shim_poller_create(int32_t* out_poller, shim_error_t* error) {
  *out_poller = 0;
  return missing(EVENTS, error);
}

void shim_poller_release(int32_t poller) { (void)poller; }

shim_status_t shim_poller_add(int32_t poller, int32_t fd, uint64_t token,
                              shim_error_t* error) {
  (void)poller, (void)fd, (void)token;
  return missing(EVENTS, error);
}

shim_status_t shim_poller_keep(int32_t poller, int32_t fd, uint64_t token,
                               shim_error_t* error) {
  (void)poller, (void)fd, (void)token;
  return missing(EVENTS, error);
}

void shim_poller_remove(int32_t poller, int32_t fd) { (void)poller, (void)fd; }

shim_status_t shim_poller_wait(int32_t poller, int64_t timeout_ns,
                               uint32_t capacity, shim_completion_t* out_events,
                               uint32_t* out_count, shim_error_t* error) {
  (void)poller, (void)timeout_ns, (void)capacity, (void)out_events;
  *out_count = 0;
  return missing(EVENTS, error);
}

// UNAVAILABLE, as of kernels without it: callers then use threads.
shim_status_t shim_file_ring_create(uint32_t entries,
                                    shim_file_ring_t** out_ring,
                                    shim_error_t* error) {
  (void)entries;
  *out_ring = NULL;
  return shim_error_set(error, SHIM_UNAVAILABLE, 0, SYSTEM " has no io_uring");
}

void shim_file_ring_release(shim_file_ring_t* ring) { (void)ring; }

int32_t shim_file_ring_fd(const shim_file_ring_t* ring) {
  (void)ring;
  return 0;
}

shim_status_t shim_file_ring_submit(shim_file_ring_t* ring,
                                    const shim_file_operation_t* operations,
                                    uint32_t count, uint32_t* out_count,
                                    shim_error_t* error) {
  (void)ring, (void)operations, (void)count;
  *out_count = 0;
  return missing("io_uring", error);
}

uint32_t shim_file_ring_poll(shim_file_ring_t* ring, uint32_t capacity,
                             shim_completion_t* out_completions) {
  (void)ring, (void)capacity, (void)out_completions;
  return 0;
}

#if !defined(_WIN32)

shim_status_t shim_view_create(const shim_sealed_t* sealed, uint64_t offset,
                               uint64_t length, shim_view_t** out_view,
                               shim_error_t* error) {
  (void)sealed, (void)offset, (void)length;
  *out_view = NULL;
  return missing("views of sealed memory that notice stores of kernels", error);
}

void* shim_view_bytes(const shim_view_t* view) {
  (void)view;
  return NULL;
}

int shim_view_is_written(const shim_view_t* view) {
  (void)view;
  return 0;
}

shim_status_t shim_view_restore(shim_view_t* view, shim_error_t* error) {
  (void)view;
  return missing("views of sealed memory", error);
}

void shim_view_release(shim_view_t* view) { (void)view; }

bool shim__view_open(uintptr_t address) {
  (void)address;
  return false;
}

#endif

shim_status_t shim__system_image_load(const void* bytes, size_t size,
                                      const char* symbol,
                                      shim__system_image_t* out_system,
                                      shim__elf_image_t* out_image,
                                      uint64_t* out_address,
                                      shim_error_t* error) {
  (void)bytes, (void)size, (void)symbol;
  memset(out_system, 0, sizeof(*out_system));
  memset(out_image, 0, sizeof(*out_image));
  *out_address = 0;
  return missing("loader of ELF libraries; compile without "
                 "--iree-llvmcpu-link-embedded=false",
                 error);
}

void shim__system_image_release(shim__system_image_t* system) { (void)system; }
