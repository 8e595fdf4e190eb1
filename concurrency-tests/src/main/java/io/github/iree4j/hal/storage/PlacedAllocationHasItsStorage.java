package io.github.iree4j.hal.storage;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * Claim: a thread seeing the place of an allocation on a stream finds the storage of the allocation.
 *
 * <p>BUF-5: the storage is written before the place.
 */
@JCStressTest
@Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "no place was seen, or the storage was found")
@Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "an allocation with a place had no storage")
@State
public class PlacedAllocationHasItsStorage {
    private static final Frontier PLACE = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 0), 1);
    private static final Memory NONE = new Memory();

    private static final class Memory extends BufferStorage {
        Memory() {
            super(null);
        }
    }

    private static final class Allocation extends StoredBuffer<Memory> {
        volatile boolean wasMissing;

        Allocation() {
            super(0, 0, 0, 64, NONE, null, 0, false, null);
        }

        boolean hasPlace() {
            return allocation() != null;
        }

        @Override
        protected boolean isCommittedWhenIssued() {
            return true;
        }

        @Override
        protected void wipe(Memory freed) {
            if (freed == NONE) {
                wasMissing = true;
            }
        }

        @Override
        public Device device() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected MemorySegment hostBytes(long offset, long length) {
            return MemorySegment.NULL;
        }
    }

    private final Memory memory = new Memory();
    private final Allocation allocation = new Allocation();

    /** The issuing thread of the allocation. */
    @Actor
    public void issuer() {
        allocation.reserve(memory, PLACE);
    }

    /** A freeing thread of the allocation. */
    @Actor
    public void owner() {
        if (allocation.hasPlace()) {
            allocation.wipe();
        }
    }

    /**
     * Whether the owner found no storage.
     *
     * @param r whether the storage was missing
     */
    @Arbiter
    public void missing(Z_Result r) {
        r.r1 = allocation.wasMissing;
    }
}
