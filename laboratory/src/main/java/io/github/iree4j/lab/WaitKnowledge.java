package io.github.iree4j.lab;

import io.github.iree4j.hal.schedule.WaitRules;

/**
 * The knowledge of a virtual stream about its waits. Real devices use {@link #FRONTIERS}; the other constants exist to
 * measure the worth of frontiers. All are correct, and differ in the number of waits and in the moments at which the host must act.
 */
public enum WaitKnowledge {
    /** A wait is dropped when the frontier of the stream, or of another wait of the operation, implies the wait. */
    FRONTIERS(WaitRules.ALL),
    /** A wait is dropped only when the value is reached, or when the wait is for an earlier operation of the same stream. */
    TIMELINES(new WaitRules(false, true)),
    /**
     * As {@link #TIMELINES}, and nothing can be waited for until the producer is on its stream: an operation submitted
     * before its producer is held back until the host has seen the producer's end.
     */
    EVENTS(new WaitRules(false, false));

    final WaitRules rules;

    WaitKnowledge(WaitRules rules) {
        this.rules = rules;
    }
}
