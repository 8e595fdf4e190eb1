package io.github.iree4j;

import io.github.iree4j.call.Signature;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import java.util.BitSet;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * A compiler bug: functions with fences that signal their caller's fence when they have submitted their work instead of when it
 * is complete, so that results are not ready yet, or not even allocated.
 *
 * <dl>
 *   <dt>Releases
 *   <dd>3.11.0, for loops on the host ({@code scf.for}, {@code scf.while}) compiled with {@code --iree-execution-model=async-external}.
 *   <dt>Recognised
 * <dd>when a module is loaded: a function with fences submits work, and calls {@code hal.fence.signal} itself. Functions of other
 * compilers pass the fence to the last operation. A correct function that is recognised costs an extra barrier.
 *   <dt>Workaround
 *   <dd>a fence that the program has not created itself is signalled behind everything that the call has submitted.
 *   <dt>Fixture
 *   <dd>{@code 3.11.0/cpu-async/host_for.vmfb}, and the same for VMVX.
 * </dl>
 */
final class EarlySignal {
    private static final int BYTECODE = 17; // of 3.11 and later; older compilers wait on the host before they signal

    private EarlySignal() {}

    /** Whether one of the modules of a program has such functions; that is logged. */
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
