package io.github.iree4j.flight;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a reader finds every record below the cut, whole, on any stripe, also on a stripe left by the writing thread.
 *
 * <p>REC-1: the number of a record is taken with the stripe held, and the reader takes the cut before copying each
 * stripe.
 */
@JCStressTest
@Outcome(
        id = {"0, 0", "1, 0", "2, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "all records below the cut")
@Outcome(expect = Expect.FORBIDDEN, desc = "a record below the cut is missing or torn")
@State
public class RecordsBelowTheCutAreThere {
    private final RecordRings rings = new RecordRings(2, 16, () -> 0);

    /** For jcstress. */
    public RecordsBelowTheCutAreThere() {}

    private void record(long stripe) {
        RecordRing ring = rings.hold(stripe << 20); // a stripe lasts 2^20 ns
        try {
            ring.begin(RecordType.HELD, 2, stripe);
            ring.put(7);
            ring.put(7);
        } finally {
            ring.release();
        }
    }

    /** Records on one stripe, then on the other. */
    @Actor
    public void writer() {
        record(1);
        record(0);
    }

    /** Numbers of records below the cut, missing and torn. */
    @Actor
    public void reader(II_Result r) {
        long cut = rings.cut();
        RecordWords found = rings.copy(0, cut);
        r.r1 = (int) cut;
        int whole = 0;
        for (int i = 0; i < found.count(); i++) {
            whole += found.word(i, 3) == 7 && found.word(i, 4) == 7 ? 1 : 0;
        }
        r.r2 = (int) cut - whole;
    }
}
