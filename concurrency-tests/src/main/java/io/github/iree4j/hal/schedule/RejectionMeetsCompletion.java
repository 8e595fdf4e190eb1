package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.SchedulingDomain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * Claim: a draft rejected while completing is over or cancelled; in either case the dependents are cancelled unless run
 * before, and the verifier never cancels itself. A second rejection finds nothing missed by the first.
 *
 * <p>SPEC-1: the rejection and the end of the draft are ordered.
 */
@JCStressTest
@Outcome(id = "ran, ran, 0", expect = Expect.ACCEPTABLE, desc = "draft and dependent ended before the rejection")
@Outcome(
        id = "ran, (ran but failed|did not run): CANCELLED, 0",
        expect = Expect.ACCEPTABLE,
        desc = "the draft ended before the rejection, the dependent did not")
@Outcome(
        id = "ran but failed: CANCELLED, did not run: CANCELLED, 0",
        expect = Expect.ACCEPTABLE,
        desc = "rejected while it ran")
@Outcome(expect = Expect.FORBIDDEN, desc = "the dependent of a rejected draft ran, or something ended twice or never")
@State
public class RejectionMeetsCompletion {
    private final SchedulingDomain domain = ManualQueue.domain();
    private final ManualQueue drafts = ManualQueue.stream(domain);
    private final ManualQueue verifiers = ManualQueue.stream(domain);
    private final ManualQueue users = ManualQueue.unordered(domain);
    private final SpeculationScope scope =
            SpeculationScope.open(domain, drafts.scheduler.axis(), domain, verifiers.scheduler.axis());
    private final CountedOperation draft = drafts.submit(null);
    private final CountedOperation user = users.submit(draft.signal);

    /** For jcstress. */
    public RejectionMeetsCompletion() {}

    /** The hardware completes the draft, and the dependent if issued. */
    @Actor
    public void hardware() {
        drafts.complete(null);
        users.complete(null);
    }

    /** The verifier rejects the draft. */
    @Actor
    public void verifier() {
        scope.reject(1);
    }

    /** The outcomes of the draft and the dependent, and the finds of another rejection. */
    @Arbiter
    public void outcome(LLL_Result r) {
        users.complete(null);
        r.r1 = draft.outcome();
        r.r2 = user.outcome();
        r.r3 = scope.reject(1);
    }
}
