// The fakes' modules and launches.
#include <elf.h>
#include <stddef.h>
#include <time.h>

#include "gpu/fake_gpu_test.h"

// add(to, count, value): adds to each of |count| numbers.
// store(to, value): stores one number.
// trap(), loop(): end by force.
// shared(to): stores what it put into its shared memory.
static const char code[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 to, .param .u32 count,\n"
    "                    .param .u32 value) {\n"
    "  .reg .b32 %r<7>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [to];\n"
    "  ld.param.u32 %r1, [count];\n"
    "  ld.param.u32 %r2, [value];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r3, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p1, %r3, %r1;\n"
    "  @%p1 bra DONE;\n"
    "  mul.wide.u32 %rd2, %r3, 4;\n"
    "  add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r6, [%rd3];\n"
    "  add.s32 %r6, %r6, %r2;\n"
    "  st.global.u32 [%rd3], %r6;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry store(.param .u64 to, .param .u32 value) {\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [to];\n"
    "  ld.param.u32 %r1, [value];\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry trap() {\n"
    "  trap;\n"
    "}\n"
    ".visible .entry loop() {\n"
    "AGAIN:\n"
    "  bra AGAIN;\n"
    "}\n"
    ".visible .entry shared(.param .u64 to) .maxntid 64, 1, 1 {\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "  .shared .align 4 .b8 mine[1024];\n"
    "  ld.param.u64 %rd1, [to];\n"
    "  mov.u32 %r1, 77;\n"
    "  st.shared.u32 [mine], %r1;\n"
    "  ld.shared.u32 %r1, [mine];\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n";

static int load(const void* image, sgpu_module_t* out, char* log,
                size_t log_size) {
  int options[] = {SGPU_JIT_ERROR_LOG, SGPU_JIT_ERROR_LOG_BYTES};
  void* values[] = {log, (void*)(uintptr_t)log_size};
  int code_ = gpu.module_load(out, image, log ? 2 : 0, options, values);
  if (log) CHECK_EQ((uintptr_t)values[1], strlen(log));
  return code_;
}

static sgpu_module_t new_module(void) {
  sgpu_module_t module = NULL;
  CHECK_EQ(load(code, &module, NULL, 0), 0);
  return module;
}

static sgpu_function_t function_of(sgpu_module_t module, const char* name) {
  sgpu_function_t function = NULL;
  CHECK_EQ(gpu.module_function(&function, module, name), 0);
  return function;
}

static int launch(sgpu_function_t function, unsigned grid, unsigned block,
                  unsigned shared_bytes, void** params) {
  return gpu.launch(function, grid, 1, 1, block, 1, 1, shared_bytes, stream,
                    params, NULL);
}

static int store(sgpu_function_t function, uint64_t to, uint32_t value) {
  void* params[] = {&to, &value};
  return launch(function, 1, 1, 0, params);
}

static void images_are_checked(void) {
  begin("");
  sgpu_module_t module = NULL;
  char log[200] = "";
  CHECK_EQ(load("no such thing", &module, log, sizeof(log)),
           SGPU_INVALID_IMAGE);
  CHECK(strstr(log, "neither PTX nor an image"));
  CHECK_EQ(load("\x01\x02", &module, NULL, 0), SGPU_INVALID_IMAGE);
  CHECK_EQ(load(".version 7.0\n.target sm_80\n.address_size 64\n"
                ".visible .entry f() {\n  nothing.f32 %f1;\n}\n",
                &module, log, sizeof(log)),
           SGPU_INVALID_PTX);
  CHECK(strstr(log, "line 5"));
  CHECK_EQ(load(".version 8.0\n.target sm_90\n.address_size 64\n", &module, log,
                sizeof(log)),
           hip ? 0 : SGPU_NO_BINARY_FOR_GPU);
  if (hip) CHECK_EQ(gpu.module_unload(module), 0);
  int result = load(code, &module, log, sizeof(log));
  if (result) fprintf(stderr, "%s\n", log);
  CHECK_EQ(result, 0);
  CHECK_EQ(log[0], 0);
  sgpu_function_t function = NULL;
  CHECK_EQ(gpu.module_function(&function, module, "none"), SGPU_NOT_FOUND);
  CHECK(function_of(module, "add") == function_of(module, "add"));
  function = function_of(module, "add");
  CHECK_EQ(gpu.module_unload(module), 0);
  CHECK_EQ(gpu.module_unload(module), 400);
  complained("is no module");
  CHECK_EQ(launch(function, 1, 1, 0, NULL), 400);
  complained("is no function");
  end();
}

// An image with one table of symbols.
typedef struct image_t {
  Elf64_Ehdr header;
  Elf64_Shdr sections[3];
  Elf64_Sym symbols[2];
  char names[32];
} image_t;

static image_t make_image(uint16_t machine, uint32_t flags) {
  image_t image = {
      .header = {.e_machine = machine,
                 .e_flags = flags,
                 .e_shoff = offsetof(image_t, sections),
                 .e_shnum = 3},
      .sections = {{0},
                   {.sh_type = SHT_SYMTAB,
                    .sh_offset = offsetof(image_t, symbols),
                    .sh_size = sizeof(Elf64_Sym) * 2,
                    .sh_link = 2},
                   {.sh_type = SHT_STRTAB,
                    .sh_offset = offsetof(image_t, names),
                    .sh_size = 32}},
      .symbols = {{0},
                  {.st_name = 1,
                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                   .st_shndx = 1}},
  };
  memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  memcpy(image.names + 1, hip ? "kernel.kd" : "kernel", hip ? 10 : 7);
  return image;
}

static void code_of_devices_is_read_but_does_not_run(void) {
  begin(hip ? "gfx=gfx942" : "compute=8.6");
  sgpu_module_t module = NULL;
  image_t image = make_image(62, 0);
  CHECK_EQ(load(&image, &module, NULL, 0), SGPU_NO_BINARY_FOR_GPU);
  image = hip ? make_image(224, 0x3f) : make_image(190, 89);
  CHECK_EQ(load(&image, &module, NULL, 0), SGPU_NO_BINARY_FOR_GPU);
  image = hip ? make_image(224, 0x4c) : make_image(190, 80);
  CHECK_EQ(load(&image, &module, NULL, 0), 0);
  sgpu_function_t function = NULL;
  CHECK_EQ(gpu.module_function(&function, module, "other"), SGPU_NOT_FOUND);
  function = function_of(module, "kernel");
  CHECK_EQ(launch(function, 1, 1, 0, NULL), SGPU_NOT_SUPPORTED);
  CHECK_EQ(gpu.module_unload(module), 0);
  end();
}

static void kernels_run(void) {
  begin("");
  sgpu_module_t module = new_module();
  sgpu_function_t add = function_of(module, "add");
  uint32_t count = 1000, value = 5;
  uint64_t memory = new_memory(count * 4);
  uint32_t* host = new_pinned(count * 4);
  CHECK_EQ(gpu.fill_32(memory, 1, count, stream), 0);
  void* params[] = {&memory, &count, &value};
  make_file(".hang");
  CHECK_EQ(launch(add, 10, 128, 0, params), 0);
  value = 100;  // parameters were copied
  CHECK_EQ(launch(add, 10, 128, 0, params), 0);
  remove_file(".hang");
  CHECK_EQ(copy(stream, address(host), memory, count * 4), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(host[0], 106);
  CHECK_EQ(host[999], 106);
  // Memory of the host is used where it is.
  uint64_t mapped = 0;
  CHECK_EQ(gpu.host_address(&mapped, host, 0), 0);
  void* others[] = {&mapped, &count, &value};
  CHECK_EQ(launch(add, 10, 128, 0, others), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(host[999], 206);
  CHECK_EQ(gpu.calls("launch"), 3);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  CHECK_EQ(gpu.module_unload(module), 0);
  end();
}

static void launches_are_checked(void) {
  begin("launch_error=2");
  sgpu_module_t module = new_module();
  sgpu_function_t shared = function_of(module, "shared");
  uint64_t memory = new_memory(4);
  void* params[] = {&memory};
  int value = 0;
  CHECK_EQ(gpu.function_attribute(&value, SGPU_FUNCTION_MAX_THREADS, shared),
           0);
  CHECK_EQ(value, 64);
  CHECK_EQ(gpu.function_attribute(&value, SGPU_FUNCTION_SHARED_BYTES, shared),
           0);
  CHECK_EQ(value, 1024);
  CHECK_EQ(gpu.function_attribute(&value, 77, shared), SGPU_INVALID_VALUE);
  if (!hip) {
    size_t offset = 7, size = 7;
    CHECK_EQ(gpu.function_parameter(shared, 0, &offset, &size), 0);
    CHECK_EQ(offset, 0);
    CHECK_EQ(size, 8);
    CHECK_EQ(gpu.function_parameter(shared, 1, &offset, &size),
             SGPU_INVALID_VALUE);
  }
  CHECK_EQ(launch(shared, 0, 1, 0, params), SGPU_INVALID_VALUE);
  CHECK_EQ(launch(shared, 1, 0, 0, params), SGPU_INVALID_VALUE);
  CHECK_EQ(launch(shared, 1, 65, 0, params), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.launch(shared, 1, 65536, 1, 1, 1, 1, 0, stream, params, NULL),
           SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.launch(shared, 1, 1, 1, 1, 1, 65, 0, stream, params, NULL),
           SGPU_INVALID_VALUE);
  CHECK_EQ(launch(shared, 1, 64, 65536, params), SGPU_OUT_OF_RESOURCES);
  CHECK_EQ(launch(shared, 1, 64, 4096, params), 0);
  CHECK_EQ(launch(shared, 1, 64, 4096, params), SGPU_INVALID_VALUE);
  CHECK_EQ(launch(shared, 1, 64, 4096, NULL), SGPU_INVALID_VALUE);
  complained("'shared' is launched without an array of parameters");
  if (!hip) {
    CHECK_EQ(gpu.function_set_attribute(shared, 8, 1 << 20),
             SGPU_INVALID_VALUE);
    CHECK_EQ(gpu.function_set_attribute(shared, 8, 65536), 0);
    CHECK_EQ(launch(shared, 1, 64, 65536, params), 0);
  }
  uint32_t* host = new_pinned(4);
  CHECK_EQ(copy(stream, address(host), memory, 4), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(*host, 77);
  CHECK_EQ(gpu.host_free(host), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.module_unload(module), 0);
  end();
}

// A kernel that ends with |expected|; the device is dead then.
static void fault(const char* settings, const char* name, uint64_t offset,
                  int expected) {
  begin(settings);
  sgpu_module_t module = new_module();
  uint64_t memory = new_memory(100);
  uint64_t to = memory + offset;
  uint32_t value = 1;
  void* params[] = {&to, &value};
  CHECK_EQ(launch(function_of(module, name), 1, 1, 0, params), 0);
  CHECK_EQ(finish(stream), expected);
  CHECK_EQ(gpu.fill_8(memory, 0, 1, stream), expected);
  sgpu_event_t event = NULL;
  CHECK_EQ(gpu.event_create(&event, 0), expected);
  CHECK_EQ(gpu.memory_free(memory), expected);
  CHECK_EQ(gpu.module_unload(module), expected);
  end_dead(expected);
}

static void faults_are_sticky(void) {
  fault("", "store", 100, SGPU_ILLEGAL_ADDRESS);
  fault("", "store", 97, hip ? SGPU_LAUNCH_FAILED : 716);
  fault("", "store", 1 << 20, SGPU_ILLEGAL_ADDRESS);
  fault("", "trap", 0, hip ? SGPU_LAUNCH_FAILED : 715);
  fault("kernel_fault=1", "store", 0, SGPU_ILLEGAL_ADDRESS);
  begin("devices=2 kernel_fault=2");
  sgpu_module_t module = new_module();
  uint64_t memory = new_memory(4);
  CHECK_EQ(store(function_of(module, "store"), memory, 1), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.module_unload(module), 0);
  end();
}

static void* lose_soon(void* argument) {
  (void)argument;
  struct timespec time = {0, 30000000};
  nanosleep(&time, NULL);
  make_file(".lost");
  return NULL;
}

static void a_loss_stops_kernels(void) {
  begin("");
  sgpu_module_t module = new_module();
  CHECK_EQ(launch(function_of(module, "loop"), 1, 32, 0, NULL), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, lose_soon, NULL), 0);
  CHECK_EQ(finish(stream), SGPU_LAUNCH_FAILED);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  remove_file(".lost");
  end_dead(SGPU_LAUNCH_FAILED);
}

static void what_kernels_use_is_not_freed(void) {
  begin("");
  sgpu_module_t module = new_module();
  sgpu_function_t function = function_of(module, "store");
  uint64_t memory = new_memory(100);
  make_file(".hang");
  CHECK_EQ(store(function, memory + 4, 1), 0);
  CHECK_EQ(gpu.module_unload(module), 0);
  complained("a module is unloaded while operations use it");
  CHECK_EQ(gpu.memory_free(memory), 0);
  complained("memory of a device is freed while operations use it");
  remove_file(".hang");
  CHECK_EQ(finish(stream), SGPU_ILLEGAL_ADDRESS);
  end_dead(SGPU_ILLEGAL_ADDRESS);
}

static void launches_are_captured(void) {
  begin("");
  sgpu_module_t module = new_module();
  sgpu_function_t function = function_of(module, "store");
  uint64_t memory = new_memory(4);
  volatile uint32_t* host = new_pinned(4);
  sgpu_graph_t graph = NULL;
  sgpu_graph_exec_t exec = NULL;
  for (uint32_t value = 1; value < 3; ++value) {
    CHECK_EQ(gpu.stream_begin_capture(stream, SGPU_CAPTURE_THREAD_LOCAL), 0);
    CHECK_EQ(store(function, memory, value), 0);
    CHECK_EQ(copy(stream, (uintptr_t)host, memory, 4), 0);
    CHECK_EQ(gpu.stream_end_capture(stream, &graph), 0);
    void* node = NULL;
    int result = 0;
    if (exec) {
      CHECK_EQ(gpu.graph_update(exec, graph, &node, &result), 0);
    } else {
      CHECK_EQ(gpu.graph_instantiate(&exec, graph, 0), 0);
    }
    CHECK_EQ(gpu.graph_destroy(graph), 0);
    CHECK_EQ(gpu.graph_launch(exec, stream), 0);
    CHECK_EQ(finish(stream), 0);
    CHECK_EQ(*host, value);
  }
  CHECK_EQ(gpu.module_unload(module), 0);
  CHECK_EQ(gpu.graph_launch(exec, stream), 400);
  complained("a graph is launched whose module was unloaded");
  CHECK_EQ(gpu.graph_exec_destroy(exec), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free((void*)host), 0);
  end();
}

static void functions_are_loaded_late_where_it_is_said(void) {
  begin("lazy slow=2000");
  sgpu_module_t module = new_module();
  sgpu_function_t store = function_of(module, "store");
  uint64_t memory = new_memory(4), value = 5;
  void* params[] = {&memory, &value};
  for (int i = 0; i < 2; ++i) {
    sgpu_event_t before = new_event();
    CHECK_EQ(gpu.fill_8(memory, 1, 1, stream), 0);
    CHECK_EQ(gpu.event_record(before, stream), 0);
    CHECK_EQ(launch(store, 1, 1, 0, params), 0);
    if (i == 0 && !hip) {
      complained("function 'store' is loaded by its launch");
      CHECK_EQ(gpu.event_query(before), 0);
    }
    CHECK_EQ(gpu.event_destroy(before), 0);
  }
  CHECK_EQ(finish(stream), 0);
  if (!hip) {
    CHECK_EQ(gpu.function_load(function_of(module, "shared")), 0);
    CHECK_EQ(gpu.function_load((sgpu_function_t)7), 400);
    complained("is no function");
  }
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.module_unload(module), 0);
  end();
}

void test_gpu_code(void) {
  RUN(functions_are_loaded_late_where_it_is_said);
  RUN(images_are_checked);
  RUN(code_of_devices_is_read_but_does_not_run);
  RUN(kernels_run);
  RUN(launches_are_checked);
  RUN(faults_are_sticky);
  RUN(a_loss_stops_kernels);
  RUN(what_kernels_use_is_not_freed);
  RUN(launches_are_captured);
}
