package io.github.iree4j.spring;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ResourceLoader;

/**
 * The application's programs by name, loaded on one runtime, each in one or more versions. Calls that name no version go to the latest
 * that is loaded: by number where versions are numbers, else by spelling.
 *
 * <p>Owns the programs: they are closed when they are unloaded or replaced, and all with this registry, which must be
 * closed before the runtime is. Safe for use by any number of threads; a call under way on a program that is unloaded
 * finishes first.
 */
public final class Programs implements AutoCloseable {

    private final IreeRuntime runtime;
    private final ResourceLoader resources;
    private final Consumer<ProgramStatus> listener;
    private final Consumer<ProgramOptions.Builder> everyProgram;
    private final NavigableMap<String, Versions> programs = new ConcurrentSkipListMap<>();
    private volatile boolean draining;
    private volatile boolean closed;

    /**
     * A program and where it came from.
     *
     * @param source its source
     * @param instances the program on each placement and context, alike but for state; at least one; borrowed, the registry closes them
     */
    public record LoadedProgram(ProgramSource source, List<Program> instances) {
        private static final AtomicInteger TURN = new AtomicInteger();

        /** Copies. */
        public LoadedProgram {
            instances = List.copyOf(instances);
        }

        /** The first instance, for what is the same of all. */
        public Program program() {
            return instances.getFirst();
        }

        /** How many calls are under way on all instances. */
        public int activeCalls() {
            return instances.stream().mapToInt(Program::activeCalls).sum();
        }

        /**
         * The instance that a call is best made on: of the device with the fewest calls under way, the one with the fewest.
         *
         * @param device the only one that may be chosen; null for all
         * @return the instance; null when none is on one of these devices
         */
        @Nullable
        Program choose(@Nullable Device device, IreeRuntime runtime) {
            if (instances.size() == 1 && device == null) {
                return instances.getFirst();
            }
            boolean severalDevices = source.placement() == Placement.LEAST_LOADED;
            Program best = null;
            long least = Long.MAX_VALUE;
            int first = Math.floorMod(TURN.getAndIncrement(), instances.size());
            for (int i = 0; i < instances.size(); i++) {
                Program instance = instances.get((first + i) % instances.size());
                if (device != null && !instance.devices().contains(device)) {
                    continue;
                }
                long load = instance.activeCalls()
                        + (severalDevices ? ((long) load(instance.devices().getFirst(), runtime) << 32) : 0);
                if (load < least) {
                    least = load;
                    best = instance;
                }
            }
            return best;
        }

        private static int load(Device device, IreeRuntime runtime) {
            int calls = 0;
            for (Program program : runtime.programs()) {
                calls += program.devices().contains(device) ? program.activeCalls() : 0;
            }
            return calls;
        }

        void retire() {
            instances.forEach(Program::retire);
        }
    }

    /**
     * A function and the program that it was found in.
     *
     * @param program the program
     * @param function the function, of one of its instances; borrowed from it
     */
    public record LocatedFunction(LoadedProgram program, ProgramFunction function) {}

    /** The versions of one name. */
    private static final class Versions {
        private final NavigableMap<String, ProgramSlot> slots = new ConcurrentSkipListMap<>(NEWEST_FIRST);

        /** The latest that is loaded; else the latest that could be; null when there is none. */
        @Nullable
        ProgramSlot latest() {
            ProgramSlot best = null;
            for (ProgramSlot slot : slots.values()) {
                if (slot.loaded() != null) {
                    return slot;
                }
                best = best == null || best.status().state() == ProgramState.FAILED ? slot : best;
            }
            return best;
        }
    }

    private static final Comparator<String> NEWEST_FIRST = Comparator.comparing((String version) ->
                    version.matches("[0-9]{1,40}") ? new BigInteger(version) : BigInteger.ONE.negate())
            .thenComparing(Comparator.naturalOrder())
            .reversed();

    /**
     * An empty registry.
     *
     * @param runtime what loads and runs programs; not closed by this registry
     * @param resources resolves locations
     */
    public Programs(IreeRuntime runtime, ResourceLoader resources) {
        this(runtime, resources, status -> {});
    }

    /**
     * An empty registry that tells how far its programs are.
     *
     * @param runtime what loads and runs programs; not closed by this registry
     * @param resources resolves locations
     * @param listener called on the thread that loads or unloads, at each step, and on others while parameters are loaded; must not throw, nor
     *     wait for the program
     */
    public Programs(IreeRuntime runtime, ResourceLoader resources, Consumer<ProgramStatus> listener) {
        this(runtime, resources, listener, options -> {});
    }

    /**
     * An empty registry that tells how far its programs are, and adapts what each is loaded with.
     *
     * @param runtime what loads and runs programs; not closed by this registry
     * @param resources resolves locations
     * @param listener called on the thread that loads or unloads, at each step, and on others while parameters are loaded; must not throw, nor
     *     wait for the program
     * @param everyProgram called for each placement, before the customizer of the source
     */
    public Programs(
            IreeRuntime runtime,
            ResourceLoader resources,
            Consumer<ProgramStatus> listener,
            Consumer<ProgramOptions.Builder> everyProgram) {
        this.runtime = runtime;
        this.resources = resources;
        this.listener = listener;
        this.everyProgram = everyProgram;
    }

    ProgramOpening opening(ProgramSource source, ProgramOpening.Progress progress) {
        return new ProgramOpening(runtime, resources, source, everyProgram, progress);
    }

    void changed(ProgramStatus status) {
        listener.accept(status);
    }

    /**
     * Makes a program known, which is loaded at its first call or by {@link #load(String, String)}. Nothing happens when there is one of
     * that name and version.
     *
     * @param source what to load
     */
    public void define(ProgramSource source) {
        slot(source);
    }

    private ProgramSlot slot(ProgramSource source) {
        return programs.computeIfAbsent(source.name(), _ -> new Versions())
                .slots
                .computeIfAbsent(source.version(), _ -> new ProgramSlot(this, source));
    }

    /**
     * Loads a program; one of the same name and version is replaced, and closed, once the new one is ready.
     *
     * <p>Its module is read, unless the source says that it is mapped. Files of parameters are mapped: while the program runs they may be
     * deleted or replaced by renaming another file over them, but not overwritten or truncated, which changes the program under its callers
     * or ends the process. See {@link #loadCopy}.
     *
     * @param source what to load
     * @return the program
     * @throws ProgramLoadException when it cannot be loaded; a program of that name that was there stays
     */
    public LoadedProgram load(ProgramSource source) {
        return load(source, false);
    }

    /**
     * Loads a program from private copies of its files, which may then be overwritten at any time, as users do with files in a
     * directory that is watched. Takes the copies' space on disk while the program is loaded.
     *
     * @param source what to load
     * @return the program
     * @throws ProgramLoadException when it cannot be loaded; a program of that name that was there stays
     */
    public LoadedProgram loadCopy(ProgramSource source) {
        return load(source, true);
    }

    private LoadedProgram load(ProgramSource source, boolean copy) {
        boolean isNew = find(source.name(), source.version()).isEmpty();
        try {
            LoadedProgram fresh = slot(source).load(source, copy);
            if (closed) { // close() may have missed it
                forget(source.name(), source.version());
            }
            return fresh;
        } catch (RuntimeException | Error e) {
            if (isNew) {
                forget(source.name(), source.version()); // the caller has been told
            }
            throw e;
        }
    }

    /**
     * Takes over a program that was loaded without this registry, of bytes or of Java for example; one of the same name and version is
     * replaced, and closed.
     *
     * @param source what to call it; its location is for people
     * @param program the program, closed by this registry from now on
     * @return the program
     */
    public LoadedProgram register(ProgramSource source, Program program) {
        LoadedProgram fresh = new LoadedProgram(source, List.of(program));
        slot(source).register(fresh);
        if (closed) { // close() may have missed it
            forget(source.name(), source.version());
        }
        return fresh;
    }

    /**
     * Loads a known program, again if it is loaded: from the same location, where another file may lie by now.
     *
     * @param name its name
     * @param version its version; null for the latest
     * @return the program
     * @throws IreeException NOT_FOUND when none of that name and version is known
     * @throws ProgramLoadException when it cannot be loaded
     */
    public LoadedProgram load(String name, @Nullable String version) {
        return known(name, version).reload();
    }

    /**
     * Loads a known program unless it is loaded, and waits for it.
     *
     * @param name its name
     * @param version its version; null for the latest
     * @return the program
     * @throws IreeException NOT_FOUND when none of that name and version is known, or it was unloaded; FAILED_PRECONDITION when it could
     *     not be loaded before; what it fails with when it cannot be loaded now
     */
    public LoadedProgram require(String name, @Nullable String version) {
        return known(name, version).require();
    }

    /**
     * Makes the warm-up calls of a program again; loads it first if it is not loaded.
     *
     * @param name its name
     * @param version its version; null for the latest
     * @return how many calls were made
     * @throws IreeException as {@link #require}; what a call fails with
     */
    public int warm(String name, @Nullable String version) {
        LoadedProgram program = require(name, version);
        return opening(program.source(), ProgramOpening.Progress.NONE).warmUp(program.instances());
    }

    private ProgramSlot known(String name, @Nullable String version) {
        Versions versions = programs.get(name);
        ProgramSlot slot = versions == null ? null : version == null ? versions.latest() : versions.slots.get(version);
        if (slot == null) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    version == null || versions == null
                            ? "there is no program '%s'; there are %s".formatted(name, programs.keySet())
                            : "there is no version '%s' of program '%s'; there are %s"
                                    .formatted(version, name, versions.slots.keySet()));
        }
        return slot;
    }

    /**
     * Forgets all versions of a program and closes them.
     *
     * @param name its name
     * @return whether one was loaded
     */
    public boolean unload(String name) {
        Versions removed = programs.remove(name);
        boolean any = false;
        if (removed != null) {
            for (ProgramSlot slot : removed.slots.values()) {
                any |= slot.unload();
            }
        }
        return any;
    }

    /**
     * Closes a program, which stays known and can be loaded again.
     *
     * @param name its name
     * @param version its version; null for the latest
     * @return whether it was loaded
     * @throws IreeException NOT_FOUND when none of that name and version is known
     */
    public boolean unload(String name, @Nullable String version) {
        return known(name, version).unload();
    }

    private void forget(String name, String version) {
        Versions versions = programs.get(name);
        ProgramSlot removed = versions == null ? null : versions.slots.remove(version);
        if (removed != null) {
            removed.unload();
        }
        programs.computeIfPresent(name, (_, left) -> left.slots.isEmpty() ? null : left);
    }

    /** All programs that are loaded, sorted by name, the latest version of each. */
    public List<LoadedProgram> all() {
        List<LoadedProgram> all = new ArrayList<>();
        programs.keySet().forEach(name -> find(name).ifPresent(all::add));
        return List.copyOf(all);
    }

    /** How far each known program is, sorted by name, the latest version first. */
    public List<ProgramStatus> statuses() {
        return programs.values().stream()
                .flatMap(versions -> versions.slots.values().stream())
                .map(ProgramSlot::status)
                .toList();
    }

    /**
     * The versions of a program that are known, loaded or not, the latest first.
     *
     * @param name its name
     * @return how far each is; empty when there is no such program
     */
    public List<ProgramStatus> versions(String name) {
        Versions versions = programs.get(name);
        return versions == null
                ? List.of()
                : versions.slots.values().stream().map(ProgramSlot::status).toList();
    }

    /**
     * The latest version of the program of that name that is loaded, if one is.
     *
     * @param name its name
     * @return the program; borrowed
     */
    public Optional<LoadedProgram> find(String name) {
        Versions versions = programs.get(name);
        ProgramSlot latest = versions == null ? null : versions.latest();
        return Optional.ofNullable(latest == null ? null : latest.loaded());
    }

    /**
     * The program of that name and version, if it is loaded.
     *
     * @param name its name
     * @param version its version
     * @return the program; borrowed
     */
    public Optional<LoadedProgram> find(String name, String version) {
        Versions versions = programs.get(name);
        ProgramSlot slot = versions == null ? null : versions.slots.get(version);
        return Optional.ofNullable(slot == null ? null : slot.loaded());
    }

    /**
     * The function {@code program.function}. Where program names themselves contain dots, the longest that fits is taken.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function; borrowed from its program
     * @throws IreeException as {@link #locate(String, String, String)}
     */
    public ProgramFunction function(String name) {
        return locate(name).function();
    }

    /**
     * The function {@code program.function} with its program, as {@link #function} finds it.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function and its program; borrowed
     * @throws IreeException as {@link #locate(String, String, String)}
     */
    public LocatedFunction locate(String name) {
        return locate(name, null, null);
    }

    /**
     * The function to make one call on: of a version, on a device, and of the instances there are that with the fewest calls under way. A
     * program that is known and was never loaded is loaded first, which this waits for.
     *
     * @param name the program's name, a dot, the function's name
     * @param version the program's version; null for the latest
     * @param device the name of the device to run on; null for any
     * @return the function and its program; borrowed
     * @throws IreeException NOT_FOUND when there is no such program, version or function, or it does not run on the device;
     *     FAILED_PRECONDITION when the program could not be loaded; UNAVAILABLE when the application is stopping; what loading it now
     *     fails with
     */
    public LocatedFunction locate(String name, @Nullable String version, @Nullable String device) {
        if (draining) {
            throw new IreeException(
                    StatusCode.UNAVAILABLE, "'%s' cannot be called, the application is stopping".formatted(name));
        }
        for (int dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
            String program = name.substring(0, dot);
            if (programs.containsKey(program)) {
                LoadedProgram loaded = require(program, version);
                return new LocatedFunction(loaded, instance(loaded, device).function(name.substring(dot + 1)));
            }
        }
        throw new IreeException(
                StatusCode.NOT_FOUND,
                name.indexOf('.') < 0
                        ? "'%s' is not the name of a function; name it as 'program.function', with a program of %s"
                                .formatted(name, programs.keySet())
                        : "no program for '%s'; there are %s, set iree.modules.<name>.location to add one"
                                .formatted(name, programs.keySet()));
    }

    private Program instance(LoadedProgram loaded, @Nullable String device) {
        Program instance = loaded.choose(device == null ? null : runtime.device(device), runtime);
        if (instance == null) {
            throw new IreeException(
                    StatusCode.NOT_FOUND,
                    "program %s does not run on device '%s' but on %s; set iree.modules.%s.devices to change that"
                            .formatted(
                                    loaded.source().describe(),
                                    device,
                                    loaded.instances().stream()
                                            .flatMap(each -> each.devices().stream())
                                            .map(runtime::nameOf)
                                            .distinct()
                                            .toList(),
                                    loaded.source().name()));
        }
        return instance;
    }

    /** How many calls are under way on all programs, those that were unloaded and have not ended included. */
    public int activeCalls() {
        return runtime.programs().stream().mapToInt(Program::activeCalls).sum();
    }

    /** Refuses calls from now on with UNAVAILABLE; those under way go on. */
    public void refuseCalls() {
        draining = true;
    }

    /** Takes calls again after {@link #refuseCalls()}. */
    public void acceptCalls() {
        draining = false;
    }

    /** Closes all programs. Harmless when repeated. */
    @Override
    public void close() {
        closed = true;
        for (String name : List.copyOf(programs.descendingKeySet())) {
            unload(name);
        }
    }
}
