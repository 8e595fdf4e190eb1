// x[i] *= 2 in double precision: needs a feature that not every device has.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { double a[]; };

void main() { a[gl_GlobalInvocationID.x] *= 2.0lf; }
