// The C library that the shim sees in failure tests: the linker's --wrap
// redirects each of these functions here. The shim must not use functions that
// CMakeLists.txt names and this file lacks: linking the test would fail.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failing.h"
#include "shim_uring.h"
#include "shim_vulkan.h"
#include "test.h"

enum { MAX_CALLS = 256, MAX_PLACES = 1000 };

uint32_t failing_at, failing_total;
const char* failing_what;
shim_status_t failing_expected;
int64_t failing_blocks;
shim_gpu_device_t* failing_gpu_device;

static enum { NOT_COUNTED, COUNTED, FORBIDDEN } places_are;
static uint32_t places;
static shim_error_t described;
shim_error_t* const failing_error = &described;

typedef struct function_t {
  char name[64];
  bool has_places;
} function_t;

static function_t functions[MAX_CALLS], *current;
static size_t function_count;

// The function of a call; NULL when there was none and it is not |added|.
static function_t* function_of(const char* call, bool added) {
  const size_t length = strcspn(call, "(");
  for (size_t i = 0; i < function_count; ++i) {
    if (strlen(functions[i].name) == length &&
        memcmp(functions[i].name, call, length) == 0) {
      return &functions[i];
    }
  }
  if (!added) return NULL;
  CHECK(function_count < MAX_CALLS && length < sizeof(current->name));
  memcpy(functions[function_count].name, call, length);
  return &functions[function_count++];
}

bool failing_was_called(const char* function) {
  return function_of(function, false) != NULL;
}

void failing_leave_out(const char* function) { function_of(function, true); }

uint32_t failing_functions(void) {
  uint32_t count = 0;
  for (size_t i = 0; i < function_count; ++i) {
    count += functions[i].has_places;
  }
  return count;
}

void failing_begin(const char* call) {
  current = function_of(call, true);
  described = (shim_error_t){0};
  failing_what = NULL;
  failing_expected = SHIM_RESOURCE_EXHAUSTED;
  places = 0;
  places_are = COUNTED;
}

int32_t failing_end(int32_t result) {
  places_are = NOT_COUNTED;
  current->has_places |= places > 0;
  return result;
}

void failing_begin_calm(const char* call) {
  current = function_of(call, true);
  places_are = FORBIDDEN;
}

int64_t failing_end_calm(int64_t result) {
  places_are = NOT_COUNTED;
  return result;
}

bool failing_here(const char* what) {
  if (places_are == FORBIDDEN) {
    fprintf(stderr, "%s calls %s, but was declared not to allocate\n",
            current->name, what);
    exit(1);
  }
  if (places_are == NOT_COUNTED || ++places != failing_at) return false;
  failing_what = what;
  ++failing_total;
  return true;
}

//===--------------------------------------------------------------------===//
// Each place once
//===--------------------------------------------------------------------===//

typedef struct remains_t {
  int64_t blocks;
  int64_t descriptors;
  int64_t objects[SHIM_VULKAN_KIND_COUNT];
  int64_t gpu_objects[SHIM_GPU_KIND_COUNT];
} remains_t;

static remains_t remains(void) {
  remains_t now = {.blocks = failing_blocks};
  DIR* all = opendir("/proc/self/fd");
  CHECK(all);
  while (readdir(all)) ++now.descriptors;
  closedir(all);
  shim_vulkan_live_objects(now.objects);
  if (failing_gpu_device) {
    shim_gpu_device_live_objects(failing_gpu_device, now.gpu_objects);
  }
  return now;
}

static void check_remains(const remains_t* before, const char* call,
                          const char* again) {
  remains_t now = remains();
  bool same = now.blocks == before->blocks &&
              now.descriptors == before->descriptors &&
              memcmp(now.objects, before->objects, sizeof(now.objects)) == 0 &&
              memcmp(now.gpu_objects, before->gpu_objects,
                     sizeof(now.gpu_objects)) == 0;
  if (same) return;
  fprintf(stderr, "%s%s left behind: %lld blocks, %lld descriptors", call,
          again,
          (long long)(now.blocks - before->blocks),
          (long long)(now.descriptors - before->descriptors));
  for (int i = 0; i < SHIM_VULKAN_KIND_COUNT; ++i) {
    if (now.objects[i] == before->objects[i]) continue;
    fprintf(stderr, ", %lld %s",
            (long long)(now.objects[i] - before->objects[i]),
            shim_vulkan_kind_name(i));
  }
  for (int i = 0; i < SHIM_GPU_KIND_COUNT; ++i) {
    if (now.gpu_objects[i] == before->gpu_objects[i]) continue;
    fprintf(stderr, ", %lld %s",
            (long long)(now.gpu_objects[i] - before->gpu_objects[i]),
            shim_gpu_kind_name(i));
  }
  fprintf(stderr, "\n");
  exit(1);
}

void failing_each(const char* name, failing_entry_t entry) {
  for (uint32_t place = 1;; ++place) {
    CHECK(place < MAX_PLACES);
    const remains_t before = remains();
    failing_at = place;
    shim_status_t status = entry();
    failing_at = 0;
    const char* what = failing_what;
    bool fails = what && failing_expected != SHIM_OK;
    bool good = fails && status != FAILING_HAS_NO_STATUS
                    ? status == failing_expected &&
                          described.status == status && described.message[0]
                    : status == SHIM_OK || status == FAILING_HAS_NO_STATUS;
    char call[128];
    snprintf(call, sizeof(call), "%s with place %u failing (%s)", name, place,
             what ? what : "none");
    if (!good) {
      fprintf(stderr, "%s gave %d, %s in the error: '%s'\n", call, status,
              shim_status_name(described.status), described.message);
      exit(1);
    }
    check_remains(&before, call, "");
    if (!what) {
      if (place > 1) fprintf(stderr, "ok %s: %u places\n", name, place - 1);
      return;
    }
    status = entry();
    if (status != SHIM_OK && status != FAILING_HAS_NO_STATUS) {
      fprintf(stderr, "%s, then made again, gave %s: '%s'\n", call,
              shim_status_name(status), described.message);
      exit(1);
    }
    check_remains(&before, call, ", then made again,");
  }
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_malloc(size_t size) {
  void* block = failing_here("malloc") ? NULL : __real_malloc(size);
  failing_blocks += block != NULL;
  return block;
}

void* __real_calloc(size_t count, size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_calloc(size_t count, size_t size) {
  void* block = failing_here("calloc") ? NULL : __real_calloc(count, size);
  failing_blocks += block != NULL;
  return block;
}

void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  void* block = failing_here("aligned_alloc")
                    ? NULL
                    : __real_aligned_alloc(alignment, size);
  failing_blocks += block != NULL;
  return block;
}

void* __real_realloc(void* block, size_t size);
void* __wrap_realloc(void* block, size_t size);
void* __wrap_realloc(void* block, size_t size) {
  if (failing_here("realloc")) return NULL;
  void* moved = __real_realloc(block, size);
  failing_blocks += !block && moved;
  return moved;
}

void __real_free(void* block);
void __wrap_free(void* block);
void __wrap_free(void* block) {
  failing_blocks -= block != NULL;
  __real_free(block);
}

// A mapping counts by its pages: it may be unmapped in parts, as one is that
// was made larger for its alignment.
static int64_t pages(size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (int64_t)((size + page - 1) / page);
}

void* __real_mmap(void* address, size_t size, int protection, int flags, int fd,
                  off_t offset);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd,
                  off_t offset);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd,
                  off_t offset) {
  if (failing_here("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* mapping = __real_mmap(address, size, protection, flags, fd, offset);
  if (mapping != MAP_FAILED) failing_blocks += pages(size);
  return mapping;
}

int __real_munmap(void* address, size_t size);
int __wrap_munmap(void* address, size_t size);
int __wrap_munmap(void* address, size_t size) {
  failing_blocks -= pages(size);
  return __real_munmap(address, size);
}

int __real_mprotect(void* address, size_t size, int protection);
int __wrap_mprotect(void* address, size_t size, int protection);
int __wrap_mprotect(void* address, size_t size, int protection) {
  if (failing_here("mprotect")) {
    errno = ENOMEM;
    return -1;
  }
  return __real_mprotect(address, size, protection);
}

//===--------------------------------------------------------------------===//
// Descriptors and what the kernel keeps for them
//===--------------------------------------------------------------------===//

// A function that returns -1 and sets errno to |code| when it fails.
#define SYSTEM(name, parameters, arguments, code) \
  int __real_##name parameters;                   \
  int __wrap_##name parameters;                   \
  int __wrap_##name parameters {                  \
    if (!failing_here(#name)) return __real_##name arguments; \
    errno = code;                                 \
    return -1;                                    \
  }

SYSTEM(eventfd, (unsigned count, int flags), (count, flags), EMFILE)
SYSTEM(memfd_create, (const char* name, unsigned flags), (name, flags), EMFILE)
SYSTEM(fallocate, (int fd, int mode, off_t offset, off_t size),
       (fd, mode, offset, size), ENOSPC)
SYSTEM(epoll_create1, (int flags), (flags), EMFILE)
int __real_epoll_ctl(int poller, int operation, int fd,
                     struct epoll_event* event);
int __wrap_epoll_ctl(int poller, int operation, int fd,
                     struct epoll_event* event);
int __wrap_epoll_ctl(int poller, int operation, int fd,
                     struct epoll_event* event) {
  if (operation != EPOLL_CTL_ADD || !failing_here("epoll_ctl")) {
    return __real_epoll_ctl(poller, operation, fd, event);
  }
  errno = ENOSPC;
  return -1;
}

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...) {
  CHECK(!(flags & O_CREAT));
  if (!failing_here("open")) return __real_open(path, flags);
  errno = EMFILE;
  return -1;
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
  if (command == F_GETFD) return __real_fcntl(fd, command);
  CHECK(command == F_DUPFD_CLOEXEC || command == F_ADD_SEALS);
  va_list arguments;
  va_start(arguments, command);
  int first = va_arg(arguments, int);
  va_end(arguments);
  if (!failing_here("fcntl")) return __real_fcntl(fd, command, first);
  errno = EMFILE;
  return -1;
}

// Only io_uring is called by number.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long a[6] = {0};
  int count = number == SHIM__URING_SETUP      ? 2
              : number == SHIM__URING_REGISTER ? 4
                                               : 6;
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < count; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number != SHIM__URING_SETUP || !failing_here("io_uring_setup")) {
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  errno = ENOMEM;
  return -1;
}
