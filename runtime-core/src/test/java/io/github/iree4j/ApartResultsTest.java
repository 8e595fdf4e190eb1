package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Results in hidden memory of a device that may be lost. */
class ApartResultsTest {

    /** Numbers in hidden memory: each read is a transfer, failing once the device is lost. */
    private static final class ApartBuffer extends Buffer {
        private final float[] values;
        private final AtomicInteger reads = new AtomicInteger();
        private volatile @Nullable IreeException lost;

        ApartBuffer(float... values) {
            super(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT, MemoryAccess.ALL, (long) values.length * Float.BYTES);
            this.values = values.clone();
        }

        /** How often the host has read. */
        int reads() {
            return reads.get();
        }

        /** Later reads fail with this. */
        void lose(IreeException cause) {
            lost = cause;
        }

        @Override
        protected void copyToHost(long offset, MemorySegment target) {
            IreeException cause = lost;
            if (cause != null) {
                throw cause;
            }
            reads.incrementAndGet();
            target.copyFrom(MemorySegment.ofArray(values).asSlice(offset, target.byteSize()));
        }

        @Override
        protected MemorySegment hostBytes(long offset, long length) {
            throw new IllegalStateException("not mappable");
        }

        @Override
        protected void destroy() {}
    }

    private final ApartBuffer memory = new ApartBuffer(1, 2, 3, 4, 5, 6);
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(NativeModule.builder("far", 1, () -> runtime)
                    .function("rows", "0v_r", (_, call) -> {
                        memory.retain();
                        call.returnRef(BufferView.adopt(
                                memory, Shape.of(3, 2), ElementType.F32, BufferView.ENCODING_DENSE_ROW_MAJOR));
                    })
                    .build())
            .build());

    @AfterEach
    void nothingIsLeft() {
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
        program.close();
        runtime.close();
        memory.release();
        assertThat(memory.isLive()).isFalse();
    }

    private Results call() {
        return program.function("rows").invoke();
    }

    @Test
    void dividingReadsTheDeviceOnceAndThePartsDoNotNeedTheDevice() {
        List<Results> parts = call().divide(1, 2);
        assertThat(memory.reads()).isEqualTo(1);
        memory.lose(IreeException.of(StatusCode.ABORTED, "the device is lost"));
        try (Results first = parts.get(0);
                Results second = parts.get(1)) {
            assertThat(first.tensor(0).toFloatArray()).containsExactly(1, 2);
            assertThat(second.tensor(0).toFloatArray()).containsExactly(3, 4, 5, 6);
            assertThat(second.tensor(0).shape()).isEqualTo(Shape.of(2, 2));
        }
    }

    @Test
    void aTensorOnTheHostDoesNotNeedTheDevice() {
        try (Results results = call()) {
            Tensor here = results.tensor(0).onHost();
            memory.lose(IreeException.of(StatusCode.ABORTED, "the device is lost"));
            assertThat(here.toFloatArray()).containsExactly(1, 2, 3, 4, 5, 6);
            assertThat(here.onHost()).isSameAs(here);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> results.tensor(0).onHost())
                    .withMessage("the device is lost");
        }
    }

    @Test
    void bytesNotSentByTheDeviceAreNotDivided() {
        memory.lose(IreeException.of(StatusCode.ABORTED, "the device is lost"));
        try (Results results = call()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> results.divide(3))
                    .withMessage("the device is lost");
        }
    }
}
