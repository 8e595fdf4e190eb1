package io.github.iree4j.spring;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueKind;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.spring.ProgramSource.VariantModule;
import io.github.iree4j.spring.ProgramSource.Variants;
import io.github.iree4j.spring.ProgramSource.WarmUp;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ResourceLoader;

/**
 * Loads a program: finds and verifies files, loads the program for each device and context, and makes the warm-up
 * calls.
 */
final class ProgramOpening {

    private static final Logger log = LoggerFactory.getLogger(ProgramOpening.class);

    // Shares of the progress: verification of the file, loading, warm-up calls.
    private static final double LOADED_FROM = 0.1;
    private static final double LOADED_PART = 0.7;

    /** Receives progress. */
    @FunctionalInterface
    interface Progress {
        Progress NONE = (state, step, done, parameters) -> {};

        void report(ProgramState state, String step, double done, @Nullable ParameterProgress parameters);

        default void report(ProgramState state, String step, double done) {
            report(state, step, done, null);
        }
    }

    private final IreeRuntime runtime;
    private final ResourceLoader resources;
    private final Integrity integrity;
    private final ProgramSource source;
    private final Consumer<ProgramOptions.Builder> everyProgram;
    private final Progress progress;

    ProgramOpening(
            IreeRuntime runtime,
            ResourceLoader resources,
            ProgramSource source,
            Consumer<ProgramOptions.Builder> everyProgram,
            Integrity integrity,
            Progress progress) {
        this.runtime = runtime;
        this.resources = resources;
        this.integrity = integrity;
        this.source = source;
        this.everyProgram = everyProgram;
        this.progress = progress;
    }

    /**
     * Loads the program.
     *
     * @param copy whether to use private copies of all files
     * @throws ProgramLoadException when the program cannot be loaded; leaves nothing open
     */
    LoadedProgram open(boolean copy) {
        List<Program> instances = new ArrayList<>();
        FileReading<OpenFiles> reading = new FileReading<>(source.name());
        try (OpenFiles files = reading.await(() -> new OpenFiles(copy, reading))) {
            load(files, instances);
            warmUp(instances);
            return new LoadedProgram(source, instances);
        } catch (IreeException | IOException e) {
            instances.forEach(Program::close);
            throw new ProgramLoadException(source, e);
        } catch (RuntimeException | Error e) {
            instances.forEach(Program::close);
            throw e;
        }
    }

    /** All files of the program, open until the program is loaded; the program retains the files needed later. */
    private final class OpenFiles implements AutoCloseable {
        private final FileReading<?> reading;
        private final VerifiedFiles verified;
        private final ModuleFiles found;
        private final List<ModuleBytes> modules = new ArrayList<>(); // the first is the source's own module
        private final List<VariantOptions> variants = new ArrayList<>();
        private final Map<String, List<Path>> inPlace = new LinkedHashMap<>(); // by scope
        // archives of {@code inPlace}, opened in advance for loading
        private final List<ParameterArchive> mapped = new ArrayList<>();
        private final List<ParameterProvider> providers = new ArrayList<>(); // of verified files

        OpenFiles(boolean copy, FileReading<?> reading) throws IOException {
            this.reading = reading;
            this.verified = new VerifiedFiles(
                    resources,
                    integrity,
                    (done, size) -> reading.report(() -> progress.report(
                            ProgramState.LOADING,
                            "checked %d of %d bytes".formatted(done, size),
                            LOADED_FROM * ((double) done / size))));
            this.found = new ModuleFiles(resources, copy);
            boolean done = false;
            try {
                module(
                        source.location(),
                        source.sha256().orElse(null),
                        source.signature().orElse(null));
                for (Variants each : source.variants()) {
                    variants.add(options(each));
                }
                parameters();
                done = true;
            } finally {
                if (!done) {
                    close();
                }
            }
        }

        private ModuleBytes module(String location, @Nullable String sha256, @Nullable String signature)
                throws IOException {
            reading.reads(location);
            reading.report(() -> progress.report(ProgramState.LOADING, "finding '%s'".formatted(location), 0));
            ModuleBytes module =
                    verified.module(found.file(location, "module"), location, sha256, signature, source.mapped());
            modules.add(module);
            return module;
        }

        private VariantOptions options(Variants of) throws IOException {
            VariantOptions options = VariantOptions.of(of.function(), of.rules())
                    .functions(of.functions().toArray(String[]::new));
            for (VariantModule each : of.modules()) {
                options = options.module(module(each.location(), each.sha256(), null), each.sizes());
            }
            return options;
        }

        private void parameters() throws IOException {
            for (Map.Entry<String, List<String>> scope : source.parameters().entrySet()) {
                String name = scope.getKey();
                List<String> scopes = name.equals(ProgramSource.DEFAULT_SCOPE) ? List.of(name, "") : List.of(name);
                List<ParameterArchive> archives = new ArrayList<>();
                try {
                    for (String location : scope.getValue()) {
                        reading.reads(location);
                        Path file = found.file(location, "parameters of scope '%s'".formatted(name));
                        if (integrity.requiresSignatures()) {
                            archives.add(verified.parameters(file, location));
                        } else {
                            mapped.add(ParameterArchive.open(file));
                            scopes.forEach(each -> inPlace.computeIfAbsent(each, _ -> new ArrayList<>())
                                    .add(file));
                        }
                    }
                    if (!archives.isEmpty()) {
                        scopes.forEach(each ->
                                providers.add(ParameterProvider.of(each, archives.toArray(ParameterArchive[]::new))));
                    }
                } finally {
                    archives.forEach(ParameterArchive::close);
                }
            }
        }

        void addTo(ProgramOptions.Builder options) {
            options.module(modules.getFirst());
            variants.forEach(options::variants);
            inPlace.forEach((scope, paths) -> paths.forEach(path -> options.parameters(scope, path)));
            providers.forEach(options::parameters);
        }

        @Override
        public void close() {
            providers.forEach(ParameterProvider::close);
            mapped.forEach(ParameterArchive::close);
            modules.forEach(ModuleBytes::close);
            found.close();
        }
    }

    /** Loads the program for each placement and context. */
    private void load(OpenFiles files, List<Program> instances) throws IOException {
        List<List<String>> placements = placements();
        for (List<String> devices : placements) {
            double begun = LOADED_FROM + LOADED_PART * instances.size() / (placements.size() * source.contexts());
            progress.report(
                    ProgramState.LOADING,
                    devices.isEmpty() ? "loading" : "loading on " + String.join(", ", devices),
                    begun);
            instances.add(load(options(files, devices), begun, LOADED_PART / placements.size(), instances.isEmpty()));
            Program first = instances.getLast();
            for (int i = 1; i < source.contexts(); i++) {
                instances.add(first.newInstance());
            }
        }
    }

    /** Loads the program once; parameters account for {@code part} of the progress. */
    private Program load(ProgramOptions.Builder options, double begun, double part, boolean isFirst) {
        if (source.parameters().isEmpty()) {
            return runtime.load(options.build());
        }
        try (ParameterReports reports = new ParameterReports((parameters, fraction) ->
                progress.report(ProgramState.LOADING, describe(parameters), begun + part * fraction, parameters))) {
            source.customizer().accept(options.parameterListener(reports));
            Program loaded = runtime.load(options.build());
            reports.loaded();
            if (isFirst) {
                warnOfUnwanted(reports);
            }
            return loaded;
        }
    }

    /** Warns of scopes without effect so far; a program may still load parameters during later calls. */
    private void warnOfUnwanted(ParameterReports reports) {
        Set<String> loaded = reports.opened(true);
        for (String scope : reports.opened(false)) {
            log.warn(
                    "'iree.modules.{}.parameters.{}={}' has no effect so far: the program has loaded no parameters of scope '{}', {}; correct the name of the scope, or remove it",
                    source.name(),
                    scope,
                    String.join(",", source.parameters().getOrDefault(scope, List.of())),
                    scope,
                    loaded.isEmpty() ? "and none of another scope" : "but some of " + String.join(", ", loaded));
        }
    }

    private static String describe(ParameterProgress parameters) {
        String scope = parameters.scope();
        return switch (parameters.phase()) {
            case OPENED ->
                "opened '%s' of %d bytes, parameters of scope '%s'"
                        .formatted(parameters.file(), parameters.totalBytes(), scope);
            case LOADING ->
                "parameters of scope '%s': %d of %d bytes"
                        .formatted(scope, parameters.doneBytes(), parameters.totalBytes());
            case LOADED -> "parameters of scope '%s': %d bytes loaded".formatted(scope, parameters.doneBytes());
            case STORING, STORED ->
                "parameters of scope '%s': %d of %d bytes stored"
                        .formatted(scope, parameters.doneBytes(), parameters.totalBytes());
            case FAILED -> "parameters of scope '%s' failed after %d bytes".formatted(scope, parameters.doneBytes());
        };
    }

    /** Returns the devices of each copy of the program. */
    private List<List<String>> placements() {
        if (source.placement() == Placement.FIXED) {
            return List.of(source.devices());
        }
        List<String> devices = source.devices();
        if (devices.isEmpty()) {
            DeviceMonitor all = runtime.monitor().devices();
            devices = all.names().stream().filter(name -> !all.isRemote(name)).toList();
        }
        return devices.stream().map(List::of).toList();
    }

    private ProgramOptions.Builder options(OpenFiles files, List<String> devices) {
        ProgramOptions.Builder options =
                ProgramOptions.builder().name(source.name()).overlappingCalls(source.overlappingCalls());
        devices.forEach(options::device);
        files.addTo(options);
        everyProgram.accept(options);
        // otherwise after the listener is set, since the customizer may replace the listener
        if (source.parameters().isEmpty()) {
            source.customizer().accept(options);
        }
        return options;
    }

    /** Makes the warm-up calls on each instance; returns the number of calls. */
    int warmUp(List<Program> instances) {
        int calls = instances.size()
                * source.warmUps().stream().mapToInt(WarmUp::repeat).sum();
        int made = 0;
        for (WarmUp call : source.warmUps()) {
            for (Program instance : instances) {
                for (int i = 0; i < call.repeat(); i++) {
                    progress.report(
                            ProgramState.WARMING_UP,
                            "call %d of %d, of '%s'".formatted(made + 1, calls, call.function()),
                            LOADED_FROM + LOADED_PART + (1 - LOADED_FROM - LOADED_PART) * made / calls);
                    try {
                        WarmUpInputs.call(instance.function(call.function()), call.inputs());
                    } catch (IreeException e) {
                        throw IreeException.of(e.code(), e.getMessage(), e, new WarmUpFault(call.function()));
                    }
                    made++;
                }
            }
        }
        return made;
    }

    /** Parses the inputs of a function. */
    private static final class WarmUpInputs {
        private WarmUpInputs() {}

        static void call(ProgramFunction function, List<String> texts) {
            List<ValueKind> kinds = function.argumentKinds();
            if (kinds.size() != texts.size()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "function '%s' takes %d arguments; its warm-up has %d inputs"
                                .formatted(function.name(), kinds.size(), texts.size()));
            }
            List<Tensor> tensors = new ArrayList<>();
            try {
                Object[] inputs = new Object[texts.size()];
                for (int i = 0; i < inputs.length; i++) {
                    inputs[i] = input(kinds.get(i), texts.get(i).strip());
                    if (inputs[i] instanceof Tensor tensor) {
                        tensors.add(tensor);
                    }
                }
                function.invoke(inputs).close();
            } catch (NumberFormatException e) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "warm-up of '%s' has an input that is not a number: %s"
                                .formatted(function.name(), e.getMessage()),
                        e);
            } finally {
                tensors.forEach(Tensor::close);
            }
        }

        private static Object input(ValueKind kind, String text) {
            return switch (kind) {
                case I32 -> Integer.valueOf(text);
                case I64 -> Long.valueOf(text);
                case F32 -> Float.valueOf(text);
                case F64 -> Double.valueOf(text);
                default -> Tensor.parse(text);
            };
        }
    }
}
