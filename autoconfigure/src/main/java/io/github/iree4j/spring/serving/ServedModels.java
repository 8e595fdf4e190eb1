package io.github.iree4j.spring.serving;

import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Maps model names and versions to functions of programs.
 *
 * <p>Every program is served under its name and its versions. A model is one function: the configured function, else
 * the program's only function. {@code program.function} names any function of any program, except {@code f$async} next
 * to {@code f}, which is the same function. Thread-safe; reflects programs as loaded, replaced and unloaded.
 */
@NotForApplications
public final class ServedModels {

    private static final String WITH_FENCES = "$async";

    /** Maximum number of requests waiting for loads at once, each with a thread of a server. */
    private static final int AWAITING_LOADS = 4;

    /** The shortest time after which another attempt is worthwhile. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Programs programs;
    private final Map<String, String> functions;
    private final Map<String, Set<String>> strings;
    private final Map<String, Map<String, ValueRange>> ranges;
    private final BooleanSupplier accepting;
    private final Semaphore awaitingLoads = new Semaphore(AWAITING_LOADS);

    /**
     * A function served as a model.
     *
     * @param name the name of the model
     * @param located the function and its program
     * @param strings the names of inputs and outputs with datatype {@link Datatype#BYTES}
     * @param ranges the ranges of the values of inputs, by name
     */
    record Served(String name, LocatedFunction located, Set<String> strings, Map<String, ValueRange> ranges) {
        String version() {
            return located.program().source().version();
        }

        ProgramFunction function() {
            return located.function();
        }

        /** Returns the name of the datatype of a value: the protocol's name, else IREE's. */
        String datatype(String name, ValueDeclaration value) {
            if (strings.contains(name)) {
                return Datatype.BYTES.name();
            }
            return value.elementType().map(Datatype::of).map(Datatype::name).orElse(value.type());
        }

        /** Returns the shape of a value in the protocol, -1 for each variable dimension. */
        List<Long> shape(String name, ValueDeclaration value) {
            if (value.shape().isEmpty()) {
                return List.of(-1L);
            }
            List<Long> shape = value.shape().get();
            if (!value.isTensor()) {
                return List.of(1L);
            }
            if (strings.contains(name)) {
                return shape.size() < 2 ? List.of(1L) : shape.subList(0, shape.size() - 1);
            }
            return shape;
        }
    }

    /**
     * Creates the mapping.
     *
     * @param programs the programs, all of which are served
     * @param functions the function serving a program with several functions, by program name
     * @param strings names of inputs and outputs holding texts, datatype {@code BYTES}, by program name
     * @param ranges ranges of the values of inputs, by program name and input name
     * @param accepting whether the application accepts traffic: the readiness of the server
     */
    public ServedModels(
            Programs programs,
            Map<String, String> functions,
            Map<String, Set<String>> strings,
            Map<String, Map<String, ValueRange>> ranges,
            BooleanSupplier accepting) {
        this.programs = programs;
        this.accepting = accepting;
        this.functions = Map.copyOf(functions);
        this.strings = Map.copyOf(strings);
        this.ranges = Map.copyOf(ranges);
    }

    /** Returns the name of the program of a model: the longest match. */
    private String programOf(String model) {
        int end = model.endsWith(".") ? 0 : model.length(); // no function has an empty name
        for (int dot = end; dot > 0; dot = model.lastIndexOf('.', dot - 1)) {
            String name = model.substring(0, dot);
            if (!programs.versions(name).isEmpty()) {
                return name;
            }
        }
        throw noModel(model, null);
    }

    private static IreeException noModel(String model, @Nullable IreeException cause) {
        return IreeException.of(
                StatusCode.NOT_FOUND, "there is no model '%s'".formatted(Datatype.shortened(model)), cause);
    }

    /** Returns the ready versions of a model, the newest last. */
    List<String> versions(String model) {
        List<String> versions = new ArrayList<>();
        for (ProgramStatus status : programs.versions(programOf(model))) {
            if (isReady(status)) {
                versions.addFirst(status.source().version());
            }
        }
        return versions;
    }

    /** Returns whether a version is loaded, and neither a changed file nor a lost device makes all calls fail. */
    private boolean isReady(ProgramStatus status) {
        return programs.find(status.source().name(), status.source().version())
                .filter(loaded -> loaded.failure().isEmpty())
                .filter(loaded -> loaded.instances().stream().anyMatch(ServedModels::isOnWorkingDevices))
                .isPresent();
    }

    private static boolean isOnWorkingDevices(Program program) {
        return program.devices().stream().allMatch(device -> device.failure().isEmpty());
    }

    /** Returns whether the server is ready: whether the application accepts traffic. */
    boolean isReady() {
        return accepting.getAsBoolean();
    }

    /**
     * Returns whether a model is ready: whether the calls of a version need not fail.
     *
     * @param version the model's version; null for any
     * @throws IreeException NOT_FOUND when there is no such model or version, or the ready program has no such function
     */
    boolean isReady(String model, @Nullable String version) {
        String program = programOf(model);
        List<ProgramStatus> statuses = programs.versions(program).stream()
                .filter(status -> version == null || status.source().version().equals(version))
                .toList();
        if (statuses.isEmpty()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "model '%s' has no version '%s'; it has %s"
                            .formatted(model, Datatype.shortened(String.valueOf(version)), versions(model)));
        }
        boolean ready = statuses.stream().anyMatch(this::isReady);
        if (ready && !model.equals(program)) {
            locate(model, program, version, model.substring(program.length() + 1));
        }
        return ready;
    }

    /**
     * Finds the function serving a model, for a request. Begins to load a lazy program, and waits for the load only
     * briefly: waiting requests hold threads of servers. Requests beyond {@value #AWAITING_LOADS} do not wait.
     *
     * @param model the model's name
     * @param version the model's version; null for the latest loaded version
     * @param limit the maximum wait for a load
     * @throws IreeException NOT_FOUND when there is no such model; UNAVAILABLE when the model is not loaded yet, with
     *     the time for another attempt; the load continues
     */
    Served find(String model, @Nullable String version, Duration limit) {
        String program = programOf(model);
        if (version != null) {
            isReady(model, version); // throws if there is no such version
        }
        LoadedProgram loaded = loaded(program, version, limit);
        String function = model.equals(program) ? functionOf(program, loaded) : model.substring(program.length() + 1);
        checkOnce(program, loaded, function);
        LocatedFunction located = locate(model, program, version, function);
        checkListed(model, located, ranges.getOrDefault(program, Map.of()));
        return new Served(
                model, located, strings.getOrDefault(program, Set.of()), ranges.getOrDefault(program, Map.of()));
    }

    /** Locates a function. Clients who guess names are told only the guess, not the functions of the program. */
    private LocatedFunction locate(String model, String program, @Nullable String version, String function) {
        try {
            return programs.locate(program + "." + function, version, null);
        } catch (IreeException e) {
            throw e.code() == StatusCode.NOT_FOUND ? noModel(model, e) : e;
        }
    }

    private LoadedProgram loaded(String program, @Nullable String version, Duration limit) {
        CompletableFuture<LoadedProgram> load = programs.requireAsync(program, version);
        boolean waits = !load.isDone() && awaitingLoads.tryAcquire();
        try {
            return load.get(waits ? TimeUnit.NANOSECONDS.convert(limit) : 0, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw beingLoaded(program, version, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED, "the client has gone while model '%s' is loaded".formatted(program), e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IreeException failure
                    ? IreeException.of(failure.code(), failure.getMessage(), failure)
                    : IreeException.of(
                            StatusCode.INTERNAL, "model '%s' could not be loaded".formatted(program), e.getCause());
        } finally {
            if (waits) {
                awaitingLoads.release();
            }
        }
    }

    /** Makes the refusal of a request while a model is loaded. A load that has taken long may well take as long again. */
    private IreeException beingLoaded(String program, @Nullable String version, TimeoutException cause) {
        Duration loading = programs.versions(program).stream()
                .filter(status -> version == null || status.source().version().equals(version))
                .filter(status -> status.state() == ProgramState.LOADING || status.state() == ProgramState.WARMING_UP)
                .map(status -> Duration.between(status.since(), Instant.now()))
                .findFirst()
                .orElse(Duration.ZERO);
        RetryLater later = new RetryLater(loading.compareTo(SOON) < 0 ? SOON : loading);
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "model '%s' is being loaded, for %d ms so far; try again in %d s"
                        .formatted(program, loading.toMillis(), later.seconds()),
                cause,
                later);
    }

    private String functionOf(String program, LoadedProgram loaded) {
        String configured = functions.get(program);
        if (configured != null) {
            return configured;
        }
        List<String> names =
                loaded.program().functions().stream().map(ProgramFunction::name).toList();
        if (names.size() != 1) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "model '%s' has %d functions, %s; ask for '%s.<function>' or set iree.serving.functions.%s"
                            .formatted(program, names.size(), names, program, program));
        }
        return names.getFirst();
    }

    /** Rejects duplicates: programs imported from PyTorch or ONNX may have each function twice, once with fences; the function is served once. */
    private static void checkOnce(String program, LoadedProgram loaded, String function) {
        if (!function.endsWith(WITH_FENCES)) {
            return;
        }
        String plain = function.substring(0, function.length() - WITH_FENCES.length());
        if (loaded.program().functions().stream().anyMatch(each -> each.name().equals(plain))) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "function '%s' of model '%s' is '%s' with fences; ask for '%s.%s'"
                            .formatted(function, program, plain, program, plain));
        }
    }

    /**
     * Returns the names of possible text values: tensors of 8-bit integers, and values without a type declared by the
     * module.
     *
     * @param function the function whose arguments and results to consider
     * @return the names used in the protocol
     */
    public static List<String> possibleStrings(ProgramFunction function) {
        List<String> names = new ArrayList<>();
        addPossibleStrings(function.arguments(), "input", names);
        addPossibleStrings(function.results(), "output", names);
        return names;
    }

    /** Rejects variants of programs with ranges of values: inputs of a variant may have names without a range. */
    private static void checkListed(String model, LocatedFunction located, Map<String, ValueRange> ranges) {
        ProgramFunction function = located.function();
        if (!ranges.isEmpty() && !function.program().functions().contains(function)) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "model '%s' is a variant of another function, for which ranges of values are declared; ask for that function"
                            .formatted(Datatype.shortened(model)));
        }
    }

    /**
     * Returns the names of the inputs that take whole numbers, as far as the module declares types: inputs without a
     * declared type may take whole numbers.
     *
     * @param function the function whose arguments to consider
     * @return the names used in the protocol
     */
    public static List<String> wholeNumberInputs(ProgramFunction function) {
        List<ValueDeclaration> arguments = function.arguments();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            if (arguments.get(i).elementType().filter(ElementType::isFloat).isEmpty()) {
                names.add(ValueDeclaration.name(arguments, i, "input"));
            }
        }
        return names;
    }

    private static void addPossibleStrings(List<ValueDeclaration> values, String otherwise, List<String> names) {
        for (int i = 0; i < values.size(); i++) {
            if (StringElements.canHold(values.get(i))) {
                names.add(ValueDeclaration.name(values, i, otherwise));
            }
        }
    }
}
