// Stands in for the interpreter until it is here: finds kernels, refuses to run
// them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

struct ptx_function_t {
  int unused;
};

struct ptx_module_t {
  char* text;
  ptx_function_t function;
};

ptx_module_t* ptx_module_load(const char* text, size_t length, char* error,
                              size_t error_size) {
  if (!strstr(text, ".entry")) {
    snprintf(error, error_size, "line 1: no kernel");
    return NULL;
  }
  ptx_module_t* module = calloc(1, sizeof(*module));
  module->text = strndup(text, length);
  return module;
}

void ptx_module_unload(ptx_module_t* module) {
  if (!module) return;
  free(module->text);
  free(module);
}

const ptx_function_t* ptx_module_function(const ptx_module_t* module,
                                          const char* name) {
  return strstr(module->text, name) ? &module->function : NULL;
}

uint32_t ptx_function_param_count(const ptx_function_t* function) {
  (void)function;
  return 0;
}

uint32_t ptx_function_param_offset(const ptx_function_t* function,
                                   uint32_t index) {
  (void)function;
  return index;
}

uint32_t ptx_function_param_size(const ptx_function_t* function,
                                 uint32_t index) {
  (void)function;
  return index;
}

uint32_t ptx_function_shared_bytes(const ptx_function_t* function) {
  (void)function;
  return 0;
}

uint32_t ptx_function_local_bytes(const ptx_function_t* function) {
  (void)function;
  return 0;
}

uint32_t ptx_function_max_threads(const ptx_function_t* function) {
  (void)function;
  return 1024;
}

uint32_t ptx_function_registers(const ptx_function_t* function) {
  (void)function;
  return 16;
}

int ptx_launch(const ptx_function_t* function, const uint32_t grid[3],
               const uint32_t block[3], uint32_t dynamic_shared_bytes,
               void** params, const ptx_memory_t* memory, char* error,
               size_t error_size) {
  (void)function, (void)grid, (void)block, (void)dynamic_shared_bytes;
  (void)params, (void)memory;
  snprintf(error, error_size, "there is no interpreter yet");
  return PTX_OK;
}
