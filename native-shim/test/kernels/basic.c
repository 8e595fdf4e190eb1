// A compiled library as iree-compile would embed it, written by hand: the
// kernels that the tests of the shim and of Java call.
//
// Variants are built with -D: see CMakeLists.txt beside this file.
#include "shim_cpu_abi.h"

// Export 0: out[i] = a[i] + b[i] for the element of each workgroup.
// Bindings: a, b, out (float). Constants: none.
static int add(const shim_environment_t* environment,
               const shim_dispatch_state_t* dispatch,
               const shim_workgroup_state_t* workgroup) {
  (void)environment;
  const float* a = (const float*)dispatch->binding_ptrs[0];
  const float* b = (const float*)dispatch->binding_ptrs[1];
  float* out = (float*)dispatch->binding_ptrs[2];
  uint32_t i = workgroup->workgroup_id_x;
  if ((i + 1) * sizeof(float) > dispatch->binding_lengths[2]) return 1;
  out[i] = a[i] + b[i];
  return 0;
}

// Export 1: writes its parameters to the record of its workgroup. Bindings:
// records of 8 x u32. Constants: 2. Specialization constant 0 is recorded as
// well.
static int record(const shim_environment_t* environment,
                  const shim_dispatch_state_t* dispatch,
                  const shim_workgroup_state_t* workgroup) {
  uint32_t x = workgroup->workgroup_id_x;
  uint32_t y = workgroup->workgroup_id_y;
  uint32_t z = workgroup->workgroup_id_z;
  uint32_t* out = (uint32_t*)dispatch->binding_ptrs[0];
  uint32_t i = (z * dispatch->workgroup_count_y + y) *
                   dispatch->workgroup_count_x +
               x;
  out += 8 * i;
  out[0] = x;
  out[1] = y;
  out[2] = z;
  out[3] = dispatch->constants[0];
  out[4] = dispatch->constants[1];
  out[5] = workgroup->processor_id;
  out[6] = environment->constants[0];
  out[7] = (uint32_t)environment->processor[0];
  return 0;
}

// Export 2: fails with 40 + x in the workgroup whose x is the constant.
static int fail_at(const shim_environment_t* environment,
                   const shim_dispatch_state_t* dispatch,
                   const shim_workgroup_state_t* workgroup) {
  (void)environment;
  if (workgroup->workgroup_id_x != dispatch->constants[0]) return 0;
  return (int)(40 + workgroup->workgroup_id_x);
}

// Export 3: fills its local memory (2 pages) and sums it: needs all of it, in
// order on one thread. out[0] counts workgroups, not atomically.
static int sum_local(const shim_environment_t* environment,
                     const shim_dispatch_state_t* dispatch,
                     const shim_workgroup_state_t* workgroup) {
  (void)environment;
  volatile uint8_t* scratch = (volatile uint8_t*)workgroup->local_memory;
  uint32_t* out = (uint32_t*)dispatch->binding_ptrs[0];
  uint32_t sum = 0;
  for (uint32_t i = 0; i < workgroup->local_memory_size; ++i) scratch[i] = 1;
  for (uint32_t i = 0; i < workgroup->local_memory_size; ++i) sum += scratch[i];
  out[0] += 1;
  out[1] = sum;
  return 0;
}

static const shim_dispatch_fn_t functions[] = {add, record, fail_at, sum_local};
static const char* const names[] = {"add", "record", "fail_at", "sum_local"};

#ifndef CONSTANTS_OF_RECORD
#define CONSTANTS_OF_RECORD 2
#endif
#ifndef VERSION
#define VERSION SHIM_CPU_LIBRARY_VERSION
#endif
#if VERSION < 5
static const shim_dispatch_attributes_v3_t attributes[] = {
    {0}, {0}, {0}, {.local_memory_pages = 2}};
#elif VERSION == 5
static const shim_dispatch_attributes_v5_t attributes[] = {
    {.binding_count = 3},
    {.binding_count = 1, .constant_count = CONSTANTS_OF_RECORD},
    {.constant_count = 1},
    {.binding_count = 1, .local_memory_pages = 2}};
#else
static const shim_dispatch_attributes_t attributes[] = {
    {.binding_count = 3, .workgroup_size_x = 1},
    {.binding_count = 1, .constant_count = CONSTANTS_OF_RECORD,
     .workgroup_size_x = 4, .workgroup_size_y = 2, .workgroup_size_z = 3},
    {.constant_count = 1,
     .flags = SHIM_CPU_DISPATCH_FLAG_WORKGROUP_SIZE_DYNAMIC},
    {.binding_count = 1, .local_memory_pages = 2,
     .flags = SHIM_CPU_DISPATCH_FLAG_SEQUENTIAL},
};
#endif

#ifndef SANITIZER
#define SANITIZER 0
#endif
#ifndef FEATURES
#define FEATURES 0
#endif
static const shim_library_header_t header = {
    .version = VERSION,
    .name = "basic",
    .features = FEATURES,
    .sanitizer = SANITIZER,
};

#ifdef IMPORT
static const char* const imports[] = {"?optional_function", IMPORT};
#endif

#if VERSION <= 3
static const shim_library_v3_t library = {
#elif VERSION <= 5
static const shim_library_v4_t library = {
#else
static const shim_library_t library = {
#endif
    .header = &header,
#ifdef IMPORT
    .imports = {.count = 2, .symbols = imports},
#endif
#ifdef BARE
    .exports = {.count = 4, .ptrs = functions},
#elif defined(NAMELESS)
    .exports = {.count = 4, .ptrs = functions, .attrs = attributes},
#else
    .exports = {.count = 4, .ptrs = functions, .attrs = attributes,
                .names = names},
#endif
    .constants = {.count = 1},
};

#ifdef INITIALIZER
// Set by an initializer; without it the query fails.
static const void* ready;
__attribute__((constructor)) static void initialize(void) {
  ready = &library;
#if defined(FLUSHES) && defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(FLUSHES)
  __asm__ volatile("msr fpcr, %0" : : "r"(1ull << 24));
#endif
}
#define LIBRARY ready
#else
#define LIBRARY &library
#endif

__attribute__((visibility("default"))) const void*
iree_hal_executable_library_query(uint32_t max_version,
                                  const shim_environment_t* environment) {
  (void)environment;
  return max_version == VERSION ? LIBRARY : 0;
}

#ifdef UNDEFINED
extern int missing_function(void);
__attribute__((visibility("default"))) int call_it(void) {
  return missing_function();
}
#endif
