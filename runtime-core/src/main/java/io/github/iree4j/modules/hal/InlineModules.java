package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.util.List;

/**
 * The modules {@code hal_inline} and {@code hal_loader}: the small part of the HAL for programs compiled with
 * {@code --iree-execution-model=inline-static} or {@code inline-dynamic}, with all work done sequentially within calls.
 *
 * <p>Buffers are mapped buffers of the first device, so inputs and results are the same as for other programs.
 * Executables of {@code hal_loader} also run on the first device: a dispatch is submitted to the device's queue and
 * awaited without blocking a thread.
 *
 * <p>Devices are borrowed: devices must stay open while contexts with these modules exist. Modules may be shared
 * between contexts and threads.
 */
public final class InlineModules {
    /** Version of {@code hal_inline}; there has been no other. */
    private static final int INLINE_VERSION = 0;

    /** Version of {@code hal_loader}: 1 identifies functions by id, 0 by ordinal. Both are supported. */
    private static final int LOADER_VERSION = 1;

    private InlineModules() {}

    /**
     * Creates {@code hal_inline}.
     *
     * @param devices the devices; the first provides the memory; borrowed
     * @param queryListener receives the device queries of programs
     * @param consumer the consumer charged for the program's memory
     * @return the module
     */
    public static VmModule inline(List<Device> devices, DeviceQueryListener queryListener, String consumer) {
        HalModule hal = HalModule.state(devices, queryListener, consumer);
        NativeModule.Builder<HalState> builder =
                NativeModule.builder("hal_inline", INLINE_VERSION, () -> new HalState(hal));
        InlineImports.register(builder);
        BufferViewImports.register(builder);
        return builder.build();
    }

    /**
     * Creates {@code hal_loader}.
     *
     * @param devices the devices; the first runs the code; borrowed
     * @param queryListener receives the queries of programs for formats
     * @param consumer the consumer charged for the memory of dispatches
     * @return the module
     */
    public static VmModule loader(List<Device> devices, DeviceQueryListener queryListener, String consumer) {
        HalModule hal = HalModule.state(devices, queryListener, consumer);
        NativeModule.Builder<HalState> builder =
                NativeModule.builder("hal_loader", LOADER_VERSION, () -> new HalState(hal));
        LoaderImports.register(builder);
        return builder.build();
    }
}
