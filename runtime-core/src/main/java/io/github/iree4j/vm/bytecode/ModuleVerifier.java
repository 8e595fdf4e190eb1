package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
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
 * Reports all violations in a module, for authors of modules. Loading a module ({@link BytecodeModule}) applies the
 * same rules but stops at the first violation.
 */
@NotForApplications
public final class ModuleVerifier {
    /** Most findings of a module; a file with more is not a module. */
    private static final int MAX_FINDINGS = 10_000;

    private ModuleVerifier() {}

    /**
     * A violation found in a module.
     *
     * @param code the failure status of loading the module
     * @param function the function containing the violation, by name or as {@code #} and the number; null for a
     *     violation in the tables
     * @param message the violation, with the offset in the function's code and the violated bound
     */
    public record Finding(StatusCode code, @Nullable String function, String message) {
        /** Returns the finding as a line of text. */
        @Override
        public String toString() {
            return "%s; %s%s".formatted(code, function == null ? "" : "function '" + function + "': ", message);
        }
    }

    /**
     * Verifies a module.
     *
     * <p>Violations in the tables themselves (a vector ending outside of the file) are found one at a time, since the
     * rest is then meaningless; likewise in the code of a function after an unreadable instruction.
     *
     * @param bytes all bytes of the module
     * @param types the reference types available to the module; null for any
     * @param limits limits on the contents
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
                        IreeException.of(
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
                            IreeException.of(
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

    /** Returns a convention, or a placeholder when the text cannot be parsed: calls of the function are then wrong as well. */
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
