package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.Generation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;

/** Receives ended generations. Called by the thread that ends the generation; must not block. */
@FunctionalInterface
interface GenerationListener {

    /**
     * Called once for each submitted generation.
     *
     * @param generation the ended generation
     * @param operation the operation in meters
     * @param duration time since the submission
     * @param failure null for a generation with a result
     */
    void ended(Generation generation, AiOperationType operation, Duration duration, @Nullable Throwable failure);
}
