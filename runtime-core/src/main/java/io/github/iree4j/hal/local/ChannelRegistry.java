package io.github.iree4j.hal.local;

import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.Map;

/**
 * Where participants of one process find their group by name: the incomplete groups. Names are global to the process, but
 * separate for each {@link SchedulingDomain}. Safe from any thread.
 */
final class ChannelRegistry {
    private static final Map<Name, ChannelGroup> FORMING = new HashMap<>(); // guarded by itself

    private ChannelRegistry() {}

    private record Name(SchedulingDomain domain, String id, String group) {}

    /** A group and a rank in it. */
    record Membership(ChannelGroup group, int rank) {}

    /**
     * Joins a group; the first use of a name creates it.
     *
     * @throws IreeException ALREADY_EXISTS when the rank is taken, INVALID_ARGUMENT when the others count differently
     */
    static Membership join(SchedulingDomain domain, ChannelParams params) {
        int count = params.count() == ChannelParams.DEFAULT ? 1 : params.count();
        if (count == 1) { // a group of its own
            ChannelGroup alone = new ChannelGroup(domain, 1);
            return new Membership(alone, alone.join(0));
        }
        Name name = new Name(domain, params.id(), params.group());
        ChannelGroup group;
        IreeException different;
        synchronized (FORMING) {
            group = FORMING.computeIfAbsent(name, n -> new ChannelGroup(domain, count));
            different = group.count() == count ? null : different(params, group.count());
            if (different == null) {
                int rank = group.join(params.rank());
                if (rank < 0) {
                    throw new IreeException(
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
        return new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "channel '%s' is joined with a count of %d by one participant and %d by another"
                        .formatted(params.id(), params.count(), count));
    }

    /** A group has failed: the next participant to join under its name creates another. */
    static void ended(ChannelGroup group) {
        synchronized (FORMING) {
            FORMING.values().removeIf(each -> each == group);
        }
    }
}
