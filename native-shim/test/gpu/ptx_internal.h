// What the parts of the interpreter share: the internal form of a kernel, and
// the state of a warp.
//
// A kernel becomes an array of instructions, each with the function that
// performs it for the lanes of a warp. A register is 32 values side by side in
// the register file of its warp, a predicate one word with a bit for each lane.
// Immediates and special registers lie in the file too, so each operand is an
// offset. Functions are expanded where they are called.
#ifndef IREE4J_TEST_PTX_INTERNAL_H_
#define IREE4J_TEST_PTX_INTERNAL_H_

#include "ptx.h"

enum {
  PTX_LANES = 32,
  PTX_OPERANDS = 5,
  PTX_MAX_REGISTERS = 1 << 17,    // of a kernel
  PTX_MAX_CODE = 1 << 20,         // instructions, calls expanded
  PTX_MAX_NESTING = 48,           // of blocks and calls together
  PTX_MAX_PARAMS = 512,           // of a function
  PTX_MAX_PARAM_BYTES = 32764,    // as of CUDA
  PTX_MAX_SHARED = 256 << 10,     // of a block
  PTX_MAX_LOCAL = 512 << 10,      // of a thread
  PTX_MAX_VARIABLES = 256 << 20,  // bytes of all variables of a module
  PTX_MAX_TEXT = 256 << 20,
  PTX_BARRIERS = 16,
};
#define PTX_ALL_LANES 0xFFFFFFFFu

// Generic addresses outside of what a process can have.
#define PTX_SHARED_WINDOW ((uint64_t)1 << 60)
#define PTX_LOCAL_WINDOW ((uint64_t)2 << 60)
#define PTX_PARAM_WINDOW ((uint64_t)3 << 60)
#define PTX_WINDOW_MASK ((uint64_t)0xF << 60)

typedef struct ptx_warp_t ptx_warp_t;
typedef struct ptx_code_t ptx_code_t;

// Performs an instruction for the lanes of |mask|, which has at least one.
typedef void (*ptx_op_t)(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask);

// How a warp goes on after an instruction.
typedef enum ptx_control_t {
  PTX_NEXT,
  PTX_BRANCH,        // to |target|
  PTX_BRANCH_TABLE,  // to one of |count| targets in the list, by operand 0
  PTX_EXIT,
  PTX_BARRIER,  // waits for other threads of the block
  PTX_ARRIVE,   // the same without waiting
  PTX_COLLECT,  // waits for the lanes of the member mask, operand |members|
} ptx_control_t;

typedef enum ptx_space_t {
  PTX_GENERIC,
  PTX_GLOBAL,  // and constants
  PTX_SHARED,
  PTX_LOCAL,
  PTX_PARAM,
} ptx_space_t;

enum { PTX_FTZ = 1, PTX_SAT = 2, PTX_RELU = 4, PTX_WIDE_ADDRESS = 8 };

typedef enum ptx_rounding_t {
  PTX_NEAREST,
  PTX_ZERO,
  PTX_DOWN,
  PTX_UP,
  PTX_AWAY,  // nearest, ties away from zero
} ptx_rounding_t;

struct ptx_code_t {
  ptx_op_t run;
  int32_t o[PTX_OPERANDS];  // offsets in the file; o[0] is what it writes
  int32_t guard;            // offset of a predicate
  int64_t immediate;        // offset of an address, a mode, a target
  uint32_t list;            // of further operands
  uint32_t line;
  uint8_t guarded;  // 0: always, 1: where |guard| is set, 2: where it is not
  uint8_t control;
  uint8_t flags;
  uint8_t rounding;
  uint8_t space;
  uint8_t count;  // of the list, or elements of a vector
  uint8_t from;   // type of a source, see ptx_type_t
  uint8_t to;     // and of the result
};

// Types, by class and size: what an instruction's suffix says.
typedef enum ptx_class_t {
  PTX_UNSIGNED,
  PTX_SIGNED,
  PTX_BITS,
  PTX_FLOAT,
  PTX_BFLOAT,
  PTX_PRED,
  PTX_PACKED,  // pairs of 16 bits, and other words that are not one number
} ptx_class_t;

typedef struct ptx_type_t {
  const char* name;
  ptx_class_t kind;
  uint8_t size;  // bytes in memory
  char width;    // of its registers: p, h (16 bits), w (32), d (64)
} ptx_type_t;

// NULL if there is no such type.
const ptx_type_t* ptx_type_of(const char* name, size_t length);
uint8_t ptx_type_index(const ptx_type_t* type);
extern const ptx_type_t ptx_types[];
// Bytes that a register of a width takes in the file.
uint32_t ptx_width_bytes(char width);

// Where special registers lie in the file.
enum {
  PTX_TID,                     // 3
  PTX_NTID = PTX_TID + 3,      // 3
  PTX_CTAID = PTX_NTID + 3,    // 3
  PTX_NCTAID = PTX_CTAID + 3,  // 3
  PTX_LANEID = PTX_NCTAID + 3,
  PTX_WARPID,
  PTX_NWARPID,
  PTX_LANEMASK_EQ,
  PTX_LANEMASK_LE,
  PTX_LANEMASK_LT,
  PTX_LANEMASK_GE,
  PTX_LANEMASK_GT,
  PTX_DYNAMIC_SMEM,
  PTX_TOTAL_SMEM,
  PTX_ZEROS,  // 64 bits wide; smid, gridid: what has no meaning here
  PTX_ONES = PTX_ZEROS + 2,
  PTX_SINK,  // "_", 64 bits wide
  PTX_SPECIALS = PTX_SINK + 2,
};
#define PTX_SPECIAL(n) ((n) * PTX_LANES * 4)

// An immediate: a register filled before the kernel runs.
typedef struct ptx_constant_t {
  uint64_t value;
  int32_t offset;
  char width;
  bool dynamic;  // the address of dynamic shared memory is to be added
} ptx_constant_t;

typedef struct ptx_param_t {
  uint32_t offset, size;
} ptx_param_t;

struct ptx_function_t {
  const ptx_module_t* module;
  char* name;
  ptx_code_t* code;
  uint32_t count, capacity;
  int32_t* list;
  uint32_t list_count, list_capacity;
  ptx_constant_t* constants;
  uint32_t constant_count, constant_capacity;
  uint32_t constant_bytes;  // below offset 0 of the file
  uint32_t file_bytes;      // from there on
  uint32_t registers;
  ptx_param_t* params;
  uint32_t param_count, param_bytes;
  uint32_t shared_bytes, local_bytes;
  uint32_t dynamic_align;
  uint32_t max_threads;
};

// The memory of a block while it runs.
typedef struct ptx_block_t {
  const ptx_function_t* function;
  const ptx_memory_t* memory;
  const uint8_t* params;
  uint8_t* shared;
  uint32_t shared_bytes;
  uint32_t warp_count;
  ptx_warp_t* warps;
  uint64_t steps, max_steps;
  // Threads that passed bar.arrive, by barrier.
  uint32_t arrived[PTX_BARRIERS];
  uint32_t arrivals[PTX_BARRIERS];  // how many they said there are to be
  int status;                       // PTX_OK until something fails
  uint32_t line;
  uint64_t address;
} ptx_block_t;

struct ptx_warp_t {
  uint8_t* file;   // offset 0
  uint8_t* local;  // of each lane, one after the other
  ptx_block_t* block;
  uint32_t local_bytes;
  uint32_t alive, active;
  uint32_t pc;     // of the active lanes
  uint32_t merge;  // the next place where other lanes are to run on
  bool diverged;   // there are such lanes
  bool highest;    // prefer those that are furthest, to be fair
  uint32_t collecting, at_barrier;  // lanes that wait
  uint32_t existing;                // lanes that have a thread
  uint32_t carry;                   // of add.cc and the like
  uint32_t pcs[PTX_LANES];          // of the others
  uint8_t barrier[PTX_LANES];
  uint32_t expected[PTX_LANES];  // threads that the barrier is to have
};

// The values of an operand.
#define PTX_REG(type, offset) ((type*)(void*)(w->file + (offset)))
#define PTX_O(type, n) PTX_REG(type, c->o[n])

// The statement for each lane |i| of |mask|. The loop over all lanes is one
// that compilers turn into vector instructions; operands may be the same
// register but never overlap in part.
#if defined(__clang__)
// Clang checks at run time, and would report each loop that stays a loop.
#define PTX_LANES_AT_ONCE
#else
#define PTX_LANES_AT_ONCE _Pragma("GCC ivdep")
#endif
#define PTX_EACH(...)                                                        \
  if (mask == PTX_ALL_LANES) {                                               \
    PTX_LANES_AT_ONCE for (int i = 0; i < PTX_LANES; ++i) { __VA_ARGS__ }    \
  } else {                                                                   \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {                     \
      int i = __builtin_ctz(rest);                                           \
      __VA_ARGS__                                                            \
    }                                                                        \
  }

// Ends the launch with a code; the first one counts.
void ptx_fail(ptx_warp_t* w, const ptx_code_t* c, int status, uint64_t address);

// One row for each instruction whose name decides everything.
typedef struct ptx_row_t {
  const char* name;   // without the modifiers that |allowed| lists
  const char* shape;  // the width of each operand
  ptx_op_t run;
  uint8_t allowed;  // modifiers, see below
} ptx_row_t;

enum {
  PTX_MAY_FTZ = 1,
  PTX_MAY_SAT = 2,
  PTX_MAY_ROUND = 4,   // rn, rz, rm, rp
  PTX_MAY_APPROX = 8,  // approx, full
  PTX_MAY_RELU = 16,
};

extern const ptx_row_t ptx_integer_rows[], ptx_bit_rows[], ptx_float_rows[],
    ptx_half_rows[], ptx_packed_rows[], ptx_select_rows[];

#endif  // IREE4J_TEST_PTX_INTERNAL_H_
