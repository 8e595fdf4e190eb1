package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleDef.Dependency;
import io.github.iree4j.vm.bytecode.ModuleDef.Export;
import io.github.iree4j.vm.bytecode.ModuleDef.Function;
import io.github.iree4j.vm.bytecode.ModuleDef.Import;
import io.github.iree4j.vm.bytecode.ModuleDef.Rodata;
import io.github.iree4j.vm.bytecode.ModuleDef.Signature;
import io.github.iree4j.vm.isa.FeatureBits;
import io.github.iree4j.vm.isa.Isa;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Prints a module in the order required by the assembler. Facts that follow from the code are omitted. */
final class ModulePrinter {

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final ModuleDef module;
    private final Isa isa;
    private final VmDisassembler.Options options;
    private final List<String> names;
    private final StringBuilder out = new StringBuilder();

    ModulePrinter(ModuleDef module, Isa isa, VmDisassembler.Options options) {
        this.module = module;
        this.isa = isa;
        this.options = options;
        this.names = functionNames(module);
    }

    /** Returns names of functions: the export, else the name in the source, else {@code fn} and the number. */
    private static List<String> functionNames(ModuleDef module) {
        String[] names = new String[module.functions().size()];
        Set<String> taken = new HashSet<>();
        for (Export export : module.exports()) {
            if (names[export.function()] == null && taken.add(export.name())) {
                names[export.function()] = export.name();
            }
        }
        for (int i = 0; i < names.length; i++) {
            String source =
                    names[i] == null && module.debug() != null ? module.debug().functionName(i) : null;
            if (source != null && taken.add(source)) {
                names[i] = source;
            }
        }
        for (int i = 0; i < names.length; i++) {
            String name = "fn" + i;
            while (names[i] == null) {
                if (taken.add(name)) {
                    names[i] = name;
                }
                name += "_";
            }
        }
        return List.of(names);
    }

    String print() {
        List<byte[]> bodies = new ArrayList<>();
        List<CodeFacts> facts = new ArrayList<>();
        List<String> conventions =
                module.signatures().stream().map(Signature::convention).toList();
        List<String> imports =
                module.imports().stream().map(ModulePrinter::convention).toList();
        for (int i = 0; i < module.functions().size(); i++) {
            Function function = module.functions().get(i);
            byte[] body =
                    Arrays.copyOfRange(module.bytecode(), function.offset(), function.offset() + function.length());
            bodies.add(body);
            facts.add(CodeFacts.of(isa, body, conventions.get(i), conventions, imports));
        }
        out.append("vm.module ")
                .append(TextForms.symbol('@', module.name()))
                .append(" version ")
                .append(Integer.toUnsignedString(module.version()))
                .append('\n');
        declarations(facts);
        boolean inline = exportsFollowFunctions();
        if (!inline) {
            out.append('\n');
            module.exports().forEach(this::export);
        }
        InstructionPrinter instructions = new InstructionPrinter(isa, module, options.offsets());
        for (int i = 0; i < bodies.size(); i++) {
            if (!options.selects(names.get(i), i)) {
                continue;
            }
            out.append('\n');
            if (inline) {
                int function = i;
                module.exports().stream()
                        .filter(export -> export.function() == function)
                        .forEach(this::export);
            }
            header(i, conventions.get(i), facts.get(i));
            instructions.print(bodies.get(i), out);
            out.append("}\n");
        }
        return out.toString();
    }

    private static String convention(Import imported) {
        return imported.signature() == null ? "" : imported.signature().convention();
    }

    private void declarations(List<CodeFacts> facts) {
        int derived =
                module.functions().stream().mapToInt(Function::requirements).reduce(0, (a, b) -> a | b);
        attributes(module.attributes());
        if (isa != Isa.all().getLast()) {
            out.append("vm.bytecode ").append(isa.major()).append('\n');
        }
        if (module.requirements() != derived) {
            out.append("vm.requires ")
                    .append(FeatureBits.format(module.requirements()))
                    .append('\n');
        }
        module.types()
                .forEach(type -> out.append("vm.type ")
                        .append(TextForms.typeDeclaration(type))
                        .append('\n'));
        for (Dependency dependency : module.dependencies()) {
            out.append("vm.dependency ")
                    .append(TextForms.symbol('@', dependency.name()))
                    .append(" version ")
                    .append(Integer.toUnsignedString(dependency.minimumVersion()))
                    .append((dependency.flags() & ModuleDef.OPTIONAL) != 0 ? " optional\n" : "\n");
        }
        for (Import imported : module.imports()) {
            out.append("vm.import ")
                    .append((imported.flags() & ModuleDef.OPTIONAL) != 0 ? "optional " : "")
                    .append(TextForms.symbol('@', imported.fullName()))
                    .append(" cconv ")
                    .append(TextForms.quote(convention(imported)))
                    .append('\n');
            if (imported.signature() != null) {
                attributes(imported.signature().attributes());
            }
        }
        for (int i = 0; i < module.rodata().size(); i++) {
            rodata(i, module.rodata().get(i));
        }
        for (int i = 0; i < module.rwdataBytes().size(); i++) {
            out.append(String.format(
                    Locale.ROOT, "vm.rwdata[%d] = %d\n", i, module.rwdataBytes().get(i)));
        }
        long bytes = facts.stream().mapToLong(CodeFacts::globalBytes).max().orElse(0);
        long refs = facts.stream().mapToLong(CodeFacts::globalRefs).max().orElse(0);
        if (module.globalBytes() != bytes || module.globalRefs() != refs) {
            out.append(String.format(
                    Locale.ROOT, "vm.state bytes %d refs %d\n", module.globalBytes(), module.globalRefs()));
        }
    }

    private void attributes(Map<String, String> attributes) {
        attributes.forEach((key, value) -> out.append("  vm.attr ")
                .append(TextForms.quote(key))
                .append(" = ")
                .append(TextForms.quote(value))
                .append('\n'));
    }

    private void rodata(int ordinal, Rodata segment) {
        out.append("vm.rodata[").append(ordinal).append(']');
        if (!segment.embedded()) {
            // The offset of external data gives its minimum alignment; embedded data has the assembler's default.
            long alignment = Math.min(
                    ModuleWriter.SEGMENT_ALIGNMENT,
                    Long.lowestOneBit(segment.externalOffset() | ModuleWriter.SEGMENT_ALIGNMENT));
            out.append(" align ").append(alignment).append(" external");
        }
        out.append(" = ");
        Path directory = options.rodataDirectory();
        if (directory != null) {
            String name = "rodata_" + ordinal + ".bin";
            write(segment, directory.resolve(name));
            out.append("file \"").append(name).append('"');
        } else if (segment.bytes().byteSize() > options.rodataLimit()) {
            out.append(String.format(
                    Locale.ROOT, "<%d bytes left out>", segment.bytes().byteSize()));
        } else {
            out.append(HEX.formatHex(segment.bytes().toArray(ValueLayout.JAVA_BYTE)));
        }
        // An empty segment would leave a trailing space.
        while (out.charAt(out.length() - 1) == ' ') {
            out.setLength(out.length() - 1);
        }
        out.append('\n');
    }

    private static void write(Rodata segment, Path file) {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = segment.bytes().asByteBuffer();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "cannot write rodata to '%s': %s".formatted(file, e), e);
        }
    }

    /** Returns whether printing exports next to functions keeps the order of exports. */
    private boolean exportsFollowFunctions() {
        int last = 0;
        for (Export export : module.exports()) {
            if (export.function() < last) {
                return false;
            }
            last = export.function();
        }
        return true;
    }

    private void export(Export export) {
        String function = names.get(export.function());
        out.append("vm.export ").append(TextForms.symbol('@', export.name()));
        if (!export.name().equals(function)) {
            out.append(" = ").append(TextForms.symbol('@', function));
        }
        out.append('\n');
    }

    private void header(int ordinal, String convention, CodeFacts facts) {
        Function function = module.functions().get(ordinal);
        String arguments = Conventions.arguments(convention);
        String results = Conventions.results(convention);
        // Spans and letters of later versions have no register syntax; vm.cconv then gives the convention.
        boolean isPlain = (arguments + results)
                .chars()
                .noneMatch(c -> Conventions.type((char) c).isEmpty());
        if (!isPlain) {
            arguments = "";
            results = "";
        }
        out.append("vm.func ").append(TextForms.symbol('@', names.get(ordinal))).append('(');
        int word = 0;
        int ref = 0;
        for (int i = 0; i < arguments.length(); i++) {
            char letter = arguments.charAt(i);
            out.append(i > 0 ? ", " : "");
            if (letter == 'r') {
                out.append("%r").append(ref++);
            } else if (Conventions.isWide(letter)) {
                word = word + 1 & -2;
                out.append("%i").append(word).append(':').append(word + 1);
                word += 2;
            } else {
                out.append("%i").append(word++);
            }
            out.append(": ").append(Conventions.type(letter));
        }
        out.append(") -> (");
        for (int i = 0; i < results.length(); i++) {
            out.append(i > 0 ? ", " : "").append(Conventions.type(results.charAt(i)));
        }
        out.append(") {\n");
        if (!convention.equals(Conventions.of(arguments, results))) {
            out.append("  vm.cconv ").append(TextForms.quote(convention)).append('\n');
        }
        attributes(module.signatures().get(ordinal).attributes());
        if (function.requirements() != facts.requirements()) {
            out.append("  vm.requires ")
                    .append(FeatureBits.format(function.requirements()))
                    .append('\n');
        }
        if (function.words() != facts.words() || function.refs() != facts.refs()) {
            out.append(String.format(
                    Locale.ROOT, "  vm.registers values %d refs %d\n", function.words(), function.refs()));
        }
    }
}
