#version 450
// digits_softmax of digits_kernels.c for Vulkan: output[rows, n] = softmax of each row of input. A workgroup takes 8 rows of the batch,
// an invocation one of them.
layout(local_size_x = 8) in;

layout(set = 0, binding = 0) readonly buffer Input { float in_values[]; };
layout(set = 0, binding = 1) buffer Output { float out_values[]; };
layout(push_constant) uniform Constants { uint rows, n_size; };

// e^x for x <= 0, as in digits_kernels.c: what GLSL's exp may be off by is for each driver to choose.
float exp_nonpositive(float x) {
  if (!(x > -87.0)) return 0.0;
  precise float scaled = x * 1.44269504;
  const int k = int(scaled - 0.5);
  precise float r = (x - float(k) * 0.693359375) + float(k) * 2.12194440e-4;
  precise float p = 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * uintBitsToFloat(uint(k + 127) << 23);
}

void main() {
  const uint row = gl_GlobalInvocationID.x;
  if (row >= rows) return;
  const uint begin = row * n_size;
  float largest = in_values[begin];
  for (uint n = 1; n < n_size; ++n) {
    largest = in_values[begin + n] > largest ? in_values[begin + n] : largest;
  }
  precise float sum = 0.0;
  for (uint n = 0; n < n_size; ++n) {
    const float power = exp_nonpositive(in_values[begin + n] - largest);
    out_values[begin + n] = power;
    sum += power;
  }
  for (uint n = 0; n < n_size; ++n) {
    out_values[begin + n] /= sum;
  }
}
