package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.ModuleDraft.Attribute;
import io.github.iree4j.vm.asm.ModuleDraft.Dependency;
import io.github.iree4j.vm.asm.ModuleDraft.Export;
import io.github.iree4j.vm.asm.ModuleDraft.Function;
import io.github.iree4j.vm.asm.ModuleDraft.Import;
import io.github.iree4j.vm.asm.ModuleDraft.Rodata;
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
import java.util.HexFormat;
import java.util.List;

/** Prints a module in the order in which the assembler wants it. What follows from the code is left out. */
final class ModulePrinter {

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final ModuleDraft module;
    private final Isa isa;
    private final VmDisassembler.Options options;
    private final StringBuilder out = new StringBuilder();

    ModulePrinter(ModuleDraft module, Isa isa, VmDisassembler.Options options) {
        this.module = module;
        this.isa = isa;
        this.options = options;
    }

    String print() {
        List<byte[]> bodies = new ArrayList<>();
        List<CodeFacts> facts = new ArrayList<>();
        List<String> conventions =
                module.functions.stream().map(Function::callingConvention).toList();
        List<String> imports =
                module.imports.stream().map(Import::callingConvention).toList();
        for (Function function : module.functions) {
            byte[] body = Arrays.copyOfRange(
                    module.code, function.codeOffset(), function.codeOffset() + function.codeLength());
            bodies.add(body);
            facts.add(CodeFacts.of(isa, body, function.callingConvention(), conventions, imports));
        }
        out.append("vm.module ")
                .append(TextForms.symbol('@', module.name))
                .append(" version ")
                .append(Integer.toUnsignedString(module.version))
                .append('\n');
        int derived = module.functions.stream().mapToInt(Function::requirements).reduce(0, (a, b) -> a | b);
        declarations(derived, facts);
        boolean inline = exportsFollowFunctions();
        if (!inline) {
            out.append('\n');
            module.exports.forEach(export -> export(export, export.function()));
        }
        InstructionPrinter instructions = new InstructionPrinter(isa, module, options.offsets());
        for (int i = 0; i < bodies.size(); i++) {
            Function function = module.functions.get(i);
            if (!options.selects(function.name(), i)) {
                continue;
            }
            out.append('\n');
            if (inline) {
                module.exports.stream()
                        .filter(export -> export.function().equals(function.name()))
                        .forEach(export -> export(export, function.name()));
            }
            header(function, facts.get(i));
            instructions.print(bodies.get(i), out);
            out.append("}\n");
        }
        return out.toString();
    }

    private void declarations(int derivedRequirements, List<CodeFacts> facts) {
        if (module.declaredRequirements != null && module.declaredRequirements != derivedRequirements) {
            out.append("vm.requires ")
                    .append(FeatureBits.format(module.declaredRequirements))
                    .append('\n');
        }
        attributes(module.attributes);
        module.types.forEach(type ->
                out.append("vm.type ").append(TextForms.typeDeclaration(type)).append('\n'));
        for (Dependency dependency : module.dependencies) {
            out.append("vm.dependency ")
                    .append(TextForms.symbol('@', dependency.name()))
                    .append(" version ")
                    .append(Integer.toUnsignedString(dependency.minimumVersion()))
                    .append(dependency.optional() ? " optional\n" : "\n");
        }
        for (Import imported : module.imports) {
            out.append("vm.import ")
                    .append(imported.optional() ? "optional " : "")
                    .append(TextForms.symbol('@', imported.fullName()))
                    .append(" cconv ")
                    .append(TextForms.quote(imported.callingConvention()))
                    .append('\n');
            attributes(imported.attributes());
        }
        for (int i = 0; i < module.rodata.size(); i++) {
            rodata(i, module.rodata.get(i));
        }
        for (int i = 0; i < module.rwdata.size(); i++) {
            out.append("vm.rwdata[%d] = %d\n".formatted(i, module.rwdata.get(i)));
        }
        long bytes = facts.stream().mapToLong(CodeFacts::globalBytes).max().orElse(0);
        long refs = facts.stream().mapToLong(CodeFacts::globalRefs).max().orElse(0);
        if (module.globalBytes != bytes || module.globalRefs != refs) {
            out.append("vm.state bytes %d refs %d\n".formatted(module.globalBytes, module.globalRefs));
        }
    }

    private void attributes(List<Attribute> attributes) {
        for (Attribute attribute : attributes) {
            out.append("  vm.attr ")
                    .append(TextForms.quote(attribute.key()))
                    .append(" = ")
                    .append(TextForms.quote(attribute.value()))
                    .append('\n');
        }
    }

    private void rodata(int ordinal, Rodata segment) {
        out.append("vm.rodata[").append(ordinal).append(']');
        if (segment.external()) {
            out.append(" align ").append(segment.alignment()).append(" external");
        }
        out.append(" = ");
        Path directory = options.rodataDirectory();
        if (directory != null) {
            String name = "rodata_%d.bin".formatted(ordinal);
            write(segment, directory.resolve(name));
            out.append("file \"").append(name).append('"');
        } else if (segment.length() > options.rodataLimit()) {
            out.append("<%d bytes left out>".formatted(segment.length()));
        } else {
            out.append(HEX.formatHex(segment.data().toArray(ValueLayout.JAVA_BYTE)));
        }
        // An empty segment would leave a space behind.
        while (out.charAt(out.length() - 1) == ' ') {
            out.setLength(out.length() - 1);
        }
        out.append('\n');
    }

    private static void write(Rodata segment, Path file) {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = segment.data().asByteBuffer();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw new IreeException(StatusCode.UNAVAILABLE, "cannot write rodata to '%s': %s".formatted(file, e), e);
        }
    }

    /** Whether printing exports next to their functions keeps their order. */
    private boolean exportsFollowFunctions() {
        int last = 0;
        for (Export export : module.exports) {
            int ordinal = module.functionOrdinal(export.function());
            if (ordinal < last) {
                return false;
            }
            last = ordinal;
        }
        return true;
    }

    private void export(Export export, String function) {
        out.append("vm.export ").append(TextForms.symbol('@', export.name()));
        if (!export.name().equals(function)) {
            out.append(" = ").append(TextForms.symbol('@', function));
        }
        out.append('\n');
    }

    private void header(Function function, CodeFacts facts) {
        String convention = function.callingConvention();
        String arguments = Conventions.arguments(convention);
        String results = Conventions.results(convention);
        // Spans and letters of later versions have no register to write; vm.cconv then says what the function has.
        boolean isPlain = (arguments + results)
                .chars()
                .noneMatch(c -> Conventions.type((char) c).isEmpty());
        if (!isPlain) {
            arguments = "";
            results = "";
        }
        out.append("vm.func ").append(TextForms.symbol('@', function.name())).append('(');
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
        attributes(function.attributes());
        if (function.requirements() != facts.requirements()) {
            out.append("  vm.requires ")
                    .append(FeatureBits.format(function.requirements()))
                    .append('\n');
        }
        if (function.valueRegisters() != facts.words() || function.refRegisters() != facts.refs()) {
            out.append(
                    "  vm.registers values %d refs %d\n".formatted(function.valueRegisters(), function.refRegisters()));
        }
    }
}
