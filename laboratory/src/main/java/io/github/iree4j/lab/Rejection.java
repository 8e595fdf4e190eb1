package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.hal.schedule.SpeculationScope;
import io.github.iree4j.lab.LabRun.Work;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Predicate;

/** A verification that finds its draft wrong, with the scope of speculation. Confined to the thread of the run. */
final class Rejection implements AutoCloseable {
    final Work verification;
    final Work draft;
    private final LabRun run;
    private final SpeculationScope scope;
    private final BitSet cancelled = new BitSet(); // by operation, once made
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

    /**
     * Cancels the incomplete work standing on the draft, unless the verification has failed. The scope knows submitted
     * operations alone: an operation verified only through a later submission is not yet verified.
     */
    void make() {
        if (verification.cause == null && draft.epoch > 0) { // else another signal has overtaken the draft's
            made = true;
            BitSet standing = submittedBehind(this::isBehindDraft);
            cancelled.or(standing);
            cancelled.andNot(
                    submittedBehind(each -> queueOf(each) == queueOf(verification) && standing.get(each.index)));
            scope.reject(draft.epoch);
        }
    }

    /** Returns whether the verification has rejected its draft, rather than failed or not run. */
    boolean isMade() {
        return made;
    }

    /** Returns whether the rejection is made, and cancels an operation unless the operation was complete. */
    boolean reaches(Work work) {
        return cancelled.get(work.index);
    }

    /** Returns the submitted operations with a property, and the submitted operations behind these by waits. */
    private BitSet submittedBehind(Predicate<Work> property) {
        BitSet all = new BitSet();
        for (int each : run.graph.order()) {
            Work work = run.works.get(each);
            all.set(
                    each,
                    work.isSubmitted
                            && (property.test(work)
                                    || Arrays.stream(run.graph.producers(each)).anyMatch(all::get)));
        }
        return all;
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
