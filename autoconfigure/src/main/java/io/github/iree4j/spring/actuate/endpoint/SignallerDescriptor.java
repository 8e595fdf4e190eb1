package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.problems.ActiveCall;
import io.github.iree4j.spring.problems.QueueNames;
import io.github.iree4j.spring.problems.Signaller;
import io.github.iree4j.spring.problems.Signallers;

/**
 * A pending operation, or a call, that will signal a point.
 *
 * @param queue device and number of the operation's queue; empty for a call
 * @param operation the kind of operation; empty for a call
 * @param call the id of the call; 0 for an operation
 * @param program the program of the call, or of the call that submitted the operation; empty for none
 * @param function the function of this call, with the name of the module; empty for none
 */
public record SignallerDescriptor(String queue, String operation, long call, String program, String function) {
    static SignallerDescriptor of(Signaller signaller, QueueNames names) {
        return switch (signaller) {
            case Signallers.Submitted submitted ->
                new SignallerDescriptor(
                        names.name(submitted.queue().axis()),
                        submitted.operation().name(),
                        0,
                        submitted.operation().program(),
                        submitted.operation().function());
            case ActiveCall active ->
                new SignallerDescriptor(
                        "",
                        "",
                        active.call().id(),
                        active.program(),
                        active.call().function());
        };
    }
}
