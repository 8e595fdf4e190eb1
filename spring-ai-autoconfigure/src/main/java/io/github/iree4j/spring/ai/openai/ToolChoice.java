package io.github.iree4j.spring.ai.openai;

import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Which tools an answer calls.
 *
 * @param tools the offered tools, as templates have them
 * @param isForced whether the answer is a call of one of these tools
 */
record ToolChoice(List<Map<String, Object>> tools, boolean isForced) {

    /**
     * Reads the choice of a request.
     *
     * @param request has the choice
     * @param tools all tools
     */
    static ToolChoice read(RequestObject request, List<Map<String, Object>> tools) {
        JsonNode choice = request.get("tool_choice");
        ToolChoice chosen = choice == null || choice.isString()
                ? of(request, choice == null ? "auto" : choice.stringValue(), tools)
                : named(request, tools);
        if (!request.flag("parallel_tool_calls", true) && !chosen.tools.isEmpty() && !chosen.isForced) {
            throw request.invalid(
                    "parallel_tool_calls",
                    "cannot be false without a 'tool_choice' that forces a call: the number of calls is the model's choice");
        }
        return chosen;
    }

    private static ToolChoice of(RequestObject request, String choice, List<Map<String, Object>> tools) {
        return switch (choice) {
            case "none" -> new ToolChoice(List.of(), false);
            case "auto" -> new ToolChoice(tools, false);
            case "required" -> {
                if (tools.isEmpty()) {
                    throw request.invalid("tool_choice", "is 'required', but there are no tools");
                }
                yield new ToolChoice(tools, true);
            }
            default -> throw request.invalid("tool_choice", "must be 'none', 'auto', 'required' or a function");
        };
    }

    private static ToolChoice named(RequestObject request, List<Map<String, Object>> tools) {
        RequestObject choice = request.object("tool_choice");
        RequestObject function = choice == null ? null : ChatRequestReader.function(choice);
        if (choice == null || function == null) {
            throw request.invalid("tool_choice", "must be 'none', 'auto', 'required' or a function");
        }
        String name = function.requireText("name");
        List<Map<String, Object>> named =
                tools.stream().filter(tool -> name(tool).equals(name)).toList();
        if (named.isEmpty()) {
            throw function.invalid("name", "is the name of no tool of the request");
        }
        function.refuseOthers();
        choice.refuseOthers();
        return new ToolChoice(named, true);
    }

    private static String name(Map<String, Object> tool) {
        return tool.get("function") instanceof Map<?, ?> function ? String.valueOf(function.get("name")) : "";
    }
}
