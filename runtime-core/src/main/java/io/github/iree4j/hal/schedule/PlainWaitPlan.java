package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.frontier.MutableFrontier;

/** The decisions of a stream that knows nothing of frontiers: see {@link WaitKnowledge}. For measurements. */
final class PlainWaitPlan extends WaitPlan {
    private final boolean events;

    private PlainWaitPlan(FifoScheduler scheduler, boolean events) {
        super(scheduler);
        this.events = events;
    }

    /** Creates the plan of a stream. Here, so that this class is not loaded where nothing is measured. */
    static WaitPlan of(FifoScheduler scheduler, WaitKnowledge knowledge) {
        return new PlainWaitPlan(scheduler, knowledge == WaitKnowledge.EVENTS);
    }

    @Override
    WaitDecision decide(TimelineSemaphore semaphore, long value, int index, FrontierAccumulator accumulator) {
        WaitDecision decision = super.decide(semaphore, value, index, accumulator);
        return events && decision == WaitDecision.DEFERRED_UNKNOWN ? WaitDecision.DEFERRED_UNREACHED : decision;
    }

    @Override
    boolean isCovered(long producer, long epoch, FrontierAccumulator accumulator) {
        return false;
    }

    @Override
    void minimize() {}

    @Override
    void addTo(MutableFrontier after, FrontierTracker tracker) {}

    @Override
    void join(FrontierAccumulator accumulator, FrontierTracker tracker) {}
}
