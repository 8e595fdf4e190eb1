package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
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
            var a = (ParameterEntry.Stored) archive.find("a").orElseThrow();
            assertThat(a.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8)).isEqualTo(3f);
            assertThat(a.data().address() % 64).as("alignment of stored data").isZero();
            assertThat(((ParameterEntry.Stored) archive.find("c").orElseThrow())
                            .data()
                            .get(ValueLayout.JAVA_BYTE, 0))
                    .isEqualTo((byte) 9);
            var b = (ParameterEntry.Splat) archive.find("b").orElseThrow();
            assertThat(b.length()).isEqualTo(32);
            assertThat(b.pattern()).containsExactly(1, 2);
            assertThat(archive.find("d")).isEmpty();
        }
        assertThat(Files.size(file) % 4096).isZero();
    }

    @Test
    void writesTheSameBytesAsTheToolsOfIree() throws IOException {
        Path splat = Fixtures.file("scale_weights.irpa");
        Path stored = Fixtures.file("scale_weights_zero.irpa");
        Path copy = directory.resolve("copy.irpa");
        new IrpaWriter()
                .splat("weight", 16, (byte) 0, (byte) 0, (byte) 0, (byte) 0x40)
                .write(copy);
        assertThat(copy).hasSameBinaryContentAs(splat);
        new IrpaWriter().stored("weight", new float[4]).write(copy);
        assertThat(copy).hasSameBinaryContentAs(stored);
    }

    @Test
    void mapsAFileOnceForAnyNumberOfOpenings() throws IOException {
        Path file = directory.resolve("model.irpa");
        new IrpaWriter().stored("a", 1f).write(file);
        ParameterArchive first = ParameterArchive.open(file);
        ParameterArchive second = ParameterArchive.open(file);
        MemorySegment one = ((ParameterEntry.Stored) first.find("a").orElseThrow()).data();
        MemorySegment two = ((ParameterEntry.Stored) second.find("a").orElseThrow()).data();
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
            entry = (ParameterEntry.Stored) archive.find("a").orElseThrow();
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
            assertThat(((ParameterEntry.Stored) archive.find("b").orElseThrow())
                            .data()
                            .get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0))
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
    void rejectsDamagedArchivesNamingTheDamage() throws IOException {
        assertRejected(b -> b.putInt(0, 0x12345678), StatusCode.INVALID_ARGUMENT, "magic 78 56 34 12");
        assertRejected(b -> b.putShort(4, (short) 3), StatusCode.INCOMPATIBLE, "version 3.0");
        assertRejected(b -> b.putLong(8, 4096), StatusCode.INVALID_ARGUMENT, "header");
        assertRejected(b -> b.putLong(32, -1), StatusCode.INVALID_ARGUMENT, "18446744073709551615 entries");
        assertRejected(b -> b.putLong(40, 1 << 20), StatusCode.OUT_OF_RANGE, "entry table");
        assertRejected(b -> b.putLong(96, 10), StatusCode.OUT_OF_RANGE, "entry 0 has 10 bytes");
        assertRejected(b -> b.putInt(96 + 8, 3), StatusCode.OUT_OF_RANGE, "entry 'weight' has 76 bytes");
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
    void recognizesFilesOfNoArchive() throws IOException {
        assertNone("version https://git-lfs.github.com/spec/v1\n", "Git LFS");
        assertNone("PK\003\004torch", "ZIP archive");
        assertNone("<!doctype html>", "HTML page");
        assertNone("what?", "magic 77 68 61 74");
        assertNone("", "0 bytes, magic missing");
        assertThatThrownBy(() -> ParameterArchive.open(directory)).hasMessageContaining("is a directory");
    }

    private void assertNone(String content, String words) throws IOException {
        Path file = Files.writeString(directory.resolve("model.irpa"), content);
        assertThatThrownBy(() -> ParameterArchive.open(file))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining("not an .irpa, .gguf or .safetensors file")
                .hasMessageContaining(words);
    }

    /** An archive with an entry in another file, as specified by the format's header: type 3, path, absolute range. */
    private Path external(String path, long offset, long length) {
        FileBytes file = new FileBytes().text("IRPA").u32(0).u64(88, 0, 0, 1);
        int names = 96 + 96;
        file.u64(96, 92, names, 1 + path.length(), 0, 0).align(16);
        file.u64(92)
                .u32(3)
                .u64(0)
                .u64(0, 1)
                .u64(0, 0)
                .u64(0)
                .u64(1, path.length())
                .u64(offset, length);
        return file.align(16).text("x" + path).write(directory.resolve("external.irpa"));
    }

    @Test
    void readsEntriesInAnotherFileOfTheSameDirectory() throws IOException {
        Files.createDirectory(directory.resolve("parts"));
        Files.write(directory.resolve("parts/one.bin"), new byte[] {0, 1, 2, 3, 4, 5});
        ParameterEntry.Stored x;
        try (ParameterArchive archive = ParameterArchive.open(external("parts/one.bin", 2, 3))) {
            x = (ParameterEntry.Stored) archive.find("x").orElseThrow();
            assertThat(x.data().toArray(ValueLayout.JAVA_BYTE)).containsExactly(2, 3, 4);
            assertThat(x.origin().offset()).isEqualTo(2);
            assertThat(x.origin().file()).hasFileName("one.bin");
            x.owner().retain();
        }
        assertThat(x.data().get(ValueLayout.JAVA_BYTE, 0))
                .as("after its archive")
                .isEqualTo((byte) 2);
        x.owner().release();
        assertThat(x.data().scope().isAlive()).isFalse();
    }

    @Test
    void anArchiveCannotExposeFilesOutsideOfItsDirectory() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "secret");
        for (String path : new String[] {"../secret", secret.toString(), "x/../../secret", ""}) {
            assertDenied(path);
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "links need a right on Windows")
    void anArchiveCannotExposeFilesOutsideOfItsDirectoryByALink() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "secret");
        Files.createSymbolicLink(
                Files.createDirectory(directory.resolve("inside")).resolve("link"), secret);
        assertDenied("link");
    }

    /** Opens an archive in a directory below, with an entry in the file of the given path. */
    private void assertDenied(String path) throws IOException {
        Path archive = Files.createDirectories(directory.resolve("inside")).resolve("external.irpa");
        Files.move(external(path, 0, 1), archive, StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> ParameterArchive.open(archive))
                .as(path)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.PERMISSION_DENIED))
                .hasMessageContaining("entry 'x'");
    }

    @Test
    void entriesInOtherFilesMustExistAndFit() throws IOException {
        assertThatThrownBy(() -> ParameterArchive.open(external("none.bin", 0, 1)))
                .hasMessageContaining("none.bin")
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
        Files.write(directory.resolve("six.bin"), new byte[6]);
        assertThatThrownBy(() -> ParameterArchive.open(external("six.bin", 4, 3)))
                .hasMessageContaining("offset 4, length 3")
                .hasMessageContaining("6 bytes");
        assertThatThrownBy(() -> ParameterArchive.open(external("six.bin", -1, 1)))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE));
    }

    @Test
    void writesToAWritableArchiveAreInTheFile() throws IOException {
        Path file = directory.resolve("model.irpa");
        new IrpaWriter().stored("a", 1f, 2f).write(file);
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            assertThat(((ParameterEntry.Stored) archive.find("a").orElseThrow())
                            .data()
                            .isReadOnly())
                    .isTrue();
        }
        try (ParameterArchive archive = ParameterArchive.openWritable(file)) {
            ((ParameterEntry.Stored) archive.find("a").orElseThrow())
                    .data()
                    .set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4, 7f);
        }
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            var a = (ParameterEntry.Stored) archive.find("a").orElseThrow();
            assertThat(a.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)).containsExactly(1f, 7f);
        }
    }
}
