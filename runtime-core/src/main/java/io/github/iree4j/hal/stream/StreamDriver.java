package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The driver-specific part of one device: everything that differs between kinds of hardware with streams. A {@link StreamDevice} owns it and closes
 * it after the last operation. Safe from any thread, unless a method says otherwise.
 */
public interface StreamDriver extends AutoCloseable {

    /**
     * Returns the lanes; the device's queues use some of them.
     *
     * @return at least one that computes, before those that only copy; always the same
     */
    List<Lane> lanes();

    /**
     * Creates a timeline.
     *
     * @param value its initial value
     * @param shared whether it will be exported, or made an alias of an exported one
     * @return the timeline, which the caller closes
     * @throws IreeException UNIMPLEMENTED when it cannot be shared
     */
    DriverTimeline createTimeline(long value, boolean shared);

    /**
     * Makes a timeline of an event of the driver that others have recorded.
     *
     * @param event its handle, valid until the timeline is closed
     * @param value what the timeline reaches once the event is over
     * @return the timeline, which the caller closes
     * @throws IreeException UNIMPLEMENTED when the driver has none, which is what this method throws unless overridden; INVALID_ARGUMENT for what
     *     the driver does not know
     */
    default DriverTimeline importEvent(long event, long value) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver has no events; signal a semaphore from the host");
    }

    /**
     * Waits until one of several timelines reaches a value, or the time is over; may return for no reason. Called by one thread. One of the
     * timelines may be closed meanwhile.
     *
     * @param timelines the timelines; elements beyond the count are ignored
     * @param values by timeline
     * @param count the number of timelines
     * @param timeoutNanos how long to wait at most; {@link Long#MAX_VALUE} for ever
     * @throws IreeException ABORTED when the device is lost
     */
    void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos);

    /**
     * Returns how many submissions the driver has taken and keeps on the host, since its hardware cannot have them yet.
     *
     * @return 0 where the hardware has all, which is what this method returns unless overridden
     */
    default long heldCount() {
        return 0;
    }

    /**
     * Returns how many native events there are.
     *
     * @return 0 where the driver needs none, which is what this method returns unless overridden
     */
    default long eventCount() {
        return 0;
    }

    /**
     * Returns how many graphs the hardware was given so far: what a driver makes of commands that are executed again and again.
     *
     * @return 0 where the driver makes none, which is what this method returns unless overridden
     */
    default long graphLaunchCount() {
        return 0;
    }

    /**
     * Returns why the hardware refuses new work with UNAVAILABLE, while it ends what it has.
     *
     * @return the reason; null while it takes work
     */
    default @Nullable IreeException draining() {
        return null;
    }

    /**
     * Returns whether the device is lost: the hardware runs nothing any more, and uses no memory.
     *
     * @return true once it is lost
     */
    boolean isLost();

    /**
     * Returns the library of collectives.
     *
     * @return the same for all devices that can meet; null where the driver has none, which is what this method returns unless overridden
     * @throws IreeException UNAVAILABLE when the driver knows one that is not there, saying what to do
     */
    default @Nullable StreamCollectives collectives() {
        return null;
    }

    /**
     * Returns whether submissions of this driver can wait for tickets of another driver's lanes, without the host and before these are reached.
     *
     * @param other the driver of another device of the same scheduling domain
     * @return false where the host waits, which is what this method returns unless overridden
     */
    default boolean canWaitForLanesOf(StreamDriver other) {
        return false;
    }

    // ---- Memory.

    /**
     * Returns the kinds of memory in use, by purpose.
     *
     * @return always the same
     */
    MemoryKinds memoryKinds();

    /**
     * Returns the limits of the device.
     *
     * @return always the same
     */
    DriverLimits limits();

    /**
     * Returns the identity that a device must share to import memory exported by this one.
     *
     * @return the same in every process
     */
    String identity();

    /**
     * Allocates memory.
     *
     * @param size bytes
     * @param kind one of {@link #memoryKinds}
     * @param shared whether it will be exported
     * @return the allocation, which the caller closes
     * @throws IreeException RESOURCE_EXHAUSTED when there is no more; UNIMPLEMENTED when it cannot be shared
     */
    DriverMemory allocate(long size, MemoryKind kind, boolean shared);

    /**
     * Returns why host memory cannot be used in place.
     *
     * @return the missing capability, as the rest of a sentence; null when it can
     */
    @Nullable
    String hostMemoryObstacle();

    /**
     * Imports host memory; only where {@link #hostMemoryObstacle} returns null.
     *
     * @param address first byte, a multiple of {@link DriverLimits#hostAlignment}
     * @param size bytes, a multiple of the same
     * @param readOnly whether the device will only read it
     * @return the allocation, which the caller closes before the memory is freed
     * @throws IreeException UNIMPLEMENTED when the driver does not take such memory, which is to be copied; or if it refuses it
     */
    DriverMemory importHost(long address, long size, boolean readOnly);

    /**
     * Returns why code of this device cannot use memory of another in place.
     *
     * @param other the driver of the other
     * @return the missing capability, as the rest of a sentence; null when it can
     */
    default @Nullable String peerObstacle(StreamDriver other) {
        return "drivers do not import the mapped memory of another device";
    }

    /**
     * Uses memory that others allocated on the device.
     *
     * @param address its address for code
     * @param size bytes
     * @return the allocation, which the caller closes before the memory is freed
     * @throws IreeException UNIMPLEMENTED when the driver cannot, which is what this method throws unless overridden; NOT_FOUND or
     *     INVALID_ARGUMENT when there is not that much memory
     */
    default DriverMemory importDevice(long address, long size) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver uses no memory by its address; copy it");
    }

    /**
     * Imports memory that was exported by a device of the same {@link #identity}.
     *
     * @param descriptor of the operating system; the driver owns it once this returns
     * @param size bytes
     * @param kind one of {@link #memoryKinds}
     * @return the allocation, which the caller closes
     * @throws IreeException UNIMPLEMENTED when the driver cannot, which is what this method throws unless overridden
     */
    default DriverMemory importDescriptor(int descriptor, long size, MemoryKind kind) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver imports no memory; copy it through the host");
    }

    /**
     * Closes a descriptor that was exported and that no driver imports.
     *
     * @param descriptor the descriptor
     */
    default void discardDescriptor(int descriptor) {}

    // ---- Code.

    /**
     * Returns the executable formats that the driver loads. The device's options may allow fewer.
     *
     * @return names of formats, the preferred one first
     */
    List<String> formats();

    /**
     * Returns whether a program that asks for a kind of device means this one, besides by the name of its driver and its id.
     *
     * @param pattern as for {@link io.github.iree4j.hal.spi.DevicePattern}
     * @return false unless overridden
     */
    default boolean isNamed(String pattern) {
        return false;
    }

    /**
     * Returns how programs are compiled for the driver.
     *
     * @param format one of {@link #formats}
     * @return flags of iree-compile; empty when unknown, which is what this method returns unless overridden
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Says what to do about a format that is not among {@link #formats}.
     *
     * @param format name of the format
     * @return the rest of a sentence
     */
    default String remedy(String format) {
        return "compile the program for one of these or choose another device";
    }

    /**
     * Loads an executable.
     *
     * @param params the executable, of one of {@link #formats}
     * @return the executable, which the caller owns
     * @throws IreeException if the executable is invalid
     */
    Executable load(ExecutableParams params);

    /**
     * Creates the encoder, which turns recordings into commands. Called once.
     *
     * @param memory memory of the device, for the commands' own needs
     * @return the encoder, closed before the memory
     */
    StreamEncoder encoder(StreamMemory memory);

    /**
     * Frees everything, lanes too. The last operation is complete. What users still have is closed afterwards: memory, forms, executables.
     */
    @Override
    void close();
}
