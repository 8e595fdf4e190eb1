package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The driver-specific part of a device: all differences between kinds of hardware with streams. A {@link StreamDevice}
 * owns the driver and closes it after the last operation. Safe from any thread, unless a method says otherwise.
 */
public interface StreamDriver extends AutoCloseable {

    /**
     * Returns the lanes; the device's queues use some of the lanes.
     *
     * @return at least one computing lane, before the copy-only lanes; always the same list
     */
    List<Lane> lanes();

    /**
     * Creates a timeline.
     *
     * @param value initial value
     * @param shared whether the timeline will be exported, or made an alias of an exported timeline
     * @return the timeline, closed by the caller
     * @throws IreeException UNIMPLEMENTED when the driver cannot share timelines
     */
    DriverTimeline createTimeline(long value, boolean shared);

    /**
     * Creates a timeline for a driver event recorded by other code.
     *
     * @param event the event's handle, valid until the timeline is closed
     * @param value the value of the timeline once the event has completed
     * @return the timeline, closed by the caller
     * @throws IreeException UNIMPLEMENTED when the driver has no events, as thrown by this method unless overridden;
     *     INVALID_ARGUMENT for an event unknown to the driver
     */
    default DriverTimeline importEvent(long event, long value) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver has no events; signal a semaphore from the host");
    }

    /**
     * Waits until any of several timelines reaches a value, or the time has passed; may return spuriously. Called by a
     * single thread. Timelines may be closed during the wait.
     *
     * @param timelines the timelines; elements beyond the count are ignored
     * @param values by timeline
     * @param count the number of timelines
     * @param timeoutNanos maximum time to wait; {@link Long#MAX_VALUE} for ever
     * @throws IreeException ABORTED when the device is lost
     */
    void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos);

    /**
     * Returns whether threads waiting for the device look for completions before sleeping: worth while where a look is
     * quick, sees a completion at once, and takes no processor from the device's work.
     *
     * @return false unless overridden
     */
    default boolean isWatchedByWaiters() {
        return false;
    }

    /**
     * Returns the number of accepted submissions kept on the host, too early for the hardware.
     *
     * @return 0 where the hardware has all submissions, as returned by this method unless overridden
     */
    default long heldCount() {
        return 0;
    }

    /**
     * Returns the number of native events.
     *
     * @return 0 where the driver needs no events, as returned by this method unless overridden
     */
    default long eventCount() {
        return 0;
    }

    /**
     * Returns how many graphs the hardware was given so far. A driver makes graphs of commands executed repeatedly.
     *
     * @return 0 where the driver makes no graphs, as returned by this method unless overridden
     */
    default long graphLaunchCount() {
        return 0;
    }

    /**
     * Returns whether the hardware belongs to another process, whose end is reported as a loss.
     *
     * @return false by default
     */
    default boolean isRemote() {
        return false;
    }

    /**
     * Returns why the hardware refuses new work with UNAVAILABLE while completing the accepted work.
     *
     * @return the reason; null while the hardware accepts work
     */
    default @Nullable IreeException draining() {
        return null;
    }

    /**
     * Returns whether the device is lost: the hardware no longer runs anything, and uses no memory.
     *
     * @return true once the device is lost
     */
    boolean isLost();

    /**
     * Returns the library of collectives.
     *
     * @return the same object for all devices able to meet; null where the driver has no library, as returned by this
     *     method unless overridden
     * @throws IreeException UNAVAILABLE when the driver's library is not installed, with a remedy
     */
    default @Nullable StreamCollectives collectives() {
        return null;
    }

    /**
     * Returns whether submissions of this driver can wait for tickets of another driver's lanes, without the host and
     * before the tickets are reached.
     *
     * @param other the driver of another device of the same scheduling domain
     * @return false where the host waits, as returned by this method unless overridden
     */
    default boolean canWaitForLanesOf(StreamDriver other) {
        return false;
    }

    // ---- Memory.

    /**
     * Returns whether {@link TransferCommands#copy} takes a source in memory of another driver's device.
     *
     * @param other the driver of another device of the same scheduling domain
     * @return false where copies go through the host, as returned by this method unless overridden
     */
    default boolean canCopyFrom(StreamDriver other) {
        return false;
    }

    /**
     * Returns the kinds of memory in use, by purpose.
     *
     * @return always the same object
     */
    MemoryKinds memoryKinds();

    /**
     * Returns the limits of the device.
     *
     * @return always the same object
     */
    DriverLimits limits();

    /**
     * Returns the identity that a device must share to import memory exported by this device.
     *
     * @return the same text in every process
     */
    String identity();

    /**
     * Allocates memory.
     *
     * @param size bytes
     * @param kind a kind of {@link #memoryKinds}
     * @param shared whether the memory will be exported
     * @return the allocation, closed by the caller
     * @throws IreeException RESOURCE_EXHAUSTED when the memory is exhausted; UNIMPLEMENTED when the driver cannot share
     *     memory
     */
    DriverMemory allocate(long size, MemoryKind kind, boolean shared);

    /**
     * Returns why host memory cannot be used in place.
     *
     * @return the missing capability, as the rest of a sentence; null without an obstacle
     */
    @Nullable
    String hostMemoryObstacle();

    /**
     * Imports host memory; only where {@link #hostMemoryObstacle} returns null.
     *
     * @param address first byte, a multiple of {@link DriverLimits#hostAlignment}
     * @param size bytes, a multiple of the same alignment
     * @param readOnly whether the device will only read the memory
     * @return the allocation, closed by the caller before the memory is freed
     * @throws IreeException UNIMPLEMENTED when the driver does not support such memory and callers should copy; or if
     *     the driver refuses the memory
     */
    DriverMemory importHost(long address, long size, boolean readOnly);

    /**
     * Returns whether {@link #importConstant} is available, where host memory cannot be used in place.
     *
     * @return false unless overridden: programs allocate memory, and copy their constants once
     */
    default boolean hasConstants() {
        return false;
    }

    /**
     * Copies a constant to memory of the device that has {@linkplain DriverMemory#view views} for calls.
     *
     * @param bytes the constant, read-only, at least one byte; unchanged and readable until the allocation is closed
     * @return the allocation, of the first of {@link #memoryKinds}, closed by the caller
     * @throws IreeException UNIMPLEMENTED when callers should copy; RESOURCE_EXHAUSTED when the memory is exhausted
     */
    default DriverMemory importConstant(MemorySegment bytes) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver has no views of constants; copy them");
    }

    /**
     * Returns why code of this device cannot use memory of another in place.
     *
     * @param other the driver of the other device
     * @return the missing capability, as the rest of a sentence; null without an obstacle
     */
    default @Nullable String peerObstacle(StreamDriver other) {
        return "drivers do not import the mapped memory of another device";
    }

    /**
     * Imports device memory allocated by other code.
     *
     * @param address the memory's address for device code
     * @param size bytes
     * @return the allocation, closed by the caller before the memory is freed
     * @throws IreeException UNIMPLEMENTED when the driver does not support such imports, as thrown by this method
     *     unless overridden; NOT_FOUND or INVALID_ARGUMENT when there is less memory at the address
     */
    default DriverMemory importDevice(long address, long size) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver uses no memory by its address; copy it");
    }

    /**
     * Imports memory exported by a device of the same {@link #identity}.
     *
     * @param descriptor descriptor of the operating system; owned by the driver once this method returns
     * @param size bytes
     * @param kind a kind of {@link #memoryKinds}
     * @return the allocation, closed by the caller
     * @throws IreeException UNIMPLEMENTED when the driver cannot import, as thrown by this method unless overridden
     */
    default DriverMemory importDescriptor(int descriptor, long size, MemoryKind kind) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver imports no memory; copy it through the host");
    }

    /**
     * Closes an exported descriptor that no driver imports.
     *
     * @param descriptor the descriptor
     */
    default void discardDescriptor(int descriptor) {}

    // ---- Code.

    /**
     * Returns the loadable executable formats. The device's options may allow fewer.
     *
     * @return names of formats, the preferred format first
     */
    List<String> formats();

    /**
     * Returns whether a program's pattern for a kind of device means this device, besides the driver's name and the
     * device's id.
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
     * @param format a format of {@link #formats}
     * @return flags of iree-compile; empty when unknown, as returned by this method unless overridden
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Returns a remedy for a format missing from {@link #formats}.
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
     * @param params the executable, in a format of {@link #formats}
     * @return the executable, owned by the caller
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
     * Frees everything, including the lanes. The last operation has completed. Memory, forms and executables that users
     * still hold are closed later.
     */
    @Override
    void close();
}
