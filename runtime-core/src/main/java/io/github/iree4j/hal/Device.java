package io.github.iree4j.hal;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Something that runs compiled programs: a CPU, a GPU. Whoever opened it closes it; that fails work still waiting with ABORTED and
 * refuses new work, while buffers stay readable until they are closed. Safe from any thread.
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
    /** As a semaphore flag: one queue alone signals it. */
    long SEMAPHORE_SINGLE_PRODUCER = 0x10;
    /** What programs ask for. */
    long SEMAPHORE_DEFAULT = SEMAPHORE_HOST_INTERRUPT | SEMAPHORE_EXPORTABLE_TIMEPOINTS;

    /**
     * Returns what the device is known by.
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
     * @throws IreeException INVALID_ARGUMENT when none of the wanted queues exists
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
     * @throws IreeException INCOMPATIBLE for a format the device does not take, naming those it does; what the code's own checks say
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
     * @param flags what it will be used for, {@link #SEMAPHORE_DEFAULT} when unsure
     * @return the timeline; the caller closes it
     */
    TimelineSemaphore createSemaphore(long initialValue, long flags);

    /**
     * Exports a timeline to drivers and processes that wait for it themselves: what they get has the same values from then on, passed on by
     * the host in order. When the timeline fails, they see a value that no program uses, 2147483647. Where the device cannot,
     * {@link io.github.iree4j.async.ExternalTimepoints#exportEvent} exports one value as an event.
     *
     * @param semaphore of scope SYSTEM_WIDE; not retained
     * @return a descriptor of the operating system, which the caller closes or hands on
     * @throws IreeException UNIMPLEMENTED when the device cannot, naming what it lacks; FAILED_PRECONDITION when the scope is narrower
     */
    default int exportSemaphore(TimelineSemaphore semaphore) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to export");
    }

    /**
     * Imports a value of a timeline of another driver or process. It is promised at once, so that queues of this device wait for it without
     * the host, and reached, tainted, when the other timeline is there. When the device is lost or closed before, the timeline fails.
     *
     * @param descriptor of the operating system; the driver's from now on, unless this throws
     * @param semaphore the timeline; retained until the value is reached or the import cancelled
     * @param value the value, there and here
     * @return takes the import back; the value then is somebody else's to signal
     * @throws IreeException UNIMPLEMENTED when the device cannot, naming what it lacks; INVALID_ARGUMENT for a descriptor of something else,
     *     and when the value is reached or promised
     */
    default Cancellation importSemaphore(int descriptor, TimelineSemaphore semaphore, long value) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no timelines to import");
    }

    /**
     * Returns the narrowest scope for the declared use of a timeline. The host sees all of them, so its interrupts widen nothing.
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
     * Returns the domain in which what happens on this device is known.
     *
     * @return the domain, borrowed; that of the process unless the device was opened with another
     */
    default SchedulingDomain schedulingDomain() {
        return SchedulingDomain.ofProcess();
    }

    /**
     * Joins the group without a name for collective operations; see {@link #createChannel(long, ChannelParams)}.
     *
     * @param affinity queues that take part
     * @param rank which participant this is; -1 leaves it to the device
     * @param count how many participants there are; -1 leaves it to the device
     * @return the channel; the caller closes it
     * @throws IreeException as {@link #createChannel(long, ChannelParams)}
     */
    default Channel createChannel(long affinity, int rank, int count) {
        return createChannel(affinity, ChannelParams.of(rank, count));
    }

    /**
     * Joins a group for collective operations. Does not wait for the other participants: collectives do. Once all have joined, the next
     * to join under the same name begins another group.
     *
     * @param affinity queues that take part
     * @param params which group, and which participant of it
     * @return the channel; the caller closes it
     * @throws IreeException UNIMPLEMENTED when the device has no collectives; ALREADY_EXISTS when another participant has the rank;
     *     INVALID_ARGUMENT when others of the group joined with another count, which fails the group
     */
    default Channel createChannel(long affinity, ChannelParams params) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "device '" + id() + "' has no collective channels");
    }

    /**
     * Answers what compiled programs ask to choose a device and a variant of their code.
     *
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @return the answer, or empty when the device does not know the question
     */
    OptionalLong queryI64(String category, String key);

    /**
     * Returns whether the host sees all memory that programs have here, so that devices which use memory of the host can use it.
     *
     * @return false for memory that the device alone sees
     */
    default boolean isMemoryOfHost() {
        return false;
    }

    /**
     * Returns what keeps work on this device from using memory of another where that lies.
     *
     * @param other any device; of this one nothing does
     * @return what is missing, as the end of a sentence; null when nothing is
     */
    default @Nullable String memoryObstacle(Device other) {
        return null;
    }

    /**
     * Returns why nothing runs here any more.
     *
     * @return the failure; null while the device works
     */
    default @Nullable IreeException failure() {
        return null;
    }

    /** Fails work that still waits with ABORTED and refuses new work. Harmless when repeated. */
    @Override
    void close();
}
