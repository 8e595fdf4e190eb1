package io.github.iree4j.vm.asm;

import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.ModuleDraft.Attribute;
import io.github.iree4j.vm.asm.ModuleDraft.Dependency;
import io.github.iree4j.vm.asm.ModuleDraft.Export;
import io.github.iree4j.vm.asm.ModuleDraft.Function;
import io.github.iree4j.vm.asm.ModuleDraft.Import;
import io.github.iree4j.vm.asm.ModuleDraft.Rodata;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Writes a module as a flat {@code .vmfb}: a size-prefixed FlatBuffer ({@code BytecodeModuleDef} of IREE's
 * {@code schemas/bytecode_module_def.fbs}), then external rodata from the next multiple of 64.
 */
final class ModuleWriter {

    private static final String IDENTIFIER = "IREE";
    /** Alignment of external rodata, and the largest alignment that rodata can request. */
    static final int SEGMENT_ALIGNMENT = 64;

    private static final int DEPENDENCY_REQUIRED = 1;
    private static final int DEPENDENCY_OPTIONAL = 2;
    private static final int IMPORT_REQUIRED = 1;
    private static final int IMPORT_OPTIONAL = 2;
    private static final int DESCRIPTOR_SIZE = 20;

    private final ModuleDraft draft;
    private final long[] externalOffsets;
    private final long externalSize;

    private ModuleWriter(ModuleDraft draft) {
        this.draft = draft;
        externalOffsets = new long[draft.rodata.size()];
        long at = 0;
        for (int i = 0; i < externalOffsets.length; i++) {
            Rodata segment = draft.rodata.get(i);
            if (segment.external()) {
                at = FlatBufferWriter.align(at, segment.alignment());
                externalOffsets[i] = at;
                at += segment.length();
            }
        }
        externalSize = at;
    }

    static byte[] write(ModuleDraft draft) {
        ModuleWriter writer = new ModuleWriter(draft);
        boolean hasExternal = draft.rodata.stream().anyMatch(Rodata::external);
        byte[] tables = FlatBufferWriter.writeSized(writer.root(), IDENTIFIER, hasExternal ? SEGMENT_ALIGNMENT : 8);
        long total = tables.length + writer.externalSize;
        if (total > Integer.MAX_VALUE - 8) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "module needs %d bytes; the assembler writes at most 2 GiB".formatted(total));
        }
        byte[] file = Arrays.copyOf(tables, (int) total);
        for (int i = 0; i < writer.externalOffsets.length; i++) {
            Rodata segment = draft.rodata.get(i);
            if (segment.external()) {
                int at = (int) (tables.length + writer.externalOffsets[i]);
                MemorySegment.copy(segment.data(), ValueLayout.JAVA_BYTE, 0, file, at, (int) segment.length());
            }
        }
        return file;
    }

    private Table root() {
        int requirements = Objects.requireNonNullElse(draft.declaredRequirements, draft.derivedRequirements);
        Table root = new Table()
                .text(0, Objects.requireNonNull(draft.name))
                .u32(1, draft.version)
                .u32(2, requirements)
                .tables(3, attributes(draft.attributes))
                .tables(
                        4,
                        draft.types.stream()
                                .map(type -> new Table().text(0, type))
                                .toList())
                .tables(
                        5,
                        draft.dependencies.stream()
                                .map(ModuleWriter::dependency)
                                .toList())
                .tables(
                        6,
                        draft.imports.stream().map(ModuleWriter::importFunction).toList())
                .tables(7, exports())
                .tables(
                        8,
                        draft.functions.stream()
                                .map(function -> signature(function.callingConvention(), function.attributes()))
                                .toList())
                .tables(9, rodata())
                .tables(
                        10,
                        draft.rwdata.stream()
                                .map(size -> new Table().u32(0, size))
                                .toList());
        if (draft.globalBytes != 0 || draft.globalRefs != 0) {
            root.node(11, new Table().u32(0, draft.globalBytes).u32(1, draft.globalRefs));
        }
        root.node(12, descriptors()).u32(13, draft.bytecodeVersion).node(14, new Bytes(draft.code, 1, 16));
        if (draft.functions.stream().anyMatch(function -> !function.locations().isEmpty())) {
            root.node(15, new DebugTables(draft.functions).root());
        }
        return root;
    }

    private static List<Table> attributes(List<Attribute> attributes) {
        return attributes.stream()
                .map(attribute -> new Table().text(0, attribute.key()).text(1, attribute.value()))
                .toList();
    }

    private static Table dependency(Dependency dependency) {
        return new Table()
                .text(0, dependency.name())
                .u32(1, dependency.minimumVersion())
                .u32(2, dependency.optional() ? DEPENDENCY_OPTIONAL : DEPENDENCY_REQUIRED);
    }

    private static Table importFunction(Import imported) {
        return new Table()
                .text(0, imported.fullName())
                .node(1, signature(imported.callingConvention(), imported.attributes()))
                .u32(2, imported.optional() ? IMPORT_OPTIONAL : IMPORT_REQUIRED);
    }

    private static Table signature(String callingConvention, List<Attribute> attributes) {
        return new Table().text(0, callingConvention).tables(1, attributes(attributes));
    }

    private List<Table> exports() {
        List<Table> tables = new ArrayList<>();
        for (Export export : draft.exports) {
            int ordinal = draft.functionOrdinal(export.function());
            if (ordinal < 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "line %d: export '%s' names function '@%s', which is not defined"
                                .formatted(export.line(), export.name(), export.function()));
            }
            tables.add(new Table().text(0, export.name()).u32(1, ordinal));
        }
        return tables;
    }

    private List<Table> rodata() {
        List<Table> tables = new ArrayList<>();
        for (int i = 0; i < externalOffsets.length; i++) {
            Rodata segment = draft.rodata.get(i);
            // Slots 0 and 1 are the two halves of the unused compression union.
            tables.add(
                    segment.external()
                            ? new Table().u64(3, externalOffsets[i]).u64(4, segment.length())
                            : new Table()
                                    .node(
                                            2,
                                            new Bytes(
                                                    segment.data().toArray(ValueLayout.JAVA_BYTE),
                                                    1,
                                                    segment.alignment())));
        }
        return tables;
    }

    private Bytes descriptors() {
        ByteBuffer out =
                ByteBuffer.allocate(draft.functions.size() * DESCRIPTOR_SIZE).order(ByteOrder.LITTLE_ENDIAN);
        for (Function function : draft.functions) {
            out.putInt(function.codeOffset())
                    .putInt(function.codeLength())
                    .putInt(function.requirements())
                    .putShort((short) 0)
                    .putShort((short) function.blockCount())
                    .putShort((short) function.valueRegisters())
                    .putShort((short) function.refRegisters());
        }
        return new Bytes(out.array(), DESCRIPTOR_SIZE, 4);
    }
}
