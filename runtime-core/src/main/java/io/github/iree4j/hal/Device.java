package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A device for compiled programs: a CPU, a GPU. The opener closes the device. Closing fails waiting work with ABORTED
 * and refuses new work; buffers stay readable until closed. Safe from any thread.
 */
public interface Device extends AutoCloseable {

    /** As a semaphore flag: only this device waits for and signals the timeline. */
    long SEMAPHORE_DEVICE_LOCAL = 0x1;
    /** As a semaphore flag: the host waits for the timeline. */
    long SEMAPHORE_HOST_INTERRUPT = 0x2;
    /** As a semaphore flag: the timeline can be exported. */
    long SEMAPHORE_EXPORTABLE = 0x4;
    /** As a semaphore flag: timepoints of the timeline can be exported. */
    long SEMAPHORE_EXPORTABLE_TIMEPOINTS = 0x8;
    /** As a semaphore flag: only one queue signals the timeline. */
    long SEMAPHORE_SINGLE_PRODUCER = 0x10;
    /** The flags used by programs. */
    long SEMAPHORE_DEFAULT = SEMAPHORE_HOST_INTERRUPT | SEMAPHORE_EXPORTABLE_TIMEPOINTS;

    /**
     * Returns the id of the device.
     *
     * @return the id
     */
    default String id() {
        return info().id();
    }

    /**
     * Describes the device.
     *
     * @return driver, id and name
     */
    DeviceInfo info();

    /**
     * Returns the number of queues.
     *
     * @return 1 to 64
     */
    int queueCount();

    /**
     * Returns a queue.
     *
     * @param index 0 to {@link #queueCount()} - 1
     * @return the queue, borrowed
     * @throws IreeException OUT_OF_RANGE when no such queue exists
     */
    DeviceQueue queue(int index);

    /**
     * Returns the queue to use for an affinity.
     *
     * @param affinity see {@link QueueAffinity}
     * @return the queue, borrowed
     * @throws IreeException INVALID_ARGUMENT when none of the queues exists
     */
    default DeviceQueue queueFor(long affinity) {
        return queue(QueueAffinity.first(affinity, queueCount()));
    }

    /**
     * Returns the device's memory.
     *
     * @return the allocator, borrowed
     */
    Allocator allocator();

    /**
     * Loads compiled code.
     *
     * @param params format, code and constants
     * @return the executable; the caller closes it
     * @throws IreeException INCOMPATIBLE for an unknown format, naming the formats of the device; failures of the
     *     code's own checks
     */
    Executable createExecutable(ExecutableParams params);

    /**
     * Begins a command buffer.
     *
     * @param modes bits such as {@link CommandBuffer#ONE_SHOT}
     * @param categories {@link CommandBuffer#TRANSFER} and {@link CommandBuffer#DISPATCH}
     * @param affinity queues to run on
     * @param bindingCapacity number of slots of the binding table the commands may refer to; 0 without a binding table
     * @return the command buffer, recording; the caller closes it
     */
    CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity);

    /**
     * Creates a timeline for this device's queues to wait for and signal.
     *
     * @param initialValue first value
     * @param flags intended use, {@link #SEMAPHORE_DEFAULT} when unsure
     * @return the timeline; the caller closes it
     */
    TimelineSemaphore createSemaphore(long initialValue, long flags);

    /**
     * Exports a timeline to drivers and processes waiting for the timeline themselves. From then on the host forwards
     * the values in order. Once the timeline has failed, has lost its last owner or is at 2147483647, importers see the
     * sum of 2147483647 and the last reached value: as in IREE, a shared timeline with such a value has failed.
     * Importers see the same once this device is closed, at the latest after its close limit. Where the device cannot
     * export timelines, {@link io.github.iree4j.async.io.ExternalTimepoints#exportEvent} exports a value as an event.
     *
     * @param semaphore of scope SYSTEM_WIDE; not retained
     * @return an operating system descriptor, to be closed or passed on by the caller
     * @throws IreeException UNIMPLEMENTED when the device cannot export timelines, naming the missing feature;
     *     FAILED_PRECONDITION when the scope is narrower; OUT_OF_RANGE when the timeline is at 2147483647 or beyond
     */
    default int exportSemaphore(TimelineSemaphore semaphore) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to export");
    }

    /**
     * Imports a value of a timeline of another driver or process. The value is promised at once, so that queues of this
     * device wait for the value without the host, and is reached, tainted, when the other timeline reaches it. If the
     * device is lost or closed before, the timeline fails. The timeline also fails, with ABORTED, if the other timeline
     * has failed (see {@link #exportSemaphore}) and is not known to have reached the value before.
     *
     * @param descriptor an operating system descriptor; owned by the driver unless this call throws
     * @param semaphore the timeline; retained until the value is reached or the import cancelled
     * @param value the value, there and here, below 2147483647
     * @return cancels the import, unless work of this device waits for the value; another party may then signal the
     *     value
     * @throws IreeException UNIMPLEMENTED when the device cannot import timelines, naming the missing feature;
     *     INVALID_ARGUMENT for a descriptor of another kind of object, and when the value is reached or promised;
     *     OUT_OF_RANGE for a value of 2147483647 or more
     */
    default Cancellation importSemaphore(int descriptor, TimelineSemaphore semaphore, long value) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to import");
    }

    /**
     * Imports an event of this device's driver as a value of a timeline. The value is promised at once, so that queues
     * of this device wait for the event without the host, and is reached, tainted, once the event has completed. If the
     * device is lost or closed before, the timeline fails.
     *
     * @param event the driver's handle, such as a {@code CUevent}, of this device; recorded before, and neither
     *     recorded again nor destroyed until the value is reached or the import cancelled
     * @param semaphore the timeline; retained until the value is reached or the import cancelled
     * @param value the value
     * @return cancels the import, unless work of this device waits for the value; another party may then signal the
     *     value
     * @throws IreeException UNIMPLEMENTED when the device has no events; INVALID_ARGUMENT for a handle unknown to the
     *     driver, and when the value is reached or promised
     */
    default Cancellation importEvent(long event, TimelineSemaphore semaphore, long value) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no events to import");
    }

    /**
     * Returns the narrowest scope for the declared use of a timeline. The host sees all timelines, so host interrupts
     * do not widen the scope.
     *
     * @param flags semaphore flags, as for {@link #createSemaphore}
     * @return DEVICE_LOCAL, PROCESS_LOCAL or SYSTEM_WIDE
     */
    static SemaphoreScope scopeOf(long flags) {
        if ((flags & (SEMAPHORE_EXPORTABLE | SEMAPHORE_EXPORTABLE_TIMEPOINTS)) != 0) {
            return SemaphoreScope.SYSTEM_WIDE;
        }
        return (flags & SEMAPHORE_DEVICE_LOCAL) != 0 ? SemaphoreScope.DEVICE_LOCAL : SemaphoreScope.PROCESS_LOCAL;
    }

    /**
     * Returns the scheduling domain of this device.
     *
     * @return the domain, borrowed; the domain of the process unless the device was opened with another domain
     */
    default SchedulingDomain schedulingDomain() {
        return SchedulingDomain.ofProcess();
    }

    /**
     * Returns the device's use of driver resources.
     *
     * @return the current counters; zeros where the runtime runs the work directly
     */
    default DriverCounters driverCounters() {
        return DriverCounters.NONE;
    }

    /**
     * Joins the unnamed group for collective operations; see {@link #createChannel(long, ChannelParams)}.
     *
     * @param affinity participating queues
     * @param rank rank of this participant; -1 leaves the choice to the device
     * @param count number of participants; -1 leaves the choice to the device
     * @return the channel; the caller closes it
     * @throws IreeException as {@link #createChannel(long, ChannelParams)}
     */
    default Channel createChannel(long affinity, int rank, int count) {
        return createChannel(affinity, ChannelParams.of(rank, count));
    }

    /**
     * Makes the id of a group with participants possibly in several processes. Each process passes the id as the
     * {@link ChannelParams#id} of its participants, with their ranks and count.
     *
     * @return the id, characters below 256
     * @throws IreeException UNIMPLEMENTED when groups are limited to a process; UNAVAILABLE without the driver's
     *     library for collectives
     */
    default String createChannelId() {
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED,
                "collectives of device '%s' are for participants of one process; name their group".formatted(id()));
    }

    /**
     * Joins a group for collective operations. Does not wait for the other participants; collectives do. Once all have
     * joined, the next participant with the same name begins another group.
     *
     * @param affinity participating queues
     * @param params the group, and the rank in the group
     * @return the channel; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device has no collectives; UNAVAILABLE without the driver's library
     *     for collectives; ALREADY_EXISTS when another participant has the rank; INVALID_ARGUMENT when other
     *     participants joined with another count, failing the group
     */
    default Channel createChannel(long affinity, ChannelParams params) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no collective channels");
    }

    /**
     * Answers the queries used by compiled programs to choose a device and a variant of their code.
     *
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @return the answer, or empty when the device does not know the query
     */
    OptionalLong queryI64(String category, String key);

    /**
     * Returns whether all program memory on this device is visible to the host, and therefore usable by devices of host
     * memory.
     *
     * @return false for memory visible only to the device
     */
    default boolean isMemoryOfHost() {
        return false;
    }

    /**
     * Returns the obstacle, if any, to work on this device using another device's memory in place.
     *
     * @param other any device; no obstacle for this device
     * @return the missing feature, as the end of a sentence; empty when no feature is missing
     */
    default Optional<String> memoryObstacle(Device other) {
        return Optional.empty();
    }

    /**
     * Returns whether copies of this device's queues may read memory of another device that this device cannot use in
     * place, without memory of the host between.
     *
     * @param other any device
     * @return false for a pair of devices with copies through the host, or if unknown
     */
    @NotForApplications
    default boolean canCopyFrom(Device other) {
        return false;
    }

    /**
     * Returns the formats of executables that can be loaded.
     *
     * @return for example {@code embedded-elf-x86_64}, the preferred format first
     */
    default List<String> executableFormats() {
        return List.of();
    }

    /**
     * Returns the compiler flags for the device.
     *
     * @param format a format of {@link #executableFormats}
     * @return flags of iree-compile; empty when unknown
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Returns the failure that stopped the device.
     *
     * @return the failure; empty while the device works
     */
    default Optional<IreeException> failure() {
        return Optional.empty();
    }

    /**
     * Returns the reason for refusing new work with UNAVAILABLE, while ending accepted work: the device's machine is
     * about to stop.
     *
     * @return the reason; empty while the device takes work
     */
    default Optional<IreeException> draining() {
        return Optional.empty();
    }

    /**
     * Fails waiting work with ABORTED and refuses new work. Returns once the device has released all resources except
     * those needed by open buffers and executables; in callbacks and on threads of the device, close does not wait.
     * Idempotent.
     */
    @Override
    void close();
}
