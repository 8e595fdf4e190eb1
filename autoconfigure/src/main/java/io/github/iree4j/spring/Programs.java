package io.github.iree4j.spring;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.ProgramMonitor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ResourceLoader;

/**
 * The application's programs by name, loaded on one runtime, each in one or more versions. Calls without a version go
 * to the latest loaded version: versions that are numbers compare numerically, others lexicographically.
 *
 * <p>Owns the programs: programs are closed when unloaded or replaced, and when this registry is closed, which must
 * happen before the runtime is closed. Thread-safe; unloading a program lets calls in flight finish first.
 */
public final class Programs implements AutoCloseable {

    private final IreeRuntime runtime;
    private final ResourceLoader resources;
    private final Integrity integrity;
    private final List<Consumer<? super ProgramStatus>> listeners = new CopyOnWriteArrayList<>();
    private final Consumer<ProgramOptions.Builder> everyProgram;
    private final KnownPrograms programs = new KnownPrograms();
    private final Loads loads = new Loads();
    private final ProgramActions actions = new ProgramActions(this);
    private final RetiredPrograms retired;
    private final InstanceChoice choice;
    private volatile Duration closing = Duration.ofSeconds(5);
    private volatile CallLimits callLimits = CallLimits.NONE;
    private final List<Consumer<? super LoadedProgram>> checks = new CopyOnWriteArrayList<>();
    private volatile boolean loadsEnded;
    private volatile boolean draining;
    private volatile boolean closed;

    /**
     * A function and the program containing the function.
     *
     * @param program the program
     * @param function the function of an instance of the program; borrowed
     */
    public record LocatedFunction(LoadedProgram program, ProgramFunction function) {}

    /** A located function, and the options of a call whose time has begun where the call had to wait for a load. */
    record BegunCall(LocatedFunction located, CallOptions options) {}

    /**
     * Creates an empty registry.
     *
     * @param runtime loads and runs the programs; not closed by this registry
     * @param resources resolves locations
     */
    public Programs(IreeRuntime runtime, ResourceLoader resources) {
        this(runtime, resources, status -> {});
    }

    /**
     * Creates an empty registry reporting program statuses.
     *
     * @param runtime loads and runs the programs; not closed by this registry
     * @param resources resolves locations
     * @param listener called at each step on the loading or unloading thread, and on other threads while parameters are
     *     loaded; must not throw or wait for the program
     */
    public Programs(IreeRuntime runtime, ResourceLoader resources, Consumer<ProgramStatus> listener) {
        this(runtime, resources, listener, options -> {}, Integrity.NONE);
    }

    /**
     * Creates an empty registry reporting program statuses and customizing the load options of every program.
     *
     * @param runtime loads and runs the programs; not closed by this registry
     * @param resources resolves locations
     * @param listener called at each step on the loading or unloading thread, and on other threads while parameters are
     *     loaded; must not throw or wait for the program
     * @param everyProgram called for each placement, before the customizer of the source
     * @param integrity the proof required of the files of all programs
     */
    public Programs(
            IreeRuntime runtime,
            ResourceLoader resources,
            Consumer<ProgramStatus> listener,
            Consumer<ProgramOptions.Builder> everyProgram,
            Integrity integrity) {
        this(runtime, resources, listener, everyProgram, integrity, new RetiredPrograms());
    }

    Programs(
            IreeRuntime runtime,
            ResourceLoader resources,
            Consumer<ProgramStatus> listener,
            Consumer<ProgramOptions.Builder> everyProgram,
            Integrity integrity,
            RetiredPrograms retired) {
        this.retired = retired;
        this.integrity = integrity;
        this.runtime = runtime;
        this.choice = new InstanceChoice(runtime);
        this.resources = resources;
        listeners.add(listener);
        this.everyProgram = everyProgram;
    }

    ProgramOpening opening(ProgramSource source, ProgramOpening.Progress progress) {
        return new ProgramOpening(runtime, resources, source, everyProgram, integrity, progress);
    }

    /**
     * Limits the time for loading a program, warm-up included. A longer load fails with DEADLINE_EXCEEDED.
     *
     * @param timeout for each future load; zero for no limit, the default
     */
    @NotForApplications
    public void setLoadTimeout(Duration timeout) {
        loads.limit(timeout);
    }

    /**
     * Sets the maximum duration of calls made in any way, see {@link Program#setTimeout}.
     *
     * @param general applies to programs without a specific limit; null or zero for no limit, the default
     * @param byProgram limits by program name; zero for no limit
     */
    @NotForApplications
    public void setCallTimeouts(@Nullable Duration general, Map<String, Duration> byProgram) {
        callLimits = new CallLimits(general, byProgram);
        programs.all().stream()
                .map(ProgramSlot::loaded)
                .filter(Objects::nonNull)
                .forEach(this::setTimeout);
    }

    /**
     * Limits the time of calls in flight after their program has been unloaded or replaced. At the limit, such calls
     * fail with CANCELLED.
     *
     * @param limit for programs unloaded or replaced from now on; null for no limit, the default
     */
    @NotForApplications
    public void setDrainTimeout(@Nullable Duration limit) {
        retired.limit(limit);
    }

    /**
     * Limits the wait of {@link #close} for loads in progress. A load that has not ended by then is left behind: the
     * program is never put into service, and is closed when loading ends.
     *
     * @param limit for all programs together; 5 seconds unless set
     */
    @NotForApplications
    public void setCloseTimeout(Duration limit) {
        closing = limit;
    }

    RetiredPrograms retired() {
        return retired;
    }

    /**
     * Returns the name of a program, including unloaded or replaced programs with calls in flight.
     *
     * @param program a program of the runtime
     * @return the program's configured name; for a program outside this registry, the name of the module
     */
    public String nameOf(Program program) {
        return retired.nameOf(program);
    }

    /** Returns the failure for calls of an unloaded program. */
    IreeException unloaded(ProgramSource source) {
        return closed
                ? IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "program %s cannot be called: the application is stopping".formatted(source.describe()))
                : IreeException.of(
                        StatusCode.NOT_FOUND, "program %s was unloaded; load it again".formatted(source.describe()));
    }

    boolean isServing() {
        return !loadsEnded && !draining && !closed;
    }

    /** Fails when programs must no longer be put into service. */
    void requireServing(ProgramSource source) {
        if (!isServing()) {
            throw stopping(source);
        }
    }

    /** Fails when this registry is closed. */
    void requireOpen(ProgramSource source) {
        if (closed) {
            throw stopping(source);
        }
    }

    private static IreeException stopping(ProgramSource source) {
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "program %s cannot be loaded: the application is stopping".formatted(source.describe()));
    }

    void setTimeout(LoadedProgram program) {
        Duration limit = callLimits.of(program.source().name());
        program.instances().forEach(instance -> instance.setTimeout(limit));
    }

    /** Ends the loads of a version of a program soon, with CANCELLED. */
    void cancelLoads(ProgramSource program) {
        loads.cancel(program);
    }

    /**
     * Ends all loads in progress and all waits for loads, and refuses further loads with UNAVAILABLE, until
     * {@link #acceptCalls}: the application begins to stop. Loaded programs are called as before.
     */
    @NotForApplications
    public void endLoads() {
        loadsEnded = true;
        programs.all().forEach(slot -> slot.endWaits(stopping(slot.source())));
        loads.cancel();
    }

    /**
     * Loads a program within the time limit.
     *
     * @param check throws when the load must not begin; runs once cancelling the load takes effect
     */
    LoadedProgram open(ProgramSource source, ProgramOpening.Progress progress, boolean copy, Runnable check) {
        return loads.load(source, () -> {
            requireServing(source); // after the load was listed: loads may have been ended earlier
            check.run();
            return opening(source, progress).open(copy);
        });
    }

    /**
     * Adds a check required of every program from now on; all versions of already loaded programs are checked now.
     *
     * @param check called with a program before the program replaces another and serves calls, on the loading thread;
     *     throws when the program does not fit the configuration. Loading then fails with the thrown exception as the
     *     cause, and the program is closed
     * @throws RuntimeException the exception of the check for an already loaded program; the check is not added
     */
    @NotForApplications
    public void addCheck(Consumer<? super LoadedProgram> check) {
        checks.add(check);
        try {
            programs.all().forEach(slot -> slot.check(check));
        } catch (RuntimeException | Error e) {
            checks.remove(check);
            throw e;
        }
    }

    /**
     * Adds a listener to the statuses of programs, beside the listener of the registry.
     *
     * @param listener called from now on as the registry's; must not throw or wait for the program
     */
    @NotForApplications
    public void addListener(Consumer<? super ProgramStatus> listener) {
        listeners.add(listener);
    }

    void check(LoadedProgram loaded) {
        checks.forEach(check -> check.accept(loaded));
    }

    void changed(ProgramStatus status) {
        listeners.forEach(each -> each.accept(status));
    }

    /**
     * Defines a program, loaded at the first call or by {@link #load(String, String)}. Has no effect when a program of
     * the same name and version is defined.
     *
     * @param source the program to load
     */
    public void define(ProgramSource source) {
        slot(source);
    }

    private ProgramSlot slot(ProgramSource source) {
        return programs.define(source, defined -> new ProgramSlot(this, defined));
    }

    /**
     * Loads a program. An existing program of the same name and version is replaced and closed once the new program is
     * ready.
     *
     * <p>The module is read, unless the source requests mapping. Parameter files are mapped: while the program runs,
     * parameter files may be deleted or replaced by renaming another file over them, but must not be overwritten or
     * truncated, since such a change alters the program during calls or fails calls. See {@link #loadCopy}.
     *
     * @param source the program to load
     * @return the program
     * @throws ProgramLoadException when the program cannot be loaded; an earlier program of the same name stays loaded
     */
    public LoadedProgram load(ProgramSource source) {
        return load(source, false);
    }

    /**
     * Loads a program from private copies of the files, so that the originals may be overwritten at any time, as
     * happens in a watched directory. The copies take disk space while the program is loaded.
     *
     * @param source the program to load
     * @return the program
     * @throws ProgramLoadException when the program cannot be loaded; an earlier program of the same name stays loaded
     */
    public LoadedProgram loadCopy(ProgramSource source) {
        return load(source, true);
    }

    private LoadedProgram load(ProgramSource source, boolean copy) {
        return put(source, slot -> slot.load(source, copy));
    }

    private LoadedProgram put(ProgramSource source, Function<ProgramSlot, LoadedProgram> putting) {
        boolean isNew = programs.find(source.name(), source.version()) == null;
        try {
            return putting.apply(slot(source));
        } catch (RuntimeException | Error e) {
            if (isNew) {
                forget(source.name(), source.version()); // the caller receives the failure
            }
            throw e;
        }
    }

    /**
     * Takes over a program loaded without this registry, for example from bytes or from Java modules. An existing
     * program of the same name and version is replaced and closed.
     *
     * @param source the program's name and version; the location is informational
     * @param program the program, closed by this registry from now on
     * @return the program
     * @throws ProgramLoadException when a check refuses the program, which is then closed; an earlier program of the
     *     same name and version stays loaded
     */
    public LoadedProgram register(ProgramSource source, Program program) {
        LoadedProgram fresh = put(source, slot -> slot.register(new LoadedProgram(source, List.of(program))));
        if (closed) { // close() may have missed the program
            forget(source.name(), source.version());
        }
        return fresh;
    }

    /**
     * Loads or reloads a known program from the configured location, whose file may have changed. Joins a load that has
     * not begun to read; otherwise loads on this thread.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return the program
     * @throws IreeException NOT_FOUND when no program of this name and version is known; CANCELLED when the program is
     *     unloaded meanwhile; UNAVAILABLE when the application stops
     * @throws ProgramLoadException when the program cannot be loaded
     */
    public LoadedProgram load(String name, @Nullable String version) {
        return programs.require(name, version).reloadHere(loads.longest());
    }

    /**
     * Returns a known program; loads the program unless already loaded, and waits for the load. An interrupt of this
     * thread ends the wait with CANCELLED, and leaves the load as it is.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return the program
     * @throws IreeException NOT_FOUND when no program of this name and version is known, or the program was unloaded;
     *     FAILED_PRECONDITION when the program could not be loaded, now or earlier
     */
    public LoadedProgram require(String name, @Nullable String version) {
        return require(name, version, null);
    }

    /**
     * Returns a known program like {@link #require(String, String)}, but waits for the load at most until a deadline.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @param deadline of the request that needs the program; null for none
     * @return the program
     * @throws IreeException as {@link #require(String, String)}; DEADLINE_EXCEEDED at the deadline: loading continues
     */
    @NotForApplications
    public LoadedProgram require(String name, @Nullable String version, @Nullable Deadline deadline) {
        return loaded(programs.require(name, version), deadline);
    }

    private LoadedProgram loaded(ProgramSlot slot, @Nullable Deadline deadline) {
        return slot.require(deadline == null ? loads.longest() : deadline.left());
    }

    /**
     * Returns a known program like {@link #require(String, String)}, but loads the program on this thread unless already being loaded:
     * for a thread that holds locks of the application context while creating a bean, since loading may create beans
     * too. An interrupt of this thread ends the load.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return the program
     * @throws IreeException as {@link #require(String, String)}
     */
    @NotForApplications
    public LoadedProgram requireHere(String name, @Nullable String version) {
        return programs.require(name, version).requireHere(loads.longest());
    }

    /**
     * Returns a known program; begins to load the program on another thread unless already loaded or being loaded. The
     * load belongs to this registry and continues whatever becomes of the future.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return the program, or an {@link IreeException} as thrown by {@link #require(String, String)}
     */
    @NotForApplications
    public CompletableFuture<LoadedProgram> requireAsync(String name, @Nullable String version) {
        try {
            return programs.require(name, version).requireAsync().copy();
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Loads or reloads a program like {@link #load(String, String)}, on another thread, which an interrupt of this thread does not end. */
    void reload(String name, @Nullable String version) {
        programs.require(name, version).reload(loads.longest());
    }

    /** Returns the actions of operators on these programs. */
    @NotForApplications
    public ProgramActions actions() {
        return actions;
    }

    /**
     * Repeats the warm-up calls of a program; loads the program first if not loaded.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return the number of calls made
     * @throws IreeException as {@link #require(String, String)}, or the failure of a call
     */
    public int warm(String name, @Nullable String version) {
        LoadedProgram program = require(name, version);
        return opening(program.source(), ProgramOpening.Progress.NONE).warmUp(program.instances());
    }

    /**
     * Removes and closes all versions of a program. Loads in progress are cancelled.
     *
     * @param name the program's name
     * @return whether any version was loaded
     */
    public boolean unload(String name) {
        boolean any = false;
        for (ProgramSlot slot : programs.remove(name)) {
            any |= slot.unloadFinally();
        }
        return any;
    }

    /**
     * Closes a program; the program stays known and can be loaded again. A load in progress is cancelled.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @return whether the program was loaded
     * @throws IreeException NOT_FOUND when no program of this name and version is known; UNAVAILABLE when a
     *     cancelled load does not end soon; the program is closed once the load ends
     */
    public boolean unload(String name, @Nullable String version) {
        return programs.require(name, version).unload();
    }

    private void forget(String name, String version) {
        ProgramSlot removed = programs.remove(name, version);
        if (removed != null) {
            removed.unloadFinally();
        }
    }

    /** Returns the latest loaded version of each program, sorted by name. */
    public List<LoadedProgram> all() {
        List<LoadedProgram> all = new ArrayList<>();
        programs.names().forEach(name -> find(name).ifPresent(all::add));
        return List.copyOf(all);
    }

    /** Returns the status of each known program, sorted by name, the latest version first. */
    public List<ProgramStatus> statuses() {
        return programs.all().stream().map(ProgramSlot::status).toList();
    }

    /**
     * Returns the known versions of a program, loaded or not, the latest first.
     *
     * @param name the program's name
     * @return the status of each version; empty when there is no such program
     */
    public List<ProgramStatus> versions(String name) {
        return programs.versions(name).stream().map(ProgramSlot::status).toList();
    }

    /**
     * Returns the latest loaded version of a program, if any.
     *
     * @param name the program's name
     * @return the program; borrowed
     */
    public Optional<LoadedProgram> find(String name) {
        return loaded(programs.find(name, null));
    }

    /**
     * Returns the program of the given name and version, if loaded.
     *
     * @param name the program's name
     * @param version the program's version
     * @return the program; borrowed
     */
    public Optional<LoadedProgram> find(String name, String version) {
        return loaded(programs.find(name, version));
    }

    private static Optional<LoadedProgram> loaded(@Nullable ProgramSlot slot) {
        return Optional.ofNullable(slot == null ? null : slot.loaded());
    }

    /**
     * Returns the function {@code program.function}. Where program names themselves contain dots, the longest match
     * wins.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function; borrowed from its program
     * @throws IreeException as {@link #locate(String, String, String)}
     */
    public ProgramFunction function(String name) {
        return locate(name).function();
    }

    /**
     * Returns the function {@code program.function} with its program, found as by {@link #function}.
     *
     * @param name the program's name, a dot, the function's name
     * @return the function and its program; borrowed
     * @throws IreeException as {@link #locate(String, String, String)}
     */
    public LocatedFunction locate(String name) {
        return locate(name, null, null);
    }

    /**
     * Locates the function for a call: of a version, on a device, of the instance with the fewest calls in flight.
     * Begins to load a known program that was never loaded, and waits for the load. An interrupt of this thread ends
     * the wait with CANCELLED, and leaves the load as it is.
     *
     * @param name the program's name, a dot, the function's name
     * @param version the program's version; null for the latest
     * @param device the name of the device to run on; null for any
     * @return the function and its program; borrowed
     * @throws IreeException NOT_FOUND when there is no such program, version or function, or the program does not run
     *     on the device; FAILED_PRECONDITION when the program could not be loaded, now or earlier; UNAVAILABLE when the
     *     application is stopping
     */
    public LocatedFunction locate(String name, @Nullable String version, @Nullable String device) {
        String program = programOf(name);
        return located(name, program, device, require(program, version));
    }

    /**
     * Locates the function for a call like {@link #locate(String, String, String)}. A wait for a load is a part of the
     * call's time: the wait has the limit of the program's calls, too, and ends with DEADLINE_EXCEEDED.
     */
    BegunCall locate(String name, @Nullable String version, @Nullable String device, CallOptions options) {
        String program = programOf(name);
        ProgramSlot slot = programs.require(program, version);
        LoadedProgram loaded = slot.loaded();
        CallOptions begun = options;
        if (loaded == null) {
            Duration limit = callLimits.of(program);
            begun = options.begin(limit == null || limit.isZero() ? null : limit);
            loaded = loaded(slot, begun.deadline().orElse(null));
        }
        return new BegunCall(located(name, program, device, loaded), begun);
    }

    private LocatedFunction located(String name, String program, @Nullable String device, LoadedProgram loaded) {
        return new LocatedFunction(loaded, choice.of(loaded, device).function(name.substring(program.length() + 1)));
    }

    /** Returns the longest name of a program with which the name of a function begins; fails without such a program or while stopping. */
    private String programOf(String function) {
        if (draining) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "'%s' cannot be called: the application is stopping".formatted(function));
        }
        for (int dot = function.lastIndexOf('.'); dot > 0; dot = function.lastIndexOf('.', dot - 1)) {
            String program = function.substring(0, dot);
            if (programs.contains(program)) {
                return program;
            }
        }
        throw programs.noFunction(function);
    }

    /** Returns the number of calls in flight on all programs, including unloaded programs whose calls have not ended. */
    public int activeCalls() {
        return runtime.programs().stream()
                .mapToInt(each -> each.monitor().activeCalls())
                .sum();
    }

    /**
     * Returns the number of calls in flight on a version of a program, also calls begun before an unload or replacement.
     *
     * @param name the program's name
     * @param version the program's version
     * @return the number at some moment
     */
    public int activeCalls(String name, String version) {
        return runtime.programs().stream()
                .filter(program -> retired.isOf(program, name, version))
                .mapToInt(each -> each.monitor().activeCalls())
                .sum();
    }

    /**
     * Cancels the calls in flight on all programs.
     *
     * @param why the reason, for the text of their failures
     * @return the number of calls that end
     */
    int cancelCalls(String why) {
        int cancelled = 0;
        for (Program each : runtime.programs()) {
            ProgramMonitor calls = each.monitor();
            for (PendingCall call : calls.pendingCalls(Integer.MAX_VALUE)) {
                cancelled += calls.cancelCall(call.id(), why) ? 1 : 0;
            }
        }
        return cancelled;
    }

    /** Rejects new calls with UNAVAILABLE; calls in flight continue. */
    @NotForApplications
    public void refuseCalls() {
        draining = true;
    }

    /** Accepts calls and loads again after {@link #refuseCalls()} and {@link #endLoads()}. */
    @NotForApplications
    public void acceptCalls() {
        loadsEnded = false;
        draining = false;
    }

    /** Closes all programs, and cancels loads in progress; the wait for loads is limited, see {@link #setCloseTimeout}. Idempotent. */
    @Override
    public void close() {
        closed = true;
        loads.cancel();
        long start = System.nanoTime();
        for (String name : List.copyOf(programs.names().descendingSet())) {
            for (ProgramSlot slot : programs.remove(name)) {
                slot.close(closing.toNanos() - (System.nanoTime() - start));
            }
        }
    }
}
