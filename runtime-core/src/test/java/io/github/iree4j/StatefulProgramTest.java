package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A program that orders its calls on a private timeline, because each call depends on the state left by the previous
 * call.
 */
@Timeout(300)
class StatefulProgramTest {
    private static final float[] INPUT = {1, 2, 3, 4};
    private static final float[] A = {0, 1, 1, 1};
    private static final float[] B = {2, 0, 1, 3};
    private static final float[] C = {1, 1, 0, 2};

    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
        // The kernel releases its references at its own fence, perhaps after the caller's fence.
        while (runtime.device().allocator().statistics().bytesLive() != 0) {
            Thread.onSpinWait();
        }
    }

    /** 2x2 matrices; every call is work of the device behind the previous call. */
    private final class TrivialKernel implements AutoCloseable {
        private final TimelineSemaphore internal = TimelineSemaphore.create(0);
        private long submitted;
        private float[] x0 = new float[4];

        void set(VmCall call) {
            BufferView x = call.required(BufferView.class);
            x.retain();
            enqueue(call, x, () -> x0 = read(x));
        }

        void matmul(VmCall call) {
            BufferView x = call.required(BufferView.class);
            x.retain();
            enqueue(call, x, () -> x0 = product(read(x), x0));
        }

        void get(VmCall call) {
            BufferView x;
            try (var buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, 16)) {
                x = BufferView.create(buffer, Shape.of(2, 2), ElementType.F32, BufferView.ENCODING_DENSE_ROW_MAJOR);
            }
            x.retain();
            enqueue(
                    call,
                    x,
                    () -> MemorySegment.copy(
                            x0, 0, x.buffer().map(MemoryAccess.WRITE, 0, 16), ValueLayout.JAVA_FLOAT, 0, 4));
            call.returnRef(x);
        }

        private void enqueue(VmCall call, RefCounted used, Runnable work) {
            Fence wait = call.ref(Fence.class);
            Fence signal = call.ref(Fence.class);
            try (Fence before = Fence.at(internal, submitted);
                    Fence after = Fence.at(internal, ++submitted);
                    Fence ready = join(wait, before);
                    Fence done = join(signal, after)) {
                runtime.device().queue(0).hostCall(ready, done, work::run, 0);
                after.whenReached(_ -> used.release());
            }
        }

        private static Fence join(@Nullable Fence users, Fence own) {
            List<@Nullable Fence> both = new ArrayList<>();
            both.add(users);
            both.add(own);
            Fence joined = Fence.joinNullable(both);
            assertThat(joined).isNotNull();
            return joined;
        }

        private static float[] read(BufferView view) {
            return view.buffer().map(MemoryAccess.READ, 0, 16).toArray(ValueLayout.JAVA_FLOAT);
        }

        @Override
        public void close() {
            internal.close();
        }
    }

    private static float[] product(float[] a, float[] b) {
        return new float[] {
            a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]
        };
    }

    private static float[] expected() {
        return product(C, product(B, product(A, INPUT)));
    }

    private Program program() {
        return runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("kernel", 1, TrivialKernel::new)
                        .function("set", "0rrr_v", TrivialKernel::set)
                        .attribute("iree.abi.declaration", "async func @set(%x: tensor<2x2xf32>) -> ()")
                        .attribute("iree.abi.model", "coarse-fences")
                        .function("matmul", "0rrr_v", TrivialKernel::matmul)
                        .attribute("iree.abi.declaration", "async func @matmul(%x: tensor<2x2xf32>) -> ()")
                        .attribute("iree.abi.model", "coarse-fences")
                        .function("get", "0rr_r", TrivialKernel::get)
                        .attribute("iree.abi.declaration", "async func @get() -> (%x0: tensor<2x2xf32>)")
                        .attribute("iree.abi.model", "coarse-fences")
                        .build())
                .build());
    }

    @Test
    void callsAreOrderedWithoutAnyFenceOfTheUser() throws Exception {
        try (Program m = program()) {
            m.function("set").invokeAsync(INPUT);
            m.function("matmul").invokeAsync(A);
            m.function("matmul").invokeAsync(B);
            m.function("matmul").invokeAsync(C);
            try (Results output = m.function("get").invokeAsync().get()) {
                assertThat(output.tensor(0).toFloatArray()).containsExactly(expected());
            }
            m.function("set").invoke((Object) INPUT).close();
            m.function("matmul").invoke((Object) A).close();
            try (Results output = m.function("get").invoke()) {
                assertThat(output.tensor(0).toFloatArray()).containsExactly(product(A, INPUT));
            }
        }
    }

    @Test
    void callsArePipelinedWithAnotherProgramByFencesOfTheUser() throws Exception {
        try (Program m = program();
                Program next = program();
                Timeline timeline = runtime.createTimeline();
                Fence start = timeline.at(1);
                Fence computed = timeline.at(2);
                Fence passedOn = timeline.at(3)) {
            m.function("set").call(CallOptions.DEFAULTS.after(start), INPUT);
            m.function("matmul").invokeAsync(A);
            m.function("matmul").invokeAsync(B);
            m.function("matmul").invokeAsync(C);
            // The results are available before their contents, and so can be passed to the next program.
            try (Results output = m.function("get")
                    .call(CallOptions.DEFAULTS.signal(computed))
                    .get()) {
                next.function("set").call(CallOptions.DEFAULTS.after(computed), output.tensor(0));
                CompletableFuture<Results> copied = next.function("get").call(CallOptions.DEFAULTS.signal(passedOn));
                try (Results copy = copied.get()) {
                    assertThat(timeline.value()).as("nothing has run").isZero();
                    assertThat(passedOn.isReached()).isFalse();
                    start.signal();
                    passedOn.await();
                    assertThat(copy.tensor(0).toFloatArray()).containsExactly(expected());
                    assertThat(output.tensor(0).toFloatArray()).containsExactly(expected());
                }
            }
        }
    }
}
