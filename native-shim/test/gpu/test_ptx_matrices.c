// Matrix products of warps, against products computed here.
#include <math.h>

#include "test_ptx.h"

// Each lane has its registers at 128 * lane in the room; the kernel loads what
// the instruction reads, performs it, and stores what it writes.
static void run_warp_op(const char* instruction, uint32_t* data, size_t size) {
  char text[4096];
  int n = snprintf(text, sizeof(text),
                   ".reg .b32 a<16>;\n.reg .b32 d<16>;\n"
                   "mul.wide.u32 %%rd2, %%r1, 128;\n"
                   "add.s64 %%rd2, %%rd1, %%rd2;\n");
  for (int i = 0; i < 16; ++i) {
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "ld.global.u32 a%d, [%%rd2+%d];\nmov.u32 d%d, 0;\n", i, 4 * i,
                  i);
  }
  n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", instruction);
  for (int i = 0; i < 16; ++i) {
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "st.global.u32 [%%rd2+%d], d%d;\n", 64 + 4 * i, i);
  }
  CHECK((size_t)n < sizeof(text));
  run_body(text, 1, 32, data, size);
}

static float small(uint32_t x, uint32_t y) {
  return (float)((int)(x * 7 + y * 3) % 5 - 2);
}

// Small integers as numbers of 16 bits.
static uint32_t half(float value) {
  static const uint32_t codes[] = {0xC000, 0xBC00, 0, 0x3C00, 0x4000};
  return codes[(int)value + 2];
}
static uint32_t brain(float value) {
  static const uint32_t codes[] = {0xC000, 0xBF80, 0, 0x3F80, 0x4000};
  return codes[(int)value + 2];
}

static float product(uint32_t row, uint32_t column, uint32_t k) {
  float sum = 1;
  for (uint32_t i = 0; i < k; ++i) {
    sum += small(row, i) * small(i + 11, column);
  }
  return sum;
}

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

// The fragments of m16n8k16, as the manual draws them.
static void products_of_halves(bool is_brain) {
  uint32_t data[32][32] = {{0}};
  uint32_t (*encode)(float) = is_brain ? brain : half;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, in_group = lane % 4;
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      uint32_t column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      data[lane][i / 2] |= encode(small(row, column)) << (i & 1) * 16;
    }
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      data[lane][4 + i / 2] |= encode(small(row + 11, group)) << (i & 1) * 16;
    }
    for (int i = 0; i < 4; ++i) data[lane][6 + i] = as_bits(1.0f);
  }
  run_warp_op(is_brain ? "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                         "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, "
                         "{a6, a7, a8, a9};"
                       : "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, "
                         "{a6, a7, a8, a9};",
              &data[0][0], sizeof(data));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + (i >= 2 ? 8 : 0);
      uint32_t column = lane % 4 * 2 + (i & 1);
      CHECK(as_float(data[lane][16 + i]) == product(row, column, 16));
    }
  }
}

static void products_of_singles(void) {
  uint32_t data[32][32] = {{0}};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, in_group = lane % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      data[lane][i] =
          as_bits(small(group + (i & 1) * 8, in_group + (i >> 1) * 4));
    }
    for (uint32_t i = 0; i < 2; ++i) {
      data[lane][4 + i] = as_bits(small(in_group + i * 4 + 11, group));
    }
    for (int i = 0; i < 4; ++i) data[lane][6 + i] = as_bits(1.0f);
  }
  run_warp_op(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, {a6, a7, a8, a9};",
      &data[0][0], sizeof(data));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      CHECK(as_float(data[lane][16 + i]) ==
            product(lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1), 8));
    }
  }
}

// Of operands of tf32 the lower 13 bits do not count, which compilers leave in
// place. Products are exact, sums have more bits than f32 and are rounded once.
static void products_of_inexact_singles(void) {
  uint32_t data[32][32] = {{0}}, next = 1, differ = 0;
  float a[16][8], b[8][8], c[16][8];
  for (uint32_t i = 0; i < 128 + 64 + 128; ++i) {
    next = next * 1664525 + 1013904223;
    float value = (float)(int32_t)next / 1e9f;
    if (i < 128) {
      a[i / 8][i % 8] = value;
    } else if (i < 192) {
      b[i / 8 - 16][i % 8] = value;
    } else {
      c[i / 8 - 24][i % 8] = value;
    }
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, in_group = lane % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      data[lane][i] = as_bits(a[group + (i & 1) * 8][in_group + (i >> 1) * 4]);
      data[lane][6 + i] =
          as_bits(c[group + (i >= 2 ? 8 : 0)][in_group * 2 + (i & 1)]);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      data[lane][4 + i] = as_bits(b[in_group + i * 4][group]);
    }
  }
  run_warp_op(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, {a6, a7, a8, a9};",
      &data[0][0], sizeof(data));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + (i >= 2 ? 8 : 0);
      uint32_t column = lane % 4 * 2 + (i & 1);
      double sum = (double)c[row][column], whole = sum;
      for (uint32_t k = 0; k < 8; ++k) {
        sum += (double)as_float(as_bits(a[row][k]) & 0xFFFFE000) *
               (double)as_float(as_bits(b[k][column]) & 0xFFFFE000);
        whole += (double)a[row][k] * (double)b[k][column];
      }
      CHECK(as_float(data[lane][16 + i]) == (float)sum);
      differ += (float)sum != (float)whole;
    }
  }
  CHECK(differ > 100);
}

static void products_of_bytes(void) {
  uint32_t data[32][32] = {{0}};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t group = lane / 4, in_group = lane % 4;
    for (uint32_t i = 0; i < 16; ++i) {
      uint32_t row = group + (i / 4 % 2) * 8;
      uint32_t column = in_group * 4 + i % 4 + (i >= 8 ? 16 : 0);
      uint32_t value = (uint8_t)(int8_t)small(row, column);
      data[lane][i / 4] |= value << i % 4 * 8;
    }
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t row = in_group * 4 + i % 4 + (i >= 4 ? 16 : 0);
      uint32_t value = (uint8_t)(int8_t)small(row + 11, group);
      data[lane][4 + i / 4] |= value << i % 4 * 8;
    }
    for (int i = 0; i < 4; ++i) data[lane][6 + i] = 1;
  }
  run_warp_op(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 "
      "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {a4, a5}, {a6, a7, a8, a9};",
      &data[0][0], sizeof(data));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      float sum =
          product(lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1), 32);
      CHECK_EQ(data[lane][16 + i], (uint32_t)(int32_t)sum);
    }
  }
}

// Four 8x8 matrices from shared memory, as they are and transposed.
static void loads(void) {
  uint32_t data[32][32] = {{0}};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      data[lane][i] = lane * 8 + i * 2 + (lane * 8 + i * 2 + 1) * 0x10000;
    }
  }
  run_warp_op(
      ".shared .align 16 .b8 s[512];\nmov.u32 %r2, s;\n"
      "mad.lo.u32 %r3, %r1, 16, %r2;\n"
      "st.shared.v4.b32 [%r3], {a0, a1, a2, a3};\nbar.sync 0;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {d0, d1, d2, d3}, [%r3];\n"
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {d4, d5}, [%r3];\n",
      &data[0][0], sizeof(data));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t at = (k * 8 + lane / 4) * 8 + lane % 4 * 2;
      CHECK_EQ(data[lane][16 + k], at | (at + 1) << 16);
    }
    uint32_t low = lane % 4 * 2 * 8 + lane / 4;
    CHECK_EQ(data[lane][20], low | (low + 8) << 16);
  }
}

// A product through wmma, from memory to memory.
static void wmma(void) {
  float data[16 * 8 + 8 * 16 + 16 * 16] = {0};
  for (uint32_t i = 0; i < 128; ++i) {
    data[i] = small(i / 8, i % 8);
    data[128 + i] = small(i % 8 + 11, i / 8);  // column by column
  }
  run_body(
      ".reg .b32 a<4>, b<4>;\n.reg .b32 c<8>, d<8>;\n.reg .f32 one;\n"
      "mov.f32 one, 0f3F800000;\n"
      "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {a0, a1, a2, a3}, "
      "[%rd1], 8;\n"
      "wmma.load.b.sync.aligned.col.m16n16k8.global.tf32 {b0, b1, b2, b3}, "
      "[%rd1+512], 8;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 "
      "{d0, d1, d2, d3, d4, d5, d6, d7}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, "
      "{one, one, one, one, one, one, one, one};\n"
      "wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [%rd1+1024], "
      "{d0, d1, d2, d3, d4, d5, d6, d7}, 16;\n",
      1, 32, data, sizeof(data));
  for (uint32_t i = 0; i < 256; ++i) {
    CHECK(data[256 + i] == product(i / 16, i % 16, 8));
  }
}

void test_matrices(void) {
  products_of_halves(false);
  products_of_halves(true);
  products_of_singles();
  products_of_inexact_singles();
  products_of_bytes();
  loads();
  wmma();
}
