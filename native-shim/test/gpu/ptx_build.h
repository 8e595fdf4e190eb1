// What the parts that read a module share: tokens, names, and the kernel that
// is being built.
#ifndef IREE4J_TEST_PTX_BUILD_H_
#define IREE4J_TEST_PTX_BUILD_H_

#include "ptx_internal.h"

typedef enum ptx_token_kind_t {
  PTX_END,
  PTX_WORD,    // names, directives, instructions with their suffixes
  PTX_NUMBER,  // begins with a digit
  PTX_STRING,
  PTX_MARK,  // one character
} ptx_token_kind_t;

typedef struct ptx_token_t {
  ptx_token_kind_t kind;
  const char* at;
  uint32_t length;
  uint32_t line;
} ptx_token_t;

typedef enum ptx_symbol_kind_t {
  PTX_REGISTER,
  PTX_REGISTERS,        // name<count>
  PTX_LABEL,            // |place| is the instruction
  PTX_VARIABLE,         // |place| is its address in |space|
  PTX_SHARED_VARIABLE,  // of the module: gets a place where it is used
  PTX_EXTERN_SHARED,
  PTX_FUNCTION,
  PTX_TARGETS,  // of brx; |signature| is where they are
} ptx_symbol_kind_t;

typedef struct ptx_symbol_t {
  const char* name;
  uint32_t length;
  ptx_symbol_kind_t kind;
  uint32_t next;  // in its chain, 0: none
  char width;     // of registers
  ptx_space_t space;
  uint32_t count;
  int64_t place;
  uint64_t size;
  uint32_t align;
  uint32_t user;  // the kernel that |place| of a shared variable is for
  // Of functions: where its formal parameters begin, and whether it is being
  // expanded.
  ptx_token_t signature;
  bool defined, open;
} ptx_symbol_t;

// A branch whose label may yet come.
typedef struct ptx_fixup_t {
  uint32_t code;
  uint32_t entry;  // of a branch table, + 1; 0: the target itself
  ptx_token_t label;
} ptx_fixup_t;

typedef struct ptx_build_t {
  ptx_module_t* module;
  const char* text;
  const char* end;
  const char* at;  // the next character to read
  uint32_t line;
  ptx_token_t token;  // the current one
  char* error;
  size_t error_size;
  bool failed;

  ptx_symbol_t* symbols;  // 0 is not used
  uint32_t symbol_count, symbol_capacity;
  uint32_t* chains;
  uint32_t module_symbols;  // those below are visible everywhere
  uint32_t floor;  // others below are those of callers, and are not visible

  ptx_fixup_t* fixups;
  uint32_t fixup_count, fixup_capacity;

  ptx_function_t* function;
  uint32_t kernel;        // its number
  uint32_t* pool;         // constants by hash
  uint32_t register_top;  // of the file
  uint32_t local_top;
  uint32_t depth;
  uint32_t calls;     // expanded functions around this place
  uint64_t expanded;  // bytes of text, read again for each call
  // Of the current instruction.
  int32_t guard;
  uint8_t guarded;
  uint32_t instruction_line;
} ptx_build_t;

// Reports, unless something has been reported before, and gives false.
bool ptx_refuse(ptx_build_t* b, uint32_t line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Room for one more of an array; false when there is no memory.
bool ptx_grow(ptx_build_t* b, void** array, uint32_t count, uint32_t* capacity,
              size_t size);

// Tokens (ptx_lexer.c).
void ptx_next(ptx_build_t* b);
bool ptx_is(const ptx_build_t* b, const char* text);
bool ptx_take(ptx_build_t* b, const char* text);    // skips it if it is there
bool ptx_expect(ptx_build_t* b, const char* text);  // or refuses
// A number, with its sign; |as| is the width of what it is for, or 'f' or 'g'
// for a float or double.
bool ptx_number(ptx_build_t* b, char as, uint64_t* value);
bool ptx_count(ptx_build_t* b, uint64_t limit, uint64_t* value);

// Names (ptx_symbols.c).
ptx_symbol_t* ptx_define(ptx_build_t* b, ptx_token_t name,
                         ptx_symbol_kind_t kind);
ptx_symbol_t* ptx_find(ptx_build_t* b, const char* name, size_t length);
// The symbol of a register or of a variable; a member of name<count> is put
// into |scratch|.
const ptx_symbol_t* ptx_lookup(ptx_build_t* b, ptx_token_t name,
                               ptx_symbol_t* scratch);
void ptx_forget(ptx_build_t* b, uint32_t symbol_count);
int32_t ptx_new_register(ptx_build_t* b, char width, uint32_t count);
int32_t ptx_constant(ptx_build_t* b, uint64_t value, char width, bool dynamic);
// The place of a shared variable in this kernel.
int64_t ptx_place_shared(ptx_build_t* b, ptx_symbol_t* symbol);
int64_t ptx_place_local(ptx_build_t* b, uint64_t size, uint32_t align);

// Goes on reading at a token.
void ptx_go_to(ptx_build_t* b, ptx_token_t token);

// Variables and functions (ptx_module.c).
typedef struct ptx_declaration_t {
  ptx_token_t name;
  const ptx_type_t* type;
  uint32_t vector, align;
  uint64_t size;  // 0: an array without a bound
  uint64_t count;
  bool range;  // name<count>
} ptx_declaration_t;
bool ptx_declaration(ptx_build_t* b, ptx_declaration_t* declaration);

// Kernels (ptx_body.c).
bool ptx_build_kernel(ptx_build_t* b, ptx_function_t* function,
                      ptx_token_t signature);
ptx_code_t* ptx_emit(ptx_build_t* b, ptx_op_t run);
int32_t ptx_list(ptx_build_t* b, const int32_t* values, uint32_t count);
void ptx_branch_to(ptx_build_t* b, ptx_token_t label, uint32_t entry);
bool ptx_call(ptx_build_t* b);
bool ptx_return(ptx_build_t* b);

// Operands (ptx_operands.c). Each gives INT32_MIN after refusing.
#define PTX_NO_OPERAND INT32_MIN
int32_t ptx_source(ptx_build_t* b, char width, const ptx_type_t* type);
int32_t ptx_target(ptx_build_t* b, char width);
// One register of any width.
int32_t ptx_any_register(ptx_build_t* b, char* width, bool target);
// A predicate, perhaps negated.
int32_t ptx_predicate(ptx_build_t* b);
// {a, b, ...} or one; gives the number. |width| 0: any, but all the same.
uint32_t ptx_vector(ptx_build_t* b, char* width, bool target,
                    const ptx_type_t* type, int32_t* out, uint32_t limit);
typedef struct ptx_address_t {
  int32_t base;
  bool wide;
  int64_t offset;
  ptx_space_t space;  // of a variable, else PTX_GENERIC
} ptx_address_t;
bool ptx_address(ptx_build_t* b, ptx_space_t space, ptx_address_t* address);
// The address of a variable as a number in its space.
bool ptx_variable_address(ptx_build_t* b, const ptx_symbol_t* symbol,
                          int64_t offset, ptx_address_t* address);

// Instructions (ptx_decode.c). A name, in parts; each has to be used.
enum { PTX_MAX_PARTS = 24 };
typedef struct ptx_name_t {
  char text[160];
  char* part[PTX_MAX_PARTS];
  uint32_t count;
  uint32_t used;
  uint32_t line;
  ptx_token_t token;
} ptx_name_t;

// Decodes the instruction at the current token, to its semicolon.
bool ptx_instruction(ptx_build_t* b);
bool ptx_unsupported(ptx_build_t* b, const ptx_name_t* name);
bool ptx_has(ptx_name_t* name, const char* part);
// Which of a list of parts, separated by spaces, the name has; -1: none.
int ptx_which(ptx_name_t* name, const char* parts);
bool ptx_all_used(const ptx_name_t* name);
// The last type that has not been used yet.
const ptx_type_t* ptx_take_type(ptx_name_t* name);
void ptx_take_rounding(ptx_name_t* name, ptx_code_t* code);

// Reads the operands and emits; one for each family of instructions that needs
// more than a row.
typedef bool (*ptx_decoder_t)(ptx_build_t* b, ptx_name_t* name);
typedef struct ptx_family_t {
  const char* name;
  ptx_decoder_t decode;
} ptx_family_t;
extern const ptx_family_t ptx_plain_families[], ptx_memory_families[],
    ptx_warp_families[], ptx_matrix_families[], ptx_convert_families[],
    ptx_atomic_families[], ptx_compare_families[];

#endif  // IREE4J_TEST_PTX_BUILD_H_
