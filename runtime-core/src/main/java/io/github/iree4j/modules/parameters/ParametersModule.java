package io.github.iree4j.modules.parameters;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.FileInPlace;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The {@code io_parameters} module, version 0: provides parameters to programs.
 *
 * <p>Stored parameters not to be written by the program are used in place; other parameters are read from, and written
 * to, files in queue order, without blocking a thread. A program can write parameters of archives opened for writing.
 * Contexts retain the providers in use, so providers may be closed once the contexts exist. The module may be shared
 * between contexts and threads. Signatures: {@code iree/modules/io/parameters/exports.inl}.
 */
@NotForApplications
public final class ParametersModule {
    private static final int MAX_NAMES_IN_MESSAGES = 8;

    private ParametersModule() {}

    /**
     * Creates the module.
     *
     * @param providers the sources of parameters; the first provider of a scope with a key provides the parameter.
     *     Borrowed, and retained by each context
     * @return the module
     */
    public static VmModule create(List<ParameterProvider> providers) {
        return create(providers, null);
    }

    /**
     * Creates the module.
     *
     * @param providers the sources of parameters; the first provider of a scope with a key provides the parameter.
     *     Borrowed, and retained by each context
     * @param listener receives progress of programs' parameter requests, or null
     * @return the module
     */
    public static VmModule create(List<ParameterProvider> providers, ParameterProgress.@Nullable Listener listener) {
        return create(providers, listener, _ -> {});
    }

    /**
     * Creates the module.
     *
     * @param providers the sources of parameters; the first provider of a scope with a key provides the parameter.
     *     Borrowed, and retained by each context
     * @param listener receives progress of programs' parameter requests, or null
     * @param inPlace receives the files, repeatedly, with parameters used in place by a program, on the thread of the
     *     program
     * @return the module
     */
    public static VmModule create(
            List<ParameterProvider> providers,
            ParameterProgress.@Nullable Listener listener,
            Consumer<FileInPlace> inPlace) {
        List<ParameterProvider> all = List.copyOf(providers);
        return NativeModule.builder("io_parameters", 0, () -> new State(all, listener, inPlace))
                .attribute(VmModule.SERVES, "IREE of November 2023 to August 2026")
                .function("load", "0rIrrrIiirrr_r", ParametersModule::load)
                .function("gather", "0rIrrrrrrr_v", ParametersModule::gather)
                .function("scatter", "0rIrrrrrrr_v", ParametersModule::scatter)
                // The functions of November 2023, the first month of parameters: a single parameter per call.
                .function("load", "0rIrrrrIIiiI_r", ParametersModule::loadOne)
                .function("read", "0rIrrrrIrII_v", ParametersModule::readOne)
                .function("write", "0rIrrrrIrII_v", ParametersModule::writeOne)
                .build();
    }

    private static void load(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        long targetAffinity = call.i64();
        int memoryTypes = call.i32();
        int usage = call.i32();
        BufferParams params = new BufferParams(memoryTypes, usage).withAffinity(targetAffinity);
        call.returnRef(load(state, device, affinity, wait, signal, scope, params, spans(call)));
    }

    private static void loadOne(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        String key = call.required(VmBuffer.class).utf8();
        long offset = call.i64();
        long targetAffinity = call.i64();
        BufferParams params = new BufferParams(call.i32(), call.i32()).withAffinity(targetAffinity);
        ParameterSpans span = ParameterSpans.of(key, offset, 0, call.i64());
        try (VmList buffers = load(state, device, affinity, wait, signal, scope, params, span)) {
            call.returnRef(buffers.takeRef(0));
        }
    }

    private static VmList load(
            State state,
            Device device,
            long affinity,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Scope scope,
            BufferParams params,
            ParameterSpans spans) {
        VmList buffers = VmList.create(VmType.ref("hal.buffer", Buffer.class), spans.count());
        LoadProgress progress = state.loading(scope, spans);
        try (TransferBatch batch = new TransferBatch(device, affinity, wait, progress)) {
            MappedFile checked = null;
            for (int row = 0; row < spans.count(); row++) {
                ParameterEntry entry = scope.find(spans.key(row));
                spans.checkFits(row, entry);
                checked = unchanged(entry, checked);
                if (spans.bufferOffset(row) != 0) {
                    throw IreeException.of(
                            StatusCode.OUT_OF_RANGE,
                            "parameter '%s' is loaded into its own buffer and must start at 0 in it, not at %s"
                                    .formatted(entry.key(), Long.toUnsignedString(spans.bufferOffset(row))));
                }
                Buffer buffer = importOrNull(device, params, entry, spans.parameterOffset(row), spans.length(row));
                if (buffer == null) {
                    buffer = device.allocator().allocate(writable(params), spans.length(row));
                    batch.load(entry, spans.parameterOffset(row), buffer, 0, spans.length(row));
                } else {
                    state.usesInPlace(entry);
                    if (progress != null) {
                        progress.arrived(entry, spans.length(row));
                    }
                }
                buffers.push(buffer); // the list holds another reference
                buffer.close();
            }
            batch.end(signal);
            if (progress != null) {
                progress.complete();
            }
        } catch (RuntimeException e) {
            buffers.close();
            throw failed(signal, progress, e);
        }
        return buffers;
    }

    /** Returns the stored bytes in place, when the program will not write the bytes and the device can access the bytes; else null. */
    private static @Nullable Buffer importOrNull(
            Device device, BufferParams params, ParameterEntry entry, long offset, long length) {
        if (!(entry instanceof ParameterEntry.Stored stored) || (params.usage() & BufferUsage.SHARING_IMMUTABLE) == 0) {
            return null;
        }
        try {
            return device.allocator()
                    .importHost(
                            params.withAccess(MemoryAccess.READ),
                            stored.data().asSlice(offset, length),
                            stored.owner());
        } catch (IreeException e) {
            return null; // misaligned, or a device with separate memory: copied instead
        }
    }

    /** Fails when the file of an entry has changed, unless the file has been checked already; returns the checked file. */
    private static @Nullable MappedFile unchanged(ParameterEntry entry, @Nullable MappedFile checked) {
        if (entry instanceof ParameterEntry.Stored stored
                && stored.owner() instanceof MappedFile file
                && file != checked) {
            file.requireUnchanged();
            return file;
        }
        return checked;
    }

    private static BufferParams writable(BufferParams params) {
        return new BufferParams(
                params.memoryType(),
                params.usage() | BufferUsage.TRANSFER_TARGET,
                MemoryAccess.ALL,
                params.affinity(),
                params.minimumAlignment());
    }

    private static void gather(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        Buffer target = call.required(Buffer.class);
        gather(state, device, affinity, wait, signal, scope, target, spans(call));
    }

    private static void readOne(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        String key = call.required(VmBuffer.class).utf8();
        long offset = call.i64();
        Buffer target = call.required(Buffer.class);
        ParameterSpans span = ParameterSpans.of(key, offset, call.i64(), call.i64());
        gather(state, device, affinity, wait, signal, scope, target, span);
    }

    private static void gather(
            State state,
            Device device,
            long affinity,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Scope scope,
            Buffer target,
            ParameterSpans spans) {
        LoadProgress progress = state.loading(scope, spans);
        try (TransferBatch batch = new TransferBatch(device, affinity, wait, progress)) {
            MappedFile checked = null;
            for (int row = 0; row < spans.count(); row++) {
                ParameterEntry entry = scope.find(spans.key(row));
                spans.checkFits(row, entry);
                checked = unchanged(entry, checked);
                target.checkRange("parameter '" + entry.key() + "'", spans.bufferOffset(row), spans.length(row));
                batch.load(entry, spans.parameterOffset(row), target, spans.bufferOffset(row), spans.length(row));
            }
            batch.end(signal);
            if (progress != null) {
                progress.complete();
            }
        } catch (RuntimeException e) {
            throw failed(signal, progress, e);
        }
    }

    private static void scatter(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Buffer source = call.required(Buffer.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        scatter(state, device, affinity, wait, signal, source, scope, spans(call));
    }

    private static void writeOne(State state, VmCall call) {
        Device device = call.required(Device.class);
        long affinity = call.i64();
        Fence wait = call.ref(Fence.class);
        Fence signal = call.ref(Fence.class);
        Scope scope = state.scope(call.ref(VmBuffer.class));
        String key = call.required(VmBuffer.class).utf8();
        long offset = call.i64();
        Buffer source = call.required(Buffer.class);
        ParameterSpans span = ParameterSpans.of(key, offset, call.i64(), call.i64());
        scatter(state, device, affinity, wait, signal, source, scope, span);
    }

    private static void scatter(
            State state,
            Device device,
            long affinity,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            Scope scope,
            ParameterSpans spans) {
        LoadProgress progress = state.storing(scope, spans);
        try (TransferBatch batch = new TransferBatch(device, affinity, wait, progress)) {
            for (int row = 0; row < spans.count(); row++) {
                ParameterEntry.Stored entry = writable(scope, scope.find(spans.key(row)));
                spans.checkFits(row, entry);
                source.checkRange("parameter '" + entry.key() + "'", spans.bufferOffset(row), spans.length(row));
                batch.store(entry, spans.parameterOffset(row), source, spans.bufferOffset(row), spans.length(row));
            }
            batch.end(signal);
            if (progress != null) {
                progress.complete();
            }
        } catch (RuntimeException e) {
            throw failed(signal, progress, e);
        }
    }

    private static ParameterEntry.Stored writable(Scope scope, ParameterEntry entry) {
        if (entry instanceof ParameterEntry.Stored stored && !stored.data().isReadOnly()) {
            return stored;
        }
        throw IreeException.of(
                StatusCode.PERMISSION_DENIED,
                "parameter '%s' of scope '%s' cannot be written: %s"
                        .formatted(
                                entry.key(),
                                scope.name(),
                                entry instanceof ParameterEntry.Splat
                                        ? "it is a splat, which takes no room in its archive; store it there first"
                                        : "its archive is open for reading only; give the program one from"
                                                + " ParameterArchive.openWritable"));
    }

    private static ParameterSpans spans(VmCall call) {
        return new ParameterSpans(
                call.required(VmBuffer.class), call.required(VmBuffer.class), call.required(VmBuffer.class));
    }

    /** Fails the fence, because no operation will signal the fence any more, so that waiters get the cause. */
    private static RuntimeException failed(
            @Nullable Fence signal, @Nullable LoadProgress progress, RuntimeException e) {
        if (progress != null) {
            progress.failed();
        }
        if (signal != null) {
            signal.fail(
                    e instanceof IreeException status
                            ? status
                            : IreeException.of(StatusCode.INTERNAL, e.toString(), e));
        }
        return e;
    }

    /** The providers of a scope, in order. */
    private record Scope(String name, List<ParameterProvider> providers) {
        ParameterEntry find(String key) {
            return providers.stream()
                    .flatMap(provider -> provider.find(key).stream())
                    .findFirst()
                    .orElseThrow(() -> unknown(key));
        }

        private IreeException unknown(String key) {
            Set<String> keys = new LinkedHashSet<>();
            providers.forEach(provider -> keys.addAll(provider.keys()));
            return IreeException.of(
                    StatusCode.NOT_FOUND,
                    "scope '%s' has no parameter '%s'; it has %d: %s; is this the archive of another program?"
                            .formatted(name, key, keys.size(), names(keys)));
        }
    }

    private static String names(Collection<String> names) {
        String listed = names.stream()
                .limit(MAX_NAMES_IN_MESSAGES)
                .map(name -> "'" + name + "'")
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "none" : names.size() > MAX_NAMES_IN_MESSAGES ? listed + ", ..." : listed;
    }

    /** Retains the providers for a context. */
    private static final class State implements AutoCloseable {
        private final List<ParameterProvider> providers = new ArrayList<>();

        private final ParameterProgress.@Nullable Listener listener;
        private final Consumer<FileInPlace> inPlace;

        State(
                List<ParameterProvider> providers,
                ParameterProgress.@Nullable Listener listener,
                Consumer<FileInPlace> inPlace) {
            this.listener = listener;
            this.inPlace = inPlace;
            try {
                for (ParameterProvider provider : providers) {
                    provider.retain();
                    this.providers.add(provider);
                }
            } catch (RuntimeException e) {
                close();
                throw e;
            }
        }

        void usesInPlace(ParameterEntry entry) {
            FileInPlace file =
                    entry instanceof ParameterEntry.Stored stored && stored.owner() instanceof MappedFile mapped
                            ? mapped.inPlace()
                            : null;
            if (file != null) {
                inPlace.accept(file);
            }
        }

        /** Returns the progress of a request to load; null without a listener. */
        @Nullable
        LoadProgress loading(Scope scope, ParameterSpans spans) {
            return listener == null ? null : expecting(LoadProgress.ofLoading(listener, scope.name()), spans);
        }

        /** Returns the progress of a request to store; null without a listener. */
        @Nullable
        LoadProgress storing(Scope scope, ParameterSpans spans) {
            return listener == null ? null : expecting(LoadProgress.ofStoring(listener, scope.name()), spans);
        }

        private static LoadProgress expecting(LoadProgress progress, ParameterSpans spans) {
            for (int row = 0; row < spans.count(); row++) {
                progress.expect(Math.max(0, spans.length(row)));
            }
            return progress;
        }

        Scope scope(@Nullable VmBuffer name) {
            String wanted = name == null ? "" : name.utf8();
            List<ParameterProvider> found =
                    providers.stream().filter(p -> p.scope().equals(wanted)).toList();
            if (found.isEmpty()) {
                Set<String> scopes = new LinkedHashSet<>();
                providers.forEach(p -> scopes.add(p.scope()));
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "no parameters were given for scope '%s' (given: %s); add an archive for it (.irpa, .gguf or .safetensors), on the command line with %s"
                                .formatted(
                                        wanted,
                                        names(scopes),
                                        wanted.isEmpty() ? "--parameters=FILE" : "--parameters=" + wanted + "=FILE"),
                        null,
                        new MissingScope(wanted));
            }
            return new Scope(wanted, found);
        }

        @Override
        public void close() {
            providers.forEach(ParameterProvider::release);
            providers.clear();
        }
    }
}
