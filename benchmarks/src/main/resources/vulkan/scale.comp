// out[i] = in[i] * c0 + c1 for 64 elements: next to nothing, so that the work around the kernel is measured.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Constants { int c0, c1; };
layout(set = 0, binding = 0) readonly buffer In { int values[]; };
layout(set = 0, binding = 1) buffer Out { int result[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  result[i] = values[i] * c0 + c1;
}
