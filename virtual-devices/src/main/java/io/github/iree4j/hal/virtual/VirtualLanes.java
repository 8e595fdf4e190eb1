package io.github.iree4j.hal.virtual;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * Lanes of hardware shared by several FIFO queues: at most one operation runs on each lane. Operations ready at the
 * same time get the free lanes in the order of {@link VirtualScript#rank}, after all other events of that time; the
 * first free lane is taken first.
 *
 * <p>Sharing lanes orders nothing: an operation delayed by the lack of a lane is not ordered behind the previous
 * operation on the lane. Guarded by the clock's lock.
 */
public final class VirtualLanes {
    /** The largest number of lanes. */
    public static final int MAXIMUM_COUNT = 1024;

    private final VirtualClock clock;
    private final int count;
    private final BitSet taken = new BitSet();
    private final TreeSet<LaneRequest> ready =
            new TreeSet<>(Comparator.comparingLong(LaneRequest::rank).thenComparingLong(LaneRequest::arrival));
    private long arrivals;
    private boolean planned; // whether lanes are given at the end of the current time

    private VirtualLanes(VirtualClock clock, int count) {
        this.clock = clock;
        this.count = count;
    }

    /**
     * Creates free lanes.
     *
     * @param clock the clock of the devices sharing the lanes
     * @param count number of lanes, 1 to {@link #MAXIMUM_COUNT}
     * @return the lanes
     * @throws IreeException INVALID_ARGUMENT when the number is out of range
     */
    public static VirtualLanes create(VirtualClock clock, int count) {
        if (count < 1 || count > MAXIMUM_COUNT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%d lanes are not within [1, %d]".formatted(count, MAXIMUM_COUNT));
        }
        return new VirtualLanes(clock, count);
    }

    /** An operation waiting for a lane, or with a lane. */
    final class LaneRequest {
        private final long rank;
        private final long arrival;
        private final Runnable proceed;
        private int lane = -1;

        private LaneRequest(long rank, long arrival, Runnable proceed) {
            this.rank = rank;
            this.arrival = arrival;
            this.proceed = proceed;
        }

        private long rank() {
            return rank;
        }

        private long arrival() {
            return arrival;
        }

        /** Returns the lane; -1 without a lane. */
        int lane() {
            return lane;
        }

        /** Notes that the operation has ended, or will not run. Idempotent. */
        void leave() {
            ready.remove(this);
            if (lane >= 0) {
                taken.clear(lane);
                lane = -1;
                plan();
            }
        }
    }

    /** Requests a lane for a ready operation; runs the action, under no lock, when the operation has a lane. */
    LaneRequest await(long rank, Runnable proceed) {
        LaneRequest request = new LaneRequest(rank, arrivals++, proceed);
        ready.add(request);
        plan();
        return request;
    }

    private void plan() {
        if (!planned && !ready.isEmpty() && taken.cardinality() < count) {
            planned = true;
            clock.last(this::give);
        }
    }

    private void give() {
        List<LaneRequest> started = new ArrayList<>();
        synchronized (clock) {
            planned = false;
            while (!ready.isEmpty() && taken.cardinality() < count) {
                LaneRequest next = ready.removeFirst();
                next.lane = taken.nextClearBit(0);
                taken.set(next.lane);
                started.add(next);
            }
        }
        started.forEach(request -> request.proceed.run());
    }
}
