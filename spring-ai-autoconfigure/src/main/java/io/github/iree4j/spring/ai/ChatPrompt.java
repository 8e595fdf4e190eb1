package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Messages and tools as the variables of a chat template.
 *
 * @param messages a map of each message, with {@code role} and {@code content}
 * @param tools a map of each tool, as OpenAI's interface describes functions
 * @param toolNames the names of the tools
 * @param toolCalls the number of the next call, for its id
 */
@NotForApplications
public record ChatPrompt(
        List<Map<String, Object>> messages, List<Map<String, Object>> tools, Set<String> toolNames, int toolCalls) {

    private static final Pattern ID = Pattern.compile(ToolCallParser.ID + "\\d{1,9}");

    /**
     * Translates a prompt.
     *
     * @throws IreeException INVALID_ARGUMENT for no messages, messages with media, and schemas that are no JSON objects
     */
    static ChatPrompt of(List<Message> instructions, List<ToolCallback> callbacks) {
        if (instructions.isEmpty()) {
            throw invalid("the prompt has no messages; give a message or more");
        }
        List<Map<String, Object>> messages = new ArrayList<>();
        int next = 0;
        for (Message each : instructions) {
            if (each instanceof MediaContent content && !content.getMedia().isEmpty()) {
                throw invalid("a message has media, but the model reads text only");
            }
            switch (each) {
                case ToolResponseMessage answers ->
                    answers.getResponses()
                            .forEach(answer -> messages.add(variables(
                                    "role", "tool",
                                    "name", answer.name(),
                                    "tool_call_id", answer.id(),
                                    "content", answer.responseData())));
                case AssistantMessage said
                when said.hasToolCalls() -> {
                    for (ToolCall call : said.getToolCalls()) {
                        next = nextCall(next, call.id());
                    }
                    Map<String, Object> message = variables("role", "assistant", "content", text(said));
                    message.put(
                            "tool_calls",
                            said.getToolCalls().stream().map(ChatPrompt::call).toList());
                    messages.add(message);
                }
                default -> messages.add(variables("role", each.getMessageType().getValue(), "content", text(each)));
            }
        }
        List<ToolDefinition> definitions =
                callbacks.stream().map(ToolCallback::getToolDefinition).toList();
        return new ChatPrompt(
                messages,
                definitions.stream().map(ChatPrompt::tool).toList(),
                definitions.stream().map(ToolDefinition::name).collect(Collectors.toUnmodifiableSet()),
                next);
    }

    /**
     * Returns the number of the next call, so that no id of a conversation occurs twice, even if the conversation has lost
     * its first messages.
     *
     * @param next the number so far
     * @param id the id of a call in the messages
     * @return a higher number
     */
    public static int nextCall(int next, String id) {
        return ID.matcher(id).matches()
                ? Math.max(next, Integer.parseInt(id, ToolCallParser.ID.length(), id.length(), 10)) + 1
                : next + 1;
    }

    private static String text(Message message) {
        String text = message.getText();
        return text == null ? "" : text;
    }

    private static Map<String, Object> call(ToolCall call) {
        return variables(
                "id", call.id(),
                "type", "function",
                "function",
                        variables(
                                "name", call.name(), "arguments", object(call.arguments(), "arguments", call.name())));
    }

    private static Map<String, Object> tool(ToolDefinition tool) {
        return variables(
                "type",
                "function",
                "function",
                variables(
                        "name", tool.name(),
                        "description", tool.description(),
                        "parameters", object(tool.inputSchema(), "schema", tool.name())));
    }

    private static Map<?, ?> object(String json, String what, String tool) {
        try {
            return JsonMapper.shared().readValue(json.isBlank() ? "{}" : json, Map.class);
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the %s of tool '%s' is no JSON object: %s".formatted(what, tool, e.getOriginalMessage()),
                    e);
        }
    }

    private static Map<String, Object> variables(Object... pairs) {
        Map<String, Object> variables = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            variables.put((String) pairs[i], pairs[i + 1]);
        }
        return variables;
    }

    private static IreeException invalid(String why) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, why);
    }
}
