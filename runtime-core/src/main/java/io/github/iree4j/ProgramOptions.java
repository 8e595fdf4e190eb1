package io.github.iree4j;

import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.monitor.CallListener;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a program: modules in order, where later modules may import from earlier modules, parameter archives by
 * scope, devices, and listeners. Immutable.
 *
 * <pre>{@code
 * ProgramOptions.builder().module(Path.of("add.vmfb")).parameters("model", Path.of("weights.irpa")).build()
 * }</pre>
 */
public final class ProgramOptions {
    private final List<Source> modules;
    private final List<VmModule> offered;
    private final Map<String, List<Path>> parameters; // by scope, in order
    private final List<ParameterProvider> providers;
    private final List<String> devices;
    private final boolean overlappingCalls;
    private final @Nullable String name;
    private final ParameterProgress.@Nullable Listener parameterListener;
    private final @Nullable CallTracer tracer;
    private final List<VariantOptions> variants;
    private final @Nullable VariantListener variantListener;
    private final @Nullable CallListener callListener;
    private final Map<String, String> signatures;

    private ProgramOptions(Builder of) {
        this.modules = List.copyOf(of.modules);
        this.offered = List.copyOf(of.offered);
        Map<String, List<Path>> archives = new LinkedHashMap<>();
        of.parameters.forEach((scope, files) -> archives.put(scope, List.copyOf(files)));
        this.parameters = Collections.unmodifiableMap(archives);
        this.providers = List.copyOf(of.providers);
        this.devices = List.copyOf(of.devices);
        this.overlappingCalls = of.overlappingCalls;
        this.name = of.name;
        this.parameterListener = of.parameterListener;
        this.tracer = of.tracer;
        this.variants = List.copyOf(of.variants);
        this.variantListener = of.variantListener;
        this.callListener = of.callListener;
        this.signatures = Map.copyOf(of.signatures);
    }

    /** The source of a module. */
    sealed interface Source {
        /**
         * A compiled file.
         *
         * @param path the path of the file
         * @param mapped whether the file is mapped rather than read
         */
        record File(Path path, boolean mapped) implements Source {}

        /**
         * The bytes of a compiled file, copied.
         *
         * @param name the file's name in messages
         * @param content the bytes
         */
        record Bytes(String name, byte[] content) implements Source {
            /**
             * Copies the bytes.
             *
             * @param name the file's name in messages
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
         * The bytes of a compiled file, possibly shared by several programs.
         *
         * @param bytes the bytes; stay the caller's; a loaded program retains them
         */
        record Shared(ModuleBytes bytes) implements Source {}

        /**
         * An existing module, usually written in Java.
         *
         * @param module the module; stays the caller's
         */
        record Module(VmModule module) implements Source {}
    }

    List<Source> modules() {
        return modules;
    }

    /** Further modules, each added before the others if one of the others imports from the module. */
    List<VmModule> offered() {
        return offered;
    }

    /** Archives of each scope, searched in order; the scope {@code ""} is the unnamed scope. */
    Map<String, List<Path>> parameters() {
        return parameters;
    }

    /** Further sources of parameters, consulted after the archives of their scope. */
    List<ParameterProvider> providers() {
        return providers;
    }

    /** Names of the devices seen by the program; empty for all devices. */
    List<String> devices() {
        return devices;
    }

    boolean overlappingCalls() {
        return overlappingCalls;
    }

    /** The program's name, if given: see {@link #account()}. */
    @Nullable
    String name() {
        return name;
    }

    ParameterProgress.@Nullable Listener parameterListener() {
        return parameterListener;
    }

    @Nullable
    CallTracer tracer() {
        return tracer;
    }

    List<VariantOptions> variants() {
        return variants;
    }

    @Nullable
    VariantListener variantListener() {
        return variantListener;
    }

    @Nullable
    CallListener callListener() {
        return callListener;
    }

    /** Signatures of functions not declared in a module, by name. */
    Map<String, String> signatures() {
        return signatures;
    }

    /** Options with another module and no variants, charged to the same consumer. */
    ProgramOptions part(Source module) {
        Builder part = builder().overlappingCalls(overlappingCalls).name(account());
        part.modules.add(module);
        part.offered.addAll(offered);
        part.parameters.putAll(parameters);
        part.providers.addAll(providers);
        part.devices.addAll(devices);
        return part.parameterListener(parameterListener)
                .tracer(tracer)
                .callListener(callListener)
                .build();
    }

    /** The consumer charged for the program's memory: as configured, otherwise the name of the last module, as given. */
    String account() {
        if (name != null) {
            return name;
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
        private @Nullable String name;
        private ParameterProgress.@Nullable Listener parameterListener;
        private @Nullable CallTracer tracer;
        private final List<VariantOptions> variants = new ArrayList<>();
        private @Nullable VariantListener variantListener;
        private @Nullable CallListener callListener;
        private final Map<String, String> signatures = new LinkedHashMap<>();

        private Builder() {}

        /**
         * Adds a compiled module. The file is read when the program is loaded, and may be changed or deleted
         * afterwards.
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
         * @param file a {@code .vmfb}; must not be overwritten or truncated while the program is loaded
         * @return this builder
         */
        public Builder mappedModule(Path file) {
            modules.add(new Source.File(file, true));
            return this;
        }

        /**
         * Adds a compiled module with bytes shared by several programs.
         *
         * @param bytes the bytes; stay the caller's, and may be closed once the program is loaded
         * @return this builder
         */
        public Builder module(ModuleBytes bytes) {
            modules.add(new Source.Shared(bytes));
            return this;
        }

        /**
         * Adds a compiled module from memory.
         *
         * @param name the module's name in messages
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
         * Offers a module written in Java. The offered module is added before the others if another module, or another
         * needed offered module, imports from or depends on the offered module, and no module of the same name was
         * added. Of two offered modules with one name the first wins.
         *
         * @param module the module; stays the caller's and may be in several programs
         * @return this builder
         */
        public Builder offer(VmModule module) {
            offered.add(module);
            return this;
        }

        /**
         * Adds a parameter archive. A scope may have several archives; the first archive with a parameter provides the
         * parameter.
         *
         * @param scope the scope's name in the program; empty for the unnamed scope
         * @param archive an {@code .irpa}, {@code .gguf} or {@code .safetensors} file
         * @return this builder
         */
        public Builder parameters(String scope, Path archive) {
            parameters.computeIfAbsent(scope, _ -> new ArrayList<>()).add(archive);
            return this;
        }

        /**
         * Adds a custom source of parameters, or an archive that the program may write ({@link
         * io.github.iree4j.modules.parameters.ParameterArchive#openWritable}). The source is consulted after the
         * archives of the same scope.
         *
         * @param provider the source; stays the caller's, and may be closed once the program is loaded
         * @return this builder
         */
        public Builder parameters(ParameterProvider provider) {
            providers.add(provider);
            return this;
        }

        /**
         * Sets the listener for the progress of parameters: of each opened archive, and of the program's loading after
         * that.
         *
         * @param listener called on device threads too; see the type for restrictions
         * @return this builder
         */
        public Builder parameterListener(ParameterProgress.@Nullable Listener listener) {
            parameterListener = listener;
            return this;
        }

        /**
         * Adds a device; without any device, the program sees all devices of the runtime.
         *
         * @param name the device's name in the runtime's options, or the device's id
         * @return this builder
         */
        public Builder device(String name) {
            devices.add(name);
            return this;
        }

        /**
         * Sets whether a call may run while another call waits for a fence. If not, a call has exclusive use of the
         * program until the call returns.
         *
         * @param overlap true for a program whose functions keep no state, in globals or in buffers held by globals,
         *     that a call must find unchanged when resuming
         * @return this builder
         */
        public Builder overlappingCalls(boolean overlap) {
            overlappingCalls = overlap;
            return this;
        }

        /**
         * Sets the name of the program in messages. Statistics and quotas charge the memory of the program to the name.
         *
         * @param programName name of this program, or a name shared by several programs
         * @return this builder
         */
        public Builder name(String programName) {
            name = programName;
            return this;
        }

        /**
         * Sets the tracer of every call in the program's compiled modules, from {@code __init} on. For debugging only, since traced
         * modules are interpreted.
         *
         * @param callTracer the tracer; see the type for restrictions
         * @return this builder
         */
        public Builder tracer(@Nullable CallTracer callTracer) {
            tracer = callTracer;
            return this;
        }

        /**
         * Declares a function with several compiled variants; each call selects the variant that fits the call's
         * shapes. Functions of modules with declared rules ({@value FunctionVariants#ATTRIBUTE}) need no such
         * declaration.
         *
         * @param options the function, the rules, and the variants
         * @return this builder
         */
        public Builder variants(VariantOptions options) {
            variants.add(options);
            return this;
        }

        /**
         * Gives the signature of a function: names of values, and types neither declared by the module nor proven by
         * the module's code, as for some models imported from ONNX and PyTorch. A signature contradicting the module
         * fails loading.
         *
         * @param function the function's name
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
         * @param listener called at each call; see the type for restrictions
         * @return this builder
         */
        public Builder variantListener(@Nullable VariantListener listener) {
            variantListener = listener;
            return this;
        }

        /**
         * Sets the listener for calls.
         *
         * @param listener called at each call; see the type for restrictions
         * @return this builder
         */
        public Builder callListener(@Nullable CallListener listener) {
            callListener = listener;
            return this;
        }

        /**
         * Returns the options.
         *
         * @return the options
         * @throws IreeException INVALID_ARGUMENT when variants of one function are declared twice
         */
        public ProgramOptions build() {
            if (variants.stream().map(VariantOptions::function).distinct().count() < variants.size()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "variants of the same function are declared twice; declared are the variants of %s"
                                .formatted(variants.stream()
                                        .map(VariantOptions::function)
                                        .toList()));
            }
            return new ProgramOptions(this);
        }
    }
}
