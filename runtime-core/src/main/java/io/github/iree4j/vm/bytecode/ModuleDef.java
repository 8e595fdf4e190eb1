package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a module file: the container parsed, every range checked, nothing resolved or verified yet.
 *
 * <p>Schema: {@code iree/schemas/bytecode_module_def.fbs}; container: {@code iree/vm/bytecode/archive.c}. Code is
 * copied, so that a concurrent change of the file cannot bypass the verifier. Constants are not copied.
 *
 * @param name the module's name
 * @param version the module's version
 * @param requirements {@link io.github.iree4j.vm.isa.FeatureBits} of all functions
 * @param attributes the module's reflection attributes, in order
 * @param types the type table
 * @param dependencies the required and optional modules
 * @param imports the imported functions
 * @param exports the exported functions
 * @param signatures a signature for each function
 * @param rodata the constants
 * @param rwdataBytes sizes of the uninitialised segments, unused
 * @param globalBytes bytes of global values
 * @param globalRefs number of global references
 * @param functions the code range and requirements of each function
 * @param bytecodeMajor major version of the code
 * @param bytecodeMinor minor version of the code
 * @param bytecode the code of all functions
 * @param debug names and source locations; null when there are none
 */
@NotForApplications
public record ModuleDef(
        String name,
        int version,
        int requirements,
        Map<String, String> attributes,
        List<String> types,
        List<Dependency> dependencies,
        List<Import> imports,
        List<Export> exports,
        List<Signature> signatures,
        List<Rodata> rodata,
        List<Integer> rwdataBytes,
        int globalBytes,
        int globalRefs,
        List<Function> functions,
        int bytecodeMajor,
        int bytecodeMinor,
        byte[] bytecode,
        @Nullable DebugDatabase debug) {

    /** Flag of required imports and dependencies; the default. */
    public static final int REQUIRED = 1;

    /** Flag of optional imports and dependencies. */
    public static final int OPTIONAL = 2;

    private static final String IDENTIFIER = "IREE";
    private static final int ZIP_LOCAL_HEADER = 0x04034B50;
    private static final int ZIP_LOCAL_HEADER_BYTES = 30;
    private static final int ZIP_END = 0x06054B50;
    private static final int MIN_BYTES = 16;
    private static final int PREFIX_BYTES = 4;
    private static final int SEGMENT_ALIGNMENT = 64;
    private static final int DESCRIPTOR_BYTES = 20;

    /**
     * The limit on shared code. Functions may share code, but work and memory depend on the sum of the functions'
     * sizes. This sum is limited to this multiple of the code, plus a floor.
     */
    private static final int SHARING = 2;

    private static final int SHARED_CODE_FLOOR = 1 << 16;

    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * A dependency of the module on another module.
     *
     * @param name the name of the other module
     * @param minimumVersion lowest acceptable version
     * @param flags {@link #REQUIRED} or {@link #OPTIONAL}
     */
    public record Dependency(String name, int minimumVersion, int flags) {}

    /**
     * The calling convention of a function, and its reflection attributes.
     *
     * @param convention see {@link io.github.iree4j.vm.CallingConvention}; may be empty
     * @param attributes in order
     */
    public record Signature(String convention, Map<String, String> attributes) {}

    /**
     * A function of another module.
     *
     * @param fullName module and function
     * @param signature the signature; null when the file has none
     * @param flags {@link #REQUIRED} or {@link #OPTIONAL}
     */
    public record Import(String fullName, @Nullable Signature signature, int flags) {}

    /**
     * An exported function.
     *
     * @param name the name within the module
     * @param function index in {@link ModuleDef#functions()}
     */
    public record Export(String name, int function) {}

    /**
     * A constant.
     *
     * @param embedded whether the constant is inside of the FlatBuffer
     * @param externalOffset the offset after the FlatBuffer, unless embedded
     * @param bytes the bytes, not copied
     */
    public record Rodata(boolean embedded, long externalOffset, MemorySegment bytes) {}

    /**
     * The code range and requirements of a function.
     *
     * @param offset first byte in {@link ModuleDef#bytecode()}
     * @param length bytes, without padding
     * @param requirements {@link io.github.iree4j.vm.isa.FeatureBits}
     * @param blocks number of blocks
     * @param words registers of the value bank
     * @param refs registers of the reference bank
     */
    public record Function(int offset, int length, int requirements, int blocks, int words, int refs) {}

    /**
     * Parses a module file.
     *
     * @param file all bytes of the file
     * @param limits limits on the contents
     * @return the contents
     * @throws IreeException INVALID_ARGUMENT when the file is damaged or not a module, RESOURCE_EXHAUSTED when the file
     *     exceeds the limits
     */
    public static ModuleDef read(MemorySegment file, ModuleLimits limits) {
        Layout layout = Layout.of(file);
        FlatBuffer buffer = new FlatBuffer(file.asSlice(layout.first(), layout.length()));
        return new Reader(file, layout.rodata(), limits).read(buffer.root("module", IDENTIFIER));
    }

    /**
     * Returns the part of a module file holding the tables.
     *
     * @param file the bytes of the file
     * @return a slice of the file
     * @throws IreeException INVALID_ARGUMENT when the file is not a module
     */
    public static MemorySegment flatbuffer(MemorySegment file) {
        Layout layout = Layout.of(file);
        return file.asSlice(layout.first(), layout.length());
    }

    /**
     * Checks the first bytes of a large file, before the rest is read.
     *
     * @param start the first bytes
     * @throws IreeException INVALID_ARGUMENT when the file is not a module
     */
    static void requireModule(MemorySegment start) {
        new FlatBuffer(start.asSlice(skipZipHeader(start) + PREFIX_BYTES)).requireIdentifier("module", IDENTIFIER);
    }

    /** The positions in a file of the tables and of the constants after the tables. */
    private record Layout(long first, long length, long rodata) {
        static Layout of(MemorySegment file) {
            long start = skipZipHeader(file);
            long remaining = file.byteSize() - start;
            if (remaining < MIN_BYTES) {
                throw invalid("it has %d bytes where a module has at least %d".formatted(remaining, MIN_BYTES));
            }
            long length = file.get(I32, start) & 0xFFFF_FFFFL;
            if (length > remaining - PREFIX_BYTES) {
                throw invalid("it announces %d bytes and has %d: it is truncated or not a module"
                        .formatted(length, remaining - PREFIX_BYTES));
            }
            long first = start + PREFIX_BYTES;
            return new Layout(first, length, (first + length + SEGMENT_ALIGNMENT - 1) & -SEGMENT_ALIGNMENT);
        }
    }

    private static long skipZipHeader(MemorySegment file) {
        if (file.byteSize() >= Integer.BYTES && file.get(I32, 0) == ZIP_END) {
            throw invalid("it is a zip file without entries");
        }
        if (file.byteSize() < ZIP_LOCAL_HEADER_BYTES || file.get(I32, 0) != ZIP_LOCAL_HEADER) {
            UncompiledFile.refuse(file);
            return 0;
        }
        long start = ZIP_LOCAL_HEADER_BYTES + (file.get(U16, 26) & 0xFFFFL) + (file.get(U16, 28) & 0xFFFFL);
        if (start > file.byteSize()) {
            throw invalid(
                    "it is a zip file of %d bytes whose first entry starts at %d".formatted(file.byteSize(), start));
        }
        if (file.byteSize() - start >= Integer.BYTES && file.get(I32, start) == ZIP_LOCAL_HEADER) {
            throw invalid("it is a zip file whose first entry is one again; take the module out of it");
        }
        return start;
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    /** Reads the tables; the numbers are the slots of the schema. */
    private record Reader(MemorySegment file, long rodataBase, ModuleLimits limits) {
        ModuleDef read(FlatBuffer.Table root) {
            String name = root.string("name", 0);
            if (name.isEmpty()) {
                throw invalid("its module has no name");
            }
            // Checked first: the meaning of another version's tables is unknown.
            int bytecodeVersion = root.i32("bytecode version", 13, 0);
            Versions.isaOf(bytecodeVersion >>> 16, bytecodeVersion & 0xFFFF);
            List<Function> functions = functions(root);
            List<Signature> signatures = signatures(root);
            if (signatures.size() != functions.size()) {
                throw invalid("it has %d function signatures for %d functions"
                        .formatted(signatures.size(), functions.size()));
            }
            int globalBytes = 0;
            int globalRefs = 0;
            FlatBuffer.Table state = root.table("module state", 11);
            if (state != null) {
                globalBytes = bounded("bytes of globals", state.i32("bytes of globals", 0, 0), limits.maxGlobalBytes());
                globalRefs = bounded("global references", state.i32("global references", 1, 0), limits.maxGlobalRefs());
            }
            List<Integer> rwdata = new ArrayList<>();
            for (FlatBuffer.Table segment : tables(root, "rwdata segments", 10)) {
                rwdata.add(segment.i32("rwdata size", 0, 0));
            }
            byte[] bytecode =
                    root.vector("bytecode", 14, 1, Integer.MAX_VALUE).bytes().toArray(ValueLayout.JAVA_BYTE);
            checkCode(functions, bytecode.length);
            List<Export> exports = exports(root, functions.size());
            @Nullable String[] exportNames = new String[functions.size()];
            exports.forEach(export -> exportNames[export.function()] = export.name());
            return new ModuleDef(
                    name,
                    root.i32("version", 1, 0),
                    root.i32("requirements", 2, 0),
                    attributes(root, 3),
                    types(root),
                    dependencies(root),
                    imports(root),
                    exports,
                    signatures,
                    rodata(root),
                    List.copyOf(rwdata),
                    globalBytes,
                    globalRefs,
                    functions,
                    bytecodeVersion >>> 16,
                    bytecodeVersion & 0xFFFF,
                    bytecode,
                    DebugDatabase.read(root, 15, limits.maxEntries(), exportNames));
        }

        private List<FlatBuffer.Table> tables(FlatBuffer.Table parent, String what, int slot) {
            FlatBuffer.Vector vector = parent.vector(what, slot, 4, limits.maxEntries());
            List<FlatBuffer.Table> tables = new ArrayList<>(vector.count());
            for (int i = 0; i < vector.count(); i++) {
                tables.add(vector.table(i));
            }
            return tables;
        }

        private Map<String, String> attributes(FlatBuffer.Table parent, int slot) {
            Map<String, String> attributes = new LinkedHashMap<>();
            for (FlatBuffer.Table attribute : tables(parent, "attributes", slot)) {
                attributes.put(attribute.string("attribute key", 0), attribute.string("attribute value", 1));
            }
            return Collections.unmodifiableMap(attributes);
        }

        private List<String> types(FlatBuffer.Table root) {
            List<String> types = new ArrayList<>();
            for (FlatBuffer.Table type : tables(root, "types", 4)) {
                types.add(named("type", types.size(), type.string("type name", 0)));
            }
            return List.copyOf(types);
        }

        private List<Dependency> dependencies(FlatBuffer.Table root) {
            List<Dependency> dependencies = new ArrayList<>();
            for (FlatBuffer.Table dependency : tables(root, "dependencies", 5)) {
                dependencies.add(new Dependency(
                        named("dependency", dependencies.size(), dependency.string("dependency name", 0)),
                        dependency.i32("minimum version", 1, 0),
                        dependency.i32("dependency flags", 2, REQUIRED)));
            }
            return List.copyOf(dependencies);
        }

        private List<Import> imports(FlatBuffer.Table root) {
            List<Import> imports = new ArrayList<>();
            for (FlatBuffer.Table entry : tables(root, "imports", 6)) {
                FlatBuffer.Table signature = entry.table("import signature", 1);
                imports.add(new Import(
                        named("import", imports.size(), entry.string("import name", 0)),
                        signature == null ? null : signature(signature),
                        entry.i32("import flags", 2, REQUIRED)));
            }
            return List.copyOf(imports);
        }

        private List<Export> exports(FlatBuffer.Table root, int functionCount) {
            List<Export> exports = new ArrayList<>();
            for (FlatBuffer.Table entry : tables(root, "exports", 7)) {
                String name = named("export", exports.size(), entry.string("export name", 0));
                int function = entry.i32("export function", 1, 0);
                if (function < 0 || function >= functionCount) {
                    throw invalid("export '%s' is function %d of %d".formatted(name, function, functionCount));
                }
                exports.add(new Export(name, function));
            }
            return List.copyOf(exports);
        }

        private List<Signature> signatures(FlatBuffer.Table root) {
            List<Signature> signatures = new ArrayList<>();
            for (FlatBuffer.Table signature : tables(root, "function signatures", 8)) {
                signatures.add(signature(signature));
            }
            return List.copyOf(signatures);
        }

        private Signature signature(FlatBuffer.Table signature) {
            return new Signature(signature.string("calling convention", 0), attributes(signature, 1));
        }

        private List<Rodata> rodata(FlatBuffer.Table root) {
            List<Rodata> segments = new ArrayList<>();
            for (FlatBuffer.Table segment : tables(root, "rodata segments", 9)) {
                // Slots 0 and 1 are the compression, always "none".
                if (segment.has("embedded data", 2)) {
                    MemorySegment bytes = segment.vector("embedded data", 2, 1, Integer.MAX_VALUE)
                            .bytes();
                    segments.add(new Rodata(true, 0, bytes));
                    continue;
                }
                long offset = segment.i64("external offset", 3);
                long length = segment.i64("external length", 4);
                long room = file.byteSize() - rodataBase;
                if (offset < 0 || length < 0 || offset > room || length > room - offset) {
                    throw invalid("rodata segment %d [%d, %d) after offset %d is outside of the file's %d bytes"
                            .formatted(segments.size(), offset, offset + length, rodataBase, file.byteSize()));
                }
                MemorySegment bytes =
                        length == 0 ? MemorySegment.ofArray(new byte[0]) : file.asSlice(rodataBase + offset, length);
                segments.add(new Rodata(false, offset, bytes));
            }
            return List.copyOf(segments);
        }

        private List<Function> functions(FlatBuffer.Table root) {
            FlatBuffer.Vector vector = root.vector("function descriptors", 12, DESCRIPTOR_BYTES, limits.maxEntries());
            List<Function> functions = new ArrayList<>(vector.count());
            for (int i = 0; i < vector.count(); i++) {
                functions.add(new Function(
                        vector.i32(i, 0),
                        vector.i32(i, 4),
                        vector.i32(i, 8),
                        (short) vector.u16(i, 14),
                        vector.u16(i, 16),
                        vector.u16(i, 18)));
            }
            return List.copyOf(functions);
        }

        private void checkCode(List<Function> functions, int bytecodeBytes) {
            long total = 0;
            for (int i = 0; i < functions.size(); i++) {
                Function f = functions.get(i);
                if (f.offset() < 0 || f.length() <= 0 || f.offset() > bytecodeBytes - f.length()) {
                    throw invalid("code of function %d [%d, %d) is empty or outside of the %d bytes of code"
                            .formatted(i, f.offset(), (long) f.offset() + f.length(), bytecodeBytes));
                }
                if (f.blocks() <= 0) {
                    throw invalid("function %d has %d blocks and needs at least one".formatted(i, f.blocks()));
                }
                if (f.words() > RegisterEncoding.MAX_WORDS || f.refs() > RegisterEncoding.MAX_REFS) {
                    throw invalid("function %d has %d value and %d reference registers, more than %d and %d"
                            .formatted(i, f.words(), f.refs(), RegisterEncoding.MAX_WORDS, RegisterEncoding.MAX_REFS));
                }
                total += f.length();
            }
            if (total > SHARED_CODE_FLOOR + (long) SHARING * bytecodeBytes) {
                throw invalid("its functions share %d bytes of code too often: %d bytes in all"
                        .formatted(bytecodeBytes, total));
            }
            if (total > limits.maxBytecode()) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "its functions have %d bytes of code, more than the limit of %d"
                                .formatted(total, limits.maxBytecode()));
            }
        }

        private static String named(String what, int index, String name) {
            if (name.isEmpty()) {
                throw invalid("%s %d has no name".formatted(what, index));
            }
            return name;
        }

        private static int bounded(String what, int value, int limit) {
            if (value < 0) {
                throw invalid("%d %s".formatted(value, what));
            }
            if (value > limit) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "it has %d %s, more than the limit of %d".formatted(value, what, limit));
            }
            return value;
        }
    }
}
