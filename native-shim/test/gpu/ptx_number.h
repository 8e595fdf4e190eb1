// Numbers that C11 has no types for.
#ifndef IREE4J_TEST_PTX_NUMBER_H_
#define IREE4J_TEST_PTX_NUMBER_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ptx_internal.h"

static inline uint32_t ptx_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static inline float ptx_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static inline uint64_t ptx_bits64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return bits;
}

static inline double ptx_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

// Subnormal numbers become zeros of the same sign.
static inline float ptx_flush(float value) {
  uint32_t bits = ptx_bits(value);
  return bits & 0x7F800000 ? value : ptx_float(bits & 0x80000000);
}

static inline float ptx_from_bfloat(uint16_t bits) {
  return ptx_float((uint32_t)bits << 16);
}

static inline float ptx_from_half(uint16_t bits) {
  // The exponent is moved by a product, which is exact for subnormals too.
  uint32_t magnitude = bits & 0x7FFF;
  float value = ptx_float(magnitude << 13) * 0x1p112f;
  if (magnitude >= 0x7C00) value = ptx_float(magnitude << 13 | 0x7F800000);
  return ptx_float(ptx_bits(value) | (uint32_t)(bits & 0x8000) << 16);
}

// Rounds to a format with |mantissa| bits after the point and |exponent| bits.
uint32_t ptx_round_to(double value, int exponent, int mantissa,
                      ptx_rounding_t rounding);

static inline uint16_t ptx_to_half(double value, ptx_rounding_t rounding) {
  return (uint16_t)ptx_round_to(value, 5, 10, rounding);
}

static inline uint16_t ptx_to_bfloat(double value, ptx_rounding_t rounding) {
  return (uint16_t)ptx_round_to(value, 8, 7, rounding);
}

// a * b + c, such that rounding it to at most 24 bits once gives the right
// number.
double ptx_fused(double a, double b, double c);

// E4M3 and E5M2, of 8 bits.
float ptx_from_e4m3(uint8_t bits);
float ptx_from_e5m2(uint8_t bits);
uint8_t ptx_to_e4m3(double value);
uint8_t ptx_to_e5m2(double value);

// Sets the processor's rounding until it is set back with PTX_NEAREST.
void ptx_set_rounding(ptx_rounding_t rounding);

#endif  // IREE4J_TEST_PTX_NUMBER_H_
