// Texts that are refused, and by what name; texts that are hostile.
#include <time.h>

#include "test_ptx.h"

static ptx_module_t* load(const char* text, char* error, size_t error_size) {
  // A copy that ends where the text ends, for sanitizers to see.
  size_t length = strlen(text);
  char* copy = malloc(length ? length : 1);
  CHECK(copy);
  memcpy(copy, text, length);
  ptx_module_t* module = ptx_module_load(copy, length, error, error_size);
  free(copy);
  return module;
}

static void expect_refusal(const char* text, const char* expected) {
  char error[256];
  ptx_module_t* module = load(text, error, sizeof(error));
  if (module || !strstr(error, expected)) {
    fprintf(stderr, "%.300s\ngave '%s', expected '%s'\n", text,
            module ? "a module" : error, expected);
    exit(1);
  }
}

static void refusals(void) {
  static const struct {
    const char* body;
    const char* expected;
  } bodies[] = {
      {"\n\nwgmma.fence.sync.aligned;",
       "line 7: instruction 'wgmma.fence.sync.aligned' is not supported"},
      {"add.u128 %r1, %r1, %r1;", "instruction 'add.u128' is not supported"},
      {"add.rn.s32 %r1, %r1, %r1;", "'add.rn.s32' is not supported"},
      {"mbarrier.init.shared.b64 [%rd1], 1;", "'mbarrier.init.shared.b64'"},
      {"cp.async.bulk.commit_group;", "'cp.async.bulk.commit_group'"},
      {"tex.2d.v4.f32.f32 {%r1, %r1, %r1, %r1}, [t, {%r1}];", "'tex.2d"},
      {"shfl.bfly.b32 %r1, %r1, 1, 31;", "'shfl.bfly.b32'"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r1};",
       "'mma.sync.aligned.m8n8k4"},
      {"ld.global.u32 %r1, [%rd1], 5;", "'ld.global.u32' is not supported"},
      {"add.s32 %r1, %r1;", "';' where ',' should be"},
      {"add.s32 %r1, %r1, %rd1;", "'%rd1' has another size"},
      {"add.s32 %r1, %r1, %r9;", "'%r9' is not defined"},
      {"add.s32 %r1, %r1, %r99999999999999999999;", "is not defined"},
      {"mov.u32 %r1, %envreg3;", "'%envreg3'"},
      {"mov.u32 %r1, 99999999999999999999;", "no number that fits"},
      {"mov.f32 %r1, 0f123;", "'0f123' is no number"},
      {"bra nowhere;", "label 'nowhere' is not defined"},
      {"call something, (%r1);", "call of 'something'"},
      {"call %rd1, (%r1), proto;", "call of '%rd1'"},
      {"{ .reg .b32 x; } mov.u32 x, 1;", "'x' is no register"},
      {".reg .b32 x<2000000>;", "2000000 is more than"},
      {".reg .b128 x;", "'.b128' is not supported"},
      {".local .b8 x[1000000];", "bytes of local memory"},
      {".shared .b8 x[300000];\nst.shared.u32 [x], 0;", "shared memory"},
      {"frobnicate;", "instruction 'frobnicate' is not supported"},
      {"@ bra L;", "'bra' is not defined"},
      {"?", "'?' is no instruction"},
      {"ld.global.u32 %r1, [%p1];", "'%p1' is no address"},
      {"ld.global.v4.u32 {%r1, %r1}, [%rd1];", "do not fit"},
      {"\"text", "a string without an end"},
  };
  for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); ++i) {
    char text[1024];
    snprintf(text, sizeof(text),
             KERNEL
             ".reg .pred %%p<3>; .reg .b32 %%r<3>; .reg .b64 %%rd<3>; "
             "%s\n}",
             bodies[i].body);
    expect_refusal(text, bodies[i].expected);
  }
  expect_refusal("", "a module begins with .version");
  expect_refusal("hello", "a module begins with .version");
  expect_refusal(".version 8.0 .target sm_80 .address_size 32", "32 bits");
  expect_refusal(MODULE ".entry k() {", "'{' without its '}'");
  expect_refusal(MODULE ".entry k(.param .u32", "should be");
  expect_refusal(MODULE ".entry k() .reqnctapercluster 2 { }",
                 "'.reqnctapercluster'");
  expect_refusal(MODULE ".global .texref t;", "'.texref' is not supported");
  expect_refusal(MODULE ".global .b8 x[99999999999];", "is more than");
  expect_refusal(MODULE ".global .b8 x[200000][200000];", "a variable of");
  expect_refusal(MODULE ".global .u32 x[2] = {1, 2, 3};", "more values");
  expect_refusal(MODULE ".global .u64 x = y;", "'y' is no variable");
  expect_refusal(MODULE ".extern .global .u32 x;", "of another module");
  expect_refusal(MODULE ".global .align 3 .u32 x;", "an alignment of 3");
  expect_refusal(MODULE ".func f() { call f; }\n.entry k() { call f; }",
                 "recursion: 'f'");
  expect_refusal(MODULE ".func f(.param .b32 a) { }\n.entry k() { call f; }",
                 "do not fit 'f'");

  // What no kernel uses is not read.
  char error[256];
  ptx_module_t* module =
      load(MODULE ".func f() { frobnicate; }\n.entry k() { ret; }", error, 256);
  CHECK(module);
  CHECK(!ptx_module_function(module, "f"));
  ptx_module_unload(module);
  ptx_module_unload(NULL);
}

static void questions(void) {
  char error[256];
  ptx_module_t* module =
      load(MODULE
           ".shared .align 8 .b8 s[24];\n.global .u32 g[3] = {7, 8};\n"
           ".extern .shared .align 32 .b8 dynamic[];\n"
           ".visible .entry k(.param .u32 a, .param .u64 b, "
           ".param .align 16 .b8 c[20])\n.maxntid 8, 4, 2\n{\n"
           ".reg .b64 %r<2>;\nmov.u64 %r1, dynamic;\n"
           "st.shared.u64 [s], %r1;\n"
           "}\n.entry other() { }\n",
           error, sizeof(error));
  CHECK(module);
  const ptx_function_t* function = ptx_module_function(module, "k");
  CHECK_EQ(ptx_function_param_count(function), 3);
  CHECK_EQ(ptx_function_param_offset(function, 1), 8);
  CHECK_EQ(ptx_function_param_offset(function, 2), 16);
  CHECK_EQ(ptx_function_param_size(function, 2), 20);
  CHECK_EQ(ptx_function_shared_bytes(function), 24);
  CHECK_EQ(ptx_function_max_threads(function), 64);
  const ptx_function_t* other = ptx_module_function(module, "other");
  CHECK_EQ(ptx_function_shared_bytes(other), 0);
  CHECK_EQ(ptx_function_max_threads(other), 1024);
  uint64_t address, size;
  CHECK(ptx_module_global(module, "g", &address, &size));
  CHECK_EQ(size, 12);
  CHECK_EQ(((const uint32_t*)(uintptr_t)address)[1], 8);
  CHECK(!ptx_module_global(module, "s", &address, &size));
  ptx_module_unload(module);
}

// Every beginning of a text, and texts of one thing many times.
static void hostile(void) {
  static const char whole[] = MODULE
      ".global .u32 g[2] = {1, 2};\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
      ".visible .entry k(.param .u64 p) .maxntid 32, 1, 1 {\n"
      ".reg .b32 %r<4>; .reg .pred %p; { .param .b32 x; .param .b32 y;\n"
      "st.param.b32 [x], 1; call.uni (y), f, (x); }\n"
      "L: setp.eq.u32 %p, %r1, 0f3F800000; @!%p bra L;\n"
      "ld.global.v2.u32 {%r1, _}, [g+-4]; /* */ ret; }\n";
  char error[256];
  for (size_t length = 0; length < sizeof(whole); ++length) {
    char* copy = malloc(length + 1);
    CHECK(copy);
    memcpy(copy, whole, length);
    ptx_module_unload(ptx_module_load(copy, length, error, sizeof(error)));
    free(copy);
  }
  static const struct {
    const char *before, *piece, *after;
  } repeated[] = {
      {MODULE, "{", ""},
      {MODULE ".entry k() ", "{", ""},
      {KERNEL, "{", "}"},
      {MODULE ".global .u32 x = ", "{", "1"},
      {MODULE ".entry ", "a", ""},
      {KERNEL "add", ".rn", ";"},
      {KERNEL "add.s32 x", "[", ";"},
      {"", "(", ""},
      {MODULE ".global .b8 x", "[9]", ";"},
      {KERNEL "mov.u32 x, ", "9", ";}"},
      {KERNEL ".reg .b32 x<100000>;", "{ .reg .b32 x<100000>; ", "}"},
      {MODULE ".entry k(", ".param .u64 p,", ") {}"},
      {MODULE "/", "*", ""},
      {MODULE "\"", "\\", ""},
      {KERNEL, ".pragma \"nounroll\";", "}"},
      {KERNEL, "x:", "}"},
      {MODULE ".func f() { } .func g() {", "call f;", "} .entry k() {call g;}"},
      {KERNEL ".reg .b32 ", "r,", "r; }"},
      {KERNEL, "ret;", "}"},
  };
  for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); ++i) {
    size_t size = 1 << 20, before = strlen(repeated[i].before);
    size_t piece = strlen(repeated[i].piece);
    char* text = malloc(size + before + 64);
    CHECK(text);
    memcpy(text, repeated[i].before, before);
    size_t length = before;
    for (; length + piece < size; length += piece) {
      memcpy(text + length, repeated[i].piece, piece);
    }
    memcpy(text + length, repeated[i].after, strlen(repeated[i].after) + 1);
    ptx_module_t* module =
        ptx_module_load(text, strlen(text), error, sizeof(error));
    ptx_module_unload(module);
    free(text);
  }

  // Functions that call the one before twice: 2^40 calls.
  char* text = malloc(1 << 14);
  CHECK(text);
  int n = snprintf(text, 1 << 14, MODULE ".func f0() { }\n");
  for (int i = 1; i <= 40; ++i) {
    n += snprintf(text + n, (size_t)((1 << 14) - n),
                  ".func f%d() { call f%d; call f%d; }\n", i, i - 1, i - 1);
  }
  snprintf(text + n, (size_t)((1 << 14) - n), ".entry k() { call f40; }\n");
  CHECK(!load(text, error, sizeof(error)));
  free(text);
}

// Changes a few characters of a text that loads; what still loads also runs,
// for a few steps and without memory.
static bool allow_nothing(void* user, uint64_t address, uint64_t size,
                          bool write) {
  (void)user, (void)address, (void)size, (void)write;
  return false;
}

static void fuzz(void) {
  static const char text[] = MODULE
      ".extern .shared .align 16 .b8 s[];\n.const .u32 t[2] = {1, 2};\n"
      ".visible .entry k(.param .u64 p, .param .u32 q) {\n"
      ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>;\n"
      ".reg .b64 %rd<4>; .local .align 8 .b8 l[16];\n"
      "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [q];\n"
      "L: add.s32 %r2, %r2, -1; setp.gt.s32 %p1, %r2, 0;\n"
      "shfl.sync.bfly.b32 %r3|%p2, %r2, 16, 31, -1; bar.sync 0;\n"
      "mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, s;\n"
      "add.s64 %rd1, %rd1, %rd2; st.shared.v2.u32 [%rd1], {%r1, %r2};\n"
      "ld.const.u32 %r4, [t+4]; st.local.u32 [l+8], %r4;\n"
      "cvt.rzi.s32.f32 %r5, %r4; cvt.u16.u32 %rs1, %r5;\n"
      "mov.b32 %r6, {%rs1, %rs1}; fma.rn.f16x2 %r6, %r6, %r6, %r6;\n"
      "atom.shared.add.u32 %r7, [s], 1; div.s32 %r7, %r7, %r2;\n"
      "vote.sync.ballot.b32 %r7, %p1, -1; prmt.b32 %r7, %r7, %r6, %r5;\n"
      "@%p1 bra L; ret; }\n";
  static const char letters[] = "%rdps0123456789.,;:{}[]()@!|_-+xbu \n";
  uint32_t seed = (uint32_t)time(NULL), loaded = 0;
  const char* given = getenv("PTX_SEED");
  if (given) seed = (uint32_t)strtoul(given, NULL, 10);
  fprintf(stderr, "PTX_SEED=%u\n", seed);
  uint64_t state = seed;
  char message[256];
  ptx_module_t* unchanged = load(text, message, sizeof(message));
  if (!unchanged) fprintf(stderr, "%s\n", message);
  CHECK(unchanged);
  ptx_module_unload(unchanged);
  for (int round = 0; round < 4000; ++round) {
    char copy[sizeof(text)], error[256];
    memcpy(copy, text, sizeof(text));
    for (int change = 0; change < 1 + round % 3; ++change) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      size_t at = (size_t)(state >> 33) % (sizeof(text) - 1);
      // Every other round changes digits into digits: they tend to be valid.
      bool digit = round % 2;
      while (digit && at < sizeof(text) - 2 &&
             (copy[at] < '0' || copy[at] > '9')) {
        ++at;
      }
      size_t count = digit ? 10 : sizeof(letters) - 1;
      copy[at] = letters[(digit ? 4 : 0) + (state >> 20) % count];
    }
    ptx_module_t* module =
        ptx_module_load(copy, sizeof(text) - 1, error, sizeof(error));
    const ptx_function_t* function =
        module ? ptx_module_function(module, "k") : NULL;
    if (function && ptx_function_param_count(function) == 2) {
      uint64_t one = 3, two = 3;
      void* params[] = {&one, &two};
      const uint32_t size[] = {1, 1, 1}, block[] = {48, 1, 1};
      const ptx_memory_t memory = {.check = allow_nothing, .max_steps = 20000};
      if (ptx_function_param_size(function, 0) <= 8 &&
          ptx_function_param_size(function, 1) <= 8) {
        ptx_launch(function, size, block, 1024, params, &memory, error,
                   sizeof(error));
        ++loaded;
      }
    }
    ptx_module_unload(module);
  }
  fprintf(stderr, "%u ran\n", loaded);
  CHECK(loaded > 100);
}

void test_texts(void) {
  refusals();
  questions();
  hostile();
  fuzz();
}
