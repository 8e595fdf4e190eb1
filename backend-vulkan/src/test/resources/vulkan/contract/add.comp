// JavaKernels.ADD: out[i] = a[i] + b[i], one workgroup an element.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { int a[]; };
layout(set = 0, binding = 1) readonly buffer B { int b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { int result[]; };

void main() {
  const uint i = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
  result[i] = a[i] + b[i];
}
