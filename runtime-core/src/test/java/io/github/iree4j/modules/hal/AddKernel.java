package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A loader of executables written in Java, for tests: export 0 {@code add} writes, for workgroup x, {@code out[x] =
 * in[x] + constant}, export 1 {@code fail} fails. Counts loads and closes.
 */
final class AddKernel implements ExecutableLoader {
    static final String FORMAT = "test-add";

    final AtomicInteger loaded = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();

    @Override
    public List<String> formats() {
        return List.of(FORMAT);
    }

    @Override
    public LoadedExecutable load(String format, MemorySegment data, RefCounted owner, int[] constants) {
        loaded.incrementAndGet();
        int offset = constants.length == 0 ? 0 : constants[0];
        return new LoadedExecutable() {
            @Override
            public int exportCount() {
                return 2;
            }

            @Override
            public ExecutableExport export(int ordinal) {
                return new ExecutableExport(ordinal == 0 ? "add" : "fail", 0, 1, 2, 0, 0, 0, 0);
            }

            @Override
            public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
                if (export == 1) {
                    throw IreeException.of(StatusCode.DATA_LOSS, "kernel 'fail' was run");
                }
                long needed = end * Integer.BYTES;
                if (dispatch.binding(0).byteSize() < needed
                        || dispatch.binding(1).byteSize() < needed) {
                    // A compiled kernel would read beyond the end; here wrong programs fail.
                    throw IreeException.of(StatusCode.OUT_OF_RANGE, "bindings hold less than " + needed + " bytes");
                }
                for (long i = begin; i < end; i++) {
                    int value = dispatch.binding(0).getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i);
                    dispatch.binding(1)
                            .setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, value + dispatch.constant(0) + offset);
                }
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }
}
