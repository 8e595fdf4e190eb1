package io.github.iree4j.tools.code;

import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleDef.Dependency;
import io.github.iree4j.vm.bytecode.ModuleDef.Export;
import io.github.iree4j.vm.bytecode.ModuleDef.Function;
import io.github.iree4j.vm.bytecode.ModuleDef.Import;
import io.github.iree4j.vm.bytecode.ModuleDef.Rodata;
import io.github.iree4j.vm.bytecode.ModuleDef.Signature;
import io.github.iree4j.vm.isa.FeatureBits;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints the tables of a module in the layout of {@code iree-dump-module --output=metadata}. */
final class MetadataPrinter {
    private static final int TEXT_SHOWN = 32;
    private static final String RULE = "//===" + "-".repeat(110) + "===//";

    private final ModuleDef module;
    private final PrintWriter out;

    MetadataPrinter(ModuleDef module, PrintWriter out) {
        this.module = module;
        this.out = out;
    }

    static void section(PrintWriter out, String title) {
        out.println(RULE);
        out.println("// " + title);
        out.println(RULE);
        out.println();
    }

    void print(long fileSize) {
        section(out, "@%s : version %s".formatted(module.name(), Integer.toUnsignedString(module.version())));
        if (module.requirements() != 0) {
            out.println("Requirements: " + features(module.requirements()));
            out.println();
        }
        if (!module.attributes().isEmpty()) {
            out.println("Attributes:");
            attributes(module.attributes(), 2);
            out.println();
        }
        table("Required Types:", module.types(), type -> type);
        if (!module.dependencies().isEmpty()) {
            out.println("Module Dependencies:");
            module.dependencies().forEach(dependency -> out.println("  " + describe(dependency)));
            out.println();
        }
        imports();
        exports();
        section(out, "Sections");
        state();
        sizes(fileSize);
        section(out, "Bytecode : version %d.%d".formatted(module.bytecodeMajor(), module.bytecodeMinor()));
        functions();
        debug();
    }

    private static String features(int bits) {
        return FeatureBits.format(bits).replace("|", " | ");
    }

    private void attributes(Map<String, String> attributes, int indent) {
        attributes.forEach((key, value) -> out.println("%s%s: %s".formatted(" ".repeat(indent), key, value)));
    }

    private <T> void table(String title, List<T> rows, java.util.function.Function<T, String> text) {
        if (rows.isEmpty()) {
            return;
        }
        out.println(title);
        for (int i = 0; i < rows.size(); i++) {
            out.println("  [%3d] %s".formatted(i, text.apply(rows.get(i))));
        }
        out.println();
    }

    private static String describe(Dependency dependency) {
        boolean optional = (dependency.flags() & ModuleDef.OPTIONAL) != 0;
        return "%s, version >= %s, %s"
                .formatted(
                        dependency.name(),
                        Integer.toUnsignedString(dependency.minimumVersion()),
                        optional ? "optional" : "required");
    }

    private void imports() {
        if (module.imports().isEmpty()) {
            return;
        }
        out.println("Imported Functions:");
        for (int i = 0; i < module.imports().size(); i++) {
            Import imported = module.imports().get(i);
            String optional = (imported.flags() & ModuleDef.OPTIONAL) != 0 ? "?" : "";
            Signature signature = imported.signature();
            String types = signature == null ? "" : signature(signature.convention());
            out.println("  [%3d] %s%s%s".formatted(i, optional, imported.fullName(), types));
            if (signature != null) {
                attributes(signature.attributes(), 8);
            }
        }
        out.println();
    }

    private void exports() {
        if (module.exports().isEmpty()) {
            return;
        }
        out.println("Exported Functions:");
        for (int i = 0; i < module.exports().size(); i++) {
            Export export = module.exports().get(i);
            Signature signature = module.signatures().get(export.function());
            out.println("  [%3d] %s%s".formatted(i, export.name(), signature(signature.convention())));
            attributes(signature.attributes(), 8);
        }
        out.println();
    }

    /** {@code 0rCID_i} as {@code (!vm.ref<?>, tuple<i64>...) -> (i32)}. */
    private static String signature(String convention) {
        if (!convention.startsWith("0")) {
            return convention.isEmpty() ? "" : " cconv \"" + convention + "\"";
        }
        int separator = convention.indexOf('_');
        String arguments = convention.substring(1, separator < 0 ? convention.length() : separator);
        String results = separator < 0 ? "" : convention.substring(separator + 1);
        return "(%s) -> (%s)".formatted(types(arguments), types(results));
    }

    private static String types(String letters) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            if (letter == 'v') {
                continue;
            }
            text.append(text.isEmpty() ? "" : ", ");
            int end = letter == 'C' ? letters.indexOf('D', i) : -1;
            if (end > 0) {
                text.append("tuple<")
                        .append(types(letters.substring(i + 1, end)))
                        .append(">...");
                i = end;
            } else {
                text.append(
                        switch (letter) {
                            case 'i' -> "i32";
                            case 'I' -> "i64";
                            case 'f' -> "f32";
                            case 'F' -> "f64";
                            case 'r' -> "!vm.ref<?>";
                            default -> "'" + letter + "'";
                        });
            }
        }
        return text.toString();
    }

    private void state() {
        out.println("Module State:");
        out.println("  %d bytes, %d refs".formatted(module.globalBytes(), module.globalRefs()));
        out.println();
    }

    private void sizes(long fileSize) {
        out.println("File: %d bytes".formatted(fileSize));
        out.println("  Bytecode: %d bytes".formatted(module.bytecode().length));
        long external = 0;
        for (int i = 0; i < module.rodata().size(); i++) {
            Rodata segment = module.rodata().get(i);
            long size = segment.bytes().byteSize();
            if (segment.embedded()) {
                out.println("  .rodata[%3d] embedded %8d bytes%s".formatted(i, size, text(segment.bytes())));
            } else {
                external += size;
                long offset = segment.externalOffset();
                out.println("  .rodata[%3d] external %8d bytes (offset %d / %Xh to %Xh)"
                        .formatted(i, size, offset, offset, offset + size));
            }
        }
        for (int i = 0; i < module.rwdataBytes().size(); i++) {
            out.println(
                    "  .rwdata[%3d] %d bytes".formatted(i, module.rwdataBytes().get(i)));
        }
        out.println();
        if (external > 0) {
            out.println("External .rodata: ~%d bytes".formatted(external));
            out.println();
        }
    }

    /** A constant as text, if printable up to the first NUL. */
    private static String text(MemorySegment bytes) {
        byte[] start = bytes.asSlice(0, Math.min(bytes.byteSize(), 4096)).toArray(ValueLayout.JAVA_BYTE);
        String text = new String(start, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        text = end < 0 ? text : text.substring(0, end);
        if (!text.chars().allMatch(c -> c >= ' ' && c < 0x7F)) {
            return "";
        }
        return text.length() < TEXT_SHOWN
                ? " `%s`".formatted(text)
                : " `%s`...".formatted(text.substring(0, TEXT_SHOWN));
    }

    private void functions() {
        out.println("  # | Offset   |   Length | Blocks | i32 # | ref # | Requirements | Aliases");
        out.println("----+----------+----------+--------+-------+-------+--------------+" + "-".repeat(53));
        for (int i = 0; i < module.functions().size(); i++) {
            Function function = module.functions().get(i);
            int ordinal = i;
            String aliases = module.exports().stream()
                    .filter(export -> export.function() == ordinal)
                    .map(Export::name)
                    .collect(Collectors.joining(", "));
            String requirements = function.requirements() == 0 ? "" : features(function.requirements());
            out.println("%3d | %08X | %8d | %6d | %5d | %5d | %-12s | %s"
                    .formatted(
                            i,
                            function.offset(),
                            function.length(),
                            function.blocks(),
                            function.words(),
                            function.refs(),
                            requirements,
                            aliases)
                    .stripTrailing());
        }
        out.println();
    }

    private void debug() {
        if (module.debug() == null) {
            return;
        }
        section(out, "Debug Information");
        for (int i = 0; i < module.functions().size(); i++) {
            String name = module.debug().functionName(i);
            if (name != null) {
                out.println("  [%3d] %s".formatted(i, name));
            }
        }
        out.println();
    }
}
