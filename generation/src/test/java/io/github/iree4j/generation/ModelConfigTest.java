package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelConfigTest {
    @TempDir
    private Path folder;

    private ModelConfig read(String text) throws IOException {
        return ModelConfig.parse(
                "config.json", ModelConfig.text(Files.writeString(folder.resolve("config.json"), text)));
    }

    @Test
    void aConfigurationOfTheExporterIsRead() throws IOException {
        ModelConfig config = read("""
                {"module_name": "module", "module_abi_version": 1, "max_seq_len": 131072, "attn_head_dim": 128,
                \t"prefill_batch_sizes": [4], "has_prefill_position": true, "decode_batch_sizes": [4, 32],
                 "transformer_block_count": 32, "logits_normalization": null, "top_k": null,
                 "paged_kv_cache": {"attention_head_count_kv": 8, "block_seq_stride": 16, "device_block_count": 256,
                  "kv_cache_dtype": "float16", "paged_kv_block_size_elements_per_device": [2097152]}}
                """);
        assertThat(config.maximumTokens()).isEqualTo(131072);
        assertThat(config.stride()).isEqualTo(16);
        assertThat(config.pages()).isEqualTo(256);
        assertThat(config.prefillPosition()).contains(true);
        assertThat(config.prefillBatches()).containsExactly(4);
        assertThat(config.decodeBatches()).containsExactly(4, 32);
    }

    @Test
    void absentKeysHaveTheValuesOfTheExporter() throws IOException {
        assertThat(read("{}")).isEqualTo(ModelConfig.DEFAULT);
    }

    @Test
    void unknownKeysAreNamed() {
        rejected("{\"max_len\": 5, \"abc\": 1}", "unknown keys [abc, max_len]");
        rejected("{\"paged_kv_cache\": {\"stride\": 5}}", "paged_kv_cache has unknown keys [stride]");
    }

    @Test
    void wrongValuesAreNamed() {
        rejected("{\"max_seq_len\": -5}", "max_seq_len is -5, not an integer from 1 to");
        rejected("{\"max_seq_len\": 1e9}", "max_seq_len is");
        rejected("{\"max_seq_len\": 99999999999999999999}", "max_seq_len is");
        rejected("{\"paged_kv_cache\": {\"block_seq_stride\": 0}}", "block_seq_stride is 0");
        rejected("{\"paged_kv_cache\": {\"device_block_count\": \"5\"}}", "device_block_count is \"5\"");
        rejected("{\"paged_kv_cache\": []}", "paged_kv_cache is not a JSON object");
        rejected("{\"decode_batch_sizes\": 4}", "decode_batch_sizes is 4, not a list");
        rejected("{\"decode_batch_sizes\": [4, null]}", "decode_batch_sizes is null");
        rejected("{\"has_prefill_position\": 1}", "has_prefill_position is 1, not true or false");
        rejected("{\"module_abi_version\": 2}", "module_abi_version is 2");
    }

    @Test
    void textOutsideJsonIsRejectedWithTheFile() {
        for (String text : List.of("", "{", "[1]", "nul", "{\"a\":1,\"a\":1}", "{} {}", "\0", "[".repeat(100_000))) {
            rejected(text, "config.json'");
        }
        assertThatThrownBy(() -> ModelConfig.text(folder.resolve("none.json")))
                .hasMessageContaining("there is no configuration")
                .hasMessageContaining("none.json");
    }

    private void rejected(String text, String message) {
        assertThatThrownBy(() -> read(text)).isInstanceOf(IreeException.class).hasMessageContaining(message);
    }
}
