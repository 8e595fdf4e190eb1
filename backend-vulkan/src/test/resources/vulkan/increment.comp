// x[0] += constant; one invocation. The second of two in a row sees what the first wrote, if there is a barrier.
#version 450
layout(local_size_x = 1) in;
layout(push_constant) uniform Constants { uint amount; };
layout(set = 0, binding = 0) buffer A { uint a[]; };

void main() { a[0] += amount; }
