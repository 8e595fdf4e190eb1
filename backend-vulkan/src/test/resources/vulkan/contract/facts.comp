// JavaKernels.FACTS, as far as a shader knows: the specialisation constant, sizes, the binding's length.
#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const int CONSTANT = -1;
layout(set = 0, binding = 0) writeonly buffer Out { int result[]; };

void main() {
  result[0] = CONSTANT;
  result[1] = int(gl_WorkGroupSize.x);
  result[2] = int(gl_WorkGroupSize.y);
  result[3] = int(gl_WorkGroupSize.z);
  result[4] = 4 * result.length();
}
