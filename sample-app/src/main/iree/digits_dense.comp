#version 450
// digits_dense of digits_kernels.c for Vulkan; with RELU defined, digits_dense_relu. Bindings, constants and the order of additions are
// those of the C kernels, 'precise' keeps the compiler from fusing them, so the results are the same to the last bit.
//
// output[rows, n] = input[rows, k] x weights[k, n] + bias[n], then max(0, .) with RELU.
//
// A workgroup takes 8 rows of the batch, an invocation one output of each.
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { float in_values[]; };
layout(set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) writeonly buffer Output { float out_values[]; };
layout(push_constant) uniform Constants { uint rows, k_size, n_size; };

const uint ROWS_PER_WORKGROUP = 8;

void main() {
  const uint n = gl_LocalInvocationID.x;
  if (n >= n_size) return;
  const uint begin = gl_WorkGroupID.x * ROWS_PER_WORKGROUP;
  const uint end = min(begin + ROWS_PER_WORKGROUP, rows);
  for (uint row = begin; row < end; ++row) {
    precise float sum = bias[n];
    for (uint k = 0; k < k_size; ++k) {
      sum += in_values[row * k_size + k] * weights[k * n_size + n];
    }
#ifdef RELU
    sum = sum < 0.0 ? 0.0 : sum;
#endif
    out_values[row * n_size + n] = sum;
  }
}
