// The library as a JVM loads it: into a running process with threads.
#include <dlfcn.h>
#if !defined(__APPLE__)
#include <link.h>
#endif
#include <pthread.h>
#include <unistd.h>

#include "test.h"

static int ends[2];

static void* wait_for_end(void* unused) {
  (void)unused;
  char byte;
  CHECK_EQ(read(ends[0], &byte, 1), 0);
  return NULL;
}

// C libraries differ in the thread variables of libraries that are loaded late.
static void a_process_with_threads_loads_it(void) {
  CHECK_EQ(pipe(ends), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
  void* library = dlopen(SHIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  CHECK(dlsym(library, "JNI_OnLoad"));
  CHECK(dlsym(library, "JNI_OnUnload"));
  close(ends[1]);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void nothing_else_is_exported(void) {
  void* library = dlopen(SHIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  CHECK(!dlsym(library, "shim_error_set"));
  CHECK(!dlsym(library, "shim_cpu_executable_create"));
}

#if !defined(__APPLE__)
// The largest pages of the architecture.
#if defined(__aarch64__)
enum { PAGE = 65536 };
#else
enum { PAGE = 4096 };
#endif

static int visit(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  if (!strstr(info->dlpi_name, "libiree4j_shim")) return 0;
  uint64_t free = 0;  // of the pages of earlier segments
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD) {
      CHECK_EQ(segment->p_align % PAGE, 0);
      CHECK_EQ((segment->p_vaddr - segment->p_offset) % PAGE, 0);
      CHECK(segment->p_vaddr / PAGE * PAGE >= free);
      free = (segment->p_vaddr + segment->p_memsz + PAGE - 1) / PAGE * PAGE;
    }
  }
  *(int*)found = 1;
  return 1;
}

static void no_page_has_two_segments_of_it(void) {
  CHECK(dlopen(SHIM_LIBRARY, RTLD_NOW | RTLD_LOCAL));
  int found = 0;
  dl_iterate_phdr(visit, &found);
  CHECK(found);
}
#endif

int main(void) {
  RUN(a_process_with_threads_loads_it);
  RUN(nothing_else_is_exported);
#if !defined(__APPLE__)
  RUN(no_page_has_two_segments_of_it);
#endif
  return 0;
}
