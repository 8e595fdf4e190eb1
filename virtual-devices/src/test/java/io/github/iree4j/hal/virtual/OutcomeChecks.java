package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.virtual.RandomProgram.Group;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Checks the ends of the steps of a finished program, and the failures. */
final class OutcomeChecks {
    private final RandomProgram program;
    private final List<TreeMap<Long, List<Step>>> signals;

    /** Of a program, with its signallers by timeline and value. */
    OutcomeChecks(RandomProgram program, List<TreeMap<Long, List<Step>>> signals) {
        this.program = program;
        this.signals = signals;
    }

    void check() {
        checkOutcomes();
        checkLoss();
        checkRefusals();
    }

    /** Everything ended; failures come from waits, the group, the device, or the step itself. */
    private void checkOutcomes() {
        Map<Group, Set<IreeException>> ofGroups = new HashMap<>();
        for (Step step : program.steps) {
            if (step.meeting != null) {
                ofGroups.computeIfAbsent(step.meeting.group, group -> new HashSet<>())
                        .addAll(causes(step));
            }
        }
        for (Step step : program.steps) {
            IreeException outcome = step.own.failure();
            if (outcome == null && !step.own.isReached(1)) {
                fail("never ended: " + step);
            }
            if (outcome == null) {
                if (hasFailedWait(step)) {
                    fail("a wait failed, but not the step: " + step);
                }
                if (step.hasFailed()) {
                    fail("failed without failed signals: " + step);
                }
                if (!step.last.isComplete()) {
                    fail("signalled and never completed: " + step);
                }
            } else {
                Set<IreeException> causes =
                        step.meeting == null ? causes(step) : ofGroups.getOrDefault(step.meeting.group, Set.of());
                if (!causes.contains(outcome)) {
                    fail("failed for no cause of its own or of its waits (" + outcome + "): " + step);
                }
            }
        }
    }

    private Set<IreeException> causes(Step step) {
        Set<IreeException> causes = new HashSet<>();
        for (Point wait : step.waits) {
            IreeException failure = program.timelines.get(wait.timeline()).failure();
            if (failure != null) {
                causes.add(failure);
            }
        }
        if (step.hasFailed() && step.failure != null) {
            causes.add(step.failure);
        }
        boolean onLost = step.device != null && step.device == program.lost;
        boolean withLost = step.meeting != null
                && step.meeting.group.members().stream().anyMatch(member -> member.device() == program.lost);
        if (onLost || withLost && program.lost != null) {
            causes.add(program.loss);
        }
        return causes;
    }

    private boolean hasFailedWait(Step step) {
        for (Point wait : step.waits) {
            TimelineSemaphore timeline = program.timelines.get(wait.timeline());
            if (timeline.failure() != null && timeline.value() < wait.value()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The axes of a lost device have failed with the cause, and no other axes have; timelines fail with a root cause.
     */
    private void checkLoss() {
        for (VirtualDevice device : program.devices) {
            for (int q = 0; q < device.queueCount(); q++) {
                IreeException failure = program.tracker.failure(device.queue(q).axis());
                if (failure != (device == program.lost ? program.loss : null)) {
                    fail("queue %d of %s has failed with %s".formatted(q, device.id(), failure));
                }
            }
        }
        boolean refusals = anyRefused();
        for (TimelineSemaphore timeline : program.timelines) {
            IreeException failure = timeline.failure();
            boolean root = failure == null
                    || failure == program.loss && program.lost != null
                    || failure == program.deadline
                    || refusals && failure.code() == StatusCode.INVALID_ARGUMENT;
            for (Step step : program.steps) {
                root |= step.hasFailed() && step.failure == failure;
            }
            if (!root) {
                fail("timeline failed without a root cause: " + failure);
            }
        }
    }

    /** A late signal, below the value of its timeline, failed the timeline; no other signal is refused. */
    private void checkRefusals() {
        for (int t = 0; t < signals.size(); t++) {
            TimelineSemaphore timeline = program.timelines.get(t);
            for (Map.Entry<Long, List<Step>> each : signals.get(t).entrySet()) {
                if (isRefused(t, each.getKey(), each.getValue()) && timeline.failure() == null) {
                    fail("value %d of timeline %d, already at %s, was refused without a failure: %s"
                            .formatted(each.getKey(), t, program.reached.get(t).keySet(), each.getValue()));
                }
            }
        }
    }

    private boolean isRefused(int timeline, long value, List<Step> together) {
        return !program.reached.get(timeline).containsKey(value)
                && together.stream().allMatch(step -> step.own.isReached(1));
    }

    private boolean anyRefused() {
        for (int t = 0; t < signals.size(); t++) {
            for (Map.Entry<Long, List<Step>> each : signals.get(t).entrySet()) {
                // Of several signals of the same value the first may be refused, and others never come.
                if (!program.reached.get(t).containsKey(each.getKey())
                        && each.getValue().stream().anyMatch(step -> step.own.isReached(1))) {
                    return true;
                }
            }
        }
        return false;
    }
}
