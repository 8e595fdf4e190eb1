// JavaKernels.COORDINATES: out[i] = x | y << 8 | z << 16 of workgroup i.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) writeonly buffer Out { uint result[]; };

void main() {
  const uint i = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
  result[i] = gl_WorkGroupID.x | gl_WorkGroupID.y << 8 | gl_WorkGroupID.z << 16;
}
