// out[i] = in[i] * factor + offset, for tests; scale.spv is made of it by
//   glslangValidator -V --target-env vulkan1.1 -o scale.spv scale.comp
#version 450
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint bias = 0;
layout(set = 0, binding = 0) readonly buffer In { uint source[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint target[]; };
layout(push_constant) uniform Push { uint factor; uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) target[i] = source[i] * factor + bias;
}
