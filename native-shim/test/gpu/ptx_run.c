// Launches: the blocks of a grid, one after the other, on a few threads.
#include "ptx_run.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_WORKERS = 4,
  MAX_THREADS = 1024,
  ALIGNMENT = 64,
  SHARED_ALIGNMENT = 1024,
};
#define SENSIBLE_STEPS ((uint64_t)1 << 42)

typedef struct launch_t {
  const ptx_function_t* function;
  const ptx_memory_t* memory;
  uint32_t grid[3], block[3];
  uint32_t dynamic_bytes, dynamic_at, shared_bytes;
  uint8_t* params;
  uint64_t block_count;
  uint64_t next;  // block, atomic
  // What went wrong first, with the block's number; under |lock|.
  pthread_mutex_t lock;
  int status;
  uint32_t line;
  uint64_t address, steps;
} launch_t;

//===--------------------------------------------------------------------===//
// Registers that a kernel finds filled
//===--------------------------------------------------------------------===//

static void fill(ptx_warp_t* w, int place, uint32_t value) {
  uint32_t* lanes = PTX_REG(uint32_t, PTX_SPECIAL(place));
  for (int i = 0; i < PTX_LANES; ++i) lanes[i] = value;
}

static void fill_constant(ptx_warp_t* w, const ptx_constant_t* constant,
                          uint32_t dynamic_at) {
  uint64_t value = constant->value + (constant->dynamic ? dynamic_at : 0);
  uint32_t bytes = ptx_width_bytes(constant->width) / PTX_LANES;
  uint8_t* at = PTX_REG(uint8_t, constant->offset);
  if (constant->width == 'p') {
    memcpy(at, &value, 4);
    return;
  }
  for (uint32_t i = 0; i < PTX_LANES; ++i) {
    memcpy(at + (size_t)i * bytes, &value, bytes);
  }
}

static void prepare_warp(const launch_t* launch, ptx_warp_t* w,
                         uint32_t index) {
  const ptx_function_t* function = launch->function;
  const uint32_t* size = launch->block;
  uint32_t threads = size[0] * size[1] * size[2];
  for (uint32_t i = 0; i < PTX_LANES; ++i) {
    uint32_t thread = index * PTX_LANES + i;
    uint32_t* at = PTX_REG(uint32_t, 0);
    if (thread < threads) w->existing |= 1u << i;
    at[(PTX_TID + 0) * PTX_LANES + i] = thread % size[0];
    at[(PTX_TID + 1) * PTX_LANES + i] = thread / size[0] % size[1];
    at[(PTX_TID + 2) * PTX_LANES + i] = thread / size[0] / size[1];
    at[PTX_LANEID * PTX_LANES + i] = i;
    at[PTX_LANEMASK_EQ * PTX_LANES + i] = 1u << i;
    at[PTX_LANEMASK_LT * PTX_LANES + i] = (1u << i) - 1;
    at[PTX_LANEMASK_LE * PTX_LANES + i] = (1u << i) | ((1u << i) - 1);
    at[PTX_LANEMASK_GE * PTX_LANES + i] = ~((1u << i) - 1);
    at[PTX_LANEMASK_GT * PTX_LANES + i] = ~((1u << i) | ((1u << i) - 1));
  }
  for (int d = 0; d < 3; ++d) {
    fill(w, PTX_NTID + d, size[d]);
    fill(w, PTX_NCTAID + d, launch->grid[d]);
  }
  fill(w, PTX_WARPID, index);
  fill(w, PTX_NWARPID, (threads + PTX_LANES - 1) / PTX_LANES);
  fill(w, PTX_DYNAMIC_SMEM, launch->dynamic_bytes);
  fill(w, PTX_TOTAL_SMEM, launch->shared_bytes);
  fill(w, PTX_ONES, 1);
  for (uint32_t i = 0; i < function->constant_count; ++i) {
    fill_constant(w, &function->constants[i], launch->dynamic_at);
  }
}

//===--------------------------------------------------------------------===//
// Blocks
//===--------------------------------------------------------------------===//

static void* allocate(size_t size, size_t align) {
  size = (size + align) / align * align;
  void* memory = aligned_alloc(align, size);
  if (memory) memset(memory, 0, size);
  return memory;
}

static void free_block(ptx_block_t* block) {
  for (uint32_t i = 0; block->warps && i < block->warp_count; ++i) {
    ptx_warp_t* w = &block->warps[i];
    if (w->file) free(w->file - block->function->constant_bytes);
    free(w->local);
  }
  free(block->warps);
  free(block->shared);
}

static bool prepare_block(const launch_t* launch, ptx_block_t* block) {
  const ptx_function_t* function = launch->function;
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  *block = (ptx_block_t){
      .function = function,
      .memory = launch->memory,
      .params = launch->params,
      .shared_bytes = launch->shared_bytes,
      .warp_count = (threads + PTX_LANES - 1) / PTX_LANES,
      .max_steps = launch->memory->max_steps ? launch->memory->max_steps
                                             : SENSIBLE_STEPS,
  };
  block->shared = allocate(block->shared_bytes, SHARED_ALIGNMENT);
  block->warps = calloc(block->warp_count, sizeof(*block->warps));
  if (!block->shared || !block->warps) return false;
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    ptx_warp_t* w = &block->warps[i];
    w->block = block;
    uint8_t* file =
        allocate(function->constant_bytes + function->file_bytes, ALIGNMENT);
    if (!file) return false;
    w->file = file + function->constant_bytes;
    w->local_bytes = (function->local_bytes + 15) / 16 * 16;
    w->local = allocate((size_t)w->local_bytes * PTX_LANES, ALIGNMENT);
    if (!w->local) return false;
    prepare_warp(launch, w, i);
  }
  return true;
}

static void run_block(launch_t* launch, ptx_block_t* block, uint64_t index) {
  uint32_t id[3] = {(uint32_t)(index % launch->grid[0]),
                    (uint32_t)(index / launch->grid[0] % launch->grid[1]),
                    (uint32_t)(index / launch->grid[0] / launch->grid[1])};
  // Memory that was never stored to holds no number.
  memset(block->shared, 0xFF, block->shared_bytes);
  memset(block->arrived, 0, sizeof(block->arrived));
  memset(block->arrivals, 0, sizeof(block->arrivals));
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    ptx_warp_t* w = &block->warps[i];
    for (int d = 0; d < 3; ++d) fill(w, PTX_CTAID + d, id[d]);
    w->alive = w->existing;
    w->at_barrier = w->collecting = 0;
    w->highest = false;
    memset(w->pcs, 0, sizeof(w->pcs));
  }
  while (block->status == PTX_OK) {
    bool more = false, alive = false;
    for (uint32_t i = 0; i < block->warp_count; ++i) {
      ptx_warp_t* w = &block->warps[i];
      if (w->alive) more |= ptx_run_warp(w);
      alive |= w->alive != 0;
    }
    if (!alive) return;
    if (!ptx_release_barriers(block) && !more) {
      ptx_fail(&block->warps[0], NULL, PTX_DEADLOCK, 0);
    }
  }
}

//===--------------------------------------------------------------------===//
// Launches
//===--------------------------------------------------------------------===//

static void report(launch_t* launch, int status, uint32_t line,
                   uint64_t address) {
  pthread_mutex_lock(&launch->lock);
  if (launch->status == PTX_OK) {
    launch->status = status;
    launch->line = line;
    launch->address = address;
  }
  pthread_mutex_unlock(&launch->lock);
  __atomic_store_n(&launch->next, launch->block_count, __ATOMIC_RELAXED);
}

static void* work(void* argument) {
  launch_t* launch = argument;
  ptx_block_t block;
  if (!prepare_block(launch, &block)) {
    report(launch, PTX_OUT_OF_MEMORY, 0, 0);
  }
  for (;;) {
    uint64_t index = __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED);
    if (index >= launch->block_count) break;
    block.steps = __atomic_load_n(&launch->steps, __ATOMIC_RELAXED);
    uint64_t before = block.steps;
    run_block(launch, &block, index);
    __atomic_fetch_add(&launch->steps, block.steps - before, __ATOMIC_RELAXED);
    if (block.status != PTX_OK) {
      report(launch, block.status, block.line, block.address);
      break;
    }
  }
  free_block(&block);
  return NULL;
}

// The other workers' signals are those of the threads that know them.
static void work_together(launch_t* launch) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t workers[MAX_WORKERS];
  int count = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (count + 1 < processors && count < MAX_WORKERS &&
         (uint64_t)count + 1 < launch->block_count &&
         pthread_create(&workers[count], NULL, work, launch) == 0) {
    ++count;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  work(launch);
  for (int i = 0; i < count; ++i) pthread_join(workers[i], NULL);
}

static const char* check_sizes(launch_t* launch) {
  const ptx_function_t* function = launch->function;
  static const uint32_t max_grid[] = {INT32_MAX, 65535, 65535};
  static const uint32_t max_block[] = {MAX_THREADS, MAX_THREADS, 64};
  for (int d = 0; d < 3; ++d) {
    if (launch->grid[d] == 0 || launch->grid[d] > max_grid[d]) {
      return "the grid is empty or too large";
    }
    if (launch->block[d] == 0 || launch->block[d] > max_block[d]) {
      return "the block is empty or too large";
    }
  }
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  if (threads > MAX_THREADS || threads > function->max_threads) {
    return "the block has more threads than the kernel allows";
  }
  uint32_t align = function->dynamic_align ? function->dynamic_align : 16;
  launch->dynamic_at = (function->shared_bytes + align - 1) / align * align;
  if (launch->dynamic_bytes > PTX_MAX_SHARED ||
      launch->dynamic_at + launch->dynamic_bytes > PTX_MAX_SHARED) {
    return "more shared memory than there is";
  }
  launch->shared_bytes = launch->dynamic_at + launch->dynamic_bytes;
  launch->block_count =
      (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  return NULL;
}

static void describe(const launch_t* launch, char* error, size_t size) {
  static const char* const names[] = {"no error",
                                      "an operand is invalid",
                                      "illegal address",
                                      "misaligned",
                                      "trap",
                                      "more steps than allowed",
                                      "stopped",
                                      "every thread waits",
                                      "no memory"};
  if (!error || !size) return;
  snprintf(error, size, "kernel '%s', line %u: %s (0x%llx)",
           launch->function->name, launch->line, names[launch->status],
           (unsigned long long)launch->address);
}

int ptx_launch(const ptx_function_t* function, const uint32_t grid[3],
               const uint32_t block[3], uint32_t dynamic_shared_bytes,
               void** params, const ptx_memory_t* memory, char* error,
               size_t error_size) {
  launch_t launch = {.function = function,
                     .memory = memory,
                     .dynamic_bytes = dynamic_shared_bytes};
  memcpy(launch.grid, grid, sizeof(launch.grid));
  memcpy(launch.block, block, sizeof(launch.block));
  if (error && error_size) error[0] = '\0';
  const char* wrong = check_sizes(&launch);
  if (wrong) {
    if (error && error_size) {
      snprintf(error, error_size, "kernel '%s': %s", function->name, wrong);
    }
    return PTX_INVALID;
  }
  launch.params = allocate(function->param_bytes, ALIGNMENT);
  if (!launch.params) return PTX_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < function->param_count; ++i) {
    memcpy(launch.params + function->params[i].offset, params[i],
           function->params[i].size);
  }
  pthread_mutex_init(&launch.lock, NULL);
  work_together(&launch);
  pthread_mutex_destroy(&launch.lock);
  free(launch.params);
  if (launch.status != PTX_OK) describe(&launch, error, error_size);
  return launch.status;
}
