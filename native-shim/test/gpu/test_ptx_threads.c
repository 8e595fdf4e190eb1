// Threads together: divergence, shuffles, barriers, memory, atomics, calls.
#include <pthread.h>
#include <unistd.h>

#include "test_ptx.h"

#define STORE_R2                                   \
  "shl.b32 %r9, %r1, 2;\ncvt.u64.u32 %rd9, %r9;\n" \
  "add.s64 %rd9, %rd1, %rd9;\nst.global.u32 [%rd9], %r2;\n"

static void divergence(void) {
  uint32_t data[64];
  // Lanes run a loop as often as their number says.
  run_body(
      "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
      "L: setp.ge.u32 %p1, %r3, %r1;\n@%p1 bra E;\n"
      "add.u32 %r3, %r3, 1;\nadd.u32 %r2, %r2, %r3;\nbra L;\nE:\n" STORE_R2,
      1, 64, data, sizeof(data));
  for (uint32_t i = 0; i < 64; ++i) CHECK_EQ(data[i], i * (i + 1) / 2);

  // Both sides of a branch meet again before a shuffle of all lanes.
  run_body(
      "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra A;\n"
      "mul.lo.u32 %r4, %r1, 100;\nbra.uni M;\nA: mul.lo.u32 %r4, %r1, 10;\n"
      "M: shfl.sync.bfly.b32 %r2, %r4, 1, 31, -1;\n" STORE_R2,
      1, 64, data, sizeof(data));
  for (uint32_t i = 0; i < 64; ++i) {
    CHECK_EQ(data[i], (i ^ 1) * ((i ^ 1) & 1 ? 100 : 10));
  }

  // A shuffle within one side, whose code lies behind that of the other.
  run_body(
      "mov.u32 %r2, 7;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra A;\nbra E;\n"
      "A: shfl.sync.down.b32 %r2, %r1, 1, 31, 0xFFFF0000;\nE:\n" STORE_R2,
      1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK_EQ(data[i], i < 16 ? 7 : i == 31 ? 31 : i + 1);
  }

  // Lanes that come to one shuffle at different times.
  run_body(
      "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n"
      "@%p1 bra L;\nshfl.sync.idx.b32 %r2, %r3, 31, 31, -1;\n" STORE_R2,
      1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) CHECK_EQ(data[i], 31);

  // A lane that has ended is not waited for.
  run_body(
      "setp.eq.u32 %p1, %r1, 3;\n@%p1 exit;\n"
      "vote.sync.ballot.b32 %r2, 1, -1;\n" STORE_R2,
      1, 32, data, sizeof(data));
  CHECK_EQ(data[0], 0xFFFFFFF7);

  // One lane spins until another one, further on, has stored.
  memset(data, 0, sizeof(data));
  run_body(
      "setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra S;\n"
      "L: ld.volatile.global.u32 %r2, [%rd1+4];\nsetp.eq.u32 %p2, %r2, 0;\n"
      "@%p2 bra L;\nst.global.u32 [%rd1], %r2;\nret;\n"
      "S: mov.u32 %r3, 5;\nst.volatile.global.u32 [%rd1+4], %r3;\n",
      1, 2, data, sizeof(data));
  CHECK_EQ(data[0], 5);

  // A branch by table.
  run_body(
      "T: .branchtargets A, B, C;\nand.b32 %r3, %r1, 3;\nmin.u32 %r3, %r3, 2;\n"
      "brx.idx %r3, T;\nA: mov.u32 %r2, 10;\nbra E;\nB: mov.u32 %r2, 20;\n"
      "bra E;\nC: mov.u32 %r2, 30;\nE:\n" STORE_R2,
      1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK_EQ(data[i], i % 4 == 0 ? 10 : i % 4 == 1 ? 20 : 30);
  }
}

static void exchanges(void) {
  uint32_t data[64];
  run_body(
      "shfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1;\n"
      "@!%p1 add.u32 %r2, %r2, 1000;\n" STORE_R2,
      1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) CHECK_EQ(data[i], i < 3 ? i + 1000 : i - 3);

  // Segments of eight lanes.
  run_body("shfl.sync.idx.b32 %r2|%p1, %r1, 1, 0x181F, -1;\n" STORE_R2, 1, 32,
           data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) CHECK_EQ(data[i], i / 8 * 8 + 1);

  run_body(
      "setp.gt.u32 %p1, %r1, 29;\nvote.sync.ballot.b32 %r2, %p1, -1;\n"
      "vote.sync.any.pred %p2, %p1, -1;\n"
      "vote.sync.all.pred %p3, %p1, -1;\n"
      "@%p2 add.u32 %r2, %r2, 1;\n@%p3 add.u32 %r2, %r2, 2;\n" STORE_R2,
      1, 32, data, sizeof(data));
  CHECK_EQ(data[0], 0xC0000001);

  run_body("shr.u32 %r3, %r1, 2;\nmatch.any.sync.b32 %r2, %r3, -1;\n" STORE_R2,
           1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 32; ++i) CHECK_EQ(data[i], 0xFu << i / 4 * 4);

  run_body("redux.sync.add.u32 %r2, %r1, -1;\n" STORE_R2, 1, 32, data,
           sizeof(data));
  CHECK_EQ(data[31], 496);
  run_body("sub.s32 %r3, 5, %r1;\nredux.sync.min.s32 %r2, %r3, -1;\n" STORE_R2,
           1, 32, data, sizeof(data));
  CHECK_EQ(data[0], (uint32_t)-26);

  run_body(
      "mov.u32 %r2, 0;\nsetp.lt.u32 %p1, %r1, 5;\n"
      "@%p1 activemask.b32 %r2;\n" STORE_R2,
      1, 32, data, sizeof(data));
  CHECK_EQ(data[0], 0x1F);
  CHECK_EQ(data[5], 0);
}

static void barriers(void) {
  uint32_t data[256];
  // Each thread reads what a thread of another warp has stored.
  run_body(
      ".shared .align 4 .b8 s[1024];\nmov.u32 %r3, s;\nshl.b32 %r4, %r1, 2;\n"
      "add.u32 %r5, %r3, %r4;\nst.shared.u32 [%r5], %r1;\nbar.sync 0;\n"
      "xor.b32 %r6, %r4, 1020;\nadd.u32 %r6, %r3, %r6;\n"
      "ld.shared.u32 %r2, [%r6];\n" STORE_R2,
      1, 256, data, sizeof(data));
  for (uint32_t i = 0; i < 256; ++i) CHECK_EQ(data[i], 255 - i);

  // Only some warps meet, at a barrier of their own; the others go on.
  run_body(
      ".shared .b32 s;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra E;\n"
      "setp.eq.u32 %p2, %r1, 64;\n@%p2 st.shared.u32 [s], 9;\n"
      "barrier.sync 1, 64;\nld.shared.u32 %r2, [s];\n" STORE_R2 "E:\n",
      1, 96, data, sizeof(data));
  CHECK_EQ(data[33], 9);

  // One warp arrives without waiting.
  run_body(
      ".shared .b32 s;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\n"
      "bar.sync 2, 64;\nld.shared.u32 %r2, [s];\n" STORE_R2
      "ret;\n"
      "A: st.shared.u32 [s], 4;\nbar.arrive 2, 64;\n",
      1, 64, data, sizeof(data));
  CHECK_EQ(data[40], 4);

  run_body(
      "setp.lt.u32 %p1, %r1, 40;\nbar.red.popc.u32 %r2, 0, %p1;\n"
      "bar.red.and.pred %p2, 0, !%p1;\n@%p2 add.u32 %r2, %r2, 1000;\n"
      "bar.red.or.pred %p3, 0, 96, %p1;\n@%p3 add.u32 %r2, %r2, "
      "100;\n" STORE_R2,
      1, 96, data, sizeof(data));
  CHECK_EQ(data[95], 140);

  // Threads that have ended do not count; a block that fills no warp.
  run_body(
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 exit;\nbar.sync 0;\n"
      "mov.u32 %r2, 3;\n" STORE_R2,
      1, 37, data, sizeof(data));
  CHECK_EQ(data[36], 3);
}

static void memory(void) {
  uint32_t data[64] = {0};
  // A local array, through a generic address.
  run_body(
      ".local .align 16 .b8 depot[64];\nmov.u64 %rd2, depot;\n"
      "cvta.local.u64 %rd3, %rd2;\nst.local.u32 [%rd2+60], %r1;\n"
      "ld.u32 %r2, [%rd3+60];\n" STORE_R2,
      1, 64, data, sizeof(data));
  for (uint32_t i = 0; i < 64; ++i) CHECK_EQ(data[i], i);

  // Vectors, small elements, and dynamic shared memory behind static.
  memset(data, 0, sizeof(data));
  data[0] = 0x80FF7F01;
  run_body(
      "ld.global.nc.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd1];\n"
      "ld.global.s8 %r3, [%rd1+3];\nst.global.u32 [%rd1+16], %r3;\n"
      "cvt.u32.u16 %r4, %rs2;\ncvt.u32.u16 %r5, %rs3;\n"
      "st.global.v2.u32 [%rd1+24], {%r4, %r5};\nst.global.u8 [%rd1+20], %r3;\n",
      1, 1, data, sizeof(data));
  CHECK_EQ(data[4], 0xFFFFFF80);
  CHECK_EQ(data[5], 0x80);
  CHECK_EQ(data[6], 0x7F);
  CHECK_EQ(data[7], 0xFF);

  // A copy without waiting, of fewer bytes than it fills.
  for (uint32_t i = 0; i < 8; ++i) data[i] = i + 1;
  run_body(
      ".shared .align 16 .b8 s[32];\nmov.u32 %r3, s;\n"
      "cp.async.cg.shared.global [%r3], [%rd1+16], 16;\n"
      "cp.async.ca.shared.global [%r3+16], [%rd1], 16, 4;\n"
      "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"
      "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [s+16];\n"
      "ld.shared.u32 %r8, [s];\n"
      "st.global.v4.u32 [%rd1+32], {%r4, %r5, %r6, %r8};\n",
      1, 1, data, sizeof(data));
  CHECK_EQ(data[8], 1);
  CHECK_EQ(data[9], 0);
  CHECK_EQ(data[11], 5);
}

static void atomics(void) {
  uint32_t data[16] = {0};
  float one = 1.0f;
  run_body(
      "atom.global.add.u32 %r2, [%rd1], 2;\nred.global.max.s32 [%rd1+4], %r1;\n"
      "red.global.min.u32 [%rd1+8], %r1;\nred.global.or.b32 [%rd1+12], 6;\n"
      "red.global.add.f32 [%rd1+16], 0f3F000000;\n"
      "red.relaxed.gpu.global.inc.u32 [%rd1+20], 9;\n"
      "atom.add.noftz.f16x2 %r3, [%rd1+24], 0x3C003C00;\n"
      "atom.global.cas.b32 %r4, [%rd1+28], 0, 77;\n"
      "red.global.add.f64 [%rd1+32], 0d3FF0000000000000;\n"
      "atom.global.exch.b64 %rd3, [%rd1+40], 3;\n"
      "red.global.add.u64 [%rd1+48], 4294967296;\n",
      16, 64, data, sizeof(data));
  float sum;
  double wide;
  memcpy(&sum, &data[4], 4);
  memcpy(&wide, &data[8], 8);
  CHECK_EQ(data[0], 2048);
  CHECK_EQ(data[1], 63);
  CHECK_EQ(data[2], 0);
  CHECK_EQ(data[3], 6);
  CHECK(sum == 512 * one);
  CHECK_EQ(data[5], 1024 % 10);
  CHECK_EQ(data[6], 0x64006400);
  CHECK_EQ(data[7], 77);
  CHECK(wide == 1024);
  CHECK_EQ(data[10], 3);
  CHECK_EQ(data[13], 1024);

  // A sum of products by warps: shuffles, shared memory and a barrier.
  uint32_t out[8];
  run_body(
      ".shared .align 4 .b32 s;\nsetp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 st.shared.u32 [s], 0;\nbar.sync 0;\nmov.u32 %r2, %r1;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\nadd.u32 %r2, %r2, %r3;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1;\nadd.u32 %r2, %r2, %r3;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1;\nadd.u32 %r2, %r2, %r3;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 2, 31, -1;\nadd.u32 %r2, %r2, %r3;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nadd.u32 %r2, %r2, %r3;\n"
      "and.b32 %r4, %r1, 31;\nsetp.eq.u32 %p2, %r4, 0;\n"
      "@%p2 red.shared.add.u32 [s], %r2;\nbar.sync 0;\n@!%p1 exit;\n"
      "ld.shared.u32 %r5, [s];\nmov.u32 %r6, %ctaid.x;\n"
      "mul.wide.u32 %rd2, %r6, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
      "st.global.u32 [%rd2], %r5;\n",
      8, 256, out, sizeof(out));
  for (int i = 0; i < 8; ++i) CHECK_EQ(out[i], 255 * 256 / 2);
}

static void calls(void) {
  static const char text[] = MODULE
      ".global .align 8 .u64 pointer = generic(table)+4;\n"
      ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
      ".global .f32 numbers[2] = {0f3F800000, 2.5};\n"
      ".func (.param .b32 out) twice(.param .b32 in) {\n.reg .b32 %r<3>;\n"
      ".reg .pred %p;\nld.param.b32 %r1, [in];\nsetp.eq.u32 %p, %r1, 3;\n"
      "add.u32 %r2, %r1, %r1;\nst.param.b32 [out], %r2;\n@%p ret;\n"
      "add.u32 %r2, %r2, 1;\nst.param.b32 [out], %r2;\nret;\n}\n"
      ".func (.reg .b32 %o) more(.reg .b32 %i)\n{ {\n.param .b32 a;\n"
      ".param .b32 r;\nst.param.b32 [a], %i;\ncall.uni (r), twice, (a);\n"
      "ld.param.b32 %o, [r];\n} ret; }\n"
      ".visible .entry k(.param .u64 p)\n.maxntid 32, 1, 1\n{\n"
      ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %q;\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 55;\n"
      "setp.ne.u32 %q, %r1, 1;\n@%q call (%r2), more, (%r1);\n"
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.u64 %rd4, [pointer];\nld.u32 %r3, [%rd4];\n"
      "ld.const.u32 %r4, [table+12];\nld.global.u32 %r5, [numbers+4];\n"
      "shr.u32 %r5, %r5, 20;\nshl.b32 %r3, %r3, 8;\nshl.b32 %r4, %r4, 12;\n"
      "shl.b32 %r5, %r5, 16;\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r2, %r2, %r4;\n"
      "add.u32 %r2, %r2, %r5;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";
  uint32_t data[4];
  char error[256];
  room_t room = {(uint8_t*)data, sizeof(data), false};
  CHECK_EQ(run_text(text, 1, 4, room, error, sizeof(error)), PTX_OK);
  uint32_t high = 0x402u << 16 | 4u << 12 | 2u << 8;
  CHECK_EQ(data[0], high + 1);
  CHECK_EQ(data[1], high + 55);
  CHECK_EQ(data[2], high + 5);
  CHECK_EQ(data[3], high + 6);
}

static void failures(void) {
  uint32_t data[64] = {0};
  char error[256];
  room_t room = {(uint8_t*)data, sizeof(data), false};
  const struct {
    const char* body;
    int code;
  } bodies[] = {
      {"ld.global.u32 %r2, [%rd1+256];\n", PTX_ILLEGAL_ADDRESS},
      {"ld.global.u32 %r2, [%rd1+-4];\n", PTX_ILLEGAL_ADDRESS},
      {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+248];\n", PTX_MISALIGNED},
      {"ld.global.u32 %r2, [%rd1+2];\n", PTX_MISALIGNED},
      {"ld.global.u32 %r2, [0];\n", PTX_ILLEGAL_ADDRESS},
      {"st.u32 [%rd2], %r2;\n", PTX_ILLEGAL_ADDRESS},
      {".shared .b32 s;\nld.shared.u32 %r2, [s+8192];\n", PTX_ILLEGAL_ADDRESS},
      {".local .b32 s;\nst.local.u32 [s+64], %r2;\n", PTX_ILLEGAL_ADDRESS},
      {"mov.u64 %rd3, 1152921504606846976;\nadd.s64 %rd3, %rd3, 65536;\n"
       "ld.u32 %r2, [%rd3];\n",
       PTX_ILLEGAL_ADDRESS},
      {"atom.global.add.u32 %r2, [%rd1+512], 1;\n", PTX_ILLEGAL_ADDRESS},
      {"trap;\n", PTX_TRAP},
      {"L: bra L;\n", PTX_OUT_OF_STEPS},
      {"bar.sync 0, 64;\n", PTX_DEADLOCK},
      {"bar.sync 16;\n", PTX_INVALID},
  };
  for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); ++i) {
    char text[1024];
    snprintf(text, sizeof(text),
             KERNEL
             ".reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n"
             "ld.param.u64 %%rd1, [p];\nmov.u64 %%rd2, 64;\n%s\nret;\n}",
             bodies[i].body);
    int code = run_text(text, 2, 1, room, error, sizeof(error));
    if (code != bodies[i].code) {
      fprintf(stderr, "%s gave %d (%s), expected %d\n", bodies[i].body, code,
              error, bodies[i].code);
      exit(1);
    }
    CHECK(strstr(error, "kernel 'k'"));
  }
  room.read_only = true;
  CHECK_EQ(run_text(KERNEL ".reg .b64 %r;\nld.param.u64 %r, [p];\n"
                           "st.global.u32 [%r], 1;\n}",
                    1, 1, room, error, sizeof(error)),
           PTX_ILLEGAL_ADDRESS);
  CHECK_EQ(run_text(KERNEL "}", 0, 1, room, error, sizeof(error)), PTX_INVALID);
  CHECK_EQ(run_text(KERNEL "}", 1, 1025, room, error, sizeof(error)),
           PTX_INVALID);
}

static void* stop_soon(void* flag) {
  usleep(20000);
  __atomic_store_n((volatile int*)flag, 1, __ATOMIC_RELAXED);
  return NULL;
}

static bool allow_nothing(void* user, uint64_t address, uint64_t size,
                          bool write) {
  (void)user, (void)address, (void)size, (void)write;
  return false;
}

static void stops(void) {
  char error[256];
  static const char text[] = KERNEL "L: bra L;\n}";
  ptx_module_t* module =
      ptx_module_load(text, strlen(text), error, sizeof(error));
  CHECK(module);
  volatile int stop = 0;
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, stop_soon, (void*)&stop), 0);
  uint64_t zero = 0;
  void* params[] = {&zero};
  const uint32_t grid[] = {8, 2, 1}, block[] = {64, 1, 1};
  const ptx_memory_t memory = {.check = allow_nothing, .stop = &stop};
  CHECK_EQ(ptx_launch(ptx_module_function(module, "k"), grid, block, 0, params,
                      &memory, error, sizeof(error)),
           PTX_STOPPED);
  pthread_join(thread, NULL);
  ptx_module_unload(module);
}

void test_threads(void) {
  divergence();
  exchanges();
  barriers();
  memory();
  atomics();
  calls();
  failures();
  stops();
}
