package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.spring.ai.ChatEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;
import tools.jackson.databind.JsonNode;

/**
 * The parameters that chat completions and completions share.
 *
 * @param choices number of answers to each prompt
 * @param stream whether the answer is a stream of events
 * @param usage whether a stream ends with its usage
 * @param stops texts that end an answer
 * @param maxTokens maximum number of tokens of an answer; null for the default
 * @param sampling the choice of tokens of the first answer
 * @param tenant the tenant of the request; empty for none
 */
record GenerationParameters(
        int choices,
        boolean stream,
        boolean usage,
        List<String> stops,
        @Nullable Integer maxTokens,
        SamplingOptions sampling,
        String tenant) {

    /** Maximum number of answers of a request. */
    static final int MOST_CHOICES = 32;

    private static final int MOST_STOPS = 4;
    private static final int MOST_STOP_LENGTH = 1024;
    private static final int MOST_USER_LENGTH = 256;
    private static final int MOST_BIASES = 1024;
    private static final double LEAST_REPETITION = 0.01;

    /** Maximum number of the most probable tokens with log probabilities. */
    static final int MOST_ALTERNATIVES = 20;

    /** Parameters that change no answer. */
    private static final Set<String> IGNORED = Set.of(
            "metadata", "store", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "service_tier");

    /**
     * Reads the parameters of a request.
     *
     * @param request the body
     * @param engine has the defaults
     * @param alternatives number of the most probable tokens whose log probabilities are requested; null for no log
     *     probabilities
     * @param constraint what the text must be; null for any text
     * @param tenant the tenant; null for the user of the request
     */
    static GenerationParameters read(
            RequestObject request,
            ChatEngine engine,
            @Nullable Long alternatives,
            @Nullable TokenConstraint constraint,
            @Nullable String tenant) {
        checkModel(request, engine.model());
        request.ignore(IGNORED);
        boolean stream = request.flag("stream", false);
        boolean usage = false;
        RequestObject streaming = request.object("stream_options");
        if (streaming != null) {
            if (!stream) {
                throw request.invalid("stream_options", "needs 'stream': true");
            }
            usage = streaming.flag("include_usage", false);
            streaming.ignore(Set.of("include_obfuscation"));
            streaming.refuseOthers();
        }
        String user = user(request);
        Long choices = request.whole("n", 1, MOST_CHOICES);
        return new GenerationParameters(
                choices == null ? 1 : choices.intValue(),
                stream,
                usage,
                stops(request),
                maxTokens(request),
                sampling(request, engine, alternatives).constraint(constraint).build(),
                tenant == null ? user : tenant);
    }

    private static String user(RequestObject request) {
        String user = request.text("user");
        if (user != null && user.length() > MOST_USER_LENGTH) {
            throw request.invalid("user", "must have at most %d characters".formatted(MOST_USER_LENGTH));
        }
        return user == null ? "" : user;
    }

    /** Refuses a request for another model. A request without a model's name is for the model. */
    static void checkModel(RequestObject request, String model) {
        String wanted = request.text("model");
        if (wanted != null && !wanted.equals(model)) {
            throw RequestFault.notFound(
                    "model",
                    "model_not_found",
                    "there is no model '%s' for this request; there is '%s'"
                            .formatted(RequestFault.shortened(wanted), model));
        }
    }

    private static @Nullable Integer maxTokens(RequestObject request) {
        Long older = request.whole("max_tokens", 1, Integer.MAX_VALUE);
        Long newer = request.whole("max_completion_tokens", 1, Integer.MAX_VALUE);
        if (older != null && newer != null && !older.equals(newer)) {
            throw request.invalid("max_tokens", "differs from 'max_completion_tokens'; give one of them");
        }
        Long most = newer != null ? newer : older;
        return most == null ? null : most.intValue();
    }

    private static List<String> stops(RequestObject request) {
        JsonNode value = request.get("stop");
        if (value == null) {
            return List.of();
        }
        List<JsonNode> each = value.isString() ? List.of(value) : request.list("stop", MOST_STOPS);
        List<String> stops = new ArrayList<>();
        for (JsonNode stop : each == null ? List.<JsonNode>of() : each) {
            if (!stop.isString()
                    || stop.stringValue().isEmpty()
                    || stop.stringValue().length() > MOST_STOP_LENGTH) {
                throw request.invalid(
                        "stop",
                        "must be a string, or a list of strings, of 1 to %d characters".formatted(MOST_STOP_LENGTH));
            }
            stops.add(stop.stringValue());
        }
        return stops;
    }

    private static SamplingOptions.Builder sampling(
            RequestObject request, ChatEngine engine, @Nullable Long alternatives) {
        SamplingOptions.Builder sampling = engine.sampling();
        Double temperature = request.number("temperature", 0, 2);
        if (temperature != null) {
            sampling.temperature(temperature.floatValue());
        }
        Double topP = request.number("top_p", 0, 1);
        if (topP != null) {
            if (topP.floatValue() == 0) {
                throw request.invalid(
                        "top_p", "must be greater than 0; for the most probable token use 'temperature': 0");
            }
            sampling.topP(topP.floatValue());
        }
        Long topK = request.whole("top_k", 0, Integer.MAX_VALUE);
        if (topK != null) {
            sampling.topK(topK.intValue());
        }
        Double minP = request.number("min_p", 0, 1);
        if (minP != null) {
            sampling.minP(minP.floatValue());
        }
        Double frequency = request.number("frequency_penalty", -2, 2);
        if (frequency != null) {
            sampling.frequencyPenalty(frequency.floatValue());
        }
        Double presence = request.number("presence_penalty", -2, 2);
        if (presence != null) {
            sampling.presencePenalty(presence.floatValue());
        }
        Double repetition = request.number("repetition_penalty", LEAST_REPETITION, 2);
        if (repetition != null) {
            sampling.repetitionPenalty(repetition.floatValue());
        }
        sampling.logitBias(bias(request));
        if (alternatives != null) {
            sampling.logProbabilities(alternatives.intValue());
        }
        Long seed = request.whole("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        if (seed != null) {
            sampling.seed(seed);
        }
        return sampling;
    }

    private static Map<Integer, Float> bias(RequestObject request) {
        JsonNode given = request.get("logit_bias");
        if (given == null) {
            return Map.of();
        }
        if (!given.isObject() || given.size() > MOST_BIASES) {
            throw request.invalid(
                    "logit_bias", "must be an object with at most %d numbers by token".formatted(MOST_BIASES));
        }
        Map<Integer, Float> bias = new HashMap<>();
        for (Map.Entry<String, JsonNode> each : given.properties()) {
            double value = each.getValue().asDouble(Double.NaN);
            if (!each.getKey().matches("0|[1-9]\\d{0,8}") || !each.getValue().isNumber() || !(Math.abs(value) <= 100)) {
                throw request.invalid("logit_bias", "must have numbers from -100 to 100 by the numbers of tokens");
            }
            bias.put(Integer.valueOf(each.getKey()), (float) value);
        }
        return bias;
    }

    /** Returns these parameters with a rule for the text of all answers. */
    GenerationParameters constrained(TokenConstraint constraint) {
        return new GenerationParameters(
                choices,
                stream,
                usage,
                stops,
                maxTokens,
                sampling.toBuilder().constraint(constraint).build(),
                tenant);
    }

    /** Returns the requests of a prompt, one for each answer; the seeds follow the seed of the first. */
    List<ChatEngine.Request> requests(
            int[] prompt,
            Set<String> tools,
            int toolCalls,
            boolean isCall,
            @Nullable Deadline deadline,
            AiOperationType operation) {
        List<ChatEngine.Request> requests = new ArrayList<>(choices);
        for (int i = 0; i < choices; i++) {
            requests.add(new ChatEngine.Request(
                    prompt,
                    tools,
                    toolCalls,
                    isCall,
                    stops,
                    maxTokens,
                    i == 0
                            ? sampling
                            : sampling.toBuilder().seed(sampling.seed() + i).build(),
                    deadline,
                    tenant,
                    operation));
        }
        return requests;
    }
}
