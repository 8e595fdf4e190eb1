// Failures in the collectives of shim_gpu.h, in a group of one participant on a
// fake.
#include <stdlib.h>
#include <string.h>

#include "allocation_failures.h"
#include "failing.h"
#include "shim_gpu.h"
#include "test.h"

static int32_t kind;
static const char* library;
static shim_gpu_api_t* api;
static shim_gpu_device_t* gpu;
static uint64_t stream, memory;
static shim_gpu_collectives_t* collectives;
static char id[SHIM_GPU_UNIQUE_ID_SIZE];

static shim_status_t a_library_of_collectives_is_opened(void) {
  shim_gpu_collectives_t* opened = (shim_gpu_collectives_t*)1;
  shim_status_t status = FAILING(
      shim_gpu_collectives_open(kind, library, &opened, failing_error));
  CHECK_EQ(opened == NULL, status != SHIM_OK);
  if (!status) CALM_VOID(shim_gpu_collectives_close(opened));
  return status;
}

static shim_status_t an_id_is_made(void) {
  return FAILING(shim_gpu_unique_id(collectives, id, failing_error));
}

static uint64_t joined(void) {
  uint64_t comm = 0;
  CHECK_OK(shim_gpu_unique_id(collectives, id, &error));
  CHECK_OK(shim_gpu_comm_join(collectives, gpu, id, 0, 1, &comm, &error));
  int32_t pending = 1;
  while (pending) {
    CHECK_OK(shim_gpu_comm_state(collectives, gpu, comm, &pending, &error));
  }
  return comm;
}

static void end(uint64_t comm) {
  if (comm) shim_gpu_comm_end(collectives, gpu, comm, 1);
}

static shim_status_t a_group_is_joined(void) {
  CHECK_OK(shim_gpu_unique_id(collectives, id, &error));
  uint64_t comm = 1;
  shim_status_t status = FAILING(
      shim_gpu_comm_join(collectives, gpu, id, 0, 1, &comm, failing_error));
  CHECK_EQ(comm == 0, status != SHIM_OK);
  end(comm);
  return status;
}

static shim_status_t a_state_is_asked_for(void) {
  uint64_t comm = joined();
  int32_t pending = 1;
  shim_status_t status = FAILING(
      shim_gpu_comm_state(collectives, gpu, comm, &pending, failing_error));
  CHECK_EQ(pending, 0);
  end(comm);
  return status;
}

static shim_status_t a_group_is_left(void) {
  uint64_t comm = joined();
  shim_status_t status =
      FAILING(shim_gpu_comm_finalize(collectives, gpu, comm, failing_error));
  end(comm);
  return status;
}

static shim_status_t a_participant_ends(void) {
  uint64_t comm = joined();
  CHECK_OK(shim_gpu_comm_finalize(collectives, gpu, comm, &error));
  FAILING_VOID(shim_gpu_comm_end(collectives, gpu, comm, 0));
  return FAILING_HAS_NO_STATUS;
}

static shim_status_t a_participant_is_aborted(void) {
  uint64_t comm = joined();
  FAILING_VOID(shim_gpu_comm_end(collectives, gpu, comm, 1));
  return FAILING_HAS_NO_STATUS;
}

static shim_status_t collectives_are_run(void) {
  shim_gpu_collective_t calls[8];
  uint64_t comm = joined();
  for (uint32_t i = 0; i < 8; ++i) {
    calls[i] = (shim_gpu_collective_t){.device = (uintptr_t)gpu,
                                       .comm = comm,
                                       .stream = stream,
                                       .operation = i,
                                       .type = 2,
                                       .elements = 1,
                                       .root = i == SHIM_GPU_ALL_TO_ALL,
                                       .part_bytes = 4,
                                       .source = memory,
                                       .target = memory + 4};
  }
  shim_status_t status = FAILING(
      shim_gpu_collectives_run(collectives, calls, 8, failing_error));
  end(comm);
  return status;
}

static void on_a_library(int32_t of_kind, const char* path) {
  kind = of_kind;
  library = path;
  setenv(kind == SHIM_GPU_HIP ? "FAKE_HIP" : "FAKE_CUDA", "", 1);
  CHECK_OK(shim_gpu_open(kind, library, &api, &error));
  FAILING_EACH(a_library_of_collectives_is_opened);
  CHECK_OK(shim_gpu_device_open(api, 0, &gpu, &error));
  CHECK_OK(shim_gpu_stream_create(gpu, &stream, &error));
  CHECK_OK(shim_gpu_memory_allocate(gpu, 8, 0, &memory, &error));
  CHECK_OK(shim_gpu_collectives_open(kind, library, &collectives, &error));
  failing_gpu_device = gpu;
  FAILING_EACH(an_id_is_made);
  FAILING_EACH(a_group_is_joined);
  FAILING_EACH(a_state_is_asked_for);
  FAILING_EACH(a_group_is_left);
  FAILING_EACH(collectives_are_run);
  failing_gpu_enters = false;
  FAILING_EACH(a_participant_ends);
  FAILING_EACH(a_participant_is_aborted);
  failing_gpu_enters = true;
  failing_gpu_device = NULL;
  CHECK_OK(shim_gpu_memory_free(gpu, memory, 0, &error));
  shim_gpu_stream_release(gpu, stream);
  shim_gpu_device_release(gpu);
  shim_gpu_collectives_close(collectives);
  shim_gpu_close(api);
}

void collective_allocations_fail(void) {
  on_a_library(SHIM_GPU_CUDA, FAKE_CUDA_LIBRARY);
  on_a_library(SHIM_GPU_HIP, FAKE_HIP_LIBRARY);
}
