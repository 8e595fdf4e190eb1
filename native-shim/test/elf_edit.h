// Finds the fields of an ELF file that tests corrupt.
#ifndef IREE4J_SHIM_TEST_ELF_EDIT_H_
#define IREE4J_SHIM_TEST_ELF_EDIT_H_

#include "cpu/elf.h"
#include "test.h"

static inline elf_header_t* header_of(file_t* file) {
  return (elf_header_t*)(void*)file->bytes;
}

static inline elf_program_header_t* segment_of_type(file_t* file, uint32_t type,
                                                    int nth) {
  elf_header_t* header = header_of(file);
  elf_program_header_t* table =
      (elf_program_header_t*)(void*)(file->bytes +
                                     header->program_header_offset);
  for (int i = 0; i < header->program_header_count; ++i) {
    if (table[i].type == type && nth-- == 0) return &table[i];
  }
  fprintf(stderr, "no program header of type %u\n", type);
  exit(1);
}

// Linkers differ in the number of loaded segments.
static inline int load_count(const file_t* file) {
  elf_header_t header;
  memcpy(&header, file->bytes, sizeof(header));
  int count = 0;
  for (int i = 0; i < header.program_header_count; ++i) {
    elf_program_header_t each;
    memcpy(&each,
           file->bytes + header.program_header_offset +
               (size_t)i * sizeof(each),
           sizeof(each));
    count += each.type == ELF_PT_LOAD;
  }
  return count;
}

// Tables lie in the first segment, whose file and memory addresses agree, but
// the dynamic section does not.
static inline elf_dynamic_t* dynamic_entry(file_t* file, int64_t tag) {
  elf_program_header_t* dynamic = segment_of_type(file, ELF_PT_DYNAMIC, 0);
  elf_dynamic_t* table = (elf_dynamic_t*)(void*)(file->bytes + dynamic->offset);
  for (size_t i = 0; i < dynamic->filesz / sizeof(*table); ++i) {
    if (table[i].tag == tag) return &table[i];
  }
  fprintf(stderr, "no dynamic entry %lld\n", (long long)tag);
  exit(1);
}

// A dynamic entry that the loader ignores, to be overwritten.
static inline elf_dynamic_t* spare_dynamic_entry(file_t* file) {
  return dynamic_entry(file, 0x6ffffff9);  // DT_RELACOUNT
}

static inline elf_rela_t* first_relocation(file_t* file) {
  return (elf_rela_t*)(void*)(file->bytes +
                              dynamic_entry(file, ELF_DT_RELA)->value);
}

static inline elf_symbol_t* last_symbol(file_t* file) {
  uint64_t hash = dynamic_entry(file, ELF_DT_HASH)->value;
  uint32_t count;
  memcpy(&count, file->bytes + hash + 4, 4);
  return (elf_symbol_t*)(void*)(file->bytes +
                                dynamic_entry(file, ELF_DT_SYMTAB)->value) +
         (count - 1);
}

#endif  // IREE4J_SHIM_TEST_ELF_EDIT_H_
