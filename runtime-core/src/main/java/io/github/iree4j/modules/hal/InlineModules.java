package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.util.List;

/**
 * The modules {@code hal_inline} and {@code hal_loader}: the little of the HAL that programs need which were compiled with
 * {@code --iree-execution-model=inline-static} or {@code inline-dynamic} and do everything in their own calls, one thing after the other.
 *
 * <p>Buffers are those of the first device, mapped, so that inputs and results are the same as of other programs. Executables of {@code hal_loader} are
 * the first device's as well: a dispatch is submitted to its queue and waited for, without holding a thread.
 *
 * <p>Devices are borrowed: they must stay open while contexts with these modules exist. Modules may be shared between contexts and threads.
 */
public final class InlineModules {
    /** Of {@code hal_inline}; there has been no other. */
    private static final int INLINE_VERSION = 0;

    /** Of {@code hal_loader}: 1 has functions by id, 0 had them by ordinal. Both are there. */
    private static final int LOADER_VERSION = 1;

    private InlineModules() {}

    /**
     * Creates {@code hal_inline}.
     *
     * @param devices the first one has the memory; borrowed
     * @param queryListener hears what programs ask of the device
     * @param consumer whom the memory is accounted to that the program allocates
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
     * @param devices the first one runs the code; borrowed
     * @param queryListener hears which formats programs ask for
     * @param consumer whom the memory is accounted to that dispatches need
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
