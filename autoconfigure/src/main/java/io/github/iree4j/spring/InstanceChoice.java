package io.github.iree4j.spring;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Device;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Chooses the instance of a program for a call. Safe from any thread. */
final class InstanceChoice {
    // More than any load: such an instance gets no calls while another instance works.
    private static final long LOST = 1L << 62;
    private static final long DRAINING = 1L << 61;

    private final IreeRuntime runtime;
    private final AtomicInteger turn = new AtomicInteger();

    InstanceChoice(IreeRuntime runtime) {
        this.runtime = runtime;
    }

    /**
     * Chooses the least loaded instance of the least loaded device. An instance whose device is lost, or takes no new
     * work, is chosen only if no other instance exists.
     *
     * @param device the name of the required device; null for any
     * @throws IreeException NOT_FOUND when no instance runs on the device
     */
    Program of(LoadedProgram loaded, @Nullable String device) {
        Program chosen = choose(loaded, device == null ? null : device(device));
        if (chosen == null) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "program %s does not run on device '%s' but on %s; set iree.modules.%s.devices to change that"
                            .formatted(
                                    loaded.source().describe(),
                                    device,
                                    loaded.instances().stream()
                                            .flatMap(each -> each.devices().stream())
                                            .map(runtime.monitor().devices()::nameOf)
                                            .distinct()
                                            .toList(),
                                    loaded.source().name()));
        }
        return chosen;
    }

    private @Nullable Program choose(LoadedProgram loaded, @Nullable Device device) {
        List<Program> instances = loaded.instances();
        if (instances.size() == 1 && device == null) {
            return instances.getFirst();
        }
        boolean severalDevices = loaded.source().placement() == Placement.LEAST_LOADED;
        Program best = null;
        long least = Long.MAX_VALUE;
        int first = Math.floorMod(turn.getAndIncrement(), instances.size());
        for (int i = 0; i < instances.size(); i++) {
            Program instance = instances.get((first + i) % instances.size());
            if (device != null && !instance.devices().contains(device)) {
                continue;
            }
            long load = instance.monitor().activeCalls()
                    + (severalDevices ? (calls(instance.devices().getFirst()) << 32) : 0)
                    + obstacle(instance.devices());
            if (load < least) {
                least = load;
                best = instance;
            }
        }
        return best;
    }

    private static long obstacle(List<Device> devices) {
        long most = 0;
        for (Device each : devices) {
            most = Math.max(
                    most, each.failure().isPresent() ? LOST : each.draining().isPresent() ? DRAINING : 0);
        }
        return most;
    }

    private long calls(Device device) {
        long calls = 0;
        for (Program program : runtime.programs()) {
            calls += program.devices().contains(device) ? program.monitor().activeCalls() : 0;
        }
        return calls;
    }

    /** Finds a device by name. A call does not wait until a device of another machine is open; loading a program does. */
    private Device device(String name) {
        DeviceMonitor devices = runtime.monitor().devices();
        return devices.isRemote(name)
                ? devices.find(name)
                        .orElseThrow(() -> IreeException.of(
                                StatusCode.UNAVAILABLE,
                                "device '%s' belongs to another machine, and no program on it is loaded"
                                        .formatted(name)))
                : runtime.device(name);
    }
}
