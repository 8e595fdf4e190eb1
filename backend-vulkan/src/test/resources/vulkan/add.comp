// out[i] = a[i] + b[i], four elements a workgroup of four. Bindings: a, b, out.
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < c.length()) c[i] = a[i] + b[i];
}
