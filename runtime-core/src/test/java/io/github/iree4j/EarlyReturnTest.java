package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The thread that sees the end of a call's work runs no code of others, and waits for nothing. */
@Timeout(300)
class EarlyReturnTest {
    private static final int ROWS = 40;

    /** Reports the thread of the last release. */
    private static final class Owner implements RefCounted {
        private final AtomicInteger count = new AtomicInteger();
        private final CompletableFuture<String> last = new CompletableFuture<>();

        @Override
        public void retain() {
            count.incrementAndGet();
        }

        @Override
        public void release() {
            if (count.decrementAndGet() == 0) {
                last.complete(Thread.currentThread().getName());
            }
        }
    }

    private static Tensor values() {
        return values(ROWS);
    }

    private static Tensor values(int rows) {
        return Tensor.of(new float[rows * 64], rows, 64);
    }

    private static Tensor factors() {
        return factors(ROWS);
    }

    private static Tensor factors(int rows) {
        return Tensor.of(new float[rows], rows, 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.13.0/cpu/outer.vmfb", "3.13.0/cpu-async/outer.vmfb"})
    void noWorkerReleasesObjectsOfOthers(String module) throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(Fixtures.file(module))) {
            for (int i = 0; i < 20; i++) {
                Owner owner = new Owner();
                Buffer buffer = runtime.device()
                        .allocator()
                        .importHost(BufferParams.DEFAULT, Arena.ofAuto().allocate(ROWS * 256, 64), owner);
                BufferView view = BufferView.create(
                        buffer, Shape.of(ROWS, 64), ElementType.F32, BufferView.ENCODING_DENSE_ROW_MAJOR);
                buffer.release();
                CompletableFuture<Results> called = program.function("outer").invokeAsync(view, factors());
                view.release();
                assertThat(owner.last.get(60, TimeUnit.SECONDS)).doesNotContain("-worker-");
                called.join().close();
            }
        }
    }
}
