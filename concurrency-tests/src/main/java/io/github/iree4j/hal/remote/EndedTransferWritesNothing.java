package io.github.iree4j.hal.remote;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: after a transfer was given up, the memory stays unchanged, also while a chunk arrives; and the end is reported
 * once.
 *
 * <p>REMOTE-3: chunks are copied under the lock of the transfer, and ending takes the same lock.
 */
@JCStressTest
@Outcome(id = "0, 0, 1", expect = Expect.ACCEPTABLE, desc = "the chunk came late")
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "the chunk was in time")
@Outcome(expect = Expect.FORBIDDEN, desc = "written after the end, or ended twice")
@State
public class EndedTransferWritesNothing {
    private static final int BYTES = 256;

    private final StressPeer peer = new StressPeer();
    private final Transfers transfers = peer.session.transfers();
    private final byte[] target = new byte[BYTES];
    private final FrameReader chunk;
    private final AtomicInteger ends = new AtomicInteger();

    /** A transfer with a chunk about to arrive. */
    public EndedTransferWritesNothing() {
        byte[] ones = new byte[BYTES];
        Arrays.fill(ones, (byte) 1);
        chunk = StressPeer.frame(new FrameWriter(FrameType.DATA).u64(2).u64(0).bytes(ones));
        transfers.receive(2, 0, MemorySegment.ofArray(target), false, () -> null, _ -> ends.incrementAndGet());
    }

    /** The chunk arrives. */
    @Actor
    public void sender() {
        transfers.data(chunk);
    }

    /** The receiver gives up, and uses the memory. */
    @Actor
    public void receiver(III_Result r) {
        transfers.cancel(2);
        r.r1 = target[BYTES - 1];
    }

    /** The content of the memory. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r2 = target[BYTES - 1];
        r.r3 = ends.get();
    }
}
