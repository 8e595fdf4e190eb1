// The device-address ABI: out[i] = in[i] * factor for i < count. Constants: count, factor. Bindings: in, out.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Table { uint64_t address[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float x[]; };
layout(push_constant, scalar) uniform Root {
  uint64_t bindings;
  uint64_t constants;
  uint binding_base;
  uint constant_base;
  uint flags;
  uint reserved;
  uint count;
  float factor;
};

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  Table table = Table(bindings + 8ul * binding_base);
  Floats from = Floats(table.address[0]);
  Floats to = Floats(table.address[1]);
  to.x[i] = from.x[i] * factor;
}
