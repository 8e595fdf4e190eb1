package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Programs written in VMASM, for tests. */
final class Programs {
    static final VmTypes TYPES =
            VmTypes.standard().with("test.counted", Counted.class).with("test.other", String.class);

    /** How modules are read from now on. */
    private static Compilation compilation = Compilation.byDefault();

    private Programs() {}

    static void compile(Compilation now) {
        compilation = now;
    }

    /** Assembles and reads a module; the text follows the module line. */
    static BytecodeModule module(String name, String text) {
        return read(VmAssembler.assemble("vm.module @" + name + " version 3\n" + text));
    }

    static BytecodeModule read(byte[] file) {
        return BytecodeModule.read(
                MemorySegment.ofArray(file), "test.vmfb", TYPES, ModuleLimits.DEFAULTS, null, compilation);
    }

    /** A linked program, closed with all of its parts. */
    static final class Running implements AutoCloseable {
        final Context context;
        private final List<BytecodeModule> owned;

        private Running(Context context, List<BytecodeModule> owned) {
            this.context = context;
            this.owned = owned;
        }

        Invocation call(String function) {
            return context.invocation(Objects.requireNonNull(context.function(function), function));
        }

        @Override
        public void close() {
            context.close();
            owned.forEach(BytecodeModule::close);
        }
    }

    static Running run(VmModule... modules) {
        return run(ContextOptions.DEFAULTS, modules);
    }

    static Running run(ContextOptions options, VmModule... modules) {
        List<BytecodeModule> owned = new ArrayList<>();
        for (VmModule module : modules) {
            if (module instanceof BytecodeModule bytecode) {
                owned.add(bytecode);
            }
        }
        try {
            return new Running(Context.create(List.of(modules), options), owned);
        } catch (IreeException e) {
            owned.forEach(BytecodeModule::close);
            throw e;
        }
    }
}
