// Operands: registers, numbers, special registers, vectors and addresses.
#include <string.h>

#include "ptx_build.h"

const ptx_type_t ptx_types[] = {
    {"pred", PTX_PRED, 1, 'p'},     {"b8", PTX_BITS, 1, 'h'},
    {"u8", PTX_UNSIGNED, 1, 'h'},   {"s8", PTX_SIGNED, 1, 'h'},
    {"b16", PTX_BITS, 2, 'h'},      {"u16", PTX_UNSIGNED, 2, 'h'},
    {"s16", PTX_SIGNED, 2, 'h'},    {"f16", PTX_FLOAT, 2, 'h'},
    {"bf16", PTX_BFLOAT, 2, 'h'},   {"b32", PTX_BITS, 4, 'w'},
    {"u32", PTX_UNSIGNED, 4, 'w'},  {"s32", PTX_SIGNED, 4, 'w'},
    {"f32", PTX_FLOAT, 4, 'w'},     {"f16x2", PTX_PACKED, 4, 'w'},
    {"bf16x2", PTX_PACKED, 4, 'w'}, {"tf32", PTX_PACKED, 4, 'w'},
    {"u16x2", PTX_PACKED, 4, 'w'},  {"s16x2", PTX_PACKED, 4, 'w'},
    {"b64", PTX_BITS, 8, 'd'},      {"u64", PTX_UNSIGNED, 8, 'd'},
    {"s64", PTX_SIGNED, 8, 'd'},    {"f64", PTX_FLOAT, 8, 'd'},
    {"f32x2", PTX_PACKED, 8, 'd'},  {"e4m3x2", PTX_PACKED, 2, 'h'},
    {"e5m2x2", PTX_PACKED, 2, 'h'}, {NULL, PTX_BITS, 0, 0},
};

const ptx_type_t* ptx_type_of(const char* name, size_t length) {
  for (const ptx_type_t* type = ptx_types; type->name; ++type) {
    if (strlen(type->name) == length && memcmp(type->name, name, length) == 0) {
      return type;
    }
  }
  return NULL;
}

uint8_t ptx_type_index(const ptx_type_t* type) {
  return (uint8_t)(type - ptx_types);
}

static const struct {
  const char* name;
  int place;
} specials[] = {
    {"%tid.x", PTX_TID},
    {"%tid.y", PTX_TID + 1},
    {"%tid.z", PTX_TID + 2},
    {"%ntid.x", PTX_NTID},
    {"%ntid.y", PTX_NTID + 1},
    {"%ntid.z", PTX_NTID + 2},
    {"%ctaid.x", PTX_CTAID},
    {"%ctaid.y", PTX_CTAID + 1},
    {"%ctaid.z", PTX_CTAID + 2},
    {"%nctaid.x", PTX_NCTAID},
    {"%nctaid.y", PTX_NCTAID + 1},
    {"%nctaid.z", PTX_NCTAID + 2},
    {"%laneid", PTX_LANEID},
    {"%warpid", PTX_WARPID},
    {"%nwarpid", PTX_NWARPID},
    {"%lanemask_eq", PTX_LANEMASK_EQ},
    {"%lanemask_le", PTX_LANEMASK_LE},
    {"%lanemask_lt", PTX_LANEMASK_LT},
    {"%lanemask_ge", PTX_LANEMASK_GE},
    {"%lanemask_gt", PTX_LANEMASK_GT},
    {"%dynamic_smem_size", PTX_DYNAMIC_SMEM},
    {"%total_smem_size", PTX_TOTAL_SMEM},
    {"%smid", PTX_ZEROS},
    {"%nsmid", PTX_ONES},
    {"%gridid", PTX_ZEROS},
};

static int32_t refuse_token(ptx_build_t* b, const char* what) {
  ptx_refuse(b, b->token.line, "'%.*s' %s",
             (int)(b->token.length < 60 ? b->token.length : 60), b->token.at,
             what);
  return PTX_NO_OPERAND;
}

static int32_t special(ptx_build_t* b, char width) {
  for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); ++i) {
    if (ptx_is(b, specials[i].name) &&
        (width == 'w' || (width == 'd' && specials[i].place == PTX_ZEROS))) {
      ptx_next(b);
      return PTX_SPECIAL(specials[i].place);
    }
  }
  return PTX_NO_OPERAND;
}

static int32_t immediate(ptx_build_t* b, char width, const ptx_type_t* type) {
  uint64_t value;
  char as = width;
  if (type && type->kind == PTX_FLOAT && type->size >= 4) {
    as = type->size == 8 ? 'g' : 'f';
  }
  if (!ptx_number(b, as, &value)) return PTX_NO_OPERAND;
  if (width == 'p') value = value ? PTX_ALL_LANES : 0;
  if (width == 'h') value &= 0xFFFF;
  if (width == 'w') value &= 0xFFFFFFFF;
  return ptx_constant(b, value, width, false);
}

int32_t ptx_source(ptx_build_t* b, char width, const ptx_type_t* type) {
  if (b->token.kind == PTX_NUMBER || ptx_is(b, "-")) {
    return immediate(b, width, type);
  }
  if (b->token.kind != PTX_WORD) return refuse_token(b, "is no operand");
  ptx_symbol_t scratch;
  const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
  if (!symbol) {
    int32_t place = special(b, width);
    if (place != PTX_NO_OPERAND) return place;
    if (ptx_is(b, "WARP_SZ")) {
      ptx_next(b);
      return ptx_constant(b, PTX_LANES, width, false);
    }
    return refuse_token(b, "is not defined or not supported here");
  }
  if (symbol->kind != PTX_REGISTER) return refuse_token(b, "is no register");
  if (symbol->width != width) return refuse_token(b, "has another size");
  ptx_next(b);
  return (int32_t)symbol->place;
}

int32_t ptx_target(ptx_build_t* b, char width) {
  if (ptx_take(b, "_")) return PTX_SPECIAL(PTX_SINK);
  char found;
  ptx_token_t token = b->token;
  int32_t place = ptx_any_register(b, &found, true);
  if (place != PTX_NO_OPERAND && found != width) {
    ptx_refuse(b, token.line, "'%.*s' has another size",
               (int)(token.length < 60 ? token.length : 60), token.at);
    return PTX_NO_OPERAND;
  }
  return place;
}

int32_t ptx_any_register(ptx_build_t* b, char* width, bool target) {
  if (target && ptx_take(b, "_")) {
    *width = 'd';
    return PTX_SPECIAL(PTX_SINK);
  }
  ptx_symbol_t scratch;
  const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
  if (!symbol || symbol->kind != PTX_REGISTER) {
    return refuse_token(b, "is no register");
  }
  *width = symbol->width;
  ptx_next(b);
  return (int32_t)symbol->place;
}

static void negate(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  (void)mask;
  *PTX_O(uint32_t, 0) = ~*PTX_O(uint32_t, 1);
}

int32_t ptx_predicate(ptx_build_t* b) {
  if (!ptx_take(b, "!")) return ptx_source(b, 'p', NULL);
  int32_t source = ptx_source(b, 'p', NULL);
  int32_t result = ptx_new_register(b, 'p', 1);
  if (source == PTX_NO_OPERAND || result == PTX_NO_OPERAND) {
    return PTX_NO_OPERAND;
  }
  ptx_code_t* code = ptx_emit(b, negate);
  if (!code) return PTX_NO_OPERAND;
  code->o[0] = result;
  code->o[1] = source;
  return result;
}

uint32_t ptx_vector(ptx_build_t* b, char* width, bool target,
                    const ptx_type_t* type, int32_t* out, uint32_t limit) {
  bool braces = ptx_take(b, "{");
  uint32_t count = 0;
  do {
    if (count == limit) {
      refuse_token(b, "is one operand too many");
      return 0;
    }
    char found = *width;
    int32_t place;
    if (target && ptx_take(b, "_")) {
      place = PTX_SPECIAL(PTX_SINK);
    } else if (*width) {
      place = target ? ptx_target(b, *width) : ptx_source(b, *width, type);
    } else if (!target && (b->token.kind == PTX_NUMBER || ptx_is(b, "-"))) {
      found = type->width;
      place = immediate(b, found, type);
    } else {
      place = ptx_any_register(b, &found, target);
    }
    if (place == PTX_NO_OPERAND) return 0;
    if (place != PTX_SPECIAL(PTX_SINK)) *width = found;
    out[count++] = place;
  } while (braces && ptx_take(b, ","));
  if (braces && !ptx_expect(b, "}")) return 0;
  return count;
}

//===--------------------------------------------------------------------===//
// Addresses
//===--------------------------------------------------------------------===//

bool ptx_variable_address(ptx_build_t* b, const ptx_symbol_t* symbol,
                          int64_t offset, ptx_address_t* address) {
  *address =
      (ptx_address_t){PTX_SPECIAL(PTX_ZEROS), true, offset, symbol->space};
  switch (symbol->kind) {
    case PTX_VARIABLE:
      address->offset += symbol->place;
      break;
    case PTX_SHARED_VARIABLE:
      address->offset += ptx_place_shared(b, (ptx_symbol_t*)symbol);
      break;
    case PTX_EXTERN_SHARED:
      ptx_place_shared(b, (ptx_symbol_t*)symbol);
      address->base = ptx_constant(b, 0, 'd', true);
      break;
    default:
      refuse_token(b, "has no address that is supported");
  }
  return !b->failed;
}

bool ptx_address(ptx_build_t* b, ptx_space_t space, ptx_address_t* address) {
  if (!ptx_expect(b, "[")) return false;
  *address = (ptx_address_t){PTX_SPECIAL(PTX_ZEROS), true, 0, PTX_GENERIC};
  if (b->token.kind == PTX_WORD) {
    ptx_symbol_t scratch;
    const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
    if (!symbol) {
      refuse_token(b, "is not defined");
      return false;
    }
    if (symbol->kind == PTX_REGISTER) {
      if (symbol->width != 'w' && symbol->width != 'd') {
        refuse_token(b, "is no address");
        return false;
      }
      address->base = (int32_t)symbol->place;
      address->wide = symbol->width == 'd';
    } else if (!ptx_variable_address(b, symbol, 0, address)) {
      return false;
    }
    if (symbol->kind != PTX_REGISTER && space == PTX_GENERIC) {
      // A generic access to a variable by name is one to its space.
      space = address->space;
    } else if (symbol->kind != PTX_REGISTER && address->space != space &&
               !(space == PTX_PARAM && address->space == PTX_LOCAL)) {
      refuse_token(b, "is in another space");
      return false;
    }
    ptx_next(b);
  }
  bool plus = ptx_take(b, "+");
  if (plus || ptx_is(b, "-") || b->token.kind == PTX_NUMBER) {
    uint64_t offset;
    if (!ptx_number(b, 'd', &offset)) return false;
    address->offset = (int64_t)((uint64_t)address->offset + offset);
  }
  return ptx_expect(b, "]");
}
