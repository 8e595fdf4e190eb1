package io.github.iree4j.hal.collective;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A participant of a {@link ChannelGroup}; a channel from a split joins the new group later. */
public final class GroupChannel extends Channel {
    private final ChannelHost host;
    private final @Nullable TimelineSemaphore known; // of a split: reaches 1 once the group exists
    private final @Nullable Fence ready;
    private final Object lock = new Object();
    private volatile ChannelRegistry.@Nullable Membership membership; // written once, under lock
    private boolean gone; // guarded by lock

    GroupChannel(ChannelHost host, ChannelRegistry.Membership membership) {
        this.host = host;
        this.membership = membership;
        this.known = null;
        this.ready = null;
    }

    /** Creates a channel that gets a group with {@link #become}. */
    private GroupChannel(ChannelHost host) {
        this.host = host;
        this.known = TimelineSemaphore.create(0);
        this.ready = Fence.at(known, 1);
    }

    @Override
    public int rank() {
        return membership().rank();
    }

    @Override
    public int count() {
        return membership().group().count();
    }

    @Override
    public @Nullable Fence ready() {
        checkLive();
        return ready;
    }

    /**
     * Returns the group of the channel.
     *
     * @return the group
     * @throws IreeException FAILED_PRECONDITION before the channel is {@link #ready}; the cause when the channel will
     *     never be
     */
    public ChannelGroup group() {
        return membership().group();
    }

    /**
     * Returns the device.
     *
     * @return the device of the channel
     */
    public ChannelHost host() {
        return host;
    }

    private ChannelRegistry.Membership membership() {
        checkLive();
        ChannelRegistry.Membership now = membership;
        if (now != null) {
            return now;
        }
        IreeException failure = known == null ? null : known.failure();
        if (failure != null) {
            throw IreeException.of(failure.code(), failure.getMessage(), failure);
        }
        throw IreeException.of(
                StatusCode.FAILED_PRECONDITION,
                "channel has no rank before all participants have split; wait until it is ready");
    }

    @Override
    public @Nullable Channel split(int color, int key) {
        ChannelRegistry.Membership own = membership();
        if (color < NO_COLOR) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "channel color " + color + " is negative; " + NO_COLOR + " stands for no group");
        }
        if (own.group().spansProcesses()) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "a channel that spans processes is not split; make an id for each part with Device.createChannelId");
        }
        GroupChannel part = color == NO_COLOR ? null : host.adopt(new GroupChannel(host));
        try {
            own.group().arrive(own.group().split(own.rank()), new Split(color, key, part));
        } catch (IreeException e) {
            if (part != null) {
                part.close();
            }
            throw e;
        }
        return part;
    }

    /** A participant's arrival at a split. */
    private static final class Split extends Arrival {
        final int color;
        final int key;
        final @Nullable GroupChannel part;

        Split(int color, int key, @Nullable GroupChannel part) {
            super(Frontier.EMPTY);
            this.color = color;
            this.key = key;
            this.part = part;
        }

        @Override
        protected void over(@Nullable IreeException failure, Frontier outcome) {
            if (part != null) {
                part.known(failure, outcome);
            }
        }
    }

    /** Creates the groups of a split, given the participants by rank. */
    static void form(SchedulingDomain domain, CollectiveBackend backend, List<Arrival> arrivals) {
        TreeMap<Integer, List<Split>> byColor = new TreeMap<>();
        for (Arrival each : arrivals) {
            Split split = (Split) each;
            if (split.color == NO_COLOR) {
                continue;
            }
            byColor.computeIfAbsent(split.color, color -> new ArrayList<>()).add(split);
        }
        for (List<Split> members : byColor.values()) {
            members.sort(Comparator.comparingInt(split -> split.key)); // stable: by rank among equals
            ChannelGroup group = new ChannelGroup(domain, backend, members.size());
            for (Split each : members) {
                int rank = group.join(-1);
                if (each.part != null) {
                    each.part.become(new ChannelRegistry.Membership(group, rank));
                }
            }
        }
    }

    private void become(ChannelRegistry.Membership own) {
        boolean begun = false;
        synchronized (lock) {
            membership = own;
            if (!gone) {
                begun = true;
            }
        }
        if (!begun) {
            own.group().leave(own.rank());
            return;
        }
        IreeException cause = ChannelGroup.attempt(() -> host.joined(this));
        if (cause != null) {
            fail(cause);
        }
    }

    private void known(@Nullable IreeException failure, Frontier outcome) {
        TimelineSemaphore timeline = known;
        if (timeline == null) {
            return;
        }
        try {
            timeline.retain();
        } catch (IreeException e) {
            return; // closed: the rank is unused
        }
        if (failure == null) {
            timeline.signal(1, outcome);
        } else {
            timeline.fail(failure);
        }
        timeline.release();
    }

    /**
     * Fails the whole group, because this participant cannot continue.
     *
     * @param cause the cause
     */
    public void fail(IreeException cause) {
        ChannelRegistry.Membership own = membership;
        if (own != null) {
            own.group().fail(cause);
        }
    }

    @Override
    protected String describe() {
        return "channel";
    }

    @Override
    protected void destroy() {
        host.forget(this);
        ChannelRegistry.Membership own;
        synchronized (lock) {
            gone = true;
            own = membership;
        }
        if (own != null) {
            own.group().leave(own.rank());
        }
        if (ready != null && known != null) {
            ready.close();
            known.close();
        }
    }
}
