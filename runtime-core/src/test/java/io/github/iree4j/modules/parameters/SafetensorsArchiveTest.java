package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Handwritten safetensors files: eight bytes of length, JSON, data. */
class SafetensorsArchiveTest {
    private static final String TWO = """
            {"__metadata__": {"format": "pt", "x": "\\u00e9\\ud83d\\ude00\\n"},
             "b": {"dtype": "U8", "shape": [2, 2], "data_offsets": [8, 12]},
             "a": {"data_offsets": [0, 8], "shape": [2], "dtype": "F32", "note": {"k": [1, -2.5e3, true, null, "s"]}}}   \s
            """;

    @TempDir
    Path directory;

    private Path file(String header, int dataBytes) {
        return FileBytes.safetensors(header, dataBytes).write(directory.resolve("model.safetensors"));
    }

    @Test
    void readsTensorsInTheOrderOfTheHeader() {
        try (ParameterArchive archive = ParameterArchive.open(file(TWO, 12))) {
            assertThat(archive.format()).isEqualTo(ParameterFormat.SAFETENSORS);
            assertThat(archive.entries()).extracting(ParameterEntry::key).containsExactly("b", "a");
            var b = (ParameterEntry.Stored) archive.find("b").orElseThrow();
            assertThat(b.data().toArray(ValueLayout.JAVA_BYTE)).containsExactly(8, 9, 10, 11);
            assertThat(b.origin().type()).isEqualTo(new ParameterType("U8", List.of(2L, 2L), 1, 8));
            assertThat(b.origin().offset()).isEqualTo(archive.size() - 4);
            assertThat(archive.find("a").orElseThrow().length()).isEqualTo(8);
        }
    }

    @Test
    void theNameOfTheFileDoesNotMatter() {
        Path misnamed = FileBytes.safetensors(TWO, 12).write(directory.resolve("weights.gguf"));
        try (ParameterArchive archive = ParameterArchive.open(misnamed)) {
            assertThat(archive.format()).isEqualTo(ParameterFormat.SAFETENSORS);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "BOOL,8", "U8,8", "I8,8", "F8_E5M2,8", "F8_E4M3,8", "F8_E8M0,8", "I16,16", "U16,16", "F16,16", "BF16,16",
        "I32,32", "U32,32", "F32,32", "F64,64", "I64,64", "U64,64", "C64,64", "F4,4", "F6_E2M3,6", "F6_E3M2,6"
    })
    void knowsTheSizeOfEachType(String type, int bits) {
        String header =
                "{\"w\":{\"dtype\":\"%s\",\"shape\":[3,4],\"data_offsets\":[0,%d]}}".formatted(type, 12 * bits / 8);
        try (ParameterArchive archive = ParameterArchive.open(file(header, 12 * bits / 8))) {
            assertThat(archive.find("w").orElseThrow().length()).isEqualTo(12L * bits / 8);
        }
    }

    @Test
    void scalarsAndEmptyTensorsAndNoTensorsAreFine() {
        String header = """
                {"empty":{"dtype":"F32","shape":[0,7],"data_offsets":[4,4]},"one":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}""";
        try (ParameterArchive archive = ParameterArchive.open(file(header, 4))) {
            assertThat(archive.find("empty").orElseThrow().length()).isZero();
            assertThat(((ParameterEntry.Stored) archive.find("one").orElseThrow())
                            .origin()
                            .type())
                    .hasToString("F32");
        }
        try (ParameterArchive archive = ParameterArchive.open(file("{}", 0))) {
            assertThat(archive.entries()).isEmpty();
        }
    }

    private void rejects(StatusCode code, Path file, String... words) {
        assertThatThrownBy(() -> ParameterArchive.open(file).close())
                .isInstanceOfSatisfying(
                        IreeException.class,
                        e -> assertThat(e.code()).as(e.toString()).isEqualTo(code))
                .hasMessageContaining("model.safetensors', offset ")
                .satisfies(e -> assertThat(e.getMessage()).contains(words));
    }

    private void rejects(String header, int data, String... words) {
        rejects(StatusCode.INVALID_ARGUMENT, file(header, data), words);
    }

    private static String tensor(String name, String range) {
        return "\"%s\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":%s}".formatted(name, range);
    }

    @Test
    void tooLongHeadersAreRefusedWithoutBeingRead() {
        Path file = directory.resolve("model.safetensors");
        new FileBytes().u64(100_000_001).text("{}").write(file);
        rejects(StatusCode.INVALID_ARGUMENT, file, "100000001 bytes", "the most is 100000000");
        new FileBytes().u64(-1).text("{}").write(file);
        rejects(StatusCode.INVALID_ARGUMENT, file, "18446744073709551615 bytes");
        new FileBytes().u64(100).text("{}").write(file);
        rejects(StatusCode.OUT_OF_RANGE, file, "100 bytes", "2 left");
    }

    @Test
    void duplicateKeysAreRefused() {
        rejects("{" + tensor("a", "[0,4]") + "," + tensor("a", "[0,4]") + "}", 4, "key 'a' is defined twice");
        rejects("{" + tensor("a", "[0,4]") + "," + tensor("\\u0061", "[0,4]") + "}", 4, "key 'a' is defined twice");
        rejects(
                "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
                4,
                "'dtype' is defined twice");
        rejects("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "'k' is defined twice");
    }

    @Test
    void overlapsAndGapsAndRemaindersAreRefused() {
        rejects("{" + tensor("a", "[0,4]") + "," + tensor("b", "[2,6]") + "}", 6, "'b' starts at byte 2", "ends at 4");
        rejects("{" + tensor("a", "[0,4]") + "," + tensor("b", "[5,9]") + "}", 9, "'b' starts at byte 5", "ends at 4");
        rejects("{" + tensor("a", "[1,5]") + "}", 5, "'a' starts at byte 1", "ends at 0");
        rejects("{" + tensor("a", "[0,4]") + "}", 5, "end at byte 4", "the file has 5");
        rejects("{" + tensor("a", "[0,4]") + "," + tensor("b", "[0,4]") + "}", 4, "'b' starts at byte 0", "ends at 4");
        rejects(
                StatusCode.OUT_OF_RANGE,
                file("{" + tensor("a", "[0,4]") + "}", 3),
                "bytes [0, 4) are not in the data's 3");
        rejects(StatusCode.OUT_OF_RANGE, file("{" + tensor("a", "[4,0]") + "}", 4), "bytes [4, 0)");
    }

    @Test
    void sizesDisagreeingWithTypeAndShapeAreRefused() {
        rejects(
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,4]}}",
                4,
                "takes 16 bytes and [0, 4) has 4");
        rejects("{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, "no whole number of bytes");
        rejects(
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}",
                4,
                "no whole number of bytes");
        rejects(
                StatusCode.UNIMPLEMENTED,
                file("{\"a\":{\"dtype\":\"F128\",\"shape\":[],\"data_offsets\":[0,4]}}", 4),
                "'F128'");
        rejects("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "lacks one of");
        rejects("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "lacks one of");
        rejects("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "more than 2 data offsets");
    }

    /** Texts accepted by lenient readers but not JSON. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "{}{}",
                "{} x",
                "{'a':1}",
                "{\"a\":}",
                "{\"a\":{},}",
                "{,}",
                "{\"a\"}",
                "{\"a\":{\"x\":01}}",
                "{\"a\":{\"x\":1.}}",
                "{\"a\":{\"x\":.5}}",
                "{\"a\":{\"x\":+1}}",
                "{\"a\":{\"x\":1e}}",
                "{\"a\":{\"x\":NaN}}",
                "{\"a\":{\"x\":tru}}",
                "{\"a\":{\"x\":[1,]}}",
                "{\"a\":{\"x\":\"\t\"}}",
                "{\"a\":{\"x\":\"\\x41\"}}",
                "{\"a\":{\"x\":\"\\ud800\"}}",
                "{\"a\":{\"x\":\"\\udc00\\ud800\"}}",
                "{\"a\":{\"x\":\"\\u00g0\"}}",
                "{\"a\":{\"shape\":[-1]}}",
                "{\"a\":{\"shape\":[1.0]}}",
                "{\"a\":{\"shape\":[9223372036854775808]}}",
                "{\"a\":{\"shape\":[00]}}",
                "{\"a\":{\"dtype\":3}}",
                "{\"__metadata__\":{\"k\":3}}",
                "{\"__metadata__\":[]}",
                "{\"a\":3}",
                "{/**/}",
                "{\"a\u0000\":1}"
            })
    void invalidJsonIsRefused(String header) {
        rejects(header, 0, "'");
    }

    @Test
    void deepNestingDoesNotExhaustTheStack() {
        rejects("{\"a\":{\"x\":" + "[".repeat(1_000_000), 0, "nested deeper than 32");
    }

    @Test
    void invalidUtf8IsRefusedEverywhere() {
        Path file = directory.resolve("model.safetensors");
        for (int padding : new int[] {0, 8180, 8190, 8191, 20_000}) {
            byte[] head = ("{" + " ".repeat(padding) + "\"").getBytes(java.nio.charset.StandardCharsets.UTF_8);
            new FileBytes().u64(head.length + 3).bytes(head).u8(0xC3, '"', '}').write(file);
            rejects(StatusCode.INVALID_ARGUMENT, file, "not UTF-8", "offset " + (8 + head.length));
        }
    }

    @Test
    void charactersAcrossAllBoundariesAreRead() {
        for (int padding = 8180; padding < 8200; padding++) {
            String header = "{" + " ".repeat(padding) + tensor("\uD83D\uDE00é", "[0,4]") + "}";
            try (ParameterArchive archive = ParameterArchive.open(file(header, 4))) {
                assertThat(archive.find("\uD83D\uDE00é"))
                        .as("padding %d", padding)
                        .isPresent();
            }
        }
    }
}
