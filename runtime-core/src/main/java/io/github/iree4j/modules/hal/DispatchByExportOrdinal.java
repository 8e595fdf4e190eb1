package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;

/** Dispatches of compilers from August 2024 to May 2026, including IREE 3.11: the function is an i32, the ordinal of the export. */
final class DispatchByExportOrdinal {
    private DispatchByExportOrdinal() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("command_buffer.dispatch", "0rriiiiICiDCiirIID_v", DispatchByExportOrdinal::dispatch)
                .function(
                        "command_buffer.dispatch.indirect",
                        "0rriirIICiDCiirIID_v",
                        DispatchByExportOrdinal::dispatchIndirect)
                // The names during two weeks of August 2024, beside descriptor sets.
                .function("command_buffer.dispatch2", "0rriiiiICiDCiirIID_v", DispatchByExportOrdinal::dispatch)
                .function(
                        "command_buffer.dispatch2.indirect",
                        "0rriirIICiDCiirIID_v",
                        DispatchByExportOrdinal::dispatchIndirect);
    }

    private static void dispatch(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        DispatchArguments.record(commands, executable, call.i32(), call);
    }

    private static void dispatchIndirect(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        DispatchArguments.recordIndirect(commands, executable, call.i32(), call);
    }
}
