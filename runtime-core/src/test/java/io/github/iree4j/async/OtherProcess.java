package io.github.iree4j.async;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The second process of {@link EventChannelTest}: waits for value 1 of a timeline of the first, reports it by an event, sends an event of
 * its own, and ends with the first.
 */
final class OtherProcess {
    private static final Duration LONG =
            Duration.ofMinutes(5); // on an overloaded machine a JVM takes a minute to start

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
                    throw new AssertionError("an imported value is not tainted");
                }
                ours.signal(5);
            }
        }
    }
}
