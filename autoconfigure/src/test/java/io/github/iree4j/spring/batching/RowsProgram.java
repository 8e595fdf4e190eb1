package io.github.iree4j.spring.batching;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A program with functions that double rows: {@code twice} any number of rows of two numbers, {@code four} four rows,
 * and {@code wide} rows of 128 KiB. The results are memory of the device.
 */
final class RowsProgram implements AutoCloseable {
    static final int WIDE = 32768;

    private final IreeRuntime runtime;
    private final Program program;
    private final LoadedProgram loaded;

    RowsProgram(IreeRuntime runtime) {
        this.runtime = runtime;
        this.program = runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("rows", 1, Object::new)
                        .function("twice", "0r_r", (_, call) -> twice(call))
                        .attribute(
                                "iree.abi.declaration",
                                "sync func @twice(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                        .function("four", "0r_r", (_, call) -> twice(call))
                        .attribute(
                                "iree.abi.declaration", "sync func @four(%x: tensor<4x2xf32>) -> (%y: tensor<4x2xf32>)")
                        .function("wide", "0r_r", (_, call) -> twice(call))
                        .attribute(
                                "iree.abi.declaration",
                                "sync func @wide(%x: tensor<?x32768xf32>) -> (%y: tensor<?x32768xf32>)")
                        .build())
                .build());
        this.loaded = new LoadedProgram(ProgramSource.of("rows", "rows.vmfb"), List.of(program));
    }

    private void twice(VmCall call) {
        BufferView in = call.required(BufferView.class);
        float[] values = in.buffer().map(MemoryAccess.READ, 0, in.byteLength()).toArray(ValueLayout.JAVA_FLOAT);
        for (int i = 0; i < values.length; i++) {
            values[i] *= 2;
        }
        Buffer doubled = runtime.device().allocator().allocate(BufferParams.DEFAULT, MemorySegment.ofArray(values));
        try {
            call.returnRef(BufferView.create(doubled, in.shape(), in.elementType(), in.encoding()));
        } finally {
            doubled.release();
        }
    }

    /** A request for a call of a function. */
    InvocationRequest request(String function, boolean blocking, float... values) {
        int columns = function.equals("wide") ? WIDE : 2;
        return new InvocationRequest(
                loaded,
                program.function(function),
                List.of(Tensor.of(values, values.length / columns, columns)),
                CallOptions.DEFAULTS,
                blocking);
    }

    /** The end of the chain, on the calling thread. */
    static CompletableFuture<Results> callHere(InvocationRequest request) {
        try {
            return CompletableFuture.completedFuture(
                    request.function().invoke(request.inputs().toArray()));
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The end of the chain. */
    static CompletableFuture<Results> call(InvocationRequest request) {
        return request.blocking()
                ? callHere(request)
                : request.function().call(request.options(), request.inputs().toArray());
    }

    @Override
    public void close() {
        program.close();
    }
}
