package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Application memory used in place, or refused. */
class ImportedMemoryTest extends ProgramFixture {
    @TempDir
    private Path directory;

    @Test
    void importedMemoryIsUsedInPlace() {
        MemorySegment memory = Arena.ofAuto().allocate(16, 64);
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 1);
        try (Program program = program();
                Tensor imported = runtime.importMemory(memory, ElementType.F32, 2, 2);
                Results same = program.function("same").invoke(imported)) {
            memory.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 5);
            assertThat(same.tensor(0).toFloatArray()).containsExactly(5, 0, 0, 0);
            assertThat(runtime.monitor().leaks().bytesLive())
                    .as("bytes allocated by the device")
                    .isZero();
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file cannot be deleted")
    void mappedFilesServeWithoutACopy() throws IOException {
        Path file = directory.resolve("values");
        Files.write(file, new byte[] {1, 2, 3, 4});
        try (FileChannel channel = FileChannel.open(file);
                Program program = program()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 4, Arena.ofAuto());
            try (Tensor imported = runtime.importMemory(mapped, ElementType.I8, 4);
                    Results same = program.function("any").invoke(imported)) {
                assertThat(same.tensor(0).toByteArray()).containsExactly(1, 2, 3, 4);
                assertThat(runtime.monitor().leaks().bytesLive()).isZero();
            }
        }
    }

    @Test
    void misalignedMemoryIsRefusedWithItsAlignmentAndTheRemedy() {
        MemorySegment memory = Arena.ofAuto().allocate(128, 64);
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "0x%x is aligned to 16 bytes, compiled code needs 64; allocate it with Arena.allocate(size, 64), or copy it"
                        .formatted(memory.address() + 16),
                () -> runtime.importMemory(memory.asSlice(16), ElementType.F32, 4));
        assertThat(runtime.monitor().leaks().isClean()).isTrue();
    }

    @Test
    void memoryOfTheHeapIsRefused() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "Java heap",
                () -> runtime.importMemory(MemorySegment.ofArray(new byte[64]), ElementType.I8, 64));
    }

    @Test
    void closeableMemoryIsRefusedWithTheRemedy() {
        try (Arena arena = Arena.ofShared()) {
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "Arena.ofAuto()",
                    () -> runtime.importMemory(arena.allocate(64, 64), ElementType.I8, 64));
        }
    }

    @Test
    void memoryTooShortForItsShapeIsRefused() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "too short",
                () -> runtime.importMemory(Arena.ofAuto().allocate(64, 64), ElementType.F32, 17));
    }
}
