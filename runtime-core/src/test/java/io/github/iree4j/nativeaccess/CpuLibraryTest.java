package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class CpuLibraryTest {
    private static final int ADD = 0;
    private static final int RECORD = 1;
    private static final int FAIL_AT = 2;
    private static final int SUM_LOCAL = 3;

    @Test
    void addsFourFloats() {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(3 * 64, 64);
            float[] a = {1, 2, 3, 4};
            float[] b = {10, 20, 30, 40};
            MemorySegment.copy(a, 0, data, ValueLayout.JAVA_FLOAT, 0, 4);
            MemorySegment.copy(b, 0, data, ValueLayout.JAVA_FLOAT, 64, 4);
            DispatchState state = new DispatchState()
                    .begin(0, 3)
                    .workgroupCount(4, 1, 1)
                    .binding(0, data, 0, 16)
                    .binding(1, data, 64, 16)
                    .binding(2, data, 128, 16);
            library.dispatch(library.lookup("add"), state, 0, 4, MemorySegment.NULL, 0);
            assertThat(data.asSlice(128, 16).toArray(ValueLayout.JAVA_FLOAT)).containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void exportsAreDescribed() {
        try (CpuLibrary library = TestKernels.basic()) {
            assertThat(library.exportCount()).isEqualTo(4);
            assertThat(library.lookup("record")).isEqualTo(RECORD);
            assertThat(library.lookup("missing")).isEqualTo(-1);
            assertThat(library.exportName(FAIL_AT)).isEqualTo("fail_at");
            assertThat(library.export(RECORD)).isEqualTo(new CpuExport("record", 2, 1, 4, 2, 3, 0, 0));
            assertThat(library.export(SUM_LOCAL).localMemoryBytes()).isEqualTo(8192);
            assertThat(library.export(SUM_LOCAL).flags()).as("sequential").isEqualTo(1);
            assertThat(library.export(FAIL_AT).flags())
                    .as("dynamic workgroup size")
                    .isEqualTo(2);
            assertThat(library.export(ADD).flags()).isZero();
            assertThatThrownBy(() -> library.export(4)).hasMessage("export 4 of executable 'basic', which has 4");
        }
    }

    /** Records of 8 ints per workgroup of a 5 x 3 x 2 grid; see {@code record} in basic.c. */
    private static DispatchState recordState(MemorySegment records) {
        return new DispatchState()
                .begin(2, 1)
                .workgroupCount(5, 3, 2)
                .constants(new int[] {0, 123, 456}, 1)
                .binding(0, records, 0, records.byteSize());
    }

    @Test
    void kernelsSeeTheirWorkgroupConstantsProcessorAndFeatures() {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofConfined()) {
            MemorySegment records = arena.allocate(30 * 32, 64).fill((byte) 0xEE);
            library.dispatch(RECORD, recordState(records), 7, 22, MemorySegment.NULL, 9);
            for (int i = 0; i < 30; i++) {
                int[] record = records.asSlice(i * 32L, 32).toArray(ValueLayout.JAVA_INT);
                if (i < 7 || i >= 22) {
                    assertThat(record).containsOnly(0xEEEEEEEE);
                } else {
                    assertThat(record)
                            .containsExactly(i % 5, i / 5 % 3, i / 15, 123, 456, 9, 77, (int) CpuFeatures.fields()[0]);
                }
            }
        }
    }

    @Test
    void slicesOfADispatchRunOnManyThreads() throws Exception {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofShared()) {
            for (int round = 0; round < 100; round++) {
                MemorySegment records = arena.allocate(30 * 32, 64);
                DispatchState state = recordState(records);
                inParallel(
                        3,
                        worker -> library.dispatch(
                                RECORD, state, worker * 10L, worker * 10L + 10, MemorySegment.NULL, worker));
                for (int i = 0; i < 30; i++) {
                    assertThat(records.get(ValueLayout.JAVA_INT, i * 32L + 20)).isEqualTo(i / 10);
                }
            }
        }
    }

    @Test
    void failuresKeepTheirMessagesApartAcrossVirtualThreads() throws Exception {
        try (CpuLibrary library = TestKernels.basic()) {
            List<Thread> threads = new ArrayList<>();
            AtomicInteger wrong = new AtomicInteger();
            int calls = 20;
            for (int t = 0; t < 200; t++) {
                int where = t;
                threads.add(Thread.startVirtualThread(() -> {
                    DispatchState state = new DispatchState()
                            .begin(1, 0)
                            .workgroupCount(1000, 1, 1)
                            .constant(0, where);
                    String expected =
                            "dispatch 'fail_at' failed in workgroup (%d, 0, 0) of 1000 x 1 x 1: the kernel returned %d"
                                    .formatted(where, 40 + where);
                    for (int i = 0; i < calls; i++) {
                        try {
                            library.dispatch(FAIL_AT, state, 0, 1000, MemorySegment.NULL, 0);
                            wrong.incrementAndGet();
                        } catch (IreeException e) {
                            if (e.code() != StatusCode.INTERNAL || !expected.equals(e.getMessage())) {
                                wrong.incrementAndGet();
                            }
                        }
                        Thread.yield();
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(wrong).hasValue(0);
        }
    }

    @Test
    void localMemoryIsUsedInFull() {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 64);
            DispatchState state =
                    new DispatchState().begin(0, 1).workgroupCount(3, 1, 1).binding(0, out, 0, 8);
            library.dispatch(SUM_LOCAL, state, 0, 3, arena.allocate(8192, 64), 0);
            assertThat(out.toArray(ValueLayout.JAVA_INT)).containsExactly(3, 8192);
        }
    }

    @Test
    void wrongArgumentsAreRefusedBeforeTheKernelRuns() {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8, 64);
            DispatchState state =
                    new DispatchState().begin(0, 1).workgroupCount(3, 1, 1).binding(0, out, 0, 8);
            fails(
                    StatusCode.INVALID_ARGUMENT,
                    "needs 8192 bytes of local memory",
                    () -> library.dispatch(SUM_LOCAL, state, 0, 3, MemorySegment.NULL, 0));
            fails(
                    StatusCode.INVALID_ARGUMENT,
                    "is heap memory",
                    () -> library.dispatch(SUM_LOCAL, state, 0, 3, MemorySegment.ofArray(new byte[8192]), 0));
            fails(
                    StatusCode.OUT_OF_RANGE,
                    "[0, 4) of dispatch 'sum_local' do not lie in its grid of 3 x 1 x 1",
                    () -> library.dispatch(SUM_LOCAL, state, 0, 4, arena.allocate(8192, 64), 0));
            fails(
                    StatusCode.OUT_OF_RANGE,
                    "[18446744073709551615, 2)",
                    () -> library.dispatch(SUM_LOCAL, state, -1, 2, arena.allocate(8192, 64), 0));
            fails(StatusCode.OUT_OF_RANGE, "export 9", () -> library.dispatch(9, state, 0, 1, MemorySegment.NULL, 0));
            fails(
                    StatusCode.OUT_OF_RANGE,
                    "export 4294967295",
                    () -> library.dispatch(-1, state, 0, 1, MemorySegment.NULL, 0));
            fails(
                    StatusCode.INVALID_ARGUMENT,
                    "takes 2 constants and 1 bindings, 0 and 1",
                    () -> library.dispatch(RECORD, state, 0, 1, MemorySegment.NULL, 0));
            MemorySegment freed;
            try (Arena brief = Arena.ofConfined()) {
                freed = brief.allocate(8192, 64);
            }
            fails(
                    StatusCode.FAILED_PRECONDITION,
                    "local memory of executable 'basic' is closed",
                    () -> library.dispatch(SUM_LOCAL, state, 0, 3, freed, 0));
            assertThat(out.toArray(ValueLayout.JAVA_INT)).containsExactly(0, 0);
        }
    }

    @Test
    void unrunnableLibrariesReportWhy() {
        loadFails("old_version", StatusCode.INCOMPATIBLE, "version is 2, versions 3 to 6 can be run");
        loadFails("sanitized", StatusCode.UNIMPLEMENTED, "sanitizer 1 (address)");
        loadFails("required_import", StatusCode.UNAVAILABLE, "'iree_uk_mmt4d'");
        loadFails("undefined", StatusCode.UNAVAILABLE, "'missing_function'");
        loadFails("gnu_hash", StatusCode.INVALID_ARGUMENT, "--hash-style=sysv");
        fails(
                StatusCode.FAILED_PRECONDITION,
                "executable 'x': library takes 1 specialization constants, 0",
                () -> CpuLibrary.load("x", TestKernels.elf("basic"), new int[0]));
        fails(
                StatusCode.INVALID_ARGUMENT,
                "executable 'x': malformed ELF: 0 bytes",
                () -> CpuLibrary.load("x", MemorySegment.NULL, new int[0]));
    }

    private static void loadFails(String kernel, StatusCode code, String text) {
        fails(code, text, () -> CpuLibrary.load(kernel, TestKernels.elf(kernel), new int[] {1}));
    }

    private static void fails(StatusCode code, String text, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    @Test
    void optionalImportsMayBeMissing() {
        CpuLibrary.load("optional", TestKernels.elf("optional_import"), new int[] {1})
                .close();
    }

    @Test
    void truncatedFilesAreRejected() {
        MemorySegment elf = TestKernels.elf("basic");
        Random random = new Random(42);
        for (int i = 0; i < 500; i++) {
            long size = random.nextLong(elf.byteSize());
            assertThatThrownBy(() -> CpuLibrary.load("cut", elf.asSlice(0, size), new int[] {1}))
                    .as("first %d bytes", size)
                    .isInstanceOf(IreeException.class);
        }
    }

    @Test
    void useAfterCloseThrowsAndClosingIsIdempotent() {
        CpuLibrary library = TestKernels.basic();
        DispatchState state =
                new DispatchState().begin(1, 0).workgroupCount(1, 1, 1).constant(0, 5);
        library.dispatch(FAIL_AT, state, 0, 1, MemorySegment.NULL, 0);
        library.close();
        library.close();
        fails(
                StatusCode.FAILED_PRECONDITION,
                "executable 'basic' is closed",
                () -> library.dispatch(FAIL_AT, state, 0, 1, MemorySegment.NULL, 0));
    }

    /**
     * Found by this test: while calls counted as references, two overlapping calls kept a closed library alive forever.
     */
    @Test
    void closingDuringCallsLetsThemFinish() throws Exception {
        for (int round = 0; round < Effort.rounds(200); round++) {
            CpuLibrary library = TestKernels.basic();
            DispatchState state =
                    new DispatchState().begin(1, 0).workgroupCount(2000, 1, 1).constant(0, -1);
            CountDownLatch running = new CountDownLatch(2);
            inParallel(3, worker -> {
                if (worker == 2) {
                    await(running);
                    library.close();
                    return;
                }
                try {
                    while (true) {
                        library.dispatch(FAIL_AT, state, 0, 2000, MemorySegment.NULL, 0);
                        running.countDown();
                    }
                } catch (IreeException e) {
                    assertThat(e).hasMessage("executable 'basic' is closed");
                }
            });
            assertThat(library.isLive()).isFalse();
        }
    }

    @Test
    void holdersOfReferencesMayCallAfterTheCreatorClosed() {
        CpuLibrary library = TestKernels.basic();
        DispatchState state =
                new DispatchState().begin(1, 0).workgroupCount(1, 1, 1).constant(0, 5);
        library.retain();
        library.close();
        library.dispatch(FAIL_AT, state, 0, 1, MemorySegment.NULL, 0);
        library.release();
        fails(
                StatusCode.FAILED_PRECONDITION,
                "is closed",
                () -> library.dispatch(FAIL_AT, state, 0, 1, MemorySegment.NULL, 0));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void inParallel(int workers, Consumer<Integer> work) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            int worker = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    work.accept(worker);
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }
}
