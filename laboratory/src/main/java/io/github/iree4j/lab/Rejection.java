package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.hal.schedule.SpeculationScope;
import io.github.iree4j.lab.LabRun.Work;

/** A verification that finds its draft wrong, with the scope of speculation. Confined to the thread of the run. */
final class Rejection implements AutoCloseable {
    final Work verification;
    final Work draft;
    private final LabRun run;
    private final SpeculationScope scope;
    private boolean made;

    private Rejection(LabRun run, Work verification, Work draft) {
        this.run = run;
        this.verification = verification;
        this.draft = draft;
        this.scope = SpeculationScope.open(
                run.queues.get(queueOf(draft)).queue(),
                run.queues.get(queueOf(verification)).queue());
    }

    /** Opens the scope of a rejection, before the operations of the run are submitted. */
    static Rejection open(LabRun run, Fault fault) {
        Work verification = run.works.stream()
                .filter(each -> each.operation.id().equals(fault.target()))
                .findFirst()
                .orElseThrow(() -> invalid("fault '%s' is of '%s', which is no operation; name the verifying operation"
                        .formatted(fault, fault.target())));
        for (int producer : run.graph.producers(verification.index)) {
            if (run.plan.queueOf[producer] != run.plan.queueOf[verification.index]) {
                return new Rejection(run, verification, run.works.get(producer));
            }
        }
        throw invalid(
                "fault '%s' is of operation '%s', which waits for no operation of another queue: there is no draft"
                        .formatted(fault, fault.target()));
    }

    /** Cancels the incomplete work standing on the draft, unless the verification has failed. */
    void make() {
        if (verification.cause == null) {
            made = true;
            scope.reject(draft.epoch);
        }
    }

    /** Returns whether the verification has rejected its draft, rather than failed or not run. */
    boolean isMade() {
        return made;
    }

    /** Returns whether the rejection is made, and an operation stands on the draft and is not verified. */
    boolean reaches(Work work) {
        return made && standsOnDraft(work) && !isVerified(work);
    }

    private boolean standsOnDraft(Work work) {
        return isBehindDraft(work)
                || run.graph.before(work.index).stream().anyMatch(each -> isBehindDraft(run.works.get(each)));
    }

    private boolean isVerified(Work work) {
        return isVerifying(work)
                || run.graph.before(work.index).stream().anyMatch(each -> isVerifying(run.works.get(each)));
    }

    private boolean isVerifying(Work work) {
        return queueOf(work) == queueOf(verification) && standsOnDraft(work);
    }

    /** Returns whether an operation is the draft, or behind the draft on the draft's queue. */
    private boolean isBehindDraft(Work work) {
        return queueOf(work) == queueOf(draft) && (work.epoch == 0 || work.epoch >= draft.epoch);
    }

    private int queueOf(Work work) {
        return run.plan.queueOf[work.index];
    }

    @Override
    public void close() {
        scope.close();
    }
}
