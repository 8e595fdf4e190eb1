package io.github.iree4j.spring.ai;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Separates calls of tools, {@code <tool_call>{"name": …, "arguments": {…}}</tool_call>}, from the text of an answer that
 * arrives in pieces. The text of a call is held back until its end. Whatever is no valid call of an offered tool stays
 * text. Not thread-safe.
 */
final class ToolCallParser {
    static final String BEGIN = "<tool_call>";
    static final String ID = "call-"; // and a number
    private static final String END = "</tool_call>";

    private final Set<String> tools;
    private final int firstId;
    private String begin; // of the call, as far as it is in the answer
    private final List<ToolCall> calls = new ArrayList<>();
    private @Nullable StringBuilder call; // the text after the begin of a call
    private boolean skipping; // white space behind a call
    private StopMatcher text = new StopMatcher(List.of(BEGIN));

    /**
     * Creates a parser.
     *
     * @param tools names of the offered tools; without a name, everything is text
     * @param firstId number of the first call, for its id
     * @param begun whether the text is a call from the start, whose begin is in the prompt
     */
    ToolCallParser(Set<String> tools, int firstId, boolean begun) {
        this.tools = tools;
        this.firstId = firstId;
        this.begin = begun ? "" : BEGIN;
        this.call = begun ? new StringBuilder() : null;
    }

    /** Returns the calls found so far. */
    List<ToolCall> calls() {
        return List.copyOf(calls);
    }

    /** Adds a piece, and returns the text outside of calls. */
    String add(String piece) {
        if (tools.isEmpty()) {
            return piece;
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < piece.length(); i++) {
            char next = piece.charAt(i);
            if (call == null) {
                out.append(visible(text.add(String.valueOf(next))));
                if (text.isStopped()) {
                    call = new StringBuilder();
                    text = new StopMatcher(List.of(BEGIN));
                }
            } else {
                call.append(next);
                int end = call.length() - END.length();
                if (next == '>' && end >= 0 && call.indexOf(END, end) == end) {
                    String body = call.substring(0, end);
                    if (begin.isEmpty() && parse(body) == null) {
                        continue; // of a forced call: in a string of the arguments
                    }
                    call = null;
                    out.append(parsed(body, begin + body + END));
                    begin = BEGIN;
                }
            }
        }
        return out.toString();
    }

    /**
     * Ends the answer.
     *
     * @param complete whether the model ended the answer; then a call without end counts if its JSON is complete
     * @return the text held back
     */
    String finish(boolean complete) {
        if (call == null) {
            return visible(text.finish());
        }
        String body = call.toString();
        call = null;
        return complete ? parsed(body, begin + body) : visible(begin + body);
    }

    private String visible(String piece) {
        String shown = skipping ? piece.stripLeading() : piece;
        skipping &= shown.isEmpty();
        return shown;
    }

    private String parsed(String body, String whole) {
        ToolCall parsed = parse(body);
        if (parsed == null) {
            return visible(whole);
        }
        calls.add(parsed);
        skipping = true;
        return "";
    }

    private @Nullable ToolCall parse(String body) {
        try {
            JsonNode root = JsonMapper.shared().readTree(body);
            JsonNode name = root.path("name");
            JsonNode arguments = root.path("arguments");
            if (arguments.isString()) { // some models write the object as a text
                arguments = JsonMapper.shared().readTree(arguments.stringValue());
            }
            if (!name.isString() || !tools.contains(name.stringValue())) {
                return null;
            }
            if (!arguments.isObject() && !arguments.isMissingNode() && !arguments.isNull()) {
                return null;
            }
            return new ToolCall(
                    ID + (firstId + calls.size()),
                    "function",
                    name.stringValue(),
                    arguments.isObject() ? arguments.toString() : "{}");
        } catch (JacksonException e) {
            return null;
        }
    }
}
