package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The facts about a model that its module does not contain: {@code config.json}, as exporters write the file beside the
 * module.
 *
 * @param maximumTokens the longest sequence, prompt included ({@code max_seq_len}); 0 if unknown
 * @param stride tokens per page ({@code paged_kv_cache.block_seq_stride})
 * @param pages number of pages of the cache, page 0 included ({@code paged_kv_cache.device_block_count})
 * @param prefillPosition whether prefill functions take the position of the first token ({@code has_prefill_position});
 *     unknown if empty
 * @param prefillBatches batch sizes of the prefill functions ({@code prefill_batch_sizes}); empty for all functions found
 * @param decodeBatches batch sizes of the decode functions ({@code decode_batch_sizes}); empty for all functions found
 */
record ModelConfig(
        int maximumTokens,
        int stride,
        int pages,
        Optional<Boolean> prefillPosition,
        List<Integer> prefillBatches,
        List<Integer> decodeBatches) {
    private static final int LARGEST_FILE = 1 << 20;
    private static final int LARGEST_NUMBER = 1 << 24;

    /** The values of exporters where nothing else is said. */
    static final ModelConfig DEFAULT = new ModelConfig(0, 32, 512, Optional.empty(), List.of(), List.of());

    private static final Set<String> KEYS = Set.of(
            "module_name",
            "module_abi_version",
            "max_seq_len",
            "attn_head_dim",
            "prefill_batch_sizes",
            "decode_batch_sizes",
            "has_prefill_position",
            "transformer_block_count",
            "logits_normalization",
            "top_k",
            "attn_dtype",
            "paged_kv_cache");

    private static final Set<String> CACHE_KEYS = Set.of(
            "attention_head_count_kv",
            "block_seq_stride",
            "device_block_count",
            "kv_cache_dtype",
            "paged_kv_block_size_elements_per_device");

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    /** Returns a configuration with another number of pages. */
    ModelConfig withPages(int count) {
        return new ModelConfig(maximumTokens, stride, count, prefillPosition, prefillBatches, decodeBatches);
    }

    /** Returns the configuration of a text, see {@link #parse}; of no text, the values of exporters. */
    static ModelConfig of(String name, @Nullable String json) {
        return json == null ? DEFAULT : parse(name, json);
    }

    /**
     * Reads the text of a file.
     *
     * @throws IreeException INVALID_ARGUMENT for a file that is too long; NOT_FOUND
     */
    static String text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(LARGEST_FILE + 1); // a device tells no size
            if (bytes.length > LARGEST_FILE) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "configuration '%s': the file has more than %d bytes".formatted(file, LARGEST_FILE));
            }
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "there is no configuration '%s'".formatted(file), e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "configuration '%s': %s".formatted(file, e), e);
        }
    }

    /**
     * Reads a configuration.
     *
     * @param name names the configuration in messages
     * @param json the text
     * @throws IreeException INVALID_ARGUMENT for anything but a known configuration, naming configuration and key
     */
    static ModelConfig parse(String name, String json) {
        return new Reader(name).config(json("configuration '%s'".formatted(name), json));
    }

    private static JsonNode json(String what, String text) {
        try {
            return JSON.readTree(text);
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is not JSON: %s".formatted(what, e.getOriginalMessage()), e);
        }
    }

    /** Reads the values of a configuration. */
    private record Reader(String name) {
        ModelConfig config(JsonNode root) {
            known(root, "the file", KEYS);
            JsonNode cache = root.path("paged_kv_cache");
            if (!cache.isMissingNode()) {
                known(cache, "paged_kv_cache", CACHE_KEYS);
            }
            int version = number(root, "module_abi_version", 1);
            if (version != 1) {
                throw invalid("module_abi_version is %d; only version 1 is known".formatted(version));
            }
            return new ModelConfig(
                    number(root, "max_seq_len", DEFAULT.maximumTokens),
                    number(cache, "block_seq_stride", DEFAULT.stride),
                    number(cache, "device_block_count", DEFAULT.pages),
                    flag(root, "has_prefill_position"),
                    numbers(root, "prefill_batch_sizes"),
                    numbers(root, "decode_batch_sizes"));
        }

        private void known(JsonNode node, String where, Set<String> keys) {
            if (!node.isObject()) {
                throw invalid(where + " is not a JSON object");
            }
            Set<String> unknown = new TreeSet<>();
            for (Map.Entry<String, JsonNode> each : node.properties()) {
                if (!keys.contains(each.getKey())) {
                    unknown.add(each.getKey());
                }
            }
            if (!unknown.isEmpty()) {
                throw invalid("%s has unknown keys %s; known are %s".formatted(where, unknown, new TreeSet<>(keys)));
            }
        }

        private int number(JsonNode node, String key, int absent) {
            JsonNode value = node.path(key);
            return value.isMissingNode() || value.isNull() ? absent : number(value, key);
        }

        private int number(JsonNode value, String key) {
            if (!value.isIntegralNumber()
                    || !value.canConvertToInt()
                    || value.intValue() < 1
                    || value.intValue() > LARGEST_NUMBER) {
                throw invalid("%s is %s, not an integer from 1 to %d".formatted(key, shortened(value), LARGEST_NUMBER));
            }
            return value.intValue();
        }

        private List<Integer> numbers(JsonNode node, String key) {
            JsonNode value = node.path(key);
            List<Integer> numbers = new ArrayList<>();
            if (value.isMissingNode() || value.isNull()) {
                return numbers;
            }
            if (!value.isArray()) {
                throw invalid("%s is %s, not a list of batch sizes".formatted(key, shortened(value)));
            }
            for (JsonNode each : value) {
                numbers.add(number(each, key));
            }
            return List.copyOf(numbers);
        }

        private Optional<Boolean> flag(JsonNode node, String key) {
            JsonNode value = node.path(key);
            if (value.isMissingNode() || value.isNull()) {
                return Optional.empty();
            }
            if (!value.isBoolean()) {
                throw invalid("%s is %s, not true or false".formatted(key, shortened(value)));
            }
            return Optional.of(value.booleanValue());
        }

        private static String shortened(JsonNode value) {
            String text = value.toString();
            return text.length() <= 40 ? text : text.substring(0, 40) + "…";
        }

        private IreeException invalid(String why) {
            return IreeException.of(StatusCode.INVALID_ARGUMENT, "configuration '%s': %s".formatted(name, why));
        }
    }
}
