package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a link that is cancelled while its source is signalled either signals its target or not, and holds no reference afterwards.
 *
 * <p>LINK-1: exactly one of the two happens.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "signalled the target; cancelled too late")
@Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "cancelled; the target was not signalled")
@Outcome(expect = Expect.FORBIDDEN, desc = "both, neither, or the target is still held")
@State
public class LinkSignalsOrIsTakenBack {
    private final TimelineSemaphore source = TimelineSemaphore.create(0);
    private final TimelineSemaphore target = TimelineSemaphore.create(0);
    private final Cancellation link = source.link(1, target, 1);
    private int cancelled;

    /** For jcstress. */
    public LinkSignalsOrIsTakenBack() {}

    /** Signals the source. */
    @Actor
    public void signaller() {
        source.signal(1);
    }

    /** Cancels the link. */
    @Actor
    public void canceller() {
        cancelled = link.cancel() ? 1 : 0;
    }

    /** Whether the target was signalled, the link cancelled, and the target still held once its creator has closed it. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = (int) target.value();
        r.r2 = cancelled;
        target.close();
        r.r3 = target.isLive() ? 1 : 0;
    }
}
