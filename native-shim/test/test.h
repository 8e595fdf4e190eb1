// A minimal test harness that names the failed check.
#ifndef IREE4J_SHIM_TEST_H_
#define IREE4J_SHIM_TEST_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s: does not hold: %s\n", __FILE__,     \
              __LINE__, __func__, #condition);                        \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

#define CHECK_EQ(actual, expected)                                         \
  do {                                                                     \
    long long actual_ = (long long)(actual);                               \
    long long expected_ = (long long)(expected);                           \
    if (actual_ != expected_) {                                            \
      fprintf(stderr, "%s:%d: %s: %s is %lld, expected %lld\n", __FILE__,  \
              __LINE__, __func__, #actual, actual_, expected_);            \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

// The call failed with that code and a message that contains that text.
#define CHECK_FAILS(call, code, text)                                       \
  do {                                                                      \
    shim_error_t error = {0};                                               \
    shim_status_t status_ = (call);                                         \
    if (status_ != (code) || error.status != (code) ||                      \
        !strstr(error.message, (text))) {                                   \
      fprintf(stderr,                                                       \
              "%s:%d: %s: %s gave %s (%s in the error): '%s', expected %s " \
              "with '%s'\n",                                                \
              __FILE__, __LINE__, __func__, #call,                          \
              shim_status_name(status_), shim_status_name(error.status),    \
              error.message, shim_status_name(code), (text));               \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

#define CHECK_OK(call)                                                      \
  do {                                                                      \
    shim_error_t error = {0};                                               \
    shim_status_t status_ = (call);                                         \
    if (status_ != SHIM_OK) {                                               \
      fprintf(stderr, "%s:%d: %s: %s failed: %s: %s\n", __FILE__, __LINE__, \
              __func__, #call, shim_status_name(status_), error.message);   \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

#define RUN(test)                      \
  do {                                 \
    test();                            \
    fprintf(stderr, "ok %s\n", #test); \
  } while (0)

typedef struct file_t {
  uint8_t* bytes;
  size_t size;
} file_t;

static inline file_t read_file(const char* path) {
  FILE* stream = fopen(path, "rb");
  if (!stream) {
    fprintf(stderr, "no file '%s'\n", path);
    exit(1);
  }
  fseek(stream, 0, SEEK_END);
  size_t size = (size_t)ftell(stream);
  rewind(stream);
  file_t file = {malloc(size), size};
  CHECK(file.bytes);
  CHECK_EQ(fread(file.bytes, 1, size, stream), size);
  fclose(stream);
  return file;
}

static inline file_t read_kernel(const char* name) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s.so", SHIM_KERNEL_DIR, name);
  return read_file(path);
}

// Opens a kernel with the other parameters given.
static inline shim_status_t open_executable(
    const char* kernel, shim_cpu_executable_params_t params,
    shim_cpu_executable_t** out_executable, shim_error_t* error) {
  file_t file = read_kernel(kernel);
  params.name = kernel;
  params.name_length = strlen(kernel);
  params.elf = file.bytes;
  params.elf_size = file.size;
  shim_status_t status =
      shim_cpu_executable_create(&params, out_executable, error);
  CHECK_EQ(status == SHIM_OK, *out_executable != NULL);
  free(file.bytes);
  return status;
}

static inline void copy_file(const char* source, const char* target) {
  FILE* from = fopen(source, "rb");
  FILE* to = fopen(target, "wb");
  CHECK(from && to);
  char bytes[65536];
  for (size_t size; (size = fread(bytes, 1, sizeof(bytes), from)) > 0;) {
    CHECK_EQ(fwrite(bytes, 1, size, to), size);
  }
  fclose(from);
  fclose(to);
}

// After a library was closed: makes the next load of that path run its
// constructors again. musl never unloads, and knows a library by its file; it
// gets another file of that name.
static inline void renew_library(const char* path) {
#if defined(__GLIBC__)
  (void)path;
#else
  if (!strchr(path, '/')) return;
  char other[1024];
  snprintf(other, sizeof(other), "%s.new", path);
  copy_file(path, other);
  CHECK_EQ(rename(other, path), 0);
#endif
}

#endif  // IREE4J_SHIM_TEST_H_
