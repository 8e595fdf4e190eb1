package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the module keeps per context: which shared executables the context uses, and room to marshal in. */
final class HalState implements AutoCloseable {
    private final HalModule module;
    private final ExecutableCache.User executables;

    private final List<Device> ran = new ArrayList<>(1); // those that the program has code for
    private final DescriptorState descriptors = new DescriptorState();
    private final BindingTable bindingTable = new BindingTable();
    private final @Nullable SubmittedWork work; // of programs that signal too early

    HalState(HalModule module) {
        this.module = module;
        this.executables = module.executables().newUser();
        this.work = module.faults().signalsEarly() ? new SubmittedWork() : null;
    }

    HalModule module() {
        return module;
    }

    /**
     * Loads code for a device, once for all contexts.
     *
     * @throws IreeException INCOMPATIBLE when the program has code for another device already and one of the two cannot use memory of the
     *     other: it would fail in the middle of a call
     */
    Executable executable(Device device, ExecutableParams params) {
        if (!ran.contains(device)) {
            ran.forEach(other -> checkShares(device, other));
            ran.forEach(other -> checkShares(other, device));
            ran.add(device);
        }
        return executables.get(device, params);
    }

    private static void checkShares(Device device, Device other) {
        String obstacle = device.memoryObstacle(other);
        if (obstacle != null) {
            throw new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "program has code for devices '%s' and '%s' and passes memory between them, and device '%s' cannot use that of the other: %s; give it other devices, or compile it for one"
                            .formatted(other.id(), device.id(), device.id(), obstacle));
        }
    }

    DescriptorState descriptors() {
        return descriptors;
    }

    /** A call has submitted something that signals a fence. */
    void submitted(DeviceQueue queue, @Nullable Fence signal) {
        if (work != null) {
            work.add(queue, signal);
        }
    }

    /** A call has made a fence. */
    @Nullable
    Fence made(@Nullable Fence fence) {
        if (work != null) {
            work.made(fence);
        }
        return fence;
    }

    /** Signals a fence for a call. */
    void signal(Fence fence) {
        if (work == null) {
            fence.signal();
        } else {
            work.signal(fence);
        }
    }

    /** The device of programs that know only one. */
    Device firstDevice() {
        return module.devices().getFirst();
    }

    /** A table to fill, pass on and clear within one call. */
    BindingTable bindingTable() {
        return bindingTable;
    }

    /** Checks that a device is one of the module's; a program can have others only through lists that somebody passed to it. */
    Device own(Device device) {
        if (!module.devices().contains(device)) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    "device '%s' is not one of the %d devices of this program"
                            .formatted(device.id(), module.devices().size()));
        }
        return device;
    }

    @Override
    public void close() {
        descriptors.close();
        if (work != null) {
            work.close();
        }
        executables.close();
    }
}
