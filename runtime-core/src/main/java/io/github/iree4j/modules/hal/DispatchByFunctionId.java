package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;

/**
 * Dispatches of compilers from May 2026 on: the function is an i64 returned by {@code hal.executable.lookup.function}.
 * Programs only pass the number on; here the number is the ordinal of the export.
 */
final class DispatchByFunctionId {
    private DispatchByFunctionId() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("command_buffer.dispatch", "0rrIiiiICiDCiirIID_v", DispatchByFunctionId::dispatch)
                .function(
                        "command_buffer.dispatch.indirect",
                        "0rrIirIICiDCiirIID_v",
                        DispatchByFunctionId::dispatchIndirect);
    }

    private static void dispatch(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        DispatchArguments.record(commands, executable, export(executable, call.i64()), call);
    }

    private static void dispatchIndirect(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        DispatchArguments.recordIndirect(commands, executable, export(executable, call.i64()), call);
    }

    private static int export(Executable executable, long functionId) {
        if (functionId < 0 || functionId >= executable.exportCount()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "function id %s was not returned by this executable of %d functions"
                            .formatted(Long.toUnsignedString(functionId), executable.exportCount()));
        }
        return (int) functionId;
    }
}
