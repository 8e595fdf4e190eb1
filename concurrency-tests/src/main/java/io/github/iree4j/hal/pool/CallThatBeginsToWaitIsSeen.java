package io.github.iree4j.hal.pool;

import io.github.iree4j.async.FrontierTracker;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;

/**
 * Claim: a call that begins to wait while a request joins the line has the line looked at, or the look that the request asks for finds it
 * waiting.
 *
 * <p>KNOT-1: one stores that it is suspended and loads how many are in line, the other the other way round.
 */
@JCStressTest
@Outcome(id = "1, true", expect = Expect.ACCEPTABLE, desc = "who joined finds it waiting")
@Outcome(id = "2, true", expect = Expect.ACCEPTABLE, desc = "both")
@Outcome(id = "2, false", expect = Expect.ACCEPTABLE, desc = "the call has the line looked at")
@Outcome(expect = Expect.FORBIDDEN, desc = "the line is not looked at again")
@State
public class CallThatBeginsToWaitIsSeen {
    private static final class Bytes extends Slab {
        Bytes(long size) {
            super(size, 64);
        }
    }

    private final AtomicInteger looks = new AtomicInteger(); // each asks whether something is under way
    private final MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
    private final PoolSet set;
    private boolean found;

    /** For jcstress. */
    public CallThatBeginsToWaitIsSeen() {
        SlabProvider bytes = new SlabProvider() {
            @Override
            public long alignment() {
                return 64;
            }

            @Override
            public Slab acquire(long size, long alignment) {
                return new Bytes(size);
            }

            @Override
            public void release(Slab slab) {}
        };
        set = PoolSet.builder(bytes, FrontierTracker.create())
                .budget(64)
                .busy(() -> looks.incrementAndGet() > 0)
                .pool(PoolOptions.fixedBlock("one block", 64, 1))
                .build();
        MemoryHolder before = call.enter();
        set.tryReserve(ReservationRequest.of(64));
        new MemoryHolder("another", new OperationsUnderWay())
                .leave(before); // this thread goes on to other states, and the call is not suspended
        looks.set(0);
    }

    /** The call has what there is, and begins to wait. */
    @Actor
    public void call() {
        call.leave(null);
    }

    /** Somebody else joins the line. */
    @Actor
    public void other() {
        set.reserve(ReservationRequest.of(64), (reservation, failure) -> {});
        found = call.isSuspended();
    }

    /** How often the line was looked at, and what the one who joined found. */
    @Arbiter
    public void outcome(IZ_Result r) {
        r.r1 = looks.get();
        r.r2 = found;
    }
}
