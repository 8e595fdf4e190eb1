// SPIR-V operations on values.
#include <math.h>
#include <string.h>

#include "fake_spirv.h"

static uint64_t cut(uint64_t bits, uint32_t width) {
  return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

static int64_t extended(uint64_t bits, uint32_t width) {
  uint32_t unused = 64 - width;
  return (int64_t)(bits << unused) >> unused;
}

static double as_float(uint64_t bits, uint32_t width) {
  if (width == 64) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
  uint32_t half = (uint32_t)bits;
  float value;
  memcpy(&value, &half, sizeof(value));
  return (double)value;
}

static uint64_t of_float(double value, uint32_t width) {
  uint64_t bits = 0;
  if (width == 64) {
    memcpy(&bits, &value, sizeof(value));
  } else {
    float rounded = (float)value;
    memcpy(&bits, &rounded, sizeof(rounded));
  }
  return bits;
}

// Rounds after each operation, as 32-bit arithmetic does: doubles have more
// than twice the digits, so that rounding twice is rounding once.
static bool float_op(uint32_t op, double a, double b, double* out) {
  switch (op) {
    case 127:
      *out = -a;
      return true;
    case 129:
      *out = a + b;
      return true;
    case 131:
      *out = a - b;
      return true;
    case 133:
      *out = a * b;
      return true;
    case 136:
      *out = a / b;
      return true;
    case 140:
      *out = fmod(a, b);
      return true;
    case 141:
      *out = a - b * floor(a / b);
      return true;
    default:
      return false;
  }
}

static bool float_compare(uint32_t op, double a, double b, uint64_t* out) {
  bool unordered = isnan(a) || isnan(b);
  bool odd = op % 2;  // the unordered ones
  bool holds;
  switch (op & ~1u) {
    case 180:
      holds = a == b;
      break;
    case 182:
      holds = a != b && !unordered;
      break;
    case 184:
      holds = a < b;
      break;
    case 186:
      holds = a > b;
      break;
    case 188:
      holds = a <= b;
      break;
    case 190:
      holds = a >= b;
      break;
    default:
      return false;
  }
  *out = holds || (odd && unordered);
  return true;
}

static bool int_op(uint32_t op, uint64_t a, uint64_t b, uint32_t width,
                   uint64_t* out) {
  int64_t sa = extended(a, width), sb = extended(b, width);
  switch (op) {
    case 126:
      *out = 0 - a;
      return true;
    case 128:
      *out = a + b;
      return true;
    case 130:
      *out = a - b;
      return true;
    case 132:
      *out = a * b;
      return true;
    case 134:
      *out = b ? a / b : 0;
      return true;
    case 135:
      *out = sb && sb != -1 ? (uint64_t)(sa / sb) : 0 - a;
      return true;
    case 137:
      *out = b ? a % b : 0;
      return true;
    case 138:
      *out = sb && sb != -1 ? (uint64_t)(sa % sb) : 0;
      return true;
    case 139:
      *out = sb && sb != -1 ? (uint64_t)((sa % sb + sb) % sb) : 0;
      return true;
    case 194:
      *out = b < width ? a >> b : 0;
      return true;
    case 195:
      *out = (uint64_t)(sa >> (b < width ? b : width - 1));
      return true;
    case 196:
      *out = b < width ? a << b : 0;
      return true;
    case 166:
    case 197:
      *out = a | b;
      return true;
    case 198:
      *out = a ^ b;
      return true;
    case 167:
    case 199:
      *out = a & b;
      return true;
    case 200:
      *out = ~a;
      return true;
    case 168:
      *out = !a;
      return true;
    case 164:
    case 170:
      *out = a == b;
      return true;
    case 165:
    case 171:
      *out = a != b;
      return true;
    case 172:
      *out = a > b;
      return true;
    case 173:
      *out = sa > sb;
      return true;
    case 174:
      *out = a >= b;
      return true;
    case 175:
      *out = sa >= sb;
      return true;
    case 176:
      *out = a < b;
      return true;
    case 177:
      *out = sa < sb;
      return true;
    case 178:
      *out = a <= b;
      return true;
    case 179:
      *out = sa <= sb;
      return true;
    default:
      return false;
  }
}

static bool convert(uint32_t op, uint64_t a, uint32_t from, uint32_t to,
                    uint64_t* out) {
  switch (op) {
    case 109:
      *out = (uint64_t)as_float(a, from);
      return true;
    case 110:
      *out = (uint64_t)(int64_t)as_float(a, from);
      return true;
    case 111:
      *out = of_float((double)extended(a, from), to);
      return true;
    case 112:
      *out = of_float((double)a, to);
      return true;
    case 114:
      *out = (uint64_t)extended(a, from);
      return true;
    case 115:
      *out = of_float(as_float(a, from), to);
      return true;
    case 83:   // copy
    case 113:  // unsigned
    case 117:  // pointers
    case 120:
      *out = a;
      return true;
    default:
      return false;
  }
}

// Bits of one shape as bits of another.
static void bitcast(uint32_t from, uint32_t from_count, uint32_t to,
                    uint32_t to_count, const fake_value_t* in,
                    fake_value_t* out) {
  uint8_t bytes[32] = {0};
  for (uint32_t i = 0; i < from_count; ++i) {
    memcpy(bytes + i * from / 8, &in->c[i], from / 8);
  }
  for (uint32_t i = 0; i < to_count; ++i) {
    memcpy(&out->c[i], bytes + i * to / 8, to / 8);
  }
}

bool fake_compute(const fake_module_t* module, uint32_t op,
                  uint32_t result_type, uint32_t operand_type,
                  const fake_value_t* operands, uint32_t operand_count,
                  fake_value_t* out) {
  uint32_t to = fake_width(module, result_type);
  uint32_t from = fake_width(module, operand_type);
  uint32_t count = fake_components(module, result_type);
  *out = (fake_value_t){0};
  if (op == 124) {
    bitcast(from, fake_components(module, operand_type), to, count, operands,
            out);
    return true;
  }
  for (uint32_t i = 0; i < count && i < 4; ++i) {
    uint64_t a = operands[0].c[i];
    uint64_t b = operand_count > 1 ? operands[1].c[i] : 0;
    double result = 0;
    if (op == 169) {  // select
      bool whole = fake_components(module, operand_type) == 1;
      out->c[i] = operands[whole && !operands[0].c[0]  ? 2
                           : whole || operands[0].c[i] ? 1
                                                       : 2]
                      .c[i];
    } else if (float_op(op, as_float(a, from), as_float(b, from), &result)) {
      out->c[i] = of_float(result, to);
    } else if (!float_compare(op, as_float(a, from), as_float(b, from),
                              &out->c[i]) &&
               !int_op(op, a, b, from, &out->c[i]) &&
               !convert(op, a, from, to, &out->c[i])) {
      return false;
    }
    out->c[i] = cut(out->c[i], to);
  }
  return true;
}

bool fake_compute_extended(const fake_module_t* module, uint32_t function,
                           uint32_t result_type, const fake_value_t* operands,
                           fake_value_t* out) {
  uint32_t width = fake_width(module, result_type);
  *out = (fake_value_t){0};
  for (uint32_t i = 0; i < fake_components(module, result_type) && i < 4; ++i) {
    uint64_t x = operands[0].c[i], y = operands[1].c[i];
    double a = as_float(x, width), b = as_float(y, width);
    double c = as_float(operands[2].c[i], width);
    int64_t sx = extended(x, width), sy = extended(y, width);
    double result = 0;
    bool whole = false;
    switch (function) {
      case 4:
        result = fabs(a);
        break;
      case 5:
        out->c[i] = (uint64_t)(sx < 0 ? -sx : sx), whole = true;
        break;
      case 8:
        result = floor(a);
        break;
      case 9:
        result = ceil(a);
        break;
      case 13:
        result = sin(a);
        break;
      case 14:
        result = cos(a);
        break;
      case 26:
        result = pow(a, b);
        break;
      case 27:
        result = exp(a);
        break;
      case 28:
        result = log(a);
        break;
      case 31:
        result = sqrt(a);
        break;
      case 37:
        result = b < a ? b : a;
        break;
      case 38:
        out->c[i] = x < y ? x : y, whole = true;
        break;
      case 39:
        out->c[i] = sx < sy ? x : y, whole = true;
        break;
      case 40:
        result = a < b ? b : a;
        break;
      case 41:
        out->c[i] = x > y ? x : y, whole = true;
        break;
      case 42:
        out->c[i] = sx > sy ? x : y, whole = true;
        break;
      case 43:
        result = a < b ? b : a > c ? c : a;
        break;
      case 50:
        result = width == 64 ? fma(a, b, c)
                             : (double)fmaf((float)a, (float)b, (float)c);
        break;
      default:
        return false;
    }
    out->c[i] = cut(whole ? out->c[i] : of_float(result, width), width);
  }
  return true;
}
