package io.github.iree4j.hal.copying;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DriverCounters;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device as seen by a program for several devices, when a device cannot use memory of another in place. Such memory
 * is <i>apart</i>: work on this device uses a copy, made in queue order before the work; bytes possibly written by the
 * work are copied back before the signal. Transfers run on the device owning the buffer. Everything else is delegated:
 * buffers, executables and semaphores belong to the device, and memory usable by the device is used in place.
 */
public final class CopyingDevice implements Device {
    private static final Logger LOG = LoggerFactory.getLogger(CopyingDevice.class);

    private final Device device;
    private final String consumer; // consumer charged for the copies
    private final BiFunction<Device, Device, Optional<String>> obstacles;
    private final Set<Device> reached =
            Collections.newSetFromMap(new IdentityHashMap<>()); // devices of the program; not modified later
    private final Set<Device> apart = Collections.newSetFromMap(new IdentityHashMap<>()); // the other devices
    private final List<CopyingQueue> queues = new ArrayList<>();

    private CopyingDevice(Device device, String consumer, BiFunction<Device, Device, Optional<String>> obstacles) {
        this.device = device;
        this.consumer = consumer;
        this.obstacles = obstacles;
        for (int i = 0; i < device.queueCount(); i++) {
            queues.add(new CopyingQueue(this, device.queue(i)));
        }
    }

    /**
     * Returns the devices for a program.
     *
     * @param devices in the program's order; borrowed
     * @param consumer the consumer charged for the memory of copies
     * @return the devices unchanged where each can use the memory of all others, else a device of this class for each
     */
    public static List<Device> of(List<Device> devices, String consumer) {
        return of(devices, consumer, Device::memoryObstacle);
    }

    /** Returns the devices for a program, with a custom test for obstacles to the use of another device's memory. */
    static List<Device> of(
            List<Device> devices, String consumer, BiFunction<Device, Device, Optional<String>> obstacles) {
        if (devices.stream().anyMatch(CopyingDevice.class::isInstance)) {
            return devices;
        }
        Map<Device, CopyingDevice> views = new IdentityHashMap<>();
        devices.forEach(each -> views.computeIfAbsent(each, one -> new CopyingDevice(one, consumer, obstacles)));
        boolean copies = false;
        for (CopyingDevice view : views.values()) {
            for (Device other : views.keySet()) {
                Optional<String> obstacle = obstacles.apply(view.device, other);
                (obstacle.isEmpty() ? view.reached : view.apart).add(other);
                if (obstacle.isPresent()) {
                    copies = true;
                    LOG.info(
                            "device '{}' gets copies of what it uses of the memory of device '{}': {}",
                            view.id(),
                            other.id(),
                            obstacle.get());
                }
            }
        }
        return copies ? devices.stream().map(each -> (Device) views.get(each)).toList() : devices;
    }

    /**
     * Returns a view of one device that copies memory of any other device, if the device cannot use the memory in
     * place.
     *
     * @param device borrowed; a view already is returned as given
     * @param consumer the consumer charged for the memory of copies
     */
    public static CopyingDevice of(Device device, String consumer) {
        return device instanceof CopyingDevice view
                ? view
                : new CopyingDevice(device, consumer, Device::memoryObstacle);
    }

    /**
     * Selects the device for memory shared by several devices.
     *
     * @param devices at least one device, the preferred first
     * @return the index of the first device with memory usable by all, or 0 without such a device
     */
    public static int indexOfShared(List<Device> devices) {
        List<Device> different = devices.stream().distinct().toList();
        for (Device each : different) {
            Device candidate = plain(each);
            if (different.stream().allMatch(user -> !(user instanceof CopyingDevice view) || view.reaches(candidate))) {
                return devices.indexOf(each);
            }
        }
        return 0;
    }

    private static Device plain(Device device) {
        return device instanceof CopyingDevice view ? view.device : device;
    }

    private boolean reaches(Device other) {
        return device.equals(other)
                || reached.contains(other)
                || !apart.contains(other) && obstacles.apply(device, other).isEmpty();
    }

    /** Returns the device behind this view. */
    Device device() {
        return device;
    }

    String consumer() {
        return consumer;
    }

    /** Returns whether work on this device needs a copy of a buffer. */
    boolean isApart(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof StoredBuffer<?> stored && !reaches(stored.device());
    }

    /** Returns the device of a buffer; a buffer without a device is refused. */
    static Device owner(Buffer buffer) {
        if (buffer.allocatedBuffer() instanceof StoredBuffer<?> stored) {
            return stored.device();
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT, "buffer of %d bytes is of no device".formatted(buffer.length()));
    }

    @Override
    public DeviceInfo info() {
        return device.info();
    }

    @Override
    public int queueCount() {
        return device.queueCount();
    }

    @Override
    public DeviceQueue queue(int index) {
        device.queue(index); // throws for a bad index
        return queues.get(index);
    }

    @Override
    public Allocator allocator() {
        return device.allocator();
    }

    @Override
    public Executable createExecutable(ExecutableParams params) {
        return device.createExecutable(params);
    }

    @Override
    public CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity) {
        device.queueFor(affinity); // throws when there is no such queue
        return new CopyingCommands(this, modes, categories, affinity, bindingCapacity);
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        return device.createSemaphore(initialValue, flags);
    }

    @Override
    public int exportSemaphore(TimelineSemaphore semaphore) {
        return device.exportSemaphore(semaphore);
    }

    @Override
    public Cancellation importSemaphore(int descriptor, TimelineSemaphore semaphore, long value) {
        return device.importSemaphore(descriptor, semaphore, value);
    }

    @Override
    public Cancellation importEvent(long event, TimelineSemaphore semaphore, long value) {
        return device.importEvent(event, semaphore, value);
    }

    @Override
    public DriverCounters driverCounters() {
        return device.driverCounters();
    }

    @Override
    public SchedulingDomain schedulingDomain() {
        return device.schedulingDomain();
    }

    @Override
    public String createChannelId() {
        return device.createChannelId();
    }

    @Override
    public Channel createChannel(long affinity, ChannelParams params) {
        return device.createChannel(affinity, params);
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        return device.queryI64(category, key);
    }

    @Override
    public Optional<String> memoryObstacle(Device other) {
        return obstacles.apply(device, plain(other));
    }

    @Override
    public boolean canCopyFrom(Device other) {
        return device.canCopyFrom(plain(other));
    }

    @Override
    public List<String> executableFormats() {
        return device.executableFormats();
    }

    @Override
    public String compileFlags(String format) {
        return device.compileFlags(format);
    }

    @Override
    public boolean isMemoryOfHost() {
        return device.isMemoryOfHost();
    }

    @Override
    public Optional<IreeException> failure() {
        return device.failure();
    }

    @Override
    public Optional<IreeException> draining() {
        return device.draining();
    }

    @Override
    public void close() {
        device.close();
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
