package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GGUF files, written field by field as specified in ggml's docs/gguf.md. */
class GgufArchiveTest {
    private static final int F32 = 0;
    private static final int Q4_0 = 2;

    @TempDir
    Path directory;

    private Path file(FileBytes bytes) {
        return bytes.write(directory.resolve("model.gguf"));
    }

    /** Magic, version, tensor count, metadata count. */
    private static FileBytes header(int version, long tensors, long metadata) {
        return new FileBytes().text("GGUF").u32(version).u64(tensors, metadata);
    }

    private static FileBytes tensor(FileBytes file, String name, int type, long offset, long... dimensions) {
        return file.string(name)
                .u32(dimensions.length)
                .u64(dimensions)
                .u32(type)
                .u64(offset);
    }

    /** A tensor of 2x3 floats. */
    private static FileBytes oneTensor(int version) {
        return tensor(header(version, 1, 0), "w", F32, 0, 3, 2).align(32).f32(1, 2, 3, 4, 5, 6);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void readsTensorsWithTypeAndShapeOutermostFirst(int version) {
        try (ParameterArchive archive = ParameterArchive.open(file(oneTensor(version)))) {
            assertThat(archive.format()).isEqualTo(ParameterFormat.GGUF);
            var w = (ParameterEntry.Stored) archive.find("w").orElseThrow();
            assertThat(w.data().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4, 5, 6);
            assertThat(w.origin().offset()).isEqualTo(96);
            assertThat(w.origin().type().shape()).containsExactly(2L, 3L);
            assertThat(w.origin().type()).hasToString("2x3xF32");
        }
    }

    @Test
    void skipsMetadataOfEveryTypeAndTakesItsAlignment() {
        FileBytes file = header(3, 2, 16);
        for (int type : new int[] {0, 1, 7}) {
            file.string("byte" + type).u32(type).u8(1);
        }
        for (int type : new int[] {2, 3}) {
            file.string("short" + type).u32(type).u8(1, 2);
        }
        for (int type : new int[] {4, 5, 6}) {
            file.string("int" + type).u32(type).u32(7);
        }
        for (int type : new int[] {10, 11, 12}) {
            file.string("long" + type).u32(type).u64(7);
        }
        file.string("text").u32(8).string("llama");
        file.string("words").u32(9).u32(8).u64(2).string("a").string("");
        file.string("numbers").u32(9).u32(5).u64(3).u32(1, 2, 3);
        file.string("none").u32(9).u32(10).u64(0);
        file.string("general.alignment").u32(4).u32(64);
        tensor(file, "a", F32, 0, 1);
        tensor(file, "b", F32, 64, 1);
        file.align(64).f32(1).align(64).f32(2);
        try (ParameterArchive archive = ParameterArchive.open(file(file))) {
            assertThat(archive.entries()).extracting(ParameterEntry::key).containsExactly("a", "b");
            var b = (ParameterEntry.Stored) archive.find("b").orElseThrow();
            assertThat(b.data().get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(2f);
            assertThat(b.data().address() % 64).isZero();
        }
    }

    /** Sizes as in ggml: name, number, elements and bytes of a block. */
    @ParameterizedTest
    @CsvSource({
        "F32,0,1,4",
        "F16,1,1,2",
        "Q4_0,2,32,18",
        "Q4_1,3,32,20",
        "Q5_0,6,32,22",
        "Q5_1,7,32,24",
        "Q8_0,8,32,34",
        "Q8_1,9,32,36",
        "Q2_K,10,256,84",
        "Q3_K,11,256,110",
        "Q4_K,12,256,144",
        "Q5_K,13,256,176",
        "Q6_K,14,256,210",
        "Q8_K,15,256,292",
        "IQ2_XXS,16,256,66",
        "IQ2_XS,17,256,74",
        "IQ3_XXS,18,256,98",
        "IQ1_S,19,256,50",
        "IQ4_NL,20,32,18",
        "IQ3_S,21,256,110",
        "IQ2_S,22,256,82",
        "IQ4_XS,23,256,136",
        "I8,24,1,1",
        "I16,25,1,2",
        "I32,26,1,4",
        "I64,27,1,8",
        "F64,28,1,8",
        "IQ1_M,29,256,56",
        "BF16,30,1,2",
        "TQ1_0,34,256,54",
        "TQ2_0,35,256,66",
        "MXFP4,39,32,17",
        "NVFP4,40,64,36"
    })
    void knowsTheSizeOfEachType(String name, int number, int elements, int bytes) {
        FileBytes file =
                tensor(header(3, 1, 0), "w", number, 0, 2L * elements, 3).align(32);
        file.zeros(6 * bytes);
        try (ParameterArchive archive = ParameterArchive.open(file(file))) {
            var w = (ParameterEntry.Stored) archive.find("w").orElseThrow();
            assertThat(w.length()).isEqualTo(6L * bytes);
            ParameterType type = w.origin().type();
            assertThat(type).isEqualTo(new ParameterType(name, List.of(3L, 2L * elements), elements, 8 * bytes));
        }
    }

    @Test
    void scalarsEmptyTensorsAndFilesWithoutTensorsAreFine() {
        FileBytes file = tensor(header(3, 2, 0), "scalar", F32, 0);
        tensor(file, "empty", F32, 0, 0, 5).align(32).f32(9);
        try (ParameterArchive archive = ParameterArchive.open(file(file))) {
            assertThat(archive.find("scalar").orElseThrow().length()).isEqualTo(4);
            assertThat(archive.find("empty").orElseThrow().length()).isZero();
        }
        try (ParameterArchive archive = ParameterArchive.open(file(header(3, 0, 0)))) {
            assertThat(archive.entries()).isEmpty();
        }
    }

    private void rejects(StatusCode code, FileBytes file, String... words) {
        assertThatThrownBy(() -> ParameterArchive.open(file(file)).close())
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContainingAll(words)
                .hasMessageContainingAll("model.gguf', offset ");
    }

    @Test
    void unknownVersionsAreRefused() {
        rejects(StatusCode.INCOMPATIBLE, oneTensor(1), "GGUF version 1", "reads 2 and 3");
        rejects(StatusCode.INCOMPATIBLE, oneTensor(4), "GGUF version 4");
        rejects(StatusCode.INCOMPATIBLE, oneTensor(Integer.reverseBytes(3)), "big-endian");
    }

    @Test
    void countsTooLargeForTheFileAreRefusedBeforeAllocating() {
        rejects(StatusCode.INVALID_ARGUMENT, header(3, -1, 0).zeros(64), "18446744073709551615 tensors");
        rejects(StatusCode.INVALID_ARGUMENT, header(3, 1L << 40, 0).zeros(64), "1099511627776 tensors", "room for 2");
        rejects(StatusCode.INVALID_ARGUMENT, header(3, 0, 6).zeros(64), "6 metadata entries", "room for 4");
        rejects(
                StatusCode.OUT_OF_RANGE,
                header(3, 0, 1).string("a").u32(9).u32(10).u64(1L << 61).zeros(64),
                "metadata 'a' has 2305843009213693952 elements",
                "room for 8");
        rejects(
                StatusCode.OUT_OF_RANGE,
                header(3, 0, 1).string("a").u32(8).u64(-1).zeros(8),
                "'a' needs 18446744073709551615 bytes");
    }

    @Test
    void badMetadataIsRefused() {
        rejects(StatusCode.INVALID_ARGUMENT, header(3, 0, 1).string("a").u32(13).zeros(8), "unknown type 13");
        rejects(
                StatusCode.UNIMPLEMENTED,
                header(3, 0, 1).string("a").u32(9).u32(9).u64(1).zeros(32),
                "array of arrays");
        rejects(StatusCode.INVALID_ARGUMENT, header(3, 0, 1).string("a").u32(7).u8(2), "neither 0 nor 1");
        rejects(
                StatusCode.INVALID_ARGUMENT,
                header(3, 0, 1).string("general.alignment").u32(4).u32(24),
                "'general.alignment' is 24",
                "power of two");
        rejects(
                StatusCode.INVALID_ARGUMENT,
                header(3, 0, 1).string("general.alignment").u32(10).u64(32),
                "must be a 32-bit number");
        rejects(
                StatusCode.INVALID_ARGUMENT,
                header(3, 0, 1).u64(2).u8(0xC3, 0x28).u32(4).u32(1),
                "not UTF-8");
        rejects(StatusCode.INVALID_ARGUMENT, header(3, 0, 1).u64(70_000).zeros(70_100), "the most is 65536");
    }

    private FileBytes withTensor(Consumer<FileBytes> tensor) {
        FileBytes file = header(3, 1, 0);
        tensor.accept(file);
        return file.align(32).zeros(64);
    }

    @Test
    void badTensorsAreRefused() {
        rejects(
                StatusCode.INVALID_ARGUMENT,
                withTensor(f -> tensor(f, "w", F32, 0, 1, 1, 1, 1, 1)),
                "tensor 'w' has 5 dimensions, the most is 4");
        rejects(
                StatusCode.INVALID_ARGUMENT,
                withTensor(f -> tensor(f, "w", F32, 0, -1)),
                "dimension 18446744073709551615");
        rejects(StatusCode.INVALID_ARGUMENT, withTensor(f -> tensor(f, "w", F32, 0, 1L << 40, 1L << 40)), "too many");
        rejects(StatusCode.INVALID_ARGUMENT, withTensor(f -> tensor(f, "w", F32, 0, 1L << 62)), "too many");
        rejects(StatusCode.UNIMPLEMENTED, withTensor(f -> tensor(f, "w", 4, 0, 1)), "type 4", "Q4_0");
        rejects(StatusCode.UNIMPLEMENTED, withTensor(f -> tensor(f, "w", -1, 0, 1)), "type 4294967295");
        rejects(
                StatusCode.INVALID_ARGUMENT,
                withTensor(f -> tensor(f, "w", Q4_0, 0, 33)),
                "rows of 33 elements, and Q4_0 comes in blocks of 32");
        rejects(StatusCode.INVALID_ARGUMENT, withTensor(f -> tensor(f, "w", F32, 16, 1)), "multiple of 32");
        rejects(
                StatusCode.OUT_OF_RANGE,
                withTensor(f -> tensor(f, "w", F32, 32, 9)),
                "36 bytes from byte 32",
                "data's 64");
        rejects(StatusCode.OUT_OF_RANGE, withTensor(f -> tensor(f, "w", F32, Long.MAX_VALUE & -32, 1)), "truncated");
    }

    @Test
    void tensorsWithTheSameNameOrSharedBytesAreRefused() {
        FileBytes twice = tensor(header(3, 2, 0), "w", F32, 0, 1);
        rejects(
                StatusCode.INVALID_ARGUMENT,
                tensor(twice, "w", F32, 32, 1).align(32).zeros(64),
                "tensor 'w' is defined twice");
        FileBytes shared = tensor(header(3, 2, 0), "a", F32, 0, 9);
        rejects(
                StatusCode.INVALID_ARGUMENT,
                tensor(shared, "b", F32, 32, 1).align(32).zeros(64),
                "'b' starts at byte 32",
                "within 'a' [0, 36)");
    }

    @Test
    void everyTruncatedFileIsRefused() {
        byte[] whole = oneTensor(3).toArray();
        for (int length = 4; length < whole.length; length++) {
            FileBytes cut = new FileBytes().bytes(java.util.Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> ParameterArchive.open(file(cut)).close())
                    .as("first %d bytes", length)
                    .isInstanceOf(IreeException.class);
        }
    }
}
