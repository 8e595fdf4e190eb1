// Stands where JavaKernels.CRASH is: a shader cannot fail.
#version 450
layout(local_size_x = 1) in;

void main() {}
