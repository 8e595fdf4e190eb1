package io.github.iree4j.hal;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A device that runs compiled programs: a CPU, a GPU. The opener closes it; closing fails waiting work with ABORTED and refuses new work,
 * while buffers stay readable until they are closed. Safe from any thread.
 */
public interface Device extends AutoCloseable {

    /** As a semaphore flag: only this device waits for and signals it. */
    long SEMAPHORE_DEVICE_LOCAL = 0x1;
    /** As a semaphore flag: the host waits for it. */
    long SEMAPHORE_HOST_INTERRUPT = 0x2;
    /** As a semaphore flag: it can be exported. */
    long SEMAPHORE_EXPORTABLE = 0x4;
    /** As a semaphore flag: its timepoints can be exported. */
    long SEMAPHORE_EXPORTABLE_TIMEPOINTS = 0x8;
    /** As a semaphore flag: only one queue signals it. */
    long SEMAPHORE_SINGLE_PRODUCER = 0x10;
    /** The flags that programs use. */
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
     * Returns how many queues there are.
     *
     * @return 1 to 64
     */
    int queueCount();

    /**
     * Returns a queue.
     *
     * @param index 0 to {@link #queueCount()} - 1
     * @return the queue, borrowed
     * @throws IreeException OUT_OF_RANGE when there is none
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
     * @throws IreeException INCOMPATIBLE for a format the device does not load, naming those it does; failures of the code's own checks
     */
    Executable createExecutable(ExecutableParams params);

    /**
     * Begins a command buffer.
     *
     * @param modes bits such as {@link CommandBuffer#ONE_SHOT}
     * @param categories {@link CommandBuffer#TRANSFER} and {@link CommandBuffer#DISPATCH}
     * @param affinity queues it will run on
     * @param bindingCapacity slots of the binding table it may refer to; 0 when it uses none
     * @return the command buffer, recording; the caller closes it
     */
    CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity);

    /**
     * Creates a timeline that this device's queues can wait for and signal.
     *
     * @param initialValue where it starts
     * @param flags its intended use, {@link #SEMAPHORE_DEFAULT} when unsure
     * @return the timeline; the caller closes it
     */
    TimelineSemaphore createSemaphore(long initialValue, long flags);

    /**
     * Exports a timeline to drivers and processes that wait for it themselves. From then on the host forwards its values in order. Once the
     * timeline has failed, has lost its last owner or is at 2147483647, they see the sum of 2147483647 and the last value that was reached: a
     * shared timeline that counts so far has failed, as in IREE. So they do once this device is closed, at the latest after its close limit. Where the device cannot export timelines, {@link
     * io.github.iree4j.async.ExternalTimepoints#exportEvent} exports one value as an event.
     *
     * @param semaphore of scope SYSTEM_WIDE; not retained
     * @return an operating system descriptor, which the caller closes or passes on
     * @throws IreeException UNIMPLEMENTED when the device cannot, naming what it lacks; FAILED_PRECONDITION when the scope is narrower;
     *     OUT_OF_RANGE when the timeline is at 2147483647 or beyond
     */
    default int exportSemaphore(TimelineSemaphore semaphore) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to export");
    }

    /**
     * Imports a value of a timeline of another driver or process. The value is promised at once, so that queues of this device wait for it
     * without the host, and is reached, tainted, when the other timeline reaches it. If the device is lost or closed before, the timeline
     * fails; so it does, with ABORTED, if the other timeline has failed (see {@link #exportSemaphore}) and is not known to have reached the
     * value before.
     *
     * @param descriptor an operating system descriptor; owned by the driver unless this throws
     * @param semaphore the timeline; retained until the value is reached or the import cancelled
     * @param value the value, there and here, below 2147483647
     * @return cancels the import, unless work of this device waits for it; another party may then signal the value
     * @throws IreeException UNIMPLEMENTED when the device cannot, naming what it lacks; INVALID_ARGUMENT for a descriptor of something else,
     *     and when the value is reached or promised; OUT_OF_RANGE for a value of 2147483647 or more
     */
    default Cancellation importSemaphore(int descriptor, TimelineSemaphore semaphore, long value) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to import");
    }

    /**
     * Imports an event of this device's driver as a value of a timeline. The value is promised at once, so that queues of this device wait for the
     * event without the host, and is reached, tainted, once the event is over. If the device is lost or closed before, the timeline fails.
     *
     * @param event the driver's handle, such as a {@code CUevent}, of this device; recorded before, and neither recorded again nor destroyed until the
     *     value is reached or the import cancelled
     * @param semaphore the timeline; retained until then
     * @param value the value
     * @return cancels the import, unless work of this device waits for it; another party may then signal the value
     * @throws IreeException UNIMPLEMENTED when the device has no events; INVALID_ARGUMENT for what the driver does not know, and when the value is
     *     reached or promised
     */
    default Cancellation importEvent(long event, TimelineSemaphore semaphore, long value) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no events to import");
    }

    /**
     * Returns the narrowest scope for the declared use of a timeline. The host sees all timelines, so host interrupts do not widen the
     * scope.
     *
     * @param flags what {@link #createSemaphore} takes
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
     * @return the domain, borrowed; the process's unless the device was opened with another
     */
    default SchedulingDomain schedulingDomain() {
        return SchedulingDomain.ofProcess();
    }

    /**
     * Returns what the device uses of its driver.
     *
     * @return the current counters; zeros where the runtime runs the work itself
     */
    default DriverCounters driverCounters() {
        return DriverCounters.NONE;
    }

    /**
     * Joins the unnamed group for collective operations; see {@link #createChannel(long, ChannelParams)}.
     *
     * @param affinity queues that take part
     * @param rank rank of this participant; -1 leaves it to the device
     * @param count number of participants; -1 leaves it to the device
     * @return the channel; the caller closes it
     * @throws IreeException as {@link #createChannel(long, ChannelParams)}
     */
    default Channel createChannel(long affinity, int rank, int count) {
        return createChannel(affinity, ChannelParams.of(rank, count));
    }

    /**
     * Makes the id of a group whose participants may be in several processes, each of which passes it as the {@link ChannelParams#id} of its
     * participants, with their ranks and their count.
     *
     * @return the id, characters below 256
     * @throws IreeException UNIMPLEMENTED when groups are within a process; UNAVAILABLE without the driver's library for collectives
     */
    default String createChannelId() {
        throw new IreeException(
                StatusCode.UNIMPLEMENTED,
                "collectives of device '%s' are for participants of one process; name their group".formatted(id()));
    }

    /**
     * Joins a group for collective operations. Does not wait for the other participants; collectives do. Once all have joined, the next
     * participant to join under the same name begins another group.
     *
     * @param affinity queues that take part
     * @param params the group, and the rank in it
     * @return the channel; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device has no collectives; UNAVAILABLE without the driver's library for them; ALREADY_EXISTS when another participant has the rank;
     *     INVALID_ARGUMENT when other participants joined with another count, which fails the group
     */
    default Channel createChannel(long affinity, ChannelParams params) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no collective channels");
    }

    /**
     * Answers the queries by which compiled programs choose a device and a variant of their code.
     *
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @return the answer, or empty when the device does not know the query
     */
    OptionalLong queryI64(String category, String key);

    /**
     * Returns whether the host sees all memory that programs have on this device, so that devices that use host memory can use it.
     *
     * @return false for memory that only the device sees
     */
    default boolean isMemoryOfHost() {
        return false;
    }

    /**
     * Returns what prevents work on this device from using another device's memory in place.
     *
     * @param other any device; nothing prevents it for this one
     * @return the missing feature, as the end of a sentence; null when none is missing
     */
    default @Nullable String memoryObstacle(Device other) {
        return null;
    }

    /**
     * Returns the formats of executables that can be loaded.
     *
     * @return for example {@code embedded-elf-x86_64}, the preferred one first
     */
    default List<String> executableFormats() {
        return List.of();
    }

    /**
     * Returns how programs are compiled for the device.
     *
     * @param format one of {@link #executableFormats}
     * @return flags of iree-compile; empty when unknown
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Returns why the device no longer works.
     *
     * @return the failure; null while the device works
     */
    default @Nullable IreeException failure() {
        return null;
    }

    /**
     * Returns why the device refuses new work with UNAVAILABLE, while it ends what it has: the machine that it belongs to is about to stop.
     *
     * @return the reason; null while the device takes work
     */
    default @Nullable IreeException draining() {
        return null;
    }

    /**
     * Fails waiting work with ABORTED and refuses new work. Returns once the device has given its resources back, except for those of
     * buffers and executables that are still open; in callbacks and on threads of the device it does not wait for that. Idempotent.
     */
    @Override
    void close();
}
