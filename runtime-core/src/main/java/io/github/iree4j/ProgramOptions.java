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
 * The parts of a program: modules in order, where later ones may import from earlier ones, parameter archives by scope, and the
 * devices it runs on.
 *
 * @param modules compiled files, bytes of compiled files, and modules written in Java
 * @param offered further modules, which are added before the others if one of those imports from them
 * @param parameters archives of each scope, searched in order; the scope {@code ""} is the unnamed one
 * @param providers further sources of parameters, consulted after the archives of their scope; they stay the caller's, and a program that is
 *     loaded retains what it needs
 * @param devices names of the devices it sees, of those that the runtime was opened with; empty for all of them
 * @param overlappingCalls whether one call may run while another waits for a fence; for programs whose functions keep no state,
 *     in globals or in buffers that globals hold, that a call must find unchanged when it resumes
 * @param consumer consumer charged for the memory of the program; null for the name of its last module, for a file without {@code .vmfb}
 * @param parameterListener notified of the progress of loading the program's parameters, or null
 * @param tracer notified of every call in the program's compiled modules, which are then interpreted; or null
 * @param variants functions with several compiled variants
 * @param variantListener notified which of those are called, or null
 * @param signatures signatures of functions whose module declares none, by name
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
        @Nullable VariantListener variantListener,
        Map<String, String> signatures) {

    /** The source of a module. */
    public sealed interface Source {
        /**
         * A compiled file.
         *
         * @param path its path
         * @param mapped whether it is mapped rather than read
         */
        record File(Path path, boolean mapped) implements Source {}

        /**
         * The bytes of a compiled file, copied.
         *
         * @param name its name in messages
         * @param content the bytes
         */
        record Bytes(String name, byte[] content) implements Source {
            /**
             * Keeps its own copy.
             *
             * @param name its name in messages
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
         * @param bytes the bytes; stay the caller's; a loaded program retains them
         */
        record Shared(ModuleBytes bytes) implements Source {}

        /**
         * An existing module, usually one written in Java.
         *
         * @param module the module; stays the caller's
         */
        record Module(VmModule module) implements Source {}
    }

    /**
     * Keeps its own copies.
     *
     * @param modules modules in order
     * @param offered modules added on demand
     * @param parameters archives by scope
     * @param providers further sources of parameters
     * @param devices names of devices, or empty
     * @param overlappingCalls whether one call may run while another waits
     * @param consumer consumer charged for its memory
     * @param parameterListener notified of progress, or null
     * @param tracer notified of calls, or null
     * @param variants functions with variants
     * @param variantListener notified which variants are called, or null
     * @param signatures signatures of functions by name
     */
    public ProgramOptions {
        modules = List.copyOf(modules);
        offered = List.copyOf(offered);
        providers = List.copyOf(providers);
        devices = List.copyOf(devices);
        variants = List.copyOf(variants);
        signatures = Map.copyOf(signatures);
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

    /** The same with another module and no variants, charged to the same consumer. */
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
                null,
                Map.of());
    }

    /** The consumer charged for the program's memory: the configured one, otherwise the name of its last module, as given. */
    String account() {
        if (consumer != null) {
            return consumer;
        }
        if (modules.isEmpty()) {
            return ""; // loading refuses this
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

    /** Builds the options. Not thread-safe. */
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
        private final Map<String, String> signatures = new LinkedHashMap<>();

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
         * Adds a compiled module that is mapped rather than read, with the restrictions of {@link ModuleBytes#map}.
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
         * Adds a compiled module from memory.
         *
         * @param name its name in messages
         * @param content contents of a {@code .vmfb}; copied
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
         * Offers a module written in Java: it is added before the others if one of them, or another offered module that is
         * needed, imports from it or depends on it, and none of the same name was added. Of two offered modules with one name the
         * first wins.
         *
         * @param module the module; stays the caller's and may be in several programs
         * @return this builder
         */
        public Builder offer(VmModule module) {
            offered.add(module);
            return this;
        }

        /**
         * Adds a parameter archive. A scope may have several; the first that has a parameter provides it.
         *
         * @param scope as the program names it; empty for the unnamed one
         * @param archive an {@code .irpa}, {@code .gguf} or {@code .safetensors} file
         * @return this builder
         */
        public Builder parameters(String scope, Path archive) {
            parameters.computeIfAbsent(scope, _ -> new ArrayList<>()).add(archive);
            return this;
        }

        /**
         * Adds a custom source of parameters, or an archive that the program may write
         * ({@link io.github.iree4j.modules.parameters.ParameterArchive#openWritable}). It is consulted after the archives of its scope.
         *
         * @param provider the source; stays the caller's, who may close it once the program is loaded
         * @return this builder
         */
        public Builder parameters(ParameterProvider provider) {
            providers.add(provider);
            return this;
        }

        /**
         * Sets the listener for the progress of parameters: of each archive that is opened, and of what the program then loads.
         *
         * @param listener called on device threads too; see there for its restrictions
         * @return this builder
         */
        public Builder parameterListener(ParameterProgress.@Nullable Listener listener) {
            parameterListener = listener;
            return this;
        }

        /**
         * Adds a device; without any, the program sees all devices of the runtime.
         *
         * @param name its name in the runtime's options, or its id
         * @return this builder
         */
        public Builder device(String name) {
            devices.add(name);
            return this;
        }

        /**
         * Sets whether one call may run while another waits for a fence. If not, a call has the program to itself until it returns.
         *
         * @param overlap true for a program whose functions keep no state, in globals or in buffers that globals hold, that a
         *     call must find unchanged when it resumes
         * @return this builder
         */
        public Builder overlappingCalls(boolean overlap) {
            overlappingCalls = overlap;
            return this;
        }

        /**
         * Sets the consumer that the memory of the program is charged to, in statistics and for quotas.
         *
         * @param name name of this program, or one shared by several
         * @return this builder
         */
        public Builder consumer(String name) {
            consumer = name;
            return this;
        }

        /**
         * Sets the tracer of every call in the program's compiled modules, from {@code __init} on. For debugging only, since traced
         * modules are interpreted.
         *
         * @param callTracer the tracer; see there for its restrictions
         * @return this builder
         */
        public Builder tracer(@Nullable CallTracer callTracer) {
            tracer = callTracer;
            return this;
        }

        /**
         * Declares a function with several compiled variants; each call selects the one that fits its shapes. Functions of modules that
         * declare their rules ({@value FunctionVariants#ATTRIBUTE}) need no such call.
         *
         * @param options the function, its rules, and its variants
         * @return this builder
         */
        public Builder variants(VariantOptions options) {
            variants.add(options);
            return this;
        }

        /**
         * Gives the signature of a function: names of its values, and types where the module neither declares them nor its code proves them, as
         * for some models imported from ONNX and PyTorch. A signature that contradicts the module fails loading.
         *
         * @param function its name
         * @param signature for example {@code (%image: tensor<?x64xf32>) -> (%scores: tensor<?x10xf32>)}; a value may have a name only
         * @return this builder
         */
        public Builder signature(String function, String signature) {
            signatures.put(function, signature);
            return this;
        }

        /**
         * Sets the listener for calls of variants.
         *
         * @param listener called at each call; see there for its restrictions
         * @return this builder
         */
        public Builder variantListener(@Nullable VariantListener listener) {
            variantListener = listener;
            return this;
        }

        /**
         * Returns the options.
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
                    variantListener,
                    signatures);
        }
    }
}
