package io.github.iree4j.hal.schedule;

import io.github.iree4j.api.NotForApplications;

/**
 * The conclusions that a scheduler may draw about the waits of a stream. Fewer conclusions are correct, too: more waits are made.
 *
 * @param frontiers whether a wait implied by the frontier of the stream, or of another wait, is dropped
 * @param promises whether an operation waiting for a value without a promise is held back until the promise, not until the
 *     value
 */
@NotForApplications
public record WaitRules(boolean frontiers, boolean promises) {
    /** All conclusions: the rules of every device, except in measurements. */
    public static final WaitRules ALL = new WaitRules(true, true);
}
