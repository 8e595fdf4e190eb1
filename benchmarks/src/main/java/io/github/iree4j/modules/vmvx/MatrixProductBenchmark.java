package io.github.iree4j.modules.vmvx;

import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does the blocked {@code vmvx.mmt4d} save over the plain loop, on square f32 matrices in tiles of 8 x 8 x 4?
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class MatrixProductBenchmark {
    private static final int F32 = 1;
    private static final int TILE = 8;
    private static final int DEPTH = 4;

    /** Rows, columns and depth. */
    @Param({"32", "128", "512"})
    public int size;

    private final Arena arena = Arena.ofShared();
    private final Context context = Context.create(List.of(VmvxModule.create()), ContextOptions.DEFAULTS);
    private final Invocation call = context.invocation(Objects.requireNonNull(context.function("vmvx.mmt4d")));
    private MemorySegment lhs = MemorySegment.NULL;
    private MemorySegment rhs = MemorySegment.NULL;
    private MemorySegment out = MemorySegment.NULL;
    private VmBuffer[] buffers = {};

    /** Creates the matrices. */
    @Setup
    public void allocate() {
        long bytes = (long) size * size * Float.BYTES;
        lhs = arena.allocate(bytes, 64);
        rhs = arena.allocate(bytes, 64);
        out = arena.allocate(bytes, 64);
        for (int i = 0; i < size * size; i++) {
            lhs.setAtIndex(ValueLayout.JAVA_FLOAT, i, i % 7);
            rhs.setAtIndex(ValueLayout.JAVA_FLOAT, i, i % 5);
        }
        buffers = new VmBuffer[] {
            VmBuffer.wrap(lhs, false, null), VmBuffer.wrap(rhs, false, null), VmBuffer.wrap(out, true, null)
        };
    }

    /** Frees all. */
    @TearDown
    public void close() {
        call.close();
        context.close();
        arena.close();
    }

    /** The blocked product, as called by programs. */
    @Benchmark
    public void blocked() {
        long outer = size / TILE;
        long stride = (long) size * TILE;
        call.ref(buffers[0]).i64(0).i64(stride);
        call.ref(buffers[1]).i64(0).i64(stride);
        call.ref(buffers[2]).i64(0).i64(stride);
        call.i64(outer)
                .i64(outer)
                .i64(size / DEPTH)
                .i32(TILE)
                .i32(TILE)
                .i32(DEPTH)
                .i32(F32)
                .run();
    }

    /** The plain loop. */
    @Benchmark
    public void plain() {
        int outer = size / TILE;
        int depth = size / DEPTH;
        for (int i = 0; i < outer; i++) {
            for (int j = 0; j < outer; j++) {
                for (int r = 0; r < TILE; r++) {
                    for (int c = 0; c < TILE; c++) {
                        float sum = 0;
                        for (int p = 0; p < depth; p++) {
                            for (int q = 0; q < DEPTH; q++) {
                                long left = ((long) (i * depth + p) * TILE + r) * DEPTH + q;
                                long right = ((long) (j * depth + p) * TILE + c) * DEPTH + q;
                                sum += lhs.getAtIndex(ValueLayout.JAVA_FLOAT, left)
                                        * rhs.getAtIndex(ValueLayout.JAVA_FLOAT, right);
                            }
                        }
                        out.setAtIndex(ValueLayout.JAVA_FLOAT, ((long) (i * outer + j) * TILE + r) * TILE + c, sum);
                    }
                }
            }
        }
    }
}
