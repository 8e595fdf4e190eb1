package io.github.iree4j;

import io.github.iree4j.call.Signature;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import java.util.BitSet;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * A compiler bug: functions with fences signal the caller's fence when the work has been submitted instead of when the
 * work is complete, so that results are not ready yet, or not even allocated.
 *
 * <dl>
 *   <dt>Releases
 *   <dd>3.11.0, for loops on the host ({@code scf.for}, {@code scf.while}) compiled with {@code --iree-execution-model=async-external}.
 *   <dt>Recognised
 * <dd>when a module is loaded: a function with fences submits work, and calls {@code hal.fence.signal} itself.
 * Functions of other compilers pass the fence to the last operation. A correct function recognised here costs an extra
 * barrier.
 *   <dt>Workaround
 *   <dd>a fence not created by the program itself is signalled behind all work submitted by the call.
 *   <dt>Fixture
 *   <dd>{@code 3.11.0/cpu-async/host_for.vmfb}, and the VMVX counterpart.
 * </dl>
 */
final class EarlySignal {
    private static final int BYTECODE = 17; // since 3.11; older compilers wait on the host before signalling

    private EarlySignal() {}

    /** Returns whether a module of a program has such functions, and logs the finding. */
    static boolean isIn(List<VmModule> modules) {
        boolean any = false;
        for (VmModule module : modules) {
            if (module instanceof BytecodeModule compiled && isIn(compiled)) {
                LoggerFactory.getLogger(EarlySignal.class)
                        .info(
                                "module '{}' signals its caller's fence itself, which iree-compile 3.11.0 has it do too early: callers are told when the work is over",
                                module.name());
                any = true;
            }
        }
        return any;
    }

    private static boolean isIn(BytecodeModule module) {
        if (module.definition().bytecodeMajor() < BYTECODE) {
            return false;
        }
        BitSet signalling = module.callersOf("hal.fence.signal");
        signalling.and(module.callersOf("hal.device.queue."));
        for (VmFunction function : module.exports()) {
            if (signalling.get(function.ordinal()) && new Signature(function).isAsynchronous()) {
                return true;
            }
        }
        return false;
    }
}
