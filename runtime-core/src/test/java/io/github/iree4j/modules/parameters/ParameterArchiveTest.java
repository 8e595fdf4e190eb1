package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParameterArchiveTest {
    @TempDir
    Path directory;

    @Test
    void readsBackStoredAndSplatEntriesInFileOrder() throws IOException {
        Path file = directory.resolve("model.irpa");
        new IrpaWriter()
                .stored("a", 1f, 2f, 3f)
                .splat("b", 32, (byte) 1, (byte) 2)
                .stored("c", MemorySegment.ofArray(new byte[] {9}))
                .write(file);
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            assertThat(archive.entries()).extracting(ParameterEntry::key).containsExactly("a", "b", "c");
            var a = (ParameterEntry.Stored) archive.find("a");
            assertThat(a.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8)).isEqualTo(3f);
            assertThat(a.data().address() % 64).as("alignment of stored data").isZero();
            assertThat(((ParameterEntry.Stored) archive.find("c")).data().get(ValueLayout.JAVA_BYTE, 0))
                    .isEqualTo((byte) 9);
            var b = (ParameterEntry.Splat) archive.find("b");
            assertThat(b.length()).isEqualTo(32);
            assertThat(b.pattern()).containsExactly(1, 2);
            assertThat(archive.find("d")).isNull();
        }
        assertThat(Files.size(file) % 4096).isZero();
    }

    @Test
    void writesTheSameBytesAsTheToolsOfIree() throws IOException {
        Path splat = fixture("scale_weights.irpa");
        Path stored = fixture("scale_weights_zero.irpa");
        Path copy = directory.resolve("copy.irpa");
        new IrpaWriter()
                .splat("weight", 16, (byte) 0, (byte) 0, (byte) 0, (byte) 0x40)
                .write(copy);
        assertThat(copy).hasSameBinaryContentAs(splat);
        new IrpaWriter().stored("weight", new float[4]).write(copy);
        assertThat(copy).hasSameBinaryContentAs(stored);
    }

    @Test
    void mapsAFileOnceHoweverOftenItIsOpened() throws IOException {
        Path file = directory.resolve("model.irpa");
        new IrpaWriter().stored("a", 1f).write(file);
        ParameterArchive first = ParameterArchive.open(file);
        ParameterArchive second = ParameterArchive.open(file);
        MemorySegment one = ((ParameterEntry.Stored) first.find("a")).data();
        MemorySegment two = ((ParameterEntry.Stored) second.find("a")).data();
        assertThat(two.address()).isEqualTo(one.address());
        first.close();
        assertThat(two.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0)).isEqualTo(1f);
        second.close();
        assertThat(two.scope().isAlive()).as("mapping after the last close").isFalse();
        assertThatThrownBy(() -> second.find("a")).hasMessageContaining("is closed");
    }

    @Test
    void keepsTheMappingWhileAnEntryIsRetained() throws IOException {
        Path file = directory.resolve("model.irpa");
        new IrpaWriter().stored("a", 7f).write(file);
        ParameterEntry.Stored entry;
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            entry = (ParameterEntry.Stored) archive.find("a");
            entry.owner().retain();
        }
        assertThat(entry.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0)).isEqualTo(7f);
        entry.owner().release();
        assertThat(entry.data().scope().isAlive()).isFalse();
    }

    @Test
    void readsLinkedArchivesAndSkipsErasedEntries() throws IOException {
        Path one = directory.resolve("one.irpa");
        Path two = directory.resolve("two.irpa");
        new IrpaWriter().stored("a", 1f).stored("erased", 2f).write(one);
        new IrpaWriter().stored("b", 3f).write(two);
        byte[] first = Files.readAllBytes(one);
        ByteBuffer joined =
                ByteBuffer.allocate(first.length + (int) Files.size(two)).order(ByteOrder.LITTLE_ENDIAN);
        joined.put(first).put(Files.readAllBytes(two));
        joined.putLong((int) IrpaFormat.NEXT_HEADER, first.length);
        joined.putInt(96 + 80 + (int) IrpaFormat.ENTRY_TYPE, IrpaFormat.TYPE_SKIP);
        Files.write(one, joined.array());
        try (ParameterArchive archive = ParameterArchive.open(one)) {
            assertThat(archive.entries()).extracting(ParameterEntry::key).containsExactly("a", "b");
            assertThat(((ParameterEntry.Stored) archive.find("b")).data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0))
                    .isEqualTo(3f);
        }
    }

    @Test
    void splatContinuesItsPatternFromAnyOffset() {
        var splat = new ParameterEntry.Splat("x", 16, new byte[] {1, 2, 3, 4});
        byte[] target = new byte[7];
        splat.fill(3, MemorySegment.ofArray(target));
        assertThat(target).containsExactly(4, 1, 2, 3, 4, 1, 2);
    }

    @Test
    void missingFileIsNotFoundWithItsPath() {
        assertThatThrownBy(() -> ParameterArchive.open(directory.resolve("none.irpa")))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                .hasMessageContaining("none.irpa");
    }

    @Test
    void rejectsDamagedArchivesSayingWhat() throws IOException {
        assertRejected(b -> b.putInt(0, 0x12345678), StatusCode.INVALID_ARGUMENT, "magic 12345678");
        assertRejected(b -> b.putShort(4, (short) 3), StatusCode.INCOMPATIBLE, "version 3.0");
        assertRejected(b -> b.putLong(8, 4096), StatusCode.INVALID_ARGUMENT, "header");
        assertRejected(b -> b.putLong(32, -1), StatusCode.INVALID_ARGUMENT, "18446744073709551615 entries");
        assertRejected(b -> b.putLong(40, 1 << 20), StatusCode.OUT_OF_RANGE, "entry table");
        assertRejected(b -> b.putLong(96, 10), StatusCode.OUT_OF_RANGE, "entry 0 has 10 bytes");
        assertRejected(b -> b.putInt(96 + 8, 3), StatusCode.UNIMPLEMENTED, "another file");
        assertRejected(b -> b.putInt(96 + 8, 77), StatusCode.UNIMPLEMENTED, "unknown type 77");
        assertRejected(b -> b.putLong(96 + 60, Long.MAX_VALUE), StatusCode.OUT_OF_RANGE, "data of entry 'weight'");
        assertRejected(b -> b.putLong(96 + 28, 1 << 30), StatusCode.OUT_OF_RANGE, "name of entry 0");
        assertRejected(b -> b.putLong(16, 1), StatusCode.INVALID_ARGUMENT, "links");
        assertRejected(b -> b.putLong(16, 88), StatusCode.INVALID_ARGUMENT, "magic");
    }

    private void assertRejected(Consumer<ByteBuffer> damage, StatusCode code, String words) throws IOException {
        Path file = Files.createTempFile(directory, "damaged", ".irpa");
        new IrpaWriter().stored("weight", 1f, 2f).write(file);
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        damage.accept(bytes);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> ParameterArchive.open(file))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(words);
    }

    @Test
    void mutatedArchivesAreReadOrRejectedWithAStatus() throws IOException {
        Path file = directory.resolve("seed.irpa");
        new IrpaWriter()
                .stored("a", 1f, 2f, 3f)
                .splat("b", 32, (byte) 1, (byte) 2)
                .stored("c", 4f)
                .write(file);
        byte[] seedBytes = java.util.Arrays.copyOf(Files.readAllBytes(file), 512);
        long seed = Long.getLong("iree.test.seed", 20260801);
        Random random = new Random(seed);
        int read = 0;
        for (int round = 0; round < 50_000; round++) {
            byte[] bytes = seedBytes.clone();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                int at = random.nextInt(random.nextInt(4) == 0 ? bytes.length : 360);
                switch (random.nextInt(3)) {
                    case 0 -> bytes[at] = (byte) random.nextInt();
                    case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                    default -> bytes[at] = (byte) (random.nextBoolean() ? 0xFF : 0);
                }
            }
            int length = random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length;
            try {
                var entries = IrpaReader.read(MemorySegment.ofArray(bytes).asSlice(0, length), "fuzz", null);
                entries.values().forEach(entry -> {
                    if (entry instanceof ParameterEntry.Stored stored && stored.length() > 0) {
                        stored.data().get(ValueLayout.JAVA_BYTE, stored.length() - 1);
                    }
                });
                read++;
            } catch (IreeException expected) {
                assertThat(expected).hasMessageContaining("fuzz");
            } catch (RuntimeException e) {
                throw new AssertionError("seed %d, round %d".formatted(seed, round), e);
            }
        }
        assertThat(read).as("files that survived, seed " + seed).isBetween(1, 49_999);
    }

    private static Path fixture(String name) {
        Path path = Path.of(System.getProperty("iree4j.shared", "../../shared"), "vmfb", name);
        Assumptions.assumeTrue(Files.exists(path), () -> "fixture absent: " + path);
        return path;
    }
}
