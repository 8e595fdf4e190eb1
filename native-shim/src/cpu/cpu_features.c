// The instruction sets that this processor and operating system support, with
// the numbers and names of compiled code: field 0 of the eight that a kernel
// sees in its environment, one bit each, numbered as in IREE's
// schemas/cpu_feature_bits.inl; names are LLVM's. Calls nothing of the shim.
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "shim.h"
#include "shim_internal.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>

// What the system says of the processor; false for a name it does not know.
static bool says(const char* name) {
  int32_t value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, NULL, 0) == 0 &&
         size == sizeof(value) && value != 0;
}
#endif

typedef struct feature_t {
  const char* name;
  uint8_t bit;
} feature_t;

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const feature_t features[] = {
    {"sse3", 0},        {"ssse3", 1},       {"sse4.1", 2},
    {"sse4.2", 3},      {"sse4a", 4},       {"avx", 10},
    {"fma", 11},        {"fma4", 12},       {"xop", 13},
    {"f16c", 14},       {"avx2", 15},       {"avx512f", 20},
    {"avx512cd", 21},   {"avx512vl", 22},   {"avx512dq", 23},
    {"avx512bw", 24},   {"avx512ifma", 25}, {"avx512vbmi", 26},
    {"avx512vpopcntdq", 27}, {"avx512vnni", 28}, {"avx512vbmi2", 29},
    {"avx512bitalg", 30},    {"avx512bf16", 31}, {"avx512fp16", 32},
    {"amx-tile", 50},   {"amx-int8", 51},   {"amx-bf16", 52},
};

const char* shim_cpu_architecture(void) { return "x86_64"; }

enum { EAX, EBX, ECX, EDX };

// State components that the operating system saves, from XCR0.
enum {
  STATE_YMM = 0x6,        // SSE and the upper halves of YMM
  STATE_ZMM = 0xE6,       // also opmask and ZMM
  STATE_TILES = 0x60000,  // AMX configuration and data
};

// A feature: where cpuid reports it and what the system must save for it.
typedef struct probe_t {
  uint8_t bit;  // in field 0
  uint8_t leaf;  // index into the leaves read below
  uint8_t reg;
  uint8_t position;
  uint32_t state;
} probe_t;

enum { LEAF_1, LEAF_7_0, LEAF_7_1, LEAF_EXTENDED_1, LEAF_COUNT };

static const probe_t probes[] = {
    {0, LEAF_1, ECX, 0, 0},
    {1, LEAF_1, ECX, 9, 0},
    {2, LEAF_1, ECX, 19, 0},
    {3, LEAF_1, ECX, 20, 0},
    {4, LEAF_EXTENDED_1, ECX, 6, 0},
    {10, LEAF_1, ECX, 28, STATE_YMM},
    {11, LEAF_1, ECX, 12, STATE_YMM},
    {12, LEAF_EXTENDED_1, ECX, 16, STATE_YMM},
    {13, LEAF_EXTENDED_1, ECX, 11, STATE_YMM},
    {14, LEAF_1, ECX, 29, STATE_YMM},
    {15, LEAF_7_0, EBX, 5, STATE_YMM},
    {20, LEAF_7_0, EBX, 16, STATE_ZMM},
    {21, LEAF_7_0, EBX, 28, STATE_ZMM},
    {22, LEAF_7_0, EBX, 31, STATE_ZMM},
    {23, LEAF_7_0, EBX, 17, STATE_ZMM},
    {24, LEAF_7_0, EBX, 30, STATE_ZMM},
    {25, LEAF_7_0, EBX, 21, STATE_ZMM},
    {26, LEAF_7_0, ECX, 1, STATE_ZMM},
    {27, LEAF_7_0, ECX, 14, STATE_ZMM},
    {28, LEAF_7_0, ECX, 11, STATE_ZMM},
    {29, LEAF_7_0, ECX, 6, STATE_ZMM},
    {30, LEAF_7_0, ECX, 12, STATE_ZMM},
    {31, LEAF_7_1, EAX, 5, STATE_ZMM},
    {32, LEAF_7_0, EDX, 23, STATE_ZMM},
    {50, LEAF_7_0, EDX, 24, STATE_TILES},
    {51, LEAF_7_0, EDX, 25, STATE_TILES},
    {52, LEAF_7_0, EDX, 22, STATE_TILES},
};

static void read_leaf(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]) {
  // Leaves all zero when the processor has no such leaf.
  regs[EAX] = regs[EBX] = regs[ECX] = regs[EDX] = 0;
  __get_cpuid_count(leaf, subleaf, &regs[EAX], &regs[EBX], &regs[ECX],
                    &regs[EDX]);
}

// XCR0, or 0 when the operating system does not manage extended state: cpuid
// alone reports what the processor could save, not what is saved.
static uint64_t saved_states(const uint32_t leaf_1[4]) {
  const uint32_t osxsave = 1u << 27;
  if (!(leaf_1[ECX] & osxsave)) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint64_t states = ((uint64_t)high << 32) | low;
#if defined(__APPLE__)
  // macOS saves the state of AVX-512 from a thread's first use on, and shows it
  // in XCR0 only then. Rosetta offers no AVX-512, in cpuid either.
  if ((states & STATE_YMM) == STATE_YMM && says("hw.optional.avx512f")) {
    states |= STATE_ZMM;
  }
#endif
  return states;
}

// Asks the system to let this process use AMX's tiles. Only Linux is asked: it
// grants the state, for the whole process, or the first tile instruction raises
// SIGILL. Other systems have rules that nobody has tried here.
static bool request_tiles(void) {
#if defined(__linux__)
  const long request = 0x1023;  // ARCH_REQ_XCOMP_PERM
  const long tile_data = 18;    // a bit of XCR0
  return syscall(SYS_arch_prctl, request, tile_data) == 0;
#else
  return false;
#endif
}

uint64_t shim__cpu_allowed_features(uint64_t field, bool (*request)(void),
                                    _Atomic int* answer) {
  const uint64_t tiles = 7ull << 50;
  if (!(field & tiles)) return field;
  int known = atomic_load(answer);
  if (!known) {
    known = request() ? 1 : -1;
    atomic_store(answer, known);
  }
  return known > 0 ? field : field & ~tiles;
}

void shim_cpu_features_query(uint64_t out_fields[SHIM_CPU_FIELD_COUNT]) {
  static _Atomic int tiles;
  memset(out_fields, 0, SHIM_CPU_FIELD_COUNT * sizeof(out_fields[0]));
  uint32_t leaves[LEAF_COUNT][4];
  read_leaf(1, 0, leaves[LEAF_1]);
  read_leaf(7, 0, leaves[LEAF_7_0]);
  memset(leaves[LEAF_7_1], 0, sizeof(leaves[LEAF_7_1]));
  if (leaves[LEAF_7_0][EAX] >= 1) read_leaf(7, 1, leaves[LEAF_7_1]);
  read_leaf(0x80000001u, 0, leaves[LEAF_EXTENDED_1]);
  const uint64_t states = saved_states(leaves[LEAF_1]);
  for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); ++i) {
    const probe_t* probe = &probes[i];
    bool present = (leaves[probe->leaf][probe->reg] >> probe->position) & 1;
    bool saved = (states & probe->state) == probe->state;
    if (present && saved) out_fields[0] |= 1ull << probe->bit;
  }
  out_fields[0] =
      shim__cpu_allowed_features(out_fields[0], request_tiles, &tiles);
}

#elif defined(__aarch64__)

static const feature_t features[] = {
    {"fp-armv8", 0},   {"lse", 1},         {"lse128", 2},
    {"fullfp16", 10},  {"fp16fml", 11},    {"dotprod", 12},
    {"i8mm", 13},      {"bf16", 14},       {"sve", 20},
    {"sve2", 21},      {"sve2p1", 22},     {"sve2-bitperm", 23},
    {"f32mm", 24},     {"f64mm", 25},      {"sme", 30},
    {"sme2", 31},      {"sme2p1", 32},     {"sme-f16f16", 33},
    {"sme-f64f64", 34}, {"sme-i16i64", 35},
};

const char* shim_cpu_architecture(void) { return "arm_64"; }

#if defined(__APPLE__)

// A feature: the names by which the system may know it, the later one first.
// There is no SVE. Names that a system does not know yet are of features that
// it lacks.
typedef struct probe_t {
  uint8_t bit;
  const char* name;
  const char* earlier;
} probe_t;

static const probe_t probes[] = {
    {0, "hw.optional.floatingpoint", "hw.optional.AdvSIMD"},
    {1, "hw.optional.arm.FEAT_LSE", "hw.optional.armv8_1_atomics"},
    {2, "hw.optional.arm.FEAT_LSE128", NULL},
    {10, "hw.optional.arm.FEAT_FP16", "hw.optional.neon_fp16"},
    {11, "hw.optional.arm.FEAT_FHM", "hw.optional.armv8_2_fhm"},
    {12, "hw.optional.arm.FEAT_DotProd", NULL},
    {13, "hw.optional.arm.FEAT_I8MM", NULL},
    {14, "hw.optional.arm.FEAT_BF16", NULL},
    {30, "hw.optional.arm.FEAT_SME", NULL},
    {31, "hw.optional.arm.FEAT_SME2", NULL},
    {32, "hw.optional.arm.FEAT_SME2p1", NULL},
    {33, "hw.optional.arm.FEAT_SME_F16F16", NULL},
    {34, "hw.optional.arm.FEAT_SME_F64F64", NULL},
    {35, "hw.optional.arm.FEAT_SME_I16I64", NULL},
};

void shim_cpu_features_query(uint64_t out_fields[SHIM_CPU_FIELD_COUNT]) {
  memset(out_fields, 0, SHIM_CPU_FIELD_COUNT * sizeof(out_fields[0]));
  for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); ++i) {
    if (says(probes[i].name) ||
        (probes[i].earlier && says(probes[i].earlier))) {
      out_fields[0] |= 1ull << probes[i].bit;
    }
  }
}

#else
#include <sys/auxv.h>

// A feature: its word and bit in the kernel's report. The kernel reports only
// features whose state it saves.
typedef struct probe_t {
  uint8_t bit;
  uint8_t word;  // 0 AT_HWCAP, 1 AT_HWCAP2
  uint8_t position;
} probe_t;

static const probe_t probes[] = {
    {0, 0, 0},   {1, 0, 8},   {2, 1, 47},  {10, 0, 10}, {11, 0, 23},
    {12, 0, 20}, {13, 1, 13}, {14, 1, 14}, {20, 0, 22}, {21, 1, 1},
    {22, 1, 36}, {23, 1, 4},  {24, 1, 10}, {25, 1, 11}, {30, 1, 23},
    {31, 1, 37}, {32, 1, 38}, {33, 1, 42}, {34, 1, 25}, {35, 1, 24},
};

void shim_cpu_features_query(uint64_t out_fields[SHIM_CPU_FIELD_COUNT]) {
  memset(out_fields, 0, SHIM_CPU_FIELD_COUNT * sizeof(out_fields[0]));
  const uint64_t words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); ++i) {
    if ((words[probes[i].word] >> probes[i].position) & 1) {
      out_fields[0] |= 1ull << probes[i].bit;
    }
  }
}

#endif  // the system

#else
#error "add the features of this architecture"
#endif

int32_t shim_cpu_feature_lookup(const char* name, size_t name_length) {
  for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); ++i) {
    if (strlen(features[i].name) == name_length &&
        memcmp(features[i].name, name, name_length) == 0) {
      uint64_t fields[SHIM_CPU_FIELD_COUNT];
      shim_cpu_features_query(fields);
      return (fields[0] >> features[i].bit) & 1;
    }
  }
  return -1;
}
