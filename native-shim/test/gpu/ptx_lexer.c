// Tokens of PTX. A name takes its dots with it, so an instruction with its
// suffixes, a directive and a special register are one token each.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_build.h"

bool ptx_refuse(ptx_build_t* b, uint32_t line, const char* format, ...) {
  if (b->failed) return false;
  b->failed = true;
  if (!b->error || b->error_size == 0) return false;
  int used = snprintf(b->error, b->error_size, "line %u: ", line);
  if (used < 0 || (size_t)used >= b->error_size) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(b->error + used, b->error_size - (size_t)used, format, arguments);
  va_end(arguments);
  return false;
}

bool ptx_grow(ptx_build_t* b, void** array, uint32_t count, uint32_t* capacity,
              size_t size) {
  if (count < *capacity) return true;
  uint32_t grown = *capacity ? *capacity * 2 : 64;
  void* memory = realloc(*array, grown * size);
  if (!memory) return ptx_refuse(b, b->line, "no memory");
  *array = memory;
  *capacity = grown;
  return true;
}

//===--------------------------------------------------------------------===//
// Characters
//===--------------------------------------------------------------------===//

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_space(ptx_build_t* b) {
  for (; b->at < b->end; ++b->at) {
    size_t left = (size_t)(b->end - b->at);
    if (*b->at == '\n') {
      ++b->line;
    } else if (*b->at == '/' && left > 1 && b->at[1] == '/') {
      while (b->at + 1 < b->end && b->at[1] != '\n') ++b->at;
    } else if (*b->at == '/' && left > 1 && b->at[1] == '*') {
      for (b->at += 2; b->at + 1 < b->end; ++b->at) {
        if (*b->at == '\n') ++b->line;
        if (b->at[0] == '*' && b->at[1] == '/') break;
      }
      if (b->at + 1 >= b->end) {
        b->at = b->end;
        return;
      }
      ++b->at;
    } else if (*b->at != ' ' && *b->at != '\t' && *b->at != '\r') {
      return;
    }
  }
}

void ptx_next(ptx_build_t* b) {
  skip_space(b);
  const char* from = b->at;
  b->token = (ptx_token_t){PTX_END, from, 0, b->line};
  // Nothing more is read after a refusal, so every loop over tokens ends.
  if (b->failed || from == b->end || *from == '\0') return;
  if (is_word(*from)) {
    b->token.kind = is_digit(*from) ? PTX_NUMBER : PTX_WORD;
    while (b->at < b->end) {
      if (is_word(*b->at)) {
        ++b->at;
      } else if (b->end - b->at > 2 && b->at[0] == ':' && b->at[1] == ':' &&
                 is_word(b->at[2])) {
        b->at += 2;  // .shared::cta
      } else if (b->token.kind == PTX_NUMBER && b->at > from &&
                 (b->at[-1] == 'e' || b->at[-1] == 'E') &&
                 (*b->at == '+' || *b->at == '-') && from[1] != 'x' &&
                 from[1] != 'f' && from[1] != 'd') {
        ++b->at;  // 1.0e-5
      } else {
        break;
      }
    }
  } else if (*from == '"') {
    b->token.kind = PTX_STRING;
    ++b->at;
    while (b->at < b->end && *b->at != '"' && *b->at != '\n') {
      b->at += *b->at == '\\' && b->at + 1 < b->end ? 2 : 1;
    }
    if (b->at >= b->end || *b->at != '"') {
      ptx_refuse(b, b->line, "a string without an end");
      b->token.kind = PTX_END;
      return;
    }
    ++b->at;
  } else {
    b->token.kind = PTX_MARK;
    ++b->at;
  }
  size_t length = (size_t)(b->at - from);
  b->token.length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

bool ptx_is(const ptx_build_t* b, const char* text) {
  return b->token.kind != PTX_END && b->token.length == strlen(text) &&
         memcmp(b->token.at, text, b->token.length) == 0;
}

bool ptx_take(ptx_build_t* b, const char* text) {
  if (!ptx_is(b, text)) return false;
  ptx_next(b);
  return true;
}

bool ptx_expect(ptx_build_t* b, const char* text) {
  if (ptx_take(b, text)) return true;
  if (b->token.kind == PTX_END) {
    return ptx_refuse(b, b->token.line, "the text ends where '%s' should be",
                      text);
  }
  return ptx_refuse(b, b->token.line, "'%.*s' where '%s' should be",
                    (int)(b->token.length < 60 ? b->token.length : 60),
                    b->token.at, text);
}

//===--------------------------------------------------------------------===//
// Numbers
//===--------------------------------------------------------------------===//

static int digit_of(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

static bool read_digits(const char* text, uint32_t length, uint64_t base,
                        uint64_t* value) {
  *value = 0;
  if (length == 0) return false;
  for (uint32_t i = 0; i < length; ++i) {
    uint64_t digit = (uint64_t)digit_of(text[i]);
    if (digit >= base || __builtin_mul_overflow(*value, base, value) ||
        __builtin_add_overflow(*value, digit, value)) {
      return false;
    }
  }
  return true;
}

static uint64_t bits_of(double value, char as) {
  uint64_t bits = 0;
  if (as == 'f') {
    float single = (float)value;
    memcpy(&bits, &single, 4);
  } else {
    memcpy(&bits, &value, 8);
  }
  return bits;
}

// 0f3F800000, 0d3FF0000000000000, 1.5, 2e10.
static bool read_float(const char* text, uint32_t length, char as, bool* is_one,
                       uint64_t* value) {
  *is_one = false;
  char prefix = length > 1 && text[0] == '0' ? text[1] : '\0';
  if (prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D') {
    bool single = prefix == 'f' || prefix == 'F';
    *is_one = true;
    if (length != (single ? 10 : 18) ||
        !read_digits(text + 2, length - 2, 16, value)) {
      return false;
    }
    // Both are bits where no float of another size is wanted.
    if (as != (single ? 'g' : 'f')) return true;
    if (single) {
      uint32_t bits = (uint32_t)*value;
      float number;
      memcpy(&number, &bits, 4);
      *value = bits_of((double)number, 'g');
    } else {
      double number;
      memcpy(&number, value, 8);
      *value = bits_of(number, 'f');
    }
    return true;
  }
  if (prefix == 'x' || prefix == 'X' ||
      (!memchr(text, '.', length) && as != 'f' && as != 'g')) {
    return true;
  }
  if (!memchr(text, '.', length) && !memchr(text, 'e', length) &&
      !memchr(text, 'E', length)) {
    return true;
  }
  char copy[64];
  *is_one = true;
  if (length >= sizeof(copy)) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  char* rest;
  double number = strtod(copy, &rest);
  *value = bits_of(number, as == 'g' || as == 'd' ? 'g' : 'f');
  return *rest == '\0';
}

bool ptx_number(ptx_build_t* b, char as, uint64_t* value) {
  bool negative = ptx_take(b, "-");
  ptx_token_t token = b->token;
  const char* text = token.at;
  uint32_t length = token.length;
  bool is_float = false;
  if (token.kind != PTX_NUMBER ||
      !read_float(text, length, as, &is_float, value)) {
    return ptx_refuse(b, token.line, "'%.*s' is no number",
                      (int)(length < 60 ? length : 60), text);
  }
  if (is_float) {
    if (negative) {
      *value ^= as == 'g' || as == 'd' ? (uint64_t)1 << 63 : 1u << 31;
    }
    ptx_next(b);
    return true;
  }
  if (length > 1 && text[length - 1] == 'U') --length;
  bool read;
  if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    read = read_digits(text + 2, length - 2, 16, value);
  } else if (length > 2 && text[0] == '0' &&
             (text[1] == 'b' || text[1] == 'B')) {
    read = read_digits(text + 2, length - 2, 2, value);
  } else if (length > 1 && text[0] == '0') {
    read = read_digits(text + 1, length - 1, 8, value);
  } else {
    read = read_digits(text, length, 10, value);
  }
  if (!read) {
    return ptx_refuse(b, token.line, "'%.*s' is no number that fits",
                      (int)(token.length < 60 ? token.length : 60), text);
  }
  if (negative) *value = 0 - *value;
  if (as == 'f' || as == 'g') *value = bits_of((double)(int64_t)*value, as);
  ptx_next(b);
  return true;
}

bool ptx_count(ptx_build_t* b, uint64_t limit, uint64_t* value) {
  uint32_t line = b->token.line;
  if (!ptx_number(b, 'd', value)) return false;
  if (*value > limit) {
    return ptx_refuse(b, line, "%llu is more than %llu",
                      (unsigned long long)*value, (unsigned long long)limit);
  }
  return true;
}
