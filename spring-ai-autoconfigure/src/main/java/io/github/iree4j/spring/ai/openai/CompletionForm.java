package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ai.ChatAnswer.ScoredToken;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** How the answers of an endpoint are written. */
enum CompletionForm {
    /** Of chat completions. */
    CHAT("messages", "chatcmpl-", "chat.completion", "chat.completion.chunk") {
        @Override
        void whole(ObjectNode choice, String text, List<ToolCall> calls) {
            ObjectNode message = choice.putObject("message").put("role", "assistant");
            if (text.isEmpty() && !calls.isEmpty()) {
                message.putNull("content");
            } else {
                message.put("content", text);
            }
            message.putNull("refusal");
            if (!calls.isEmpty()) {
                calls(message, calls, false);
            }
        }

        @Override
        boolean first(ObjectNode choice) {
            choice.putObject("delta").put("role", "assistant").put("content", "");
            return true;
        }

        @Override
        void piece(ObjectNode choice, String text) {
            choice.putObject("delta").put("content", text);
        }

        @Override
        void calls(ObjectNode choice, List<ToolCall> calls) {
            calls(choice.putObject("delta"), calls, true);
        }

        @Override
        void last(ObjectNode choice) {
            choice.putObject("delta");
        }

        @Override
        void scores(ObjectNode choice, List<ScoredToken> tokens) {
            ObjectNode scores = choice.putObject("logprobs");
            ArrayNode content = scores.putArray("content");
            for (ScoredToken token : tokens) {
                ArrayNode alternatives = score(content.addObject(), token).putArray("top_logprobs");
                token.alternatives().forEach(each -> score(alternatives.addObject(), each));
            }
            scores.putNull("refusal");
        }

        private static ObjectNode score(ObjectNode score, ScoredToken token) {
            score.put("token", text(token)).put("logprob", value(token));
            ArrayNode bytes = score.putArray("bytes");
            for (byte each : token.bytes()) {
                bytes.add(each & 0xFF);
            }
            return score;
        }

        private static void calls(ObjectNode message, List<ToolCall> calls, boolean indexed) {
            ArrayNode all = message.putArray("tool_calls");
            for (ToolCall call : calls) {
                ObjectNode each = all.addObject();
                if (indexed) {
                    each.put("index", all.size() - 1);
                }
                each.put("id", call.id()).put("type", "function");
                each.putObject("function").put("name", call.name()).put("arguments", call.arguments());
            }
        }
    },

    /** Of completions. */
    TEXT("prompt", "cmpl-", "text_completion", "text_completion") {
        @Override
        void whole(ObjectNode choice, String text, List<ToolCall> calls) {
            choice.put("text", text);
        }

        @Override
        boolean first(ObjectNode choice) {
            return false;
        }

        @Override
        void piece(ObjectNode choice, String text) {
            choice.put("text", text);
        }

        @Override
        void calls(ObjectNode choice, List<ToolCall> calls) {
            throw new IllegalStateException("there are no tools");
        }

        @Override
        void last(ObjectNode choice) {
            choice.put("text", "");
        }

        @Override
        void scores(ObjectNode choice, List<ScoredToken> tokens) {
            ObjectNode scores = choice.putObject("logprobs");
            ArrayNode texts = scores.putArray("tokens");
            ArrayNode values = scores.putArray("token_logprobs");
            ArrayNode alternatives = scores.putArray("top_logprobs");
            ArrayNode offsets = scores.putArray("text_offset");
            for (ScoredToken token : tokens) {
                texts.add(key(token));
                values.add(value(token));
                ObjectNode top = alternatives.addObject();
                for (ScoredToken each : token.alternatives()) { // the most probable first
                    String key = key(each);
                    top.put(top.has(key) ? "token_id:" + each.token() : key, value(each));
                }
                offsets.add(token.offset());
            }
        }

        /** Returns the text of a token; for parts of characters, the bytes as OpenAI writes bytes in texts. */
        private static String key(ScoredToken token) {
            String text = text(token);
            if (Arrays.equals(text.getBytes(StandardCharsets.UTF_8), token.bytes())) {
                return text;
            }
            StringBuilder key = new StringBuilder("bytes:");
            for (byte each : token.bytes()) {
                boolean isPrintable = each >= ' ' && each <= '~' && each != '\\';
                key.append(isPrintable ? String.valueOf((char) each) : "\\x%02x".formatted(each));
            }
            return key.toString();
        }
    };

    /** The log probability of a token that the model excludes. */
    private static final float EXCLUDED = -9999;

    /** The parameter with the prompt. */
    final String prompt;

    /** The start of the ids of answers. */
    final String idPrefix;

    /** The type of a whole answer. */
    final String object;

    /** The type of a part of a stream. */
    final String chunk;

    CompletionForm(String prompt, String idPrefix, String object, String chunk) {
        this.prompt = prompt;
        this.idPrefix = idPrefix;
        this.object = object;
        this.chunk = chunk;
    }

    /** Writes a whole answer. */
    abstract void whole(ObjectNode choice, String text, List<ToolCall> calls);

    /** Writes the begin of a streamed answer; false for none. */
    abstract boolean first(ObjectNode choice);

    /** Writes a part of the text. */
    abstract void piece(ObjectNode choice, String text);

    /** Writes calls of tools. */
    abstract void calls(ObjectNode choice, List<ToolCall> calls);

    /** Writes the end of a streamed answer. */
    abstract void last(ObjectNode choice);

    /** Writes log probabilities. */
    abstract void scores(ObjectNode choice, List<ScoredToken> tokens);

    /** Returns the text of a token, with U+FFFD for parts of characters. */
    private static String text(ScoredToken token) {
        return new String(token.bytes(), StandardCharsets.UTF_8);
    }

    /** JSON has no infinity. */
    private static float value(ScoredToken token) {
        return Math.max(EXCLUDED, token.logProbability());
    }
}
