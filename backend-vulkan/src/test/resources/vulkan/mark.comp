// out[i] = 1000 * first constant of the executable + second, + i: which specialisation ran. One invocation a workgroup.
#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint FIRST = 1;
layout(constant_id = 1) const uint SECOND = 2;
layout(set = 0, binding = 0) buffer A { uint a[]; };

void main() {
  a[gl_WorkGroupID.x] = 1000 * FIRST + SECOND + gl_WorkGroupID.x;
}
