package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.util.List;
import java.util.OptionalLong;

/** {@code hal.devices.*}, {@code hal.device.allocator} and {@code hal.device.query.i64} */
final class DeviceImports {
    private DeviceImports() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("devices.count", "0v_i", DeviceImports::count)
                .function("devices.get", "0i_r", DeviceImports::get)
                .function("device.allocator", "0r_r", DeviceImports::allocator)
                .function(
                        "device.query.i64",
                        "0rrr_iI",
                        (state, call) -> query(state, call.required(Device.class), call));
    }

    private static void count(HalState state, VmCall call) {
        call.returnI32(state.module().devices().size());
    }

    private static void get(HalState state, VmCall call) {
        List<Device> devices = state.module().devices();
        int index = call.i32();
        call.returnRef(index >= 0 && index < devices.size() ? devices.get(index) : null);
    }

    private static void allocator(HalState state, VmCall call) {
        call.returnRef(call.required(Device.class).allocator());
    }

    /** Never fails: programs handle queries unknown to a device or without an answer. */
    static void query(HalState state, Device device, VmCall call) {
        String category = call.required(VmBuffer.class).utf8();
        String key = call.required(VmBuffer.class).utf8();
        OptionalLong value;
        try {
            value = device.queryI64(category, key);
        } catch (IreeException e) {
            value = OptionalLong.empty();
        }
        state.module().queryListener().answered(device, category, key, value);
        call.returnI32(value.isPresent() ? 1 : 0);
        call.returnI64(value.orElse(0));
    }
}
