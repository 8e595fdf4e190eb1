package io.github.iree4j.spring.ai;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.Resource;
import tools.jackson.databind.json.JsonMapper;

/** A tokenizer of a language model with a token for each byte, and special tokens in place of bytes that no UTF-8 has. */
public final class ByteTokenizer {
    /** The special tokens. */
    public static final List<String> SPECIAL =
            List.of("<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>");

    /** Number of the first special token. */
    public static final int FIRST_SPECIAL = 250;

    /** Number of {@code <|end|>}, which ends answers. */
    public static final int END = 251;

    /** A template with all variables, as the documentation of models describes it. */
    public static final String TEMPLATE =
            "{{ bos_token }}{% if tools %}<|system|>{% for tool in tools %}{{ tool | tojson }}{% endfor %}{{ eos_token }}{% endif %}"
                    + "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}"
                    + "{% for call in message.tool_calls %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}{{ eos_token }}{% endfor %}"
                    + "{% if add_generation_prompt %}<|assistant|>{% endif %}";

    private ByteTokenizer() {}

    /** Writes the files of a tokenizer to a folder, and returns its {@code tokenizer.json}. */
    public static Resource write(Path folder) {
        try {
            Files.writeString(
                    folder.resolve("tokenizer_config.json"),
                    JsonMapper.shared()
                            .writeValueAsString(Map.of(
                                    "bos_token",
                                    "<|begin|>",
                                    "eos_token",
                                    Map.of("content", "<|end|>"),
                                    "chat_template",
                                    TEMPLATE)));
            return new FileSystemResource(Files.writeString(folder.resolve("tokenizer.json"), json()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String json() {
        Map<String, Integer> vocabulary = new LinkedHashMap<>();
        int next = 256;
        for (int value = 0; value < 256; value++) {
            boolean printable = value >= '!' && value <= '~' || value >= 0xa1 && value != 0xad;
            int letter = printable ? value : next++;
            if (value < FIRST_SPECIAL) {
                vocabulary.put(String.valueOf((char) letter), value);
            }
        }
        List<Map<String, Object>> added = new ArrayList<>();
        for (int i = 0; i < SPECIAL.size(); i++) {
            added.add(Map.of(
                    "id",
                    FIRST_SPECIAL + i,
                    "content",
                    SPECIAL.get(i),
                    "single_word",
                    false,
                    "lstrip",
                    false,
                    "rstrip",
                    false,
                    "normalized",
                    false,
                    "special",
                    true));
        }
        Map<String, Object> byteLevel =
                Map.of("type", "ByteLevel", "add_prefix_space", false, "trim_offsets", false, "use_regex", false);
        return JsonMapper.shared()
                .writeValueAsString(Map.of(
                        "version",
                        "1.0",
                        "added_tokens",
                        added,
                        "pre_tokenizer",
                        byteLevel,
                        "decoder",
                        byteLevel,
                        "model",
                        Map.of("type", "BPE", "vocab", vocabulary, "merges", List.of())));
    }

    /** Returns the tokens of a text without special tokens. */
    static List<Integer> tokens(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return IntStream.range(0, bytes.length).mapToObj(i -> bytes[i] & 0xff).toList();
    }
}
