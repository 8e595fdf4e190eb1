// Compares CPU features with the compiler's detection and the kernel's report.
#include "test.h"

static int32_t lookup(const char* name) {
  return shim_cpu_feature_lookup(name, strlen(name));
}

static void unknown_names_are_told_apart_from_absent_ones(void) {
  CHECK_EQ(lookup("warp-drive"), -1);
  CHECK_EQ(lookup(""), -1);
}

static void fields_beyond_the_first_are_zero(void) {
  uint64_t fields[SHIM_CPU_FIELD_COUNT];
  memset(fields, 0xFF, sizeof(fields));
  shim_cpu_features_query(fields);
  for (int i = 1; i < SHIM_CPU_FIELD_COUNT; ++i) CHECK_EQ(fields[i], 0);
}

#if defined(__x86_64__)
static void architecture_is_x86_64(void) {
  CHECK(strcmp(shim_cpu_architecture(), "x86_64") == 0);
}

// The compiler's run-time library also asks the operating system (XCR0), so the
// two must agree exactly.
static void features_agree_with_the_compilers_detection(void) {
  __builtin_cpu_init();
#define AGREES(name, builtin) \
  CHECK_EQ(lookup(name), __builtin_cpu_supports(builtin) != 0)
  AGREES("sse3", "sse3");
  AGREES("ssse3", "ssse3");
  AGREES("sse4.1", "sse4.1");
  AGREES("sse4.2", "sse4.2");
  AGREES("avx", "avx");
  AGREES("fma", "fma");
  AGREES("avx2", "avx2");
  AGREES("avx512f", "avx512f");
  AGREES("avx512vl", "avx512vl");
  AGREES("avx512dq", "avx512dq");
  AGREES("avx512bw", "avx512bw");
  AGREES("avx512vnni", "avx512vnni");
  AGREES("avx512bf16", "avx512bf16");
#undef AGREES
}

static void bits_are_those_of_the_table(void) {
  uint64_t fields[SHIM_CPU_FIELD_COUNT];
  shim_cpu_features_query(fields);
  CHECK_EQ((fields[0] >> 0) & 1, lookup("sse3"));
  CHECK_EQ((fields[0] >> 15) & 1, lookup("avx2"));
  CHECK_EQ((fields[0] >> 20) & 1, lookup("avx512f"));
  CHECK_EQ((fields[0] >> 52) & 1, lookup("amx-bf16"));
}

static void names_of_the_other_machine_are_unknown(void) {
  CHECK_EQ(lookup("dotprod"), -1);
}
#else
static void architecture_is_arm_64(void) {
  CHECK(strcmp(shim_cpu_architecture(), "arm_64") == 0);
}

static void every_machine_has_floating_point(void) {
  CHECK_EQ(lookup("fp-armv8"), 1);
}

static void names_of_the_other_machine_are_unknown(void) {
  CHECK_EQ(lookup("avx2"), -1);
}
#endif

int main(void) {
  RUN(unknown_names_are_told_apart_from_absent_ones);
  RUN(fields_beyond_the_first_are_zero);
  RUN(names_of_the_other_machine_are_unknown);
#if defined(__x86_64__)
  RUN(architecture_is_x86_64);
  RUN(features_agree_with_the_compilers_detection);
  RUN(bits_are_those_of_the_table);
#else
  RUN(architecture_is_arm_64);
  RUN(every_machine_has_floating_point);
#endif
  return 0;
}
