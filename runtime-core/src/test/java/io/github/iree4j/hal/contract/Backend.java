package io.github.iree4j.hal.contract;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.List;
import java.util.Set;

/**
 * A backend as seen by the suites: the opening of devices, the kernels, the missing abilities. Each test has a separate
 * instance, and closes the instance. {@link BackendContract} runs all suites on a backend.
 */
public interface Backend extends AutoCloseable {
    /** The name in failures and reports. */
    String name();

    /** Opens a device with these options; the caller closes it. Skips the test, with a cause, where this machine has none. */
    Device open(DeviceOptions.Builder options);

    /**
     * Loads the backend's version of {@link JavaKernels} on a device from {@link #open} or {@link #peers}; the caller
     * closes it. The executable has all exports, with the same ordinals and names.
     *
     * @param constants specialisation constants
     */
    Executable kernels(Device device, int... constants);

    /** The missing abilities of the backend: suites skip dependent tests, or expect less. */
    default Set<Capability> lacks() {
        return Set.of();
    }

    /** Whether the backend has something. */
    default boolean has(Capability capability) {
        return !lacks().contains(capability);
    }

    /** The unit of addresses and lengths of imported host memory, in bytes. */
    default long importGranularity() {
        return 64;
    }

    /**
     * The number of queues of a device that are streams able to wait for each other; {@link QueueCostContract} needs at
     * least three.
     */
    default int streams() {
        return 4;
    }

    /**
     * Has the hardware begin nothing until {@link #release}, for a suite to count the requests. Hardware idle during a
     * suite's submissions needs no override.
     */
    default void hold() {}

    /** Ends {@link #hold}. */
    default void release() {}

    /** Opens devices with memory shared with the first device, for random graphs beside it; closed by the caller. */
    default List<Device> peers() {
        return List.of();
    }

    /**
     * Opens the participants of collectives; the caller closes it. By default all ranks are queues of the same device.
     */
    default Participants participants() {
        return Participants.onQueuesOf(open(DeviceOptions.builder().queueCount(Participants.COUNT)));
    }

    /** Whether collectives include this operation; command buffers refuse others. */
    default boolean has(Collective operation) {
        return true;
    }

    /**
     * Ends the test, after the devices are closed; fails when the hardware's interface was misused or something is
     * left.
     */
    @Override
    default void close() {}
}
