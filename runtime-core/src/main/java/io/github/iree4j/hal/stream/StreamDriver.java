package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a driver does for one device: everything that is not the same for all hardware with streams. A {@link StreamDevice} owns it and closes
 * it after the last operation. Safe from any thread, unless a method says otherwise.
 */
public interface StreamDriver extends AutoCloseable {

    /**
     * Returns the lanes, of which the device's queues use some.
     *
     * @return at least one that computes, before those that only copy; always the same
     */
    List<Lane> lanes();

    /**
     * Makes a timeline.
     *
     * @param value where it begins
     * @param shared whether it will be exported, or made another name of one that was
     * @return the timeline, which the caller closes
     * @throws IreeException UNIMPLEMENTED when it cannot be shared
     */
    DriverTimeline createTimeline(long value, boolean shared);

    /**
     * Waits until one of several timelines reaches a value. Called by one thread.
     *
     * @param timelines the timelines, with others behind them that do not count
     * @param values by timeline
     * @param count how many timelines there are
     * @param timeoutNanos how long to wait at most; {@link Long#MAX_VALUE} for ever
     * @throws IreeException ABORTED when the device is lost
     */
    void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos);

    /**
     * Returns whether the device is lost: the hardware runs nothing any more.
     *
     * @return true from then on
     */
    boolean isLost();

    // ---- Memory.

    /**
     * Returns which kinds of memory are used, and what for.
     *
     * @return always the same
     */
    MemoryKinds memoryKinds();

    /**
     * Returns what the device takes.
     *
     * @return always the same
     */
    DriverLimits limits();

    /**
     * Returns what others must know of a device to take memory that it exports.
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
     * Returns why memory of the host cannot be used where it lies.
     *
     * @return what is missing, as the rest of a sentence; null when it can
     */
    @Nullable
    String hostMemoryObstacle();

    /**
     * Imports memory of the host; only where {@link #hostMemoryObstacle} has none.
     *
     * @param address first byte, a multiple of {@link DriverLimits#hostAlignment}
     * @param size bytes, a multiple of the same
     * @return the allocation, which the caller closes before the memory goes
     * @throws IreeException why the driver refuses it
     */
    DriverMemory importHost(long address, long size);

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
     * Returns the formats of executables that it loads. The device's options may allow fewer.
     *
     * @return names of formats, the preferred one first
     */
    List<String> formats();

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
     * @throws IreeException what is wrong with it
     */
    Executable load(ExecutableParams params);

    /**
     * Makes what turns recordings into commands. Called once.
     *
     * @param memory of the device, for what commands need themselves
     * @return closed before the memory is
     */
    StreamEncoder encoder(StreamMemory memory);

    /** Frees everything. The last operation is complete, and all that was made of it is closed; lanes too. */
    @Override
    void close();
}
