// Compares CPU features with the compiler's detection on x86_64, and with the
// processor's registers on arm_64.
#if defined(__APPLE__)
// macOS lets no process read these registers.
#define shows_registers() 0
#elif defined(__aarch64__)
#include <sys/auxv.h>
#define shows_registers() ((getauxval(AT_HWCAP) & 1 << 11) != 0)
#endif

#include <stdbool.h>

#include "shim_internal.h"
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
  if (!__builtin_cpu_supports("sse2")) {
    // Every x86_64 has SSE2: Zig's run-time library detects nothing.
    fprintf(stderr, "skipped: the compiler detects no features\n");
    return;
  }
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

static int requests;
static bool allow(void) { return ++requests; }
static bool refuse(void) { return !++requests; }

// Linux raises SIGILL at the first tile instruction without its permission.
static void tiles_are_offered_where_the_system_allows_them(void) {
  const uint64_t others = 1ull << 32 | 1;
  const uint64_t all = others | 7ull << 50;
  _Atomic int answer = 0;
  requests = 0;
  CHECK_EQ(shim__cpu_allowed_features(others, refuse, &answer), others);
  CHECK_EQ(requests, 0);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(shim__cpu_allowed_features(all, refuse, &answer), others);
    CHECK_EQ(requests, 1);
  }
  answer = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(shim__cpu_allowed_features(all, allow, &answer), all);
    CHECK_EQ(requests, 2);
  }
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

// A field of 4 bits; the kernel lets processes read these registers.
#define FIELD(reg, position)                                     \
  __extension__({                                                \
    uint64_t value_;                                             \
    __asm__("mrs %0, " reg : "=r"(value_));                      \
    value_ >> (position) & 15;                                   \
  })
#define PFR0 "s3_0_c0_c4_0"
#define ZFR0 "s3_0_c0_c4_4"
#define ISAR0 "s3_0_c0_c6_0"
#define ISAR1 "s3_0_c0_c6_1"

// A feature taken for present would let a kernel execute an instruction that
// the processor lacks.
static void features_agree_with_the_processors_registers(void) {
  if (!shows_registers()) {
    fprintf(stderr, "skipped: the system hides the registers of features\n");
    return;
  }
  const bool has_vectors = FIELD(PFR0, 32) != 0;
  CHECK_EQ(lookup("lse"), FIELD(ISAR0, 20) >= 2);
  CHECK_EQ(lookup("lse128"), FIELD(ISAR0, 20) >= 3);
  CHECK_EQ(lookup("fullfp16"), FIELD(PFR0, 16) == 1);
  CHECK_EQ(lookup("fp16fml"), FIELD(ISAR0, 48) != 0);
  CHECK_EQ(lookup("dotprod"), FIELD(ISAR0, 44) != 0);
  CHECK_EQ(lookup("i8mm"), FIELD(ISAR1, 52) != 0);
  CHECK_EQ(lookup("bf16"), FIELD(ISAR1, 44) != 0);
  CHECK_EQ(lookup("sve"), has_vectors);
  CHECK_EQ(lookup("sve2"), has_vectors && FIELD(ZFR0, 0) != 0);
  CHECK_EQ(lookup("sve2-bitperm"), has_vectors && FIELD(ZFR0, 16) != 0);
  CHECK_EQ(lookup("f32mm"), has_vectors && FIELD(ZFR0, 52) != 0);
  CHECK_EQ(lookup("f64mm"), has_vectors && FIELD(ZFR0, 56) != 0);
  fprintf(stderr, "dotprod %d, i8mm %d, bf16 %d, sve %d\n", lookup("dotprod"),
          lookup("i8mm"), lookup("bf16"), lookup("sve"));
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
  RUN(tiles_are_offered_where_the_system_allows_them);
#else
  RUN(architecture_is_arm_64);
  RUN(every_machine_has_floating_point);
  RUN(features_agree_with_the_processors_registers);
#endif
  return 0;
}
