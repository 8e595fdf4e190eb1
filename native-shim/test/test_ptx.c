// The interpreter of PTX, with kernels of a few lines whose results are known.
#include "gpu/test_ptx.h"

static bool check(void* user, uint64_t address, uint64_t size, bool write) {
  const room_t* room = user;
  uint64_t from = address - (uint64_t)(uintptr_t)room->at;
  return from <= room->size && size <= room->size - from &&
         !(write && room->read_only);
}

int run_text(const char* text, uint32_t grid, uint32_t block, room_t room,
             char* error, size_t error_size) {
  ptx_module_t* module = ptx_module_load(text, strlen(text), error, error_size);
  if (!module) {
    fprintf(stderr, "%s\n%s\n", error, text);
    exit(1);
  }
  const ptx_function_t* function = ptx_module_function(module, "k");
  CHECK(function);
  uint64_t address = (uint64_t)(uintptr_t)room.at;
  void* params[] = {&address};
  const uint32_t grid_size[] = {grid, 1, 1}, block_size[] = {block, 1, 1};
  const ptx_memory_t memory = {
      .user = &room, .check = check, .max_steps = 1 << 24};
  int code = ptx_launch(function, grid_size, block_size, 4096, params, &memory,
                        error, error_size);
  ptx_module_unload(module);
  return code;
}

void run_body(const char* body, uint32_t grid, uint32_t block, void* data,
              size_t size) {
  static const char head[] = KERNEL
      ".reg .pred %p<16>;\n.reg .b16 %rs<32>;\n.reg .b32 %r<64>;\n"
      ".reg .b64 %rd<32>;\n.reg .f32 %f<32>;\n.reg .f64 %fd<32>;\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n";
  size_t length = sizeof(head) + strlen(body) + 16;
  char* text = malloc(length);
  char error[512];
  CHECK(text);
  snprintf(text, length, "%s%s\nret;\n}\n", head, body);
  room_t room = {data, size, false};
  int code = run_text(text, grid, block, room, error, sizeof(error));
  if (code != PTX_OK) {
    fprintf(stderr, "%d: %s\n%s\n", code, error, text);
    exit(1);
  }
  free(text);
}

int main(void) {
  RUN(test_values);
  RUN(test_floats);
  RUN(test_conversions);
  RUN(test_threads);
  RUN(test_matrices);
  RUN(test_texts);
  return 0;
}
