package io.github.iree4j.tools;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A benchmarked function, with arguments uploaded to the device. */
final class BenchmarkedFunction implements AutoCloseable, BenchmarkLoop.Body {
    private final IreeRuntime runtime;
    private final ProgramFunction function;
    private final int batchSize;
    private final int concurrency;
    private final CallArguments arguments;
    private final @Nullable Object[] values;

    BenchmarkedFunction(
            IreeRuntime runtime, ProgramFunction function, List<String> inputs, int batchSize, int concurrency) {
        this.runtime = runtime;
        this.function = function;
        // A batch consists of whole rows of concurrent calls.
        this.concurrency = function.isAsynchronous() ? concurrency : 1;
        this.batchSize = Math.ceilDiv(batchSize, this.concurrency) * this.concurrency;
        boolean dispatch = isDispatch(function);
        arguments = CallArguments.parse(function, dispatch ? List.of(Integer.toString(batchSize)) : inputs);
        values = arguments.values().clone();
        boolean failed = true;
        try {
            for (int i = 0; i < values.length; i++) {
                if (values[i] instanceof Tensor tensor) {
                    values[i] = runtime.upload(tensor);
                }
            }
            failed = false;
        } finally {
            if (failed) {
                close();
            }
        }
    }

    /**
     * Returns whether {@code iree-compile} generated the function to benchmark a dispatch; the argument is then the
     * number of repetitions.
     */
    static boolean isDispatch(ProgramFunction function) {
        return "dispatch".equals(function.attributes().get("iree.benchmark"));
    }

    /** Google Benchmark's name for the function: process CPU time, measured by wall time. */
    String name() {
        return "BM_" + function.name() + "/process_time/real_time";
    }

    BenchmarkReport.Unit defaultUnit() {
        return isDispatch(function) ? BenchmarkReport.Unit.us : BenchmarkReport.Unit.ms;
    }

    @Override
    public long call(long atLeast) {
        long done = 0;
        while (done < atLeast) {
            if (function.isAsynchronous()) {
                callBatch();
            } else {
                callOnce();
            }
            done += batchSize;
        }
        return done;
    }

    /**
     * A synchronous function is called once per batch: {@code --batch_size} is the number of repetitions within a
     * call, as in IREE's tool.
     */
    private void callOnce() {
        function.invoke(values).close();
    }

    /** Submits parallel chains of calls before waiting for the first. */
    private void callBatch() {
        List<Timeline> timelines = new ArrayList<>();
        List<Fence> fences = new ArrayList<>();
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        try {
            for (int j = 0; j < concurrency; j++) {
                timelines.add(runtime.createTimeline());
            }
            int rows = batchSize / concurrency;
            for (int i = 0; i < rows; i++) {
                for (int j = 0; j < concurrency; j++) {
                    Fence wait = i == 0 ? null : fences.get(fences.size() - concurrency);
                    Fence signal = timelines.get(j).at(i + 1L);
                    fences.add(signal);
                    calls.add(function.call(CallOptions.DEFAULTS.after(wait).signal(signal), values));
                }
            }
            for (Timeline timeline : timelines) {
                timeline.await(rows);
            }
            calls.forEach(call -> call.join().close());
        } finally {
            fences.forEach(Fence::close);
            timelines.forEach(Timeline::close);
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof Tensor tensor) {
                tensor.close(); // uploaded here; otherwise a second close, without effect
            }
        }
        arguments.close();
    }
}
