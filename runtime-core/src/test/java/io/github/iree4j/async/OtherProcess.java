package io.github.iree4j.async;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What {@link EventChannelTest} runs as a second process: waits for value 1 of a timeline of the first and says so with an event, sends
 * an event of its own, and ends with the first.
 */
final class OtherProcess {
    private static final Duration LONG =
            Duration.ofMinutes(5); // on a machine that stops, a virtual machine takes a minute to start

    private OtherProcess() {}

    public static void main(String[] args) {
        try (EventChannel channel = EventChannel.connect(Path.of(args[0]));
                TimelineSemaphore theirs = TimelineSemaphore.create(0);
                TimelineSemaphore ours =
                        TimelineSemaphore.create(SemaphoreOptions.DEFAULT.withScope(SemaphoreScope.SYSTEM_WIDE));
                SystemEvent exported = ExternalTimepoints.exportEvent(ours, 5)) {
            channel.send(exported, 5);
            try (SystemEvent received = channel.receive(LONG).event()) {
                ExternalTimepoints.importEvent(received, theirs, 1);
                theirs.await(1, LONG);
                if (!theirs.isTainted(1)) {
                    throw new AssertionError("what came from outside is not tainted");
                }
                ours.signal(5);
            }
        }
    }
}
