// ELF loader: accepts the output of compilers, reports why it rejects the rest.

#include "elf_edit.h"
#include "shim_fault.h"
#include "shim_system.h"

// Parses and loads; runs nothing.
static shim_status_t load(const file_t* file, shim_error_t* error) {
  // Exactly as long as the file, so that sanitizers see the first byte beyond.
  uint8_t* copy = malloc(file->size ? file->size : 1);
  CHECK(copy);
  memcpy(copy, file->bytes, file->size);
  const uint8_t* bytes = NULL;
  uint64_t size = 0;
  shim__elf_file_t parsed;
  shim__elf_image_t image = {0};
  shim_status_t status =
      shim__fatelf_select(copy, file->size, &bytes, &size, error);
  if (status == SHIM_OK) {
    status = shim__elf_file_parse(bytes, size, SHIM__ELF_HOST_MACHINE,
                                  shim__system_page_size(), &parsed, error);
  }
  if (status == SHIM_OK) status = shim__elf_image_load(&parsed, &image, error);
  shim__elf_image_release(&image);
  free(copy);
  return status;
}

// Loads a copy of the basic kernel after |edit|, which may use |file|.
#define REJECTS(code, text, edit)               \
  do {                                          \
    file_t file = read_kernel("basic");         \
    edit;                                       \
    CHECK_FAILS(load(&file, &error), code, text); \
    free(file.bytes);                           \
  } while (0)

static void accepts_what_the_compiler_emits(void) {
  file_t file = read_kernel("basic");
  CHECK_OK(load(&file, &error));
  free(file.bytes);
}

static void rejects_what_is_no_elf_file(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "magic", file.bytes[0] = 0);
  REJECTS(SHIM_INVALID_ARGUMENT, "fewer than the header's 64",
          file.size = 63);
  REJECTS(SHIM_INVALID_ARGUMENT, "0 bytes", file.size = 0);
}

static void rejects_other_hosts(void) {
  REJECTS(SHIM_INCOMPATIBLE, "class is 1", file.bytes[4] = 1);
  REJECTS(SHIM_INCOMPATIBLE, "byte order is 2", file.bytes[5] = 2);
  REJECTS(SHIM_INCOMPATIBLE, "version is 7", header_of(&file)->version = 7);
  REJECTS(SHIM_INCOMPATIBLE, "compiled for riscv (e_machine 243), this host",
          header_of(&file)->machine = 0xF3);
}

static void rejects_other_kinds_of_file(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "type 2", header_of(&file)->type = 2);
  REJECTS(SHIM_INVALID_ARGUMENT, "sizes are 65",
          header_of(&file)->header_size = 65);
  REJECTS(SHIM_INVALID_ARGUMENT, "sizes are 64, 55",
          header_of(&file)->program_header_size = 55);
  REJECTS(SHIM_INVALID_ARGUMENT, "sizes are 64, 56 and 0",
          header_of(&file)->section_header_size = 0);
}

static void rejects_header_tables_outside_of_the_file(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "0 program headers",
          header_of(&file)->program_header_count = 0);
  REJECTS(SHIM_INVALID_ARGUMENT, "program headers at",
          header_of(&file)->program_header_count = 65535);
  REJECTS(SHIM_INVALID_ARGUMENT, "program headers at 18446744073709551615",
          header_of(&file)->program_header_offset = UINT64_MAX);
  REJECTS(SHIM_INVALID_ARGUMENT, "0 section headers",
          header_of(&file)->section_header_count = 0);
  REJECTS(SHIM_INVALID_ARGUMENT, "section headers at",
          header_of(&file)->section_header_offset = file.size - 1);
}

static void rejects_segments_that_do_not_fit(void) {
#define FIRST segment_of_type(&file, ELF_PT_LOAD, 0)
#define SECOND segment_of_type(&file, ELF_PT_LOAD, 1)
  REJECTS(SHIM_INVALID_ARGUMENT, "of a file of",
          FIRST->filesz = file.size + 1; FIRST->memsz = file.size + 1);
  REJECTS(SHIM_INVALID_ARGUMENT, "of a file of", FIRST->offset = UINT64_MAX);
  REJECTS(SHIM_INVALID_ARGUMENT, "bytes in the file for", FIRST->memsz = 1);
  REJECTS(SHIM_INVALID_ARGUMENT, "leaves the address space",
          FIRST->vaddr = UINT64_MAX - 100);
  REJECTS(SHIM_INVALID_ARGUMENT, "leaves the address space",
          FIRST->memsz = UINT64_MAX);
  REJECTS(SHIM_RESOURCE_EXHAUSTED, "the limit is 268435456",
          segment_of_type(&file, ELF_PT_LOAD, load_count(&file) - 1)->memsz =
              1ull << 40);
  REJECTS(SHIM_INVALID_ARGUMENT, "not above the pages of the one before",
          SECOND->vaddr = FIRST->vaddr + 16);
}

static void rejects_memory_that_is_writable_and_executable(void) {
  REJECTS(SHIM_PERMISSION_DENIED, "writable and executable",
          SECOND->flags = ELF_PF_R | ELF_PF_W | ELF_PF_X);
}

static void rejects_files_without_segments_or_dynamic_section(void) {
  REJECTS(
      SHIM_INVALID_ARGUMENT, "no loadable segment",
      while (load_count(&file) > 0) FIRST->type = 0);
  REJECTS(SHIM_INVALID_ARGUMENT, "no dynamic section",
          segment_of_type(&file, ELF_PT_DYNAMIC, 0)->type = 0);
  REJECTS(SHIM_INVALID_ARGUMENT, "dynamic section at",
          segment_of_type(&file, ELF_PT_DYNAMIC, 0)->vaddr = 1 << 30);
  REJECTS(SHIM_INVALID_ARGUMENT, "empty dynamic section",
          segment_of_type(&file, ELF_PT_DYNAMIC, 0)->filesz = 8);
}

static void rejects_thread_local_storage(void) {
  REJECTS(SHIM_UNIMPLEMENTED, "thread-local", SECOND->type = ELF_PT_TLS);
}

static void rejects_relro_outside_of_writable_memory(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "not inside a writable segment",
          segment_of_type(&file, ELF_PT_GNU_RELRO, 0)->vaddr = FIRST->vaddr);
  REJECTS(SHIM_INVALID_ARGUMENT, "not inside a writable segment",
          segment_of_type(&file, ELF_PT_GNU_RELRO, 0)->memsz = UINT64_MAX);
}

// lld pads the range to the largest pages that the file is linked for.
static void relro_padding_is_accepted_up_to_the_segments_alignment(void) {
  file_t file = read_kernel("basic");
  elf_program_header_t* relro = segment_of_type(&file, ELF_PT_GNU_RELRO, 0);
  elf_program_header_t* last = NULL;
  for (int i = 0; i < load_count(&file); ++i) {
    elf_program_header_t* load = segment_of_type(&file, ELF_PT_LOAD, i);
    if (load->vaddr <= relro->vaddr) last = load;
  }
  uint64_t unpadded = last->vaddr + last->memsz;
  last->align = 65536;
  relro->memsz = ((unpadded + 65535) & ~65535ull) - relro->vaddr;
  shim__elf_file_t parsed;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, SHIM__ELF_HOST_MACHINE,
                                4096, &parsed, &error));
  uint64_t end = (unpadded + 4095) & ~4095ull;
  CHECK_EQ(parsed.relro_vaddr + parsed.relro_size, end);
  relro->memsz += 1;
  CHECK_FAILS(shim__elf_file_parse(file.bytes, file.size,
                                   SHIM__ELF_HOST_MACHINE, 4096, &parsed,
                                   &error),
              SHIM_INVALID_ARGUMENT, "not inside a writable segment");
  free(file.bytes);
}

static void alignment_of_segments_is_honoured(void) {
  const uint64_t alignments[] = {0, 1, 4096, 65536, 2 << 20, 64 << 20};
  for (size_t i = 0; i < sizeof(alignments) / sizeof(*alignments); ++i) {
    file_t file = read_kernel("basic");
    segment_of_type(&file, ELF_PT_LOAD, 1)->align = alignments[i];
    shim__elf_file_t parsed;
    shim__elf_image_t image;
    CHECK_OK(shim__elf_file_parse(file.bytes, file.size,
                                  SHIM__ELF_HOST_MACHINE,
                                  shim__system_page_size(), &parsed, &error));
    CHECK_OK(shim__elf_image_load(&parsed, &image, &error));
    if (alignments[i] > 1) CHECK_EQ(image.bias % alignments[i], 0);
    CHECK(shim__elf_image_is_readable(
        &image, image.bias + image.segments[0].vaddr, 1));
    shim__elf_image_release(&image);
    free(file.bytes);
  }
}

static void rejects_alignments_that_cannot_be_honoured(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "no power of two", SECOND->align = 4097);
  REJECTS(SHIM_INVALID_ARGUMENT, "no power of two", SECOND->align = UINT64_MAX);
  REJECTS(SHIM_RESOURCE_EXHAUSTED, "-z max-page-size",
          SECOND->align = 1ull << 40);
}

// Code asks whether a weak symbol is there; one that nothing defines is 0.
static void weak_symbols_that_nothing_defines_are_null(void) {
  file_t file = read_kernel("basic");
  elf_symbol_t* symbol = last_symbol(&file);
  uint64_t count =
      dynamic_entry(&file, ELF_DT_RELASZ)->value / sizeof(elf_rela_t);
  symbol->section = ELF_SHN_UNDEF;
  symbol->info = (uint8_t)(ELF_STB_WEAK << 4);
  elf_rela_t* rela = first_relocation(&file);
  uint64_t index =
      (uint64_t)(symbol - (elf_symbol_t*)(void*)(file.bytes +
                                                 dynamic_entry(
                                                     &file, ELF_DT_SYMTAB)
                                                     ->value));
  CHECK(count > 0);
  rela->info =
      index << 32 | (SHIM__ELF_HOST_MACHINE == ELF_MACHINE_X86_64 ? 1 : 257);
  rela->addend = 0;
  shim__elf_file_t parsed;
  shim__elf_image_t image;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, SHIM__ELF_HOST_MACHINE,
                                shim__system_page_size(), &parsed, &error));
  CHECK_OK(shim__elf_image_load(&parsed, &image, &error));
  uint64_t value = 1;
  CHECK(shim__elf_image_read(&image, image.bias + rela->offset, &value,
                             sizeof(value)));
  CHECK_EQ(value, 0);
  shim__elf_image_release(&image);
  CHECK_FAILS(shim__elf_file_lookup(&parsed, SHIM_CPU_QUERY_SYMBOL, &value,
                                    &error),
              SHIM_NOT_FOUND, SHIM_CPU_QUERY_SYMBOL);
  free(file.bytes);
}

static void rejects_symbol_tables_outside_of_the_file(void) {
  REJECTS(SHIM_INVALID_ARGUMENT, "no DT_HASH",
          dynamic_entry(&file, ELF_DT_HASH)->tag = 0x6fff0000);
  REJECTS(SHIM_INVALID_ARGUMENT, "hash table at",
          dynamic_entry(&file, ELF_DT_HASH)->value = UINT64_MAX - 3);
  REJECTS(SHIM_INVALID_ARGUMENT, "symbol table at",
          dynamic_entry(&file, ELF_DT_SYMTAB)->value = UINT64_MAX - 3);
  REJECTS(SHIM_INVALID_ARGUMENT, "symbol size is 25",
          dynamic_entry(&file, ELF_DT_SYMENT)->value = 25);
  REJECTS(SHIM_INVALID_ARGUMENT, "string table at",
          dynamic_entry(&file, ELF_DT_STRSZ)->value = UINT64_MAX / 2);
  REJECTS(SHIM_INVALID_ARGUMENT, "does not end with NUL",
          dynamic_entry(&file, ELF_DT_STRSZ)->value -= 1);
  REJECTS(SHIM_INVALID_ARGUMENT, "name of symbol",
          last_symbol(&file)->name = UINT32_MAX);
  REJECTS(SHIM_INVALID_ARGUMENT, "symbol table at", {
    uint32_t many = UINT32_MAX;
    memcpy(file.bytes + dynamic_entry(&file, ELF_DT_HASH)->value + 4, &many, 4);
  });
}

static void rejects_files_with_gnu_hash_only(void) {
  file_t file = read_kernel("gnu_hash");
  CHECK_FAILS(load(&file, &error), SHIM_INVALID_ARGUMENT,
              "only DT_GNU_HASH; link with --hash-style=sysv");
  free(file.bytes);
}

static void rejects_imported_symbols_by_name(void) {
  file_t file = read_kernel("undefined");
  CHECK_FAILS(load(&file, &error), SHIM_UNAVAILABLE, "'missing_function'");
  free(file.bytes);
}

static void rejects_relocations_it_cannot_apply(void) {
  REJECTS(SHIM_UNIMPLEMENTED, "relocation type 37",
          first_relocation(&file)->info = 37);
  REJECTS(SHIM_INVALID_ARGUMENT, "relocation of symbol 4294967295",
          first_relocation(&file)->info = UINT64_MAX << 32 | 1);
  REJECTS(SHIM_INVALID_ARGUMENT, "outside of all segments",
          first_relocation(&file)->offset = UINT64_MAX - 4);
  REJECTS(SHIM_INVALID_ARGUMENT, "outside of all segments",
          first_relocation(&file)->offset = 1 << 27);
  REJECTS(SHIM_UNIMPLEMENTED, "relocates read-only memory",
          first_relocation(&file)->offset = FIRST->vaddr);
  REJECTS(SHIM_UNIMPLEMENTED, "relocates read-only memory",
          first_relocation(&file)->offset = SECOND->vaddr);
  REJECTS(SHIM_INVALID_ARGUMENT, "relocation table at",
          dynamic_entry(&file, ELF_DT_RELASZ)->value = 24ull << 40);
  REJECTS(SHIM_INVALID_ARGUMENT, "whole number of 24-byte entries",
          dynamic_entry(&file, ELF_DT_RELASZ)->value += 1);
  REJECTS(SHIM_INVALID_ARGUMENT, "relocation size is 16",
          dynamic_entry(&file, ELF_DT_RELAENT)->value = 16);
  REJECTS(SHIM_INVALID_ARGUMENT, "DT_REL",
          spare_dynamic_entry(&file)->tag = ELF_DT_REL);
  REJECTS(SHIM_UNIMPLEMENTED, "DT_RELR",
          spare_dynamic_entry(&file)->tag = ELF_DT_RELR);
  REJECTS(SHIM_UNIMPLEMENTED, "--pack-dyn-relocs=none",
          spare_dynamic_entry(&file)->tag = ELF_DT_RELR);
  for (int64_t tag = ELF_DT_ANDROID_REL; tag <= ELF_DT_ANDROID_RELASZ; ++tag) {
    REJECTS(SHIM_UNIMPLEMENTED, "packed relocations of Android",
            spare_dynamic_entry(&file)->tag = tag);
  }
  REJECTS(SHIM_UNIMPLEMENTED, "packed relocations of Android",
          spare_dynamic_entry(&file)->tag = ELF_DT_ANDROID_RELR);
  REJECTS(SHIM_INVALID_ARGUMENT, "DT_PLTREL 3", {
    spare_dynamic_entry(&file)->value = 3;
    spare_dynamic_entry(&file)->tag = ELF_DT_PLTREL;
  });
}

static void lookup_finds_the_exported_function_only(void) {
  file_t file = read_kernel("basic");
  shim__elf_file_t parsed;
  uint64_t vaddr = 0;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, SHIM__ELF_HOST_MACHINE,
                                4096, &parsed, &error));
  CHECK_OK(shim__elf_file_lookup(&parsed, SHIM_CPU_QUERY_SYMBOL, &vaddr,
                                 &error));
  CHECK(vaddr >= segment_of_type(&file, ELF_PT_LOAD, 1)->vaddr);
  CHECK_FAILS(shim__elf_file_lookup(&parsed, "add", &vaddr, &error),
              SHIM_NOT_FOUND, "'add'");
  CHECK_EQ(vaddr, 0);
  free(file.bytes);
}

// The permissions of the page at |address|, as the system reports them.
static void rights_of(uint64_t address, char rights[5]) {
  shim__mapping_t mapping;
  CHECK_EQ(shim__fault_mapping((uintptr_t)address, &mapping), SHIM__MAPPED);
  memcpy(rights, mapping.rights, 5);
}

static void segments_get_the_rights_they_ask_for(void) {
  file_t file = read_kernel("basic");
  shim__elf_file_t parsed;
  shim__elf_image_t image;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, SHIM__ELF_HOST_MACHINE,
                                shim__system_page_size(), &parsed, &error));
  CHECK_OK(shim__elf_image_load(&parsed, &image, &error));
  int code_segments = 0;
  for (uint32_t i = 0; i < image.segment_count; ++i) {
    char rights[5];
    rights_of(image.bias + image.segments[i].vaddr, rights);
    CHECK(!(rights[1] == 'w' && rights[2] == 'x'));
    if (image.segments[i].flags & ELF_PF_X) {
      CHECK(memcmp(rights, "r-x", 3) == 0);
      ++code_segments;
    }
  }
  CHECK_EQ(code_segments, 1);
  CHECK(parsed.relro_size > 0);
  char rights[5];
  rights_of(image.bias + parsed.relro_vaddr, rights);
  CHECK(memcmp(rights, "r--", 3) == 0);
  shim__elf_image_release(&image);
  free(file.bytes);
}

static void access_checks_stop_at_segment_ends(void) {
  file_t file = read_kernel("basic");
  shim__elf_file_t parsed;
  shim__elf_image_t image;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, SHIM__ELF_HOST_MACHINE,
                                shim__system_page_size(), &parsed, &error));
  CHECK_OK(shim__elf_image_load(&parsed, &image, &error));
  uint64_t first = image.bias + image.segments[0].vaddr;
  uint64_t size = image.segments[0].memsz;
  CHECK(shim__elf_image_is_readable(&image, first, size));
  CHECK(!shim__elf_image_is_readable(&image, first, size + 1));
  CHECK(!shim__elf_image_is_readable(&image, first - 1, 1));
  CHECK(!shim__elf_image_is_readable(&image, first, UINT64_MAX));
  CHECK(!shim__elf_image_is_readable(&image, 0, 8));
  CHECK(!shim__elf_image_is_code(&image, first));
  CHECK(shim__elf_image_is_code(&image, image.bias + image.segments[1].vaddr));
  uint64_t length = 0;
  CHECK(!shim__elf_image_string(&image, first + size, 10, &length));
  // "\x7f" "ELF" and the class, then no NUL for a limit of three characters.
  CHECK(!shim__elf_image_string(&image, first, 3, &length));
  CHECK(shim__elf_image_string(&image, first, 100, &length));
  shim__elf_image_release(&image);
  free(file.bytes);
}

static void compute(uint16_t machine, uint32_t type, int64_t addend,
                    uint64_t value, uint32_t width) {
  shim__elf_relocation_t relocation = {.type = type,
                                       .place = 0x10000,
                                       .base = 0x5000,
                                       .symbol = 0x7000,
                                       .addend = addend};
  uint64_t actual_value = 0;
  uint32_t actual_width = 0;
  CHECK_OK(shim__elf_relocation_compute(machine, &relocation, &actual_value,
                                        &actual_width, &error));
  CHECK_EQ(actual_value, value);
  CHECK_EQ(actual_width, width);
}

static void relocations_of_x86_64_follow_its_supplement(void) {
  const uint16_t m = ELF_MACHINE_X86_64;
  compute(m, 0, 5, 0, 0);
  compute(m, 1, 5, 0x7005, 8);
  compute(m, 2, -4, (uint64_t)(0x7000 - 4 - 0x10000), 4);
  compute(m, 5, 5, 0x7000, 8);
  compute(m, 6, 5, 0x7000, 8);
  compute(m, 7, 5, 0x7000, 8);
  compute(m, 8, -8, 0x4FF8, 8);
  compute(m, 10, 5, 0x7005, 4);
  compute(m, 11, -0x8000, (uint64_t)-0x1000, 4);
}

static void relocations_of_arm_64_follow_its_supplement(void) {
  const uint16_t m = ELF_MACHINE_ARM_64;
  compute(m, 0, 5, 0, 0);
  compute(m, 257, 5, 0x7005, 8);
  compute(m, 1025, 5, 0x7005, 8);
  compute(m, 1026, 0, 0x7000, 8);
  compute(m, 1027, 5, 0x5005, 8);
}

static void relocations_of_32_bits_must_fit(void) {
  shim__elf_relocation_t relocation = {.type = 10, .symbol = 1ull << 32};
  uint64_t value = 0;
  uint32_t width = 0;
  CHECK_FAILS(shim__elf_relocation_compute(ELF_MACHINE_X86_64, &relocation,
                                           &value, &width, &error),
              SHIM_OUT_OF_RANGE, "does not fit 32 bits");
  relocation.type = 11;
  relocation.symbol = 1ull << 31;
  CHECK_FAILS(shim__elf_relocation_compute(ELF_MACHINE_X86_64, &relocation,
                                           &value, &width, &error),
              SHIM_OUT_OF_RANGE, "-fPIC");
}

static void unknown_relocations_name_machine_and_type(void) {
  shim__elf_relocation_t relocation = {.type = 1030};
  uint64_t value = 0;
  uint32_t width = 0;
  CHECK_FAILS(shim__elf_relocation_compute(ELF_MACHINE_ARM_64, &relocation,
                                           &value, &width, &error),
              SHIM_UNIMPLEMENTED, "type 1030 of arm_64");
}

// The tables are data: an image of the other machine is mapped and relocated
// here too, and only its code cannot be run.
static void files_of_arm_64_are_relocated_on_any_host(void) {
  file_t file = read_kernel("basic");
  header_of(&file)->machine = ELF_MACHINE_ARM_64;
  elf_rela_t* rela = first_relocation(&file);
  uint64_t count =
      dynamic_entry(&file, ELF_DT_RELASZ)->value / sizeof(elf_rela_t);
  CHECK(count > 10);
  for (uint64_t i = 0; i < count; ++i) rela[i].info = 1027;  // RELATIVE
  shim__elf_file_t parsed;
  shim__elf_image_t image;
  CHECK_OK(shim__elf_file_parse(file.bytes, file.size, ELF_MACHINE_ARM_64,
                                shim__system_page_size(), &parsed, &error));
  CHECK_OK(shim__elf_image_load(&parsed, &image, &error));
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    CHECK(shim__elf_image_read(&image, image.bias + rela[i].offset, &value,
                               sizeof(value)));
    CHECK_EQ(value, image.bias + (uint64_t)rela[i].addend);
  }
  shim__elf_image_release(&image);
  CHECK_FAILS(shim__elf_file_parse(file.bytes, file.size, ELF_MACHINE_X86_64,
                                   4096, &parsed, &error),
              SHIM_INCOMPATIBLE,
              "compiled for arm_64 (e_machine 183), this host runs x86_64");
  free(file.bytes);
}

// Segments may be linked for larger pages than the host's but not for smaller
// ones: two permissions cannot share a page.
static void segments_must_not_share_pages_of_the_host(void) {
  file_t file = read_kernel("small_pages");
  shim__elf_file_t parsed;
  CHECK_FAILS(shim__elf_file_parse(file.bytes, file.size,
                                   SHIM__ELF_HOST_MACHINE, 65536, &parsed,
                                   &error),
              SHIM_INVALID_ARGUMENT, "-z max-page-size=65536");
  free(file.bytes);
}

// A FatELF file of two records: |machine| at the front, then nonsense.
static file_t fat(file_t elf, uint16_t machine) {
  const size_t start = 64;
  file_t file = {calloc(1, start + elf.size), start + elf.size};
  CHECK(file.bytes);
  fatelf_header_t header = {.magic = FATELF_MAGIC, .version = 1,
                            .record_count = 2};
  fatelf_record_t records[2] = {
      {.machine = 0xF3, .word_size = 2, .byte_order = 1, .offset = 1,
       .size = UINT64_MAX},
      {.machine = machine, .word_size = 2, .byte_order = 1, .offset = start,
       .size = elf.size},
  };
  memcpy(file.bytes, &header, sizeof(header));
  memcpy(file.bytes + sizeof(header), records, sizeof(records));
  memcpy(file.bytes + start, elf.bytes, elf.size);
  return file;
}

static void fatelf_gives_the_file_of_this_host(void) {
  file_t elf = read_kernel("basic");
  file_t file = fat(elf, SHIM__ELF_HOST_MACHINE);
  CHECK_OK(load(&file, &error));
  free(file.bytes);
  file = fat(elf, 0x28);
  CHECK_FAILS(load(&file, &error), SHIM_INCOMPATIBLE, "among its 2");
  free(file.bytes);
  free(elf.bytes);
}

static void fatelf_records_must_fit(void) {
  file_t elf = read_kernel("basic");
  file_t file = fat(elf, SHIM__ELF_HOST_MACHINE);
  file.size -= 1;
  CHECK_FAILS(load(&file, &error), SHIM_INVALID_ARGUMENT, "record 1");
  file.size = 20;
  CHECK_FAILS(load(&file, &error), SHIM_INVALID_ARGUMENT, "2 records");
  file.size = 64 + elf.size;
  file.bytes[4] = 9;
  CHECK_FAILS(load(&file, &error), SHIM_UNIMPLEMENTED, "version is 9");
  free(file.bytes);
  free(elf.bytes);
}

int main(void) {
  RUN(accepts_what_the_compiler_emits);
  RUN(rejects_what_is_no_elf_file);
  RUN(rejects_other_hosts);
  RUN(rejects_other_kinds_of_file);
  RUN(rejects_header_tables_outside_of_the_file);
  RUN(rejects_segments_that_do_not_fit);
  RUN(rejects_memory_that_is_writable_and_executable);
  RUN(rejects_files_without_segments_or_dynamic_section);
  RUN(rejects_thread_local_storage);
  RUN(rejects_relro_outside_of_writable_memory);
  RUN(relro_padding_is_accepted_up_to_the_segments_alignment);
  RUN(alignment_of_segments_is_honoured);
  RUN(rejects_alignments_that_cannot_be_honoured);
  RUN(weak_symbols_that_nothing_defines_are_null);
  RUN(rejects_symbol_tables_outside_of_the_file);
  RUN(rejects_files_with_gnu_hash_only);
  RUN(rejects_imported_symbols_by_name);
  RUN(rejects_relocations_it_cannot_apply);
  RUN(lookup_finds_the_exported_function_only);
  RUN(segments_get_the_rights_they_ask_for);
  RUN(access_checks_stop_at_segment_ends);
  RUN(relocations_of_x86_64_follow_its_supplement);
  RUN(relocations_of_arm_64_follow_its_supplement);
  RUN(relocations_of_32_bits_must_fit);
  RUN(unknown_relocations_name_machine_and_type);
  RUN(files_of_arm_64_are_relocated_on_any_host);
  RUN(segments_must_not_share_pages_of_the_host);
  RUN(fatelf_gives_the_file_of_this_host);
  RUN(fatelf_records_must_fit);
  return 0;
}
