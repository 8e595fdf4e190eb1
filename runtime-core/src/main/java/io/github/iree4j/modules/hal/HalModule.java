package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@code hal} module, version 7: devices, buffers, command buffers, queues and fences for compiled programs.
 * Supports the function signatures of all compilers since March 2023; {@code docs/conformance/programs.md} lists
 * the signatures.
 *
 * <p>Devices are borrowed: devices must stay open while contexts with this module exist. The module may be shared
 * between contexts and threads; contexts sharing the module also share executables created from the same constants, and
 * so are cheap to create.
 */
public final class HalModule {
    /** The version required by current compilers; programs requiring less get this version too. */
    public static final int VERSION = 7;

    private static final Logger TRACE = LoggerFactory.getLogger("io.github.iree4j.trace");

    private static final int MAX_TRACED_ELEMENTS = 1024;

    private final List<Device> devices;
    private final String consumer;
    private final TraceSink traceSink;
    private final DeviceQueryListener queryListener;
    private final CompilerFaults faults;
    private final ExecutableCache executables = new ExecutableCache();

    private HalModule(
            List<Device> devices,
            TraceSink traceSink,
            DeviceQueryListener queryListener,
            String consumer,
            CompilerFaults faults) {
        this.faults = faults;
        this.consumer = consumer;
        this.devices = List.copyOf(devices);
        this.traceSink = traceSink;
        this.queryListener = queryListener;
    }

    /**
     * Creates the module; values traced by programs go to the logger {@code io.github.iree4j.trace} at level INFO.
     *
     * @param devices the devices visible to programs, in the order of visibility; borrowed
     * @return the module
     */
    public static VmModule create(List<Device> devices) {
        return create(devices, (key, views) -> log(devices, key, views));
    }

    /**
     * Creates the module.
     *
     * @param devices the devices visible to programs, in the order of visibility; borrowed
     * @param traceSink receives the values traced by programs
     * @return the module
     */
    public static VmModule create(List<Device> devices, TraceSink traceSink) {
        return create(devices, traceSink, (device, category, key, answer) -> {}, "", CompilerFaults.NONE);
    }

    /**
     * Creates the module; values traced by programs go to the logger {@code io.github.iree4j.trace} at level INFO.
     *
     * @param devices the devices visible to programs, in the order of visibility; borrowed
     * @param queryListener receives the device queries of programs
     * @param consumer the consumer charged for the program's memory
     * @param faults compiler bugs to work around
     * @return the module
     */
    public static VmModule create(
            List<Device> devices, DeviceQueryListener queryListener, String consumer, CompilerFaults faults) {
        return create(devices, (key, views) -> log(devices, key, views), queryListener, consumer, faults);
    }

    /** Creates the state needed by modules other than {@code hal}. */
    static HalModule state(List<Device> devices, DeviceQueryListener queryListener, String consumer) {
        return new HalModule(
                devices, (key, views) -> log(devices, key, views), queryListener, consumer, CompilerFaults.NONE);
    }

    private static VmModule create(
            List<Device> devices,
            TraceSink traceSink,
            DeviceQueryListener queryListener,
            String consumer,
            CompilerFaults faults) {
        HalModule module =
                new HalModule(CopyingDevice.of(devices, consumer), traceSink, queryListener, consumer, faults);
        NativeModule.Builder<HalState> builder = NativeModule.builder("hal", VERSION, () -> new HalState(module))
                .attribute(VmModule.SERVES, "IREE of March 2023 to August 2026");
        DeviceImports.register(builder);
        AllocatorImports.register(builder);
        BufferImports.register(builder);
        BufferViewImports.register(builder);
        ExecutableImports.register(builder);
        CommandBufferImports.register(builder);
        DispatchByFunctionId.register(builder);
        DispatchByExportOrdinal.register(builder);
        DispatchByDescriptors.register(builder);
        QueueImports.register(builder);
        FenceImports.register(builder);
        ChannelImports.register(builder);
        ImportsWithoutFlags.register(builder);
        ImportsWithoutSlots.register(builder);
        ImportsOf2023.register(builder);
        return builder.build();
    }

    List<Device> devices() {
        return devices;
    }

    TraceSink traceSink() {
        return traceSink;
    }

    DeviceQueryListener queryListener() {
        return queryListener;
    }

    String consumer() {
        return consumer;
    }

    CompilerFaults faults() {
        return faults;
    }

    ExecutableCache executables() {
        return executables;
    }

    private static void log(List<Device> devices, String key, List<BufferView> views) {
        if (!TRACE.isInfoEnabled() || devices.isEmpty()) {
            return;
        }
        for (BufferView view : views) {
            try (HostBytes bytes = HostBytes.of(view)) {
                TRACE.info("{}: {}", key, ElementValues.format(view, bytes.segment(), MAX_TRACED_ELEMENTS));
            } catch (IreeException e) {
                TRACE.info("{}: {} cannot be read: {}", key, view, e.getMessage()); // a trace never fails a program
            }
        }
    }
}
