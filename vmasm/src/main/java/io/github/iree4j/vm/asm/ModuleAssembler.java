package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.ModuleDraft.Attribute;
import io.github.iree4j.vm.asm.ModuleDraft.Dependency;
import io.github.iree4j.vm.asm.ModuleDraft.Export;
import io.github.iree4j.vm.asm.ModuleDraft.Function;
import io.github.iree4j.vm.asm.ModuleDraft.Import;
import io.github.iree4j.vm.isa.FeatureBits;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.RegisterEncoding;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Assembles a module line by line: directives here, function bodies through {@link FunctionAssembler}. */
final class ModuleAssembler {

    /** The largest count of blocks or registers: counts are i16 in the file. */
    private static final int MAX_COUNT = Short.MAX_VALUE;

    private Isa isa = Isa.V17_0;
    private Map<String, InstructionSyntax> syntax = InstructionSyntax.of(isa);
    private final ModuleDraft draft = new ModuleDraft();
    private final ModuleScope scope = new ModuleScope(draft);
    private final OperandParser operands = new OperandParser(scope);
    private final RodataParser rodata;
    private final List<FunctionAssembler> functions = new ArrayList<>();
    private final Map<String, Integer> functionOrdinals = new HashMap<>();
    private @Nullable FunctionAssembler current;
    private @Nullable LineCursor state;
    private int declaredBytes;
    private int declaredRefs;

    /** The attributes extended by {@code vm.attr}: of the module or import declared by the preceding lines. */
    private @Nullable List<Attribute> attributeTarget;

    ModuleAssembler(@Nullable Path baseDirectory) {
        this.rodata = new RodataParser(draft, baseDirectory);
        use(isa);
    }

    private void use(Isa version) {
        isa = version;
        syntax = InstructionSyntax.of(version);
        operands.use(version);
        draft.bytecodeVersion = version.major() << 16 | version.minor();
    }

    void line(LineCursor line) {
        if (line.atEnd()) {
            return;
        }
        if (current != null) {
            functionLine(line, current);
            return;
        }
        int mark = line.mark();
        String directive = line.word();
        if (draft.name == null && !directive.equals("vm.module")) {
            line.reset(mark);
            throw line.error("'vm.module' first");
        }
        if (!directive.equals("vm.attr")) {
            attributeTarget = null;
        }
        switch (directive) {
            case "vm.module" -> module(line, mark);
            case "vm.export" -> export(line);
            case "vm.func" -> function(line);
            case "vm.attr",
                    "vm.bytecode",
                    "vm.requires",
                    "vm.type",
                    "vm.dependency",
                    "vm.import",
                    "vm.rodata",
                    "vm.rwdata",
                    "vm.state",
                    "vm.global.i32",
                    "vm.global.i64",
                    "vm.global.f32",
                    "vm.global.f64",
                    "vm.global.ref" -> {
                if (!functions.isEmpty()) {
                    throw line.failure(
                            "'%s' comes after a function; declarations come before the first one".formatted(directive));
                }
                declaration(line, directive, mark);
            }
            default -> {
                line.reset(mark);
                throw line.error("a directive such as 'vm.func'");
            }
        }
        line.expectEnd();
    }

    private void declaration(LineCursor line, String directive, int mark) {
        switch (directive) {
            case "vm.attr" -> {
                if (attributeTarget == null) {
                    line.reset(mark);
                    throw line.error("'vm.module' or 'vm.import' before 'vm.attr'");
                }
                attributeTarget.add(attribute(line));
            }
            case "vm.bytecode" -> bytecode(line);
            case "vm.requires" -> draft.declaredRequirements = features(line);
            case "vm.type" -> type(line);
            case "vm.dependency" -> dependency(line);
            case "vm.import" -> imported(line);
            case "vm.rodata" -> rodata.directive(line);
            case "vm.rwdata" -> {
                line.take("[");
                if (line.unsigned(Integer.MAX_VALUE, "a segment number") != draft.rwdata.size()) {
                    throw line.error("segment %d; segments come in order".formatted(draft.rwdata.size()));
                }
                line.take("]");
                line.take("=");
                draft.rwdata.add((int) line.unsigned(Integer.MAX_VALUE, "a size in bytes"));
            }
            case "vm.state" -> {
                line.take("bytes");
                declaredBytes = (int) line.unsigned(Integer.MAX_VALUE, "a size in bytes");
                line.take("refs");
                declaredRefs = (int) line.unsigned(Integer.MAX_VALUE, "a number of references");
                state = line;
            }
            default -> global(line, directive.substring("vm.global.".length()));
        }
    }

    private void module(LineCursor line, int mark) {
        if (draft.name != null) {
            line.reset(mark);
            throw line.error("one 'vm.module' only");
        }
        draft.name = line.symbol("module");
        if (line.tryTake("version")) {
            draft.version = (int) line.unsigned(0xFFFF_FFFFL, "a version");
        }
        attributeTarget = draft.attributes;
    }

    private void bytecode(LineCursor line) {
        int mark = line.mark();
        int major = (int) line.unsigned(0xFFFF, "a version of bytecode");
        Isa version = Isa.find(major, 0);
        if (version == null) {
            line.reset(mark);
            throw line.error("one of the versions " + Isa.all());
        }
        use(version);
    }

    /** Reads {@code "key" = "value"}. */
    private static Attribute attribute(LineCursor line) {
        String key = line.string("an attribute's key");
        line.take("=");
        return new Attribute(key, line.string("an attribute's value"));
    }

    /** Reads feature bits in the format of {@link FeatureBits#format}. */
    private static int features(LineCursor line) {
        int bits = 0;
        do {
            if (Character.isDigit(line.peek())) {
                bits |= (int) line.integer(32, "feature bits");
                continue;
            }
            int mark = line.mark();
            bits |= switch (line.word()) {
                case "EXT_F32" -> FeatureBits.EXT_F32;
                case "EXT_F64" -> FeatureBits.EXT_F64;
                case "YIELD" -> FeatureBits.YIELD;
                case "UNWIND" -> FeatureBits.UNWIND;
                default -> {
                    line.reset(mark);
                    throw line.error("one of EXT_F32, EXT_F64, YIELD, UNWIND or a number");
                }
            };
        } while (line.tryTake("|"));
        return bits;
    }

    private void type(LineCursor line) {
        boolean quoted = line.peek() == '"' || line.peekRest().startsWith("e\"");
        String name = quoted ? line.string("a type") : line.rest();
        if (name.isEmpty()) {
            throw line.error("a type like 'i32' or '!vm.buffer'");
        }
        draft.types.add(name);
    }

    private void dependency(LineCursor line) {
        String name = line.symbol("module");
        int version = line.tryTake("version") ? (int) line.unsigned(0xFFFF_FFFFL, "a minimum version") : 0;
        draft.dependencies.add(new Dependency(name, version, line.tryTake("optional")));
    }

    private void imported(LineCursor line) {
        boolean optional = line.tryTake("optional");
        String name = line.symbol("function");
        line.take("cconv");
        List<Attribute> attributes = new ArrayList<>();
        draft.imports.add(new Import(name, line.string("a calling convention"), optional, attributes));
        attributeTarget = attributes;
    }

    private void global(LineCursor line, String type) {
        line.tryTake("private");
        line.tryTake("mutable");
        int mark = line.mark();
        String name = line.symbol("global");
        char letter = type.equals("ref") ? 'r' : Conventions.letter(type);
        int size = letter == 'r' ? 0 : Conventions.isWide(letter) ? 8 : 4;
        if (!scope.declareGlobal(name, size)) {
            line.reset(mark);
            throw line.error("a global that is not declared yet");
        }
        if (size != 0 && line.tryTake("=")) {
            int initializer = line.mark();
            if (line.integer(64, "0") != 0) {
                line.reset(initializer);
                throw line.error("0; other values are stored by function '__init'");
            }
            line.take(":");
            line.take(type);
        } else if (size == 0 && line.tryTake(":")) {
            // For the reader only: reference globals have no type, but the instructions using them do.
            OperandParser.typeName(line);
        }
    }

    private void export(LineCursor line) {
        String name = line.symbol("export");
        String function = line.tryTake("=") ? line.symbol("function") : name;
        draft.exports.add(new Export(name, function, line.lineNumber()));
    }

    private void function(LineCursor line) {
        if (functions.isEmpty()) {
            scope.layOutGlobals();
        }
        int mark = line.mark();
        String name = line.symbol("function");
        if (functionOrdinals.putIfAbsent(name, functions.size()) != null) {
            line.reset(mark);
            throw line.error("a function that is not defined yet");
        }
        String arguments = arguments(line);
        line.take("->");
        String results = results(line);
        line.take("{");
        current = new FunctionAssembler(isa, syntax, operands, name, Conventions.of(arguments, results));
        functions.add(current);
    }

    /**
     * Reads {@code (%i0: i32, %i2:3: i64, %r0: !vm.buffer)}. The registers follow from the calling convention, with
     * 64-bit values at even registers. IREE's tools write the registers without gaps. This is accepted, since only the
     * order matters.
     */
    private String arguments(LineCursor line) {
        StringBuilder letters = new StringBuilder();
        int word = 0;
        int packed = 0;
        int ref = 0;
        line.take("(");
        while (line.peek() != ')') {
            if (!letters.isEmpty()) {
                line.take(",");
            }
            line.skipSpace();
            int mark = line.mark();
            boolean isRef = line.tryTakeRaw("%r");
            if (!isRef && !line.tryTakeRaw("%i")) {
                throw line.error("an argument like '%i0: i32'");
            }
            int ordinal = (int) line.unsigned(RegisterEncoding.MAX_WORDS - 1, "a register number");
            line.take(":");
            boolean isPair = Character.isDigit(line.peek());
            if (isPair) {
                line.unsigned(RegisterEncoding.MAX_WORDS, "a register number");
                line.take(":");
            }
            char letter = typeLetter(line);
            boolean isWide = Conventions.isWide(letter);
            if (isRef != (letter == 'r') || isPair != isWide) {
                line.reset(mark);
                throw line.error("a register that holds the argument's type");
            }
            if (isWide) {
                word = word + 1 & -2;
            }
            if (isRef ? ordinal != ref : ordinal != word && ordinal != packed) {
                line.reset(mark);
                throw line.error("'%s', the register of this argument".formatted(isRef ? "%r" + ref : "%i" + word));
            }
            if (isRef) {
                ref++;
            } else {
                word += isWide ? 2 : 1;
                packed += isWide ? 2 : 1;
            }
            letters.append(letter);
        }
        line.take(")");
        return letters.toString();
    }

    private static String results(LineCursor line) {
        StringBuilder letters = new StringBuilder();
        line.take("(");
        while (line.peek() != ')') {
            if (!letters.isEmpty()) {
                line.take(",");
            }
            letters.append(typeLetter(line));
        }
        line.take(")");
        return letters.toString();
    }

    private static char typeLetter(LineCursor line) {
        line.skipSpace();
        int mark = line.mark();
        char letter = Conventions.letter(OperandParser.typeName(line));
        if (letter == '\0') {
            line.reset(mark);
            throw line.error("one of i32, i64, f32, f64 or a reference like '!vm.buffer'");
        }
        return letter;
    }

    private void functionLine(LineCursor line, FunctionAssembler function) {
        if (line.tryTake("}")) {
            function.finish(line);
            line.expectEnd();
            current = null;
            return;
        }
        int mark = line.mark();
        String directive = line.word();
        switch (directive) {
            case "vm.attr", "vm.requires", "vm.registers", "vm.cconv" -> {
                if (!function.isEmpty()) {
                    line.reset(mark);
                    throw line.error("'%s' before the first block".formatted(directive));
                }
                functionDirective(line, function, directive);
                line.expectEnd();
            }
            default -> {
                line.reset(mark);
                function.line(line);
            }
        }
    }

    private static void functionDirective(LineCursor line, FunctionAssembler function, String directive) {
        switch (directive) {
            case "vm.attr" -> function.attributes.add(attribute(line));
            case "vm.requires" -> function.declaredRequirements = features(line);
            case "vm.cconv" -> function.convention = line.string("a calling convention");
            default -> {
                line.take("values");
                function.declaredWords = (int) line.unsigned(MAX_COUNT, "a number of registers");
                line.take("refs");
                function.declaredRefs = (int) line.unsigned(MAX_COUNT, "a number of registers");
            }
        }
    }

    /** Ends the module after the last line. */
    ModuleDraft finish(int lastLine) {
        if (current != null) {
            throw end(lastLine, "'}' at the end of function '@%s'".formatted(current.name));
        }
        if (draft.name == null) {
            throw end(lastLine, "'vm.module'");
        }
        if (functions.isEmpty()) {
            throw end(lastLine, "a function");
        }
        List<String> conventions =
                functions.stream().map(function -> function.convention).toList();
        List<String> importConventions =
                draft.imports.stream().map(Import::callingConvention).toList();
        CodeBuffer code = new CodeBuffer();
        for (FunctionAssembler function : functions) {
            byte[] body = function.link(draft, functionOrdinals);
            CodeFacts facts = CodeFacts.of(isa, body, function.convention, conventions, importConventions);
            add(function, facts, code.size(), body.length);
            code.bytes(body);
            code.align(8);
        }
        draft.code = code.toByteArray();
        if (state != null) {
            if (declaredBytes < draft.globalBytes || declaredRefs < draft.globalRefs) {
                throw state.failure("functions use %d bytes and %d references of state"
                        .formatted(draft.globalBytes, draft.globalRefs));
            }
            draft.globalBytes = declaredBytes;
            draft.globalRefs = declaredRefs;
        }
        return draft;
    }

    private void add(FunctionAssembler function, CodeFacts facts, int offset, int length) {
        int words = Objects.requireNonNullElse(function.declaredWords, facts.words());
        int refs = Objects.requireNonNullElse(function.declaredRefs, facts.refs());
        if (facts.blocks() > MAX_COUNT || words > MAX_COUNT || refs > MAX_COUNT) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "function '@%s' has %d blocks, %d value and %d reference registers; at most %d of each fit the format"
                            .formatted(function.name, facts.blocks(), words, refs, MAX_COUNT));
        }
        draft.derivedRequirements |= Objects.requireNonNullElse(function.declaredRequirements, facts.requirements());
        draft.globalBytes = (int) Math.max(draft.globalBytes, facts.globalBytes());
        draft.globalRefs = (int) Math.max(draft.globalRefs, facts.globalRefs());
        draft.functions.add(new Function(
                function.name,
                function.convention,
                function.attributes,
                offset,
                length,
                Objects.requireNonNullElse(function.declaredRequirements, facts.requirements()),
                facts.blocks(),
                words,
                refs,
                function.locations));
    }

    private static IreeException end(int line, String expected) {
        return new LineCursor(line, "").error(expected);
    }
}
