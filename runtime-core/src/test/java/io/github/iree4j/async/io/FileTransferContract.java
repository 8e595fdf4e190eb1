package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract of file transfers, for every backend.
 *
 * <p>FILE-1: closing the arena of a test's memory fails while a thread's transfer uses the memory; every outcome is
 * counted.
 */
@Timeout(600)
abstract class FileTransferContract {
    private final Arena arena = Arena.ofShared();

    @TempDir
    @SuppressWarnings("NullAway") // set by JUnit
    private Path directory;

    private SystemIo io;

    /** The transfers under test. */
    abstract SystemIo.Files files();

    /** The end of a transfer. */
    private static final class Outcome implements Completion {
        int calls;
        long result = -1;

        @Nullable
        IreeException failure;

        @Override
        public void ended(long bytes, @Nullable IreeException why) {
            calls++;
            result = bytes;
            failure = why;
        }
    }

    @BeforeEach
    void open() {
        io = SystemIo.create("files", System::nanoTime, files(), descriptor -> 0);
    }

    @AfterEach
    void close() {
        io.close();
        arena.close(); // fails if a transfer still uses its memory
    }

    private Path file(byte[] contents) throws IOException {
        return Files.write(Files.createTempFile(directory, "file", ".bin"), contents);
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    private MemorySegment memory(long size) {
        return arena.allocate(Math.max(1, size)).asSlice(0, size);
    }

    private MemorySegment memory(byte[] contents) {
        MemorySegment memory = memory(contents.length);
        MemorySegment.copy(contents, 0, memory, ValueLayout.JAVA_BYTE, 0, contents.length);
        return memory;
    }

    private void await(Outcome... outcomes) {
        while (Arrays.stream(outcomes).anyMatch(each -> each.calls == 0)) {
            io.proactor().poll(Duration.ofSeconds(30));
        }
        io.proactor().poll();
        assertThat(outcomes).as("each ends once").allMatch(each -> each.calls == 1);
    }

    private Outcome read(AsyncFile file, long offset, MemorySegment target) {
        Outcome outcome = new Outcome();
        file.read(offset, target, outcome);
        await(outcome);
        return outcome;
    }

    private Outcome write(AsyncFile file, long offset, MemorySegment source) {
        Outcome outcome = new Outcome();
        file.write(offset, source, outcome);
        await(outcome);
        return outcome;
    }

    @Test
    void readsAtAnyOffset() throws IOException {
        byte[] contents = bytes(5000);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            assertThat(file.length()).isEqualTo(5000);
            for (int offset : new int[] {0, 1, 4096, 4999}) {
                MemorySegment target = memory(5000 - offset);
                Outcome outcome = read(file, offset, target);
                assertThat(outcome.failure).isNull();
                assertThat(outcome.result).isEqualTo(5000 - offset);
                assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Arrays.copyOfRange(contents, offset, 5000));
            }
        }
    }

    @Test
    void aReadAcrossTheEndIsShort() throws IOException {
        byte[] contents = bytes(100);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            MemorySegment target = memory(300);
            target.fill((byte) 0x55);
            assertThat(read(file, 60, target).result).isEqualTo(40);
            assertThat(target.asSlice(0, 40).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(contents, 60, 100));
            assertThat(target.get(ValueLayout.JAVA_BYTE, 40)).isEqualTo((byte) 0x55);
        }
    }

    @Test
    void aReadAtOrBeyondTheEndReadsNothing() throws IOException {
        try (AsyncFile file = io.open(file(bytes(100)), true, false)) {
            for (long offset : new long[] {100, 101, 1L << 40}) {
                Outcome outcome = read(file, offset, memory(10));
                assertThat(outcome.failure).isNull();
                assertThat(outcome.result).isZero();
            }
        }
    }

    @Test
    @SuppressWarnings("restricted") // the file ends before the memory does
    @DisabledOnOs(
            value = OS.WINDOWS,
            disabledReason = "Windows checks all of a target, and most of this target is no memory")
    void aReadOfMoreThanTwoGibibytesReadsUpToTheEnd() throws IOException {
        byte[] contents = bytes(1000);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            MemorySegment target = memory(1000);
            MemorySegment huge = target.reinterpret(5L << 30);
            assertThat(read(file, 0, huge).result).isEqualTo(1000);
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(contents);
        }
    }

    @Test
    void offsetsBeyondFourGibibytesAreReached() throws IOException {
        Path sparse = file(new byte[0]);
        long far = (5L << 30) + 3;
        try (AsyncFile file = io.open(sparse, true, true)) {
            assertThat(write(file, far, memory(new byte[] {1, 2, 3})).result).isEqualTo(3);
            assertThat(file.length()).isEqualTo(far + 3);
            MemorySegment target = memory(5);
            assertThat(read(file, far - 2, target).result).isEqualTo(5);
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 0, 1, 2, 3);
        }
    }

    @Test
    void writtenBytesAreInTheFile() throws IOException {
        Path path = file(bytes(100));
        byte[] contents = bytes(3000);
        try (AsyncFile file = io.open(path, false, true)) {
            assertThat(write(file, 50, memory(contents).asReadOnly()).result).isEqualTo(3000);
        }
        byte[] expected = Arrays.copyOf(bytes(100), 3050);
        System.arraycopy(contents, 0, expected, 50, 3000);
        assertThat(Files.readAllBytes(path)).isEqualTo(expected);
    }

    @Test
    void anEmptyTransferCompletes() throws IOException {
        try (AsyncFile file = io.open(file(bytes(10)), true, true)) {
            assertThat(read(file, 0, memory(0)).result).isZero();
            assertThat(write(file, 5, memory(0)).result).isZero();
            Outcome whole = new Outcome();
            file.readFully(3, memory(0), whole);
            await(whole);
            assertThat(whole.failure).isNull();
        }
    }

    @Test
    void excessTransfersWait() throws IOException {
        int count = 2000;
        byte[] contents = bytes(count * 8);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            MemorySegment target = memory(contents.length);
            Outcome[] outcomes = new Outcome[count];
            for (int i = 0; i < count; i++) {
                outcomes[i] = new Outcome();
                file.read(i * 8L, target.asSlice(i * 8L, 8), outcomes[i]);
            }
            await(outcomes);
            assertThat(outcomes).allMatch(each -> each.result == 8 && each.failure == null);
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(contents);
        }
    }

    @Test
    void aCancelledTransferEndsOnce() throws IOException {
        int count = 1000;
        byte[] contents = bytes(count * 64);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            MemorySegment target = memory(contents.length);
            Outcome[] outcomes = new Outcome[count];
            List<FileOperation> operations = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                outcomes[i] = new Outcome();
                operations.add(file.read(i * 64L, target.asSlice(i * 64L, 64), outcomes[i]));
                if (i % 100 == 50) {
                    io.proactor().poll();
                }
                operations.get(i / 2).cancel();
                operations.get(i / 2).cancel();
            }
            await(outcomes);
            for (Outcome outcome : outcomes) {
                if (outcome.failure == null) {
                    assertThat(outcome.result).isEqualTo(64);
                } else {
                    assertThat(outcome.failure.code()).isEqualTo(StatusCode.CANCELLED);
                    assertThat(outcome.failure).hasMessageContaining("read of 64 bytes at offset");
                    assertThat(outcome.result).isZero();
                }
            }
            operations.forEach(FileOperation::cancel); // over: no effect
            io.proactor().poll();
            assertThat(outcomes).allMatch(each -> each.calls == 1);
        }
    }

    /** Whether transfers begin only when the owner polls. */
    abstract boolean ownerBegins();

    @Test
    void aCancelledWaitingTransferIsNotMade() throws IOException {
        int count = 2000;
        Path path = file(new byte[64 * count]);
        try (AsyncFile file = io.open(path, true, true)) {
            MemorySegment source = memory(64L * count);
            source.fill((byte) 1);
            Outcome[] outcomes = new Outcome[count];
            List<FileOperation> operations = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                outcomes[i] = new Outcome();
                operations.add(file.write(64L * i, source.asSlice(64L * i, 64), outcomes[i]));
            }
            operations.reversed().forEach(FileOperation::cancel);
            await(outcomes);
            byte[] written = Files.readAllBytes(path);
            for (int i = 0; i < count; i++) {
                boolean made = outcomes[i].failure == null;
                assertThat(written[64 * i]).isEqualTo((byte) (made ? 1 : 0));
                assertThat(made && ownerBegins())
                        .as("made before the owner polled")
                        .isFalse();
            }
        }
    }

    @Test
    void closingEndsEveryTransferOnce() throws IOException {
        int count = 500;
        int size = 1 << 16;
        Path path = file(bytes(1 << 20));
        AsyncFile file = io.open(path, true, true);
        MemorySegment target = memory((long) count * size);
        Outcome[] outcomes = new Outcome[count];
        for (int i = 0; i < count; i++) {
            outcomes[i] = new Outcome();
            if (i % 3 == 0) {
                file.write(1 << 20, target.asSlice((long) i * size, size), outcomes[i]);
            } else {
                file.read(i, target.asSlice((long) i * size, size), outcomes[i]);
            }
            if (i == count / 2) {
                io.proactor().poll();
            }
        }
        io.close();
        assertThat(outcomes).allMatch(each -> each.calls == 1);
        assertThat(outcomes)
                .allMatch(each -> each.failure == null
                        ? each.result == size
                        : each.failure.code() == StatusCode.CANCELLED && each.result == 0);
        file.close();
        assertThat(file.isLive()).isFalse();
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> file.read(0, target, new Outcome()));
    }

    @Test
    void aClosedFileRefusesNewTransfersButFinishesOthers() throws IOException {
        byte[] contents = bytes(100_000);
        AsyncFile file = io.open(file(contents), true, false);
        MemorySegment target = memory(contents.length);
        Outcome outcome = new Outcome();
        file.read(0, target, outcome);
        file.close();
        assertRefused(() -> file.read(0, target, new Outcome()), StatusCode.FAILED_PRECONDITION, "is closed");
        await(outcome);
        assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(contents);
        assertThat(file.isLive()).isFalse();
        assertRefused(file::length, StatusCode.FAILED_PRECONDITION, "is closed");
    }

    @Test
    void invalidTransfersAreRefused() throws IOException {
        Path path = file(bytes(100));
        MemorySegment target = memory(10);
        Outcome never = new Outcome();
        try (AsyncFile file = io.open(path, true, false);
                AsyncFile log = io.open(path, false, true);
                Arena confined = Arena.ofConfined()) {
            assertRefused(() -> file.read(-1, target, never), StatusCode.OUT_OF_RANGE, "10 bytes at offset -1");
            assertRefused(() -> file.read(Long.MAX_VALUE, target, never), StatusCode.OUT_OF_RANGE, "at offset");
            assertRefused(() -> file.write(0, target, never), StatusCode.PERMISSION_DENIED, "write needs a file");
            assertRefused(() -> log.read(0, target, never), StatusCode.PERMISSION_DENIED, "read needs a file");
            assertRefused(
                    () -> file.read(0, target.asReadOnly(), never), StatusCode.INVALID_ARGUMENT, "can be written");
            assertRefused(
                    () -> file.read(0, MemorySegment.ofArray(new byte[4]), never),
                    StatusCode.INVALID_ARGUMENT,
                    "native memory");
            assertRefused(
                    () -> file.read(0, confined.allocate(4), never), StatusCode.INVALID_ARGUMENT, "threads share");
            assertRefused(() -> file.readFully(-1, target, never), StatusCode.OUT_OF_RANGE, "offset -1");
        }
        io.proactor().poll();
        assertThat(never.calls).isZero();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "files of Linux")
    void errorsOfOpenNameTheFile() {
        Path missing = directory.resolve("missing");
        assertRefused(() -> io.open(missing, true, false), StatusCode.NOT_FOUND, "file '" + missing + "'");
        assertRefused(() -> io.open(directory, true, false), StatusCode.INVALID_ARGUMENT, "not a regular file");
        assertRefused(
                () -> io.open(Path.of("/dev/zero"), true, false), StatusCode.INVALID_ARGUMENT, "not a regular file");
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "files of Linux")
    void aSystemErrorFailsTheTransfer() {
        // A regular file, unreadable at 0, where nothing is mapped.
        try (AsyncFile file = io.open(Path.of("/proc/self/mem"), true, false)) {
            Outcome outcome = read(file, 0, memory(8));
            assertThat(outcome.failure).isNotNull();
            assertThat(outcome.failure.code()).isEqualTo(StatusCode.DATA_LOSS);
            assertThat(outcome.failure)
                    .hasMessageContaining("read of 8 bytes at offset 0 of file '/proc/self/mem' failed");
        }
    }

    @Test
    void aRangeIsTransferredCompletely() throws IOException {
        byte[] contents = bytes(5 * WholeTransfer.PIECE + 12_345);
        Path path = file(contents);
        Path copy = file(new byte[0]);
        MemorySegment target = memory(contents.length - 7);
        try (AsyncFile file = io.open(path, true, false);
                AsyncFile other = io.open(copy, false, true)) {
            Outcome read = new Outcome();
            file.readFully(7, target, read);
            await(read);
            assertThat(read.failure).isNull();
            assertThat(read.result).isEqualTo(contents.length - 7);
            Outcome written = new Outcome();
            other.writeFully(0, target, written);
            await(written);
            assertThat(written.result).isEqualTo(contents.length - 7);
        }
        assertThat(Files.readAllBytes(copy)).isEqualTo(Arrays.copyOfRange(contents, 7, contents.length));
    }

    @Test
    void aRangeBeyondTheEndIsDataLoss() throws IOException {
        int size = 3 * WholeTransfer.PIECE;
        Path path = file(bytes(size));
        try (AsyncFile file = io.open(path, true, false)) {
            try (RandomAccessFile shorter = new RandomAccessFile(path.toFile(), "rw")) {
                shorter.setLength(WholeTransfer.PIECE + 10);
            }
            Outcome outcome = new Outcome();
            file.readFully(0, memory(size), outcome);
            await(outcome);
            assertThat(outcome.failure).isNotNull();
            assertThat(outcome.failure.code()).isEqualTo(StatusCode.DATA_LOSS);
            assertThat(outcome.failure).hasMessageContaining("ended at byte");
        }
    }

    @Test
    void aCancelledRangeEndsOnceItsMemoryIsUnused() throws IOException {
        byte[] contents = bytes(20 * WholeTransfer.PIECE);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            Outcome outcome = new Outcome();
            WholeTransfer transfer = file.readFully(0, memory(contents.length), outcome);
            io.proactor().poll();
            transfer.cancel();
            transfer.cancel();
            await(outcome);
            assertThat(outcome.failure).isNotNull();
            assertThat(outcome.failure.code()).isEqualTo(StatusCode.CANCELLED);
            transfer.cancel();
            assertThat(file.isLive()).isTrue();
        }
    }

    @Test
    void aStoppedRangeIsNotReadToItsEnd() throws IOException {
        byte[] contents = bytes(40 * WholeTransfer.PIECE);
        try (AsyncFile file = io.open(file(contents), true, false)) {
            MemorySegment target = memory(contents.length);
            Outcome outcome = new Outcome();
            IreeException why = IreeException.of(StatusCode.ABORTED, "no longer wanted");
            int[] asked = {0};
            file.readFully(0, target, () -> ++asked[0] < 3 ? null : why, outcome);
            await(outcome);
            assertThat(outcome.failure).isSameAs(why);
            assertThat(asked[0]).as("pieces that were read").isBetween(3, 8);
            assertThat(target.get(ValueLayout.JAVA_BYTE, contents.length - 1)).isZero();
        }
    }

    @Test
    void aRangeReadToItsEndSucceedsDespiteAStop() throws IOException {
        try (AsyncFile file = io.open(file(bytes(100)), true, false)) {
            Outcome outcome = new Outcome();
            file.readFully(0, memory(100), () -> IreeException.of(StatusCode.ABORTED, "too late"), outcome);
            await(outcome);
            assertThat(outcome.failure).isNull();
        }
    }

    @Test
    void closingEndsARangeOnce() throws IOException {
        byte[] contents = bytes(20 * WholeTransfer.PIECE);
        AsyncFile file = io.open(file(contents), true, false);
        Outcome outcome = new Outcome();
        file.readFully(0, memory(contents.length), outcome);
        io.proactor().poll();
        io.close();
        assertThat(outcome.calls).isEqualTo(1);
        assertThat(outcome.failure).isNotNull();
        file.close();
        assertThat(file.isLive()).isFalse();
    }

    @Test
    void manyThreadsTransferAtOnce() throws Exception {
        byte[] contents = bytes(1 << 20);
        Path path = file(contents);
        int count = 500;
        CountDownLatch ended = new CountDownLatch(3 * count);
        AtomicInteger wrong = new AtomicInteger();
        MemorySegment target = memory(3L * count * 512);
        try (SystemIo started = SystemIo.start("iree4j-test-files", files());
                AsyncFile file = started.open(path, true, false)) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                int first = t * count;
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = first; i < first + count; i++) {
                        MemorySegment slice = target.asSlice(i * 512L, 512);
                        long offset = i * 600L;
                        FileOperation operation = file.read(offset, slice, (result, failure) -> {
                            if (failure == null && (result != 512 || !isPart(contents, offset, slice))
                                    || failure != null && failure.code() != StatusCode.CANCELLED) {
                                wrong.incrementAndGet();
                            }
                            ended.countDown();
                        });
                        if (i % 10 == 0) {
                            operation.cancel();
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(wrong).hasValue(0);
    }

    private static boolean isPart(byte[] contents, long offset, MemorySegment slice) {
        return MemorySegment.ofArray(contents).asSlice(offset, slice.byteSize()).mismatch(slice) < 0;
    }

    private static void assertRefused(Runnable call, StatusCode code, String text) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call::run)
                .withMessageContaining(text)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }
}
