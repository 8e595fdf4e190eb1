// JavaKernels.SCALE: out[i] = in[i] * c0 + c1, one workgroup an element.
#version 450
layout(local_size_x = 1) in;
layout(push_constant) uniform Constants { int c0, c1; };
layout(set = 0, binding = 0) readonly buffer In { int values[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int result[]; };

void main() {
  const uint i = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
  result[i] = values[i] * c0 + c1;
}
