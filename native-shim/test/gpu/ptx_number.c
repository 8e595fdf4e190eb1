// Rounding to small formats.
#include "ptx_number.h"

#include <fenv.h>

void ptx_set_rounding(ptx_rounding_t rounding) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD, FE_TONEAREST};
  fesetround(modes[rounding]);
}

uint32_t ptx_round_to(double value, int exponent, int mantissa,
                      ptx_rounding_t rounding) {
  uint64_t bits = ptx_bits64(value);
  uint32_t sign = (uint32_t)(bits >> 63) << (exponent + mantissa);
  uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  if (value != value) return infinity | ((1u << mantissa) - 1);
  double magnitude = fabs(value);
  if (isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  int bias = (1 << (exponent - 1)) - 1;
  int power;
  frexp(magnitude, &power);  // in [2^(power-1), 2^power)
  int lowest = 1 - bias;
  int scale = power - 1 < lowest ? lowest : power - 1;
  // In units of the last place: an integer and a fraction, both exact.
  double units = ldexp(magnitude, mantissa - scale);
  double whole = floor(units), fraction = units - whole;
  uint64_t steps = (uint64_t)whole;
  bool up = false;
  switch (rounding) {
    case PTX_NEAREST:
      up = fraction > 0.5 || (fraction == 0.5 && (steps & 1));
      break;
    case PTX_AWAY:
      up = fraction >= 0.5;
      break;
    case PTX_ZERO:
      break;
    case PTX_DOWN:
      up = sign && fraction > 0;
      break;
    case PTX_UP:
      up = !sign && fraction > 0;
      break;
  }
  steps += up;
  // Carries run into the exponent.
  uint64_t encoded = ((uint64_t)(scale + bias - 1) << mantissa) + steps;
  if (encoded >= infinity) {
    bool cut = rounding == PTX_ZERO || (rounding == PTX_DOWN && !sign) ||
               (rounding == PTX_UP && sign);
    encoded = cut ? infinity - 1 : infinity;
  }
  return sign | (uint32_t)encoded;
}

double ptx_fused(double a, double b, double c) {
  double product = a * b;  // exact: at most 48 bits
  double sum = product + c;
  if (!isfinite(sum)) return sum;
  double part = sum - product;
  double lost = (product - (sum - part)) + (c - part);
  uint64_t bits = ptx_bits64(sum);
  // Rounded to odd, it rounds again as the exact sum would.
  if (lost != 0 && !(bits & 1)) {
    bits += (lost > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    sum = ptx_double(bits);
  }
  return sum;
}

float ptx_from_e5m2(uint8_t bits) {
  return ptx_from_half((uint16_t)(bits << 8));
}

float ptx_from_e4m3(uint8_t bits) {
  uint32_t exponent = bits >> 3 & 15, mantissa = bits & 7;
  if ((bits & 0x7F) == 0x7F) return NAN;
  float value = exponent ? ldexpf((float)(8 + mantissa), (int)exponent - 10)
                         : ldexpf((float)mantissa, -9);
  return bits & 0x80 ? -value : value;
}

// Both saturate to the largest finite number.
uint8_t ptx_to_e5m2(double value) {
  uint32_t bits = ptx_round_to(value, 5, 2, PTX_NEAREST);
  if (value != value) return 0x7F;
  return (uint8_t)((bits & 0x7F) >= 0x7C ? (bits & 0x80) | 0x7B : bits);
}

uint8_t ptx_to_e4m3(double value) {
  if (value != value) return 0x7F;
  uint8_t sign = signbit(value) ? 0x80 : 0;
  // The format has numbers where others have infinities.
  uint32_t bits = ptx_round_to(fabs(value), 5, 3, PTX_NEAREST);
  double rounded = (double)ptx_from_half((uint16_t)(bits << 7));
  if (fabs(value) < 0x1p-6) {
    return (uint8_t)(sign | (uint8_t)nearbyint(fabs(value) * 0x1p9));
  }
  if (rounded > 448 || isinf(rounded)) return sign | 0x7E;
  int power;
  double fraction = frexp(rounded, &power);  // in [0.5, 1)
  uint32_t exponent = (uint32_t)(power - 1 + 7);
  return (uint8_t)(sign | exponent << 3 | ((uint32_t)(fraction * 16) & 7));
}
