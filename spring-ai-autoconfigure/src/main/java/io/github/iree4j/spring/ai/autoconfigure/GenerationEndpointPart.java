package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorSnapshot;
import io.github.iree4j.generation.GeneratorStatistics;
import io.github.iree4j.spring.actuate.endpoint.EndpointPart;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.spring.ai.SlowToken;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** {@code /actuator/iree/generation}: the generator of the chat model, with sequences and pages. */
final class GenerationEndpointPart implements EndpointPart {
    private static final Duration LONGEST_WAIT = Duration.ofMillis(200);

    private final ChatEngine engine;

    /** Creates the part of an engine. */
    GenerationEndpointPart(ChatEngine engine) {
        this.engine = engine;
    }

    @Override
    public String name() {
        return "generation";
    }

    @Override
    public OperationResponseBody read() {
        return new GenerationDescriptor(
                engine.generator().map(this::state).stream().toList());
    }

    private ModelState state(Generator generator) {
        return new ModelState(
                engine.model(),
                generator.description().lines().toList(),
                generator.maximumTokens(),
                generator.statistics(),
                snapshot(generator),
                engine.slowTokens());
    }

    /** Returns the state between two steps, or null if the step in progress takes long. */
    private static @Nullable GeneratorSnapshot snapshot(Generator generator) {
        try {
            return generator.snapshot().get(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException | CompletionException | CancellationException e) {
            return null; // unknown: the step in progress is long, or the generator was closed
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /**
     * The response.
     *
     * @param models the models whose generators are open
     */
    record GenerationDescriptor(List<ModelState> models) implements OperationResponseBody {}

    /**
     * A model.
     *
     * @param model name of the module
     * @param description functions in use, and findings of the measurement at the start
     * @param maximumTokens most tokens of a sequence
     * @param statistics counters
     * @param state sequences and pages; null if the step in progress takes more than 200 ms
     * @param slowTokens the slowest tokens of the last 256 requests, up to 16, the slowest first
     */
    record ModelState(
            String model,
            List<String> description,
            int maximumTokens,
            GeneratorStatistics statistics,
            @Nullable GeneratorSnapshot state,
            List<SlowToken> slowTokens) {}
}
