package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.GeneratorStatistics;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The meters of text generation, all with the tag {@code gen_ai.request.model}. Timers are of requests. */
enum GenerationMeters implements MeterDocumentation {
    FIRST_TOKEN(
            "gen_ai.server.time_to_first_token",
            "Time from the submission of a request to its first token.",
            Meter.Type.TIMER),
    NEXT_TOKEN(
            "gen_ai.server.time_per_output_token",
            "Mean time between the tokens of a successful request.",
            Meter.Type.TIMER),
    DURATION(
            "gen_ai.server.request.duration",
            "Time from the submission of a request to its last token or its failure, which `error.type` names.",
            Meter.Type.TIMER),
    DELAY(
            "iree.generation.delay",
            "Parts of the time until a token: `token` is `first`, or `slowest` for the longest time between two tokens of a request; `part` is `own`, `waiting`, `prefills`, `decodes`, or `rest`.",
            Meter.Type.TIMER),
    PAGES_USED(
            "iree.generation.pages",
            "Pages of the cache, without the page for padding; `state` is `used`, `kept` for later prompts, or `free`.",
            Meter.Type.GAUGE,
            "state",
            "used",
            each -> each.pages() - each.freePages() - each.keptPages()),
    PAGES_KEPT(PAGES_USED, "kept", GeneratorStatistics::keptPages),
    PAGES_FREE(PAGES_USED, "free", GeneratorStatistics::freePages),
    RUNNING(
            "iree.generation.sequences",
            "Unfinished requests; `state` is `running` with pages, or `waiting` for pages or for a row of the decode function.",
            Meter.Type.GAUGE,
            "state",
            "running",
            GeneratorStatistics::running),
    WAITING(RUNNING, "waiting", GeneratorStatistics::waiting),
    PREFILLS(
            "iree.generation.steps",
            "Steps; `kind` is `prefill` for prompts, or `decode` for the next tokens of sequences.",
            Meter.Type.COUNTER,
            "kind",
            "prefill",
            GeneratorStatistics::prefillSteps),
    DECODES(PREFILLS, "decode", GeneratorStatistics::decodeSteps),
    PROMPT_TOKENS(
            "iree.generation.tokens",
            "Tokens; `kind` is `prompt`, `shared` for tokens of prompts found in the cache, `generated`, `proposed`, or `accepted` for right proposals.",
            Meter.Type.COUNTER,
            "kind",
            "prompt",
            GeneratorStatistics::promptTokens),
    SHARED_TOKENS(PROMPT_TOKENS, "shared", GeneratorStatistics::sharedTokens),
    GENERATED_TOKENS(PROMPT_TOKENS, "generated", GeneratorStatistics::generatedTokens),
    PROPOSED_TOKENS(PROMPT_TOKENS, "proposed", GeneratorStatistics::proposedTokens),
    ACCEPTED_TOKENS(PROMPT_TOKENS, "accepted", GeneratorStatistics::acceptedTokens),
    PAUSED(
            "iree.generation.paused",
            "Decode steps without a search for proposals, since proposals did not pay.",
            Meter.Type.COUNTER,
            null,
            "",
            GeneratorStatistics::pausedSteps),
    PREEMPTIONS(
            "iree.generation.preemptions",
            "Sequences that lost their pages to a sequence that began earlier.",
            Meter.Type.COUNTER,
            null,
            "",
            GeneratorStatistics::preemptions),
    RESTORED(
            "iree.generation.restored",
            "Pages copied back from the memory of the host.",
            Meter.Type.COUNTER,
            null,
            "",
            GeneratorStatistics::restoredPages);

    private final String meterName;
    private final String description;
    private final Meter.Type type;
    private final @Nullable String key;
    private final String tagValue;
    private final @Nullable ToLongFunction<GeneratorStatistics> value;

    GenerationMeters(String meterName, String description, Meter.Type type) {
        this(meterName, description, type, null, "", null);
    }

    GenerationMeters(GenerationMeters other, String tagValue, ToLongFunction<GeneratorStatistics> value) {
        this(other.meterName, other.description, other.type, other.key, tagValue, value);
    }

    GenerationMeters(
            String meterName,
            String description,
            Meter.Type type,
            @Nullable String key,
            String tagValue,
            @Nullable ToLongFunction<GeneratorStatistics> value) {
        this.meterName = meterName;
        this.description = description;
        this.type = type;
        this.key = key;
        this.tagValue = tagValue;
        this.value = value;
    }

    @Override
    public String getName() {
        return meterName;
    }

    @Override
    public Meter.Type getType() {
        return type;
    }

    String description() {
        return description;
    }

    /** Returns the key of the meter's own tag, or null. */
    @Nullable
    String key() {
        return key;
    }

    String tagValue() {
        return tagValue;
    }

    /** Returns the value among a generator's statistics; null for times of requests. */
    @Nullable
    ToLongFunction<GeneratorStatistics> value() {
        return value;
    }
}
