#ifndef IREE4J_GPU_DRIVER_KERNELS_H_
#define IREE4J_GPU_DRIVER_KERNELS_H_

// PTX. store(to, value) stores one number; shared(to) stores 77, with a block
// of up to 64 threads and 1024 bytes of shared memory; dynamic(to, last) stores
// 78, by way of shared memory at |last|; trap() faults.
extern const char kernels[];

#endif  // IREE4J_GPU_DRIVER_KERNELS_H_
