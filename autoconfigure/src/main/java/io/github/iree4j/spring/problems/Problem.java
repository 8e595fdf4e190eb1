package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/** A condition that keeps, or will keep, work from advancing. */
public sealed interface Problem
        permits UnsignalledFence,
                Deadlock,
                MemoryDeadlock,
                UnknownNeed,
                SlowConsumer,
                MemoryShortage,
                LostDevice,
                StarvedQueue,
                EndlessCall,
                ChangedFile,
                Leak,
                RefusedRequests {

    /** All kinds. */
    List<String> KINDS = List.of(
            "unsignalled-fence",
            "deadlock",
            "memory-deadlock",
            "unknown-need",
            "slow-consumer",
            "memory-shortage",
            "lost-device",
            "starved-queue",
            "endless-call",
            "changed-file",
            "leak",
            "refused-requests");

    /**
     * Returns the kind of problem.
     *
     * @return an element of {@link #KINDS}, for example {@code unsignalled-fence}; the value of a tag
     */
    String kind();

    /**
     * Returns the object with the problem; kind and subject identify the problem.
     *
     * @return for example {@code timeline 12 'tts'}
     */
    String subject();

    /**
     * Describes the problem in a sentence.
     *
     * @return for a log line
     */
    String summary();

    /**
     * Returns the affected work, each line with the awaited work, the oldest first.
     *
     * @return program, function, traces, state and waits
     */
    List<String> chain();

    /**
     * Returns the way from waiting work to a missing signal, or round a cycle of operations: work and awaited points in
     * turn, at last the missing signal, or the operation that closes the cycle.
     *
     * @return a description of each; empty for other problems
     */
    default List<String> links() {
        return List.of();
    }

    /**
     * Returns the recommended action.
     *
     * @return for an operator
     */
    String remedy();

    /**
     * Returns the duration of the effect on work.
     *
     * @return the time of the oldest affected work; zero without affected work
     */
    Duration since();

    /** Returns whether the other is the same problem, perhaps with other work affected. */
    default boolean isSame(Problem other) {
        return kind().equals(other.kind()) && subject().equals(other.subject());
    }
}
