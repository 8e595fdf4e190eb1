package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The bytes of each token of a {@code tokenizer.json}. Tokens of byte-level vocabularies may have parts of characters,
 * which the library's decoder cannot return. Two kinds of decoders are known, which nearly all language models use:
 *
 * <ul>
 *   <li>{@code ByteLevel}: each character of a token stands for a byte;
 *   <li>{@code ByteFallback} or {@code Metaspace}: tokens are text, with a sign for spaces; tokens {@code <0xNN>} are
 *       bytes.
 * </ul>
 *
 * Special tokens have no bytes. Immutable.
 */
final class TokenBytes {
    private static final byte[] NONE = {};

    private final byte[][] bytes; // by token
    private final Map<String, Integer> tokens;
    private final boolean stripsFirstSpace;
    private final int longest;

    private TokenBytes(byte[][] bytes, Map<String, Integer> tokens, boolean stripsFirstSpace) {
        this.bytes = bytes;
        this.tokens = tokens;
        this.stripsFirstSpace = stripsFirstSpace;
        this.longest = tokens.keySet().stream()
                .mapToInt(each -> each.getBytes(StandardCharsets.UTF_8).length)
                .max()
                .orElse(1);
    }

    /** Returns the bytes of a token, not to be modified; none for a special or unknown token. */
    byte[] of(int token) {
        return token >= 0 && token < bytes.length ? bytes[token] : NONE;
    }

    /** Returns the number of the token with a text, as the file writes it; null if there is none. */
    @Nullable
    Integer find(String token) {
        return tokens.get(token);
    }

    /** Returns one more than the highest token. */
    int size() {
        return bytes.length;
    }

    /** Returns the number of bytes of the longest token, as the file writes it. */
    int longest() {
        return longest;
    }

    /** Returns whether a space at the start of a text is not part of it. */
    boolean stripsFirstSpace() {
        return stripsFirstSpace;
    }

    /**
     * Reads the tokens.
     *
     * @param json a {@code tokenizer.json}
     * @param location names the file in messages
     * @throws IreeException INVALID_ARGUMENT for a file without vocabulary, or with another decoder
     */
    static TokenBytes read(byte[] json, String location) {
        try {
            return new Reader(location).read(JsonMapper.shared().readTree(json));
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is not JSON: %s".formatted(location, e.getOriginalMessage()), e);
        }
    }

    private record Reader(String location) {
        private static final int MOST_TOKENS = 1 << 22;

        TokenBytes read(JsonNode root) {
            List<JsonNode> decoders = new ArrayList<>();
            collect(root.path("decoder"), decoders);
            TreeSet<String> kinds = new TreeSet<>();
            decoders.forEach(each -> kinds.add(each.path("type").asString("")));
            boolean byteLevel = kinds.contains("ByteLevel");
            if (!byteLevel && !kinds.contains("ByteFallback") && !kinds.contains("Metaspace")) {
                throw invalid("has the decoder %s; a language model has ByteLevel, ByteFallback or Metaspace"
                        .formatted(kinds.isEmpty() ? "null" : kinds));
            }
            Map<String, Integer> tokens = vocabulary(root.path("model").path("vocab"));
            TreeSet<Integer> special = new TreeSet<>();
            Map<Integer, String> added = new HashMap<>();
            for (JsonNode each : root.path("added_tokens")) {
                int token = token(each.path("id"));
                tokens.put(each.path("content").asString(""), token);
                added.put(token, each.path("content").asString(""));
                if (each.path("special").asBoolean(false)) {
                    special.add(token);
                }
            }
            int size = tokens.values().stream().mapToInt(each -> each + 1).max().orElse(0);
            if (size == 0) {
                throw invalid("has no vocabulary");
            }
            int[] alphabet = byteLevel ? alphabet() : new int[0];
            byte[][] bytes = new byte[size][];
            Arrays.fill(bytes, NONE);
            tokens.forEach((text, token) -> {
                String whole = added.get(token);
                if (whole != null) {
                    bytes[token] = special.contains(token) ? NONE : whole.getBytes(StandardCharsets.UTF_8);
                } else {
                    bytes[token] = byteLevel ? byteLevel(text, alphabet) : fallback(text);
                }
            });
            return new TokenBytes(bytes, tokens, decoders.stream().anyMatch(Reader::strips));
        }

        private static void collect(JsonNode decoder, List<JsonNode> decoders) {
            if (decoder.isObject()) {
                decoders.add(decoder);
                decoder.path("decoders").forEach(each -> collect(each, decoders));
            }
        }

        private static boolean strips(JsonNode decoder) {
            return switch (decoder.path("type").asString("")) {
                case "Strip" -> decoder.path("start").asInt(0) > 0;
                case "Metaspace" ->
                    !"never".equals(decoder.path("prepend_scheme").asString("always"));
                default -> false;
            };
        }

        private Map<String, Integer> vocabulary(JsonNode vocabulary) {
            Map<String, Integer> tokens = new HashMap<>();
            if (vocabulary.isArray()) { // Unigram: pairs of text and score
                int token = 0;
                for (JsonNode each : vocabulary) {
                    tokens.put(each.path(0).asString(""), token++);
                }
            } else {
                vocabulary.properties().forEach(each -> tokens.put(each.getKey(), token(each.getValue())));
            }
            return tokens;
        }

        private int token(JsonNode value) {
            if (!value.isIntegralNumber()
                    || !value.canConvertToInt()
                    || value.intValue() < 0
                    || value.intValue() >= MOST_TOKENS) {
                throw invalid("has the token %s, not from 0 to %d".formatted(value, MOST_TOKENS - 1));
            }
            return value.intValue();
        }

        private IreeException invalid(String why) {
            return IreeException.of(StatusCode.INVALID_ARGUMENT, "%s %s".formatted(location, why));
        }

        /** Returns the byte of each character that byte-level vocabularies use: printable ones for themselves. */
        private static int[] alphabet() {
            int[] alphabet = new int[512];
            Arrays.fill(alphabet, -1);
            int next = 256;
            for (int value = 0; value < 256; value++) {
                boolean printable = value >= '!' && value <= '~' || value >= 0xa1 && value != 0xad;
                alphabet[printable ? value : next++] = value;
            }
            return alphabet;
        }

        private static byte[] byteLevel(String text, int[] alphabet) {
            byte[] bytes = new byte[text.length()];
            for (int i = 0; i < bytes.length; i++) {
                char letter = text.charAt(i);
                if (letter >= alphabet.length || alphabet[letter] < 0) {
                    return text.getBytes(StandardCharsets.UTF_8); // as the library treats such tokens
                }
                bytes[i] = (byte) alphabet[letter];
            }
            return bytes;
        }

        private static byte[] fallback(String text) {
            if (text.length() == 6 && text.startsWith("<0x") && text.endsWith(">")) {
                try {
                    return new byte[] {(byte) Integer.parseInt(text, 3, 5, 16)};
                } catch (NumberFormatException e) {
                    return text.getBytes(StandardCharsets.UTF_8);
                }
            }
            return text.replace('\u2581', ' ').getBytes(StandardCharsets.UTF_8);
        }
    }
}
