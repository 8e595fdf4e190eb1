package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/** Something that keeps work from advancing, or will. */
public sealed interface Problem
        permits UnsignalledFence,
                MemoryKnot,
                SlowConsumer,
                LostDevice,
                StarvedQueue,
                EndlessCall,
                ChangedFile,
                Leak,
                RefusedRequests {

    /** All kinds. */
    List<String> KINDS = List.of(
            "unsignalled-fence",
            "memory-knot",
            "slow-consumer",
            "lost-device",
            "starved-queue",
            "endless-call",
            "changed-file",
            "leak",
            "refused-requests");

    /**
     * Returns the kind of problem.
     *
     * @return one of {@link #KINDS}, for example {@code unsignalled-fence}; the value of a tag
     */
    String kind();

    /**
     * Returns what has the problem; with the kind it identifies the problem.
     *
     * @return for example {@code timeline 12 'tts'}
     */
    String subject();

    /**
     * Describes it in a sentence.
     *
     * @return for a log line
     */
    String summary();

    /**
     * Returns the work that is affected, each line with what it waits for, the oldest first.
     *
     * @return program, function, traces, state and waits
     */
    List<String> chain();

    /**
     * Returns what to do about it.
     *
     * @return for an operator
     */
    String remedy();

    /**
     * Returns for how long work has been affected.
     *
     * @return the time of the oldest; zero when there is none
     */
    Duration since();

    /** Whether the other is the same problem, perhaps with other work affected. */
    default boolean isSame(Problem other) {
        return kind().equals(other.kind()) && subject().equals(other.subject());
    }
}
