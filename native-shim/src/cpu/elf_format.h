// The parts of the ELF-64 and FatELF formats that the loader reads. Declared
// here, so that every host builds the same code. Source: the System V ABI and
// its processor supplements; FatELF's specification, version 1.
#ifndef IREE4J_SHIM_ELF_FORMAT_H_
#define IREE4J_SHIM_ELF_FORMAT_H_

#include <stdint.h>

enum {
  ELF_CLASS_64 = 2,
  ELF_DATA_LITTLE = 1,
  ELF_VERSION_CURRENT = 1,
  ELF_TYPE_DYN = 3,
  ELF_MACHINE_X86_64 = 0x3E,
  ELF_MACHINE_ARM_64 = 0xB7,

  ELF_PT_LOAD = 1,
  ELF_PT_DYNAMIC = 2,
  ELF_PT_TLS = 7,
  ELF_PT_GNU_STACK = 0x6474E551,
  ELF_PT_GNU_RELRO = 0x6474E552,

  ELF_PF_X = 1,
  ELF_PF_W = 2,
  ELF_PF_R = 4,

  ELF_DT_NULL = 0,
  ELF_DT_PLTRELSZ = 2,
  ELF_DT_HASH = 4,
  ELF_DT_STRTAB = 5,
  ELF_DT_SYMTAB = 6,
  ELF_DT_RELA = 7,
  ELF_DT_RELASZ = 8,
  ELF_DT_RELAENT = 9,
  ELF_DT_STRSZ = 10,
  ELF_DT_SYMENT = 11,
  ELF_DT_INIT = 12,
  ELF_DT_REL = 17,
  ELF_DT_RELSZ = 18,
  ELF_DT_PLTREL = 20,
  ELF_DT_JMPREL = 23,
  ELF_DT_INIT_ARRAY = 25,
  ELF_DT_INIT_ARRAYSZ = 27,
  ELF_DT_RELRSZ = 35,
  ELF_DT_RELR = 36,
  ELF_DT_ANDROID_REL = 0x6000000F,
  ELF_DT_ANDROID_RELASZ = 0x60000012,
  ELF_DT_ANDROID_RELR = 0x6FFFE000,
  ELF_DT_ANDROID_RELRSZ = 0x6FFFE001,
  ELF_DT_GNU_HASH = 0x6FFFFEF5,

  ELF_SHN_UNDEF = 0,
  ELF_SHN_ABS = 0xFFF1,
  ELF_STB_GLOBAL = 1,
  ELF_STB_WEAK = 2,
  ELF_STT_TLS = 6,
  ELF_STT_IFUNC = 10,
};

typedef struct elf_header_t {
  uint8_t ident[16];
  uint16_t type;
  uint16_t machine;
  uint32_t version;
  uint64_t entry;
  uint64_t program_header_offset;
  uint64_t section_header_offset;
  uint32_t flags;
  uint16_t header_size;
  uint16_t program_header_size;
  uint16_t program_header_count;
  uint16_t section_header_size;
  uint16_t section_header_count;
  uint16_t section_names;
} elf_header_t;
_Static_assert(sizeof(elf_header_t) == 64, "ELF-64");

typedef struct elf_program_header_t {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t vaddr;
  uint64_t paddr;
  uint64_t filesz;
  uint64_t memsz;
  uint64_t align;
} elf_program_header_t;
_Static_assert(sizeof(elf_program_header_t) == 56, "ELF-64");

enum { ELF_SECTION_HEADER_SIZE = 64 };

typedef struct elf_dynamic_t {
  int64_t tag;
  uint64_t value;
} elf_dynamic_t;

typedef struct elf_symbol_t {
  uint32_t name;
  uint8_t info;  // binding << 4 | type
  uint8_t other;
  uint16_t section;
  uint64_t value;
  uint64_t size;
} elf_symbol_t;
_Static_assert(sizeof(elf_symbol_t) == 24, "ELF-64");

typedef struct elf_rela_t {
  uint64_t offset;
  uint64_t info;  // symbol << 32 | type
  int64_t addend;
} elf_rela_t;
_Static_assert(sizeof(elf_rela_t) == 24, "ELF-64");

#define FATELF_MAGIC 0x1F0E70FAu
enum { FATELF_VERSION = 1, FATELF_WORD_64 = 2, FATELF_ORDER_LITTLE = 1 };

typedef struct fatelf_header_t {
  uint32_t magic;
  uint16_t version;
  uint8_t record_count;
  uint8_t reserved;
} fatelf_header_t;
_Static_assert(sizeof(fatelf_header_t) == 8, "FatELF");

typedef struct fatelf_record_t {
  uint16_t machine;
  uint8_t osabi;
  uint8_t osabi_version;
  uint8_t word_size;
  uint8_t byte_order;
  uint8_t reserved[2];
  uint64_t offset;
  uint64_t size;
} fatelf_record_t;
_Static_assert(sizeof(fatelf_record_t) == 24, "FatELF");

#endif  // IREE4J_SHIM_ELF_FORMAT_H_
