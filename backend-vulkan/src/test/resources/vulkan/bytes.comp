// out[i] = in[i] + 1 on bytes, and 16-bit out2[i] = in[i] * 256.
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) readonly buffer A { uint8_t a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uint8_t b[]; };
layout(set = 0, binding = 2) writeonly buffer C { uint16_t c[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  b[i] = a[i] + uint8_t(1);
  c[i] = uint16_t(a[i]) * uint16_t(256);
}
