package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.spring.ai.ChatPrompt;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;
import tools.jackson.databind.JsonNode;

/** Reads the body of a request for a chat completion. */
final class ChatRequestReader {
    private static final int MOST_MESSAGES = 10_000;
    private static final int MOST_PARTS = 1000;
    private static final int MOST_TOOLS = 128;
    private static final Pattern TOOL_NAME = Pattern.compile("[a-zA-Z0-9_-]{1,64}");

    private final RequestObject request;
    private final List<Map<String, Object>> messages = new ArrayList<>();
    private final Map<String, String> calls = new HashMap<>(); // the tool of each call, by id
    private final Set<String> toolNames = new LinkedHashSet<>();
    private int toolCalls;

    private ChatRequestReader(RequestObject request) {
        this.request = request;
    }

    /**
     * Reads a request.
     *
     * @param request the body
     * @param engine tokenizes the conversation
     * @param tenant the tenant; null for the parameter of the request
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for parameters that are wrong or not supported
     */
    static GenerationCall read(RequestObject request, ChatEngine engine, @Nullable String tenant) {
        return new ChatRequestReader(request).read(engine, tenant);
    }

    private GenerationCall read(ChatEngine engine, @Nullable String tenant) {
        GenerationParameters parameters =
                GenerationParameters.read(request, engine, readAlternatives(), readFormat(engine), tenant);
        List<RequestObject> given = request.objects("messages", MOST_MESSAGES);
        if (given == null || given.isEmpty()) {
            throw request.invalid("messages", "is missing or empty; give a message or more");
        }
        given.forEach(this::readMessage);
        ToolChoice choice = ToolChoice.read(request, readTools());
        boolean isCall = choice.isForced();
        if (!choice.tools().isEmpty() && parameters.sampling().constraint().isPresent()) {
            throw request.invalid(
                    "response_format", "and 'tools' cannot be followed together: JSON by a format calls no tools");
        }
        if (isCall) {
            parameters = parameters.constrained(callOf(choice, engine));
        }
        readModalities();
        request.refuseOthers();
        Set<String> names = choice.tools().isEmpty() ? Set.of() : toolNames;
        ChatPrompt prompt = new ChatPrompt(messages, choice.tools(), names, toolCalls);
        Deadline deadline = engine.begin(engine.settings().timeout());
        int[] tokens = isCall ? engine.encodeForCall(prompt) : engine.encode(prompt);
        return new GenerationCall(
                CompletionForm.CHAT,
                parameters,
                parameters.requests(tokens, names, toolCalls, isCall, deadline, AiOperationType.CHAT));
    }

    private TokenConstraint callOf(ToolChoice choice, ChatEngine engine) {
        try {
            return engine.callConstraint(choice.tools());
        } catch (IreeException e) {
            if (e.code() != StatusCode.INVALID_ARGUMENT) {
                throw e;
            }
            throw request.invalid("tools", "cannot be enforced, as 'tool_choice' asks: " + e.getMessage());
        }
    }

    /** Returns the number of tokens with log probabilities in each place; null for no log probabilities. */
    private @Nullable Long readAlternatives() {
        Long alternatives = request.whole("top_logprobs", 0, GenerationParameters.MOST_ALTERNATIVES);
        if (!request.flag("logprobs", false)) {
            if (alternatives != null && alternatives != 0) {
                throw request.invalid("top_logprobs", "needs 'logprobs': true");
            }
            return null;
        }
        return Objects.requireNonNullElse(alternatives, 0L);
    }

    private void readMessage(RequestObject message) {
        String role = message.requireText("role");
        Map<String, Object> variables = new LinkedHashMap<>();
        switch (role) {
            case "system", "developer" -> {
                variables.put("role", "system"); // templates know no developers
                variables.put("content", requireContent(message));
            }
            case "user" -> {
                variables.put("role", role);
                variables.put("content", requireContent(message));
            }
            case "assistant" -> {
                variables.put("role", role);
                List<Map<String, Object>> made = readCalls(message);
                String content = made.isEmpty() ? requireContent(message) : content(message);
                variables.put("content", Objects.requireNonNullElse(content, ""));
                if (!made.isEmpty()) {
                    variables.put("tool_calls", made);
                }
                message.ignore(Set.of("annotations"));
            }
            case "tool" -> {
                String id = message.requireText("tool_call_id");
                String tool = calls.get(id);
                if (tool == null) {
                    throw message.invalid("tool_call_id", "is the id of no call in the messages before");
                }
                variables.put("role", role);
                variables.put("name", tool);
                variables.put("tool_call_id", id);
                variables.put("content", requireContent(message));
            }
            default -> throw message.invalid("role", "must be 'system', 'developer', 'user', 'assistant' or 'tool'");
        }
        String name = message.text("name");
        if (name != null) {
            variables.putIfAbsent("name", name);
        }
        message.refuseOthers();
        messages.add(variables);
    }

    private static String requireContent(RequestObject message) {
        String content = content(message);
        if (content == null) {
            throw message.invalid("content", "is missing; give a string or a list of parts of type 'text'");
        }
        return content;
    }

    /** Returns the text of a message, the parts of a list as lines; null when absent. */
    private static @Nullable String content(RequestObject message) {
        JsonNode content = message.get("content");
        if (content == null || content.isString()) {
            return content == null ? null : content.stringValue();
        }
        if (!content.isArray()) {
            throw message.invalid("content", "must be a string or a list of parts");
        }
        StringJoiner text = new StringJoiner("\n");
        for (RequestObject part : Objects.requireNonNull(message.objects("content", MOST_PARTS))) {
            if (!part.requireText("type").equals("text")) {
                throw part.invalid("type", "must be 'text': the model reads nothing else");
            }
            text.add(part.requireText("text"));
            part.refuseOthers();
        }
        return text.toString();
    }

    private List<Map<String, Object>> readCalls(RequestObject message) {
        List<RequestObject> given = message.objects("tool_calls", MOST_TOOLS);
        List<Map<String, Object>> made = new ArrayList<>();
        for (RequestObject call : given == null ? List.<RequestObject>of() : given) {
            RequestObject function = function(call);
            String id = call.requireText("id");
            String name = function.requireText("name");
            Map<?, ?> arguments = function.parsed("arguments");
            calls.put(id, name);
            toolCalls = ChatPrompt.nextCall(toolCalls, id);
            made.add(variables(
                    "id", id, "type", "function", "function", variables("name", name, "arguments", arguments)));
            function.refuseOthers();
            call.ignore(Set.of("index"));
            call.refuseOthers();
        }
        return made;
    }

    static RequestObject function(RequestObject of) {
        if (!of.requireText("type").equals("function")) {
            throw of.invalid("type", "must be 'function'");
        }
        RequestObject function = of.object("function");
        if (function == null) {
            throw of.invalid("function", "is missing");
        }
        return function;
    }

    private List<Map<String, Object>> readTools() {
        List<RequestObject> given = request.objects("tools", MOST_TOOLS);
        List<Map<String, Object>> tools = new ArrayList<>();
        for (RequestObject tool : given == null ? List.<RequestObject>of() : given) {
            RequestObject function = function(tool);
            String name = function.requireText("name");
            if (!TOOL_NAME.matcher(name).matches()) {
                throw function.invalid("name", "must have 1 to 64 letters, digits, '_' and '-'");
            }
            if (!toolNames.add(name)) {
                throw function.invalid("name", "is the name of another tool, too");
            }
            if (function.flag("strict", false)) {
                throw function.invalid("strict", "cannot be enforced; leave it out");
            }
            String description = function.text("description");
            Map<?, ?> parameters = function.map("parameters");
            tools.add(variables(
                    "type",
                    "function",
                    "function",
                    variables(
                            "name",
                            name,
                            "description",
                            Objects.requireNonNullElse(description, ""),
                            "parameters",
                            parameters != null ? parameters : variables("type", "object", "properties", Map.of()))));
            function.refuseOthers();
            tool.refuseOthers();
        }
        return tools;
    }

    /** Returns the rule for the answer; null for any text. */
    private @Nullable TokenConstraint readFormat(ChatEngine engine) {
        RequestObject format = request.object("response_format");
        if (format == null) {
            return null;
        }
        String type = format.requireText("type");
        RequestObject schema = null;
        String text = "";
        switch (type) {
            case "text", "json_object" -> {}
            case "json_schema" -> {
                schema = format.object("json_schema");
                JsonNode given = schema == null ? null : schema.get("schema");
                if (schema == null || given == null) {
                    throw format.invalid("json_schema", "must be an object with a 'schema'");
                }
                schema.checkNumbers("schema", given);
                text = given.toString();
                schema.ignore(Set.of("name", "description", "strict"));
                schema.refuseOthers();
            }
            default -> throw format.invalid("type", "must be 'text', 'json_object' or 'json_schema'");
        }
        format.refuseOthers();
        if (type.equals("text")) {
            return null;
        }
        try {
            return engine.constraint(text);
        } catch (IreeException e) {
            if (schema == null || e.code() != StatusCode.INVALID_ARGUMENT) {
                throw e;
            }
            throw schema.invalid("schema", "cannot be enforced: " + e.getMessage());
        }
    }

    private void readModalities() {
        List<JsonNode> modalities = request.list("modalities", 1);
        if (modalities != null
                && !modalities.stream().allMatch(each -> each.asString("").equals("text"))) {
            throw request.invalid("modalities", "must be ['text']: the model writes nothing else");
        }
    }

    private static Map<String, Object> variables(Object... pairs) {
        Map<String, Object> variables = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            variables.put((String) pairs[i], pairs[i + 1]);
        }
        return variables;
    }
}
