// Modules, functions and launches through the shim.
#include <elf.h>
#include <stdlib.h>

#include "gpu/driver_test.h"

static shim_status_t load(const void* image, char* log, size_t log_size,
                          shim_error_t* error) {
  uint64_t module = 7;
  shim_status_t status = shim_gpu_module_load(device, image, log, log_size,
                                              &module, error);
  CHECK_EQ(module == 0, status != SHIM_OK);
  if (module) shim_gpu_module_unload(device, module);
  return status;
}

static const char wrong[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry f() {\n  nothing.f32 %f1;\n}\n";

static void what_the_compiler_says_arrives(void) {
  begin("");
  char log[400];
  memset(log, 'x', sizeof(log));
  FAILS(load(wrong, log, sizeof(log), &error), SHIM_INVALID_ARGUMENT,
        "loading a module failed with INVALID_PTX (218)");
  CHECK(strstr(log, "line 5"));
  char start[8];
  memset(start, 'x', sizeof(start));
  FAILS(load(wrong, start, sizeof(start), &error), SHIM_INVALID_ARGUMENT,
        "INVALID_PTX");
  CHECK(memchr(start, 0, sizeof(start)));
  char none = 'x';
  FAILS(load(wrong, &none, 0, &error), SHIM_INVALID_ARGUMENT, "INVALID_PTX");
  CHECK_EQ(none, 'x');
  FAILS(load(wrong, NULL, 0, &error), SHIM_INVALID_ARGUMENT, "INVALID_PTX");
  memset(log, 'x', sizeof(log));
  OK(load(kernels, log, sizeof(log), &error));
  CHECK_EQ(log[0], 0);
  check_only_the_stream_is_live();
  end();
}

static shim_status_t compile(const char* text, uint64_t code[3],
                             shim_error_t* error) {
  return shim_gpu_link(device, (void*)(uintptr_t)text, strlen(text) + 1, code,
                       error);
}

static void code_is_compiled_for_later(void) {
  begin("");
  uint64_t code[3] = {7, 7, 7}, module = 0;
  if (hip) {
    FAILS(compile(kernels, code, &error), SHIM_UNIMPLEMENTED,
          "compiling a module failed with NOT_SUPPORTED");
    CHECK_EQ(code[0], 0);
    end();
    return;
  }
  OK(compile(kernels, code, &error));
  CHECK_EQ(live(SHIM_GPU_KIND_MODULES), 1);
  void* image = malloc(code[2]);
  memcpy(image, (void*)(uintptr_t)code[1], code[2]);
  DONE(shim_gpu_link_release(device, code[0]));
  CHECK_EQ(live(SHIM_GPU_KIND_MODULES), 0);
  OK(shim_gpu_module_load(device, image, NULL, 0, &module, &error));
  memset(image, 0, code[2]);
  free(image);
  uint64_t memory = new_memory(4);
  words_t words = {0};
  add_store(&words, function_of(module, "store"), memory, 5);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory), 5);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  FAILS(compile(wrong, code, &error), SHIM_INVALID_ARGUMENT,
        "compiling a module failed with INVALID_PTX");
  CHECK_EQ(code[0], 0);
  end();
}

static void what_is_no_module_is_refused(void) {
  begin("");
  char log[100] = "";
  FAILS(load("no such thing", log, sizeof(log), &error), SHIM_INVALID_ARGUMENT,
        "loading a module failed with INVALID_");
  CHECK_EQ(live(SHIM_GPU_KIND_MODULES), 0);
  end();
}

// Code of other devices: newer PTX for CUDA, an image of AMD's for HIP.
static void modules_of_other_devices_are_refused(void) {
  begin(hip && !is_adapter ? "gfx=gfx942" : "compute=7.5");
  char log[100] = "";
  Elf64_Ehdr image = {.e_machine = 224, .e_flags = 0x3f};
  memcpy(image.e_ident, ELFMAG, SELFMAG);
  image.e_ident[EI_CLASS] = ELFCLASS64;
  FAILS(load(&image, log, sizeof(log), &error), SHIM_INCOMPATIBLE,
        "NO_BINARY_FOR_GPU (209)");
  CHECK(strstr(log, "the image is for another device"));
  if (!hip || is_adapter) {
    FAILS(load(kernels, log, sizeof(log), &error), SHIM_INCOMPATIBLE,
          "NO_BINARY_FOR_GPU (209)");
    CHECK(strstr(log, "the PTX is for a newer device"));
  }
  end();
}

// Before work of which a launch would have to wait for the end.
static void functions_are_loaded_when_they_are_found(void) {
  begin("lazy");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(4);
  words_t words = {0};
  add_store(&words, store, memory, 5);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory), 5);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
  if (hip) return;
  begin("fail=function_load:1:2");
  shim_gpu_function_t function;
  module = new_module();
  FAILS(shim_gpu_module_function(device, module, "store", 0, &function, &error),
        SHIM_RESOURCE_EXHAUSTED, "finding kernel 'store' with ");
  OK(shim_gpu_module_function(device, module, "store", 0, &function, &error));
  DONE(shim_gpu_module_unload(device, module));
  end();
}

static void functions_are_found_and_described(void) {
  begin("");
  uint64_t module = new_module();
  CHECK_EQ(live(SHIM_GPU_KIND_MODULES), 1);
  shim_gpu_function_t function;
  OK(shim_gpu_module_function(device, module, "shared", 0, &function, &error));
  CHECK(function.handle);
  CHECK_EQ(function.max_threads, 64);
  CHECK_EQ(function.shared_bytes, 1024);
  CHECK_EQ(function.parameters, hip ? -1 : 1);
  CHECK_EQ(function.largest_parameter, hip ? 0 : 8);
  FAILS(shim_gpu_module_function(device, module, "nobody", 5, &function,
                                 &error),
        SHIM_NOT_FOUND,
        "finding kernel 'nobody' with 5 bytes of shared memory failed with "
        "NOT_FOUND (500)");
  CHECK_EQ(function.handle, 0);
  CHECK_EQ(function.max_threads, 0);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

static void launch(uint64_t function, uint32_t threads, uint32_t shared_bytes,
                   uint64_t to, uint32_t last, shim_status_t expected) {
  words_t words = {0};
  add_launch(&words, function, threads, shared_bytes,
             (uint64_t[]){to, last}, 2);
  if (expected) {
    FAILS(run(&words, &error), expected, "a launch failed with ");
  } else {
    OK(run(&words, &error));
    finish();
  }
}

// CUDA is asked for what goes beyond the common limit, when the function is
// found; with HIP too much is found at the launch.
static void functions_get_shared_memory(void) {
  enum { MUCH = 60000, TOO_MUCH = 300000 };
  begin("");
  uint64_t module = new_module();
  uint64_t memory = new_memory(4);
  shim_gpu_function_t function;
  OK(shim_gpu_module_function(device, module, "dynamic", MUCH, &function,
                              &error));
  launch(function.handle, 1, MUCH, memory, MUCH - 4, SHIM_OK);
  CHECK_EQ(value_at(memory), 78);
  if (!hip) {
    FAILS(shim_gpu_module_function(device, module, "dynamic", TOO_MUCH,
                                   &function, &error),
          SHIM_INVALID_ARGUMENT,
          "'dynamic' with 300000 bytes of shared memory");
    CHECK_EQ(function.handle, 0);
    FAILS(shim_gpu_module_function(device, module, "dynamic", UINT32_MAX,
                                   &function, &error),
          SHIM_INVALID_ARGUMENT, "with 4294967295 bytes");
  } else if (is_fake) {
    launch(function.handle, 1, TOO_MUCH, memory, 0, SHIM_RESOURCE_EXHAUSTED);
  }
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

static void kernels_run(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(8);
  words_t words = {0};
  add_store(&words, store, memory, 5);
  add_store(&words, store, memory + 4, 0xFFFFFFFF);
  OK(run(&words, &error));
  memset(&words, 0, sizeof(words));  // they were read
  CHECK_EQ(value_at(memory), 5);
  CHECK_EQ(value_at(memory + 4), 0xFFFFFFFF);
  launch(function_of(module, "shared"), 64, 0, memory, 0, SHIM_OK);
  CHECK_EQ(value_at(memory), 77);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

static void launches_that_the_driver_refuses_fail(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t shared = function_of(module, "shared");
  uint64_t memory = new_memory(4);
  launch(shared, 65, 0, memory, 0, SHIM_INVALID_ARGUMENT);
  launch(shared, 0, 0, memory, 0, SHIM_INVALID_ARGUMENT);
  launch(shared, 64, 0, memory, 0, SHIM_OK);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

// The words have as many as are allowed; the function takes two.
static void launches_have_up_to_512_parameters(void) {
  begin("");
  uint64_t module = new_module();
  uint64_t store = function_of(module, "store");
  uint64_t memory = new_memory(4);
  uint64_t params[SHIM_GPU_MAX_PARAMS + 1] = {memory, 6};
  words_t words = {0};
  add_launch(&words, store, 1, 0, params, SHIM_GPU_MAX_PARAMS);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory), 6);
  words.count = 0;
  params[1] = 7;
  add_launch(&words, store, 1, 0, params, SHIM_GPU_MAX_PARAMS + 1);
  FAILS(run(&words, &error), SHIM_INTERNAL,
        "word 0 of 519, 5, begins no command");
  CHECK_EQ(value_at(memory), 6);
  free_memory(memory);
  DONE(shim_gpu_module_unload(device, module));
  end();
}

void test_driver_code(void) {
  RUN(what_the_compiler_says_arrives);
  RUN(code_is_compiled_for_later);
  RUN(what_is_no_module_is_refused);
  if (is_fake) RUN(modules_of_other_devices_are_refused);
  if (is_fake) RUN(functions_are_loaded_when_they_are_found);
  RUN(functions_are_found_and_described);
  RUN(functions_get_shared_memory);
  RUN(kernels_run);
  RUN(launches_that_the_driver_refuses_fail);
  RUN(launches_have_up_to_512_parameters);
}
