// out[w] = sum of in over workgroup w, by shared memory. 64 invocations a workgroup.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };
shared float partial[64];

void main() {
  uint i = gl_LocalInvocationID.x;
  partial[i] = a[gl_GlobalInvocationID.x];
  barrier();
  for (uint width = 32; width > 0; width /= 2) {
    if (i < width) partial[i] += partial[i + width];
    barrier();
  }
  if (i == 0) b[gl_WorkGroupID.x] = partial[0];
}
