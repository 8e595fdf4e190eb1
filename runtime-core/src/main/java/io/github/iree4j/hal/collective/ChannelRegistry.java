package io.github.iree4j.hal.collective;

import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.Map;

/**
 * Registry of the incomplete groups of this process, where participants find their group by name. Names are global to
 * the process, but separate for each {@link SchedulingDomain}. Safe from any thread.
 */
public final class ChannelRegistry {
    private static final Map<Name, ChannelGroup> FORMING = new HashMap<>(); // guarded by this map

    private ChannelRegistry() {}

    private record Name(SchedulingDomain domain, String id, String group) {}

    /** A group and a rank in the group. */
    record Membership(ChannelGroup group, int rank) {}

    /**
     * Creates a channel of a device; the first use of a name creates the group.
     *
     * @param domain of the device
     * @param host the device
     * @param params the group and the rank
     * @return the channel, closed by the caller
     * @throws IreeException ALREADY_EXISTS when the rank is taken; INVALID_ARGUMENT when the others joined with another
     *     count or are on devices that cannot meet this device; or the failure of the device to take part
     */
    public static GroupChannel create(SchedulingDomain domain, ChannelHost host, ChannelParams params) {
        GroupChannel channel = host.adopt(new GroupChannel(host, join(domain, host.collectives(), params)));
        try {
            host.joined(channel);
        } catch (RuntimeException | Error e) {
            channel.fail(
                    e instanceof IreeException cause
                            ? cause
                            : IreeException.of(StatusCode.INTERNAL, "channel cannot be created: " + e, e));
            channel.close();
            throw e;
        }
        return channel;
    }

    private static Membership join(SchedulingDomain domain, CollectiveBackend backend, ChannelParams params) {
        int count = params.count() == ChannelParams.DEFAULT ? 1 : params.count();
        if (count == 1) { // a group without others
            ChannelGroup alone = new ChannelGroup(domain, backend, 1);
            return new Membership(alone, alone.join(0));
        }
        if (backend.spansProcesses(params.id())) {
            ChannelGroup across = ChannelGroup.across(domain, backend, count, params);
            return new Membership(across, params.rank());
        }
        Name name = new Name(domain, params.id(), params.group());
        ChannelGroup group;
        IreeException different;
        synchronized (FORMING) {
            group = FORMING.computeIfAbsent(name, n -> new ChannelGroup(domain, backend, count));
            different = group.count() == count ? null : different(params, group.count());
            if (!group.backend().equals(backend)) {
                throw apart(params);
            }
            if (different == null) {
                int rank = group.join(params.rank());
                if (rank < 0) {
                    throw IreeException.of(
                            StatusCode.ALREADY_EXISTS,
                            "channel '%s' has a participant of rank %d already".formatted(params.id(), params.rank()));
                }
                if (group.isComplete()) {
                    FORMING.remove(name);
                }
                return new Membership(group, rank);
            }
        }
        group.fail(different);
        throw different;
    }

    private static IreeException different(ChannelParams params, int count) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "channel '%s' is joined with a count of %d by one participant and %d by another"
                        .formatted(params.id(), params.count(), count));
    }

    private static IreeException apart(ChannelParams params) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "channel '%s' has participants on devices of another driver; collectives do not cross drivers"
                        .formatted(params.id()));
    }

    /** Removes a failed group: the next participant to join under the same name creates another group. */
    static void ended(ChannelGroup group) {
        synchronized (FORMING) {
            FORMING.values().removeIf(each -> each == group);
        }
    }
}
