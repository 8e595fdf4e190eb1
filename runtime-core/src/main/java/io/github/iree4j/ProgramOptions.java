package io.github.iree4j;

import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a program is made of: modules in order, of which a later one may import from earlier ones, parameter archives by scope, and the
 * devices it runs on.
 *
 * @param modules compiled files, bytes of compiled files, and modules written in Java
 * @param offered further modules, which are put before the others if one of those imports from them
 * @param parameters archives of each scope, looked through in order; the scope {@code ""} is the one without a name
 * @param providers further sources of parameters, asked after the archives of their scope; they stay the caller's, and a program that is
 *     loaded keeps what it needs of them
 * @param devices names of the devices it sees, of those that the runtime was opened with; empty for all of them
 * @param overlappingCalls whether one call may run while another waits for a fence; for programs whose functions leave nothing behind, in
 *     globals or in buffers that globals hold, that a call must find as it left it
 * @param consumer whom the memory of the program is accounted to; null for the name of its last module, for a file without {@code .vmfb}
 * @param parameterListener hears how far the program's parameters are, or null
 * @param tracer hears of every call in the program's compiled modules, which are then interpreted; or null
 * @param variants functions that stand for several compiled ones
 * @param variantListener hears which of those are called, or null
 */
public record ProgramOptions(
        List<Source> modules,
        List<VmModule> offered,
        Map<String, List<Path>> parameters,
        List<ParameterProvider> providers,
        List<String> devices,
        boolean overlappingCalls,
        @Nullable String consumer,
        ParameterProgress.@Nullable Listener parameterListener,
        @Nullable CallTracer tracer,
        List<VariantOptions> variants,
        @Nullable VariantListener variantListener) {

    /** Where a module comes from. */
    public sealed interface Source {
        /**
         * A compiled file.
         *
         * @param path where it is
         * @param mapped whether it is mapped rather than read
         */
        record File(Path path, boolean mapped) implements Source {}

        /**
         * The bytes of a compiled file, copied.
         *
         * @param name what to call it in messages
         * @param content the bytes
         */
        record Bytes(String name, byte[] content) implements Source {
            /**
             * Keeps its own copy.
             *
             * @param name what to call it in messages
             * @param content the bytes
             */
            public Bytes {
                content = content.clone();
            }

            @Override
            public byte[] content() {
                return content.clone();
            }
        }

        /**
         * The bytes of a compiled file, which several programs may share.
         *
         * @param bytes the bytes; stay the caller's, and a program that is loaded keeps them
         */
        record Shared(ModuleBytes bytes) implements Source {}

        /**
         * A module that exists already, usually one written in Java.
         *
         * @param module the module; stays the caller's
         */
        record Module(VmModule module) implements Source {}
    }

    /**
     * Keeps its own copies.
     *
     * @param modules modules in order
     * @param offered modules for those who import from them
     * @param parameters archives by scope
     * @param providers further sources of parameters
     * @param devices names of devices, or empty
     * @param overlappingCalls whether one call may run while another waits
     * @param consumer whom its memory is accounted to
     * @param parameterListener hears of progress, or null
     * @param tracer hears of calls, or null
     * @param variants functions that stand for several
     * @param variantListener hears which are called, or null
     */
    public ProgramOptions {
        modules = List.copyOf(modules);
        offered = List.copyOf(offered);
        providers = List.copyOf(providers);
        devices = List.copyOf(devices);
        variants = List.copyOf(variants);
        if (variants.stream().map(VariantOptions::function).distinct().count() < variants.size()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "variants of one function are declared twice, among those of %s"
                            .formatted(variants.stream()
                                    .map(VariantOptions::function)
                                    .toList()));
        }
        Map<String, List<Path>> copy = new LinkedHashMap<>();
        parameters.forEach((scope, archives) -> copy.put(scope, List.copyOf(archives)));
        parameters = copy;
    }

    @Override
    public Map<String, List<Path>> parameters() {
        return new LinkedHashMap<>(parameters);
    }

    /** The same with another module and no variants, on the same account. */
    ProgramOptions part(Source module) {
        return new ProgramOptions(
                List.of(module),
                offered,
                parameters,
                providers,
                devices,
                overlappingCalls,
                account(),
                parameterListener,
                tracer,
                List.of(),
                null);
    }

    /** What the program's memory is accounted to: what it was told, or else the name of its last module, as it was given. */
    String account() {
        if (consumer != null) {
            return consumer;
        }
        if (modules.isEmpty()) {
            return ""; // which loading refuses
        }
        return switch (modules.getLast()) {
            case Source.File file -> nameOf(file.path().getFileName());
            case Source.Bytes bytes -> bytes.name();
            case Source.Shared shared -> nameOf(Path.of(shared.bytes().name()).getFileName());
            case Source.Module module -> module.module().name();
        };
    }

    private static String nameOf(@Nullable Path fileName) {
        String name = String.valueOf(fileName);
        return name.endsWith(".vmfb") ? name.substring(0, name.length() - 5) : name;
    }

    /**
     * Starts with no modules and no parameters.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects modules, parameters and devices. Not safe for use by several threads. */
    public static final class Builder {
        private final List<Source> modules = new ArrayList<>();
        private final List<VmModule> offered = new ArrayList<>();
        private final Map<String, List<Path>> parameters = new LinkedHashMap<>();
        private final List<ParameterProvider> providers = new ArrayList<>();
        private final List<String> devices = new ArrayList<>();
        private boolean overlappingCalls;
        private @Nullable String consumer;
        private ParameterProgress.@Nullable Listener parameterListener;
        private @Nullable CallTracer tracer;
        private final List<VariantOptions> variants = new ArrayList<>();
        private @Nullable VariantListener variantListener;

        private Builder() {}

        /**
         * Adds a compiled module. It is read when the program is loaded; the file may be changed or deleted afterwards.
         *
         * @param file a {@code .vmfb}
         * @return this builder
         */
        public Builder module(Path file) {
            modules.add(new Source.File(file, false));
            return this;
        }

        /**
         * Adds a compiled module that is mapped rather than read, at the price that {@link ModuleBytes#map} names.
         *
         * @param file a {@code .vmfb}, which must not be overwritten or truncated while the program is loaded
         * @return this builder
         */
        public Builder mappedModule(Path file) {
            modules.add(new Source.File(file, true));
            return this;
        }

        /**
         * Adds a compiled module whose bytes several programs share.
         *
         * @param bytes the bytes; stay the caller's, who may close them once the program is loaded
         * @return this builder
         */
        public Builder module(ModuleBytes bytes) {
            modules.add(new Source.Shared(bytes));
            return this;
        }

        /**
         * Adds a compiled module that is in memory.
         *
         * @param name what to call it in messages
         * @param content what a {@code .vmfb} contains; copied
         * @return this builder
         */
        public Builder module(String name, byte[] content) {
            modules.add(new Source.Bytes(name, content));
            return this;
        }

        /**
         * Adds a module written in Java.
         *
         * @param module the module; stays the caller's and may be in several programs
         * @return this builder
         */
        public Builder module(VmModule module) {
            modules.add(new Source.Module(module));
            return this;
        }

        /**
         * Offers a module written in Java: it is put before the others if one of them, or another one that is offered and needed, imports from
         * it or depends on it, and none of the same name was added. Of two offered under one name the first counts.
         *
         * @param module the module; stays the caller's and may be in several programs
         * @return this builder
         */
        public Builder offer(VmModule module) {
            offered.add(module);
            return this;
        }

        /**
         * Adds a parameter archive. A scope may have several; the first that has a parameter gives it.
         *
         * @param scope as the program names it; empty for the one without a name
         * @param archive an {@code .irpa}, {@code .gguf} or {@code .safetensors} file
         * @return this builder
         */
        public Builder parameters(String scope, Path archive) {
            parameters.computeIfAbsent(scope, _ -> new ArrayList<>()).add(archive);
            return this;
        }

        /**
         * Adds a source of parameters of its own, or of an archive that the program may write
         * ({@link io.github.iree4j.modules.parameters.ParameterArchive#openWritable}). It is asked after the archives of its scope.
         *
         * @param provider the source; stays the caller's, who may close it once the program is loaded
         * @return this builder
         */
        public Builder parameters(ParameterProvider provider) {
            providers.add(provider);
            return this;
        }

        /**
         * Sets who hears how far the program's parameters are: of each archive that is opened, and of what the program then loads.
         *
         * @param listener called on threads of devices too; see there for what it must not do
         * @return this builder
         */
        public Builder parameterListener(ParameterProgress.@Nullable Listener listener) {
            parameterListener = listener;
            return this;
        }

        /**
         * Adds a device; without any, the program sees all devices of the runtime.
         *
         * @param name the name by which the runtime was told to open it, or its id
         * @return this builder
         */
        public Builder device(String name) {
            devices.add(name);
            return this;
        }

        /**
         * Sets whether one call may run while another waits for a fence. Without, a call keeps the program to itself until it returns.
         *
         * @param overlap true for a program whose functions leave nothing behind, in globals or in buffers that globals hold, that a call
         *     must find as it left it
         * @return this builder
         */
        public Builder overlappingCalls(boolean overlap) {
            overlappingCalls = overlap;
            return this;
        }

        /**
         * Sets whom the memory of the program is accounted to, in statistics and for quotas.
         *
         * @param name of this program, or one that several share
         * @return this builder
         */
        public Builder consumer(String name) {
            consumer = name;
            return this;
        }

        /**
         * Sets who hears of every call in the program's compiled modules, from {@code __init} on: to look for faults, since traced
         * modules are interpreted.
         *
         * @param callTracer the tracer; see there for what it must not do
         * @return this builder
         */
        public Builder tracer(@Nullable CallTracer callTracer) {
            tracer = callTracer;
            return this;
        }

        /**
         * Has a function stand for several compiled ones, of which each call takes the one that fits its shapes. Functions of modules that
         * declare their rules ({@value FunctionVariants#ATTRIBUTE}) need no such call.
         *
         * @param options which function, by which rules, and which ones
         * @return this builder
         */
        public Builder variants(VariantOptions options) {
            variants.add(options);
            return this;
        }

        /**
         * Sets who hears which variants of functions are called.
         *
         * @param listener called at each call; see there for what it must not do
         * @return this builder
         */
        public Builder variantListener(@Nullable VariantListener listener) {
            variantListener = listener;
            return this;
        }

        /**
         * Returns what was collected.
         *
         * @return the options
         */
        public ProgramOptions build() {
            return new ProgramOptions(
                    modules,
                    offered,
                    parameters,
                    providers,
                    devices,
                    overlappingCalls,
                    consumer,
                    parameterListener,
                    tracer,
                    variants,
                    variantListener);
        }
    }
}
