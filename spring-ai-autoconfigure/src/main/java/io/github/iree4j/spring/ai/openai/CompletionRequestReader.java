package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.ai.ChatEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;
import tools.jackson.databind.JsonNode;

/** Reads the body of a request for completions of texts or tokens. */
final class CompletionRequestReader {
    private static final int MOST_TOKENS = 10_000_000;
    private static final String FORM = "must be a string, a list of strings, a list of tokens, or a list of such lists";

    private CompletionRequestReader() {}

    /**
     * Reads a request.
     *
     * @param request the body
     * @param engine tokenizes the prompts
     * @param tenant the tenant; null for the parameter of the request
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for parameters that are wrong or not supported
     */
    static GenerationCall read(RequestObject request, ChatEngine engine, @Nullable String tenant) {
        Long alternatives = request.whole("logprobs", 0, GenerationParameters.MOST_ALTERNATIVES);
        GenerationParameters parameters = GenerationParameters.read(request, engine, alternatives, null, tenant);
        List<JsonNode> prompts = prompts(request);
        if ((long) prompts.size() * parameters.choices() > GenerationParameters.MOST_CHOICES) {
            throw request.invalid(
                    "n",
                    "times the number of prompts, %d, is more than %d answers; send several requests"
                            .formatted(prompts.size(), GenerationParameters.MOST_CHOICES));
        }
        if (request.flag("echo", false)) {
            throw request.invalid("echo", "is not supported here; put the prompt in front of the answer");
        }
        request.refuse("suffix", "is not supported here: the model reads only what comes before");
        Long best = request.whole("best_of", 1, GenerationParameters.MOST_CHOICES);
        if (best != null && best != parameters.choices()) {
            throw request.invalid("best_of", "must be equal to 'n': all answers are returned");
        }
        request.refuseOthers();
        Deadline deadline = engine.begin(engine.settings().timeout());
        List<ChatEngine.Request> requests = new ArrayList<>();
        for (JsonNode prompt : prompts) {
            int[] tokens = prompt.isString() ? engine.encode(prompt.stringValue()) : tokens(request, prompt);
            if (tokens.length == 0) {
                throw request.invalid("prompt", "has no tokens; give a character or more");
            }
            requests.addAll(parameters.requests(tokens, Set.of(), 0, false, deadline, AiOperationType.TEXT_COMPLETION));
        }
        return new GenerationCall(CompletionForm.TEXT, parameters, requests);
    }

    /** Returns the prompts, each a string or a list of tokens. */
    private static List<JsonNode> prompts(RequestObject request) {
        JsonNode prompt = request.get("prompt");
        if (prompt == null) {
            throw request.invalid("prompt", "is missing; it " + FORM);
        }
        if (prompt.isString()) {
            return List.of(prompt);
        }
        if (!prompt.isArray() || prompt.isEmpty()) {
            throw request.invalid("prompt", FORM);
        }
        if (prompt.get(0).isNumber()) {
            return List.of(prompt);
        }
        return Objects.requireNonNull(request.list("prompt", GenerationParameters.MOST_CHOICES));
    }

    private static int[] tokens(RequestObject request, JsonNode prompt) {
        if (!prompt.isArray() || prompt.size() > MOST_TOKENS) {
            throw request.invalid("prompt", FORM);
        }
        int[] tokens = new int[prompt.size()];
        for (int i = 0; i < tokens.length; i++) {
            JsonNode token = prompt.get(i);
            if (!token.isIntegralNumber() || !token.canConvertToInt() || token.intValue() < 0) {
                throw request.invalid("prompt", FORM);
            }
            tokens[i] = token.intValue();
        }
        return tokens;
    }
}
