package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.isa.Isa;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports everything that is wrong with a module, for authors of modules. Loading a module ({@link BytecodeModule}) applies the same rules
 * but stops at the first violation.
 */
public final class ModuleVerifier {
    /** Most findings of a module; a file with more is not a module. */
    private static final int MAX_FINDINGS = 10_000;

    private ModuleVerifier() {}

    /**
     * A violation found in a module.
     *
     * @param code the status that loading it would fail with
     * @param function the function it is in, by name or as {@code #} and its number; null when it is in the tables
     * @param message the violation, with its offset in the function's code and the violated bound
     */
    public record Finding(StatusCode code, @Nullable String function, String message) {
        /** Returns the finding as one line. */
        @Override
        public String toString() {
            return "%s; %s%s".formatted(code, function == null ? "" : "function '" + function + "': ", message);
        }
    }

    /**
     * Verifies a module.
     *
     * <p>Violations in the tables themselves (a vector that ends outside of the file) are found one at a time, since the rest is then
     * meaningless; likewise in the code of a function after an instruction that cannot be read.
     *
     * @param bytes all of its bytes
     * @param types the reference types it may use; null for any
     * @param limits limits on what it may contain
     * @return all findings, in the order of the file; empty for a module that can be loaded
     */
    public static List<Finding> verify(MemorySegment bytes, @Nullable VmTypes types, ModuleLimits limits) {
        List<Finding> findings = new ArrayList<>();
        ModuleDef def;
        Isa isa;
        try {
            def = ModuleDef.read(bytes, limits);
            isa = BytecodeModule.isaOf(def);
        } catch (IreeException e) {
            add(findings, null, e);
            return findings;
        }
        for (String type : def.types()) {
            if (types != null && types.resolve(type) == null) {
                add(
                        findings,
                        null,
                        new IreeException(
                                StatusCode.NOT_FOUND,
                                "type '%s' is not provided by any module (known: %s)"
                                        .formatted(type, String.join(", ", types.names()))));
            }
        }
        String[] names = BytecodeModule.functionNames(def);
        List<CallingConvention> functions = new ArrayList<>();
        for (int i = 0; i < def.signatures().size(); i++) {
            String name = names[i];
            functions.add(convention(def.signatures().get(i).convention(), e -> add(findings, name, e)));
        }
        List<CallingConvention> imports = new ArrayList<>();
        for (ModuleDef.Import entry : def.imports()) {
            imports.add(convention(
                    entry.signature() == null ? "" : entry.signature().convention(),
                    e -> add(
                            findings,
                            null,
                            new IreeException(
                                    e.code(), "import '%s': %s".formatted(entry.fullName(), e.getMessage()), e))));
        }
        for (int i = 0; i < def.functions().size() && findings.size() < MAX_FINDINGS; i++) {
            ModuleDef.Function function = def.functions().get(i);
            byte[] body = Arrays.copyOfRange(def.bytecode(), function.offset(), function.offset() + function.length());
            String name = names[i];
            FunctionVerifier.collect(def, functions, imports, i, isa, body, e -> add(findings, name, e));
        }
        return findings;
    }

    /** Returns a convention, or a placeholder when it cannot be parsed: calls of the function are then wrong as well. */
    private static CallingConvention convention(String text, Consumer<IreeException> findings) {
        try {
            return CallingConvention.parse(text);
        } catch (IreeException e) {
            findings.accept(e);
            return CallingConvention.VOID;
        }
    }

    private static void add(List<Finding> findings, @Nullable String function, IreeException e) {
        if (findings.size() < MAX_FINDINGS) {
            findings.add(new Finding(e.code(), function, String.valueOf(e.getMessage())));
        }
    }
}
