package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Spans of submitters accompany commands to the executing nodes. */
@Timeout(120)
class RemoteTraceTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final TraceParent SPAN =
            new TraceParent(0x4bf92f3577b34da6L, 0xa3ce929d0e0e4736L, 0x00f067aa0ba902b7L);

    private final List<Spans> spans = List.of(new Spans(), new Spans(), new Spans());
    private final ThreeCpus cluster = new ThreeCpus(11, 2, number -> spans.get(number - 1));
    private final List<Device> far = List.of(cluster.far(2, 1), cluster.far(3, 1));

    /** A tracer, and its calls: "begin n name", "end n CODE". */
    private static final class Spans implements RemoteTracer {
        final ThreadLocal<@Nullable TraceParent> thread = new ThreadLocal<>();
        final List<RemoteWork> works = new ArrayList<>();
        final List<String> told = new ArrayList<>();
        volatile boolean throwing;

        @Override
        public @Nullable TraceParent current() {
            if (throwing) {
                throw new IllegalStateException("no tracer");
            }
            return thread.get();
        }

        synchronized void await(int count) throws InterruptedException {
            while (told.size() < count) {
                wait();
            }
        }

        @Override
        public synchronized Consumer<@Nullable IreeException> begin(RemoteWork work) {
            if (throwing) {
                throw new IllegalStateException("no span");
            }
            int number = works.size();
            works.add(work);
            told.add("begin %d %s".formatted(number, work.name()));
            return failure -> {
                synchronized (Spans.this) {
                    told.add("end %d %s".formatted(number, failure == null ? "OK" : failure.code()));
                    Spans.this.notifyAll();
                }
                if (throwing) {
                    throw new IllegalStateException("no end");
                }
            };
        }
    }

    @AfterEach
    void close() throws Exception {
        cluster.close();
    }

    private Buffer allocate(Device device) {
        Buffer buffer = device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 64);
        return cluster.opened(buffer);
    }

    /** Submits fills alternating between the two devices, in a row. */
    private void pipeline(int stages) {
        List<Buffer> buffers = far.stream().map(this::allocate).toList();
        try (TimelineSemaphore line = TimelineSemaphore.create(0)) {
            for (int i = 0; i < stages; i++) {
                try (Fence before = i == 0 ? null : Fence.at(line, i);
                        Fence after = Fence.at(line, i + 1)) {
                    far.get(i % 2).queue(0).fill(before, after, buffers.get(i % 2), 0, 64, i + 1, 1, 0);
                }
            }
            line.await(stages, LIMIT);
        }
    }

    @Test
    void aPipelineSubmittedInASpanHasSpansOfEachNodeBelowIt() {
        spans.getFirst().thread.set(SPAN);
        pipeline(8);
        assertThat(spans.getFirst().works).isEmpty();
        for (int i = 1; i <= 2; i++) {
            Spans node = spans.get(i);
            assertThat(node.works).hasSize(4).allSatisfy(work -> {
                assertThat(work.parent()).isEqualTo(SPAN);
                assertThat(work.peer().incarnation()).isEqualTo(1);
                assertThat(work.device()).isEqualTo("local");
                assertThat(work.steps()).isEqualTo(1);
                assertThat(work.peer().owns(work.axis())).isTrue();
            });
            assertThat(node.works).extracting(RemoteWork::epoch).isSorted().doesNotHaveDuplicates();
            assertThat(node.told)
                    .as("one after the other")
                    .containsExactly(
                            "begin 0 fill",
                            "end 0 OK",
                            "begin 1 fill",
                            "end 1 OK",
                            "begin 2 fill",
                            "end 2 OK",
                            "begin 3 fill",
                            "end 3 OK");
        }
    }

    @Test
    void aSpanBeginsWhenAllPointsAwaitedByTheCommandAreReached() {
        spans.getFirst().thread.set(SPAN);
        Buffer buffer = allocate(far.getFirst());
        Buffer other = allocate(far.getLast());
        try (TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore first = TimelineSemaphore.create(0);
                TimelineSemaphore second = TimelineSemaphore.create(0);
                TimelineSemaphore free = TimelineSemaphore.create(0);
                Fence open = Fence.at(gate, 1);
                Fence one = Fence.at(first, 1);
                Fence two = Fence.at(second, 1);
                Fence three = Fence.at(free, 1)) {
            far.getFirst().queue(0).fill(open, one, buffer, 0, 64, 1, 1, 0);
            far.getLast().queue(0).fill(one, two, other, 0, 64, 1, 1, 0); // sent at once
            assertThat(spans.getLast().told).isEmpty();
            gate.signal(1);
            two.await(LIMIT);
            assertThat(spans.getLast().told).containsExactly("begin 0 fill", "end 0 OK");
            far.getLast().queue(0).fill(null, three, other, 0, 64, 1, 1, 0);
            three.await(LIMIT);
            assertThat(spans.getLast().told).hasSize(4);
        }
    }

    @Test
    void operationsOutsideOfASpanOrWithoutCommandsHaveNoSpan() {
        pipeline(4);
        spans.getFirst().thread.set(SPAN);
        try (TimelineSemaphore done = TimelineSemaphore.create(0);
                Fence end = Fence.at(done, 1)) {
            far.getFirst().queue(0).barrier(null, end, 0);
            end.await(LIMIT);
        }
        assertThat(spans).allSatisfy(node -> assertThat(node.told).isEmpty());
    }

    @Test
    void namesDescribeTheCommand() {
        spans.getFirst().thread.set(SPAN);
        Device device = far.getFirst();
        Buffer buffer = allocate(device);
        Buffer target = allocate(device);
        try (Arena arena = Arena.ofShared();
                Executable kernels = JavaKernels.load(device);
                TimelineSemaphore line = TimelineSemaphore.create(0);
                HalFile file = HalFile.ofMemory(arena.allocate(64), MemoryAccess.READ | MemoryAccess.WRITE, null)) {
            List<Fence> at = new ArrayList<>();
            for (int i = 0; i <= 4; i++) {
                at.add(Fence.at(line, i + 1));
            }
            device.queue(0).read(null, at.get(0), file, 0, buffer, 0, 64, 0);
            device.queue(0).copy(at.get(0), at.get(1), buffer, 0, target, 0, 64, 0);
            device.queue(0)
                    .dispatch(
                            at.get(1),
                            at.get(2),
                            kernels,
                            JavaKernels.FAIL,
                            DispatchConfig.of(1, 1, 1),
                            new int[0],
                            BindingTable.of(),
                            0);
            assertThatThrownBy(() -> line.await(3, LIMIT)).isInstanceOf(IreeException.class);
            at.forEach(Fence::close);
        }
        List<String> names = spans.get(1).works.stream().map(RemoteWork::name).toList();
        assertThat(names.getFirst()).isIn("upload", "update");
        assertThat(names.subList(1, 3)).containsExactly("copy", "execute");
        assertThat(spans.get(1).told.getLast()).startsWith("end 2 ").doesNotEndWith("OK");
    }

    @Test
    void aCommandOfAnUnknownObjectHasASpanThatFails() throws InterruptedException {
        RemoteNode one = cluster.nodes.getFirst();
        RemoteSession session = one.session(2);
        long lane = one.domain().axes().allocate(CausalDomain.QUEUE);
        session.post(new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0));
        FrameWriter command =
                new FrameWriter(FrameType.COMMAND).u64(lane).u64(1).u64(1);
        TraceParent.write(SPAN, command);
        command.u8(0).u16(2); // no waits, two steps
        command.u8(Step.DOWNLOAD).u64(1L << 40 | 1).u64(1L << 40).u64(0).u64(4);
        command.u8(Step.FILL).u64(1L << 40).u64(0).u64(4).u64(0).u8(1);
        session.post(command);
        spans.get(1).await(2);
        assertThat(spans.get(1).told).containsExactly("begin 0 download", "end 0 NOT_FOUND");
        assertThat(spans.get(1).works).extracting(RemoteWork::steps).containsExactly(2);
    }

    @Test
    void exceptionsOfATracerDisturbNothing() {
        spans.getFirst().thread.set(SPAN);
        spans.get(1).throwing = true;
        pipeline(4);
        assertThat(spans.get(1).told).isEmpty();
        assertThat(spans.get(2).told).hasSize(4);
        spans.getFirst().throwing = true;
        pipeline(2);
        assertThat(spans.get(2).told).hasSize(4);
        assertThat(far).allSatisfy(device -> assertThat(device.failure()).isEmpty());
    }

    @ParameterizedTest
    @CsvSource({
        "4bf92f3577b34da6a3ce929d0e0e4736, 00f067aa0ba902b7, true",
        "a3ce929d0e0e4736, 00f067aa0ba902b7, true",
        "00000000000000000000000000000000, 00f067aa0ba902b7, false",
        "4bf92f3577b34da6a3ce929d0e0e4736, 0000000000000000, false",
        "4bf92f3577b34da6a3ce929d0e0e473, 00f067aa0ba902b7, false",
        "4bf92f3577b34da6a3ce929d0e0e473x, 00f067aa0ba902b7, false",
        "4bf92f3577b34da6a3ce929d0e0e4736, 00f067aa0ba902b, false",
        "'', '', false"
    })
    void idsAreDigitsNotAllZero(String trace, String span, boolean valid) {
        TraceParent parent = TraceParent.of(trace, span);
        assertThat(parent != null).isEqualTo(valid);
        if (parent != null) {
            assertThat(parent.traceId()).hasSize(32).endsWith(trace);
            assertThat(parent.spanId()).isEqualTo(span);
        }
    }

    @Test
    void aTraceInAFrameIsAbsentOrWhole() {
        assertThat(read(new FrameWriter(FrameType.COMMAND).u16(0))).isNull();
        FrameWriter whole = new FrameWriter(FrameType.COMMAND);
        TraceParent.write(SPAN, whole);
        assertThat(read(whole)).isEqualTo(SPAN);
        for (FrameWriter wrong : List.of(
                new FrameWriter(FrameType.COMMAND).u16(24).u64(1).u64(2),
                new FrameWriter(FrameType.COMMAND).u16(24).u64(0).u64(0).u64(1),
                new FrameWriter(FrameType.COMMAND).u16(24).u64(1).u64(2).u64(0),
                new FrameWriter(FrameType.COMMAND).u16(8).u64(1),
                new FrameWriter(FrameType.COMMAND).u16(0xFFFF).u64(1))) {
            assertThatThrownBy(() -> read(wrong))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
        }
    }

    private static @Nullable TraceParent read(FrameWriter frame) {
        return TraceParent.read(new FrameReader(PeerStream.QUEUE, frame.finish()));
    }
}
