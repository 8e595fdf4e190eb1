package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.DispatchObserver.Outcome;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockProcessorTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int[] NONE = {};
    private static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);

    private final Counting counting = new Counting();
    private final LocalDevice device =
            (LocalDevice) new LocalBackend().open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.loader(counting)));
    private final Executable kernels = JavaKernels.load(device);
    private final Executable counter = device.createExecutable(
            new ExecutableParams(Counting.FORMAT, MemorySegment.ofArray(new byte[1]), null, NONE));
    private final CommandBuffer commands =
            device.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 4);
    private final List<Buffer> buffers = new ArrayList<>();

    @AfterEach
    void close() {
        commands.close();
        counter.close();
        kernels.close();
        buffers.forEach(Buffer::close);
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        device.close();
    }

    /** Executables with counted workgroups, or with code of a test. */
    private static final class Counting implements ExecutableLoader, LoadedExecutable {
        static final String FORMAT = "counting";
        static final int COUNT = 0;
        static final int SEQUENTIAL = 1;

        final AtomicIntegerArray runs = new AtomicIntegerArray(1 << 16);
        final AtomicInteger calls = new AtomicInteger();
        Body body = (group, tag) -> {};

        interface Body {
            void run(long group, int tag);
        }

        @Override
        public List<String> formats() {
            return List.of(FORMAT);
        }

        @Override
        public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
            return this;
        }

        @Override
        public int exportCount() {
            return 2;
        }

        @Override
        public ExecutableExport export(int ordinal) {
            return new ExecutableExport(
                    "e" + ordinal, ordinal == SEQUENTIAL ? ExecutableExport.SEQUENTIAL : 0, -1, 0, 0, 0, 0, 0);
        }

        @Override
        public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
            calls.incrementAndGet();
            for (long i = begin; i < end; i++) {
                runs.incrementAndGet((int) i);
                body.run(i, dispatch.constantCount() == 0 ? 0 : dispatch.constant(0));
            }
        }

        @Override
        public void close() {}
    }

    /** Threads that drain a processor until the end of its execution. */
    private final class Drainers extends BlockProcessor {
        private final int threads;
        private CountDownLatch over = new CountDownLatch(1);
        private volatile @Nullable IreeException stop;
        private volatile @Nullable IreeException cause;
        private final AtomicInteger ends = new AtomicInteger();
        private final AtomicInteger wanted = new AtomicInteger();
        private volatile @Nullable Thread thrower;
        private final CountDownLatch noted = new CountDownLatch(1); // the thrower has left its drain
        private @Nullable CommandOperation observed;

        Drainers(int threads) {
            super(threads);
            this.threads = threads;
        }

        @Override
        void want(int drainers, boolean first) {
            wanted.accumulateAndGet(drainers, Math::max);
        }

        @Override
        @Nullable
        IreeException stopped() {
            return stop;
        }

        @Override
        void ended(@Nullable IreeException failure) {
            cause = failure;
            ends.incrementAndGet();
            over.countDown();
        }

        /** Executes the finished recording, once or several times. */
        @Nullable
        IreeException run(int times, Buffer... slots) throws InterruptedException {
            Recording recording = ((RecordedCommandBuffer) commands).recording();
            List<Thread> all = new ArrayList<>();
            AtomicInteger left = new AtomicInteger(times);
            for (int i = 0; i < threads; i++) {
                TileRunner worker = new TileRunner(100 + i, threads);
                all.add(Thread.ofPlatform().start(() -> {
                    while (left.get() > 0) {
                        if (!drain(worker, false)) {
                            Thread.yield();
                        }
                        if (Thread.currentThread().equals(thrower)) {
                            noted.countDown();
                        }
                    }
                    worker.close();
                }));
            }
            for (int i = 0; i < times; i++) {
                over = new CountDownLatch(1);
                begin(recording, 0, recording.regionCount(), BindingTable.of(slots), null, observed);
                over.await();
                left.decrementAndGet();
            }
            for (Thread thread : all) {
                thread.join();
            }
            assertThat(ends).hasValue(times);
            return cause;
        }
    }

    /** The dispatches of an execution as reported, by one thread at a time. */
    private final class Dispatches implements DispatchObserver {
        private final LongSupplier clock;
        private final List<Integer> indices = new ArrayList<>();
        private final List<Dispatch> dispatches = new ArrayList<>();

        Dispatches(LongSupplier clock) {
            this.clock = clock;
        }

        CommandOperation of(RecordedCommandBuffer observed) {
            CommandOperation operation = new Operations.Execute(observed, null, device.callerRunners());
            operation.observeDispatches(this);
            return operation;
        }

        @Override
        public long now() {
            return clock.getAsLong();
        }

        @Override
        public void dispatched(QueueOperation operation, int index, Dispatch dispatch) {
            indices.add(index);
            dispatches.add(dispatch);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Buffer ints(int... values) {
        Buffer buffer = device.allocator().allocate(PARAMS, values.length * 4L);
        MemorySegment.copy(values, 0, buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE), INT, 0, values.length);
        buffers.add(buffer);
        return buffer;
    }

    private static int[] read(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT);
    }

    private void barrier() {
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
    }

    private void count(int groups) {
        commands.dispatch(counter, Counting.COUNT, DispatchConfig.of(groups, 1, 1), NONE, List.of(), 0);
    }

    private void count(int groups, int tag) {
        commands.dispatch(counter, Counting.COUNT, DispatchConfig.of(groups, 1, 1), new int[] {tag}, List.of(), 0);
    }

    private void scale(int factor, int offset, BufferRef from, BufferRef to, int elements) {
        commands.dispatch(
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(elements, 1, 1),
                new int[] {factor, offset},
                List.of(from, to),
                0);
    }

    private static BufferRef slot(int slot) {
        return BufferRef.slot(slot, 0, Buffer.WHOLE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aRecordingWithoutCommandsIsOverAtOnce(int threads) throws Exception {
        barrier();
        commands.finish();
        assertThat(new Drainers(threads).run(3)).isNull();
    }

    // BLOCK-1: every workgroup runs once.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void everyWorkgroupRunsOnce(int threads) throws Exception {
        count(10_000);
        commands.finish();
        assertThat(new Drainers(threads).run(20)).isNull();
        for (int i = 0; i < 10_000; i++) {
            assertThat(counting.runs.get(i)).isEqualTo(20);
        }
        assertThat(counting.runs.get(10_000)).isZero();
        assertThat(counting.calls.get()).as("calls, of several workgroups each").isLessThan(20 * 10_000 / 4);
    }

    // BLOCK-2: a region is opened once, after its predecessors are complete.
    // BLOCK-3: the tile sees the earlier writes.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void regionsRunOneAfterTheOther(int threads) throws Exception {
        int width = 64;
        for (int i = 0; i < 40; i++) {
            scale(1, 1, slot(i & 1), slot(1 - (i & 1)), i % 3 == 0 ? width : width / 2);
            scale(
                    1,
                    1,
                    BufferRef.slot(i & 1, width * 2, width * 2),
                    BufferRef.slot(1 - (i & 1), width * 2, width * 2),
                    i % 3 == 0 ? 0 : width / 2);
            barrier();
        }
        commands.finish();
        Buffer a = ints(new int[width]);
        Buffer b = ints(new int[width]);
        assertThat(new Drainers(threads).run(100, a, b)).isNull();
        assertThat(read(a)).containsOnly(40 * 100);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void randomRecordingsRunEveryWorkgroupInItsRegion(int threads) throws Exception {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        int[] before = new int[61]; // workgroups before each region
        for (int region = 0; region < 60; region++) {
            before[region + 1] = before[region];
            for (int i = random.nextInt(1, 6); i > 0; i--) {
                int groups = random.nextInt(0, 40);
                count(groups, region);
                before[region + 1] += groups;
            }
            barrier();
        }
        commands.finish();
        int all = before[60];
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        counting.body = (group, region) -> {
            int over = ran.get() % all;
            if (over < before[region] || over >= before[region + 1]) {
                wrong.incrementAndGet();
            }
            ran.incrementAndGet();
        };
        assertThat(new Drainers(threads).run(30)).as("seed %d", seed).isNull();
        assertThat(wrong).as("seed %d", seed).hasValue(0);
        assertThat(ran).as("seed %d", seed).hasValue(30 * all);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void coordinatesCoverTheGrid(int threads) throws Exception {
        commands.dispatch(kernels, JavaKernels.COORDINATES, DispatchConfig.of(4, 3, 2), NONE, List.of(slot(0)), 0);
        commands.finish();
        Buffer out = ints(new int[24]);
        assertThat(new Drainers(threads).run(1, out)).isNull();
        for (int i = 0; i < 24; i++) {
            assertThat(read(out)[i]).isEqualTo(i % 4 | i / 4 % 3 << 8 | i / 12 << 16);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void largeTransfersAreCutIntoPieces(int threads) throws Exception {
        int bytes = (1 << 20) + 12; // ends with a partial piece
        Buffer a = device.allocator().allocate(PARAMS, bytes + 8);
        Buffer b = device.allocator().allocate(PARAMS, bytes + 8);
        buffers.add(a);
        buffers.add(b);
        a.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 1);
        b.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 1);
        commands.fillBuffer(BufferRef.slot(0, 4, bytes), 0x0A0B0C0D, 4, 0);
        barrier();
        commands.copyBuffer(BufferRef.slot(0, 4, bytes), BufferRef.slot(1, 4, bytes), 0);
        commands.finish();
        Drainers drainers = new Drainers(threads);
        assertThat(drainers.run(1, a, b)).isNull();
        assertThat(drainers.wanted.get()).as("workers wanted").isEqualTo(threads);
        int[] words = read(b);
        assertThat(words[0]).isEqualTo(0x01010101);
        for (int i = 1; i <= bytes / 4; i++) {
            assertThat(words[i]).isEqualTo(0x0A0B0C0D);
        }
        assertThat(words[bytes / 4 + 1]).isEqualTo(0x01010101);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void workgroupCountsAreReadWhenTheRegionBegins(int threads) throws Exception {
        commands.updateBuffer(MemorySegment.ofArray(new int[] {50, 2, 1}), BufferRef.slot(0, 0, 12), 0);
        barrier();
        commands.dispatchIndirect(
                kernels, JavaKernels.COORDINATES, BufferRef.slot(0, 0, 12), NONE, List.of(slot(1)), 0);
        barrier();
        commands.fillBuffer(BufferRef.slot(0, 0, 12), 0, 4, 0);
        barrier();
        commands.dispatchIndirect(kernels, JavaKernels.FAIL, BufferRef.slot(0, 0, 12), NONE, List.of(), 0);
        commands.finish();
        Buffer out = ints(new int[100]);
        assertThat(new Drainers(threads).run(5, ints(0, 0, 0), out)).isNull();
        assertThat(read(out)[99]).isEqualTo(49 | 1 << 8);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void impossibleWorkgroupCountsEndTheExecution(int threads) throws Exception {
        commands.dispatchIndirect(counter, Counting.COUNT, BufferRef.slot(0, 0, 12), NONE, List.of(), 0);
        barrier();
        count(10);
        commands.finish();
        for (int[] counts : new int[][] {{1, 1, 65_536}, {1, 1, -1}, {-1, -1, 1}, {-1, 1 << 30, 65_535}}) {
            IreeException failure = new Drainers(threads).run(1, ints(counts));
            assertThat(failure).isNotNull();
            assertThat(failure.code()).isEqualTo(StatusCode.OUT_OF_RANGE);
        }
        assertThat(counting.calls).as("of any kernel").hasValue(0);
        assertThat(new Drainers(threads).run(1, ints(0, -1, 65_535))).isNull();
        assertThat(counting.runs.get(9)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aFailingKernelStopsItsRegionAndLaterRegions(int threads) throws Exception {
        count(4000);
        barrier();
        scale(0, 7, slot(0), slot(0), 1);
        commands.finish();
        IreeException lost = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
        Drainers drainers = new Drainers(threads);
        counting.body = (group, tag) -> {
            if (group == 100) {
                drainers.thrower = Thread.currentThread();
                throw lost;
            } else if (group > 1000) {
                await(drainers.noted); // the failing thread may be slower than the rest of the work
            }
        };
        Buffer untouched = ints(1);
        assertThat(drainers.run(1, untouched)).isSameAs(lost);
        assertThat(counting.runs.get(3999)).isZero();
        assertThat(read(untouched)).containsExactly(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aFailureLeavesTheProcessorUsable(int threads) throws Exception {
        commands.dispatch(kernels, JavaKernels.CRASH, DispatchConfig.of(100, 1, 1), NONE, List.of(), 0);
        commands.finish();
        Drainers drainers = new Drainers(threads);
        assertThat(drainers.run(50)).hasMessageContaining("kernel crashed");
    }

    @Test
    void executionsUnableToBeginAreOverAndTheNextMayBegin() throws Exception {
        scale(1, 1, slot(0), slot(1), 1);
        commands.finish();
        Buffer a = ints(1);
        Drainers drainers = new Drainers(1);
        assertThat(drainers.run(1, a)).as("without a buffer in the second slot").isNotNull();
        drainers.ends.set(0);
        assertThat(drainers.run(1, a, a)).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void theRestAfterACancellationDoesNotRun(int threads) throws Exception {
        count(60_000);
        barrier();
        count(1);
        commands.finish();
        Drainers drainers = new Drainers(threads);
        IreeException cancelled = IreeException.of(StatusCode.CANCELLED, "cancelled on purpose");
        CountDownLatch stopped = new CountDownLatch(1);
        counting.body = (group, tag) -> {
            if (group == 500) {
                drainers.stop = cancelled;
                stopped.countDown();
            } else if (group > 500) {
                await(stopped); // the cancelling thread may be slower than the rest of the work
            }
        };
        assertThat(drainers.run(1)).isSameAs(cancelled);
        assertThat(counting.runs.get(59_999)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aWideRegionAfterANarrowRegionWantsMoreWorkers(int threads) throws Exception {
        count(1);
        barrier();
        count(128);
        commands.finish();
        Drainers drainers = new Drainers(threads);
        assertThat(drainers.run(1)).isNull();
        assertThat(drainers.wanted.get()).isEqualTo(threads);
        assertThat(counting.runs.get(127)).isEqualTo(1);
        assertThat(counting.runs.get(0)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void moreCommandsThanARegionTakesRunAllTheSame(int threads) throws Exception {
        for (int i = 0; i < 1000; i++) {
            count(3);
        }
        commands.finish();
        assertThat(((RecordedCommandBuffer) commands).recording().regionCount()).isEqualTo(4);
        assertThat(new Drainers(threads).run(2)).isNull();
        assertThat(counting.runs.get(2)).isEqualTo(2000);
    }

    // BLOCK-4: the thread reporting a region sees the notes of each thread about its tiles.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void aDispatchIsReportedOnceWithTheTimesOfAllItsTiles(int threads) throws Exception {
        int[] groups = {300, 7, 40, 500, 1, 90, 200};
        int rounds = Effort.rounds(40);
        for (int i = 0; i < groups.length; i++) {
            count(groups[i], i);
            if (i % 3 == 0) {
                barrier();
            }
        }
        barrier();
        commands.finish();
        AtomicLong clock = new AtomicLong(1);
        long[] first = new long[groups.length]; // the writes seen by the tiles of a round
        long[] last = new long[groups.length];
        List<Set<Thread>> workers = new ArrayList<>();
        counting.body = (group, dispatch) -> {
            synchronized (first) {
                long now = clock.incrementAndGet();
                first[dispatch] = first[dispatch] == 0 ? now : first[dispatch];
                last[dispatch] = now;
                workers.get(dispatch).add(Thread.currentThread());
            }
        };
        Dispatches reported = new Dispatches(clock::incrementAndGet);
        Drainers drainers = new Drainers(threads);
        drainers.observed = reported.of((RecordedCommandBuffer) commands);
        for (int round = 0; round < rounds; round++) {
            Arrays.fill(first, 0);
            workers.clear();
            for (int i = 0; i < groups.length; i++) {
                workers.add(new HashSet<>());
            }
            reported.indices.clear();
            reported.dispatches.clear();
            drainers.ends.set(0);
            assertThat(drainers.run(1)).isNull();
            assertThat(reported.indices).containsExactly(0, 1, 2, 3, 4, 5, 6);
            for (int i = 0; i < groups.length; i++) {
                DispatchObserver.Dispatch dispatch = reported.dispatches.get(i);
                assertThat(dispatch.outcome()).isEqualTo(Outcome.ENDED);
                assertThat(dispatch.x()).isEqualTo(groups[i]);
                assertThat(dispatch.workers()).isEqualTo(workers.get(i).size());
                assertThat(dispatch.end()).isGreaterThan(last[i]);
                assertThat(dispatch.begin()).isLessThan(first[i]);
            }
        }
    }

    // BLOCK-4
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void ofARegionWithAFailingKernelEachBegunDispatchIsReportedWithItsOutcome(int threads) throws Exception {
        count(100, 0);
        count(4000, 1);
        count(10, 2);
        barrier();
        count(1, 3);
        commands.finish();
        Drainers drainers = new Drainers(threads);
        counting.body = (group, dispatch) -> {
            if (dispatch == 1 && group == 100) {
                drainers.thrower = Thread.currentThread();
                throw IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
            } else if (dispatch == 1 && group > 1000) {
                await(drainers.noted); // the failing thread may be slower than the rest of the work
            }
        };
        Dispatches reported = new Dispatches(System::nanoTime);
        drainers.observed = reported.of((RecordedCommandBuffer) commands);
        assertThat(drainers.run(1)).isNotNull();
        assertThat(reported.indices).containsExactly(0, 1);
        assertThat(reported.dispatches)
                .extracting(DispatchObserver.Dispatch::outcome)
                .containsExactly(Outcome.ENDED, Outcome.FAILED);
    }

    // BLOCK-4
    @Test
    void aDispatchStoppedBeforeItsLastTileIsReportedAsStopped() throws Exception {
        count(100, 0);
        barrier();
        count(4000, 1);
        commands.finish();
        Drainers drainers = new Drainers(1);
        counting.body = (group, dispatch) -> {
            if (dispatch == 1 && group == 100) {
                drainers.stop = IreeException.of(StatusCode.CANCELLED, "cancelled on purpose");
            }
        };
        Dispatches reported = new Dispatches(System::nanoTime);
        drainers.observed = reported.of((RecordedCommandBuffer) commands);
        assertThat(drainers.run(1)).isNotNull();
        assertThat(reported.dispatches)
                .extracting(DispatchObserver.Dispatch::outcome)
                .containsExactly(Outcome.ENDED, Outcome.STOPPED);
    }

    @Test
    void sequentialCodeRunsOnASingleThreadInASingleCall() throws Exception {
        commands.dispatch(counter, Counting.SEQUENTIAL, DispatchConfig.of(50, 2, 3), NONE, List.of(), 0);
        commands.finish();
        assertThat(new Drainers(4).run(1)).isNull();
        assertThat(counting.calls).hasValue(1);
        assertThat(counting.runs.get(299)).isEqualTo(1);
    }

    @Test
    void aBufferWithoutStorageFailsTheExecutionAndPinsNothing() throws Exception {
        scale(1, 0, slot(0), slot(1), 1);
        commands.finish();
        Buffer there = ints(1);
        Buffer missing = LocalBuffer.reserved(device.memory(), PARAMS, 4, (LocalQueue) device.queue(0), 0);
        assertThat(new Drainers(2).run(1, there, missing)).hasMessageContaining("is not allocated yet");
        missing.close();
    }

    @Test
    void hugeGridsAreCutIntoLargerTiles() {
        commands.dispatch(counter, Counting.COUNT, DispatchConfig.of(1 << 30, 1 << 10, 3), NONE, List.of(), 0);
        commands.finish();
        Recording recording = ((RecordedCommandBuffer) commands).recording();
        Region region = new Region();
        region.load(recording, new PinnedBuffers(), 0);
        assertThat(region.tiles).isBetween(1 << 22, 1 << 23);
        assertThat(region.unit(0, 0)).isZero();
        assertThat(region.unit(0, region.tiles)).isEqualTo(3L << 40);
        for (int tile = 0; tile < region.tiles; tile += 9973) {
            assertThat(region.commandOf(tile)).isZero();
            assertThat(region.unit(0, tile + 1) - region.unit(0, tile)).isEqualTo(1L << region.shift[0]);
        }
    }
}
