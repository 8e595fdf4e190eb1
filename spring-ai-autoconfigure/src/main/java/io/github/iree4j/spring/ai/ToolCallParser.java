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
 * arrives in pieces. The text of a call is held back until its end: the first {@code </tool_call>} outside of the strings
 * of its JSON. Whatever is no valid call of an offered tool stays text. Not thread-safe.
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
    private boolean inString; // of the call's JSON
    private boolean escaped; // the next character of the string
    private boolean knowsStrings = true; // otherwise the call ends at its first end
    private int inner = -1; // the first end that is in a string of the call; negative for none
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
        return tools.isEmpty() ? piece : read(piece, true);
    }

    private String read(String piece, boolean withStrings) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < piece.length(); i++) {
            char next = piece.charAt(i);
            if (call == null) {
                out.append(visible(text.add(String.valueOf(next))));
                if (text.isStopped()) {
                    call = new StringBuilder();
                    inString = false;
                    knowsStrings = withStrings;
                    inner = -1;
                    text = new StopMatcher(List.of(BEGIN));
                }
            } else {
                call.append(next);
                out.append(inString && next < ' ' ? unquoted(call) : called(call, next));
            }
        }
        return out.toString();
    }

    /** Reads the last character of a call, and returns the text outside of calls. */
    private String called(StringBuilder call, char last) {
        int end = call.length() - END.length();
        boolean ends = last == '>' && end >= 0 && call.indexOf(END, end) == end;
        if (ends && !inString) {
            String body = call.substring(0, end);
            return inner >= 0 && parse(body) == null ? unquoted(call) : parsed(body, begin + body + END);
        }
        if (ends && inner < 0) {
            inner = end;
        }
        if (!inString) {
            inString = last == '"' && knowsStrings;
            escaped = false;
        } else {
            inString = escaped || last != '"';
            escaped = !escaped && last == '\\';
        }
        return "";
    }

    /**
     * Ends a call whose strings are broken at the first end in a string, if there is one. The rest is read again, once: its
     * calls end at their first ends.
     *
     * @return the text outside of calls
     */
    private String unquoted(StringBuilder call) {
        inString = false;
        knowsStrings = false;
        if (inner < 0) {
            return "";
        }
        String body = call.substring(0, inner);
        String rest = call.substring(inner + END.length());
        return parsed(body, begin + body + END) + read(rest, false);
    }

    /**
     * Ends the answer.
     *
     * @param complete whether the model ended the answer; then a call without end counts if its JSON is complete
     * @return the text held back
     */
    String finish(boolean complete) {
        String before = call != null && inString ? unquoted(call) : "";
        if (call == null) {
            return before + visible(text.finish());
        }
        String body = call.toString();
        if (complete) {
            return before + parsed(body, begin + body);
        }
        call = null;
        return before + visible(begin + body);
    }

    private String visible(String piece) {
        String shown = skipping ? piece.stripLeading() : piece;
        skipping &= shown.isEmpty();
        return shown;
    }

    /** Ends a call, and returns the text if there is no call. */
    private String parsed(String body, String whole) {
        call = null;
        begin = BEGIN;
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
