package io.github.iree4j.modules.vmvx;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmType;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A loaded VMVX executable. The executable's functions take local memory, constants, a list of bindings and nine
 * numbers, and run once per workgroup.
 *
 * <p>Each worker has a separate context, created at the worker's first dispatch, so workgroups on different workers
 * share only the module.
 */
final class VmvxExecutable implements LoadedExecutable {
    private static final CallingConvention EXPORT = CallingConvention.parse("0rrriiiiiiiii_v");
    private static final CallingConvention SET_CONSTANTS_CONVENTION = CallingConvention.parse("0r_v");
    private static final String SET_CONSTANTS = "__set_constants";

    /** Exports other than kernels. Any other name may belong to a kernel: {@code __builtin_splat_i64} comes from the compiler. */
    private static final Set<String> NOT_KERNELS = Set.of("__init", "__deinit", "__notify", SET_CONSTANTS);

    /** The maximum expressible by the 16-bit count of 4096-byte pages in compiled CPU code. */
    private static final long MAX_LOCAL_MEMORY = 65_535L * 4096;

    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VmType BUFFER = VmType.ref("vm.buffer", VmBuffer.class);

    private final BytecodeModule module;
    private final int[] constants;
    private final List<VmFunction> functions = new ArrayList<>();
    private final List<ExecutableExport> exports = new ArrayList<>();
    private final AtomicReferenceArray<@Nullable WorkerContext> workers = new AtomicReferenceArray<>(MAXIMUM_WORKERS);

    VmvxExecutable(BytecodeModule module, int[] constants) {
        this.module = module;
        this.constants = constants.clone();
        for (VmFunction function : module.exports()) {
            if (NOT_KERNELS.contains(function.name())) {
                continue;
            }
            if (!function.convention().matches(EXPORT)) {
                throw IreeException.of(
                        StatusCode.INCOMPATIBLE,
                        "VMVX function '%s' has convention '%s', kernels have '%s'; recompile for this version"
                                .formatted(function.name(), function.convention(), EXPORT));
            }
            functions.add(function);
            exports.add(new ExecutableExport(
                    function.name(),
                    0,
                    attribute(function, "constant_count", -1, Integer.MAX_VALUE),
                    attribute(function, "binding_count", -1, Integer.MAX_VALUE),
                    0,
                    0,
                    0,
                    attribute(function, "local_memory", 0, MAX_LOCAL_MEMORY)));
        }
        // Create the first worker's context now, so that errors in the module show at load time.
        workers.set(0, new WorkerContext(() -> false)); // an interrupt ends the module's initialiser
    }

    private static int attribute(VmFunction function, String key, int absent, long limit) {
        String text = function.attributes().get(key);
        if (text == null) {
            return absent;
        }
        try {
            long value = Long.parseLong(text);
            if (value >= 0 && value <= limit) {
                return (int) value;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "VMVX function '%s' has attribute %s '%s', must be a number from 0 to %d"
                        .formatted(function.name(), key, text, limit));
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
    public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
        WorkerContext context = workers.get(worker);
        if (context == null) {
            context = new WorkerContext(dispatch::isUnwanted);
            workers.set(worker, context);
        }
        try {
            context.run(export, dispatch, begin, end);
        } finally {
            if (context.keepsBindings) {
                // The memory may be reused from here on. Kept bindings are in the module's state, and are dropped with
                // the state.
                workers.set(worker, null);
                context.close();
            }
        }
        if (context.keepsBindings) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "VMVX function '%s' keeps a binding or local memory after its dispatch; it is valid during the dispatch only"
                            .formatted(functions.get(export).name()));
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < workers.length(); i++) {
            WorkerContext context = workers.getAndSet(i, null);
            if (context != null) {
                context.close();
            }
        }
        module.close();
    }

    /** Counts references to memory lent for a dispatch. Used only by the thread of the dispatch. */
    private static final class Holders implements RefCounted {
        private int count;

        @Override
        public void retain() {
            count++;
        }

        @Override
        public void release() {
            count--;
        }
    }

    /** The state of a worker for running kernels; confined to this worker. */
    private final class WorkerContext implements AutoCloseable {
        private final Context context;
        private final @Nullable Invocation[] invocations = new Invocation[functions.size()];
        /** Whether the module's state retains memory of a finished dispatch. */
        private boolean keepsBindings;

        WorkerContext(BooleanSupplier unwanted) {
            context = Context.create(List.of(VmvxModule.create(), module), ContextOptions.DEFAULTS, unwanted);
            try {
                setConstants(unwanted);
            } catch (RuntimeException e) {
                context.close();
                throw e;
            }
        }

        private void setConstants(BooleanSupplier unwanted) {
            VmFunction setter = module.resolve(SET_CONSTANTS, "");
            if (setter == null && constants.length == 0) {
                return;
            }
            if (setter == null || constants.length == 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        setter == null
                                ? "%d constants were given for a VMVX executable that takes none"
                                        .formatted(constants.length)
                                : "no constants were given for a VMVX executable that needs some");
            }
            if (!setter.convention().matches(SET_CONSTANTS_CONVENTION)) {
                throw IreeException.of(
                        StatusCode.INCOMPATIBLE,
                        "'%s' has convention '%s' where '%s' is wanted"
                                .formatted(SET_CONSTANTS, setter.convention(), SET_CONSTANTS_CONVENTION));
            }
            try (Invocation call = context.invocation(setter)) {
                call.endsWhen(unwanted)
                        .ref(VmBuffer.wrap(words(constants), false, null))
                        .run();
            }
        }

        void run(int export, HostDispatch dispatch, long begin, long end) {
            Invocation call = invocations[export];
            if (call == null) {
                call = context.invocation(functions.get(export));
                invocations[export] = call;
            }
            call.endsWhen(dispatch::isUnwanted);
            Holders holders = new Holders();
            VmList bindings = VmList.create(BUFFER, dispatch.bindingCount());
            try {
                for (int i = 0; i < dispatch.bindingCount(); i++) {
                    bindings.push(VmBuffer.wrap(dispatch.binding(i), true, holders));
                }
                VmBuffer localMemory = VmBuffer.wrap(dispatch.localMemory(), true, holders);
                VmBuffer pushed = VmBuffer.wrap(words(dispatch), false, null);
                long countX = Integer.toUnsignedLong(dispatch.workgroupCountX());
                long countY = Integer.toUnsignedLong(dispatch.workgroupCountY());
                long x = begin % countX;
                long y = begin / countX % countY;
                long z = begin / countX / countY;
                for (long workgroup = begin; workgroup < end; workgroup++) {
                    call.ref(localMemory)
                            .ref(pushed)
                            .ref(bindings)
                            .i32((int) x)
                            .i32((int) y)
                            .i32((int) z)
                            .i32(dispatch.workgroupSizeX())
                            .i32(dispatch.workgroupSizeY())
                            .i32(dispatch.workgroupSizeZ())
                            .i32(dispatch.workgroupCountX())
                            .i32(dispatch.workgroupCountY())
                            .i32(dispatch.workgroupCountZ())
                            .run();
                    if (++x == countX) {
                        x = 0;
                        if (++y == countY) {
                            y = 0;
                            z++;
                        }
                    }
                }
            } finally {
                bindings.close();
                call.endsWhen(null).reset();
                keepsBindings = holders.count != 0 || bindings.isLive();
            }
        }

        @Override
        public void close() {
            for (Invocation invocation : invocations) {
                if (invocation != null) {
                    invocation.close();
                }
            }
            context.close();
        }
    }

    private static MemorySegment words(int[] values) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[values.length * Integer.BYTES]);
        for (int i = 0; i < values.length; i++) {
            bytes.set(U32, (long) i * Integer.BYTES, values[i]);
        }
        return bytes;
    }

    private static MemorySegment words(HostDispatch dispatch) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[dispatch.constantCount() * Integer.BYTES]);
        for (int i = 0; i < dispatch.constantCount(); i++) {
            bytes.set(U32, (long) i * Integer.BYTES, dispatch.constant(i));
        }
        return bytes;
    }
}
