package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;

/**
 * The description of a node in HELLO and HELLO_ACK.
 *
 * @param identity the identity of the node
 * @param expected the expected incarnation of the receiver; 0 for any
 * @param limits the limits granted to the receiver
 * @param axes the axes of the node, with the epochs reached
 * @param devices the devices served
 */
record Hello(
        NodeIdentity identity, long expected, Limits limits, List<AxisEpoch> axes, List<RemoteDeviceInfo> devices) {
    static final int PROTOCOL = 4;

    private static final int OF_HOST = 1;
    private static final int VIEWS = 2;

    /** Limit on the axes of a peer, in the handshake and later. */
    static final int AXES_LIMIT = 1 << 14;

    private static final int DEVICES_LIMIT = 64; // as many as the bits of an affinity

    private static final int FORMATS_LIMIT = 64;

    /** The limits granted by a node to its peer. */
    record Limits(int chunkBytes, int commandWindow, int objectLimit) {}

    /** The epoch reached by an axis. */
    record AxisEpoch(long axis, long epoch) {}

    void write(FrameWriter out) {
        out.u16(PROTOCOL).u32(0);
        out.u64(identity.clusterId())
                .u8(identity.machine())
                .u8(identity.session())
                .u64(identity.incarnation());
        out.u64(expected);
        out.u32(limits.chunkBytes).u32(limits.commandWindow).u32(limits.objectLimit);
        out.u16(axes.size());
        axes.forEach(each -> out.u64(each.axis).u64(each.epoch));
        out.u16(devices.size());
        for (RemoteDeviceInfo device : devices) {
            out.string(device.id()).string(device.driver()).string(device.name());
            out.u8(device.formats().size());
            device.formats().forEach(out::string);
            out.u16(device.queueCount())
                    .u64(device.memoryLimit())
                    .u8((device.isMemoryOfHost() ? OF_HOST : 0) | (device.hasViews() ? VIEWS : 0));
        }
    }

    static Hello read(FrameReader in) {
        int protocol = in.u16("protocol");
        if (protocol != PROTOCOL) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "the node that sends this %s speaks protocol %d, the one that receives it protocol %d; run the same release on all nodes"
                            .formatted(in.type, protocol, PROTOCOL));
        }
        in.u32("capabilities"); // none yet: unknown capabilities are ignored
        NodeIdentity identity =
                new NodeIdentity(in.u64("cluster"), in.u8("machine"), in.u8("session"), in.u64("incarnation"));
        long expected = in.u64("expected peer");
        Limits limits = new Limits(
                limit(in, "chunk bytes", 1 << 10, 1 << 20),
                limit(in, "command window", 1, 1 << 16),
                limit(in, "object limit", 1, 1 << 24));
        int axisCount = in.count("axes", in.u16("axes"), 16);
        if (axisCount > AXES_LIMIT) {
            throw in.corrupt("%d axes, the limit is %d".formatted(axisCount, AXES_LIMIT));
        }
        List<AxisEpoch> axes = new ArrayList<>(axisCount);
        for (int i = 0; i < axisCount; i++) {
            AxisEpoch entry = new AxisEpoch(in.u64("axis"), in.size("epoch"));
            if (!Axis.isValid(entry.axis) || !identity.owns(entry.axis)) {
                throw in.corrupt("axis '%s' does not belong to %s".formatted(Axis.toString(entry.axis), identity));
            }
            axes.add(entry);
        }
        int deviceCount = in.count("devices", in.u16("devices"), 18);
        if (deviceCount > DEVICES_LIMIT) {
            throw in.corrupt("%d devices, the limit is %d".formatted(deviceCount, DEVICES_LIMIT));
        }
        List<RemoteDeviceInfo> devices = new ArrayList<>(deviceCount);
        for (int i = 0; i < deviceCount; i++) {
            devices.add(readDevice(in));
        }
        in.end();
        return new Hello(identity, expected, limits, axes, devices);
    }

    private static RemoteDeviceInfo readDevice(FrameReader in) {
        String id = in.string("id");
        String driver = in.string("driver");
        String name = in.string("name");
        int count = in.count("formats", in.u8("formats"), 2);
        if (count > FORMATS_LIMIT) {
            throw in.corrupt("%d formats of device '%s', the limit is %d".formatted(count, id, FORMATS_LIMIT));
        }
        List<String> formats = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            formats.add(in.string("format"));
        }
        int queues = in.u16("queues");
        if (queues < 1 || queues > Long.SIZE) {
            throw in.corrupt("device '%s' has %d queues, not 1 to %d".formatted(id, queues, Long.SIZE));
        }
        long memory = in.size("memory");
        int flags = in.u8("flags");
        return new RemoteDeviceInfo(
                id, driver, name, formats, queues, memory, (flags & OF_HOST) != 0, (flags & VIEWS) != 0);
    }

    private static int limit(FrameReader in, String field, int minimum, int maximum) {
        int value = in.u32(field);
        if (value < minimum || value > maximum) {
            throw in.corrupt("'%s' is %s, not within [%d, %d]"
                    .formatted(field, Integer.toUnsignedString(value), minimum, maximum));
        }
        return value;
    }
}
