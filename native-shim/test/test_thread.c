// The calling thread: affinity and floating-point mode.
#include <pthread.h>
#if defined(_WIN32)
#include "windows/windows_error.h"
#define sched_getcpu() ((int)GetCurrentProcessorNumber())
#elif defined(__APPLE__)
#define sched_getcpu() 0
#else
#include <sched.h>
#endif

#include "cpu/fpu.h"
#include "test.h"

enum { WORDS = SHIM_MAX_PROCESSORS / 64 };

static int first_allowed(const uint64_t* mask) {
  for (int i = 0; i < SHIM_MAX_PROCESSORS; ++i) {
    if (mask[i / 64] >> (i % 64) & 1) return i;
  }
  return -1;
}

static void* pin_to_first(void* out) {
  uint64_t before[WORDS], wanted[WORDS] = {0}, after[WORDS];
  CHECK_OK(shim_thread_affinity(before, WORDS, &error));
  int processor = first_allowed(before);
  CHECK(processor >= 0);
  wanted[processor / 64] = (uint64_t)1 << (processor % 64);
  CHECK_OK(shim_thread_set_affinity(wanted, (size_t)processor / 64 + 1, &error));
  CHECK_OK(shim_thread_affinity(after, WORDS, &error));
  CHECK(memcmp(wanted, after, sizeof(wanted)) == 0);
  CHECK_EQ(sched_getcpu(), processor);
  *(int*)out = processor;
  return NULL;
}

static void a_pinned_thread_runs_there_and_others_do_not_care(void) {
  uint64_t before[WORDS], after[WORDS];
  CHECK_OK(shim_thread_affinity(before, WORDS, &error));
  pthread_t thread;
  int processor = -1;
  CHECK_EQ(pthread_create(&thread, NULL, pin_to_first, &processor), 0);
  pthread_join(thread, NULL);
  CHECK_EQ(processor, first_allowed(before));
  CHECK_OK(shim_thread_affinity(after, WORDS, &error));
  CHECK(memcmp(before, after, sizeof(before)) == 0);
}

static void affinities_that_cannot_be_are_refused(void) {
  uint64_t mask[WORDS + 1] = {0};
  CHECK_FAILS(shim_thread_set_affinity(mask, WORDS, &error),
              SHIM_INVALID_ARGUMENT, "none of the processors");
  CHECK_FAILS(shim_thread_set_affinity(mask, 0, &error), SHIM_INVALID_ARGUMENT,
              "none of the processors");
  mask[WORDS - 1] = (uint64_t)1 << 63;
  CHECK_FAILS(shim_thread_set_affinity(mask, WORDS, &error),
              SHIM_INVALID_ARGUMENT, "none of the processors");
  CHECK_FAILS(shim_thread_set_affinity(mask, WORDS + 1, &error),
              SHIM_INVALID_ARGUMENT, "beyond the limit of 8192");
  CHECK_FAILS(shim_thread_affinity(mask, 0, &error), SHIM_INVALID_ARGUMENT,
              "0 bits are too few");
}

static void a_system_without_affinity_says_so(void) {
  uint64_t mask[WORDS] = {1};
  CHECK_FAILS(shim_thread_set_affinity(mask, WORDS, &error),
              SHIM_UNIMPLEMENTED, "no affinity");
  CHECK_FAILS(shim_thread_affinity(mask, WORDS, &error), SHIM_UNIMPLEMENTED,
              "no affinity");
  CHECK_EQ(mask[0], 0);
}

// Not inlined, because compilers move arithmetic across changes of the mode.
__attribute__((noinline)) static float half_of(float value) {
  volatile float input = value;
  volatile float half = 0.5f;
  return input * half;
}

static void flushing_begins_and_ends_with_its_brackets(void) {
  const float smallest_normal = 0x1p-126f;
  const float denormal = 0x1p-127f;
  const uint64_t at_first = shim__fpu_mode();
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  CHECK(half_of(smallest_normal) == denormal);

  uint64_t before = shim__fpu_flush_denormals();
  CHECK_EQ(shim_thread_flushes_denormals(), 1);
  float result = half_of(smallest_normal);
  float input = half_of(denormal * 1.0f);
  uint64_t inner = shim__fpu_flush_denormals();
  shim__fpu_restore(inner);
  CHECK_EQ(shim_thread_flushes_denormals(), 1);
  shim__fpu_restore(before);

  CHECK(result == 0 && input == 0);
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  CHECK(half_of(smallest_normal) == denormal);
#if defined(__x86_64__)
  CHECK_EQ(shim__fpu_mode() & ~0x3Fu, at_first & ~0x3Fu);  // ignoring flags
#else
  CHECK_EQ(shim__fpu_mode(), at_first);
#endif
}

int main(void) {
  if (shim_capabilities() & SHIM_CAPABILITY_AFFINITY) {
    RUN(a_pinned_thread_runs_there_and_others_do_not_care);
    RUN(affinities_that_cannot_be_are_refused);
  } else {
    RUN(a_system_without_affinity_says_so);
  }
  RUN(flushing_begins_and_ends_with_its_brackets);
  return 0;
}
