// out[subgroup] = how many invocations it has, by a reduction over the subgroup. One workgroup of 64 invocations.
#version 450
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer A { uint a[]; };

void main() {
  uint sum = subgroupAdd(1u);
  if (subgroupElect()) a[gl_SubgroupID] = sum;
}
