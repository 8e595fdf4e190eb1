// Two sets and an array of buffers: out[i] = uniform_value + b[0][i] + b[1][i]. Flattened: value, b[0], b[1], out.
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) uniform V { uint value; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; } parts[2];
layout(set = 1, binding = 3) writeonly buffer C { uint c[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  c[i] = value + parts[0].b[i] + parts[1].b[i];
}
