package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
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
        List<FunctionCode> changed = new ArrayList<>();
        for (FunctionCode function : module.functions()) {
            if (function.ordinal >= original.functions().length
                    || !isSame(module, function, original, original.functions()[function.ordinal])) {
                changed.add(function);
            }
        }
        if (!changed.isEmpty()) {
            int partNodes = random.nextInt(8) == 0 ? random.nextInt(1, 30) : 0;
            module.compiler().compileNow(changed, partNodes, random.nextInt(8) == 0);
        }
        return changed.stream().map(function -> function.ordinal).toList();
    }

    /**
     * Compiles all functions of a module; fails with the JVM's objections to the class.
     *
     * @param module a module that was read with {@link Compilation#OFF}
     */
    public static void compileAll(BytecodeModule module) {
        module.compiler().compileNow(List.of(module.functions()), 0, false);
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
