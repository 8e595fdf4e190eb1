package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged files of every format are read or refused with a status, and never yield an entry outside of the file. */
@Tag("long")
class ParameterFilesFuzzTest {
    private static final int ROUNDS = Effort.rounds(50_000, 500_000);

    private static final int WARM_UP = 1_000;

    /** Most bytes allocated for reading a small file. */
    private static final long MAX_BYTES = 1 << 20;

    /** Most bytes allocated for each byte of a large file's index. */
    private static final long MAX_FACTOR = 64;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path directory;

    private final long seed = Effort.seed(ParameterFilesFuzzTest.class, ROUNDS + " files", 20260801);

    @Test
    void damagedIrpaIsReadOrRefused() throws IOException {
        Path file = directory.resolve("seed.irpa");
        new IrpaWriter()
                .stored("a", 1f, 2f, 3f)
                .splat("b", 32, (byte) 1, (byte) 2)
                .stored("c", 4f)
                .write(file);
        fuzz(Arrays.copyOf(Files.readAllBytes(file), 512), 360, "");
    }

    @Test
    void damagedGgufIsReadOrRefused() {
        FileBytes file = new FileBytes().text("GGUF").u32(3).u64(3, 3);
        file.string("general.alignment").u32(4).u32(64);
        file.string("text").u32(8).string("llama");
        file.string("words").u32(9).u32(8).u64(2).string("a").string("bc");
        file.string("a").u32(2).u64(2, 3).u32(0).u64(0);
        file.string("b").u32(1).u64(32).u32(2).u64(64);
        file.string("c").u32(0).u32(26).u64(128);
        file.align(64).zeros(192);
        fuzz(file.toArray(), file.size() - 192, "");
    }

    @Test
    void damagedSafetensorsIsReadOrRefused() {
        String header = """
                {"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b\\u00e9":\
                {"dtype":"F4","shape":[4],"data_offsets":[24,26]},"c":{"dtype":"U8","shape":[],"data_offsets":[26,27],"x":[1.5e3,null]}}""";
        FileBytes file = FileBytes.safetensors(header, 27);
        fuzz(file.toArray(), file.size() - 27, "{}[]\",:\\0123456789eE.-untf \t");
    }

    /** As many and as small parameters as fit, the largest growth of an index in memory. */
    @Test
    void memoryOfAnIndexIsProportionalToTheFile() {
        int count = 50_000;
        FileBytes gguf = new FileBytes().text("GGUF").u32(3).u64(count, 0);
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < count; i++) {
            String key = Integer.toString(i, 36);
            gguf.string(key).u32(0).u32(24).u64(32L * i);
            json.append(i == 0 ? "" : ",")
                    .append("\"%s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%d,%d]}".formatted(key, i, i + 1));
        }
        gguf.align(32);
        int index = gguf.size();
        assertProportional(gguf.zeros(32 * count).toArray(), index);
        assertProportional(
                FileBytes.safetensors(json.append('}').toString(), count).toArray(), json.length());
        // Unknown members, to be skipped.
        StringBuilder members = new StringBuilder("{\"a\":{\"x\":{\"0\":0");
        for (int i = 1; i < count; i++) {
            members.append(",\"").append(Integer.toString(i, 36)).append("\":0");
        }
        FileBytes skipped = FileBytes.safetensors(members.append("}}}").toString(), 0);
        assertProportional(skipped.toArray(), members.length());
    }

    private void assertProportional(byte[] file, int index) {
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            check(MemorySegment.ofArray(file));
        } catch (IreeException refused) {
            // Nor may a failure come after more allocation.
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated / index)
                .as("%d bytes for an index of %d", allocated, index)
                .isLessThan(MAX_FACTOR);
    }

    /** Damages a few bytes of the first {@code index} bytes, or cuts the file. */
    private void fuzz(byte[] valid, int index, String alphabet) {
        byte[] letters = alphabet.getBytes(StandardCharsets.US_ASCII);
        Random random = new Random(seed);
        int read = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = valid.clone();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                int at = random.nextInt(random.nextInt(4) == 0 ? bytes.length : index);
                switch (random.nextInt(letters.length == 0 ? 3 : 5)) {
                    case 0 -> bytes[at] = (byte) random.nextInt();
                    case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                    case 2 -> bytes[at] = (byte) (random.nextBoolean() ? 0xFF : 0);
                    default -> bytes[at] = letters[random.nextInt(letters.length)];
                }
            }
            int length = random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length;
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                check(MemorySegment.ofArray(bytes).asSlice(0, length));
                read++;
            } catch (IreeException expected) {
                assertThat(expected).hasMessageStartingWith("parameter archive 'fuzz', offset ");
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed %d, round %d".formatted(seed, round), e);
            }
            if (round >= WARM_UP) { // earlier rounds load classes
                assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                        .as("bytes allocated, seed %d, round %d", seed, round)
                        .isLessThan(MAX_BYTES);
            }
        }
        assertThat(read).as("surviving files, seed " + seed).isBetween(1, Math.max(1, ROUNDS - 1));
    }

    private static void check(MemorySegment bytes) {
        ArchiveSource source = new ArchiveSource(bytes, Path.of("fuzz"), null, ExternalFiles.NONE);
        Map<String, ParameterEntry> entries = switch (ParameterFormat.of(source)) {
            case IRPA -> IrpaReader.read(source);
            case GGUF -> GgufReader.read(source);
            case SAFETENSORS -> SafetensorsReader.read(source);
        };
        for (ParameterEntry entry : entries.values()) {
            if (entry instanceof ParameterEntry.Stored stored && stored.length() > 0) {
                stored.data().get(ValueLayout.JAVA_BYTE, stored.length() - 1);
            }
        }
    }
}
