package io.github.iree4j.hal.contract;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
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
import org.jspecify.annotations.Nullable;

/** Kernels written in Java, for tests of everything around kernels. */
public final class JavaKernels implements ExecutableLoader {
    /** The format of these kernels. */
    public static final String FORMAT = "java-test";

    /** {@code out[i] = a[i] + b[i]}, 32-bit integers, a workgroup per element. */
    public static final int ADD = 0;

    /** {@code out[i] = in[i] * c0 + c1}, a workgroup per element. */
    public static final int SCALE = 1;

    /** Always fails. */
    public static final int FAIL = 2;

    /** {@code out[i] = x | y << 8 | z << 16} of workgroup i. */
    public static final int COORDINATES = 3;

    /** {@code out[0..8) = specialisation constant 0 or -1, sizes x y z, binding length, local memory size, worker, first local int}. */
    public static final int FACTS = 4;

    /** Throws an exception without a status. */
    public static final int CRASH = 5;

    /** Loads the kernels on a device opened with them; the caller closes the executable. */
    public static Executable load(Device device, int... constants) {
        return device.createExecutable(
                new ExecutableParams(FORMAT, MemorySegment.ofArray(new byte[1]), null, constants));
    }

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private final List<ExecutableExport> exports = List.of(
            export("add", 0, 3, 0),
            export("scale", 2, 2, 0),
            export("fail", 0, 0, 0),
            export("coordinates", 0, 1, 0),
            export("facts", 0, 1, 8192),
            export("crash", 0, 0, 0));

    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final int alignment;

    /** Kernels for bindings of any alignment. */
    public JavaKernels() {
        this(1);
    }

    /** Kernels with a needed alignment of bindings. */
    public JavaKernels(int alignment) {
        this.alignment = alignment;
    }

    private static ExecutableExport export(String name, int constants, int bindings, long local) {
        return new ExecutableExport(name, 0, constants, bindings, 0, 0, 0, local);
    }

    /** Executables loaded and not closed. */
    public int open() {
        return open.get();
    }

    @Override
    public List<String> formats() {
        return List.of(FORMAT);
    }

    @Override
    public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
        open.incrementAndGet();
        return new Loaded(constants.length == 0 ? -1 : constants[0]);
    }

    private final class Loaded implements LoadedExecutable {
        private final int constant;
        private volatile boolean closed;

        Loaded(int constant) {
            this.constant = constant;
        }

        @Override
        public int exportCount() {
            return exports.size();
        }

        @Override
        public ExecutableExport export(int ordinal) {
            return exports.get(ordinal);
        }

        @Override
        public int bindingAlignment() {
            return alignment;
        }

        @Override
        public void dispatch(int export, HostDispatch d, long begin, long end, int worker) {
            running.incrementAndGet();
            for (long i = begin; i < end; i++) {
                if (closed) {
                    throw new IllegalStateException("kernel runs after the close of the executable");
                }
                group(export, d, i, worker);
            }
            running.decrementAndGet();
        }

        private void group(int export, HostDispatch d, long i, int worker) {
            switch (export) {
                case ADD ->
                    d.binding(2)
                            .set(
                                    INT,
                                    i * 4,
                                    d.binding(0).get(INT, i * 4) + d.binding(1).get(INT, i * 4));
                case SCALE ->
                    d.binding(1).set(INT, i * 4, d.binding(0).get(INT, i * 4) * d.constant(0) + d.constant(1));
                case COORDINATES -> {
                    long x = i % d.workgroupCountX();
                    long y = i / d.workgroupCountX() % d.workgroupCountY();
                    long z = i / d.workgroupCountX() / d.workgroupCountY();
                    d.binding(0).set(INT, i * 4, (int) (x | y << 8 | z << 16));
                }
                case FACTS -> facts(d, worker);
                case CRASH -> throw new IllegalStateException("kernel crashed");
                default -> throw IreeException.of(StatusCode.DATA_LOSS, "kernel failed on purpose");
            }
        }

        private void facts(HostDispatch d, int worker) {
            d.localMemory().set(INT, d.localMemory().byteSize() - 4, 42);
            int[] facts = {
                constant,
                d.workgroupSizeX(),
                d.workgroupSizeY(),
                d.workgroupSizeZ(),
                (int) d.bindingLength(0),
                (int) d.localMemory().byteSize(),
                worker,
                (int) (d.localMemory().address() & 4095)
            };
            MemorySegment.copy(facts, 0, d.binding(0), INT, 0, facts.length);
        }

        @Override
        public void close() {
            if (closed) {
                throw new IllegalStateException("executable is closed twice");
            }
            closed = true;
            open.decrementAndGet();
        }
    }
}
