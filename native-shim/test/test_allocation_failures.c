// Each allocation from the system and the driver fails once, in each entry
// point of the shim: the call fails with RESOURCE_EXHAUSTED, leaks and changes
// nothing, and succeeds when retried. An entry point of the headers that is not
// called here fails the test.
#include <ctype.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "allocation_failures.h"
#include "failing.h"
#include "shim_file.h"
#include "test.h"

static char directory[] = "/tmp/iree4j-test-allocation-XXXXXX";
static char path[64];

//===--------------------------------------------------------------------===//
// Status, thread, processor
//===--------------------------------------------------------------------===//

static void what_only_tells_asks_for_nothing(void) {
  shim_error_t error;
  CHECK_EQ(CALM(shim_abi_version()), SHIM_ABI_VERSION);
  CHECK(CALM(shim_capabilities()) != 0);
  CHECK(CALM(shim_status_name(SHIM_OK)));
  CHECK_EQ(CALM(shim_error_set(&error, SHIM_INTERNAL, 1, "%d", 2)),
           SHIM_INTERNAL);
  uint64_t mask[SHIM_MAX_PROCESSORS / 64];
  const size_t words = sizeof(mask) / sizeof(mask[0]);
  CHECK_EQ(CALM(shim_thread_affinity(mask, words, &error)), SHIM_OK);
  CHECK_EQ(CALM(shim_thread_set_affinity(mask, words, &error)), SHIM_OK);
  CHECK_EQ(CALM(shim_thread_flushes_denormals()), 0);
  CHECK(CALM(shim_cpu_architecture()));
  uint64_t fields[SHIM_CPU_FIELD_COUNT];
  CALM_VOID(shim_cpu_features_query(fields));
  CHECK_EQ(CALM(shim_cpu_feature_lookup("none", 4)), -1);
}

//===--------------------------------------------------------------------===//
// Events
//===--------------------------------------------------------------------===//

static int32_t event(void) {
  int32_t fd = 0;
  CHECK_OK(shim_event_create(&fd, &error));
  return fd;
}

static shim_status_t an_event_is_created(void) {
  int32_t fd = 7;
  shim_status_t status = FAILING(shim_event_create(&fd, failing_error));
  CHECK_EQ(fd == 0, status != SHIM_OK);
  if (fd) CALM_VOID(shim_event_close(fd));
  return status;
}

static shim_status_t an_event_is_duplicated(void) {
  int32_t fd = event();
  int32_t copy = 7;
  shim_status_t status =
      FAILING(shim_event_duplicate(fd, &copy, failing_error));
  CHECK_EQ(copy == 0, status != SHIM_OK);
  if (copy) shim_event_close(copy);
  shim_event_close(fd);
  return status;
}

static shim_status_t a_poller_is_created(void) {
  int32_t poller = 7;
  shim_status_t status = FAILING(shim_poller_create(&poller, failing_error));
  CHECK_EQ(poller == 0, status != SHIM_OK);
  if (poller) CALM_VOID(shim_poller_release(poller));
  return status;
}

// Waits for a signalled event; a failure leaves the set unchanged.
static shim_status_t is_waited_for(bool again) {
  int32_t fd = event();
  int32_t poller = 0;
  CHECK_OK(shim_poller_create(&poller, &error));
  CHECK_EQ(CALM(shim_event_signal(fd, 3, failing_error)), SHIM_OK);
  shim_status_t status =
      again ? FAILING(shim_poller_keep(poller, fd, 7, failing_error))
            : FAILING(shim_poller_add(poller, fd, 7, failing_error));
  shim_completion_t report = {0};
  uint32_t count = 0;
  CHECK_EQ(CALM(shim_poller_wait(poller, 0, 1, &report, &count, failing_error)),
           SHIM_OK);
  CHECK_EQ(count, status == SHIM_OK);
  CALM_VOID(shim_poller_remove(poller, fd));
  uint64_t taken = 0;
  int32_t code = 7;
  CHECK_EQ(CALM(shim_event_outcome(fd, &code, failing_error)), SHIM_OK);
  CHECK_EQ(CALM(shim_event_take(fd, &taken, failing_error)), SHIM_OK);
  CHECK_EQ(taken, 3);
  shim_poller_release(poller);
  shim_event_close(fd);
  return status;
}

static shim_status_t an_event_is_waited_for(void) {
  return is_waited_for(false);
}

static shim_status_t an_event_is_waited_for_again(void) {
  return is_waited_for(true);
}

//===--------------------------------------------------------------------===//
// Files
//===--------------------------------------------------------------------===//

static shim_status_t a_file_is_opened(void) {
  int32_t fd = 7;
  shim_status_t status = FAILING(
      shim_file_open(path, strlen(path), SHIM_FILE_READ, &fd, failing_error));
  CHECK_EQ(fd == 0, status != SHIM_OK);
  if (status) return status;
  int64_t length = 7;
  CHECK_EQ(CALM(shim_file_length(fd, &length, failing_error)), SHIM_OK);
  CHECK_EQ(length, 0);
  shim_event_close(fd);
  return status;
}

// Without io_uring, creating a ring reports that after its allocations.
static bool has_uring(void) {
  shim_file_ring_t* ring = NULL;
  shim_error_t error = {0};
  shim_status_t status = shim_file_ring_create(2, &ring, &error);
  shim_file_ring_release(ring);
  if (status == SHIM_OK) return true;
  CHECK_EQ(status, SHIM_UNAVAILABLE);
  fprintf(stderr, "SKIPPED transfers: %s\n", error.message);
  return false;
}

static shim_status_t sealed_memory_is_created(void) {
  shim_sealed_t* sealed = (shim_sealed_t*)path;
  shim_status_t status =
      FAILING(shim_sealed_create(10000, &sealed, failing_error));
  CHECK_EQ(sealed == NULL, status != SHIM_OK);
  if (sealed) {
    CHECK(CALM(shim_sealed_bytes(sealed) != NULL));
    CALM_VOID(shim_sealed_release(sealed));
  }
  return status;
}

static shim_status_t a_slab_is_created(void) {
  CHECK(CALM(shim_page_size()) >= 4096);
  shim_slab_t* slab = (shim_slab_t*)path;
  shim_status_t status =
      FAILING(shim_slab_create(3 << 20, 64, &slab, failing_error));
  CHECK_EQ(slab == NULL, status != SHIM_OK);
  if (slab) {
    CHECK(CALM(shim_slab_bytes(slab) != NULL));
    CALM_VOID(shim_slab_release(slab));
  }
  return status;
}

static shim_status_t a_file_is_mapped(void) {
  FILE* file = tmpfile();
  CHECK(file != NULL);
  CHECK(fputs("module", file) >= 0 && fflush(file) == 0);
  shim_sealed_t* sealed = (shim_sealed_t*)path;
  shim_status_t status =
      FAILING(shim_sealed_map(fileno(file), &sealed, failing_error));
  CHECK_EQ(sealed == NULL, status != SHIM_OK);
  if (sealed) {
    CHECK_EQ(CALM(shim_sealed_size(sealed)), 6);
    CALM_VOID(shim_sealed_release(sealed));
  }
  CHECK_EQ(fclose(file), 0);
  return status;
}

static shim_status_t memory_is_sealed(void) {
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_create(10000, &sealed, &error));
  shim_status_t status = FAILING(shim_sealed_seal(sealed, failing_error));
  shim_sealed_release(sealed);
  return status;
}

static shim_status_t a_view_is_created(void) {
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_create(10000, &sealed, &error));
  shim_view_t* view = (shim_view_t*)path;
  shim_status_t status =
      FAILING(shim_view_create(sealed, 0, 10000, &view, failing_error));
  CHECK_EQ(view == NULL, status != SHIM_OK);
  shim_sealed_release(sealed);
  if (view) {
    CHECK_EQ(CALM(shim_view_is_written(view)), 0);
    CHECK(CALM(shim_view_bytes(view) != NULL));
    CALM_VOID(shim_view_release(view));
  }
  return status;
}

static shim_status_t a_view_is_restored(void) {
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_create(10000, &sealed, &error));
  shim_view_t* view = NULL;
  CHECK_OK(shim_view_create(sealed, 0, 10000, &view, &error));
  *(volatile uint8_t*)shim_view_bytes(view) = 1;
  shim_status_t status = FAILING(shim_view_restore(view, failing_error));
  shim_view_release(view);
  shim_sealed_release(sealed);
  return status;
}

static shim_status_t a_file_ring_is_created(void) {
  shim_file_ring_t* ring = (shim_file_ring_t*)1;
  shim_status_t status =
      FAILING(shim_file_ring_create(2, &ring, failing_error));
  CHECK_EQ(ring == NULL, status != SHIM_OK);
  CALM_VOID(shim_file_ring_release(ring));
  return status == SHIM_UNAVAILABLE ? SHIM_OK : status;
}

static void transfers_ask_for_nothing(void) {
  shim_file_ring_t* ring = NULL;
  CHECK_OK(shim_file_ring_create(2, &ring, &error));
  int32_t fd = 0;
  CHECK_OK(
      shim_file_open(path, strlen(path), SHIM_FILE_READ, &fd, &error));
  char byte = 0;
  const shim_file_operation_t operation = {.token = 5,
                                           .address = (uintptr_t)&byte,
                                           .length = 1,
                                           .fd = fd,
                                           .kind = SHIM_FILE_OPERATION_READ};
  uint32_t count = 0;
  CHECK_EQ(
      CALM(shim_file_ring_submit(ring, &operation, 1, &count, failing_error)),
      SHIM_OK);
  struct pollfd readable = {.fd = (int)CALM(shim_file_ring_fd(ring)),
                            .events = POLLIN};
  CHECK_EQ(poll(&readable, 1, 30000), 1);
  shim_completion_t completion = {0};
  CHECK_EQ(CALM(shim_file_ring_poll(ring, 1, &completion)), 1);
  CHECK_EQ(completion.token, 5);
  shim_event_close(fd);
  shim_file_ring_release(ring);
}

//===--------------------------------------------------------------------===//
// CPU executables
//===--------------------------------------------------------------------===//

static file_t kernel;

// With specialization constants, imports and exports, each with its own memory.
static shim_status_t executable_is_created(uint32_t flags) {
  const uint32_t constant = 77;
  const shim_cpu_executable_params_t params = {.name = "basic",
                                               .name_length = 5,
                                               .elf = kernel.bytes,
                                               .elf_size = kernel.size,
                                               .constants = &constant,
                                               .constant_count = 1,
                                               .flags = flags};
  shim_cpu_executable_t* executable = (shim_cpu_executable_t*)1;
  shim_status_t status =
      FAILING(shim_cpu_executable_create(&params, &executable, failing_error));
  CHECK_EQ(executable == NULL, status != SHIM_OK);
  if (status) return status;
  CHECK_EQ(CALM(shim_cpu_executable_export_count(executable)), 4);
  shim_cpu_export_t info;
  CHECK_EQ(CALM(shim_cpu_executable_export_query(executable, 0, &info,
                                                 failing_error)),
           SHIM_OK);
  _Alignas(64) float numbers[4] = {1, 2, 3, 4};
  _Alignas(64) float sums[4] = {0};
  void* pointers[3] = {numbers, numbers, sums};
  size_t lengths[3] = {sizeof(numbers), sizeof(numbers), sizeof(sums)};
  const shim_dispatch_state_t state = {.workgroup_count_x = 4,
                                       .workgroup_count_y = 1,
                                       .workgroup_count_z = 1,
                                       .binding_count = 3,
                                       .binding_ptrs = pointers,
                                       .binding_lengths = lengths};
  const shim_cpu_dispatch_t dispatch = {.state = &state, .end = 4};
  CHECK_EQ(
      CALM(shim_cpu_executable_dispatch(executable, &dispatch, failing_error)),
      SHIM_OK);
  CHECK(sums[3] == 8);
  CALM_VOID(shim_cpu_executable_release(executable));
  return status;
}

static shim_status_t an_executable_is_created(void) {
  return executable_is_created(0);
}

static shim_status_t an_executable_is_created_by_the_system(void) {
  return executable_is_created(SHIM_CPU_EXECUTABLE_SYSTEM);
}

//===--------------------------------------------------------------------===//
// All of them
//===--------------------------------------------------------------------===//

// Finds the functions that a header declares, at the beginning of a line after
// their type, and counts those that were not called.
static uint32_t check_header(const char* header, uint32_t* missing) {
  char name[512];
  snprintf(name, sizeof(name), "%s/%s", SHIM_INCLUDE_DIR, header);
  FILE* stream = fopen(name, "r");
  if (!stream) fprintf(stderr, "no header '%s'\n", name);
  CHECK(stream);
  uint32_t found = 0;
  char line[256];
  while (fgets(line, sizeof(line), stream)) {
    char* function = strstr(line, "shim_");
    while (function && function[strcspn(function, " (*")] != '(') {
      function = strstr(function + 1, "shim_");
    }
    if (!function || !isalpha((unsigned char)line[0])) continue;
    if (function > line && isalnum((unsigned char)function[-1])) continue;
    if (strncmp(line, "typedef", 7) == 0) continue;
    function[strcspn(function, "(")] = 0;
    ++found;
    if (!failing_was_called(function)) {
      fprintf(stderr, "%s of %s was not called\n", function, header);
      ++*missing;
    }
  }
  fclose(stream);
  return found;
}

int main(void) {
  CHECK(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/f", directory);
  FILE* file = fopen(path, "w");
  CHECK(file);
  fclose(file);
  kernel = read_kernel("optional_import");

  RUN(what_only_tells_asks_for_nothing);
  FAILING_EACH(an_event_is_created);
  FAILING_EACH(an_event_is_duplicated);
  FAILING_EACH(a_poller_is_created);
  FAILING_EACH(an_event_is_waited_for);
  FAILING_EACH(an_event_is_waited_for_again);
  FAILING_EACH(a_file_is_opened);
  FAILING_EACH(a_file_ring_is_created);
  FAILING_EACH(sealed_memory_is_created);
  FAILING_EACH(a_slab_is_created);
  FAILING_EACH(a_file_is_mapped);
  FAILING_EACH(memory_is_sealed);
  FAILING_EACH(a_view_is_created);
  FAILING_EACH(a_view_is_restored);
  if (has_uring()) {
    RUN(transfers_ask_for_nothing);
  } else {
    failing_leave_out("shim_file_ring_submit");
    failing_leave_out("shim_file_ring_fd");
    failing_leave_out("shim_file_ring_poll");
  }
  FAILING_EACH(an_executable_is_created);
  FAILING_EACH(an_executable_is_created_by_the_system);
  vulkan_allocations_fail();
  gpu_allocations_fail();
  collective_allocations_fail();

  unlink(path);
  rmdir(directory);
  free(kernel.bytes);
  CHECK_EQ(failing_blocks, 0);
  uint32_t missing = 0;
  uint32_t entry_points = check_header("shim.h", &missing) +
                          check_header("shim_file.h", &missing) +
                          check_header("shim_gpu.h", &missing) +
                          check_header("shim_vulkan.h", &missing);
  fprintf(stderr, "%u entry points, %u of them can fail for lack of memory, "
                  "%u failures\n",
          entry_points, failing_functions(), failing_total);
  CHECK_EQ(missing, 0);
  CHECK(entry_points > 80);
  return 0;
}
