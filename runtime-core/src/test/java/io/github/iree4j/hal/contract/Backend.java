package io.github.iree4j.hal.contract;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.List;
import java.util.Set;

/**
 * A backend as the suites see it: how its devices are opened, which kernels they run, what they lack. Each test has an instance of its own,
 * which it closes. {@link BackendContract} runs all suites on one.
 */
public interface Backend extends AutoCloseable {
    /** What failures and reports call it. */
    String name();

    /** Opens a device with these options; the caller closes it. Skips the test, with a cause, where this machine has none. */
    Device open(DeviceOptions.Builder options);

    /**
     * Loads the backend's version of {@link JavaKernels} on a device that {@link #open} or {@link #peers} opened; the caller closes it.
     * It has all exports, with the same ordinals and names.
     *
     * @param constants specialisation constants
     */
    Executable kernels(Device device, int... constants);

    /** What the backend lacks: suites skip what needs it, or expect less. */
    default Set<Capability> lacks() {
        return Set.of();
    }

    /** Whether the backend has something. */
    default boolean has(Capability capability) {
        return !lacks().contains(capability);
    }

    /** Bytes of which addresses and lengths of imported host memory must be multiples. */
    default long importGranularity() {
        return 64;
    }

    /** How many queues of one device are streams that can wait for each other; {@link QueueCostContract} needs at least three. */
    default int streams() {
        return 4;
    }

    /**
     * Has the hardware begin nothing until {@link #release}, so that a suite can count what was asked of it. Hardware that begins nothing
     * while a suite submits needs no override.
     */
    default void hold() {}

    /** Ends {@link #hold}. */
    default void release() {}

    /** Opens devices that share memory with the first one and take part in random graphs beside it; the caller closes them. */
    default List<Device> peers() {
        return List.of();
    }

    /** Opens what takes part in collectives; the caller closes it. By default all ranks are queues of one device. */
    default Participants participants() {
        return Participants.onQueuesOf(open(DeviceOptions.builder().queueCount(Participants.COUNT)));
    }

    /** Whether collectives include this operation; command buffers refuse others. */
    default boolean has(Collective operation) {
        return true;
    }

    /** Ends the test, after its devices are closed; fails when the hardware's interface was misused or something is left. */
    @Override
    default void close() {}
}
