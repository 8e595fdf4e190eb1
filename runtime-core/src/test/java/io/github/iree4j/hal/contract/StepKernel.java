package io.github.iree4j.hal.contract;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kernel with two constants that shows its run to a test. */
public record StepKernel(Listener listener) implements ExecutableLoader, LoadedExecutable {
    public static final String FORMAT = "step";

    /** The listener of the test. */
    public interface Listener {
        void runs(int first, int second);
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
        return 1;
    }

    @Override
    public ExecutableExport export(int ordinal) {
        return new ExecutableExport("step", 0, 2, 0, 0, 0, 0, 0);
    }

    @Override
    public int bindingAlignment() {
        return 1;
    }

    @Override
    public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
        listener.runs(dispatch.constant(0), dispatch.constant(1));
    }

    @Override
    public void close() {}
}
