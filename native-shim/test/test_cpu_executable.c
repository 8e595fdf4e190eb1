// Compiled libraries: opened, queried and run over ranges of workgroups.
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "test.h"

enum { ADD, RECORD, FAIL_AT, SUM_LOCAL };

static shim_status_t open_by(uint32_t flags, const char* kernel,
                             const uint32_t* constants, size_t constant_count,
                             shim_cpu_executable_t** out_executable,
                             shim_error_t* error) {
  return open_executable(
      kernel,
      (shim_cpu_executable_params_t){.constants = constants,
                                     .constant_count = constant_count,
                                     .flags = flags},
      out_executable, error);
}

static shim_status_t open_with(const char* kernel, const uint32_t* constants,
                               size_t constant_count,
                               shim_cpu_executable_t** out_executable,
                               shim_error_t* error) {
  return open_by(0, kernel, constants, constant_count, out_executable, error);
}

static shim_status_t open_kernel(const char* kernel,
                                 shim_cpu_executable_t** out_executable,
                                 shim_error_t* error) {
  const uint32_t constant = 77;
  return open_with(kernel, &constant, 1, out_executable, error);
}

static shim_cpu_executable_t* basic(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_kernel("basic", &executable, &error));
  return executable;
}

static void exports_are_described(void) {
  shim_cpu_executable_t* executable = basic();
  shim_cpu_export_t info;
  CHECK_EQ(shim_cpu_executable_export_count(executable), 4);
  CHECK_OK(shim_cpu_executable_export_query(executable, RECORD, &info, &error));
  CHECK(strcmp(info.name, "record") == 0);
  CHECK_EQ(info.name_length, 6);
  CHECK_EQ(info.binding_count, 1);
  CHECK_EQ(info.constant_count, 2);
  CHECK_EQ(info.workgroup_size_x, 4);
  CHECK_EQ(info.workgroup_size_y, 2);
  CHECK_EQ(info.workgroup_size_z, 3);
  CHECK_EQ(info.local_memory_size, 0);
  CHECK_OK(
      shim_cpu_executable_export_query(executable, SUM_LOCAL, &info, &error));
  CHECK_EQ(info.local_memory_size, 8192);
  CHECK_EQ(info.flags, SHIM_CPU_DISPATCH_FLAG_SEQUENTIAL);
  CHECK_FAILS(shim_cpu_executable_export_query(executable, 4, &info, &error),
              SHIM_OUT_OF_RANGE, "export 4");
  shim_cpu_executable_release(executable);
}

static void adds(shim_cpu_executable_t* executable) {
  _Alignas(64) float a[4] = {1, 2, 3, 4};
  _Alignas(64) float b[4] = {10, 20, 30, 40};
  _Alignas(64) float out[4] = {0};
  void* pointers[3] = {a, b, out};
  size_t lengths[3] = {sizeof(a), sizeof(b), sizeof(out)};
  shim_dispatch_state_t state = {.workgroup_size_x = 1,
                                 .workgroup_size_y = 1,
                                 .workgroup_size_z = 1,
                                 .workgroup_count_x = 4,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .max_concurrency = 1,
                                 .binding_count = 3,
                                 .binding_ptrs = pointers,
                                 .binding_lengths = lengths};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = ADD, .state = &state, .begin = 0, .end = 4};
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  CHECK(out[0] == 11 && out[1] == 22 && out[2] == 33 && out[3] == 44);
}

static void adds_four_floats(void) {
  shim_cpu_executable_t* executable = basic();
  adds(executable);
  shim_cpu_executable_release(executable);
}

// Kernels flush denormals to zero; the caller's mode is preserved, even when a
// kernel fails.
static void denormals_are_zero_in_kernels_only(void) {
  shim_cpu_executable_t* executable = basic();
  _Alignas(64) float a[4] = {0x1p-126f, 0x1p-127f, -0x1p-140f, 0x1p-149f};
  _Alignas(64) float b[4] = {-0x1p-127f, 1, -0x1p-126f, 0x1p-149f};
  _Alignas(64) float out[4] = {9, 9, 9, 9};
  void* pointers[3] = {a, b, out};
  size_t lengths[3] = {sizeof(a), sizeof(b), sizeof(out)};
  shim_dispatch_state_t state = {.workgroup_count_x = 4,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .binding_count = 3,
                                 .binding_ptrs = pointers,
                                 .binding_lengths = lengths};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = ADD, .state = &state, .begin = 0, .end = 4};
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  CHECK(out[0] == 0x1p-126f && out[1] == 1 && out[2] == -0x1p-126f);
  CHECK(out[3] == 0);
  CHECK_EQ(shim_thread_flushes_denormals(), 0);

  lengths[2] = 8;  // fails in workgroup 2
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INTERNAL, "workgroup (2, 0, 0)");
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  volatile float smallest = 0x1p-126f;
  CHECK(smallest * 0.5f == 0x1p-127f);
  shim_cpu_executable_release(executable);
}

// A grid for the record kernel.
typedef struct grid_t {
  shim_dispatch_state_t state;
  uint32_t records[5 * 3 * 2][8];
  uint32_t constants[2];
  void* pointer;
  size_t length;
} grid_t;

static void prepare(grid_t* grid) {
  memset(grid, 0xEE, sizeof(*grid));
  grid->constants[0] = 123;
  grid->constants[1] = 456;
  grid->pointer = grid->records;
  grid->length = sizeof(grid->records);
  grid->state = (shim_dispatch_state_t){.workgroup_count_x = 5,
                                        .workgroup_count_y = 3,
                                        .workgroup_count_z = 2,
                                        .constant_count = 2,
                                        .binding_count = 1,
                                        .constants = grid->constants,
                                        .binding_ptrs = &grid->pointer,
                                        .binding_lengths = &grid->length};
}

static void every_range_runs_exactly_its_workgroups(void) {
  shim_cpu_executable_t* executable = basic();
  uint64_t fields[SHIM_CPU_FIELD_COUNT];
  shim_cpu_features_query(fields);
  for (uint32_t begin = 0; begin <= 30; ++begin) {
    for (uint32_t end = begin; end <= 30; ++end) {
      grid_t grid;
      prepare(&grid);
      shim_cpu_dispatch_t dispatch = {.ordinal = RECORD,
                                      .processor_id = 9,
                                      .state = &grid.state,
                                      .begin = begin,
                                      .end = end};
      CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
      for (uint32_t i = 0; i < 30; ++i) {
        if (i < begin || i >= end) {
          CHECK_EQ(grid.records[i][0], 0xEEEEEEEE);
          continue;
        }
        CHECK_EQ(grid.records[i][0], i % 5);
        CHECK_EQ(grid.records[i][1], i / 5 % 3);
        CHECK_EQ(grid.records[i][2], i / 15);
        CHECK_EQ(grid.records[i][3], 123);
        CHECK_EQ(grid.records[i][4], 456);
        CHECK_EQ(grid.records[i][5], 9);
        CHECK_EQ(grid.records[i][6], 77);
        CHECK_EQ(grid.records[i][7], (uint32_t)fields[0]);
      }
    }
  }
  shim_cpu_executable_release(executable);
}

static void ranges_outside_of_the_grid_are_refused(void) {
  shim_cpu_executable_t* executable = basic();
  grid_t grid;
  prepare(&grid);
  shim_cpu_dispatch_t dispatch = {
      .ordinal = RECORD, .state = &grid.state, .begin = 0, .end = 31};
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_OUT_OF_RANGE, "[0, 31) of dispatch 'record'");
  dispatch.begin = 5;
  dispatch.end = 4;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_OUT_OF_RANGE, "[5, 4)");
  dispatch.ordinal = 4;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_OUT_OF_RANGE, "export 4 of an executable that has 4");
  shim_cpu_executable_release(executable);
}

static void grids_without_workgroups_run_nothing(void) {
  shim_cpu_executable_t* executable = basic();
  grid_t grid;
  prepare(&grid);
  grid.state.workgroup_count_y = 0;
  shim_cpu_dispatch_t dispatch = {.ordinal = RECORD, .state = &grid.state};
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  dispatch.end = 1;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_OUT_OF_RANGE, "5 x 0 x 2");
  shim_cpu_executable_release(executable);
}

static void huge_grids_do_not_wrap(void) {
  shim_cpu_executable_t* executable = basic();
  const uint32_t never = 7;
  shim_dispatch_state_t state = {.workgroup_count_x = UINT32_MAX,
                                 .workgroup_count_y = UINT32_MAX,
                                 .workgroup_count_z = UINT16_MAX,
                                 .constant_count = 1,
                                 .constants = &never};
  // Workgroup (2^32 - 2, 2^32 - 2, z) and its neighbours in the next row.
  uint64_t row = (uint64_t)UINT32_MAX * 5 - 1;
  shim_cpu_dispatch_t dispatch = {.ordinal = FAIL_AT,
                                  .state = &state,
                                  .begin = row,
                                  .end = row + 5};
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  dispatch.end = row + 20;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INTERNAL, "workgroup (7, 5, 0)");
  shim_cpu_executable_release(executable);
}

static void a_failing_kernel_names_export_workgroup_and_result(void) {
  shim_cpu_executable_t* executable = basic();
  const uint32_t where = 2;
  shim_dispatch_state_t state = {.workgroup_count_x = 4,
                                 .workgroup_count_y = 2,
                                 .workgroup_count_z = 1,
                                 .constant_count = 1,
                                 .constants = &where};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = FAIL_AT, .state = &state, .begin = 3, .end = 8};
  shim_error_t error = {0};
  CHECK_EQ(shim_cpu_executable_dispatch(executable, &dispatch, &error),
           SHIM_INTERNAL);
  CHECK_EQ(error.native_code, 42);
  CHECK(strcmp(error.message,
               "dispatch 'fail_at' failed in workgroup (2, 1, 0) of 4 x 2 x 1: "
               "the kernel returned 42") == 0);
  shim_cpu_executable_release(executable);
}

static void local_memory_must_be_given(void) {
  shim_cpu_executable_t* executable = basic();
  uint32_t out[2] = {0};
  void* pointer = out;
  size_t length = sizeof(out);
  shim_dispatch_state_t state = {.workgroup_count_x = 3,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .binding_count = 1,
                                 .binding_ptrs = &pointer,
                                 .binding_lengths = &length};
  static _Alignas(64) uint8_t scratch[8192 + 64];
  shim_cpu_dispatch_t dispatch = {.ordinal = SUM_LOCAL,
                                  .state = &state,
                                  .begin = 0,
                                  .end = 3,
                                  .local_memory = scratch,
                                  .local_memory_size = 8191};
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INVALID_ARGUMENT, "needs 8192 bytes of local memory");
  dispatch.local_memory = scratch + 8;
  dispatch.local_memory_size = 8192;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INVALID_ARGUMENT, "at offset 8");
  dispatch.local_memory = NULL;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INVALID_ARGUMENT, "local memory");
  dispatch.local_memory = scratch;
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  CHECK_EQ(out[0], 3);
  CHECK_EQ(out[1], 8192);
  shim_cpu_executable_release(executable);
}

static void too_few_constants_or_bindings_are_refused(void) {
  shim_cpu_executable_t* executable = basic();
  grid_t grid;
  prepare(&grid);
  shim_cpu_dispatch_t dispatch = {
      .ordinal = RECORD, .state = &grid.state, .begin = 0, .end = 1};
  grid.state.constant_count = 1;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INVALID_ARGUMENT, "takes 2 constants and 1 bindings, 1 and");
  grid.state.constant_count = 2;
  grid.state.binding_count = 0;
  CHECK_FAILS(shim_cpu_executable_dispatch(executable, &dispatch, &error),
              SHIM_INVALID_ARGUMENT, "0 were given");
  shim_cpu_executable_release(executable);
}

static void constant_count_must_match(void) {
  shim_cpu_executable_t* executable = NULL;
  const uint32_t constants[2] = {0};
  CHECK_FAILS(open_with("basic", NULL, 0, &executable, &error),
              SHIM_FAILED_PRECONDITION,
              "'basic': library takes 1 specialization constants, 0");
  CHECK_FAILS(open_with("basic", constants, 2, &executable, &error),
              SHIM_FAILED_PRECONDITION, "2 were given");
}

static void libraries_that_cannot_run_are_refused(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_FAILS(open_kernel("old_version", &executable, &error),
              SHIM_INCOMPATIBLE, "version is 2, versions 3 to 6 can be run");
  CHECK_FAILS(open_kernel("sanitized", &executable, &error),
              SHIM_UNIMPLEMENTED, "sanitizer 1 (address)");
  CHECK_FAILS(open_kernel("features", &executable, &error), SHIM_INCOMPATIBLE,
              "features 0x2");
  CHECK_FAILS(open_kernel("many_constants", &executable, &error),
              SHIM_OUT_OF_RANGE, "'record' takes 65 constants");
  CHECK_FAILS(open_kernel("required_import", &executable, &error),
              SHIM_UNAVAILABLE, "imports 'iree_uk_mmt4d'");
  CHECK_FAILS(open_kernel("undefined", &executable, &error), SHIM_UNAVAILABLE,
              "'missing_function'");
}

static void check_earlier(const char* kernel, bool names, bool counts,
                          uint32_t local_memory) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_kernel(kernel, &executable, &error));
  CHECK_EQ(shim_cpu_executable_export_count(executable), 4);
  shim_cpu_export_t info;
  CHECK_OK(shim_cpu_executable_export_query(executable, RECORD, &info, &error));
  CHECK(strcmp(info.name, names ? "record" : "") == 0);
  CHECK_EQ(info.name_length, names ? 6 : 0);
  CHECK_EQ(info.constant_count, counts ? 2 : UINT32_MAX);
  CHECK_EQ(info.binding_count, counts ? 1 : UINT32_MAX);
  CHECK_EQ(info.workgroup_size_x, 0);
  CHECK_OK(
      shim_cpu_executable_export_query(executable, SUM_LOCAL, &info, &error));
  CHECK_EQ(info.local_memory_size, local_memory);
  CHECK_EQ(info.flags, 0);

  _Alignas(64) float a[4] = {1, 2, 3, 4};
  _Alignas(64) float b[4] = {10, 20, 30, 40};
  _Alignas(64) float out[4] = {0};
  void* pointers[3] = {a, b, out};
  size_t lengths[3] = {sizeof(a), sizeof(b), sizeof(out)};
  shim_dispatch_state_t state = {.workgroup_count_x = 4,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .binding_count = 3,
                                 .binding_ptrs = pointers,
                                 .binding_lengths = lengths};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = ADD, .state = &state, .begin = 0, .end = 4};
  CHECK_OK(shim_cpu_executable_dispatch(executable, &dispatch, &error));
  CHECK(out[0] == 11 && out[1] == 22 && out[2] == 33 && out[3] == 44);
  shim_cpu_executable_release(executable);

  CHECK_FAILS(open_with(kernel, NULL, 0, &executable, &error),
              SHIM_FAILED_PRECONDITION, "takes 1 specialization constants, 0");
}

static void a_library_of_today_may_have_no_names(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_kernel("nameless", &executable, &error));
  shim_cpu_export_t info;
  CHECK_OK(shim_cpu_executable_export_query(executable, RECORD, &info, &error));
  CHECK_EQ(info.name_length, 0);
  CHECK_EQ(info.constant_count, 2);
  CHECK_EQ(info.workgroup_size_x, 4);
  shim_cpu_executable_release(executable);
}

static void libraries_of_earlier_versions_run(void) {
  check_earlier("version_3", true, false, 8192);
  check_earlier("version_3_bare", false, false, 0);
  check_earlier("version_4", true, false, 8192);
  check_earlier("version_5", true, true, 8192);
}

static void optional_imports_may_be_missing(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_kernel("optional_import", &executable, &error));
  shim_cpu_executable_release(executable);
}

static void initializers_run_before_the_query(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_kernel("initializer", &executable, &error));
  CHECK_EQ(shim_cpu_executable_export_count(executable), 4);
  shim_cpu_executable_release(executable);
}

static void any_alignment_of_the_file_will_do(void) {
  file_t file = read_kernel("basic");
  uint8_t* bytes = malloc(file.size + 1);
  CHECK(bytes);
  memcpy(bytes + 1, file.bytes, file.size);
  const uint32_t constant = 1;
  shim_cpu_executable_params_t params = {.name = "odd",
                                         .name_length = 3,
                                         .elf = bytes + 1,
                                         .elf_size = file.size,
                                         .constants = &constant,
                                         .constant_count = 1};
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(shim_cpu_executable_create(&params, &executable, &error));
  shim_cpu_executable_release(executable);
  free(bytes);
  free(file.bytes);
}

static shim_status_t open_by_system(const char* kernel,
                                    shim_cpu_executable_t** out_executable,
                                    shim_error_t* error) {
  const uint32_t constant = 77;
  return open_by(SHIM_CPU_EXECUTABLE_SYSTEM, kernel, &constant, 1,
                 out_executable, error);
}

static void the_systems_loader_loads_libraries(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_by_system("basic", &executable, &error));
  CHECK_EQ(shim_cpu_executable_export_count(executable), 4);
  adds(executable);
  shim_cpu_executable_release(executable);
}

static uint32_t constants_of_record(const shim_cpu_executable_t* executable) {
  shim_cpu_export_t info;
  CHECK_OK(
      shim_cpu_executable_export_query(executable, RECORD, &info, &error));
  return info.constant_count;
}

// The system's loader returns an already loaded library for a known path, and
// paths contain descriptor numbers, which are reused.
static void libraries_of_the_systems_loader_are_not_mistaken(void) {
  shim_cpu_executable_t* all[4] = {NULL};
  CHECK_OK(open_by_system("basic", &all[0], &error));
  CHECK_OK(open_by_system("version_3", &all[1], &error));
  CHECK_EQ(constants_of_record(all[0]), 2);
  CHECK_EQ(constants_of_record(all[1]), UINT32_MAX);
  shim_cpu_executable_release(all[0]);
  CHECK_OK(open_by_system("version_4", &all[2], &error));
  CHECK_EQ(constants_of_record(all[2]), UINT32_MAX);
  CHECK_OK(open_by_system("basic", &all[3], &error));
  CHECK_EQ(constants_of_record(all[3]), 2);
  adds(all[1]);
  adds(all[2]);
  adds(all[3]);
  for (int i = 1; i < 4; ++i) shim_cpu_executable_release(all[i]);
}

// It keeps its path, although the descriptor is free.
static void a_library_that_stays_loaded_is_not_mistaken_for_the_next(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_by_system("stays", &executable, &error));
  CHECK_EQ(constants_of_record(executable), 2);
  shim_cpu_executable_release(executable);
  CHECK_OK(open_by_system("version_3", &executable, &error));
  CHECK_EQ(constants_of_record(executable), UINT32_MAX);
  adds(executable);
  shim_cpu_executable_release(executable);
}

static void constructors_leave_the_floating_point_mode_alone(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  CHECK_OK(open_by_system("flushes", &executable, &error));
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  shim_cpu_executable_release(executable);
}

static int lowest_descriptor(void) {
  int fd = dup(0);
  close(fd);
  return fd;
}

static void what_the_systems_loader_refuses_leaves_nothing(void) {
  shim_cpu_executable_t* executable = NULL;
  const int lowest = lowest_descriptor();
  CHECK_FAILS(open_by_system("undefined", &executable, &error),
              SHIM_INCOMPATIBLE, "the system's loader refuses it");
  CHECK_FAILS(open_by_system("old_version", &executable, &error),
              SHIM_INCOMPATIBLE, "library version is 2");
  CHECK_FAILS(open_by_system("required_import", &executable, &error),
              SHIM_UNAVAILABLE, "iree_uk_mmt4d");
  CHECK_EQ(lowest_descriptor(), lowest);
  const uint32_t constant = 77;
  const char text[] =
      "this is no library, whatever its name may be, and longer than a header.";
  const shim_cpu_executable_params_t params = {
      .name = "text",
      .name_length = 4,
      .elf = text,
      .elf_size = sizeof(text),
      .constants = &constant,
      .constant_count = 1,
      .flags = SHIM_CPU_EXECUTABLE_SYSTEM};
  CHECK_FAILS(shim_cpu_executable_create(&params, &executable, &error),
              SHIM_INVALID_ARGUMENT, "executable 'text': malformed ELF");
  CHECK_FAILS(open_by_system("executable_stack", &executable, &error),
              SHIM_PERMISSION_DENIED, "executable stacks");
  CHECK_EQ(lowest_descriptor(), lowest);
}

typedef struct slice_t {
  const shim_cpu_executable_t* executable;
  grid_t* grid;
  uint64_t begin;
} slice_t;

static void* run_slice(void* argument) {
  slice_t* slice = argument;
  shim_cpu_dispatch_t dispatch = {.ordinal = RECORD,
                                  .processor_id = (uint32_t)slice->begin,
                                  .state = &slice->grid->state,
                                  .begin = slice->begin,
                                  .end = slice->begin + 10};
  CHECK_OK(shim_cpu_executable_dispatch(slice->executable, &dispatch, &error));
  return NULL;
}

static void slices_of_one_dispatch_run_at_the_same_time(void) {
  shim_cpu_executable_t* executable = basic();
  for (int round = 0; round < 50; ++round) {
    grid_t grid;
    prepare(&grid);
    pthread_t threads[3];
    slice_t slices[3];
    for (uint64_t i = 0; i < 3; ++i) {
      slices[i] = (slice_t){executable, &grid, i * 10};
      CHECK_EQ(pthread_create(&threads[i], NULL, run_slice, &slices[i]), 0);
    }
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < 30; ++i) {
      CHECK_EQ(grid.records[i][5], i / 10 * 10);
    }
  }
  shim_cpu_executable_release(executable);
}

static void release_of_nothing_is_harmless(void) {
  shim_cpu_executable_release(NULL);
}

int main(void) {
  RUN(exports_are_described);
  RUN(adds_four_floats);
  RUN(denormals_are_zero_in_kernels_only);
  RUN(every_range_runs_exactly_its_workgroups);
  RUN(ranges_outside_of_the_grid_are_refused);
  RUN(grids_without_workgroups_run_nothing);
  RUN(huge_grids_do_not_wrap);
  RUN(a_failing_kernel_names_export_workgroup_and_result);
  RUN(local_memory_must_be_given);
  RUN(too_few_constants_or_bindings_are_refused);
  RUN(constant_count_must_match);
  RUN(libraries_that_cannot_run_are_refused);
  RUN(a_library_of_today_may_have_no_names);
  RUN(libraries_of_earlier_versions_run);
  RUN(optional_imports_may_be_missing);
  RUN(initializers_run_before_the_query);
  RUN(any_alignment_of_the_file_will_do);
  if (shim_capabilities() & SHIM_CAPABILITY_SYSTEM_LIBRARIES) {
    RUN(the_systems_loader_loads_libraries);
    RUN(libraries_of_the_systems_loader_are_not_mistaken);
    RUN(a_library_that_stays_loaded_is_not_mistaken_for_the_next);
    RUN(constructors_leave_the_floating_point_mode_alone);
    RUN(what_the_systems_loader_refuses_leaves_nothing);
  }
  RUN(slices_of_one_dispatch_run_at_the_same_time);
  RUN(release_of_nothing_is_harmless);
  return 0;
}
