// Like mark, with the workgroup's size chosen by specialisation constants; writes how large it is.
#version 450
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z = 1) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };

void main() {
  if (gl_LocalInvocationIndex == 0) a[gl_WorkGroupID.x] = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
}
