package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.collective.ChannelHost;
import io.github.iree4j.hal.collective.ChannelRegistry;
import io.github.iree4j.hal.collective.CollectiveBackend;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The channels of a device. Safe from any thread. */
final class StreamChannels implements ChannelHost {
    private final StreamDevice device;
    private final Set<GroupChannel> open = ConcurrentHashMap.newKeySet();
    // by channel, for channels with a rank
    private final Map<GroupChannel, Runnable> leaving = new ConcurrentHashMap<>();

    private volatile boolean used; // whether any channel has joined

    StreamChannels(StreamDevice device) {
        this.device = device;
    }

    /** Returns whether the device has, or had, collectives. */
    boolean used() {
        return used;
    }

    Channel create(ChannelParams params) {
        return ChannelRegistry.create(device.schedulingDomain(), this, params);
    }

    /**
     * Returns the driver's library of collectives.
     *
     * @throws IreeException UNIMPLEMENTED for a driver without a library; UNAVAILABLE when the library is not installed
     */
    StreamCollectives library() {
        StreamCollectives library = device.driver().collectives();
        if (library == null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' has no collective channels, since its driver has no library for them; use devices of CUDA, of HIP or of the CPU"
                            .formatted(device.id()));
        }
        return library;
    }

    /** Ends the communicators of the closed device after its work. */
    void end() {
        if (used) {
            library().communicators().end(device.driver());
        }
    }

    /** Fails the groups of the closed or lost device. */
    void fail(IreeException cause) {
        open.forEach(each -> each.fail(ofDevice(cause)));
    }

    private IreeException ofDevice(IreeException cause) {
        return IreeException.of(
                cause.code() == StatusCode.FAILED_PRECONDITION ? StatusCode.ABORTED : cause.code(),
                "device '%s' of a channel: %s".formatted(device.id(), cause.getMessage()),
                cause);
    }

    @Override
    public CollectiveBackend collectives() {
        return new StreamGroup.Backend(library());
    }

    @Override
    public GroupChannel adopt(GroupChannel channel) {
        open.add(channel);
        device.failure().ifPresent(cause -> channel.fail(ofDevice(cause)));
        return channel;
    }

    @Override
    public void joined(GroupChannel channel) {
        StreamGroup group = (StreamGroup) channel.group().work();
        int rank = channel.rank();
        used = true;
        leaving.put(channel, () -> group.remove(rank));
        group.add(device, channel);
    }

    @Override
    public void forget(GroupChannel channel) {
        open.remove(channel);
        Runnable leave = leaving.remove(channel);
        if (leave != null) {
            leave.run();
        }
    }
}
