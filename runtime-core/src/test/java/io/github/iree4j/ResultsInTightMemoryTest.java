package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Results of an ended call are divided and cut though the device, of this machine, has no memory left: parts of results
 * need no memory, so nobody in a wait for memory of the device can be overtaken for parts.
 */
class ResultsInTightMemoryTest {
    private static final long LIMIT = 256 * 1024;

    private final IreeRuntime runtime = IreeRuntime.builder().memoryLimit(LIMIT).build();
    private final List<Tensor> fillers = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        fillers.forEach(Tensor::close);
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
        runtime.close();
    }

    /** Takes all memory of the device, with ever smaller pieces. */
    private void fill() {
        for (int size = (int) LIMIT / 4; size > 0; ) {
            try {
                fillers.add(runtime.upload(Tensor.of(new byte[size], size)));
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                size /= 2;
            }
        }
    }

    private Program echo() {
        return runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("rows", 1, Object::new)
                        .function("same", "0r_r", (_, call) -> {
                            BufferView in = call.required(BufferView.class);
                            MemorySegment bytes = in.buffer().map(MemoryAccess.READ, 0, in.byteLength());
                            Buffer copy = runtime.device().allocator().allocate(BufferParams.DEFAULT, bytes);
                            try {
                                call.returnRef(BufferView.create(copy, in.shape(), in.elementType(), in.encoding()));
                            } finally {
                                copy.release();
                            }
                        })
                        .build())
                .build());
    }

    private static Tensor rows(int rows) {
        byte[] bytes = new byte[rows * 64 * Float.BYTES];
        for (int row = 0; row < rows; row++) {
            MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_FLOAT_UNALIGNED, row * 64L * Float.BYTES, row + 1f);
        }
        return Tensor.copyOf(MemorySegment.ofArray(bytes), ElementType.F32, rows, 64);
    }

    @Test
    void resultsAreDividedThoughTheDeviceIsFull() {
        try (Program program = echo()) {
            Results results = program.function("same").invoke(rows(300));
            fill();
            List<Results> parts = results.divide(100, 200);
            try (Results first = parts.get(0);
                    Results second = parts.get(1)) {
                assertThat(first.tensor(0).shape()).isEqualTo(Shape.of(100, 64));
                assertThat(first.tensor(0).toFloatArray()[99 * 64]).isEqualTo(100);
                assertThat(second.tensor(0).shape()).isEqualTo(Shape.of(200, 64));
                assertThat(second.tensor(0).toFloatArray()[0]).isEqualTo(101);
            }
        }
    }

    @Test
    void dividedResultsHoldNoMemoryOfTheDevice() {
        try (Program program = echo()) {
            long before = live();
            List<Results> parts = program.function("same").invoke(rows(3)).divide(1, 2);
            assertThat(live()).isEqualTo(before);
            assertThat(runtime.monitor().leaks().openTensors()).isZero();
            try (Results again = program.function("same").invoke(parts.get(1).tensor(0))) {
                assertThat(again.tensor(0).toFloatArray()[64])
                        .as("a part is an input like any other")
                        .isEqualTo(3);
            }
        }
    }

    private long live() {
        return runtime.device().allocator().statistics().bytesLive();
    }

    @Test
    void paddingIsCutOffThoughTheDeviceIsFull() {
        try (Program program = runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu/variants.vmfb"))
                .parameters("model", Fixtures.file("scale_weights.irpa"))
                .variants(VariantOptions.of(
                                "sentences",
                                ShapeRules.parse("[batch length], [batch length] mask -> [batch length], [batch 4]"))
                        .functions("encode_*"))
                .build())) {
            ProgramFunction sentences = program.function("sentences");
            AlignedInputs seven = sentences
                    .variants()
                    .orElseThrow()
                    .align((Object) new float[][] {{1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2}})
                    .orElseThrow();
            Results padded = sentences.invoke(seven.inputs().toArray());
            fill();
            try (Results own = seven.cut(padded)) {
                assertThat(own.tensor(0).shape())
                        .as("no first part of the memory")
                        .isEqualTo(Shape.of(2, 7));
                assertThat(own.tensor(0).toFloatArray())
                        .containsExactly(8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16);
                assertThat(own.tensor(1).toFloatArray()).containsExactly(14, 14, 14, 14, 28, 28, 28, 28);
            }
        }
    }
}
