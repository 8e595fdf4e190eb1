// Decodes instructions by their names. Most names say everything and stand in
// a row of a table; families that need more have functions of their own.
#include <stdio.h>
#include <string.h>

#include "ptx_build.h"

//===--------------------------------------------------------------------===//
// Names
//===--------------------------------------------------------------------===//

bool ptx_unsupported(ptx_build_t* b, const ptx_name_t* name) {
  return ptx_refuse(b, name->line, "instruction '%.*s' is not supported",
                    (int)(name->token.length < 120 ? name->token.length : 120),
                    name->token.at);
}

static bool split(ptx_build_t* b, ptx_name_t* name) {
  name->token = b->token;
  name->line = b->token.line;
  name->count = 0;
  name->used = 1;  // the first part
  if (b->token.kind != PTX_WORD) {
    return ptx_refuse(b, b->token.line, "'%.*s' is no instruction",
                      (int)(b->token.length < 60 ? b->token.length : 60),
                      b->token.at);
  }
  if (b->token.length >= sizeof(name->text)) return ptx_unsupported(b, name);
  memcpy(name->text, b->token.at, b->token.length);
  name->text[b->token.length] = '\0';
  char* rest = name->text;
  while (rest) {
    if (name->count == PTX_MAX_PARTS) return ptx_unsupported(b, name);
    name->part[name->count++] = rest;
    rest = strchr(rest, '.');
    if (rest) *rest++ = '\0';
  }
  ptx_next(b);
  return true;
}

bool ptx_has(ptx_name_t* name, const char* part) {
  for (uint32_t i = 1; i < name->count; ++i) {
    if (!(name->used >> i & 1) && strcmp(name->part[i], part) == 0) {
      name->used |= 1u << i;
      return true;
    }
  }
  return false;
}

int ptx_which(ptx_name_t* name, const char* parts) {
  char part[32];
  for (int i = 0; *parts; ++i) {
    size_t length = strcspn(parts, " ");
    memcpy(part, parts, length);
    part[length] = '\0';
    if (ptx_has(name, part)) return i;
    parts += length;
    while (*parts == ' ') ++parts;
  }
  return -1;
}

bool ptx_all_used(const ptx_name_t* name) {
  return name->used == (1u << name->count) - 1;
}

const ptx_type_t* ptx_take_type(ptx_name_t* name) {
  for (uint32_t i = name->count - 1; i > 0; --i) {
    const ptx_type_t* type = ptx_type_of(name->part[i], strlen(name->part[i]));
    if (!(name->used >> i & 1) && type) {
      name->used |= 1u << i;
      return type;
    }
  }
  return NULL;
}

void ptx_take_rounding(ptx_name_t* name, ptx_code_t* code) {
  int rounding = ptx_which(name, "rn rz rm rp rna");
  if (rounding >= 0) code->rounding = (uint8_t)rounding;
}

//===--------------------------------------------------------------------===//
// Rows
//===--------------------------------------------------------------------===//

// Takes the modifiers that say how, not what; false if the row allows less.
static uint8_t take_modifiers(ptx_name_t* name, ptx_code_t* code) {
  uint8_t taken = 0;
  if (ptx_has(name, "ftz")) code->flags |= PTX_FTZ, taken |= PTX_MAY_FTZ;
  if (ptx_has(name, "sat")) code->flags |= PTX_SAT, taken |= PTX_MAY_SAT;
  if (ptx_has(name, "relu")) code->flags |= PTX_RELU, taken |= PTX_MAY_RELU;
  if (ptx_which(name, "approx full") >= 0) taken |= PTX_MAY_APPROX;
  int rounding = ptx_which(name, "rn rz rm rp");
  if (rounding >= 0) {
    code->rounding = (uint8_t)rounding;
    taken |= PTX_MAY_ROUND;
  }
  return taken;
}

static const ptx_row_t* find_row(const char* key) {
  static const ptx_row_t* const tables[] = {ptx_integer_rows, ptx_bit_rows,
                                            ptx_float_rows,   ptx_half_rows,
                                            ptx_packed_rows,  ptx_select_rows};
  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); ++i) {
    for (const ptx_row_t* row = tables[i]; row->name; ++row) {
      if (strcmp(row->name, key) == 0) return row;
    }
  }
  return NULL;
}

// The type that immediates of an operand have: that of the instruction where
// the sizes agree.
static const ptx_type_t* type_of_operands(const ptx_name_t* name) {
  const char* last = name->part[name->count - 1];
  return ptx_type_of(last, strlen(last));
}

static bool decode_row(ptx_build_t* b, ptx_name_t* name) {
  ptx_code_t how = {0};
  uint8_t taken = take_modifiers(name, &how);
  char key[sizeof(name->text)];
  size_t length = 0;
  for (uint32_t i = 0; i < name->count; ++i) {
    if (i > 0 && name->used >> i & 1) continue;
    length += (size_t)snprintf(key + length, sizeof(key) - length, "%s%s",
                               i > 0 ? "." : "", name->part[i]);
  }
  const ptx_row_t* row = find_row(key);
  if (!row || (taken & ~row->allowed)) return ptx_unsupported(b, name);
  const ptx_type_t* type = type_of_operands(name);
  int32_t operands[PTX_OPERANDS] = {0};
  for (int i = 0; row->shape[i]; ++i) {
    char width = row->shape[i];
    if (i > 0 && !ptx_expect(b, ",")) return false;
    operands[i] =
        i == 0 ? ptx_target(b, width)
        : width == 'p'
            ? ptx_predicate(b)
            : ptx_source(b, width, type && type->width == width ? type : NULL);
    if (operands[i] == PTX_NO_OPERAND) return false;
  }
  ptx_code_t* code = ptx_emit(b, row->run);
  if (!code) return false;
  memcpy(code->o, operands, sizeof(operands));
  code->flags = how.flags;
  code->rounding = how.rounding;
  return true;
}

//===--------------------------------------------------------------------===//
// Control
//===--------------------------------------------------------------------===//

static bool decode_bra(ptx_build_t* b, ptx_name_t* name) {
  ptx_has(name, "uni");
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  ptx_token_t label = b->token;
  if (label.kind != PTX_WORD) {
    return ptx_refuse(b, label.line, "a branch without a label");
  }
  ptx_next(b);
  ptx_code_t* code = ptx_emit(b, NULL);
  if (!code) return false;
  code->control = PTX_BRANCH;
  ptx_branch_to(b, label, 0);
  return true;
}

// A table of targets: name: .branchtargets a, b, c; read where it is used.
static bool decode_brx(ptx_build_t* b, ptx_name_t* name) {
  ptx_has(name, "uni");
  if (!ptx_has(name, "idx") || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t index = ptx_source(b, 'w', NULL);
  if (index == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  ptx_token_t table = b->token;
  const ptx_symbol_t* symbol = ptx_find(b, table.at, table.length);
  if (!symbol || symbol->kind != PTX_TARGETS) {
    return ptx_refuse(b, table.line, "'%.*s' is no table of targets",
                      (int)(table.length < 60 ? table.length : 60), table.at);
  }
  ptx_token_t targets = symbol->signature;
  ptx_next(b);
  ptx_token_t back = b->token;
  ptx_code_t* code = ptx_emit(b, NULL);
  if (!code) return false;
  uint32_t at = b->function->count - 1;
  code->control = PTX_BRANCH_TABLE;
  code->o[0] = index;
  code->list = b->function->list_count;
  ptx_go_to(b, targets);
  uint32_t count = 0;
  do {
    ptx_next(b);  // .branchtargets or the comma
    int32_t first = ptx_list(b, &(int32_t){0}, 1);
    if (first < 0 || ++count > 1u << 16) {
      return ptx_refuse(b, targets.line, "a table of %u targets", count);
    }
    ptx_branch_to(b, b->token, (uint32_t)first + 1);
    ptx_next(b);
  } while (ptx_is(b, ","));
  b->function->code[at].immediate = count;
  ptx_go_to(b, back);
  return !b->failed;
}

static bool decode_return(ptx_build_t* b, ptx_name_t* name) {
  ptx_has(name, "uni");
  return ptx_all_used(name) ? ptx_return(b) : ptx_unsupported(b, name);
}

static bool decode_exit(ptx_build_t* b, ptx_name_t* name) {
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  ptx_code_t* code = ptx_emit(b, NULL);
  if (code) code->control = PTX_EXIT;
  return code != NULL;
}

static bool decode_call(ptx_build_t* b, ptx_name_t* name) {
  ptx_has(name, "uni");
  return ptx_all_used(name) ? ptx_call(b) : ptx_unsupported(b, name);
}

static void trap(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  (void)mask;
  ptx_fail(w, c, PTX_TRAP, 0);
}

static bool decode_trap(ptx_build_t* b, ptx_name_t* name) {
  return ptx_all_used(name) ? ptx_emit(b, trap) != NULL
                            : ptx_unsupported(b, name);
}

// What only says when: memory is always in order here, and time is free.
static bool decode_nothing(ptx_build_t* b, ptx_name_t* name) {
  if (strcmp(name->part[0], "fence") == 0 && ptx_has(name, "proxy")) {
    if (ptx_which(name, "async alias async::global async::shared::cta") < 0) {
      return ptx_unsupported(b, name);
    }
  }
  while (ptx_which(name,
                   "cta gl sys gpu cluster sc acq_rel acquire release level "
                   "mbarrier_init u32") >= 0) {
    continue;
  }
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  while (b->token.kind != PTX_END && !ptx_is(b, ";")) ptx_next(b);
  return true;
}

static const ptx_family_t control_families[] = {
    {"bra", decode_bra},         {"brx", decode_brx},
    {"ret", decode_return},      {"exit", decode_exit},
    {"call", decode_call},       {"trap", decode_trap},
    {"brkpt", decode_trap},      {"membar", decode_nothing},
    {"fence", decode_nothing},   {"nanosleep", decode_nothing},
    {"pmevent", decode_nothing}, {NULL, NULL},
};

//===--------------------------------------------------------------------===//

bool ptx_instruction(ptx_build_t* b) {
  static const ptx_family_t* const tables[] = {
      control_families,    ptx_plain_families,  ptx_memory_families,
      ptx_warp_families,   ptx_matrix_families, ptx_convert_families,
      ptx_atomic_families, ptx_compare_families};
  ptx_name_t name;
  if (!split(b, &name)) return false;
  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); ++i) {
    for (const ptx_family_t* family = tables[i]; family->name; ++family) {
      if (strcmp(family->name, name.part[0]) == 0) {
        return family->decode(b, &name);
      }
    }
  }
  return decode_row(b, &name);
}
