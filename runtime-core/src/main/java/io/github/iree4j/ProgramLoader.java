package io.github.iree4j;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.modules.check.CheckModule;
import io.github.iree4j.modules.hal.CompilerFaults;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.modules.hal.InlineModules;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.modules.parameters.ParametersModule;
import io.github.iree4j.monitor.CallListener;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.status.FileInPlace;
import io.github.iree4j.status.FilesInPlace;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Services;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.ModuleProvider;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Loads the modules of a program, puts the runtime's modules before the program's, and links all modules. */
final class ProgramLoader {
    private static final VmTypes TYPES = HalTypes.register(VmTypes.standard());

    /**
     * Read one file after the other: reading is not urgent, and each processor used for reading is missing for calls. A
     * thread for each file system: a mount that hangs holds up no reading elsewhere.
     */
    private static final Map<Object, Executor> READING = new ConcurrentHashMap<>();

    /** Look at files where a look may hang, as above. */
    private static final Map<Object, Executor> LOOKING = new ConcurrentHashMap<>();

    /** Much longer than a tick of the clock of any file system, and shorter than a change of several files. A guess. */
    private static final int SETTLING_MILLIS = 100;

    /** Calls wait for a comparison, and a hanging comparison holds up no other comparison. */
    private static final Executor COMPARING = CompletableFuture.delayedExecutor(
            SETTLING_MILLIS,
            TimeUnit.MILLISECONDS,
            comparison ->
                    CallThreads.forNativeWaits("iree4j-compare", comparison).start());

    private final List<Device> devices;
    private final ContextOptions limits;
    private final Leaks leaks;
    private final BooleanSupplier givenUp;
    private final FilesInPlace inPlace = new FilesInPlace( // grows as contexts load parameters
            file -> thread(READING, file, "iree4j-contents"), file -> thread(LOOKING, file, "iree4j-look"), COMPARING);

    private static Executor thread(Map<Object, Executor> threads, FileInPlace file, String name) {
        return threads.computeIfAbsent(file.fileSystem(), _ -> new HandoffThread(name));
    }

    /** Loads for some devices until the loading is given up. */
    ProgramLoader(List<Device> devices, ContextOptions limits, Leaks leaks, BooleanSupplier givenUp) {
        this.devices = devices;
        this.limits = limits;
        this.leaks = leaks;
        this.givenUp = givenUp;
    }

    /**
     * The resources of a program.
     *
     * @param context the linked modules, with separate state
     * @param shared shared by the contexts of the program; this object owns one reference
     * @param operations the operations in flight of initialisers and calls
     */
    record Loaded(Context context, Shared shared, OperationsUnderWay operations) {
        /** The modules that the program was loaded from, without modules of the runtime. */
        List<VmModule> modules() {
            return shared.modules;
        }

        /** The signature of a function of a module. */
        Signature signature(VmFunction function) {
            Signature known = shared.signatures.get(function);
            Signature signature = known == null ? new Signature(function) : known;
            if (shared.name == null) {
                return signature;
            }
            VmModule last = modules().getLast();
            boolean isPlain = function.module().equals(last)
                    && modules().stream()
                            .noneMatch(each -> each.name().equals(shared.name) && !each.equals(last)); // its functions
            return signature.named(shared.name + "." + (isPlain ? function.name() : function.fullName()));
        }

        /** The name of the program in messages. */
        String name() {
            return shared.name == null ? modules().getLast().name() : shared.name;
        }

        /** Likely faults of the modules. */
        List<String> warnings() {
            return shared.warnings;
        }

        /** Whether a call may run while another call waits. */
        boolean overlaps() {
            return shared.overlaps;
        }

        /** The consumer charged for the memory of the program. */
        String consumer() {
            return shared.consumer;
        }

        /** The variants, from the options and from the declarations of modules. */
        List<VariantOptions> variants(List<CompiledFunction> functions) {
            List<VariantOptions> all = new ArrayList<>(shared.variants);
            for (CompiledFunction each : functions) {
                if (each.attributes().containsKey(FunctionVariants.ATTRIBUTE)
                        && all.stream().noneMatch(known -> known.function().equals(each.name()))) {
                    all.add(VariantOptions.of(each.name(), null));
                }
            }
            return all;
        }

        @Nullable
        VariantListener variantListener() {
            return shared.variantListener;
        }

        /** Receives each beginning call, and the call making this call; null where nobody listens. */
        @Nullable
        BiConsumer<MemoryHolder, @Nullable MemoryHolder> callListener() {
            CallListener listener = shared.callListener;
            return listener == null
                    ? null
                    : (call, caller) -> listener.begins(call.number(), caller == null ? 0 : caller.number());
        }

        /** A failure of a call, with a remedy if the device or a part of the runtime is missing. */
        IreeException explained(IreeException failure) {
            IreeException explained = shared.questions.explainCall(failure);
            return explained != null ? explained : LinkFailures.explainCall(failure);
        }

        /** Whether the program has functions written in Java, other than the runtime's. */
        boolean hasJava() {
            return !modules().stream().allMatch(BytecodeModule.class::isInstance);
        }

        /** The files used in place by the program: while such a file is changed, the program must not be called. */
        FilesInPlace inPlace() {
            return shared.inPlace;
        }

        /** Creates another context of the same modules. The caller keeps this context open meanwhile. */
        Loaded again(ContextOptions limits, BooleanSupplier givenUp) {
            shared.inPlace.awaitUnchanged();
            long comparisons = shared.inPlace.comparisons();
            shared.retain();
            OperationsUnderWay operations = new OperationsUnderWay(consumer());
            try {
                Context context = create(shared.linked, consumer(), operations, limits, givenUp);
                requireUnchanged(context, () -> shared.inPlace.requireUnchangedSince(comparisons));
                return new Loaded(context, shared, operations);
            } catch (RuntimeException | Error e) {
                shared.release();
                throw e;
            }
        }

        void close() {
            MemoryHolder holder = new MemoryHolder(consumer(), operations);
            MemoryHolder before = holder.enter(); // for operations submitted during close
            try {
                closeQuietly(context);
            } finally {
                holder.end();
                holder.leave(before);
            }
            shared.release();
        }
    }

    /** Modules and parameters of a program, for all contexts of the program. */
    static final class Shared extends Resource {
        private final List<VmModule> linked; // the runtime's modules first
        private final List<VmModule> modules;
        private final boolean overlaps;
        private final @Nullable String name; // null for the names of the modules
        private final String consumer; // charged for the memory
        private final List<VariantOptions> variants; // without modules: module bytes are not retained
        private final @Nullable VariantListener variantListener;
        private final @Nullable CallListener callListener;
        private final DeviceQuestions questions;
        private final FilesInPlace inPlace;
        private final List<AutoCloseable> owned; // closed after the last context, in order
        private final List<String> warnings;
        private final Map<VmFunction, Signature> signatures;

        Shared(
                List<VmModule> linked,
                List<VmModule> modules,
                ProgramOptions options,
                DeviceQuestions questions,
                FilesInPlace inPlace,
                List<AutoCloseable> owned,
                List<String> warnings,
                Map<VmFunction, Signature> signatures) {
            this.questions = questions;
            this.inPlace = inPlace;
            this.linked = List.copyOf(linked);
            this.modules = List.copyOf(modules);
            this.warnings = warnings;
            this.overlaps = options.overlappingCalls();
            this.name = options.name();
            this.consumer = options.account();
            this.variants = options.variants().stream()
                    .map(VariantOptions::withoutModules)
                    .toList();
            this.variantListener = options.variantListener();
            this.callListener = options.callListener();
            this.owned = List.copyOf(owned);
            this.signatures = signatures;
        }

        @Override
        protected void destroy() {
            inPlace.close();
            owned.forEach(ProgramLoader::closeQuietly);
        }
    }

    Loaded load(ProgramOptions options) {
        if (options.modules().isEmpty()) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "a program needs at least one module");
        }
        List<AutoCloseable> owned = new ArrayList<>();
        try {
            List<VmModule> modules = new ArrayList<>();
            VmTypes types = types(options);
            String consumer = options.account();
            for (ProgramOptions.Source source : options.modules()) {
                modules.add(module(source, types, options.tracer(), consumer, owned));
            }
            addOffered(options.offered(), modules, consumer);
            Map<VmFunction, Signature> signatures =
                    GivenSignatures.applied(options.signatures(), RecoveredDeclarations.signatures(modules));
            List<ParameterProvider> parameters = parameters(options, owned);
            DeviceQuestions questions = new DeviceQuestions(devices);
            List<VmModule> linked = new ArrayList<>();
            addUnlessGiven(
                    linked,
                    modules,
                    "hal",
                    () -> HalModule.create(
                            devices,
                            questions,
                            consumer,
                            new CompilerFaults(UseAfterDealloca.isIn(modules), EarlySignal.isIn(modules))));
            addUnlessGiven(
                    linked,
                    modules,
                    "io_parameters",
                    () -> ParametersModule.create(parameters, options.parameterListener(), inPlace::add));
            addUnlessGiven(linked, modules, "check", () -> CheckModule.create(ProgramLoader::checked));
            // Only programs compiled for inline execution import from these modules.
            addIfWanted(linked, modules, "hal_inline", () -> InlineModules.inline(devices, questions, consumer));
            addIfWanted(linked, modules, "hal_loader", () -> InlineModules.loader(devices, questions, consumer));
            for (ModuleProvider each : Services.of(ModuleProvider.class)) {
                addIfWanted(linked, modules, each.name(), each::module);
            }
            linked.addAll(modules);
            OperationsUnderWay operations = new OperationsUnderWay(consumer);
            List<String> warnings = warnings(modules);
            Context context = link(linked, consumer, operations, questions);
            warnings.forEach(
                    each -> LoggerFactory.getLogger(ProgramLoader.class).warn("program '{}': {}", consumer, each));
            requireUnchanged(context, inPlace::requireUnchangedSinceAdded);
            inPlace.loaded();
            return new Loaded(
                    context,
                    new Shared(linked, modules, options, questions, inPlace, owned, warnings, signatures),
                    operations);
        } catch (RuntimeException | Error e) {
            owned.forEach(ProgramLoader::closeQuietly);
            throw e;
        }
    }

    /** Fails for a context whose initialisers may have read other contents: contents are compared with the contents at the time of mapping. */
    private static void requireUnchanged(Context context, Runnable check) {
        try {
            check.run();
        } catch (RuntimeException e) {
            closeQuietly(context);
            throw e;
        }
    }

    private List<String> warnings(List<VmModule> modules) {
        List<ProgramCheck> checks = ProgramCheck.installed().stream()
                .filter(check -> devices.stream()
                        .anyMatch(device -> device.executableFormats().stream().anyMatch(check::concerns)))
                .toList();
        return modules.stream()
                .filter(BytecodeModule.class::isInstance)
                .flatMap(module -> checks.stream()
                        .flatMap(check -> check.warnings(((BytecodeModule) module).definition()).stream()))
                .toList();
    }

    /** Creates a context. Allocations of initialisers stay until the context is closed. */
    private static Context create(
            List<VmModule> linked,
            String consumer,
            OperationsUnderWay operations,
            ContextOptions limits,
            BooleanSupplier givenUp) {
        MemoryHolder holder = new MemoryHolder(consumer, operations);
        MemoryHolder before = holder.enter();
        try {
            return Context.create(linked, limits, givenUp);
        } catch (RuntimeException | Error e) {
            operations.abandon();
            throw e;
        } finally {
            holder.keep();
            holder.leave(before);
        }
    }

    private Context link(
            List<VmModule> linked, String consumer, OperationsUnderWay operations, DeviceQuestions questions) {
        try {
            return create(linked, consumer, operations, limits, givenUp);
        } catch (IreeException e) {
            IreeException explained = questions.explain(e);
            throw explained != null ? explained : LinkFailures.explain(e);
        } finally {
            questions.stopListening();
        }
    }

    /** The types that programs may name: types of the runtime, and types of modules written in Java. */
    private static VmTypes types(ProgramOptions options) {
        VmTypes types = TYPES;
        for (VmModule offered : options.offered().reversed()) { // so that the first module wins
            for (Map.Entry<String, Class<?>> type : offered.referenceTypes().entrySet()) {
                types = types.with(type.getKey(), type.getValue());
            }
        }
        for (ProgramOptions.Source source : options.modules()) {
            if (source instanceof ProgramOptions.Source.Module given) {
                for (Map.Entry<String, Class<?>> type :
                        given.module().referenceTypes().entrySet()) {
                    types = types.with(type.getKey(), type.getValue());
                }
            }
        }
        return types;
    }

    private VmModule module(
            ProgramOptions.Source source,
            VmTypes types,
            @Nullable CallTracer tracer,
            String consumer,
            List<AutoCloseable> owned) {
        return switch (source) {
            case ProgramOptions.Source.Module given -> withTensors(given.module(), consumer);
            case ProgramOptions.Source.File file -> {
                try (ModuleBytes bytes = file.mapped() ? ModuleBytes.map(file.path()) : ModuleBytes.read(file.path())) {
                    yield module(bytes, types, tracer, owned);
                }
            }
            case ProgramOptions.Source.Bytes given -> {
                try (ModuleBytes bytes = ModuleBytes.copyOf(given.name(), given.content())) {
                    yield module(bytes, types, tracer, owned);
                }
            }
            case ProgramOptions.Source.Shared shared -> module(shared.bytes(), types, tracer, owned);
        };
    }

    /** Creates a module that retains its bytes. */
    private BytecodeModule module(
            ModuleBytes bytes, VmTypes types, @Nullable CallTracer tracer, List<AutoCloseable> owned) {
        BytecodeModule module = tracer == null
                ? BytecodeModule.read(bytes.segment(), bytes.name(), types, ModuleLimits.DEFAULTS, bytes)
                : BytecodeModule.readTraced(bytes.segment(), bytes.name(), types, ModuleLimits.DEFAULTS, bytes, tracer);
        owned.add(module);
        FileInPlace file = bytes.file();
        if (file != null) {
            file.requireUnchanged(); // the file may have been mapped before
            inPlace.add(file);
        }
        return module;
    }

    private VmModule withTensors(VmModule module, String consumer) {
        return module instanceof JavaModule java
                ? java.with(Tensor.class, new TensorReferences(new DeviceMemory(devices, consumer), leaks))
                : module;
    }

    /** Prepends the offered modules from which the modules import, transitively. */
    private void addOffered(List<VmModule> offered, List<VmModule> modules, String consumer) {
        boolean added = true;
        while (added) {
            added = false;
            for (VmModule each : offered) {
                if (isWanted(modules, each.name())
                        && modules.stream().noneMatch(module -> module.name().equals(each.name()))) {
                    modules.addFirst(withTensors(each, consumer));
                    added = true;
                }
            }
        }
    }

    private static List<ParameterProvider> parameters(ProgramOptions options, List<AutoCloseable> owned) {
        List<ParameterProvider> providers = new ArrayList<>();
        options.parameters().forEach((scope, paths) -> {
            List<ParameterArchive> archives = new ArrayList<>();
            try {
                for (Path path : paths) {
                    ParameterArchive archive = ParameterArchive.open(path);
                    archives.add(archive);
                    reportOpened(options, scope, archive);
                }
                ParameterProvider provider = ParameterProvider.of(scope, archives.toArray(ParameterArchive[]::new));
                owned.add(provider);
                providers.add(provider);
            } finally {
                archives.forEach(ParameterArchive::close);
            }
        });
        for (ParameterProvider provider : options.providers()) {
            provider.retain();
            owned.add(provider::release);
            providers.add(provider);
        }
        return providers;
    }

    private static void reportOpened(ProgramOptions options, String scope, ParameterArchive archive) {
        ParameterProgress.Listener listener = options.parameterListener();
        if (listener == null) {
            return;
        }
        try {
            listener.progressed(
                    new ParameterProgress(ParameterProgress.Phase.OPENED, scope, archive.path(), 0, archive.size()));
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(ProgramLoader.class).warn("a listener of parameter progress failed", e);
        }
    }

    private static void addUnlessGiven(
            List<VmModule> linked, List<VmModule> given, String name, Supplier<VmModule> ours) {
        if (given.stream().noneMatch(module -> module.name().equals(name))) {
            linked.add(ours.get());
        }
    }

    private static void addIfWanted(List<VmModule> linked, List<VmModule> given, String name, Supplier<VmModule> ours) {
        if (isWanted(given, name)) {
            addUnlessGiven(linked, given, name, ours);
        }
    }

    private static boolean isWanted(List<VmModule> given, String name) {
        return given.stream()
                .anyMatch(module ->
                        module.imports().stream().anyMatch(i -> i.module().equals(name))
                                || module.dependencies().stream()
                                        .anyMatch(d -> d.module().equals(name)));
    }

    /** A program compiled for IREE's test runner checks itself: a violated expectation fails the call. */
    private static void checked(String expectation, @Nullable String failure) {
        if (failure != null) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "%s does not hold: %s".formatted(expectation, failure));
        }
    }

    private static void closeQuietly(AutoCloseable owned) {
        try {
            owned.close();
        } catch (Exception e) {
            LoggerFactory.getLogger(ProgramLoader.class).warn("{} failed to close", owned, e);
        }
    }
}
