package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.util.OptionalLong;

/** {@code hal_loader.executable.*} */
final class LoaderImports {
    private static final int MAX_BINDINGS = 32;
    private static final String FORMAT = "hal.executable.format";

    private LoaderImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("executable.query_support", "0r_i", LoaderImports::querySupport)
                .function("executable.load", "0rrr_r", LoaderImports::load)
                .function("executable.lookup.function", "0rr_I", ExecutableImports::lookup)
                .function("executable.dispatch", "0rIiiiCiDCrIID_v", LoaderImports::dispatchById)
                .function("executable.dispatch", "0riiiiCiDCrIID_v", LoaderImports::dispatchByOrdinal);
    }

    private static void querySupport(HalState state, VmCall call) {
        Device device = state.firstDevice();
        String format = call.required(VmBuffer.class).utf8();
        OptionalLong answer = device.queryI64(FORMAT, format);
        state.module().queryListener().answered(device, FORMAT, format, answer);
        call.returnI32(answer.orElse(0) != 0 ? 1 : 0);
    }

    private static void load(HalState state, VmCall call) {
        call.returnRef(state.executable(state.firstDevice(), ExecutableImports.params(call)));
    }

    private static void dispatchById(HalState state, VmCall call) {
        if (isComplete(call)) {
            return;
        }
        Executable executable = call.required(Executable.class);
        long function = call.i64();
        if (function < 0 || function >= executable.exportCount()) {
            throw noFunction(executable, Long.toUnsignedString(function));
        }
        dispatch(state, call, executable, (int) function);
    }

    private static void dispatchByOrdinal(HalState state, VmCall call) {
        if (isComplete(call)) {
            return;
        }
        Executable executable = call.required(Executable.class);
        int export = call.i32();
        if (export < 0 || export >= executable.exportCount()) {
            throw noFunction(executable, Integer.toUnsignedString(export));
        }
        dispatch(state, call, executable, export);
    }

    private static IreeException noFunction(Executable executable, String number) {
        return IreeException.of(
                StatusCode.OUT_OF_RANGE,
                "function %s of an executable with %d functions does not exist"
                        .formatted(number, executable.exportCount()));
    }

    private static void dispatch(HalState state, VmCall call, Executable executable, int export) {
        DispatchConfig config = DispatchConfig.of(call.i32(), call.i32(), call.i32());
        int[] constants = new int[Arguments.count("constants", call.spanCount(), CommandBuffer.MAXIMUM_CONSTANTS)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = call.i32();
        }
        int count = Arguments.count("bindings", call.spanCount(), MAX_BINDINGS);
        InlineDispatch dispatch =
                new InlineDispatch(state.firstDevice(), state.module().consumer());
        try {
            for (int i = 0; i < count; i++) {
                dispatch.bind(call.required(VmBuffer.class), call.i64(), call.i64());
            }
            dispatch.submit(executable, export, config, constants);
            if (!dispatch.isComplete()) {
                call.attach(dispatch);
                call.defer(dispatch.end());
                return;
            }
            dispatch.finish();
        } catch (RuntimeException | Error e) {
            dispatch.close();
            throw e;
        }
        dispatch.close();
    }

    /** Finishes the dispatch awaited by the call, if any. */
    private static boolean isComplete(VmCall call) {
        if (!call.resumed() || !(call.attachment() instanceof InlineDispatch dispatch)) {
            return false;
        }
        call.attach(null);
        try (dispatch) {
            dispatch.finish();
        }
        return true;
    }
}
