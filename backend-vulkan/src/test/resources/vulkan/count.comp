// Counts workgroups: every one adds 1 to a[0]. One invocation a workgroup.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };

void main() { atomicAdd(a[0], 1u); }
