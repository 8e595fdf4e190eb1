package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The devices of a runtime by their names: local devices, open from the start, and devices of other
 * machines. A device of another machine is opened on demand, and opened again after a loss. Thread-safe.
 */
final class NamedDevices implements DeviceMonitor {
    private final Map<String, Device> own; // in the order of the options
    private final Map<String, Remote> remote = new LinkedHashMap<>(); // by name; the map itself does not change
    private final Function<DeviceSource, Device> opening;
    private final List<Consumer<? super Device>> listeners = new ArrayList<>(); // guarded by this, like the rest
    private boolean closed;

    /** A device of another machine. */
    private static final class Remote {
        final DeviceSource source;
        final ReentrantLock opening = new ReentrantLock(); // held while the device is opened, which may take seconds

        @Nullable
        Device device; // guarded by the devices, like the rest

        final List<Device> replaced = new ArrayList<>(0); // lost devices that programs may still use

        Remote(DeviceSource source) {
            this.source = source;
        }
    }

    /**
     * Creates the collection with the open devices.
     *
     * @param own the local devices by name
     * @param remote devices of other machines
     * @param opening opens a device of another machine; may block
     */
    NamedDevices(Map<String, Device> own, List<DeviceSource> remote, Function<DeviceSource, Device> opening) {
        this.own = own;
        this.opening = opening;
        remote.forEach(source -> this.remote.put(source.name(), new Remote(source)));
    }

    /** The local devices, seen by programs that name no device. */
    List<Device> own() {
        return List.copyOf(own.values());
    }

    /** The local devices, then the open devices of other machines. */
    List<Device> open() {
        List<Device> all = new ArrayList<>(own.values());
        synchronized (this) {
            for (Remote each : remote.values()) {
                if (each.device != null) {
                    all.add(each.device);
                }
            }
        }
        return List.copyOf(all);
    }

    @Override
    public List<String> names() {
        return Stream.concat(own.keySet().stream(), remote.keySet().stream()).toList();
    }

    @Override
    public boolean isRemote(String name) {
        return remote.containsKey(name);
    }

    @Override
    public String nameOf(Device device) {
        for (Map.Entry<String, Device> each : own.entrySet()) {
            if (each.getValue().equals(device)) {
                return each.getKey();
            }
        }
        synchronized (this) {
            for (Remote each : remote.values()) {
                if (device.equals(each.device) || each.replaced.contains(device)) {
                    return each.source.name();
                }
            }
        }
        return device.id();
    }

    /** The devices with the given names, in the given order; the local devices without names. */
    List<Device> select(List<String> wanted) {
        return wanted.isEmpty() ? own() : wanted.stream().map(this::require).toList();
    }

    /**
     * The device with a name or an id. Opens a device of another machine if the device is not open, or lost.
     *
     * @throws IreeException NOT_FOUND when there is no such device, naming the existing devices; or the reason why the
     *     device cannot be opened
     */
    Device require(String name) {
        Remote far = remote.get(name);
        return far != null
                ? open(far)
                : find(name)
                        .orElseThrow(() -> IreeException.of(
                                StatusCode.NOT_FOUND,
                                "the runtime was not opened with device '%s' but with %s".formatted(name, names())));
    }

    @Override
    public Optional<Device> find(String name) {
        Device known = own.get(name);
        if (known != null) {
            return Optional.of(known);
        }
        Remote far = remote.get(name);
        if (far != null) {
            synchronized (this) {
                return Optional.ofNullable(far.device);
            }
        }
        return open().stream().filter(device -> device.id().equals(name)).findFirst();
    }

    private @Nullable Device working(Remote far) {
        synchronized (this) {
            Device device = far.device;
            return device != null && device.failure().isEmpty() ? device : null;
        }
    }

    private Device open(Remote far) {
        Device device = working(far);
        if (device != null) {
            return device;
        }
        far.opening.lock();
        try {
            device = working(far);
            if (device != null) {
                return device;
            }
            return add(far, opening.apply(far.source));
        } finally {
            far.opening.unlock();
        }
    }

    private Device add(Remote far, Device device) {
        List<Consumer<? super Device>> told = null;
        synchronized (this) {
            if (!closed) {
                if (far.device != null) {
                    far.replaced.add(far.device);
                }
                far.device = device;
                told = List.copyOf(listeners);
            }
        }
        if (told == null) {
            Drivers.close(List.of(device));
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "the runtime is closed");
        }
        told.forEach(each -> each.accept(device));
        return device;
    }

    @Override
    public void watch(Consumer<? super Device> listener) {
        synchronized (this) {
            listeners.add(listener);
        }
        open().forEach(listener);
    }

    /** Closes lost devices no longer in use. */
    void closeReplaced(Predicate<? super Device> inUse) {
        List<Device> due = new ArrayList<>(0);
        synchronized (this) {
            for (Remote each : remote.values()) {
                for (Device device : List.copyOf(each.replaced)) {
                    if (!inUse.test(device)) {
                        each.replaced.remove(device);
                        due.add(device);
                    }
                }
            }
        }
        Drivers.close(due);
    }

    /** Bytes of device memory in use. */
    long bytesLive() {
        return open().stream()
                .mapToLong(device -> device.allocator().statistics().bytesLive())
                .sum();
    }

    /** Closes all devices, and opens no device afterwards. */
    void close() {
        List<Device> all = new ArrayList<>(own.values());
        synchronized (this) {
            closed = true;
            for (Remote each : remote.values()) {
                all.addAll(each.replaced);
                if (each.device != null) {
                    all.add(each.device);
                }
            }
        }
        Drivers.close(all);
    }
}
