// The library as a JVM loads it: into a running process with threads.
#include <dlfcn.h>
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

int main(void) {
  RUN(a_process_with_threads_loads_it);
  RUN(nothing_else_is_exported);
  return 0;
}
