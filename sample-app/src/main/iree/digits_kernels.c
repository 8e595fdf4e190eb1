/* The compute kernels of the digits program: two dense layers and a softmax
 * over a batch of rows.
 *
 * Compiled to a shared object that imports nothing (no C library), because an
 * embedded executable is loaded without a dynamic linker. digits_vmvx.vmasm
 * holds the same three exports in VM bytecode: same names, bindings, constants
 * and order of operations. */
#include "executable_library.h"

/* Rows of the batch that one workgroup computes; digits.vmasm divides by it. */
#define ROWS_PER_WORKGROUP 8u

/* Sizes come with each dispatch, so that the batch may be of any length. */
#define MAX_OUTPUTS 64u

typedef struct {
  uint32_t begin;
  uint32_t end;
} rows_t;

static rows_t rows_of(const workgroup_state_t* workgroup, uint32_t row_count) {
  uint32_t begin = workgroup->id_x * ROWS_PER_WORKGROUP;
  if (begin > row_count) begin = row_count;
  uint32_t left = row_count - begin;
  rows_t rows = {
      begin,
      begin + (left < ROWS_PER_WORKGROUP ? left : ROWS_PER_WORKGROUP)};
  return rows;
}

/* e^x for x <= 0, as softmax needs it: within 2 units in the last place, and 0
 * below -87. x = k ln2 + r with |r| <= ln2 / 2; e^r by its Taylor polynomial,
 * 2^k through the exponent bits. */
static float exp_nonpositive(float x) {
  if (!(x > -87.0f)) return 0.0f;
  float scaled = x * 1.44269504f;
  int32_t k = (int32_t)(scaled - 0.5f);
  /* ln2 in two parts, so that k * high is exact. */
  float r = (x - (float)k * 0.693359375f) + (float)k * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  union {
    uint32_t bits;
    float value;
  } power = {(uint32_t)(k + 127) << 23};
  return p * power.value;
}

/* output[rows, n] = input[rows, k] x weights[k, n] + bias[n], then max(0, .)
 * when |relu|. Constants: rows, k, n. Bindings: input, weights, bias, output. */
static int dense(const dispatch_state_t* dispatch,
                 const workgroup_state_t* workgroup, int relu) {
  const uint32_t row_count = dispatch->constants[0];
  const uint32_t k_size = dispatch->constants[1];
  const uint32_t n_size = dispatch->constants[2];
  if (n_size > MAX_OUTPUTS) return 1;
  const float* input = (const float*)dispatch->binding_ptrs[0];
  const float* weights = (const float*)dispatch->binding_ptrs[1];
  const float* bias = (const float*)dispatch->binding_ptrs[2];
  float* output = (float*)dispatch->binding_ptrs[3];
  const rows_t rows = rows_of(workgroup, row_count);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    float sums[MAX_OUTPUTS];
    for (uint32_t n = 0; n < n_size; ++n) sums[n] = bias[n];
    for (uint32_t k = 0; k < k_size; ++k) {
      const float x = input[(size_t)row * k_size + k];
      const float* line = weights + (size_t)k * n_size;
      for (uint32_t n = 0; n < n_size; ++n) sums[n] += x * line[n];
    }
    for (uint32_t n = 0; n < n_size; ++n) {
      const float sum = sums[n];
      output[(size_t)row * n_size + n] = relu && sum < 0.0f ? 0.0f : sum;
    }
  }
  return 0;
}

static int digits_dense_relu(const environment_t* environment,
                             const dispatch_state_t* dispatch,
                             const workgroup_state_t* workgroup) {
  (void)environment;
  return dense(dispatch, workgroup, 1);
}

static int digits_dense(const environment_t* environment,
                        const dispatch_state_t* dispatch,
                        const workgroup_state_t* workgroup) {
  (void)environment;
  return dense(dispatch, workgroup, 0);
}

/* output[rows, n] = softmax of each row of input. Constants: rows, n. Bindings:
 * input, output. The largest logit is subtracted first, so nothing overflows. */
static int digits_softmax(const environment_t* environment,
                          const dispatch_state_t* dispatch,
                          const workgroup_state_t* workgroup) {
  (void)environment;
  const uint32_t row_count = dispatch->constants[0];
  const uint32_t n_size = dispatch->constants[1];
  const rows_t rows = rows_of(workgroup, row_count);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const float* input =
        (const float*)dispatch->binding_ptrs[0] + (size_t)row * n_size;
    float* output = (float*)dispatch->binding_ptrs[1] + (size_t)row * n_size;
    float largest = input[0];
    for (uint32_t n = 1; n < n_size; ++n) {
      if (input[n] > largest) largest = input[n];
    }
    float sum = 0.0f;
    for (uint32_t n = 0; n < n_size; ++n) {
      output[n] = exp_nonpositive(input[n] - largest);
      sum += output[n];
    }
    for (uint32_t n = 0; n < n_size; ++n) output[n] /= sum;
  }
  return 0;
}

/* In the order that digits.vmasm gives to the dispatches. */
static const dispatch_function_t functions[] = {digits_dense_relu, digits_dense,
                                                digits_softmax};
static const char* const names[] = {"digits_dense_relu", "digits_dense",
                                    "digits_softmax"};
static const dispatch_attributes_t attributes[] = {
    {.constant_count = 3, .binding_count = 4},
    {.constant_count = 3, .binding_count = 4},
    {.constant_count = 2, .binding_count = 2},
};

static const library_header_t header = {LIBRARY_VERSION_0_6, "digits", 0, 0};
static const library_t library = {
    .header = &header,
    .exports = {.count = 3,
                .functions = functions,
                .attributes = attributes,
                .names = names},
};

/* The one exported symbol. Null where the runtime is older than this ABI. */
__attribute__((visibility("default"))) const library_header_t* const*
iree_hal_executable_library_query(uint32_t max_version,
                                  const environment_t* environment) {
  (void)environment;
  return max_version >= LIBRARY_VERSION_0_6 ? &library.header : NULL;
}
