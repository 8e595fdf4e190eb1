package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorStatistics;
import io.github.iree4j.generation.TokenDelay;
import io.github.iree4j.status.IreeException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;

/**
 * Meters of a chat model's generator, and of requests by the names of
 * <a href="https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/">OpenTelemetry</a>. Counters begin again
 * when the program is replaced.
 */
@NotForApplications
public final class IreeChatMetrics implements MeterBinder {
    private static final String MODEL = "gen_ai.request.model";
    private static final String RESPONSE_MODEL = "gen_ai.response.model";
    private static final String PROVIDER = "gen_ai.provider.name";
    private static final String OPERATION = "gen_ai.operation.name";

    private final TokenSource source;
    private final String model;

    /**
     * Creates the meters.
     *
     * @param model has the generator
     */
    public IreeChatMetrics(IreeChatModel model) {
        this(model.engine().source(), model.model());
    }

    IreeChatMetrics(TokenSource source, String model) {
        this.source = source;
        this.model = model;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (GenerationMeters meter : GenerationMeters.values()) {
            ToLongFunction<GeneratorStatistics> value = meter.value();
            if (value != null) {
                bind(meter, value, registry);
            }
        }
        source.listen((generation, operation, duration, failure) ->
                record(registry, generation, operation, duration, failure));
    }

    private void bind(GenerationMeters meter, ToLongFunction<GeneratorStatistics> value, MeterRegistry registry) {
        ToDoubleFunction<TokenSource> read = of -> of.generator()
                .map(Generator::statistics)
                .map(value::applyAsLong)
                .orElse(0L);
        Tags tags = Tags.of(MODEL, model);
        if (meter.key() != null) {
            tags = tags.and(meter.key(), meter.tagValue());
        }
        if (meter.getType() == Meter.Type.GAUGE) {
            Gauge.builder(meter.getName(), source, read)
                    .description(meter.description())
                    .tags(tags)
                    .register(registry);
        } else {
            FunctionCounter.builder(meter.getName(), source, read)
                    .description(meter.description())
                    .tags(tags)
                    .register(registry);
        }
    }

    private void record(
            MeterRegistry registry,
            Generation generation,
            AiOperationType operation,
            Duration duration,
            @Nullable Throwable failure) {
        Tags tags = Tags.of(
                MODEL, model, RESPONSE_MODEL, model, PROVIDER, IreeChatModel.PROVIDER, OPERATION, operation.value());
        generation
                .timeToFirstToken()
                .ifPresent(time ->
                        timer(GenerationMeters.FIRST_TOKEN, tags, registry).record(time));
        if (failure == null) {
            generation
                    .timePerToken()
                    .ifPresent(time ->
                            timer(GenerationMeters.NEXT_TOKEN, tags, registry).record(time));
        }
        timer(GenerationMeters.DURATION, tags.and("error.type", errorType(failure)), registry)
                .record(duration);
        generation.firstDelay().ifPresent(delay -> record(registry, "first", delay));
        generation.slowestDelay().ifPresent(delay -> record(registry, "slowest", delay));
    }

    private void record(MeterRegistry registry, String token, TokenDelay delay) {
        record(registry, token, "own", delay.own());
        record(registry, token, "waiting", delay.waiting());
        record(registry, token, "prefills", delay.prefills());
        record(registry, token, "decodes", delay.decodes());
        record(
                registry,
                token,
                "rest",
                delay.time()
                        .minus(delay.own())
                        .minus(delay.waiting())
                        .minus(delay.prefills())
                        .minus(delay.decodes()));
    }

    private void record(MeterRegistry registry, String token, String part, Duration time) {
        Tags tags = Tags.of(MODEL, model, "token", token, "part", part);
        timer(GenerationMeters.DELAY, tags, registry).record(time);
    }

    private static Timer timer(GenerationMeters meter, Tags tags, MeterRegistry registry) {
        return Timer.builder(meter.getName())
                .description(meter.description())
                .tags(tags)
                .register(registry);
    }

    /** Returns a status code, or a value for no failure: registries want the same keys for each meter. */
    private static String errorType(@Nullable Throwable failure) {
        return switch (failure) {
            case null -> "none";
            case CancellationException _ -> "CANCELLED";
            case IreeException e -> e.code().name();
            default -> "INTERNAL";
        };
    }
}
