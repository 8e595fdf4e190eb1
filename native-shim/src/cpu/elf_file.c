// Checks an ELF file and finds its tables. Reads the caller's bytes only; calls
// shim_status.c.
//
// Arithmetic rule: offsets and sizes from the file are compared by subtraction
// from something already known to be in range, never added first.
#include <string.h>

#include "elf.h"

#define MALFORMED(...) \
  shim_error_set(error, SHIM_INVALID_ARGUMENT, 0, "malformed ELF: " __VA_ARGS__)

typedef unsigned long long ull;

static bool in_range(uint64_t offset, uint64_t length, uint64_t limit) {
  return offset <= limit && length <= limit - offset;
}

const char* shim__elf_machine_name(uint16_t machine) {
  switch (machine) {
    case 0x03:
      return "x86_32";
    case 0x28:
      return "arm_32";
    case ELF_MACHINE_X86_64:
      return "x86_64";
    case ELF_MACHINE_ARM_64:
      return "arm_64";
    case 0xF3:
      return "riscv";
    default:
      return "an unknown machine";
  }
}

static shim_status_t parse_header(const shim__elf_file_t* file,
                                  uint16_t machine, elf_header_t* header,
                                  shim_error_t* error) {
  if (file->size < sizeof(*header)) {
    return MALFORMED("%llu bytes are fewer than the header's %zu",
                     (ull)file->size, sizeof(*header));
  }
  memcpy(header, file->bytes, sizeof(*header));
  static const uint8_t magic[4] = {0x7F, 'E', 'L', 'F'};
  if (memcmp(header->ident, magic, sizeof(magic)) != 0) {
    return MALFORMED("no ELF magic at its start");
  }
  if (header->ident[4] != ELF_CLASS_64) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "ELF class is %u, this host needs 2 (64-bit)",
                          header->ident[4]);
  }
  if (header->ident[5] != ELF_DATA_LITTLE) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "ELF byte order is %u, this host needs 1 (little "
                          "endian)",
                          header->ident[5]);
  }
  if (header->ident[6] != ELF_VERSION_CURRENT ||
      header->version != ELF_VERSION_CURRENT) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "ELF version is %u, expected 1", header->version);
  }
  if (header->machine != machine) {
    return shim_error_set(
        error, SHIM_INCOMPATIBLE, 0,
        "ELF is compiled for %s (e_machine %u), this host runs %s "
        "(e_machine %u)",
        shim__elf_machine_name(header->machine), header->machine,
        shim__elf_machine_name(machine), machine);
  }
  if (header->type != ELF_TYPE_DYN) {
    return MALFORMED("type %u is not a shared object (3)", header->type);
  }
  if (header->header_size != sizeof(elf_header_t) ||
      header->program_header_size != sizeof(elf_program_header_t) ||
      header->section_header_size != ELF_SECTION_HEADER_SIZE) {
    return MALFORMED("header sizes are %u, %u and %u, expected 64, 56 and 64",
                     header->header_size, header->program_header_size,
                     header->section_header_size);
  }
  if (header->program_header_offset == 0 || header->program_header_count == 0 ||
      !in_range(header->program_header_offset,
                (uint64_t)header->program_header_count *
                    sizeof(elf_program_header_t),
                file->size)) {
    return MALFORMED("%u program headers at %llu do not fit %llu bytes",
                     header->program_header_count,
                     (ull)header->program_header_offset, (ull)file->size);
  }
  if (header->section_header_offset == 0 || header->section_header_count == 0 ||
      !in_range(
          header->section_header_offset,
          (uint64_t)header->section_header_count * ELF_SECTION_HEADER_SIZE,
          file->size)) {
    return MALFORMED("%u section headers at %llu do not fit %llu bytes",
                     header->section_header_count,
                     (ull)header->section_header_offset, (ull)file->size);
  }
  return SHIM_OK;
}

static shim_status_t check_protection(const elf_program_header_t* segment,
                                      uint32_t i, shim_error_t* error) {
  if (!(segment->flags & ELF_PF_W) || !(segment->flags & ELF_PF_X)) {
    return SHIM_OK;
  }
  return shim_error_set(error, SHIM_PERMISSION_DENIED, 0,
                        "ELF segment %u is writable and executable; link code "
                        "and data into separate segments",
                        i);
}

static elf_program_header_t program_header(const shim__elf_file_t* file,
                                           const elf_header_t* header,
                                           uint32_t i) {
  elf_program_header_t result;
  memcpy(&result,
         file->bytes + header->program_header_offset + i * sizeof(result),
         sizeof(result));
  return result;
}

// Appends one PT_LOAD segment. |page_end| is the end of the pages of earlier
// ones.
static shim_status_t add_segment(shim__elf_file_t* file,
                                 const elf_program_header_t* load, uint32_t i,
                                 uint64_t page_size, uint64_t* page_end,
                                 shim_error_t* error) {
  const uint64_t mask = page_size - 1;
  if (!in_range(load->offset, load->filesz, file->size)) {
    return MALFORMED("segment %u takes bytes [%llu, +%llu) of a file of %llu",
                     i, (ull)load->offset, (ull)load->filesz, (ull)file->size);
  }
  if (load->filesz > load->memsz) {
    return MALFORMED("segment %u has %llu bytes in the file for %llu in memory",
                     i, (ull)load->filesz, (ull)load->memsz);
  }
  if (load->vaddr > UINT64_MAX / 2 || load->memsz > UINT64_MAX / 4) {
    return MALFORMED("segment %u at 0x%llx of %llu bytes leaves the address "
                     "space",
                     i, (ull)load->vaddr, (ull)load->memsz);
  }
  shim_status_t status = check_protection(load, i, error);
  if (status != SHIM_OK) return status;
  if (load->memsz == 0) return SHIM_OK;
  if (file->segment_count == SHIM__ELF_MAX_SEGMENTS) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "ELF has more than %d loadable segments",
                          SHIM__ELF_MAX_SEGMENTS);
  }
  // 0 and 1 stand for none.
  if (load->align & (load->align - 1)) {
    return MALFORMED("segment %u is aligned to %llu bytes, which is no power "
                     "of two",
                     i, (ull)load->align);
  }
  if (load->align > SHIM__ELF_MAX_ALIGNMENT) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "segment %u of ELF is aligned to %llu bytes, the "
                          "limit is %llu; link with -z max-page-size=%llu",
                          i, (ull)load->align, (ull)SHIM__ELF_MAX_ALIGNMENT,
                          (ull)page_size);
  }
  if (load->align > file->alignment) file->alignment = load->align;
  uint64_t first = load->vaddr & ~mask;
  uint64_t end = (load->vaddr + load->memsz + mask) & ~mask;
  if (file->segment_count == 0) {
    file->image_vaddr = first;
  } else if (first < *page_end) {
    return MALFORMED("segment %u at 0x%llx is not above the pages of the one "
                     "before, which end at 0x%llx; link with "
                     "-z max-page-size=%llu and -z separate-code",
                     i, (ull)load->vaddr, (ull)*page_end, (ull)page_size);
  }
  if (end - file->image_vaddr > SHIM__ELF_MAX_IMAGE_SIZE) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "ELF image spans %llu bytes, the limit is %llu",
                          (ull)(end - file->image_vaddr),
                          (ull)SHIM__ELF_MAX_IMAGE_SIZE);
  }
  *page_end = end;
  file->image_size = end - file->image_vaddr;
  uint32_t flags = load->flags & (ELF_PF_R | ELF_PF_W | ELF_PF_X);
  if (flags & (ELF_PF_W | ELF_PF_X)) flags |= ELF_PF_R;
  file->segments[file->segment_count++] = (shim__elf_segment_t){
      .vaddr = load->vaddr,
      .memsz = load->memsz,
      .offset = load->offset,
      .filesz = load->filesz,
      .flags = flags,
  };
  return SHIM_OK;
}

static shim_status_t set_relro(shim__elf_file_t* file,
                               const elf_program_header_t* relro,
                               uint64_t page_size, shim_error_t* error) {
  const uint64_t mask = page_size - 1;
  if (relro->memsz == 0) return SHIM_OK;
  for (uint32_t i = 0; i < file->segment_count; ++i) {
    const shim__elf_segment_t* segment = &file->segments[i];
    uint64_t end = (segment->vaddr + segment->memsz + mask) & ~mask;
    if (relro->vaddr < segment->vaddr || relro->vaddr >= end) continue;
    // Linkers pad the range to pages of their own, which may be larger than
    // this host's: up to there, but not into the next segment.
    const uint64_t coarse = file->alignment - 1;
    uint64_t padded = (end + coarse) & ~coarse;
    if (i + 1 < file->segment_count) {
      uint64_t next = file->segments[i + 1].vaddr & ~mask;
      if (next < padded) padded = next;
    }
    if (!in_range(relro->vaddr, relro->memsz, padded)) break;
    if (!(segment->flags & ELF_PF_W)) break;
    // Like dynamic linkers: the last page, if shared with ordinary data, stays
    // writable.
    uint64_t relro_end = (relro->vaddr + relro->memsz) & ~mask;
    if (relro_end > end) relro_end = end;
    file->relro_vaddr = relro->vaddr & ~mask;
    file->relro_size = relro_end - file->relro_vaddr;
    return SHIM_OK;
  }
  return MALFORMED("read-only-after-relocation range 0x%llx of %llu bytes is "
                   "not inside a writable segment",
                   (ull)relro->vaddr, (ull)relro->memsz);
}

static shim_status_t parse_segments(shim__elf_file_t* file,
                                    const elf_header_t* header,
                                    uint64_t page_size,
                                    elf_program_header_t* out_dynamic,
                                    shim_error_t* error) {
  uint64_t page_end = 0;
  bool has_dynamic = false;
  for (uint32_t i = 0; i < header->program_header_count; ++i) {
    elf_program_header_t entry = program_header(file, header, i);
    if (entry.type == ELF_PT_LOAD) {
      shim_status_t status =
          add_segment(file, &entry, i, page_size, &page_end, error);
      if (status != SHIM_OK) return status;
    } else if (entry.type == ELF_PT_DYNAMIC && !has_dynamic) {
      *out_dynamic = entry;
      has_dynamic = true;
    } else if (entry.type == ELF_PT_TLS && entry.memsz != 0) {
      return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                            "ELF has thread-local storage, which the loader "
                            "does not support");
    }
  }
  if (file->segment_count == 0) return MALFORMED("no loadable segment");
  if (!has_dynamic) return MALFORMED("no dynamic section");
  for (uint32_t i = 0; i < header->program_header_count; ++i) {
    elf_program_header_t entry = program_header(file, header, i);
    if (entry.type != ELF_PT_GNU_RELRO) continue;
    shim_status_t status = set_relro(file, &entry, page_size, error);
    if (status != SHIM_OK) return status;
  }
  return SHIM_OK;
}

// Finds |size| bytes at |vaddr| in the file. Only bytes in the file count:
// zero-filled memory has no tables.
static const uint8_t* bytes_at(const shim__elf_file_t* file, uint64_t vaddr,
                               uint64_t size) {
  for (uint32_t i = 0; i < file->segment_count; ++i) {
    const shim__elf_segment_t* segment = &file->segments[i];
    if (vaddr >= segment->vaddr &&
        in_range(vaddr - segment->vaddr, size, segment->filesz)) {
      return file->bytes + segment->offset + (vaddr - segment->vaddr);
    }
  }
  return NULL;
}

static shim_status_t find_table(const shim__elf_file_t* file, const char* what,
                                uint64_t vaddr, uint64_t size,
                                uint64_t entry_size,
                                shim__elf_table_t* out_table,
                                shim_error_t* error) {
  if (size == 0) return SHIM_OK;
  if (size % entry_size != 0) {
    return MALFORMED("%s of %llu bytes is not a whole number of %llu-byte "
                     "entries",
                     what, (ull)size, (ull)entry_size);
  }
  out_table->data = bytes_at(file, vaddr, size);
  if (!out_table->data) {
    return MALFORMED("%s at 0x%llx of %llu bytes is not in the file", what,
                     (ull)vaddr, (ull)size);
  }
  out_table->count = size / entry_size;
  return SHIM_OK;
}

// The relevant values of the dynamic section, 0 where absent.
typedef struct dynamic_values_t {
  uint64_t hash, strings, strings_size, symbols;
  uint64_t rela, rela_size, plt_rela, plt_rela_size;
  bool has_hash, has_gnu_hash;
} dynamic_values_t;

static shim_status_t read_dynamic(shim__elf_file_t* file,
                                  const elf_program_header_t* segment,
                                  dynamic_values_t* values,
                                  shim_error_t* error) {
  shim__elf_table_t table = {0};
  uint64_t whole = segment->filesz - segment->filesz % sizeof(elf_dynamic_t);
  shim_status_t status =
      find_table(file, "dynamic section", segment->vaddr, whole,
                 sizeof(elf_dynamic_t), &table, error);
  if (status != SHIM_OK) return status;
  if (table.count == 0) return MALFORMED("empty dynamic section");
  for (uint64_t i = 0; i < table.count; ++i) {
    elf_dynamic_t entry;
    memcpy(&entry, table.data + i * sizeof(entry), sizeof(entry));
    const uint64_t value = entry.value;
    switch (entry.tag) {
      case ELF_DT_NULL:
        return SHIM_OK;
      case ELF_DT_HASH:
        values->hash = value;
        values->has_hash = true;
        break;
      case ELF_DT_GNU_HASH:
        values->has_gnu_hash = true;
        break;
      case ELF_DT_STRTAB:
        values->strings = value;
        break;
      case ELF_DT_STRSZ:
        values->strings_size = value;
        break;
      case ELF_DT_SYMTAB:
        values->symbols = value;
        break;
      case ELF_DT_SYMENT:
        if (value != sizeof(elf_symbol_t)) {
          return MALFORMED("symbol size is %llu, expected 24", (ull)value);
        }
        break;
      case ELF_DT_RELA:
        values->rela = value;
        break;
      case ELF_DT_RELASZ:
        values->rela_size = value;
        break;
      case ELF_DT_RELAENT:
        if (value != sizeof(elf_rela_t)) {
          return MALFORMED("relocation size is %llu, expected 24", (ull)value);
        }
        break;
      case ELF_DT_JMPREL:
        values->plt_rela = value;
        break;
      case ELF_DT_PLTRELSZ:
        values->plt_rela_size = value;
        break;
      case ELF_DT_PLTREL:
        if (value != ELF_DT_RELA) {
          return MALFORMED("PLT relocations without addends (DT_PLTREL %llu)",
                           (ull)value);
        }
        break;
      case ELF_DT_REL:
      case ELF_DT_RELSZ:
        return MALFORMED("relocations without addends (DT_REL)");
      case ELF_DT_RELR:
      case ELF_DT_RELRSZ:
        return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                              "ELF has packed relative relocations (DT_RELR); "
                              "link with -z nopack-relative-relocs, or with "
                              "--pack-dyn-relocs=none (lld)");
      case ELF_DT_ANDROID_RELR:
      case ELF_DT_ANDROID_RELRSZ:
        return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                              "ELF has packed relocations of Android; link "
                              "with --pack-dyn-relocs=none");
      case ELF_DT_INIT:
        file->init = value;
        break;
      case ELF_DT_INIT_ARRAY:
        file->init_array = value;
        break;
      case ELF_DT_INIT_ARRAYSZ:
        // In bytes.
        if (value % sizeof(uint64_t) != 0) {
          return MALFORMED("initializer table of %llu bytes", (ull)value);
        }
        file->init_array_count = value / sizeof(uint64_t);
        break;
      default:
        if (entry.tag >= ELF_DT_ANDROID_REL &&
            entry.tag <= ELF_DT_ANDROID_RELASZ) {
          return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                                "ELF has packed relocations of Android; link "
                                "with --pack-dyn-relocs=none");
        }
        break;
    }
  }
  return SHIM_OK;
}

static shim_status_t find_symbols(shim__elf_file_t* file,
                                  const dynamic_values_t* values,
                                  shim_error_t* error) {
  if (!values->has_hash) {
    return MALFORMED("no DT_HASH table%s; link with --hash-style=sysv or both",
                     values->has_gnu_hash ? ", only DT_GNU_HASH" : "");
  }
  const uint8_t* hash = bytes_at(file, values->hash, 2 * sizeof(uint32_t));
  if (!hash) {
    return MALFORMED("hash table at 0x%llx is not in the file",
                     (ull)values->hash);
  }
  // The second word is the number of chains, equal to that of symbols.
  uint32_t symbol_count;
  memcpy(&symbol_count, hash + sizeof(uint32_t), sizeof(symbol_count));
  shim_status_t status = find_table(
      file, "symbol table", values->symbols,
      (uint64_t)symbol_count * sizeof(elf_symbol_t), sizeof(elf_symbol_t),
      &file->symbols, error);
  if (status != SHIM_OK) return status;
  status = find_table(file, "string table", values->strings,
                      values->strings_size, 1, &file->strings, error);
  if (status != SHIM_OK) return status;
  if (symbol_count == 0) return SHIM_OK;
  if (file->strings.count == 0 ||
      file->strings.data[file->strings.count - 1] != '\0') {
    return MALFORMED("string table does not end with NUL");
  }
  for (uint64_t i = 1; i < symbol_count; ++i) {
    elf_symbol_t symbol = shim__elf_file_symbol(file, i);
    if (symbol.name >= file->strings.count) {
      return MALFORMED("name of symbol %llu at %u of %llu bytes of strings",
                       (ull)i, symbol.name, (ull)file->strings.count);
    }
    // A weak one that nothing defines is 0: code tests for that.
    if (symbol.section == ELF_SHN_UNDEF && symbol.info >> 4 != ELF_STB_WEAK) {
      return shim_error_set(
          error, SHIM_UNAVAILABLE, 0,
          "ELF needs symbol '%.100s', but nothing can be imported; link it in",
          shim__elf_file_symbol_name(file, &symbol));
    }
  }
  return SHIM_OK;
}

shim_status_t shim__elf_file_parse(const uint8_t* bytes, uint64_t size,
                                   uint16_t machine, uint64_t page_size,
                                   shim__elf_file_t* out_file,
                                   shim_error_t* error) {
  memset(out_file, 0, sizeof(*out_file));
  out_file->bytes = bytes;
  out_file->size = size;
  out_file->machine = machine;
  out_file->alignment = page_size;
  elf_header_t header;
  elf_program_header_t dynamic = {0};
  dynamic_values_t values = {0};
  shim_status_t status = parse_header(out_file, machine, &header, error);
  if (status == SHIM_OK) {
    status = parse_segments(out_file, &header, page_size, &dynamic, error);
  }
  if (status == SHIM_OK) {
    status = read_dynamic(out_file, &dynamic, &values, error);
  }
  if (status == SHIM_OK) status = find_symbols(out_file, &values, error);
  if (status == SHIM_OK) {
    status = find_table(out_file, "relocation table", values.rela,
                        values.rela_size, sizeof(elf_rela_t),
                        &out_file->relocations[0], error);
  }
  if (status == SHIM_OK) {
    status = find_table(out_file, "PLT relocation table", values.plt_rela,
                        values.plt_rela_size, sizeof(elf_rela_t),
                        &out_file->relocations[1], error);
  }
  return status;
}

shim_status_t shim__elf_file_check(const uint8_t* bytes, uint64_t size,
                                   uint16_t machine, shim_error_t* error) {
  const shim__elf_file_t file = {.bytes = bytes, .size = size};
  elf_header_t header;
  shim_status_t status = parse_header(&file, machine, &header, error);
  if (status != SHIM_OK) return status;
  bool stack_is_plain = false;
  for (uint32_t i = 0; i < header.program_header_count; ++i) {
    elf_program_header_t segment = program_header(&file, &header, i);
    if (segment.type == ELF_PT_GNU_STACK) {
      stack_is_plain = (segment.flags & ELF_PF_X) == 0;
    } else if (segment.type == ELF_PT_LOAD) {
      status = check_protection(&segment, i, error);
      if (status != SHIM_OK) return status;
    }
  }
  if (stack_is_plain) return SHIM_OK;
  return shim_error_set(error, SHIM_PERMISSION_DENIED, 0,
                        "ELF asks for executable stacks, which all threads of "
                        "the process would get; link it with -z noexecstack");
}

elf_symbol_t shim__elf_file_symbol(const shim__elf_file_t* file, uint64_t i) {
  elf_symbol_t symbol;
  memcpy(&symbol, file->symbols.data + i * sizeof(symbol), sizeof(symbol));
  return symbol;
}

const char* shim__elf_file_symbol_name(const shim__elf_file_t* file,
                                       const elf_symbol_t* symbol) {
  return (const char*)file->strings.data + symbol->name;
}

shim_status_t shim__elf_file_lookup(const shim__elf_file_t* file,
                                    const char* name, uint64_t* out_vaddr,
                                    shim_error_t* error) {
  *out_vaddr = 0;
  // From the end: globals come after locals.
  for (uint64_t i = file->symbols.count; i-- > 1;) {
    elf_symbol_t symbol = shim__elf_file_symbol(file, i);
    uint8_t binding = symbol.info >> 4;
    uint8_t type = symbol.info & 0xF;
    if (binding != ELF_STB_GLOBAL && binding != ELF_STB_WEAK) continue;
    if (type == ELF_STT_IFUNC || type == ELF_STT_TLS) continue;
    if (symbol.section == ELF_SHN_UNDEF) continue;
    if (strcmp(shim__elf_file_symbol_name(file, &symbol), name) != 0) continue;
    *out_vaddr = symbol.value;
    return SHIM_OK;
  }
  return shim_error_set(error, SHIM_NOT_FOUND, 0, "ELF does not export '%s'",
                        name);
}
