// The kernels of digits_kernels.c for GPUs of AMD, in OpenCL C. Buffers and constants are those of the C kernels, buffers first; the order of
// additions is too, and nothing is contracted, so the results are the same to the last bit. digits.ptx is the same for CUDA.
//
// A workgroup takes 8 rows of the batch: in the dense layers a thread computes one output of each, in the softmax one of the rows.
#pragma OPENCL FP_CONTRACT OFF

#define ROWS_PER_WORKGROUP 8u

// Of the compiler: no library is linked.
#define WORKGROUP __builtin_amdgcn_workgroup_id_x()
#define THREAD __builtin_amdgcn_workitem_id_x()

// e^x for x <= 0, as in the C kernels.
static float exp_nonpositive(float x) {
  if (!(x > -87.0f)) return 0.0f;
  int k = (int)(x * 1.44269504f - 0.5f);
  float r = (x - (float)k * 0.693359375f) + (float)k * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * as_float((uint)(k + 127) << 23);
}

static void dense(global const float* input, global const float* weights, global const float* bias, global float* output, uint rows,
                  uint k_size, uint n_size, bool relu) {
  const uint n = THREAD;
  if (n >= n_size) return;
  const uint begin = WORKGROUP * ROWS_PER_WORKGROUP;
  const uint end = begin + ROWS_PER_WORKGROUP < rows ? begin + ROWS_PER_WORKGROUP : rows;
  for (uint row = begin; row < end; ++row) {
    float sum = bias[n];
    for (uint k = 0; k < k_size; ++k) {
      sum += input[(ulong)row * k_size + k] * weights[(ulong)k * n_size + n];
    }
    output[(ulong)row * n_size + n] = relu && sum < 0.0f ? 0.0f : sum;
  }
}

// output[rows, n] = max(0, input[rows, k] x weights[k, n] + bias[n])
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void digits_dense_relu(
    global const float* input, global const float* weights, global const float* bias, global float* output, uint rows, uint k_size,
    uint n_size) {
  dense(input, weights, bias, output, rows, k_size, n_size, true);
}

// The same without max(0, .).
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void digits_dense(
    global const float* input, global const float* weights, global const float* bias, global float* output, uint rows, uint k_size,
    uint n_size) {
  dense(input, weights, bias, output, rows, k_size, n_size, false);
}

// output[rows, n] = softmax of each row of input
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void digits_softmax(
    global const float* input, global float* output, uint rows, uint n_size) {
  const uint row = WORKGROUP * ROWS_PER_WORKGROUP + THREAD;
  if (row >= rows) return;
  input += (ulong)row * n_size;
  output += (ulong)row * n_size;
  float largest = input[0];
  for (uint n = 1; n < n_size; ++n) {
    if (input[n] > largest) largest = input[n];
  }
  float sum = 0.0f;
  for (uint n = 0; n < n_size; ++n) {
    output[n] = exp_nonpositive(input[n] - largest);
    sum += output[n];
  }
  for (uint n = 0; n < n_size; ++n) output[n] /= sum;
}
