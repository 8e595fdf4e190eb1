package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.isa.Isa;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/** The functions of a damaged module that differ from the original; the rest was compiled with the original. */
public final class ChangedFunctions {
    private ChangedFunctions() {}

    /**
     * Compiles the changed functions; fails with the JVM's objections to the class.
     *
     * @param module a module read with {@link Compilation#OFF}
     * @param original the module before the damage
     * @param random decides the way of compiling
     * @return ordinals of the functions
     */
    public static List<Integer> compile(BytecodeModule module, BytecodeModule original, SplittableRandom random) {
        Set<FunctionCode> changed = new LinkedHashSet<>();
        for (FunctionCode function : module.functions()) {
            if (function.ordinal >= original.functions().length
                    || !isSame(module, function, original, original.functions()[function.ordinal])) {
                changed.add(function);
            }
        }
        if (!changed.isEmpty()) {
            int partNodes = random.nextInt(8) == 0 ? random.nextInt(1, 30) : 0;
            Set<FunctionCode> unit = new LinkedHashSet<>(changed);
            if (random.nextInt(8) == 0) {
                changed.forEach(function -> addCallees(module, function, unit));
            }
            compile(module, unit, partNodes);
        }
        return changed.stream().map(function -> function.ordinal).toList();
    }

    /**
     * Compiles all functions of a module; fails with the JVM's objections to the class.
     *
     * @param module a module that was read with {@link Compilation#OFF}
     */
    public static void compileAll(BytecodeModule module) {
        compile(module, List.of(module.functions()), 0);
    }

    /**
     * Compiles functions now, in one class.
     *
     * @param partNodes instructions in each part of a function; 0 to leave functions whole
     * @return the reasons why functions were not compiled, by ordinal
     */
    static Map<Integer, String> compile(BytecodeModule module, Collection<FunctionCode> unit, int partNodes) {
        ModuleDef def = module.definition();
        Isa isa = BytecodeModule.isaOf(def);
        UnitCompiler compiler = partNodes > 0
                ? new UnitCompiler(module.functions(), isa, def, 0, partNodes)
                : new UnitCompiler(module.functions(), isa, def);
        compiler.compile(List.copyOf(unit), null, 0);
        return compiler.refused();
    }

    private static void addCallees(BytecodeModule module, FunctionCode function, Set<FunctionCode> unit) {
        for (CallSite site : function.sites) {
            if (!site.isImport && unit.add(module.functions()[site.callee])) {
                addCallees(module, module.functions()[site.callee], unit);
            }
        }
    }

    private static boolean isSame(
            BytecodeModule module, FunctionCode function, BytecodeModule original, FunctionCode before) {
        if (function.words != before.words
                || function.refs != before.refs
                || !function.convention.text().equals(before.convention.text())
                || function.sites.length != before.sites.length
                || !Arrays.equals(function.code, before.code)
                || !Objects.deepEquals(body(module, function), body(original, before))) {
            return false;
        }
        for (int i = 0; i < function.sites.length; i++) {
            CallSite site = function.sites[i];
            CallSite other = before.sites[i];
            if (site.isImport != other.isImport
                    || !Arrays.equals(site.letters, other.letters)
                    || !Arrays.equals(site.resultLetters, other.resultLetters)) {
                return false;
            }
        }
        return true;
    }

    private static byte[] body(BytecodeModule module, FunctionCode function) {
        ModuleDef.Function described = module.definition().functions().get(function.ordinal);
        int end = described.offset() + described.length();
        return Arrays.copyOfRange(module.definition().bytecode(), described.offset(), end);
    }
}
