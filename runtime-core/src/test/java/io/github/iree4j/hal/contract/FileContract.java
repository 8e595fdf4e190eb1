package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Promises of queues about reads and writes made by the system without a waiting thread. */
@Timeout(600)
public abstract class FileContract extends DeviceContract {
    private static final int LARGE = 3_000_001; // ints: several pieces, the last of an odd size

    @TempDir
    @SuppressWarnings("NullAway") // set by JUnit
    private Path directory;

    /** On a backend, closed after each test. */
    protected FileContract(Backend backend) {
        super(backend);
    }

    private HalFile file(Path path) {
        return closed(HalFile.open(path, MemoryAccess.READ | MemoryAccess.WRITE));
    }

    private Path path(int... values) throws IOException {
        MemorySegment bytes = MemorySegment.ofArray(new byte[values.length * 4]);
        MemorySegment.copy(values, 0, bytes, INT, 0, values.length);
        return Files.write(Files.createTempFile(directory, "file", ".bin"), bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    private static int[] numbers(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = i * 7 + 1;
        }
        return numbers;
    }

    @ParameterizedTest
    @ValueSource(ints = {MemoryType.DEVICE_LOCAL, MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE})
    void aTransferOfNoBytesEnds(int memory) throws IOException {
        HalFile file = file(path(1, 2));
        Buffer buffer = closed(device.allocator().allocate(new BufferParams(memory, BufferUsage.DEFAULT), 64));
        Fence read = fence();
        Fence written = fence();
        queue.read(null, read, file, 8, buffer, 64, 0, 0);
        queue.write(read, written, buffer, 0, file, 0, 0, 0);
        written.await();
        assertThat(file.length()).isEqualTo(8);
    }

    @Test
    void largeRangesAreTransferredCompletely() throws IOException {
        int[] numbers = numbers(LARGE);
        Path original = path(numbers);
        HalFile source = file(original);
        Path copy = path();
        HalFile target = file(copy);
        try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), 4L * LARGE - 1);
        }
        Buffer buffer = ints(new int[LARGE]);
        Fence read = fence();
        Fence written = fence();
        queue.write(read, written, buffer, 0, target, 0, Buffer.WHOLE, 0); // before its wait
        queue.read(null, read, source, 0, buffer, 0, Buffer.WHOLE, 0);
        written.await();
        assertThat(read(buffer)).isEqualTo(numbers);
        assertThat(Files.mismatch(copy, original)).isEqualTo(-1);
    }

    @Test
    void manyTransfersAreUnderWayAtOnce() throws IOException {
        int count = 300;
        int[] numbers = numbers(count * 16);
        HalFile source = file(path(numbers));
        Buffer buffer = ints(new int[count * 16]);
        List<Fence> fences = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Fence done = fence();
            queue.read(null, done, source, i * 64L, buffer, (count - 1 - i) * 64L, 64, 0);
            fences.add(done);
        }
        fences.forEach(Fence::await);
        int[] found = read(buffer);
        for (int i = 0; i < count; i++) {
            assertThat(found[(count - 1 - i) * 16 + 15]).isEqualTo(numbers[i * 16 + 15]);
        }
    }

    @Test
    void aFileClosedDuringAReadIsReadAllTheSame() throws IOException {
        int[] numbers = numbers(LARGE);
        Fence wait = fence();
        Fence done = fence();
        Buffer buffer = ints(new int[LARGE]);
        try (HalFile source = HalFile.open(path(numbers), MemoryAccess.READ)) {
            queue.read(wait, done, source, 0, buffer, 0, Buffer.WHOLE, 0);
        }
        wait.signal();
        done.await();
        assertThat(read(buffer)).isEqualTo(numbers);
    }

    @Test
    void aFileEndingTooEarlyFailsItsSignals() throws IOException {
        Path path = path(numbers(LARGE));
        HalFile source = file(path);
        Buffer buffer = ints(new int[LARGE]);
        Fence wait = fence();
        Fence done = fence();
        queue.read(wait, done, source, 0, buffer, 0, Buffer.WHOLE, 0);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(100);
        }
        wait.signal();
        try {
            done.await();
        } catch (IreeException e) {
            assertThat(e.code()).isIn(StatusCode.DATA_LOSS, StatusCode.OUT_OF_RANGE);
        }
        assertThat(done.query()).isNotEqualTo(StatusCode.OK);
    }

    @Test
    void memoryOfUsersIsReadIntoToo() throws IOException {
        assume(Capability.HOST_IMPORTS);
        int[] numbers = numbers(100_000);
        HalFile source = file(path(numbers));
        try (Arena arena = Arena.ofShared()) {
            long size = (numbers.length * 4L + backend.importGranularity() - 1)
                    / backend.importGranularity()
                    * backend.importGranularity();
            MemorySegment memory = arena.allocate(size, backend.importGranularity());
            try (Buffer buffer = device.allocator().importHost(IMPORTED, memory, null)) {
                Fence done = fence();
                queue.read(null, done, source, 0, buffer, 0, numbers.length * 4L, 0);
                done.await();
                assertThat(memory.asSlice(0, numbers.length * 4L).toArray(INT)).isEqualTo(numbers);
            }
        }
    }

    @Test
    void oddRangesAreWrittenAndReadBackAndNothingElse() throws IOException {
        int[] numbers = numbers(192);
        Path path = path(numbers);
        byte[] expected = Files.readAllBytes(path);
        MemorySegment memory = MemorySegment.ofArray(expected.clone());
        for (HalFile file : List.of(file(path), closed(HalFile.ofMemory(memory, MemoryAccess.ALL, null)))) {
            byte[] bytes = new byte[512];
            new Random(7).nextBytes(bytes);
            Buffer source = closed(device.allocator().allocate(PARAMS, bytes.length));
            source.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(bytes));
            Buffer target = ints(new int[128]);
            Fence written = fence();
            Fence read = fence();
            queue.read(written, read, file, 97, target, 13, 400, 0);
            queue.write(null, written, source, 19, file, 123, 333, 0);
            read.await();
            System.arraycopy(bytes, 19, expected, 123, 333);
            byte[] found = new byte[expected.length];
            file.read(0, MemorySegment.ofArray(found));
            assertThat(found).isEqualTo(expected);
            byte[] back = new byte[512];
            System.arraycopy(expected, 97, back, 13, 400);
            assertThat(target.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(back);
        }
    }

    @Test
    void whoeverWaitsReadsMemoryOfAnyKind() throws IOException {
        int[] numbers = numbers(LARGE);
        HalFile file = file(path(numbers));
        int[] heap = new int[LARGE];
        file.read(0, MemorySegment.ofArray(heap));
        assertThat(heap).isEqualTo(numbers);
        heap[LARGE - 1] = -5;
        file.write(0, MemorySegment.ofArray(heap));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment last = arena.allocate(4);
            file.read(4L * (LARGE - 1), last);
            assertThat(last.get(INT, 0)).isEqualTo(-5);
        }
    }
}
