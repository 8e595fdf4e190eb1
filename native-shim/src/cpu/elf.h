// The ELF loader: parse a file, map it, ask about the result. Private to the
// shim.
//
// Trust. Nothing in the file is trusted, except its machine code once it runs.
// All tables (program headers, dynamic section, symbols, strings, relocations)
// are read from the caller's bytes, never from the mapped image, so that
// relocations cannot change checked data. Addresses that end up in the image
// are only followed through shim__elf_image_read and friends.
#ifndef IREE4J_SHIM_ELF_H_
#define IREE4J_SHIM_ELF_H_

#include <stdbool.h>

#include "elf_format.h"
#include "shim.h"

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the shim supports little-endian hosts only"
#endif

#if defined(__x86_64__)
#define SHIM__ELF_HOST_MACHINE ELF_MACHINE_X86_64
#elif defined(__aarch64__)
#define SHIM__ELF_HOST_MACHINE ELF_MACHINE_ARM_64
#else
#error "the shim supports x86_64 and arm_64 (aarch64) hosts"
#endif

// Libraries have three or four segments; the limits only reject nonsense.
enum { SHIM__ELF_MAX_SEGMENTS = 32 };
#define SHIM__ELF_MAX_IMAGE_SIZE (256ull << 20)
#define SHIM__ELF_MAX_ALIGNMENT (1ull << 30)

// A PT_LOAD segment, checked: the file range lies in the file, the memory range
// does not wrap, flags follow the rule that writable and executable imply
// readable, and no two segments share a page.
typedef struct shim__elf_segment_t {
  uint64_t vaddr;
  uint64_t memsz;
  uint64_t offset;
  uint64_t filesz;
  uint32_t flags;  // ELF_PF_*
} shim__elf_segment_t;

// A table inside the file's bytes, entries possibly unaligned.
typedef struct shim__elf_table_t {
  const uint8_t* data;
  uint64_t count;
} shim__elf_table_t;

// A checked ELF file. Borrows the bytes it was parsed from.
typedef struct shim__elf_file_t {
  const uint8_t* bytes;
  uint64_t size;
  uint16_t machine;
  uint32_t segment_count;
  shim__elf_segment_t segments[SHIM__ELF_MAX_SEGMENTS];
  uint64_t image_vaddr;  // page-aligned start of the lowest segment
  uint64_t image_size;   // pages up to the end of the highest
  uint64_t alignment;    // of addresses to vaddrs: a power of two, whole pages
  uint64_t relro_vaddr;  // page-aligned; size 0 when there is none
  uint64_t relro_size;
  shim__elf_table_t symbols;        // elf_symbol_t, names checked
  shim__elf_table_t strings;        // bytes, the last one NUL
  shim__elf_table_t relocations[2];  // elf_rela_t: DT_RELA, DT_JMPREL
  uint64_t init;                    // vaddr of DT_INIT or 0
  uint64_t init_array;              // vaddr, of 8-byte addresses
  uint64_t init_array_count;
} shim__elf_file_t;

// A file mapped into memory, relocated and protected.
typedef struct shim__elf_image_t {
  uint8_t* base;  // mapping that release unmaps, NULL when none
  uint64_t size;
  uint64_t bias;  // run-time address minus vaddr
  uint64_t page_size;
  uint32_t segment_count;
  shim__elf_segment_t segments[SHIM__ELF_MAX_SEGMENTS];
  uint64_t init;
  uint64_t init_array;
  uint64_t init_array_count;
} shim__elf_image_t;

// "x86_64", "arm_64", or "machine N"-like text for others. Static storage.
const char* shim__elf_machine_name(uint16_t machine);

// Selects this host's ELF file from a FatELF file; returns any other file
// unchanged.
shim_status_t shim__fatelf_select(const uint8_t* bytes, uint64_t size,
                                  const uint8_t** out_bytes,
                                  uint64_t* out_size, shim_error_t* error);

// Checks a file for |machine| and finds its tables. Runs nothing, maps nothing.
shim_status_t shim__elf_file_parse(const uint8_t* bytes, uint64_t size,
                                   uint16_t machine, uint64_t page_size,
                                   shim__elf_file_t* out_file,
                                   shim_error_t* error);

// Checks a file for the system's loader: that it is for |machine|, and that it
// requests no memory that is both writable and executable, stacks included.
// Runs nothing, maps nothing.
shim_status_t shim__elf_file_check(const uint8_t* bytes, uint64_t size,
                                   uint16_t machine, shim_error_t* error);

// The vaddr of a global function or object. NOT_FOUND.
shim_status_t shim__elf_file_lookup(const shim__elf_file_t* file,
                                    const char* name, uint64_t* out_vaddr,
                                    shim_error_t* error);

elf_symbol_t shim__elf_file_symbol(const shim__elf_file_t* file, uint64_t i);
const char* shim__elf_file_symbol_name(const shim__elf_file_t* file,
                                       const elf_symbol_t* symbol);

// The operands of a relocation, named as in the processor supplements.
typedef struct shim__elf_relocation_t {
  uint32_t type;
  uint64_t place;   // P: run-time address of the target
  uint64_t base;    // B: run-time address minus vaddr
  uint64_t symbol;  // S: run-time address of the symbol, 0 for none
  int64_t addend;   // A
} shim__elf_relocation_t;

// Computes what to store and in how many bytes (0: nothing). Both machines'
// tables exist on every host. UNIMPLEMENTED for an unknown type, OUT_OF_RANGE
// for a value that does not fit.
shim_status_t shim__elf_relocation_compute(
    uint16_t machine, const shim__elf_relocation_t* relocation,
    uint64_t* out_value, uint32_t* out_width, shim_error_t* error);

// Maps, relocates and protects. No page is ever writable and executable at the
// same time. Runs nothing.
shim_status_t shim__elf_image_load(const shim__elf_file_t* file,
                                   shim__elf_image_t* out_image,
                                   shim_error_t* error);

// Runs DT_INIT and DT_INIT_ARRAY.
shim_status_t shim__elf_image_initialize(const shim__elf_image_t* image,
                                         shim_error_t* error);

void shim__elf_image_release(shim__elf_image_t* image);

// Whether |size| bytes at the run-time |address| are inside one readable
// segment.
bool shim__elf_image_is_readable(const shim__elf_image_t* image,
                                 uint64_t address, uint64_t size);

// Whether |address| is inside an executable segment.
bool shim__elf_image_is_code(const shim__elf_image_t* image, uint64_t address);

// Copies out of the image, or returns false without touching memory.
bool shim__elf_image_read(const shim__elf_image_t* image, uint64_t address,
                          void* out, uint64_t size);

// The NUL-terminated string at |address|, or NULL if it does not end within
// |max_length| bytes of one readable segment.
const char* shim__elf_image_string(const shim__elf_image_t* image,
                                   uint64_t address, uint64_t max_length,
                                   uint64_t* out_length);

#endif  // IREE4J_SHIM_ELF_H_
