// Launches of the fakes: their checks, their parameters, and their memory while
// they run.
#include <stdlib.h>
#include <string.h>

#include "fake_gpu.h"
#include "ptx.h"

// Never changes once made.
typedef struct fake_launch_t {
  int references;
  struct fake_program_t* program;
  const ptx_function_t* kernel;
  char name[200];
  uint32_t grid[3], block[3], shared_bytes;
  uint8_t* bytes;  // of parameters
  size_t byte_count;
  void** params;  // into |bytes|
} fake_launch_t;

fake_launch_t* fake_retain_launch(fake_launch_t* launch) {
  ++launch->references;
  return launch;
}

void fake_release_launch(fake_launch_t* launch) {
  if (!launch || --launch->references) return;
  fake_release_program(launch->program);
  free(launch->bytes);
  free(launch->params);
  free(launch);
}

const struct fake_program_t* fake_program_of(const fake_launch_t* launch) {
  return launch->program;
}

// What parameters point to counts as used.
void fake_use_launch(fake_op_t* op, const fake_launch_t* launch) {
  for (size_t at = 0; at + 8 <= launch->byte_count; at += 8) {
    uint64_t value = 0;
    memcpy(&value, launch->bytes + at, sizeof(value));
    fake_use(op, value, 1);
  }
}

//===--------------------------------------------------------------------===//
// Running
//===--------------------------------------------------------------------===//

enum { MAX_RANGES = 512 };

// The memory that a running kernel has touched. Ranges are added with the lock
// held and read without it.
typedef struct access_t {
  sgpu_context_t context;
  uint32_t count;
  fake_range_t* ranges[MAX_RANGES];
} access_t;

static bool holds(const fake_range_t* range, uint64_t address, uint64_t size) {
  uint64_t offset = address - range->address;
  return offset < range->size && size <= range->size - offset;
}

// A range that holds the bytes and may be written if they are.
static bool is_open(access_t* access, uint64_t address, uint64_t size,
                    bool write) {
  uint32_t count = __atomic_load_n(&access->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    if (holds(access->ranges[i], address, size)) {
      return !write || !access->ranges[i]->read_only;
    }
  }
  return false;
}

static bool check(void* user, uint64_t address, uint64_t size, bool write) {
  access_t* access = user;
  if (is_open(access, address, size, write)) return true;
  pthread_mutex_lock(&fake_lock);
  bool allowed = is_open(access, address, size, write);
  fake_range_t* range = allowed ? NULL : fake_find(address, size);
  if (range && fake_reaches(access->context, range) &&
      (!write || !range->read_only)) {
    if (access->count == MAX_RANGES) {
      fake_complain("a kernel uses more than %d allocations", MAX_RANGES);
    } else {
      fake_open(range);
      access->ranges[access->count] = range;
      __atomic_store_n(&access->count, access->count + 1, __ATOMIC_RELEASE);
      allowed = true;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return allowed;
}

static int code_of(int result) {
  switch (result) {
    case PTX_OK:
      return SGPU_SUCCESS;
    case PTX_ILLEGAL_ADDRESS:
      return SGPU_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED:
      return FAKE_PICK(FAKE_MISALIGNED_ADDRESS, SGPU_LAUNCH_FAILED);
    case PTX_TRAP:
      return FAKE_PICK(FAKE_ILLEGAL_INSTRUCTION, SGPU_LAUNCH_FAILED);
    case PTX_OUT_OF_STEPS:
    case PTX_DEADLOCK:
      return SGPU_LAUNCH_TIMEOUT;
    default:
      return SGPU_LAUNCH_FAILED;
  }
}

int fake_run_launch(sgpu_context_t context, fake_launch_t* launch) {
  if (++fake_kernels == fake_settings.kernel_fault) return SGPU_ILLEGAL_ADDRESS;
  access_t* access = calloc(1, sizeof(*access));
  access->context = context;
  const ptx_memory_t memory = {
      .user = access, .check = check, .stop = &context->stop};
  char error[256] = "";
  pthread_mutex_unlock(&fake_lock);
  int result = ptx_launch(launch->kernel, launch->grid, launch->block,
                          launch->shared_bytes, launch->params, &memory, error,
                          sizeof(error));
  if (result != PTX_OK && result != PTX_STOPPED) {
    fake_tell("kernel '%s': %s", launch->name, error);
  }
  pthread_mutex_lock(&fake_lock);
  for (uint32_t i = 0; i < access->count; ++i) fake_close(access->ranges[i]);
  free(access);
  return code_of(result);
}

//===--------------------------------------------------------------------===//
// Launching
//===--------------------------------------------------------------------===//

static int check_sizes(sgpu_function_t function, const uint32_t grid[3],
                       const uint32_t block[3], uint32_t shared_bytes) {
  static const uint32_t max_grid[] = {0x7FFFFFFF, 65535, 65535};
  static const uint32_t max_block[] = {1024, 1024, 64};
  for (int i = 0; i < 3; ++i) {
    if (!grid[i] || grid[i] > max_grid[i]) return SGPU_INVALID_VALUE;
    if (!block[i] || block[i] > max_block[i]) return SGPU_INVALID_VALUE;
  }
  uint32_t threads = block[0] * block[1] * block[2];
  uint32_t limit =
      function->kernel ? ptx_function_max_threads(function->kernel) : 1024;
  if (threads > 1024 || threads > limit) return SGPU_INVALID_VALUE;
  return shared_bytes > (uint32_t)function->max_dynamic_bytes
             ? SGPU_OUT_OF_RESOURCES
             : SGPU_SUCCESS;
}

// Copies the parameters.
static fake_launch_t* make(sgpu_function_t function, const uint32_t grid[3],
                           const uint32_t block[3], uint32_t shared_bytes,
                           void** params) {
  const ptx_function_t* kernel = function->kernel;
  fake_launch_t* launch = calloc(1, sizeof(*launch));
  launch->references = 1;
  launch->program = fake_retain_program(function->program);
  launch->kernel = kernel;
  memcpy(launch->name, function->name, sizeof(launch->name));
  memcpy(launch->grid, grid, sizeof(launch->grid));
  memcpy(launch->block, block, sizeof(launch->block));
  launch->shared_bytes = shared_bytes;
  uint32_t count = ptx_function_param_count(kernel);
  for (uint32_t i = 0; i < count; ++i) {
    size_t end = (size_t)ptx_function_param_offset(kernel, i) +
                 ptx_function_param_size(kernel, i);
    if (end > launch->byte_count) launch->byte_count = end;
  }
  launch->bytes = calloc(1, launch->byte_count + 1);
  launch->params = calloc((size_t)count + 1, sizeof(void*));
  for (uint32_t i = 0; i < count; ++i) {
    launch->params[i] = launch->bytes + ptx_function_param_offset(kernel, i);
    memcpy(launch->params[i], params[i], ptx_function_param_size(kernel, i));
  }
  return launch;
}

static int launch_function(sgpu_function_t function, const uint32_t grid[3],
                           const uint32_t block[3], uint32_t shared_bytes,
                           sgpu_stream_t stream, void** params, void** extra) {
  int code = check_sizes(function, grid, block, shared_bytes);
  if (!code && ++fake_launches == fake_settings.launch_error) {
    code = SGPU_INVALID_VALUE;
  }
  if (code) return code;
  if (!function->kernel) {
    fake_tell(
        "'%s' cannot run: the code of devices is read, not executed; "
        "use PTX",
        function->name);
    return SGPU_NOT_SUPPORTED;
  }
  if (extra || (!params && ptx_function_param_count(function->kernel))) {
    fake_complain("'%s' is launched without an array of parameters",
                  function->name);
    return SGPU_INVALID_VALUE;
  }
  return fake_submit(stream, (fake_op_t){.kind = OP_LAUNCH,
                                         .launch = make(function, grid, block,
                                                        shared_bytes, params)});
}

// What a launch does with a function that is not loaded.
static int load_late(sgpu_context_t context, sgpu_function_t function) {
  if (function->loaded) return SGPU_SUCCESS;
  fake_complain("function '%s' is loaded by its launch", function->name);
  function->loaded = true;
  int code = fake_refuse_capture();
  if (!code) fake_await_all(context);
  return code ? code : fake_error(context);
}

int fake_launch(sgpu_function_t function, unsigned grid_x, unsigned grid_y,
                unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, sgpu_stream_t stream,
                void** params, void** extra) {
  const uint32_t grid[] = {grid_x, grid_y, grid_z};
  const uint32_t block[] = {block_x, block_y, block_z};
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_launch, &context);
  if (!code) code = fake_check(FAKE_FUNCTION, function, context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code) code = load_late(context, function);
  if (!code) {
    code = launch_function(function, grid, block, shared_bytes, stream, params,
                           extra);
  }
  return fake_end(code);
}
