package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.status.IreeException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import tools.jackson.databind.json.JsonMapper;

/** From tokens to text: bytes, characters, stop sequences and calls of tools, however the text is divided. */
class ChatTextTests {

    @Test
    void decodesEachTokenOfBytesAsTheLibraryDoes() throws Exception {
        TokenBytes tokens = TokenBytes.read(ByteTokenizer.json().getBytes(StandardCharsets.UTF_8), "the file");
        String text = "Grüße, 世界 🎉!\n\t\u0000";
        try (HuggingFaceTokenizer library =
                HuggingFaceTextTokenizer.open(ByteTokenizer.json().getBytes(StandardCharsets.UTF_8))) {
            long[] encoded = library.encode(text + "<|end|>").getIds();
            assertThat(encoded).hasSize(ByteTokenizer.tokens(text).size() + 1);
            assertThat(decoded(tokens, encoded)).isEqualTo(text).isEqualTo(library.decode(encoded, true));
        }
        assertThat(tokens.of(0xf0)).containsExactly(0xf0);
        assertThat(tokens.of(ByteTokenizer.END)).isEmpty();
        assertThat(tokens.find("<|end|>")).isEqualTo(ByteTokenizer.END);
    }

    @Test
    void decodesTokensWithFallbackToBytesAsTheLibraryDoes() throws Exception {
        String json = """
                {"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false},
                   {"id": 8, "content": "<tool_call>", "special": false, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}],
                 "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
                 "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<s>", "merges": [],
                   "vocab": {"<s>": 0, "▁": 1, "a": 2, "▁b": 3, "<0xE4>": 4, "<0xB8>": 5, "<0x96>": 6, "é": 7}}}
                """;
        TokenBytes tokens = TokenBytes.read(json.getBytes(StandardCharsets.UTF_8), "the file");
        long[] answer = {0, 3, 2, 4, 5, 6, 7, 8, 1, 3};
        assertThat(decoded(tokens, answer)).isEqualTo("ba世é<tool_call>  b");
        try (HuggingFaceTokenizer library = HuggingFaceTextTokenizer.open(json.getBytes(StandardCharsets.UTF_8))) {
            assertThat(library.decode(answer, true)).isEqualTo("ba世é<tool_call>  b");
        }
    }

    @Test
    void refusesTokenizersOfOtherModels() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> TokenBytes.read(TestTokenizers.BERT.getBytes(StandardCharsets.UTF_8), "the file"))
                .withMessageContaining("WordPiece")
                .withMessageContaining("ByteLevel");
    }

    private static String decoded(TokenBytes tokens, long[] ids) {
        Utf8Pieces pieces = new Utf8Pieces();
        StringBuilder text = new StringBuilder();
        boolean start = tokens.stripsFirstSpace();
        for (long id : ids) {
            String piece = pieces.add(tokens.of((int) id));
            text.append(start && piece.startsWith(" ") ? piece.substring(1) : piece);
            start &= piece.isEmpty();
        }
        return text.append(pieces.finish()).toString();
    }

    @Test
    void aTokenBeginsInTheCharacterOfItsFirstByte() {
        int[][] answer = {
            // byte, offset
            {0xf0, 0},
            {0x9f, 0},
            {0x8e, 0},
            {0x89, 0},
            {'a', 1}, // a character of two UTF-16 units
            {0xe4, 2},
            {'b', 3}, // the rest is missing
            {0xe0, 4},
            {0x80, 5},
            {0x80, 6}, // overlong: three characters U+FFFD
            {ByteTokenizer.END, 7},
            {0xc3, 7},
            {ByteTokenizer.END, 7},
            {0xa9, 7},
            {'c', 8}
        };
        try (ChatTokenizer tokenizer = ChatTokenizer.load(TestTokenizers.file(ByteTokenizer.json()))) {
            ChatTokenizer.Decoder decoder = tokenizer.decoder(true);
            StringBuilder text = new StringBuilder();
            for (int[] each : answer) {
                text.append(decoder.add(each[0]));
                assertThat(decoder.start()).as("of %x behind %s", each[0], text).isEqualTo(each[1]);
            }
            assertThat(text).hasToString("🎉a\ufffdb\ufffd\ufffd\ufffdéc");
        }
    }

    @Test
    void holdsBackUnfinishedCharacters() {
        Utf8Pieces pieces = new Utf8Pieces();
        assertThat(pieces.add(new byte[] {'a', (byte) 0xf0, (byte) 0x9f})).isEqualTo("a");
        assertThat(pieces.add(new byte[] {(byte) 0x8e})).isEmpty();
        assertThat(pieces.add(new byte[] {(byte) 0x89, (byte) 0xff, 'b', (byte) 0xc3}))
                .isEqualTo("🎉\ufffdb");
        assertThat(pieces.finish()).isEqualTo("\ufffd");
    }

    @Test
    void stopsAtTheFirstSequenceHoweverTheTextIsDivided() {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            String text = letters(random, 12);
            List<String> stops = List.of(letters(random, 3) + "a", letters(random, 2) + "b");
            StopMatcher whole = new StopMatcher(stops);
            String expected = whole.add(text) + whole.finish();
            StopMatcher pieces = new StopMatcher(stops);
            StringBuilder actual = new StringBuilder();
            for (int at = 0; at < text.length(); ) {
                int next = Math.min(text.length(), at + random.nextInt(4));
                actual.append(pieces.add(text.substring(at, next)));
                at = next;
            }
            actual.append(pieces.finish());
            assertThat(actual).as("%s up to %s", text, stops).hasToString(expected);
            assertThat(pieces.isStopped())
                    .isEqualTo(whole.isStopped())
                    .isEqualTo(stops.stream().anyMatch(text::contains));
            assertThat(text).startsWith(expected);
            assertThat(stops).noneMatch(expected::contains);
        }
    }

    private static String letters(Random random, int most) {
        return random.ints(random.nextInt(most + 1), 'a', 'd')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private record Parsed(String text, List<ToolCall> calls) {}

    private static Parsed parsed(String text, boolean complete, int piece) {
        ToolCallParser parser = new ToolCallParser(Set.of("weather", "time"), 3, false);
        StringBuilder out = new StringBuilder();
        for (int at = 0; at < text.length(); at += piece) {
            out.append(parser.add(text.substring(at, Math.min(text.length(), at + piece))));
        }
        out.append(parser.finish(complete));
        return new Parsed(out.toString(), parser.calls());
    }

    @Test
    void findsCallsHoweverTheTextIsDivided() {
        String text =
                "Let me see <b.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Bern </tool\"}}\n</tool_call>\n"
                        + "<tool_call>{\"name\": \"time\"}</tool_call>\n\n";
        for (int piece = 1; piece <= text.length(); piece++) {
            assertThat(parsed(text, true, piece))
                    .isEqualTo(new Parsed(
                            "Let me see <b.\n",
                            List.of(
                                    new ToolCall("call-3", "function", "weather", "{\"city\":\"Bern </tool\"}"),
                                    new ToolCall("call-4", "function", "time", "{}"))));
        }
    }

    @Test
    void theEndOfACallInAStringEndsNoCall() {
        String[] parts = {
            "</tool_call>",
            "<tool_call>",
            "\"",
            "\\",
            "{",
            "}",
            "a",
            "\n",
            "</tool_call",
            ">",
            "é",
            "{\"name\": \"time\"}"
        };
        long seed = Long.getLong("iree4j.test.seed", 20261130);
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            StringBuilder value = new StringBuilder();
            for (int i = random.nextInt(8); i > 0; i--) {
                value.append(parts[random.nextInt(parts.length)]);
            }
            JsonMapper json = JsonMapper.shared();
            String arguments = json.writeValueAsString(Map.of(value.toString(), List.of(value.toString())));
            String given = random.nextBoolean() ? arguments : json.writeValueAsString(arguments);
            String call = "<tool_call>\n{\"name\": \"weather\", \"arguments\": %s}\n</tool_call>".formatted(given);
            ToolCall first = new ToolCall("call-3", "function", "weather", arguments);
            ToolCall second = new ToolCall("call-4", "function", "weather", arguments);
            String text = "before " + call + "\n" + call + " after";
            assertThat(parsed(text, true, 1 + random.nextInt(text.length())))
                    .as("seed %d, %s", seed, text)
                    .isEqualTo(new Parsed("before after", List.of(first, second)));
        }
    }

    @Test
    void anUnendedStringInACallEndsAtItsFirstEnd() {
        String broken = "<tool_call>{\"name\": \"weather, \"arguments\": {\"a\": 1}}%s</tool_call>%s";
        String call = "<tool_call>{\"name\": \"time\", \"arguments\": {\"a\": \"</tool_call>\"}}</tool_call>";
        ToolCall time = new ToolCall("call-3", "function", "time", "{\"a\":\"</tool_call>\"}");
        for (String text : List.of(broken.formatted("", "\n"), broken.formatted("\n", " and "))) {
            for (int piece = 1; piece <= text.length(); piece++) {
                assertThat(parsed(text + call, true, piece)).isEqualTo(new Parsed(text, List.of(time)));
                assertThat(parsed(text, true, piece)).isEqualTo(new Parsed(text, List.of()));
                assertThat(parsed(text, false, piece)).isEqualTo(new Parsed(text, List.of()));
            }
        }
        String simple = "<tool_call>{\"name\": \"time\"}</tool_call>";
        assertThat(parsed(broken.formatted("", simple), true, 2))
                .isEqualTo(new Parsed(
                        broken.formatted("", ""), List.of(new ToolCall("call-3", "function", "time", "{}"))));
    }

    @Test
    void aBrokenCallTakesNoOtherCallAlong() {
        String broken = "<tool_call>{\"name\": \"weather, \"arguments\": 1}</tool_call> it's 5\" <tool_call>";
        String call = "{\"name\": \"time\"}</tool_call>";
        for (int piece = 1; piece <= broken.length(); piece++) {
            assertThat(parsed(broken + call, false, piece))
                    .isEqualTo(new Parsed(
                            broken.replaceFirst("<tool_call>$", ""),
                            List.of(new ToolCall("call-3", "function", "time", "{}"))));
        }
    }

    /** Each call has an end in a string, and the last string no end. */
    @Test
    @Timeout(30)
    void noTextOfCallsIsReadMoreThanTwice() {
        String text = "<tool_call>\"</tool_call>\"".repeat(100_000) + "\"";
        assertThat(parsed(text, true, 1 << 20)).isEqualTo(new Parsed(text, List.of()));
    }

    @Test
    void whateverIsNoCallStaysText() {
        for (String text : List.of(
                "<tool_call>{\"name\": \"delete\", \"arguments\": {}}</tool_call>",
                "<tool_call>{\"name\": \"weather\", \"arguments\": {</tool_call>",
                "<tool_call>{\"name\": \"weather\", \"arguments\": [1]}</tool_call> x",
                "<tool_call>{\"name\": 1}</tool_call>",
                "<tool_call></tool_call>",
                "<tool_call>" + "[".repeat(5000) + "</tool_call>",
                "a <tool_call",
                "<tool_call>{\"name\": \"weather\"",
                "</tool_call>")) {
            assertThat(parsed(text, true, 1)).isEqualTo(new Parsed(text, List.of()));
            assertThat(parsed(text, false, 3)).isEqualTo(new Parsed(text, List.of()));
        }
    }

    @Test
    void aCallWithoutEndCountsIfTheModelEndedTheAnswer() {
        String text = "<tool_call>{\"name\": \"time\", \"arguments\": \"{}\"}";
        assertThat(parsed(text, true, 2).calls()).hasSize(1);
        assertThat(parsed(text, false, 2)).isEqualTo(new Parsed(text, List.of()));
    }
}
