// out[i] = in[i] * factor + offset for i < count. Constants: count, factor, offset. Bindings: in, out. In place too.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Constants { uint count; float factor; float offset; };
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) b[i] = a[i] * factor + offset;
}
