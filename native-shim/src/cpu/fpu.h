// The floating-point mode that compiled kernels expect: denormal inputs and
// results are flushed to zero. Without it a network whose activations vanish
// runs many times slower; other runtimes do the same.
//
// It is set around each kernel call rather than once per thread: the thread
// belongs to Java, whose arithmetic must follow IEEE 754, and the JVM checks
// that native code preserves the mode. So results do not depend on whether a
// worker or the caller runs a kernel.
#ifndef IREE4J_SHIM_FPU_H_
#define IREE4J_SHIM_FPU_H_

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
// MXCSR: flush to zero (bit 15), denormals are zero (bit 6).
#define SHIM__FPU_FLUSH 0x8040u
static inline uint64_t shim__fpu_mode(void) { return _mm_getcsr(); }
static inline void shim__fpu_set_mode(uint64_t mode) {
  _mm_setcsr((unsigned int)mode);
}
#elif defined(__aarch64__)
// FPCR: FZ (bit 24) for single and double, inputs and results; FZ16 (bit 19) for
// half precision, which reads as zero where the processor has no such numbers.
#define SHIM__FPU_FLUSH ((1u << 24) | (1u << 19))
static inline uint64_t shim__fpu_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static inline void shim__fpu_set_mode(uint64_t mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}
#else
#error "no floating point mode for this architecture"
#endif

// Makes the calling thread flush denormals; returns the mode it had, for
// shim__fpu_restore.
static inline uint64_t shim__fpu_flush_denormals(void) {
  uint64_t before = shim__fpu_mode();
  if ((before & SHIM__FPU_FLUSH) != SHIM__FPU_FLUSH) {
    shim__fpu_set_mode(before | SHIM__FPU_FLUSH);
  }
  return before;
}

// Writes the mode only if it was changed, because writing takes longer than
// reading. This also drops exception flags that kernels raised.
static inline void shim__fpu_restore(uint64_t before) {
  if ((before & SHIM__FPU_FLUSH) != SHIM__FPU_FLUSH) {
    shim__fpu_set_mode(before);
  }
}

#endif  // IREE4J_SHIM_FPU_H_
