package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmCall;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The module's state per context: the shared executables used by the context, and scratch objects. */
final class HalState implements AutoCloseable {
    private final HalModule module;
    private final ExecutableCache.User executables;
    private final DescriptorState descriptors = new DescriptorState();
    private final BindingTable bindingTable = new BindingTable();
    private final @Nullable SubmittedWork work; // for programs with early signals, or null
    private final Map<Device, Channel> channels = new HashMap<>();

    // The values of the last calls: most programs ask for the same values in each call.
    private Shape shape = Shape.SCALAR;
    private ElementType elementType = ElementType.NONE;
    private BufferParams params;

    HalState(HalModule module) {
        this.module = module;
        this.executables = module.executables().newUser();
        this.params = new BufferParams(0, 0, MemoryAccess.ALL, QueueAffinity.ANY, 0, module.consumer());
        this.work = module.faults().signalsEarly() ? new SubmittedWork() : null;
    }

    HalModule module() {
        return module;
    }

    /** Loads code for a device, once for all contexts. */
    Executable executable(Device device, ExecutableParams params) {
        return executables.get(device, params);
    }

    DescriptorState descriptors() {
        return descriptors;
    }

    /** Reads the dimensions of a shape, the rest of a span. */
    Shape shape(VmCall call) {
        int rank = Arguments.count("shape", call.spanCount(), Shape.MAXIMUM_RANK);
        Shape last = shape;
        long @Nullable [] other = last.rank() == rank ? null : new long[rank];
        for (int i = 0; i < rank; i++) {
            long dimension = call.i64();
            if (other == null && dimension != last.dimension(i)) {
                other = last.dimensions(); // the same up to here
            }
            if (other != null) {
                other[i] = dimension;
            }
        }
        if (other != null) {
            shape = Shape.of(other);
        }
        return shape;
    }

    /** Returns the type with an encoding. */
    ElementType elementType(int encoding) {
        if (elementType.encoding() != encoding) {
            elementType = new ElementType(encoding);
        }
        return elementType;
    }

    /** Returns parameters of memory that is charged to the program. */
    BufferParams params(int memoryTypes, int usage, long affinity) {
        BufferParams last = params;
        if (last.memoryType() != memoryTypes || last.usage() != usage || last.affinity() != affinity) {
            params = new BufferParams(memoryTypes, usage, MemoryAccess.ALL, affinity, 0, module.consumer());
        }
        return params;
    }

    /** Records a submission signalling a fence, made by a call. */
    void submitted(DeviceQueue queue, @Nullable Fence signal) {
        if (work != null) {
            work.add(queue, signal);
        }
    }

    /** Records a fence created by a call. */
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

    /** Returns the device for programs with a single device. */
    Device firstDevice() {
        return module.devices().getFirst();
    }

    /**
     * Returns a channel requested by a program; the caller owns the reference. If the device chooses the participant,
     * the channel is joined once for all calls, because compiled programs request a channel in each call.
     */
    Channel channel(Device device, long affinity, ChannelParams params) {
        if (!params.equals(ChannelParams.of(ChannelParams.DEFAULT, ChannelParams.DEFAULT))) {
            return device.createChannel(affinity, params);
        }
        Channel own = channels.get(device);
        if (own == null) {
            own = device.createChannel(affinity, params);
            channels.put(device, own);
        }
        own.retain();
        return own;
    }

    /** Returns a table to fill, pass on and clear within a single call. */
    BindingTable bindingTable() {
        return bindingTable;
    }

    /** Checks that a device belongs to the module; a program can obtain other devices only through lists passed as arguments. */
    Device own(Device device) {
        if (!module.devices().contains(device)) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "device '%s' is not one of the %d devices of this program"
                            .formatted(device.id(), module.devices().size()));
        }
        return device;
    }

    @Override
    public void close() {
        descriptors.close();
        channels.values().forEach(Channel::close);
        if (work != null) {
            work.close();
        }
        executables.close();
    }
}
